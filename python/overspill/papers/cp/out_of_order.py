"""Section 6.3: figure 14, one flow over two paths."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure as Drawing

from overspill import plots
from overspill.papers.common import Curve, Published, legend, mean_line, measured, quotients, sheet
from overspill.papers.cp.schemes import CARRIED, Sweeps, along, numbers, of
from overspill.papers.spec import Figure, Measured, Runs
from overspill.plots import COLOURS

WEIGHT = "topology.link.5th.weight"  # P, the share of path A
LABELS = {
    "tcp_3": "TCP, 3 duplicates",
    "tcp_3_200ms": "TCP 200 ms, 3 duplicates",
    "tcp_none": "TCP, no threshold",
    "tcp_none_200ms": "TCP 200 ms, no threshold",
    "cp_3": "CP, 3 duplicates",
    "cp_none": "CP, no threshold",
    "dctcp_3": "DCTCP, 3 duplicates",
    "dctcp_none": "DCTCP, no threshold",
    "cp_dctcp_none": "CP&DCTCP, no threshold",
}


def theory(share: float) -> float:
    """Half of path B, and as much more as goes by path A, bit/s (footnote 11)."""
    return CARRIED / 2 / (1 - share)


def throughput(runs: Runs, variant: str) -> Curve:
    """Goodput of the flow over both paths, Mb/s, seeds by P."""
    return along(runs, of("goodput", "multipath"), variant, runs.points) / 1e6


def figure_14_theory(_: Sweeps) -> Iterator[Measured]:
    """The line of theory."""
    for percent in range(0, 60, 10):
        yield measured(f"P = {percent} %", "theory", [theory(percent / 100) / 1e6])


def figure_14(sweeps: Sweeps) -> Iterator[Measured]:
    """Every claim of the text."""
    runs = sweeps["out_of_order"]
    shares = numbers(runs, WEIGHT)
    percent = [round(100 * one) for one in shares]
    line = np.array([theory(one) / 1e6 for one in shares])
    found = {one: throughput(runs, one) for one in runs.variants}
    for variant in ("tcp_3", "cp_3"):
        name, curve = LABELS[variant], found[variant]
        yield measured(name, "largest_throughput", curve.max(axis=1))
        yield measured(name, "throughput_at_the_largest_P", curve[:, -1])
        rise = curve[:, -1] - curve[:, percent.index(10)]
        yield measured(name, "throughput_at_50_less_at_10_percent", rise)
    slower = found["tcp_none_200ms"] - found["tcp_none"]
    for place, one in enumerate(percent):
        case = f"P = {one} %"
        cp, dctcp = (found[v][:, place] / line[place] for v in ("cp_none", "dctcp_3"))
        yield measured(f"CP, no threshold, {case}", "throughput_by_theory", cp)
        yield measured(f"DCTCP, 3 duplicates, {case}", "throughput_by_theory", dctcp)
        if one < 50:
            yield measured(f"TCP 200 ms less 10 ms, no threshold, {case}", "throughput", slower[:, place])
    nearer = found["tcp_none"] / line
    rise = nearer[:, percent.index(40)] - nearer[:, percent.index(10)]
    yield measured("TCP, no threshold, 40 less 10 %", "throughput_by_theory", rise)
    alike = np.array([quotients(*pair) for pair in zip(found["dctcp_3"], found["dctcp_none"], strict=True)])
    farthest = [one[np.abs(one - 1).argmax()] for one in alike]
    yield measured("DCTCP, 3 duplicates by no threshold", "throughput", farthest)


def draw_14(sweeps: Sweeps, published: Published) -> Drawing:
    """Every scheme over P."""
    runs = sweeps["out_of_order"]
    shares = numbers(runs, WEIGHT)
    dashes = ["-", "--", ":"]
    with plots.style():
        made, [axes] = sheet(1, height=4.6)
        for place, variant in enumerate(runs.variants):
            colour, dash = COLOURS[place % len(COLOURS)], dashes[place // len(COLOURS) % len(dashes)]
            mean_line(axes, shares, throughput(runs, variant), colour, label=LABELS[variant], linestyle=dash)
        axes.plot(
            shares, [theory(one) / 1e6 for one in shares], color="black", linestyle="--", label="theory"
        )
        axes.set_xlabel("P, the share of packets by path A")
        axes.set_ylabel("goodput (Mb/s)")
        axes.set_ylim(0, 1000)
        axes.set_title("A flow over two paths, one of them shared")
        legend(axes, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return made


FIGURES: dict[str, Figure] = {
    "fig14t": Figure(figure_14_theory),
    "fig14": Figure(figure_14, draw_14),
}
