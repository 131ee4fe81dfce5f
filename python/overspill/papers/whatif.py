"""Open parameters changed one at a time: how each row moves, as a matrix and as one figure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patches import Rectangle

from overspill import plots as look
from overspill import version
from overspill.papers import words
from overspill.papers.judge import FAILS, HOLDS, INCONCLUSIVE
from overspill.papers.reproduce import Reproduced
from overspill.papers.rows import Row
from overspill.papers.words import escaped, line

NAME = "what_if"
WHAT_IF = (
    "Each open parameter changed alone; a verdict that it changes is bold. "
    "Settings may have fewer seeds; near a limit, scatter alone may change one."
)
OWN = "as reproduced"
COLOURS = {HOLDS: "#00734c", FAILS: "#b3261e", INCONCLUSIVE: "#a06a00"}
KEPT = ("measured", "ci95", "seeds", "verdict", "note")

Key = tuple[str, str, str]
Cell = Mapping[str, Any]


def key(row: Mapping[str, Any]) -> Key:
    """What a row is known by."""
    return row["figure"], row["case"], row["metric"]


def table(made: Reproduced) -> list[tuple[Row, Cell, Mapping[str, Cell]]]:
    """Every row that any setting touches: as reproduced, and by setting."""
    changed = {name: {key(row): row for row in rows} for name, rows in made.changed.items()}
    found: list[tuple[Row, Cell, Mapping[str, Cell]]] = []
    for row, own in made.judged(made.rows):
        cells = {name: by_key[key(own)] for name, by_key in changed.items() if key(own) in by_key}
        if cells and not row.later:
            found.append((row, own, cells))
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
                    name: own[name] for name in ("figure", "case", "metric", "unit", "published", "tolerance")
                },
                "own": {name: own[name] for name in KEPT},
                "settings": {
                    name: {
                        **{field: cell[field] for field in KEPT},
                        "changes": cell["verdict"] != own["verdict"],
                    }
                    for name, cell in cells.items()
                },
            }
            for _, own, cells in table(made)
        ],
    }


def matrix(made: Reproduced) -> dict[str, Any] | None:
    """The matrix as text, rows by settings."""
    rows = table(made)
    if not rows:
        return None
    settings = made.asked.what_ifs
    return {
        "settings": [
            {
                "name": one.name,
                "title": one.title,
                "set": ", ".join(one.sets),
                "sweeps": ", ".join(one.sweeps),
            }
            for one in settings
        ],
        "rows": [
            {
                "name": list(key(own)),
                "published": words.value(own["published"], own["unit"]),
                "cells": [shown(own, own)] + [shown(cells.get(one.name), own) for one in settings],
            }
            for _, own, cells in rows
        ],
    }


def shown(cell: Cell | None, own: Cell) -> dict[str, Any]:
    """A cell: what was measured, its sign, and whether the verdict is another."""
    if cell is None:
        return {"text": "", "kind": "", "changes": False}
    text = f"{words.SIGNS[cell['verdict']]} {words.measured(cell)}"
    return {"text": text, "kind": cell["verdict"], "changes": cell["verdict"] != own["verdict"]}


def markdown(made: Reproduced) -> list[str]:
    """The matrix in Markdown; verdicts that change are bold."""
    found = matrix(made)
    if found is None:
        return []
    names = [one["name"] for one in found["settings"]]
    lines = ["## What if", "", WHAT_IF, ""]
    for one in found["settings"]:
        told = f"{escaped(one['title'])} (`{one['set']}`, in {escaped(one['sweeps'])})"
        lines.append(f"- {escaped(one['name'])}: {told}")
    heads = ("figure", "case", "metric", "published", OWN, *names)
    lines += ["", line(heads), line("---" for _ in heads)]
    for row in found["rows"]:
        cells = [
            f"**{escaped(one['text'])}**" if one["changes"] else escaped(one["text"]) for one in row["cells"]
        ]
        lines.append(line((*row["name"], row["published"])) + " " + " | ".join(cells) + " |")
    if any(changed(own, cells) for _, own, cells in table(made)):
        lines += ["", f"![Rows whose verdict an open parameter changes](figures/{NAME}.png)"]
    return [*lines, ""]


def drawing(made: Reproduced) -> Figure | None:
    """Rows whose verdict some setting changes, by setting: sign, value, and a frame where it is another."""
    rows = [one for one in table(made) if changed(one[1], one[2])]
    if not rows:
        return None
    names = [OWN, *(one.name for one in made.asked.what_ifs)]
    with look.style():
        size = (4.2 + 0.62 * len(names), 1.9 + 0.23 * len(rows))
        figure = Figure(figsize=size, layout=ConstrainedLayoutEngine(w_pad=0.3))
        axes = figure.subplots()
        for at, (_, own, cells) in enumerate(rows):
            for column, cell in enumerate((own, *(cells.get(name) for name in names[1:]))):
                if cell is not None:
                    draw_cell(axes, (column, at), cell, cell["verdict"] != own["verdict"])
        labels = [f"{row.figure}: {row.case}, {row.metric.replace('_', ' ')}" for row, _, _ in rows]
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
            "✓ holds  ✗ fails  ? inconclusive\nframed: another verdict than as reproduced", fontsize=8
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


def changed(own: Cell, cells: Mapping[str, Cell]) -> bool:
    """Whether some setting changes a row's verdict."""
    return any(cell["verdict"] != own["verdict"] for cell in cells.values())
