"""Drawings of figures 1 and 8."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from overspill import plots
from overspill.papers.common import Curve, Published, legend, log_scale, marked, mean_line, sheet
from overspill.papers.cp import incast_curves
from overspill.papers.cp.schemes import CP, DCTCP, NAMES, TCP, Sweeps, numbers
from overspill.papers.spec import Runs
from overspill.plots import COLOURS

Values = Callable[[Runs, str], Curve]


def curves(axes: Axes, runs: Runs, variants: Sequence[str], values: Values) -> None:
    """A line for each scheme over the number of senders."""
    senders = numbers(runs, incast_curves.DEGREE)
    for variant in variants:
        colour = COLOURS[list(NAMES).index(variant) % len(COLOURS)]
        mean_line(axes, senders, values(runs, variant), colour, label=NAMES[variant])
    axes.set_xlabel("senders")


def draw_cliffs(sweeps: Sweeps, published: Published) -> Drawing:
    """Figure 1."""
    with plots.style():
        made, [axes] = sheet(1)
        curves(axes, sweeps["mapreduce"], (TCP, DCTCP), incast_curves.throughput)
        places = [(who, which) for who, which in published if which.endswith("_cliff")]
        for who, which in places:
            axes.axvline(published[who, which], color="black", linewidth=0.8, linestyle=":")
        axes.set_xlim(0, 100)
        axes.set_ylim(0, 1000)
        axes.set_ylabel("throughput (Mb/s)")
        axes.set_title("64 KB from each sender; dotted: cliffs as published")
        legend(axes, loc="lower right")
    return made


def draw_throughput(sweeps: Sweeps, published: Published) -> Drawing:
    """Figure 8a."""
    runs = sweeps["mapreduce"]
    with plots.style():
        made, [axes] = sheet(1, height=4.2)
        curves(axes, runs, runs.variants, incast_curves.throughput)
        level = published.get((NAMES[TCP], "throughput_of_60_and_more"))
        marked(axes, [(150.0, level)])
        axes.set_ylim(0, 1000)
        axes.set_ylabel("throughput (Mb/s)")
        axes.set_title("64 KB from each sender")
        legend(axes, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return made


def draw_completion(sweeps: Sweeps, published: Published) -> Drawing:
    """Figure 8b."""
    runs = sweeps["web_search"]
    with plots.style():
        made, [axes] = sheet(1, height=4.2)
        curves(axes, runs, runs.variants, incast_curves.completion)
        time = "query_completion_time"
        levels = [
            (25.0, published.get((f"{NAMES[CP]}, below 50 senders", time))),
            (90.0, published.get((f"{NAMES[TCP]}, 80 to 100 senders", time))),
            (90.0, published.get((f"{NAMES[TCP]} 200 ms, 80 to 100 senders", time))),
        ]
        marked(axes, levels)
        log_scale(axes)
        axes.set_ylabel("query completion time (ms)")
        axes.set_title("1024 KB from all senders together")
        legend(axes, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return made
