"""Section 6.2, a single bottleneck: figures 10 and 11."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure as Drawing

from overspill import columns, plots
from overspill.papers.common import Published, halves, legend, measured, quotients, sheet
from overspill.papers.cp.schemes import (
    BOTH,
    CP,
    DCTCP,
    DCTCP_200,
    NAMES,
    TCP,
    TCP_200,
    TIES,
    Sweeps,
    at,
    modes,
)
from overspill.papers.spec import Figure, Measured, Point, Runs
from overspill.plots import COLOURS

FLOWS = "traffic.experimental.flows"  # a background host has as many, and there are six
PAIRS = {"12-2": 2, "60-10": 10, "120-20": 20}
EVERY = {"12-2": 2, "36-6": 6, "60-10": 10, "90-15": 15, "120-20": 20}
FOUR = (TCP, DCTCP, CP, BOTH)
BIN, FIRST, LAST = 0.5, 4, 24  # s, and the bins of the measurement window
BACKGROUND, EXPERIMENTAL = 0, 1  # workloads, in the order of the scenario


def goodput(runs: Runs, variant: str, point: Point) -> list[tuple[np.ndarray, np.ndarray]]:
    """Goodput of each background and each experimental flow in the window, Mb/s, run by run."""
    found = []
    tables = zip(
        runs.tables("flows", variant, point), runs.tables("flow_goodput", variant, point), strict=True
    )
    for flows, bins in tables:
        number, whose = columns.numbers(flows, "flow"), columns.numbers(flows, "traffic")
        time = columns.numbers(bins, "bin")
        inside = (time >= FIRST) & (time < LAST)
        total = np.zeros(int(number.max()) + 1)
        np.add.at(total, columns.numbers(bins, "flow")[inside], columns.numbers(bins, "bytes")[inside])
        rate = total * 8 / (BIN * (LAST - FIRST)) / 1e6
        found.append((rate[number[whose == BACKGROUND]], rate[number[whose == EXPERIMENTAL]]))
    return found


def ratio(runs: Runs, variant: str, point: Point) -> np.ndarray:
    """Mean goodput of experimental flows by that of background flows."""
    found = goodput(runs, variant, point)
    return quotients(np.array([one[1].mean() for one in found]), np.array([one[0].mean() for one in found]))


def efjr(runs: Runs, variant: str, point: Point) -> np.ndarray:
    """Mean absolute deviation of the experimental flows' goodput by its mean, %."""
    found = [one[1] for one in goodput(runs, variant, point)]
    apart = np.array([np.abs(one - one.mean()).mean() for one in found])
    return 100 * quotients(apart, np.array([one.mean() for one in found]))


def figure_10(sweeps: Sweeps) -> Iterator[Measured]:
    """The smaller group beside the larger, with hosts that scatter and with exact ones."""
    metric = "goodput_experimental_by_background"
    for sweep, mode in TIES.items():
        runs = sweeps[f"pairs{sweep}"]
        found = {
            (one, pair): ratio(runs, one, at(runs, FLOWS, n)) for pair, n in PAIRS.items() for one in FOUR
        }
        for pair in PAIRS:
            yield measured(f"TCP, {pair}{mode}", metric, found[TCP, pair], modes(found[TCP, pair], ""))
            for variant in (CP, BOTH):
                note = modes(found[variant, pair], "")
                yield measured(f"{NAMES[variant]}, {pair}{mode}", metric, found[variant, pair], note)
        for pair in ("12-2", "60-10"):
            apart = [np.abs(found[one, pair] - 1) for one in (DCTCP, TCP)]
            yield measured(
                f"DCTCP less TCP, {pair}{mode}", "distance_from_1_of_the_ratio", apart[0] - apart[1]
            )
        last = found[DCTCP, "120-20"]
        yield measured(f"DCTCP, 120-20{mode}", metric, last, modes(last, ""))


def figure_11(sweeps: Sweeps) -> Iterator[Measured]:
    """EFJR over the pairs; the least and the largest pair are those of the mean over seeds."""
    runs = sweeps["pairs"]
    found = {
        one: np.array([efjr(runs, one, at(runs, FLOWS, n)) for n in EVERY.values()])
        for one in (DCTCP, CP, BOTH)
    }
    means = found[DCTCP].mean(axis=1)
    pairs = list(EVERY)
    least, most = int(means.argmin()), int(means.argmax())
    yield measured("DCTCP, least of the pairs", "EFJR", found[DCTCP][least], pairs[least])
    yield measured("DCTCP, largest of the pairs", "EFJR", found[DCTCP][most], pairs[most])
    worst = int(found[CP].mean(axis=1).argmax())
    yield measured("CP, largest of the pairs", "EFJR", found[CP][worst], pairs[worst])
    yield measured("CP&DCTCP less CP", "EFJR", (found[BOTH] - found[CP]).mean(axis=0))


def rto_alike(sweeps: Sweeps) -> Iterator[Measured]:
    """Goodput with an RTOmin of 200 ms by that with 10 ms, where there are 60 and 10 flows."""
    runs = sweeps["pairs"]
    point = at(runs, FLOWS, 10)
    for slow, fast, case, group in (
        (DCTCP_200, DCTCP, "DCTCP 200 ms by 10 ms, 60-10", 1),
        (DCTCP_200, DCTCP, "DCTCP 200 ms by 10 ms, 60-10, all flows", None),
        (TCP_200, TCP, "TCP 200 ms by 10 ms, 60-10", None),
    ):
        means = [
            np.array(
                [
                    (np.concatenate(one) if group is None else one[group]).mean()
                    for one in goodput(runs, variant, point)
                ]
            )
            for variant in (slow, fast)
        ]
        yield measured(case, "goodput_of_a_flow", quotients(*means))


def draw_10(sweeps: Sweeps, published: Published) -> Drawing:
    """The ratio of both groups, pair by pair."""
    with plots.style():
        made, panels = sheet(3)
        for axes, (sweep, mode) in zip(panels, TIES.items(), strict=True):
            runs = sweeps[f"pairs{sweep}"]
            for place, variant in enumerate(FOUR):
                values = np.array([ratio(runs, variant, at(runs, FLOWS, n)) for n in PAIRS.values()]).T
                axes.bar(
                    np.arange(len(PAIRS)) + 0.2 * (place - 1.5),
                    values.mean(axis=0),
                    0.18,
                    yerr=halves(values),
                    color=COLOURS[list(NAMES).index(variant) % len(COLOURS)],
                    label=NAMES[variant],
                )
            axes.axhline(1.0, color="black", linewidth=0.8, linestyle=":")
            axes.set_xticks(range(len(PAIRS)), list(PAIRS))
            axes.set_ylim(0, min(4.0, axes.get_ylim()[1]))
            axes.set_title(mode.removeprefix(", ") or "hosts scatter")
        panels[0].set_ylabel("goodput, experimental by background")
        legend(panels[-1], loc="center left", bbox_to_anchor=(1.0, 0.5))
    return made


def draw_11(sweeps: Sweeps, published: Published) -> Drawing:
    """EFJR over the pairs."""
    runs = sweeps["pairs"]
    with plots.style():
        made, [axes] = sheet(1)
        for variant in FOUR:
            values = np.array([efjr(runs, variant, at(runs, FLOWS, n)) for n in EVERY.values()]).T
            colour = COLOURS[list(NAMES).index(variant) % len(COLOURS)]
            axes.errorbar(
                range(len(EVERY)),
                values.mean(axis=0),
                halves(values),
                color=colour,
                marker="o",
                label=NAMES[variant],
            )
        axes.axhline(15.0, color="black", linewidth=0.8, linestyle=":")
        axes.set_xticks(range(len(EVERY)), list(EVERY))
        axes.set_ylabel("EFJR (%); dotted: 15 %")
        axes.set_ylim(bottom=0)
        axes.set_title("Experimental flows among themselves")
        legend(axes, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return made


FIGURES: dict[str, Figure] = {
    "fig10": Figure(figure_10, draw_10),
    "fig11": Figure(figure_11, draw_11),
}
