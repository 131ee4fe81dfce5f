"""The curve by which a mechanism decides, as `overspill explain` tells and draws it; the core computes it."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from overspill import core, table
from overspill.errors import BadInput, Unwritable

FORMATS = (".png", ".svg", ".pdf")
STEPS = 400  # of a curve
ROWS = 10  # of the table, but for the first
BARS = "▁▂▃▄▅▆▇█"
MOST = 8  # curves at once
PLACES = 100  # of a queue of which nothing is said


@dataclass(frozen=True)
class Curves:
    """Lines over the same kind of place: a label, where and how high."""

    kind: str
    settings: str
    told: dict[str, Any]
    lines: list[tuple[str, np.ndarray, np.ndarray]]

    @property
    def starts(self) -> float:
        """Where the first line begins to rise."""
        return min(float(x[1]) for _, x, _ in self.lines)


def of(kind: str, sets: list[str]) -> Curves | None:
    """The curves of a mechanism, one for each of several values; `None` where it has none.

    With several values each curve is that of the first line alone, as in PABO's figure 3b.
    """
    if core.curve(kind, [], 1) is None:
        return None
    combined = list(itertools.islice(itertools.product(*map(values, sets)), MOST + 1))
    if len(combined) > MOST:
        raise BadInput(f"--set: found more than {MOST} combinations; expected at most {MOST} curves")
    found = [
        (chosen, told) for chosen in combined if (told := core.curve(kind, list(chosen), STEPS)) is not None
    ]
    several = [at for at, given in enumerate(sets) if len(values(given)) > 1]
    first = found[0][1]
    if not several:
        lines = [
            (label, np.array(first["places"]), np.array(first["values"][at]))
            for at, label in enumerate(first["lines"])
        ]
        return Curves(kind, ", ".join(sets), first, lines)
    fixed = [given for at, given in enumerate(sets) if at not in several]
    only = [first["lines"][0]] if len(first["lines"]) > 1 else []
    lines = [
        (", ".join(chosen[at] for at in several), np.array(told["places"]), np.array(told["values"][0]))
        for chosen, told in found
    ]
    return Curves(kind, ", ".join([*only, *fixed]), first, lines)


def values(given: str) -> list[str]:
    """`lambda=5,15` as `lambda=5` and `lambda=15`."""
    name, equals, texts = given.partition("=")
    return [f"{name}={text.strip()}" for text in texts.split(",")] if equals else [given]


def kinds_with(specs: list[dict[str, Any]]) -> list[str]:
    """The names that have a curve."""
    return [spec["kind"] for spec in specs if spec["kind"] and core.curve(spec["kind"], [], 1) is not None]


def show(curves: Curves, places: int | None, console: Console) -> None:
    """Print the curves: their shapes, then a table of places and heights."""
    told = curves.told
    if places is not None and not told["of_size"]:
        raise BadInput(
            f"--size: found it for {curves.kind!r}; expected a curve over the utilisation of a queue"
        )
    size = places or PLACES
    console.print()
    console.print(Text(f"{told['y']} over {told['x']}".capitalize(), "bold"))
    if curves.settings:
        console.print(Text(f"  with {curves.settings}"))
    end = max(float(x[-1]) for _, x, _ in curves.lines)
    wide = max(len(label) for label, _, _ in curves.lines)
    for label, x, y in curves.lines:
        heights = np.interp(np.linspace(0, end, 41), x, y)
        drawn = "".join(BARS[min(len(BARS) - 1, int(high * len(BARS)))] for high in heights)
        console.print(Text(f"  {label:{wide}} {drawn}"))
    grid = Table.grid(padding=(0, 2), pad_edge=True)
    heads = [f"frames of {size}"] if told["of_size"] else []
    names = ["u" if told["of_size"] else "queue", *heads, *(label for label, _, _ in curves.lines)]
    for _ in names:
        grid.add_column(justify="right", no_wrap=True)
    grid.add_row(*(Text(name, "bold") for name in names))
    for at in np.linspace(curves.starts, end, ROWS + 1):
        lengths = [f"{at * size:.4g}"] if told["of_size"] else []
        heights = [f"{np.interp(at, x, y):.4f}" for _, x, y in curves.lines]
        grid.add_row(f"{at:.4g}", *lengths, *heights)
    table.put(console, grid)
    if told["note"]:
        console.print(Text(told["note"], "dim"))


def save(curves: Curves, path: Path) -> None:
    """Draw the curves into a file; its ending says how."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    from overspill.charts import mpl as paper

    figure = paper.figure(chart(curves))
    FigureCanvasAgg(figure)
    undated: dict[str, Any] = {
        ".png": {"Software": None},
        ".svg": {"Date": None, "Creator": None},
        ".pdf": {"CreationDate": None, "Producer": None, "Creator": None},
    }[path.suffix.lower()]
    try:
        with paper.style(), mpl.rc_context({"svg.hashsalt": curves.kind}):
            figure.savefig(path, dpi=150, metadata=undated)
    except OSError as error:
        raise Unwritable(f"{path}: cannot be written ({error.strerror or error})") from error


def check_path(path: Path) -> None:
    """Refuse an ending that is none of the formats."""
    if path.suffix.lower() not in FORMATS:
        raise BadInput(f"--out: found {str(path)!r}; expected a file that ends with {', '.join(FORMATS)}")


def chart(curves: Curves) -> Any:
    """The curves as a figure, as PABO's figure 3."""
    from overspill.charts.spec import Axis, Chart, Entry, Line, Panel, look

    marks = [Line(x, y, look(at), label) for at, (label, x, y) in enumerate(curves.lines)]
    legend = [Entry(label, label, look(at)) for at, (label, _, _) in enumerate(curves.lines)]
    told = curves.told
    end = max(float(x[-1]) for _, x, _ in curves.lines)
    panel = Panel(curves.settings, Axis(told["x"], shown=(0, end)), Axis(told["y"], shown=(0, 1.02)), marks)
    return Chart(curves.kind, curves.kind, "", [panel], 1, 4.2, legend)
