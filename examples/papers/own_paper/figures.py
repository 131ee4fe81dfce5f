"""The figures of the paper: measured shares as bars, published ones as marks."""

from collections.abc import Mapping

from matplotlib.figure import Figure

from overspill.papers.common import marked, sheet
from overspill.papers.spec import Sweeps


def draw_drop_ratios(runs: Sweeps, published: Mapping[tuple[str, str], float]) -> Figure:
    """Draws the share of packets that are dropped, by length of the burst."""
    sweep = runs["bursts"]
    drawing, [axes] = sheet(1)
    for at, point in enumerate(sweep.points):
        packets = point["traffic.burst.packets"]
        axes.bar(at, 100 * sweep.metric("drop_ratio", "default", point).mean(), color="C0")
        marked(axes, [(at, published.get((f"{packets} packets", "drop_ratio")))])
    axes.set_xticks(range(len(sweep.points)), [str(one["traffic.burst.packets"]) for one in sweep.points])
    axes.set_xlabel("packets of each sender")
    axes.set_ylabel("dropped packets (%)")
    return drawing


DRAWINGS = {"fig1": draw_drop_ratios}
