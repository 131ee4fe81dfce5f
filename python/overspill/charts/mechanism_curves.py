"""Curves by which mechanisms decide, computed by the core, for `overspill explain`."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from overspill.engine import core
from overspill.errors import BadInput, Unwritable

FILE_SUFFIXES = (".png", ".svg", ".pdf")
GRID_STEPS = 400  # steps of a curve along x
MAX_CURVES = 8  # most curves in a figure


@dataclass(frozen=True)
class Curve:
    """Curve of a mechanism: label, points, and the settings with which the core computed it."""

    label: str
    x: np.ndarray
    y: np.ndarray
    kind: str
    settings: tuple[str, ...]
    index: int

    def heights(self, places: np.ndarray) -> list[float]:
        """Returns the values of the curve at other x positions, computed by the core."""
        told = core.curve(self.kind, list(self.settings), 1, [float(place) for place in places])
        return [] if told is None else [float(high) for high in told["asked"][self.index]]


@dataclass(frozen=True)
class Curves:
    """Curves of one mechanism over one quantity, such as the queue length."""

    kind: str
    settings: str
    axis_facts: dict[str, Any]
    lines: list[Curve]

    @property
    def rise_start(self) -> float:
        """X position at which the first curve begins to rise."""
        return min(float(line.x[1]) for line in self.lines)

    @property
    def rise_end(self) -> float:
        """X position from which no curve rises any further."""
        return max(float(line.x[-1]) for line in self.lines)


def read_curves(kind: str, sets: list[str]) -> Curves | None:
    """Returns the curves of a mechanism, one for each combination of values; `None` if it has none.

    With several combinations, each curve is only the first line of its combination, as in PABO's figure 3b.
    """
    if core.curve(kind, [], 1) is None:
        return None
    combined = list(itertools.islice(itertools.product(*map(split_setting_values, sets)), MAX_CURVES + 1))
    if len(combined) > MAX_CURVES:
        raise BadInput(
            f"--set: found more than {MAX_CURVES} combinations; expected at most {MAX_CURVES} curves"
        )
    found = [(chosen, told) for chosen in combined if (told := core.curve(kind, list(chosen), GRID_STEPS))]
    told = found[0][1]
    if kinds := sorted({one["x"] for _, one in found} - {told["x"]}):
        raise BadInput(f"--set: found curves over {told['x']} and {kinds[0]}; expected one unit")
    several = [at for at, given in enumerate(sets) if len(split_setting_values(given)) > 1]
    if not several:
        lines = [compute_curve(label, (kind, found[0]), at) for at, label in enumerate(told["lines"])]
        return Curves(kind, ", ".join(sets), told, lines)
    fixed = [given for at, given in enumerate(sets) if at not in several]
    only = told["lines"][:1] if len(told["lines"]) > 1 else []
    lines = [compute_curve(", ".join(one[0][at] for at in several), (kind, one), 0) for one in found]
    return Curves(kind, ", ".join([*only, *fixed]), told, lines)


def compute_curve(
    label: str, source: tuple[str, tuple[tuple[str, ...], dict[str, Any]]], number: int
) -> Curve:
    """Returns curve `number` of the curves that the core computed for some settings."""
    kind, (sets, told) = source
    return Curve(label, np.array(told["places"]), np.array(told["values"][number]), kind, sets, number)


def split_setting_values(given: str) -> list[str]:
    """Splits a setting with several values: `lambda=5,15` becomes `lambda=5` and `lambda=15`."""
    name, equals, texts = given.partition("=")
    return [f"{name}={text.strip()}" for text in texts.split(",")] if equals else [given]


def mechanisms_with_curves(specs: list[dict[str, Any]]) -> list[str]:
    """Returns the names of the mechanisms that have a curve."""
    return [spec["kind"] for spec in specs if spec["kind"] and core.curve(spec["kind"], [], 1) is not None]


def check_queue_size(curves: Curves, places: int | None) -> None:
    """Raises `BadInput` for a queue size if the curve is not over queue utilisation."""
    if places is not None and not curves.axis_facts["of_size"]:
        raise BadInput(
            f"--size: found {places} for {curves.kind!r}, whose curve is over the {curves.axis_facts['x']}; "
            "expected `--size` only for a curve over queue utilisation (bounce), where it sets the queue "
            "size in frames"
        )


def save_curves(curves: Curves, path: Path) -> None:
    """Draws the curves into a file, in the format of its suffix."""
    from overspill.charts import figure_files
    from overspill.charts import mpl as paper

    try:
        figure_files.save_as(paper.draw_figure(draw_curves(curves)), path, curves.kind)
    except OSError as error:
        raise Unwritable(f"{path}: cannot be written ({error.strerror or error})") from error


def check_file_suffix(path: Path) -> None:
    """Raises `BadInput` if the suffix is not one of the formats."""
    if path.suffix.lower() not in FILE_SUFFIXES:
        raise BadInput(
            f"--out: found {str(path)!r}; expected a file that ends with {', '.join(FILE_SUFFIXES)}"
        )


def draw_curves(curves: Curves) -> Any:
    """Builds the figure of the curves, as in PABO's figure 3."""
    from overspill.charts.chart_spec import Axis, Chart, LegendEntry, Line, Panel, line_style_of_index

    looks = [(line, line_style_of_index(at)) for at, line in enumerate(curves.lines)]
    marks = [Line(line.x, line.y, drawn, line.label) for line, drawn in looks]
    legend = [LegendEntry(line.label, line.label, drawn) for line, drawn in looks]
    told = curves.axis_facts
    end = curves.rise_end
    panel = Panel(curves.settings, Axis(told["x"], range=(0, end)), Axis(told["y"], range=(0, 1.02)), marks)
    return Chart(curves.kind, curves.kind, "", [panel], 1, 4.2, legend)
