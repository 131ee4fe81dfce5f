"""Tables of sensitivity runs, in which one open parameter is changed: the effect on each row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from overspill import version
from overspill.papers import row_words
from overspill.papers.paper_files import Paper
from overspill.papers.paper_rows import Row
from overspill.papers.reproduce import Reproduction, row_key

OWN_TITLE = "as reproduced"
KEPT_KEYS = ("measured", "ci95", "seeds", "verdict")

RowResult = Mapping[str, Any]
SensitivityDocument = Mapping[str, Any]  # document of `what_if.json.gz`


@dataclass(frozen=True)
class AffectedRow:
    """Row that a sensitivity run affects: its results without changes, on fewer seeds, and by setting."""

    row: Row
    own_result: RowResult
    results_by_seeds: Mapping[int, RowResult]
    results_by_setting: Mapping[str, RowResult]
    changes: Mapping[str, bool]


def list_affected_rows(made: Reproduction) -> list[AffectedRow]:
    """Returns every row that a changed parameter affects."""
    changed = {name: {row_key(row): row for row in rows} for name, rows in made.rows_under_what_ifs.items()}
    base = {seeds: {row_key(row): row for row in rows} for seeds, rows in made.rows_by_seeds.items()}
    found: list[AffectedRow] = []
    for row, own in made.rows_with_results(made.rows):
        name = row_key(own)
        cells = {setting: by_key[name] for setting, by_key in changed.items() if name in by_key}
        if not cells or row.is_for_later:
            continue
        fewer = {seeds: by_key[name] for seeds, by_key in base.items() if name in by_key}
        seeds = {one.name: made.reduced_seed_count(one) for one in made.selection.what_ifs}
        changes = {
            setting: cell["verdict"] != fewer.get(seeds[setting] or 0, own)["verdict"]
            for setting, cell in cells.items()
        }
        found.append(AffectedRow(row, own, fewer, cells, changes))
    return found


def sensitivity_document(made: Reproduction) -> dict[str, Any]:
    """Returns the document of all sensitivity runs, as `what_if.json.gz` holds it."""
    return {
        "paper": made.paper.name,
        "overspill": version(),
        "tolerances": made.paper.digest,
        "settings": [
            {"name": one.name, "title": one.title, "set": list(one.sets), "sweeps": list(one.sweeps)}
            for one in made.selection.what_ifs
        ],
        "rows": [
            {
                **{
                    name: one.own_result[name]
                    for name in ("figure", "case", "metric", "unit", "published", "tolerance")
                },
                "own": {name: one.own_result[name] for name in KEPT_KEYS},
                "fewer_seeds": {
                    str(seeds): {name: cell[name] for name in KEPT_KEYS}
                    for seeds, cell in one.results_by_seeds.items()
                },
                "settings": {
                    name: {**{field: cell[field] for field in KEPT_KEYS}, "changes": one.changes[name]}
                    for name, cell in one.results_by_setting.items()
                },
            }
            for one in list_affected_rows(made)
        ],
    }


def with_titles(paper: Paper, published: SensitivityDocument) -> dict[str, Any]:
    """Returns published sensitivity runs with the titles that `paper.toml` now has for their settings."""
    titles = {one.name: one.title for one in paper.what_ifs}
    about = [{**one, "title": titles.get(one["name"], one["title"])} for one in published["settings"]]
    return {**published, "settings": about}


def group_by_settings(document: SensitivityDocument) -> list[list[Mapping[str, Any]]]:
    """Returns rows grouped by the settings that affect them, so that no table has empty columns."""
    found: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for row in document["rows"]:
        found.setdefault(tuple(row["settings"]), []).append(row)
    return list(found.values())


def sensitivity_tables(document: SensitivityDocument) -> dict[str, Any]:
    """Returns the tables of sensitivity runs as texts, one line per row, one column per setting."""
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
        "groups": [group_table(rows) for rows in group_by_settings(document)],
    }


def group_table(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Returns the table of rows that the same settings affect, as texts."""
    names = list(rows[0]["settings"])
    fewer = list(dict.fromkeys(seeds for row in rows for seeds in row["fewer_seeds"]))
    return {
        "figures": ", ".join(dict.fromkeys(row["figure"] for row in rows)),
        "heads": [OWN_TITLE, *(f"on {seeds} seed{'s' * (seeds != '1')}" for seeds in fewer), *names],
        "rows": [
            {
                "name": list(row_key(row)),
                "published": row_words.format_value(row["published"], row["unit"]),
                "cells": [
                    format_result(row, cell)
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


def format_result(row: Mapping[str, Any], cell: RowResult | None) -> dict[str, Any]:
    """Returns a table cell with measured value and verdict sign, and whether the verdict changes."""
    if cell is None:
        return {"text": "", "kind": "", "changes": False}
    text = f"{row_words.VERDICT_SIGNS[cell['verdict']]} {row_words.format_measured({**row, **cell})}"
    return {"text": text, "kind": cell["verdict"], "changes": cell.get("changes", False)}
