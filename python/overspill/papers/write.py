"""Files of a reproduction: rows as JSON and Parquet, figures, a page and a README; their publication."""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
from matplotlib.figure import Figure as Drawing

from overspill import BadInput, Unwritable
from overspill import plots as look
from overspill.charts import files
from overspill.papers import merge, paper_page, plotted, report, whatif
from overspill.papers.data import Paper
from overspill.papers.merge import Publication
from overspill.papers.published import HISTORY, PLOTTED, README, ROWS, WHAT_IF, Found, read_json, write_json
from overspill.papers.reproduce import Asked, Reproduced, named, runs
from overspill.results import store
from overspill.whole_files import replacing, write_text

TABLE, PAGE = "rows.parquet", "page.html"
WHOLE = "published"  # folder of the whole page, after a part was published
SHOWN = ("svg", "png")  # formats of figures
PUBLISHED = (ROWS, README, HISTORY, WHAT_IF, PLOTTED)
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
    """Writes all files into the folder of the results; returns the page, or the rows without one.

    `formats` are those of figures beside SVG and PNG; `None` writes neither figures nor page.
    """
    out, found = made.asked.results, Found(made.document(), whatif.document(made) if made.changed else None)
    with written(out) as new:
        found.write(new)
        store.write_table(table(made.rows), new / TABLE)
        if formats is not None:
            data: dict[str, Any] = {}
            pages(new, made.paper, found, draw_all(made, data), formats)
            write_json(new / PLOTTED, data, 3)
    return out / (ROWS if formats is None else PAGE)


def redraw(paper: Paper, out: Path, formats: Collection[str]) -> Path:
    """Writes page, README and figures from the published rows and plotted data; returns the page."""
    path = paper.folder / ROWS
    if not path.is_file():
        raise BadInput(f"{path}: found no such file; expected the rows of `overspill paper NAME --publish`")
    found, data = Found.read(paper.folder), read_json(paper.folder / PLOTTED) or {}
    return draw(paper, Publication(found, data), out, formats)


def draw(paper: Paper, made: Publication, out: Path, formats: Collection[str]) -> Path:
    """Writes page, README and figures of the documents of a publication; returns the page."""
    changed = made.found.changed and whatif.with_titles(paper, made.found.changed)
    found = Found(made.found.document, changed)
    with written(out) as new:
        found.write(new)
        store.write_table(table(found.document["rows"]), new / TABLE)
        write_json(new / PLOTTED, made.plotted, 3)
        pages(new, paper, found, redrawn(made.plotted), formats)
    return out / PAGE


def pages(
    new: Path,
    paper: Paper,
    found: Found,
    drawings: Iterable[tuple[str, Drawing]],
    formats: Collection[str],
) -> None:
    """Writes figures, page, README and the record of revisions into a folder."""
    drawn = []
    for place in (files.PLACE, paper_page.IMAGES):
        (new / place).mkdir()
    for name, drawing in drawings:
        files.save_figure(drawing, new / files.PLACE, name, [*SHOWN, *sorted(set(formats) - set(SHOWN))])
        if name in paper.on_page:
            files.save_small(drawing, new / paper_page.IMAGES / f"{name}.png")
        drawn.append(name)
    document, changed = found.document, found.changed
    write_text(new / PAGE, report.page(paper, document, changed, report.Figures(new, drawn)))
    write_text(new / README, paper_page.readme(paper, document, changed, drawn))
    if paper_page.has_history(paper, document["rows"]):
        write_text(new / HISTORY, paper_page.history(paper, document["rows"]))


@contextmanager
def written(out: Path) -> Iterator[Path]:
    """Yields an empty folder as `staged` does; raises `Unwritable` if files cannot be written."""
    try:
        with staged(out) as new:
            yield new
    except OSError as error:
        raise Unwritable(f"{out}: cannot be written: {error.strerror or error}") from error


@contextmanager
def staged(out: Path) -> Iterator[Path]:
    """Yields an empty folder, whose files replace those of an earlier reproduction at the end.

    The earlier files stay as they are if the block fails or the process is killed.
    """
    new = out / f"{store.STAGING}paper"
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    try:
        yield new
        made = sorted(path.relative_to(new) for path in new.rglob("*") if path.is_file())
        # Page and README are moved last, since they show the figures.
        for name in sorted(made, key=lambda name: len(name.parts), reverse=True):
            (out / name).parent.mkdir(exist_ok=True)
            (new / name).replace(out / name)
        for name in present(out) - set(made):
            (out / name).unlink()
    finally:
        shutil.rmtree(new, ignore_errors=True)


def present(out: Path) -> set[Path]:
    """Returns the files of a reproduction in a folder, relative to it, without its runs."""
    figures = [path for kind in files.FORMATS for path in (out / files.PLACE).glob(f"*.{kind}")]
    images = (out / paper_page.IMAGES).glob("*.png")
    named = [out / name for name in (ROWS, TABLE, PAGE, README, HISTORY, WHAT_IF, PLOTTED)]
    return {path.relative_to(out) for path in (*named, *figures, *images) if path.is_file()}


def table(rows: list[dict[str, Any]]) -> pa.Table:
    """Returns the rows as columns, texts and numbers in separate ones; a tolerance is JSON."""
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


def draw_all(made: Reproduced, data: dict[str, Any]) -> Iterator[tuple[str, Drawing]]:
    """Yields every figure that has a drawing and complete runs; `data` receives the plotted data."""
    ran, drawings = made.sweeps_by_name(), made.paper.drawings()
    for figure in made.asked.figures:
        if figure.id not in drawings or not all(ran[name].whole for name in figure.sweeps):
            continue
        known = {
            row.key: float(row.published)
            for row in made.paper.rows_of(figure.id)
            if isinstance(row.published, int | float)
        }
        with look.style(), named(figure), plotted.noting() as notes:
            drawing = drawings[figure.id](runs(figure, ran), known)
        if notes:  # a figure that `plotted.figure` did not make has no plotted data
            data[figure.id] = notes[0].document
            [(_, drawing)] = redrawn({figure.id: data[figure.id]})
        yield figure.id, drawing


def redrawn(data: Mapping[str, Any]) -> Iterator[tuple[str, Drawing]]:
    """Yields every figure, drawn from its plotted data."""
    for name, document in data.items():
        try:
            with look.style():
                drawing = plotted.redraw(document)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise BadInput(f"{PLOTTED}: {name} cannot be drawn: {type(error).__name__}: {error}") from error
        yield name, drawing


def is_stale(paper: Paper) -> bool:
    """Returns true if `rows.toml` has changed since its rows were published."""
    return bool(Found.read(paper.folder).document.get("tolerances") != paper.digest)


def undrawn(paper: Paper) -> list[str]:
    """Returns the figures of the paper's page that have no plotted data."""
    data = read_json(paper.folder / PLOTTED) or {}
    return [name for name in paper.on_page if name not in data]


def check_publish(asked: Asked, report: bool) -> None:
    """Raises `BadInput` if a quick look, or no page, is to be published, or a part before the whole paper."""
    if asked.seeds is not None:
        raise BadInput("--publish: found --seeds; expected the paper's own numbers of seeds")
    if not report:
        raise BadInput("--publish: found --no-report; expected a page to publish")
    if not asked.whole:
        merge.check(asked.paper, [one.id for one in asked.figures])


def publish_made(made: Reproduced, formats: Collection[str]) -> Path:
    """Publishes a reproduction; one of selected figures replaces what is published of these alone."""
    paper, out = made.paper, made.asked.results
    if not made.asked.whole:
        part, plotted = Found.read(out), read_json(out / PLOTTED) or {}
        out = made.asked.out / WHOLE
        draw(paper, merge.merged(paper, part, plotted), out, formats)
    return publish(paper, out)


def publish(paper: Paper, out: Path) -> Path:
    """Copies rows, plotted data, README and its images into the paper's folder, which it returns."""
    try:
        for name in sorted(present(out)):
            if name.parent.name == paper_page.IMAGES or name.name in PUBLISHED:
                (paper.folder / name).parent.mkdir(exist_ok=True)
                with replacing(paper.folder / name) as new:
                    shutil.copyfile(out / name, new)
        for name in sorted(present(paper.folder) - present(out)):
            (paper.folder / name).unlink()
    except OSError as error:
        raise Unwritable(f"{paper.folder}: cannot be written: {error.strerror or error}") from error
    return paper.folder
