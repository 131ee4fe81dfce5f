"""Figures saved as PNG, SVG and PDF: each format is drawn once, and equal figures give equal bytes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overspill.atomic_files import replace_file
from overspill.errors import BadInput

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from overspill.charts.chart_spec import Chart

FIGURE_FORMATS = ("pdf", "svg", "png")
FIGURES_FOLDER = "figures"  # folder beside a page
# Pixels per inch of PNG figures: normal, and small. Small figures have the resolution at which matplotlib
# computes the layout: with fewer pixels, hinted text would be wider than in the layout and be cut off.
DOTS_PER_INCH, SMALL_DOTS_PER_INCH = 150, 100
# No date and no program, so that equal figures are equal files.
UNDATED_METADATA: Mapping[str, dict[str, Any]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Producer": None, "Creator": None},
}


def parse_formats(text: str) -> tuple[str, ...]:
    """Parses a comma-separated list of figure formats; raises `BadInput` for an unknown one."""
    names = [one.strip().lower() for one in text.split(",")]
    for name in names:
        if name not in FIGURE_FORMATS:
            raise BadInput(
                f"--figures: found {name!r}; expected {', '.join(FIGURE_FORMATS)} or some of these"
            )
    return tuple(one for one in FIGURE_FORMATS if one in names)


def find_existing_formats(folder: Path, names: Collection[str]) -> tuple[str, ...]:
    """Returns the formats in which any of these figures were saved earlier beside a page."""
    place = folder / FIGURES_FOLDER
    return tuple(one for one in FIGURE_FORMATS if any((place / f"{name}.{one}").is_file() for name in names))


def save_charts(charts: Mapping[str, Chart], folder: Path, formats: Collection[str]) -> list[str]:
    """Saves charts beside a page, without changing files of other formats; returns the names of the files.

    Names are relative to the folder.
    """
    if not formats:
        return []
    # matplotlib takes most of a second to load, and a page without saved figures does not need it.
    from overspill.charts import mpl as paper

    place = folder / FIGURES_FOLDER
    place.mkdir(parents=True, exist_ok=True)
    for name, chart in charts.items():
        save_figure(paper.draw_figure(chart), place, name, formats)
    return figure_file_names(charts, formats)


def figure_file_names(charts: Collection[str], formats: Collection[str]) -> list[str]:
    """Returns the names of the files of charts, relative to the folder of their page."""
    return [f"{FIGURES_FOLDER}/{name}.{one}" for name in charts for one in formats]


def save_figure(figure: Figure, place: Path, name: str, formats: Collection[str]) -> None:
    """Saves a matplotlib figure as `name`, with the suffix of each format."""
    for one in formats:
        save_as(figure, place / f"{name}.{one}", name)


def save_as(figure: Figure, path: Path, name: str, pixels: int = DOTS_PER_INCH) -> None:
    """Saves a matplotlib figure in the format of the path's suffix; its internal ids derive from `name`."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    from overspill.charts import mpl as paper

    kind = path.suffix.lower()[1:]
    with paper.style(), mpl.rc_context({"svg.hashsalt": name}):
        engine = figure.get_layout_engine()
        if engine is not None:
            # The layout is computed once, at one resolution; with an engine left, `savefig` draws twice per
            # format.
            FigureCanvasAgg(figure)
            engine.execute(figure)
            figure.set_layout_engine(None)
        with replace_file(path) as new:
            figure.savefig(new, dpi=pixels if kind == "png" else "figure", metadata=UNDATED_METADATA[kind])


def save_small(figure: Figure, path: Path) -> None:
    """Saves a matplotlib figure as a small PNG with 64 colours, for a page in the repository.

    Args:
        figure: Figure to save.
        path: File, which is replaced once the new one is complete.

    """
    import io

    from PIL import Image

    save_as(figure, path, path.stem, SMALL_DOTS_PER_INCH)
    with Image.open(io.BytesIO(path.read_bytes())) as found:
        few = found.convert("RGB").quantize(64, dither=Image.Dither.NONE)
    with replace_file(path) as new:
        few.save(new, "PNG", optimize=True)
