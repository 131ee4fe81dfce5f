"""Groups of bars with the intervals of their means, and published values beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from overspill import stats
from overspill.papers.common import draw_published_values
from overspill.plots import COLOURS

GROUP_WIDTH = 0.8  # width of a group
# Above the axes, to the right of the title, where the legend covers nothing.
LEGEND_ABOVE_AXES: dict[str, Any] = {
    "loc": "lower right",
    "bbox_to_anchor": (1, 1),
    "ncols": 4,
    "borderaxespad": 0.2,
}
LEGEND_ABOVE_AXES |= {"columnspacing": 1.2, "handlelength": 1.4}


@dataclass(frozen=True)
class BarGroups:
    """Kinds of bars side by side in each group, with a value for each seed; the first has `first_colour`."""

    kinds: Sequence[str]
    values: Sequence[Sequence[np.ndarray]]
    first_colour: int = 0

    def bar_positions(self, kind: int) -> np.ndarray:
        """Returns the x positions of the bars of one kind."""
        return np.arange(len(self.values[kind])) + (kind - (len(self.kinds) - 1) / 2) * self.width

    @property
    def width(self) -> float:
        """Width of each bar, in units of the distance between groups."""
        return GROUP_WIDTH / len(self.kinds)


def mean_and_half_width(by_seed: np.ndarray) -> tuple[float, float]:
    """Returns the mean of the finite values, and the half-width of its 95% interval; 0 and 0 if none."""
    known = [float(one) for one in by_seed if np.isfinite(one)]
    return (stats.mean(known), stats.half_width(known) or 0.0) if known else (0.0, 0.0)


def draw_grouped_bars(
    axes: Axes,
    groups: Sequence[str],
    bars: BarGroups,
    paper: Sequence[Sequence[float | None]] = (),
    label: str = "published",
) -> None:
    """Draws bars of means with their 95% intervals, and published values as marks, by kind and group."""
    for kind, name in enumerate(bars.kinds):
        places, found = bars.bar_positions(kind), [mean_and_half_width(one) for one in bars.values[kind]]
        height, reach = [one[0] for one in found], [one[1] for one in found]
        colour = COLOURS[(bars.first_colour + kind) % len(COLOURS)]
        axes.bar(places, height, bars.width * 0.94, color=colour, alpha=0.85, label=name)
        axes.errorbar(
            places, height, reach, fmt="none", ecolor="#222222", elinewidth=1.1, capsize=2.5, zorder=4
        )
    marks = [
        (float(at), value)
        for kind, row in enumerate(paper)
        for at, value in zip(bars.bar_positions(kind), row, strict=True)
    ]
    draw_published_values(axes, marks, label)
    axes.set_xticks(range(len(groups)), list(groups))
    axes.grid(False, axis="x")
    axes.set_ylim(bottom=0)
    if len(bars.kinds) > 1 or any(value is not None for _, value in marks):
        axes.legend(**LEGEND_ABOVE_AXES)
