"""Publication of selected figures: their rows and plotted data replace those of the last publication."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from overspill import BadInput
from overspill.papers import counting, judge
from overspill.papers.data import Paper
from overspill.papers.published import PLOTTED, ROWS, Found, read_json
from overspill.papers.rows import Row
from overspill.papers.verdicts import VERDICTS

JUDGED_BY = ("unit", "published", "basis", "kind", "tolerance", "repeat", "revised")

Plotted = Mapping[str, Any]


@dataclass(frozen=True)
class Publication:
    """Documents of a publication: rows with those of sensitivity runs, and plotted data by figure."""

    found: Found
    plotted: Plotted


def check(paper: Paper, figures: Collection[str]) -> Found:
    """Returns the published documents of a paper, in which the rows of some figures may be replaced.

    Raises `BadInput` if nothing is published, or if `rows.toml` has other rows, or other tolerances, of
    other figures than those that are published.
    """
    earlier = Found.read(paper.folder)
    if not earlier.document:
        raise BadInput(f"--publish: found no {paper.folder / ROWS}; expected the whole paper the first time")
    by_key = {key(row): row for row in earlier.document["rows"]}
    for row in paper.rows:
        published = by_key.get((row.figure, row.case, row.metric))
        if row.figure not in figures and (published is None or differs(paper, row, published)):
            raise BadInput(
                f"--publish: {row.figure}, {row.case}, {row.metric} has changed in rows.toml since it was "
                f"published; expected {row.figure} among the figures"
            )
    return earlier


def merged(paper: Paper, part: Found, plotted: Plotted) -> Publication:
    """Returns the published documents of a paper, in which those of a part replace those of its figures."""
    earlier = check(paper, part.document["figures"])
    found = Found(rows(paper, earlier.document, part.document), settings(paper, earlier, part))
    figures = {**(read_json(paper.folder / PLOTTED) or {}), **plotted}
    return Publication(found, {name: figures[name] for name in paper.figures if name in figures})


def rows(paper: Paper, earlier: Mapping[str, Any], part: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the document of `rows.json`."""
    others = [row for row in earlier["rows"] if row["figure"] not in part["figures"]]
    by_key = {key(row): row for row in (*others, *part["rows"])}
    found = counting.marked([by_key[place] for place in places(paper)], paper.rows)
    names, sizes = {*earlier["figures"], *part["figures"]}, {**earlier["seeds"], **part["seeds"]}
    return {
        **part,
        "figures": [name for name in paper.figures if name in names],
        "score": counting.score(found, VERDICTS),
        "part": "",
        "command": earlier["command"],
        "seeds": {name: sizes[name] for name in paper.sweeps if name in sizes},
        "warnings": warnings(earlier, part),
        "rows": found,
    }


def places(paper: Paper) -> list[tuple[str, str, str]]:
    """Returns the keys of all rows, in the order of figures."""
    return [(row.figure, row.case, row.metric) for name in paper.figures for row in paper.rows_of(name)]


def key(row: Mapping[str, Any]) -> tuple[str, str, str]:
    """Returns the figure, case and metric of a row."""
    return row["figure"], row["case"], row["metric"]


def differs(paper: Paper, row: Row, published: Mapping[str, Any]) -> bool:
    """Returns true if a published row was judged by other fields than those of `rows.toml`."""
    expected = judge.document(paper.name, row, judge.Judged(None, None, 0, ""))
    return any(expected.get(name) != published.get(name) for name in JUDGED_BY)


def warnings(earlier: Mapping[str, Any], part: Mapping[str, Any]) -> list[str]:
    """Returns the warnings of the part, and earlier ones about sweeps that it did not run."""

    def stays(line: str) -> bool:
        sweep = line.partition(": ")[2].partition(": ")[0]
        return sweep not in part["seeds"] and line not in part["warnings"]

    return [*filter(stays, earlier["warnings"]), *part["warnings"]]


def settings(paper: Paper, earlier: Found, part: Found) -> dict[str, Any] | None:
    """Returns the document of `what_if.json.gz`, where sensitivity runs of the part replace earlier ones."""
    old, new = earlier.changed, part.changed
    if old is None or new is None:
        return old or new
    about = {one["name"]: one for one in (*old["settings"], *new["settings"])}
    cells: dict[tuple[str, str, str], dict[str, Any]] = {key(row): row for row in old["rows"]}
    for row in new["rows"]:
        before = cells.get(key(row), {"settings": {}, "fewer_seeds": {}})
        cells[key(row)] = {
            **row,
            "fewer_seeds": {**before["fewer_seeds"], **row["fewer_seeds"]},
            "settings": in_order(paper, {**before["settings"], **row["settings"]}),
        }
    return {
        **new,
        "settings": list(in_order(paper, about).values()),
        "rows": [cells[place] for place in places(paper) if place in cells],
    }


def in_order(paper: Paper, by_name: Mapping[str, Any]) -> dict[str, Any]:
    """Returns what is known of sensitivity runs in the order of `paper.toml`, without runs that are gone."""
    return {one.name: by_name[one.name] for one in paper.what_ifs if one.name in by_name}
