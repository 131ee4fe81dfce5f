"""Drawing of the fat-tree and of one path through it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from overspill import plots
from overspill.papers.pabo.common import sheet
from overspill.papers.pabo.fat_tree import CORES, HOSTS, POD_SWITCHES, SWITCHES
from overspill.plots import COLOURS

ROWS = ("h", "edge", "agg", "core")  # from the lowest


def spot(name: str) -> tuple[float, float]:
    """Where a node stands, by the paper's name."""
    ours = (SWITCHES | HOSTS)[name]
    tier = ours.rstrip("0123456789")
    count = sum(one.rstrip("0123456789") == tier for one in (SWITCHES | HOSTS).values())
    return (int(ours[len(tier) :]) + 0.5) / count, float(ROWS.index(tier))


def links() -> list[tuple[str, str]]:
    """Every link of the tree, by the paper's names of its ends, the lower one first."""
    named = {ours: name for name, ours in (SWITCHES | HOSTS).items()}
    ends = [(f"h{host}", f"edge{host // 2}") for host in range(16)]
    ends += [(f"edge{edge}", f"agg{edge // 2 * 2 + side}") for edge in range(8) for side in range(2)]
    ends += [(f"agg{agg}", f"core{agg % 2 * 2 + side}") for agg in range(8) for side in range(2)]
    return [(named[low], named[high]) for low, high in ends]


def draw(crossed: Sequence[str], ends: tuple[str, str]) -> Drawing:
    """The tree in four rows, and the path from one host to another over some switches, dashed."""
    with plots.style():
        made, [axes] = sheet(1, height=3.8)
        for low, high in links():
            axes.plot(*zip(spot(low), spot(high), strict=True), color="#c4cad1", linewidth=1, zorder=1)
        path = [spot(name) for name in (ends[0], *crossed, ends[1])]
        style: dict[str, Any] = {"color": COLOURS[1], "linewidth": 2.4, "linestyle": (0, (4, 2)), "zorder": 2}
        axes.plot([x for x, _ in path], [y for _, y in path], **style)
        nodes(axes, {*crossed, *ends})
        axes.set_title(f"Two-level routing: {ends[0]} to {ends[1]} over {', '.join(crossed)}")
        axes.axis("off")
    return made


def nodes(axes: Axes, marked: set[str]) -> None:
    """All nodes with their names."""
    for name in (*CORES, *POD_SWITCHES, *HOSTS):
        x, y = spot(name)
        colour = COLOURS[1] if name in marked else "#333a42"
        box = {
            "boxstyle": "round,pad=0.25" if name in HOSTS else "square,pad=0.3",
            "fc": "white",
            "ec": colour,
        }
        axes.text(x, y, name, ha="center", va="center", fontsize=8, color=colour, bbox=box, zorder=3)
