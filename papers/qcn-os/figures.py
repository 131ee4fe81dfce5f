"""Drawings of QCN-OS's figures; those of single runs show the first seed, as the report shows one run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from overspill import plots
from overspill.papers.bars import Bars, grouped
from overspill.papers.common import Published, legend, marked, sheet
from overspill.papers.spec import Draw, Sweeps

from .measures.congestion_points import (
    AMOUNTS,
    ARRIVAL,
    FRAMES,
    OCCUPANCY,
    ORDER,
    PASSING,
    RATES,
    STORED,
    Named,
    named,
    watched,
)
from .measures.schemes import (
    ACKS,
    AS,
    BEFORE,
    END,
    EQUILIBRIUM,
    F1,
    F2,
    NAMES,
    OS,
    OUT,
    PFC,
    STEADY,
    STEP,
    TWO,
    TWO_ACKS,
    Seen,
    by_ms,
    seen,
    steps,
)

STOP, GO = 110.0, 44.0  # KB
COLOURS = {PFC: 3, AS: 1, OS: 0, OUT: 2, TWO: 4}
MIDDLE = sum(STEADY) / 2
TIME = "time (ms), first seed"
LAST_MIDDLE = 130.0  # ms, middle of the window of steady values
FLOWS = ["stored 1", "stored 2", "stored 3", "passing 1", "passing 2", "passing 3"]
KINDS = ("CNMs", "arrivals", "occupancy")
TITLES = {"laws": "Frames of 1522 B", "laws_sizes": "stored 1 and passing 2 in frames of 64 B"}


def colour(variant: str) -> str:
    """Returns the colour of a scheme."""
    return plots.COLOURS[COLOURS[variant]]


def of_flow(flow: int) -> str:
    """Returns the colour of a flow; the victim and the culprit have strong ones."""
    return plots.COLOURS[flow % len(plots.COLOURS)]


def throughputs(axes: Axes, run: Seen) -> None:
    """Draws the throughput of every flow as means over 1 ms.

    f2 is dashed on top of f1; hot flows of other inputs are behind both.
    """
    means = by_ms(run.sent)
    time = np.arange(means.shape[1]) + 0.5
    for flow, mean in enumerate(means):
        style: dict[str, Any] = {"linewidth": 0.7, "zorder": 2.5}
        if flow == F1:
            style = {"linewidth": 1.7, "zorder": 3}
        elif flow == F2:
            style = {"linewidth": 1.3, "zorder": 3.1, "linestyle": (0, (4, 1.5))}
        axes.plot(time, mean, color=of_flow(flow), label=f"f{flow + 1}", **style)
    axes.set_ylabel("Gb/s")
    axes.set_ylim(0, 10.5)
    axes.set_xlim(0, END)


def rate_limits(axes: Axes, run: Seen) -> None:
    """Draws the rate limits of f1 and f2, with a mark below for each CNM to them."""
    for place, flow in enumerate((F1, F2)):
        limit = run.limits[flow]
        times = np.concatenate(([0.0], limit.times, [END]))
        rates = np.array([limit.at(one) for one in times])
        axes.plot(times, rates, drawstyle="steps-post", color=of_flow(flow), linewidth=1)
        told = run.told[run.whom == flow]
        foot = np.full(len(told), -0.4 - 0.5 * place)
        axes.plot(told, foot, "|", color=of_flow(flow), markersize=5, markeredgewidth=0.5)
    axes.set_ylabel("Gb/s (below 0: CNMs)")
    axes.set_ylim(-1.4, 10.5)
    axes.set_xlim(0, END)


def occupancies(axes: Axes, run: Seen, total: bool = False) -> None:
    """Draws the bytes of f1 and f2 in the shared input, separately or in total, with the thresholds."""
    time = (np.arange(run.stored.shape[1]) + 0.5) * STEP
    if total:
        axes.plot(time, run.stored.sum(axis=0), color=colour(AS), linewidth=0.8)
    else:
        for flow in (F2, F1):
            axes.plot(time, run.stored[flow], color=of_flow(flow), linewidth=0.6)
    for level, name in ((EQUILIBRIUM, "Q_eq"), (STOP, "STOP"), (GO, "GO")):
        axes.axhline(level, color="black", linewidth=0.8, linestyle=":")
        style: dict[str, Any] = {"fontsize": 8, "ha": "left", "va": "center", "textcoords": "offset points"}
        axes.annotate(name, (END, level), xytext=(3, 0), **style)
    axes.set_ylabel("KB")
    axes.set_ylim(0, 125)
    axes.set_xlim(0, END)


def places(published: Published, at: list[tuple[float, str, str]]) -> list[tuple[float, float | None]]:
    """Returns published values at times, by case and metric."""
    return [(time, published.get((case, metric))) for time, case, metric in at]


def draw_3(sweeps: Sweeps, published: Published) -> Drawing:
    """Draws figure 3: throughput of adapters with PFC alone."""
    made, [axes] = sheet(1, height=3.6)
    throughputs(axes, seen(sweeps["baseline"], PFC)[0])
    early = [(sum(BEFORE) / 2, f"f{flow}, before", "throughput") for flow in (1, 2)]
    late = [(MIDDLE, f"f{flow}, steady", "throughput") for flow in range(1, 6)]
    marked(axes, places(published, early[:1] + late[:1]))
    axes.set_xlabel(TIME)
    axes.set_title("Throughput of adapters, PFC alone, K = 5")
    legend(axes, loc="upper right", ncols=3)
    return made


def draw_4(sweeps: Sweeps, published: Published) -> Drawing:
    """Draws figure 4: throughput of adapters, and the shared input."""
    run = seen(sweeps["hotspot"], AS)[0]
    made, [above, below] = sheet(1, rows=2, height=2.9)
    throughputs(above, run)
    rates = [(12.0, "f1, 10 to 14 ms", "throughput"), (MIDDLE, "f1, steady", "throughput")]
    marked(above, places(published, rates), "published, f1")
    above.set_title("(a) Throughput of adapters, QCN-AS at inputs, K = 6")
    legend(above, loc="upper right", ncols=4)
    occupancies(below, run, total=True)
    marked(below, places(published, [(MIDDLE, "shared input, steady", "occupancy")]))
    below.set_title("(b) The input of f1 and f2")
    below.set_xlabel(TIME)
    legend(below, loc="lower right")
    return made


def draw_6(sweeps: Sweeps, published: Published) -> Drawing:
    """Draws figure 6: a row for each scheme."""
    made, panels = sheet(3, rows=2, height=3.0)
    for row, (variant, name) in enumerate(((AS, "QCN-AS"), (OS, "QCN-OS"))):
        run = seen(sweeps["hotspot"], variant)[0]
        rates, limits, stored = panels[3 * row : 3 * row + 3]
        throughputs(rates, run)
        steady = [(MIDDLE, f"{name}, f{flow}, steady", "throughput") for flow in (1, 2)]
        marked(rates, places(published, steady))
        rate_limits(limits, run)
        early = [(25.0, f"{name}, f{flow}, 25 ms", "rate_limit") for flow in (1, 2)]
        marked(limits, places(published, early))
        occupancies(stored, run)
        marked(stored, places(published, [(MIDDLE, f"{name}, f2, steady", "occupancy")]))
        titles = ("throughput", "rate limits", "input by flow")
        for axes, letter, title in zip(
            (rates, limits, stored), "abc" if not row else "def", titles, strict=True
        ):
            axes.set_title(f"({letter}) {name}: {title}", fontsize=9)
    for axes in panels[3:]:
        axes.set_xlabel(TIME)
    handles, labels = panels[0].get_legend_handles_labels()
    known = panels[1].get_legend_handles_labels()
    extra = [(one, text) for one, text in zip(*known, strict=True) if text == "published"]
    handles += [one for one, _ in extra]
    labels += [text for _, text in extra]
    made.legend(handles, labels, loc="outside lower center", ncols=8)
    return made


def draw_7(sweeps: Sweeps, published: Published) -> Drawing:
    """Draws figure 7, with the published range of the hot flows around their mean."""
    run = seen(sweeps["hotspot"], OUT)[0]
    made, [axes] = sheet(1, height=3.6)
    throughputs(axes, run)
    apart = published.get(("hot flows, steady", "largest_deviation"))
    if apart is not None:
        mean = float(run.sent[1:, steps(STEADY)].mean())
        marked(axes, [(MIDDLE, mean - apart), (MIDDLE, mean + apart)], "published, hot flows")
    axes.set_xlabel(TIME)
    axes.set_title("Throughput of adapters, QCN-AS at outputs, K = 6")
    legend(axes, loc="upper right", ncols=4)
    return made


def rates(axes: Axes, run: Seen, published: list[tuple[float, float | None]], title: str) -> None:
    """Draws throughputs with their published values."""
    throughputs(axes, run)
    marked(axes, published)
    axes.set_title(title, fontsize=9)


def steady(
    published: Published, name: str, when: str, flows: tuple[int, ...] = (1, 2)
) -> list[tuple[float, float | None]]:
    """Returns the published values of a scheme at the end."""
    return places(published, [(LAST_MIDDLE, f"{name}, f{flow}, {when}", "throughput") for flow in flows])


def row_of_three(
    panels: list[Axes], run: Seen, published: list[tuple[float, float | None]], named: tuple[str, str]
) -> None:
    """Draws a scheme's throughputs, rate limits and input; `named` is its name and the panels' letters."""
    name, letters = named
    rates(panels[0], run, published, f"({letters[0]}) {name}: throughput")
    rate_limits(panels[1], run)
    panels[1].set_title(f"({letters[1]}) {name}: rate limits", fontsize=9)
    occupancies(panels[2], run)
    panels[2].set_title(f"({letters[2]}) {name}: input by flow", fontsize=9)


def finish(made: Drawing, panels: list[Axes], last: int) -> None:
    """Adds one legend below all panels, and time labels to the last `last` panels."""
    for axes in panels[-last:]:
        axes.set_xlabel(TIME)
    handles, labels = panels[0].get_legend_handles_labels()
    more = [one for one in zip(*panels[-1].get_legend_handles_labels(), strict=True) if one[1] not in labels]
    handles += [one for one, _ in more]
    labels += [text for _, text in more]
    made.legend(handles, labels, loc="outside lower center", ncols=len(labels))


def draw_9(sweeps: Sweeps, published: Published) -> Drawing:
    """Draws figure 9: throughputs of three schemes, and three panels on occupancy sampling."""
    runs = sweeps["fabric"]
    made, panels = sheet(3, rows=2, height=3.0)
    before = steady(published, "PFC alone", "60 to 150 ms")
    rates(panels[0], seen(runs, PFC)[0], before, "(a) PFC alone")
    before = steady(published, "QCN-AS at outputs", "60 to 150 ms", (1,))
    rates(panels[1], seen(runs, OUT)[0], before, "(b) QCN-AS at outputs")
    rates(panels[2], seen(runs, AS)[0], steady(published, "QCN-AS", "110 to 150 ms"), "(c) QCN-AS at inputs")
    row_of_three(
        panels[3:], seen(runs, OS)[0], steady(published, "QCN-OS", "110 to 150 ms"), ("QCN-OS", "def")
    )
    stored = seen(runs, OS)[0].stored.sum(axis=0)
    time = (np.arange(len(stored)) + 0.5) * STEP
    panels[5].plot(time, stored, color="black", linewidth=0.5, zorder=1.5, label="f1 + f2")
    level = places(published, [(125.0, "QCN-OS, both flows, from 100 ms on", "backlog")])
    marked(panels[5], level, "published, f1 + f2")
    finish(made, panels, 3)
    return made


def draw_10(sweeps: Sweeps, published: Published) -> Drawing:
    """Draws figure 10: a row for each scheme."""
    runs = sweeps["fabric"]
    made, panels = sheet(3, rows=2, height=3.0)
    when = "110 to 150 ms"
    row_of_three(
        panels[:3], seen(runs, TWO)[0], steady(published, "two samples", when), ("two samples", "abc")
    )
    row_of_three(panels[3:], seen(runs, ACKS)[0], steady(published, "ACKs", when), ("QCN-OS, ACKs", "def"))
    finish(made, panels, 3)
    return made


def draw_11(sweeps: Sweeps, published: Published) -> Drawing:
    """Draws figure 11: throughput with two samples and end-to-end ACKs."""
    made, [axes] = sheet(1, height=3.6)
    found = places(published, [(LAST_MIDDLE, f"f{flow}, 110 to 150 ms", "throughput") for flow in (1, 2)])
    rates(axes, seen(sweeps["fabric"], TWO_ACKS)[0], found, "Two samples with end-to-end ACKs")
    axes.set_xlabel(TIME)
    legend(axes, loc="upper right", ncols=2)
    return made


def draw_law(law: tuple[str, slice, Mapping[str, str]], sweeps: Sweeps, published: Published) -> Drawing:
    """Draws each flow's shares of CNMs, arrivals and occupancy, with published shares of the law's flows."""
    variant, which, cases = law
    made, panels = sheet(1, rows=len(cases), height=2.8)
    for axes, (sweep, case) in zip(panels, cases.items(), strict=True):
        paper = [published.get((f"{case}, {name} flow", "share_of_cnms")) for name in ORDER]
        bars(axes, named(sweeps[sweep], variant, FRAMES[sweep]), which, paper)
        axes.set_title(TITLES[sweep], loc="left")
    made.suptitle(f"Congestion point that samples {'arrivals' if variant == ARRIVAL else 'occupancy'}")
    return made


def bars(axes: Axes, every: Sequence[Named], which: slice, paper: Sequence[float | None]) -> None:
    """Draws shares of all flows, with the CNM shares that the law gives for its flows, as shares of all."""
    values = [
        [share(np.array([getattr(one, name) for one in every]), flow) for flow in range(len(FLOWS))]
        for name in ("cnms", "arrived", "stored")
    ]
    whole = float(np.mean([one.cnms[which].sum() / max(one.cnms.sum(), 1) for one in every]))
    marks: list[float | None] = [None] * len(FLOWS)
    marks[which] = [None if one is None else one * whole for one in paper]
    others: list[float | None] = [None] * len(FLOWS)
    law = "law, scaled to its three flows"
    grouped(axes, FLOWS, Bars(KINDS, values), [marks, others, others], law)
    axes.set_ylabel("share")


def share(by_seed: np.ndarray, flow: int) -> np.ndarray:
    """Returns the share of a flow by seed."""
    whole = by_seed.sum(axis=1)
    return np.asarray(by_seed[:, flow] / np.where(whole > 0, whole, 1))


def draw_output(sweeps: Sweeps, _: Published) -> Drawing:
    """Draws the queue that each congestion point watches, and the throughput of f1, of the first seed."""
    runs = sweeps["output"]
    time = np.arange(0.5, END)
    made, [left, right] = sheet(2)
    for variant in (OS, OUT):
        left.plot(time, by_ms(watched(runs, variant)[0]), color=colour(variant), label=NAMES[variant])
        right.plot(time, by_ms(seen(runs, variant)[0].sent[0]), color=colour(variant))
    left.axhline(EQUILIBRIUM, color="black", linewidth=0.8, linestyle=":")
    style: dict[str, Any] = {"fontsize": 8, "va": "center", "textcoords": "offset points"}
    left.annotate("Q_eq", (END, EQUILIBRIUM), xytext=(3, 0), **style)
    left.set_ylabel("KB")
    left.set_title("What the congestion point of f2 watches")
    left.legend()
    right.set_ylabel("Gb/s")
    right.set_title("Throughput of f1")
    for axes in (left, right):
        axes.set_ylim(bottom=0)
        axes.set_xlim(0, END)
        axes.set_xlabel(TIME)
    return made


DRAWINGS: dict[str, Draw] = {
    "fig3": draw_3,
    "fig4": draw_4,
    "fig6": draw_6,
    "fig7": draw_7,
    "fig9": draw_9,
    "fig10": draw_10,
    "fig11": draw_11,
    "eq1-3": partial(draw_law, (ARRIVAL, PASSING, RATES)),
    "eq4-5": partial(draw_law, (OCCUPANCY, STORED, AMOUNTS)),
    "og": draw_output,
}
