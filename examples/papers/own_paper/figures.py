"""The figures of the paper: measured shares as bars, published ones as marks."""

from collections.abc import Mapping

from matplotlib.figure import Figure

from overspill.papers.common import draw_published_values, new_panels
from overspill.papers.spec import Sweeps


def draw_drop_ratios(runs: Sweeps, published: Mapping[tuple[str, str], float]) -> Figure:
    """Draws the share of packets that are dropped, by length of the burst."""
    sweep = runs["bursts"]
    drawing, [axes] = new_panels(1)
    sizes = [point["traffic.burst.packets"] for point in sweep.points]
    measured = [100 * sweep.metric("drop_ratio", "default", point).mean() for point in sweep.points]
    axes.bar(range(len(sizes)), measured, color="C0", label="measured")
    draw_published_values(
        axes, [(at, published.get((f"{one} packets", "drop_ratio"))) for at, one in enumerate(sizes)]
    )
    axes.set_xticks(range(len(sizes)), [str(one) for one in sizes])
    axes.set_xlabel("packets of each sender")
    axes.set_ylabel("dropped packets (%)")
    axes.legend(loc="upper left")
    return drawing


DRAWINGS = {"fig1": draw_drop_ratios}
