"""Open parameters changed one at a time: how each row moves, as a matrix and as one figure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patches import Rectangle

from overspill import plots as look
from overspill import version
from overspill.papers import words
from overspill.papers.data import WhatIf
from overspill.papers.reproduce import Reproduced, key
from overspill.papers.rows import Row
from overspill.papers.verdicts import FAILS, HOLDS, INCONCLUSIVE
from overspill.papers.words import escaped, line

NAME = "what_if"
WHAT_IF = (
    "Each open parameter changed alone, where it was run so. A verdict that is another than the paper's own "
    "runs have on as many seeds is bold; near a limit, scatter alone may change one."
)
OWN = "as reproduced"
COLOURS = {HOLDS: "#00734c", FAILS: "#b3261e", INCONCLUSIVE: "#a06a00"}
KEPT = ("measured", "ci95", "seeds", "verdict", "note")

Cell = Mapping[str, Any]


@dataclass(frozen=True)
class Moved:
    """A row that a setting touches: as reproduced, on fewer seeds, and by setting."""

    row: Row
    own: Cell
    base: Mapping[int, Cell]
    cells: Mapping[str, Cell]
    changes: Mapping[str, bool]


@dataclass(frozen=True)
class Group:
    """Rows that the same settings touch: a table, and a figure `image` of those whose verdict changes."""

    settings: Sequence[WhatIf]
    rows: Sequence[Moved]
    heads: Sequence[str]
    image: str

    @property
    def figures(self) -> str:
        """The figures that these rows are of."""
        return ", ".join(dict.fromkeys(one.row.figure for one in self.rows))

    @property
    def drawn(self) -> list[Moved]:
        """The rows whose verdict some setting changes."""
        return [one for one in self.rows if any(one.changes.values())]


def table(made: Reproduced) -> list[Moved]:
    """Every row that any setting touches."""
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
    """What `what_if.json` holds."""
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


def groups(made: Reproduced) -> list[Group]:
    """The rows by the settings that touch them, so that no table has columns without a cell."""
    found: dict[tuple[str, ...], list[Moved]] = {}
    for one in table(made):
        found.setdefault(tuple(one.cells), []).append(one)
    grouped: list[Group] = []
    for names, rows in found.items():
        settings = [one for one in made.asked.what_ifs if one.name in names]
        fewer = [seeds for seeds in made.base if any(seeds in one.base for one in rows)]
        heads = [
            OWN,
            *(f"on {seeds} seed{'s' * (seeds > 1)}" for seeds in fewer),
            *(one.name for one in settings),
        ]
        image = NAME if len(found) == 1 else f"{NAME}_{rows[0].row.figure.replace('.', '_')}"
        image += f"_{len(grouped)}" if image in {one.image for one in grouped} else ""
        grouped.append(Group(settings, rows, heads, image))
    return grouped


def matrix(made: Reproduced) -> dict[str, Any] | None:
    """The tables as text, rows by settings."""
    found = groups(made)
    if not found:
        return None
    return {
        "settings": [
            {
                "name": one.name,
                "title": one.title,
                "set": ", ".join(one.sets),
                "sweeps": ", ".join(one.sweeps),
            }
            for one in made.asked.what_ifs
        ],
        "groups": [
            {
                "figures": group.figures,
                "heads": group.heads,
                "image": group.image if group.drawn else None,
                "rows": [
                    {
                        "name": list(key(row.own)),
                        "published": words.value(row.own["published"], row.own["unit"]),
                        "cells": [shown(cell, change) for cell, change in columns(made, group, row)],
                    }
                    for row in group.rows
                ],
            }
            for group in found
        ],
    }


def columns(made: Reproduced, group: Group, row: Moved) -> list[tuple[Cell | None, bool]]:
    """A row's cells, and whether each has another verdict."""
    fewer = [seeds for seeds in made.base if any(seeds in one.base for one in group.rows)]
    own = [(row.own, False), *((row.base.get(seeds), False) for seeds in fewer)]
    return own + [(row.cells.get(one.name), row.changes.get(one.name, False)) for one in group.settings]


def shown(cell: Cell | None, change: bool) -> dict[str, Any]:
    """A cell: what was measured, its sign, and whether the verdict is another."""
    if cell is None:
        return {"text": "", "kind": "", "changes": False}
    text = f"{words.SIGNS[cell['verdict']]} {words.measured(cell)}"
    return {"text": text, "kind": cell["verdict"], "changes": change}


def markdown(made: Reproduced) -> list[str]:
    """The matrix in Markdown; verdicts that change are bold."""
    found = matrix(made)
    if found is None:
        return []
    lines = ["## What if", "", WHAT_IF, ""]
    for one in found["settings"]:
        told = f"{escaped(one['title'])} (`{one['set']}`, in {escaped(one['sweeps'])})"
        lines.append(f"- {escaped(one['name'])}: {told}")
    for group in found["groups"]:
        over = ("figure", "case", "metric", "published", *group["heads"])
        lines += ["", f"### {escaped(group['figures'])}", "", line(over), line("---" for _ in over)]
        for row in group["rows"]:
            cells = [
                f"**{escaped(one['text'])}**" if one["changes"] else escaped(one["text"])
                for one in row["cells"]
            ]
            lines.append(line((*row["name"], row["published"])) + " " + " | ".join(cells) + " |")
        if group["image"]:
            lines += ["", f"![Rows whose verdict an open parameter changes](figures/{group['image']}.png)"]
    return [*lines, ""]


def drawings(made: Reproduced) -> Iterable[tuple[str, Figure]]:
    """A figure for each table where some setting changes a verdict, by name."""
    return ((group.image, drawing(made, group)) for group in groups(made) if group.drawn)


def drawing(made: Reproduced, group: Group) -> Figure:
    """Rows whose verdict some setting changes, by setting: sign, value, and a frame where it is another."""
    rows, names = group.drawn, group.heads
    with look.style():
        size = (4.2 + 0.62 * len(names), 1.9 + 0.23 * len(rows))
        figure = Figure(figsize=size, layout=ConstrainedLayoutEngine(w_pad=0.3, h_pad=0.15))
        axes = figure.subplots()
        for at, one in enumerate(rows):
            for column, (cell, change) in enumerate(columns(made, group, one)):
                if cell is not None:
                    draw_cell(axes, (column, at), cell, change)
        labels = [
            f"{row.figure}: {row.case}, {row.metric.replace('_', ' ')}" for row in (one.row for one in rows)
        ]
        axes.set_yticks(range(len(rows)), labels, fontsize=7)
        axes.set_xticks(
            range(len(names)), names, fontsize=7.5, rotation=45, ha="left", rotation_mode="anchor"
        )
        axes.tick_params(length=0, top=False, bottom=False, labeltop=True, labelbottom=False)
        axes.set_xlim(-0.5, len(names) - 0.5)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.grid(visible=False)
        axes.spines[:].set_visible(False)
        axes.set_xlabel(
            "✓ holds  ✗ fails  ? inconclusive\nframed: another verdict than as reproduced on as many seeds",
            fontsize=8,
            loc="right",  # beside few columns there is room on the left alone
        )
    return figure


def draw_cell(axes: Axes, at: tuple[int, int], cell: Cell, framed: bool) -> None:
    """A cell in its verdict's colour."""
    column, line = at
    colour = COLOURS[cell["verdict"]]
    corner = (column - 0.47, line - 0.44)
    axes.add_patch(Rectangle(corner, 0.94, 0.88, facecolor=colour, alpha=0.16, linewidth=0))
    if framed:
        axes.add_patch(Rectangle(corner, 0.94, 0.88, fill=False, edgecolor=colour, linewidth=1.1))
    number = f" {cell['measured']:.3g}" if isinstance(cell["measured"], int | float) else ""
    text = f"{words.SIGNS[cell['verdict']]}{number}"
    axes.text(column, line, text, ha="center", va="center", fontsize=6.5, color=colour)
