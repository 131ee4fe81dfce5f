"""What a reproduction leaves behind: rows as JSON and Parquet, figures, a page, a README; publishing them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from overspill import BadInput, Unwritable
from overspill import plots as look
from overspill.charts import files
from overspill.papers import report, whatif
from overspill.papers.reproduce import Asked, Reproduced, named, runs
from overspill.results import store

ROWS, TABLE, PAGE, README, WHAT_IF = "rows.json", "rows.parquet", "page.html", "README.md", "what_if.json"
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
        *(pa.field(name, pa.string(), False) for name in ("basis", "kind")),
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
        out.mkdir(parents=True, exist_ok=True)
        clear(out)
        store.write_json(out / ROWS, made.document())
        pq.write_table(table(made.rows), out / TABLE, compression="zstd")
        if made.changed:
            store.write_json(out / WHAT_IF, whatif.document(made))
        if formats is None:
            return out / ROWS
        drawn = draw(made, out / files.PLACE, [*PUBLISHED, *sorted(set(formats) - set(PUBLISHED))])
        (out / PAGE).write_text(report.page(made, drawn, out), encoding="utf-8")
        (out / README).write_text(report.readme(made, drawn), encoding="utf-8")
        return out / PAGE
    except OSError as error:
        raise Unwritable(f"{out}: cannot be written: {error.strerror or error}") from error


def clear(out: Path) -> None:
    """Take away what an earlier reproduction wrote, but for its runs."""
    for name in (ROWS, TABLE, PAGE, README, WHAT_IF):
        (out / name).unlink(missing_ok=True)
    for kind in files.FORMATS:
        for path in (out / "figures").glob(f"*.{kind}"):
            path.unlink()


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
    for name, chart in whatif.drawings(made):
        files.save_figure(chart, place, name, formats)
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
        clear(place)
        for name in (ROWS, TABLE, PAGE, README, WHAT_IF):
            if (out / name).is_file():
                shutil.copyfile(out / name, place / name)
        (place / "figures").mkdir(exist_ok=True)
        for kind in PUBLISHED:
            for path in sorted((out / "figures").glob(f"*.{kind}")):
                shutil.copyfile(path, place / "figures" / path.name)
    except OSError as error:
        raise Unwritable(f"{place}: cannot be written: {error.strerror or error}") from error
    return place
