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
from overspill.atomic_files import replace_file, write_text
from overspill.charts import figure_files
from overspill.papers import merge_publications, paper_page, paper_report, plotted_data, sensitivity
from overspill.papers.merge_publications import Publication
from overspill.papers.paper_files import Paper
from overspill.papers.published_files import (
    HISTORY_FILE,
    PLOTTED_FILE,
    README_FILE,
    ROWS_FILE,
    WHAT_IF_FILE,
    PublishedDocuments,
    read_json,
    write_json,
)
from overspill.papers.reproduce import Reproduction, Selection, name_figure_in_errors, runs_of_figure
from overspill.results import results_folder

TABLE_FILE, PAGE_FILE = "rows.parquet", "page.html"
WHOLE_FOLDER = "published"  # folder of the whole page, after a part was published
PAGE_FORMATS = ("svg", "png")  # formats of figures
PUBLISHED_FILES = (ROWS_FILE, README_FILE, HISTORY_FILE, WHAT_IF_FILE, PLOTTED_FILE)
TABLE_SCHEMA = pa.schema(
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


def write_reproduction(made: Reproduction, formats: Collection[str] | None) -> Path:
    """Writes all files of a reproduction; returns the path of its page, or of its rows if there is no page.

    `formats` are those of figures beside SVG and PNG; `None` writes neither figures nor page.
    """
    out, found = (
        made.selection.results,
        PublishedDocuments(
            made.document(), sensitivity.sensitivity_document(made) if made.rows_under_what_ifs else None
        ),
    )
    with open_output_folder(out) as new:
        found.write(new)
        results_folder.write_table(rows_to_table(made.rows), new / TABLE_FILE)
        if formats is not None:
            data: dict[str, Any] = {}
            write_pages(new, made.paper, found, draw_figures(made, data), formats)
            write_json(new / PLOTTED_FILE, data, 3)
    return out / (ROWS_FILE if formats is None else PAGE_FILE)


def redraw_published(paper: Paper, out: Path, formats: Collection[str]) -> Path:
    """Writes page, README and figures from a paper's published rows and data; returns the page's path."""
    path = paper.folder / ROWS_FILE
    if not path.is_file():
        raise BadInput(f"{path}: found no such file; expected the rows of `overspill paper NAME --publish`")
    found, data = PublishedDocuments.read(paper.folder), read_json(paper.folder / PLOTTED_FILE) or {}
    return write_publication(paper, Publication(found, data), out, formats)


def write_publication(paper: Paper, made: Publication, out: Path, formats: Collection[str]) -> Path:
    """Writes page, README and figures from published documents and data; returns the path of the page."""
    changed = made.found.sensitivity_document
    changed = changed and sensitivity.with_titles(paper, changed)
    found = PublishedDocuments(made.found.rows_document, changed)
    with open_output_folder(out) as new:
        found.write(new)
        results_folder.write_table(rows_to_table(found.rows_document["rows"]), new / TABLE_FILE)
        write_json(new / PLOTTED_FILE, made.plotted, 3)
        write_pages(new, paper, found, redraw_figures(made.plotted), formats)
    return out / PAGE_FILE


def write_pages(
    new: Path,
    paper: Paper,
    found: PublishedDocuments,
    drawings: Iterable[tuple[str, Drawing]],
    formats: Collection[str],
) -> None:
    """Writes figures, page, README and the record of revisions into a folder."""
    drawn = []
    for place in (figure_files.FIGURES_FOLDER, paper_page.IMAGES_FOLDER):
        (new / place).mkdir()
    for name, drawing in drawings:
        figure_files.save_figure(
            drawing,
            new / figure_files.FIGURES_FOLDER,
            name,
            [*PAGE_FORMATS, *sorted(set(formats) - set(PAGE_FORMATS))],
        )
        if name in paper.figures_on_page:
            figure_files.save_small(drawing, new / paper_page.IMAGES_FOLDER / f"{name}.png")
        drawn.append(name)
    document, changed = found.rows_document, found.sensitivity_document
    write_text(
        new / PAGE_FILE,
        paper_report.build_page(paper, document, changed, paper_report.DrawnFigures(new, drawn)),
    )
    write_text(new / README_FILE, paper_page.build_readme(paper, document, changed, drawn))
    if paper_page.has_history(paper, document["rows"]):
        write_text(new / HISTORY_FILE, paper_page.build_history(paper, document["rows"]))


@contextmanager
def open_output_folder(out: Path) -> Iterator[Path]:
    """Yields an empty folder for new files (`stage_files`); raises `Unwritable` if they cannot be written."""
    try:
        with stage_files(out) as new:
            yield new
    except OSError as error:
        raise Unwritable(f"{out}: cannot be written: {error.strerror or error}") from error


@contextmanager
def stage_files(out: Path) -> Iterator[Path]:
    """Yields an empty folder to write to; at the end, its files replace those of an earlier reproduction.

    The earlier files stay as they are if the block fails or the process is killed.
    """
    new = out / f"{results_folder.STAGING_PREFIX}paper"
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    try:
        yield new
        made = sorted(path.relative_to(new) for path in new.rglob("*") if path.is_file())
        # Figures are moved before page and README, which must not refer to figures that are not there yet.
        for name in sorted(made, key=lambda name: len(name.parts), reverse=True):
            (out / name).parent.mkdir(exist_ok=True)
            (new / name).replace(out / name)
        for name in existing_files(out) - set(made):
            (out / name).unlink()
    finally:
        shutil.rmtree(new, ignore_errors=True)


def existing_files(out: Path) -> set[Path]:
    """Returns the files of a reproduction in a folder, relative to it, without its runs."""
    figures = [
        path
        for kind in figure_files.FIGURE_FORMATS
        for path in (out / figure_files.FIGURES_FOLDER).glob(f"*.{kind}")
    ]
    images = (out / paper_page.IMAGES_FOLDER).glob("*.png")
    named = [
        out / name
        for name in (ROWS_FILE, TABLE_FILE, PAGE_FILE, README_FILE, HISTORY_FILE, WHAT_IF_FILE, PLOTTED_FILE)
    ]
    return {path.relative_to(out) for path in (*named, *figures, *images) if path.is_file()}


def rows_to_table(rows: list[dict[str, Any]]) -> pa.Table:
    """Returns the rows as an Arrow table: texts and numbers in separate columns, tolerances as JSON."""
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
        made.append({field.name: one.get(field.name) for field in TABLE_SCHEMA})
    return pa.Table.from_pylist(made, TABLE_SCHEMA)


def draw_figures(made: Reproduction, data: dict[str, Any]) -> Iterator[tuple[str, Drawing]]:
    """Yields every figure that has a drawing and complete runs; `data` receives the plotted data."""
    ran, drawings = made.sweeps_by_name(), made.paper.drawings()
    for figure in made.selection.figures:
        if figure.id not in drawings or not all(ran[name].is_complete for name in figure.sweeps):
            continue
        known = {
            row.key: float(row.published)
            for row in made.paper.rows_of(figure.id)
            if isinstance(row.published, int | float)
        }
        with look.style(), name_figure_in_errors(figure), plotted_data.record_drawings() as notes:
            drawing = drawings[figure.id](runs_of_figure(figure, ran), known)
        if notes:  # a figure that `plotted.figure` did not make has no plotted data
            data[figure.id] = notes[0].document
            [(_, drawing)] = redraw_figures({figure.id: data[figure.id]})
        yield figure.id, drawing


def redraw_figures(data: Mapping[str, Any]) -> Iterator[tuple[str, Drawing]]:
    """Yields every figure, drawn from its plotted data."""
    for name, document in data.items():
        try:
            with look.style():
                drawing = plotted_data.redraw_figure(document)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise BadInput(
                f"{PLOTTED_FILE}: {name} cannot be drawn: {type(error).__name__}: {error}"
            ) from error
        yield name, drawing


def is_stale(paper: Paper) -> bool:
    """Returns true if `rows.toml` has changed since its rows were published."""
    return bool(PublishedDocuments.read(paper.folder).rows_document.get("tolerances") != paper.digest)


def undrawn_figures(paper: Paper) -> list[str]:
    """Returns the figures of the paper's page that have no plotted data."""
    data = read_json(paper.folder / PLOTTED_FILE) or {}
    return [name for name in paper.figures_on_page if name not in data]


def check_publish(asked: Selection, report: bool) -> None:
    """Raises `BadInput` for changed seeds, no page, or figures that cannot replace published rows."""
    if asked.seeds is not None:
        raise BadInput("--publish: found --seeds; expected the paper's own numbers of seeds")
    if not report:
        raise BadInput("--publish: found --no-report; expected a page to publish")
    if not asked.is_whole_paper:
        merge_publications.check_published(asked.paper, [one.id for one in asked.figures])


def publish_reproduction(made: Reproduction, formats: Collection[str]) -> Path:
    """Publishes a reproduction of a whole paper, or of some figures, which replace their published rows."""
    paper, out = made.paper, made.selection.results
    if not made.selection.is_whole_paper:
        part, plotted = PublishedDocuments.read(out), read_json(out / PLOTTED_FILE) or {}
        out = made.selection.out / WHOLE_FOLDER
        write_publication(paper, merge_publications.merge_publication(paper, part, plotted), out, formats)
    return publish_files(paper, out)


def publish_files(paper: Paper, out: Path) -> Path:
    """Copies rows, plotted data, README and its images into the paper's folder, which it returns."""
    try:
        for name in sorted(existing_files(out)):
            if name.parent.name == paper_page.IMAGES_FOLDER or name.name in PUBLISHED_FILES:
                (paper.folder / name).parent.mkdir(exist_ok=True)
                with replace_file(paper.folder / name) as new:
                    shutil.copyfile(out / name, new)
        for name in sorted(existing_files(paper.folder) - existing_files(out)):
            (paper.folder / name).unlink()
    except OSError as error:
        raise Unwritable(f"{paper.folder}: cannot be written: {error.strerror or error}") from error
    return paper.folder
