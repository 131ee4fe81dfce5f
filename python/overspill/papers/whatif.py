"""Open parameters changed one at a time: how each row moves, as a matrix and as one figure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from overspill import core
from overspill.charts import mpl as look
from overspill.papers import words
from overspill.papers.judge import FAILS, HOLDS, INCONCLUSIVE
from overspill.papers.reproduce import Reproduced
from overspill.papers.rows import Row

NAME = "what_if"
OWN = "as reproduced"
PANELS, COLUMNS = 30, 3
MARKERS = {HOLDS: "o", FAILS: "X", INCONCLUSIVE: "D"}
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
        "overspill": core.version(),
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
    from overspill.papers.report import escaped, line

    found = matrix(made)
    if found is None:
        return []
    names = [one["name"] for one in found["settings"]]
    lines = ["## What if", "", "Each open parameter changed alone; a verdict that it changes is bold.", ""]
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
    if drawing(made) is not None:
        lines += ["", f"![How rows move where an open parameter is changed](figures/{NAME}.png)"]
    return [*lines, ""]


def moved(own: Cell, cells: Mapping[str, Cell]) -> bool:
    """Whether a row's number changes its verdict or moves further than both intervals reach."""
    if not isinstance(own["measured"], int | float):
        return False
    for cell in cells.values():
        if not isinstance(cell["measured"], int | float):
            continue
        reach = (own["ci95"] or 0.0) + (cell["ci95"] or 0.0)
        slack = reach + 1e-9 * abs(own["measured"])
        if cell["verdict"] != own["verdict"] or abs(cell["measured"] - own["measured"]) > slack:
            return True
    return False


def drawing(made: Reproduced) -> Figure | None:
    """One panel a row that moves: measured by setting, the tolerance, what was published."""
    every = [one for one in table(made) if moved(one[1], one[2])]
    if not every:
        return None
    rows = every[:PANELS]
    columns = min(COLUMNS, len(rows))
    lines = -(-len(rows) // columns)
    names = [OWN, *(one.name for one in made.asked.what_ifs)]
    with look.style():
        figure = Figure(
            figsize=(3.6 * columns + 1.4, (0.62 + 0.24 * len(names)) * lines + 0.7), layout="constrained"
        )
        grid: Any = figure.subplots(lines, columns, squeeze=False)
        for at, (row, own, cells) in enumerate(rows):
            panel(grid[divmod(at, columns)], row, [own, *(cells.get(name) for name in names[1:])])
            ticks(grid[divmod(at, columns)], names, at % columns == 0)
        for at in range(len(rows), lines * columns):
            grid[divmod(at, columns)].remove()
        left = f"; {len(every) - len(rows)} more move" if len(every) > len(rows) else ""
        text = "Mean and 95 % interval. Shaded: tolerance.\nLine: published."
        figure.suptitle(f"{text}  ● holds  ✖ fails  ◆ inconclusive{left}", fontsize=9, x=0.01, ha="left")
    return figure


def ticks(axes: Axes, names: list[str], first: bool) -> None:
    """Settings from the top, named in the first column."""
    axes.set_yticks(range(len(names)), names if first else [""] * len(names), fontsize=8)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labelsize=8)
    axes.locator_params(axis="x", nbins=5)
    axes.grid(axis="y", visible=False)


def panel(axes: Axes, row: Row, cells: Sequence[Cell | None]) -> None:
    """One row; its settings from the top, `None` where one does not touch it."""
    axes.set_title(
        f"{row.figure}: {row.case}, {row.metric}" + (f" ({row.unit})" if row.unit else ""), fontsize=8
    )
    known = [(at, one) for at, one in enumerate(cells) if one and isinstance(one["measured"], int | float)]
    ends = [one["measured"] + sign * (one["ci95"] or 0.0) for _, one in known for sign in (-1, 1)]
    within = row.tolerance
    ends += [one for one in (within.low, within.high) if math.isfinite(one)] if within else []
    if isinstance(row.published, int | float):
        ends.append(float(row.published))
        axes.axvline(float(row.published), color="#333a42", linewidth=1)
    low, high = stretched(ends)
    if within is not None and within.prediction is None:
        shade: dict[str, Any] = {"color": COLOURS[HOLDS], "alpha": 0.12, "linewidth": 0}
        axes.axvspan(max(within.low, low), min(within.high, high), **shade)
    axes.set_xlim(low, high)
    for at, cell in known:
        colour, marker = COLOURS[cell["verdict"]], MARKERS[cell["verdict"]]
        bars: dict[str, Any] = {"color": colour, "marker": marker, "markersize": 5, "capsize": 2}
        axes.errorbar([cell["measured"]], [at], xerr=[cell["ci95"] or 0.0], **bars)


def stretched(ends: list[float]) -> tuple[float, float]:
    """A range around values, with some room."""
    low, high = min(ends), max(ends)
    room = 0.08 * (high - low) or 0.1 * abs(high) or 1.0
    return low - room, high + room
