"""Sensitivity runs, with open parameters changed one at a time: the change of each row, as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from overspill import version
from overspill.papers import words
from overspill.papers.data import Paper
from overspill.papers.reproduce import Reproduced, key
from overspill.papers.rows import Row

OWN = "as reproduced"
KEPT = ("measured", "ci95", "seeds", "verdict")

Cell = Mapping[str, Any]
Document = Mapping[str, Any]  # document of `what_if.json.gz`


@dataclass(frozen=True)
class Moved:
    """Row that a setting affects: as reproduced, on fewer seeds, and by setting."""

    row: Row
    own: Cell
    base: Mapping[int, Cell]
    cells: Mapping[str, Cell]
    changes: Mapping[str, bool]


def table(made: Reproduced) -> list[Moved]:
    """Returns every row that any setting affects."""
    changed = {name: {key(row): row for row in rows} for name, rows in made.changed.items()}
    base = {seeds: {key(row): row for row in rows} for seeds, rows in made.base.items()}
    found: list[Moved] = []
    for row, own in made.judged(made.rows):
        name = key(own)
        cells = {setting: by_key[name] for setting, by_key in changed.items() if name in by_key}
        if not cells or row.later:
            continue
        fewer = {seeds: by_key[name] for seeds, by_key in base.items() if name in by_key}
        seeds = {one.name: made.fewer(one) for one in made.asked.what_ifs}
        changes = {
            setting: cell["verdict"] != fewer.get(seeds[setting] or 0, own)["verdict"]
            for setting, cell in cells.items()
        }
        found.append(Moved(row, own, fewer, cells, changes))
    return found


def document(made: Reproduced) -> dict[str, Any]:
    """Returns the document of `what_if.json.gz`."""
    return {
        "paper": made.paper.name,
        "overspill": version(),
        "tolerances": made.paper.digest,
        "settings": [
            {"name": one.name, "title": one.title, "set": list(one.sets), "sweeps": list(one.sweeps)}
            for one in made.asked.what_ifs
        ],
        "rows": [
            {
                **{
                    name: one.own[name]
                    for name in ("figure", "case", "metric", "unit", "published", "tolerance")
                },
                "own": {name: one.own[name] for name in KEPT},
                "fewer_seeds": {
                    str(seeds): {name: cell[name] for name in KEPT} for seeds, cell in one.base.items()
                },
                "settings": {
                    name: {**{field: cell[field] for field in KEPT}, "changes": one.changes[name]}
                    for name, cell in one.cells.items()
                },
            }
            for one in table(made)
        ],
    }


def with_titles(paper: Paper, published: Document) -> dict[str, Any]:
    """Returns a published document with the titles of `paper.toml`, which may have been reworded since."""
    titles = {one.name: one.title for one in paper.what_ifs}
    about = [{**one, "title": titles.get(one["name"], one["title"])} for one in published["settings"]]
    return {**published, "settings": about}


def groups(document: Document) -> list[list[Mapping[str, Any]]]:
    """Returns rows grouped by the settings that affect them, so that no table has empty columns."""
    found: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for row in document["rows"]:
        found.setdefault(tuple(row["settings"]), []).append(row)
    return list(found.values())


def matrix(document: Document) -> dict[str, Any]:
    """Returns the tables as texts, rows by settings."""
    return {
        "settings": [
            {
                "name": one["name"],
                "title": one["title"],
                "set": ", ".join(one["set"]),
                "sweeps": ", ".join(one["sweeps"]),
            }
            for one in document["settings"]
        ],
        "groups": [group(rows) for rows in groups(document)],
    }


def group(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Returns the table of rows that the same settings affect, as texts."""
    names = list(rows[0]["settings"])
    fewer = list(dict.fromkeys(seeds for row in rows for seeds in row["fewer_seeds"]))
    return {
        "figures": ", ".join(dict.fromkeys(row["figure"] for row in rows)),
        "heads": [OWN, *(f"on {seeds} seed{'s' * (seeds != '1')}" for seeds in fewer), *names],
        "rows": [
            {
                "name": list(key(row)),
                "published": words.value(row["published"], row["unit"]),
                "cells": [
                    shown(row, cell)
                    for cell in (
                        row["own"],
                        *(row["fewer_seeds"].get(seeds) for seeds in fewer),
                        *(row["settings"][name] for name in names),
                    )
                ],
            }
            for row in rows
        ],
    }


def shown(row: Mapping[str, Any], cell: Cell | None) -> dict[str, Any]:
    """Returns a cell: measured value with its sign, and true if the verdict changes."""
    if cell is None:
        return {"text": "", "kind": "", "changes": False}
    text = f"{words.SIGNS[cell['verdict']]} {words.measured({**row, **cell})}"
    return {"text": text, "kind": cell["verdict"], "changes": cell.get("changes", False)}
