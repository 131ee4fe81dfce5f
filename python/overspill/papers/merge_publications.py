"""Publication of selected figures: their rows and plotted data replace the previously published ones."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from overspill import BadInput
from overspill.papers import judge, row_counting
from overspill.papers.paper_files import Paper
from overspill.papers.paper_rows import Row
from overspill.papers.published_files import PLOTTED_FILE, ROWS_FILE, PublishedDocuments, read_json
from overspill.papers.verdicts import VERDICTS

JUDGED_FIELDS = ("unit", "published", "basis", "kind", "tolerance", "repeat", "revised")

PlottedData = Mapping[str, Any]


@dataclass(frozen=True)
class Publication:
    """Documents of a publication: rows with those of sensitivity runs, and plotted data by figure."""

    found: PublishedDocuments
    plotted: PlottedData


def check_published(paper: Paper, figures: Collection[str]) -> PublishedDocuments:
    """Returns the published documents of a paper, after a check that rows of some figures may be replaced.

    Raises `BadInput` if nothing is published, or if `rows.toml` has other rows, or other tolerances, of
    other figures than those that are published.
    """
    earlier = PublishedDocuments.read(paper.folder)
    if not earlier.rows_document:
        raise BadInput(
            f"--publish: found no {paper.folder / ROWS_FILE}; expected a first run of the whole paper, "
            "without --figures"
        )
    by_key = {row_key(row): row for row in earlier.rows_document["rows"]}
    for row in paper.rows:
        published = by_key.get((row.figure, row.case, row.metric))
        if row.figure not in figures and (published is None or is_judged_differently(paper, row, published)):
            raise BadInput(
                f"--publish: {row.figure}, {row.case}, {row.metric} has changed in rows.toml since it was "
                f"published; expected {row.figure} among the figures"
            )
    return earlier


def merge_publication(paper: Paper, part: PublishedDocuments, plotted: PlottedData) -> Publication:
    """Merges new rows and plotted data of some figures into the published documents of a paper."""
    earlier = check_published(paper, part.rows_document["figures"])
    found = PublishedDocuments(
        merge_rows(paper, earlier.rows_document, part.rows_document),
        merge_sensitivity_runs(paper, earlier, part),
    )
    figures = {**(read_json(paper.folder / PLOTTED_FILE) or {}), **plotted}
    return Publication(found, {name: figures[name] for name in paper.figures if name in figures})


def merge_rows(paper: Paper, earlier: Mapping[str, Any], part: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the document of `rows.json`: new rows of some figures, and earlier rows of the others."""
    others = [row for row in earlier["rows"] if row["figure"] not in part["figures"]]
    by_key = {row_key(row): row for row in (*others, *part["rows"])}
    found = row_counting.with_classification([by_key[place] for place in ordered_row_keys(paper)], paper.rows)
    names, sizes = {*earlier["figures"], *part["figures"]}, {**earlier["seeds"], **part["seeds"]}
    return {
        **part,
        "figures": [name for name in paper.figures if name in names],
        "score": row_counting.count_verdicts(found, VERDICTS),
        "part": "",
        "command": with_sensitivity_option(earlier["command"], part["command"]),
        "seeds": {name: sizes[name] for name in paper.sweeps if name in sizes},
        "warnings": merge_warnings(earlier, part),
        "rows": found,
    }


def with_sensitivity_option(earlier: str, part: str) -> str:
    """Returns the command of the earlier publication, with `--what-if` if that of the part has it."""
    return f"{earlier} --what-if" if "--what-if" in part and "--what-if" not in earlier else earlier


def ordered_row_keys(paper: Paper) -> list[tuple[str, str, str]]:
    """Returns figure, case and metric of all rows of a paper, in the order of figures."""
    return [(row.figure, row.case, row.metric) for name in paper.figures for row in paper.rows_of(name)]


def row_key(row: Mapping[str, Any]) -> tuple[str, str, str]:
    """Returns the figure, case and metric of a row."""
    return row["figure"], row["case"], row["metric"]


def is_judged_differently(paper: Paper, row: Row, published: Mapping[str, Any]) -> bool:
    """Returns true if a published row differs from `rows.toml` in a field that its verdict depends on."""
    expected = judge.row_document(paper.name, row, judge.JudgedRow(None, None, 0, ""))
    return any(expected.get(name) != published.get(name) for name in JUDGED_FIELDS)


def merge_warnings(earlier: Mapping[str, Any], part: Mapping[str, Any]) -> list[str]:
    """Returns the warnings of the new runs, and earlier warnings about sweeps that were not run again."""

    def is_about_other_sweep(line: str) -> bool:
        sweep = line.partition(": ")[2].partition(": ")[0]
        return sweep not in part["seeds"] and line not in part["warnings"]

    return [*filter(is_about_other_sweep, earlier["warnings"]), *part["warnings"]]


def merge_sensitivity_runs(
    paper: Paper, earlier: PublishedDocuments, part: PublishedDocuments
) -> dict[str, Any] | None:
    """Merges new sensitivity runs into the document of `what_if.json.gz`, where they replace earlier ones."""
    old, new = earlier.sensitivity_document, part.sensitivity_document
    if old is None or new is None:
        return old or new
    about = {one["name"]: one for one in (*old["settings"], *new["settings"])}
    cells: dict[tuple[str, str, str], dict[str, Any]] = {row_key(row): row for row in old["rows"]}
    for row in new["rows"]:
        before = cells.get(row_key(row), {"settings": {}, "fewer_seeds": {}})
        cells[row_key(row)] = {
            **row,
            "fewer_seeds": {**before["fewer_seeds"], **row["fewer_seeds"]},
            "settings": order_as_in_paper(paper, {**before["settings"], **row["settings"]}),
        }
    return {
        **new,
        "settings": list(order_as_in_paper(paper, about).values()),
        "rows": [cells[place] for place in ordered_row_keys(paper) if place in cells],
    }


def order_as_in_paper(paper: Paper, by_name: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the values of sensitivity runs in the order of `paper.toml`; removed runs are left out."""
    return {one.name: by_name[one.name] for one in paper.what_ifs if one.name in by_name}
