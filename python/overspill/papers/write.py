"""What a reproduction leaves behind: rows as JSON and Parquet, figures, a page, a README; publishing them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from overspill import BadInput, Unwritable
from overspill import plots as look
from overspill.charts import files
from overspill.papers import paper_page, report, whatif
from overspill.papers.reproduce import Asked, Reproduced, named, runs
from overspill.results import store
from overspill.whole_files import write_text

ROWS, TABLE, PAGE, README = "rows.json", "rows.parquet", "page.html", "README.md"
HISTORY, WHAT_IF = "history.md", "what_if.json"
PUBLISHED = ("svg", "png")  # which the page and the README show
SCHEMA = pa.schema(
    [
        *(pa.field(name, pa.string(), False) for name in ("paper", "figure", "case", "metric", "unit")),
        pa.field("published", pa.float64()),
        pa.field("published_text", pa.string()),
        pa.field("measured", pa.float64()),
        pa.field("measured_text", pa.string()),
        pa.field("ci95", pa.float64()),
        pa.field("seeds", pa.uint32(), False),
        *(pa.field(name, pa.string(), False) for name in ("platform", "basis", "kind", "counts")),
        pa.field("repeat", pa.string()),
        pa.field("tolerance", pa.string()),
        pa.field("verdict", pa.string(), False),
        pa.field("ok", pa.bool_(), False),
        pa.field("note", pa.string(), False),
        pa.field("prediction_low", pa.float64()),
        pa.field("prediction_high", pa.float64()),
        pa.field("prediction_inside", pa.bool_()),
        pa.field("revised_verdict", pa.string()),
        pa.field("revised_why", pa.string()),
        pa.field("revised_of", pa.string()),
    ]
)


def everything(made: Reproduced, formats: Collection[str] | None) -> Path:
    """Write it all into the folder of the results; the page, or the rows without one.

    `formats` are those of figures beside the published ones; `None` writes neither figures nor page.
    """
    out = made.asked.results
    try:
        with staged(out) as new:
            store.write_json(new / ROWS, made.document())
            store.write_table(table(made.rows), new / TABLE)
            if made.changed:
                store.write_json(new / WHAT_IF, whatif.document(made))
            if formats is not None:
                drawn = draw(made, new / files.PLACE, [*PUBLISHED, *sorted(set(formats) - set(PUBLISHED))])
                changed = whatif.document(made) if made.changed else None
                document, figures = made.document(), report.Figures(new, drawn)
                write_text(new / PAGE, report.page(made.paper, document, changed, figures))
                write_text(new / README, paper_page.readme(made.paper, document, changed, drawn))
                if paper_page.revised(made.rows):
                    write_text(new / HISTORY, paper_page.history(made.paper, made.rows))
        return out / (ROWS if formats is None else PAGE)
    except OSError as error:
        raise Unwritable(f"{out}: cannot be written: {error.strerror or error}") from error


@contextmanager
def staged(out: Path) -> Iterator[Path]:
    """Gives an empty folder; what is in it at the end takes the place of what an earlier reproduction wrote.

    The earlier files stay as they are if the block fails or the process is killed.
    """
    new = out / f"{store.STAGING}paper"
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    try:
        yield new
        made = sorted(path.relative_to(new) for path in new.rglob("*") if path.is_file())
        # The page and the README go last: they show the figures.
        for name in sorted(made, key=lambda name: len(name.parts), reverse=True):
            (out / name).parent.mkdir(exist_ok=True)
            (new / name).replace(out / name)
        for name in written(out) - set(made):
            (out / name).unlink()
    finally:
        shutil.rmtree(new, ignore_errors=True)


def written(out: Path) -> set[Path]:
    """The files of a reproduction in a folder, as names in it; its runs are none of them."""
    figures = [path for kind in files.FORMATS for path in (out / files.PLACE).glob(f"*.{kind}")]
    named = [out / name for name in (ROWS, TABLE, PAGE, README, HISTORY, WHAT_IF)]
    return {path.relative_to(out) for path in (*named, *figures) if path.is_file()}


def table(rows: list[dict[str, Any]]) -> pa.Table:
    """The rows as columns; a text and a number are in columns of their own, a tolerance is JSON."""
    made = []
    for row in rows:
        one = dict(row)
        for name in ("published", "measured"):
            text = isinstance(row[name], str)
            one[name], one[f"{name}_text"] = (None, row[name]) if text else (row[name], None)
        one["tolerance"] = None if row["tolerance"] is None else json.dumps(row["tolerance"])
        for name, found in (row.get("prediction") or {}).items():
            one[f"prediction_{name}"] = found
        for name, found in (row.get("revised") or {}).items():
            one[f"revised_{name}"] = found
        made.append({field.name: one.get(field.name) for field in SCHEMA})
    return pa.Table.from_pylist(made, SCHEMA)


def draw(made: Reproduced, place: Path, formats: Collection[str]) -> list[str]:
    """Save every figure that has a drawing in these formats; their names."""
    place.mkdir(parents=True, exist_ok=True)
    ran, found = made.of(), []
    for figure in made.asked.figures:
        code = made.code.figures.get(figure.id)
        if code is None or code.draw is None or not all(ran[name].whole for name in figure.sweeps):
            continue
        known = {
            row.key: float(row.published)
            for row in made.paper.rows_of(figure.id)
            if isinstance(row.published, int | float)
        }
        with look.style(), named(figure):
            drawing = code.draw(runs(figure, ran), known)
        files.save_figure(drawing, place, figure.id, formats)
        found.append(figure.id)
    return found


def check_publish(asked: Asked, folder: Path) -> None:
    """`BadInput` where less than the whole paper, or into a folder of something else, is to be published."""
    if not asked.whole:
        raise BadInput("--publish: found only some figures or other seeds; expected the whole paper")
    place = folder / asked.paper.name
    if place.exists() and not place.is_dir():
        raise BadInput(f"--publish: {place} is a file; expected a folder")
    if place.is_dir() and any(place.iterdir()) and not (place / ROWS).is_file():
        raise BadInput(f"--publish: {place} has files but no {ROWS}; expected a new or empty folder")


def publish(made: Reproduced, folder: Path) -> Path:
    """Put rows, figures, page and README into `folder/NAME`, in the place of what was there."""
    out, place = made.asked.results, folder / made.paper.name
    if made.failed:
        raise Unwritable(f"{place}: not published: runs failed")
    try:
        place.mkdir(parents=True, exist_ok=True)
        with staged(place) as new:
            (new / files.PLACE).mkdir()
            for name in sorted(written(out)):
                if name.parent.name != files.PLACE or name.suffix[1:] in PUBLISHED:
                    shutil.copyfile(out / name, new / name)
    except OSError as error:
        raise Unwritable(f"{place}: cannot be written: {error.strerror or error}") from error
    return place
