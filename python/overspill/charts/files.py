"""Figures as files: PNG, SVG and PDF, each format drawn once, the same bytes every time."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overspill.errors import BadInput
from overspill.whole_files import replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from overspill.charts.spec import Chart

FORMATS = ("pdf", "svg", "png")
PLACE = "figures"  # the folder beside a page
PIXELS, SMALL = 150, 90  # per inch, of PNG
# Neither date nor program, so that equal figures are equal files.
UNDATED: Mapping[str, dict[str, Any]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Producer": None, "Creator": None},
}


def asked(text: str) -> tuple[str, ...]:
    """The formats between commas; `BadInput` for one that is not known."""
    names = [one.strip().lower() for one in text.split(",")]
    for name in names:
        if name not in FORMATS:
            raise BadInput(f"--figures: found {name!r}; expected {', '.join(FORMATS)} or some of these")
    return tuple(one for one in FORMATS if one in names)


def there(folder: Path, names: Collection[str]) -> tuple[str, ...]:
    """The formats in which some of these figures lie beside a page."""
    place = folder / PLACE
    return tuple(one for one in FORMATS if any((place / f"{name}.{one}").is_file() for name in names))


def save(charts: Mapping[str, Chart], folder: Path, formats: Collection[str]) -> list[str]:
    """Save charts beside a page, those of other formats as they are; the files' names from the folder."""
    if not formats:
        return []
    # Most of a second to load, and a page needs none of it.
    from overspill.charts import mpl as paper

    place = folder / PLACE
    place.mkdir(parents=True, exist_ok=True)
    for name, chart in charts.items():
        save_figure(paper.figure(chart), place, name, formats)
    return names(charts, formats)


def names(charts: Collection[str], formats: Collection[str]) -> list[str]:
    """The files of charts, from the folder of their page."""
    return [f"{PLACE}/{name}.{one}" for name in charts for one in formats]


def save_figure(figure: Figure, place: Path, name: str, formats: Collection[str]) -> None:
    """Save a figure of matplotlib as `name` with the ending of each format."""
    for one in formats:
        save_as(figure, place / f"{name}.{one}", name)


def save_as(figure: Figure, path: Path, name: str, pixels: int = PIXELS) -> None:
    """Save a figure of matplotlib in the format of the path's ending; its inner names are from `name`."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    from overspill.charts import mpl as paper

    kind = path.suffix.lower()[1:]
    with paper.style(), mpl.rc_context({"svg.hashsalt": name}):
        engine = figure.get_layout_engine()
        if engine is not None:
            # Laid out once, at one resolution; with an engine left, `savefig` draws twice for each format.
            FigureCanvasAgg(figure)
            engine.execute(figure)
            figure.set_layout_engine(None)
        with replacing(path) as new:
            figure.savefig(new, dpi=pixels if kind == "png" else "figure", metadata=UNDATED[kind])


def save_small(figure: Figure, path: Path) -> None:
    """Save a figure of matplotlib as a PNG of few bytes, in 64 colours, for a page in the repository."""
    import io

    from PIL import Image

    save_as(figure, path, path.stem, SMALL)
    with Image.open(io.BytesIO(path.read_bytes())) as found:
        few = found.convert("RGB").quantize(64, dither=Image.Dither.NONE)
    with replacing(path) as new:
        few.save(new, "PNG", optimize=True)
