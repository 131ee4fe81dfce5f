"""Drawings of figures 3, 4, 6 and 7: the first seed, as the report shows one run."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from overspill import plots
from overspill.papers.common import Published, legend, marked, sheet
from overspill.papers.qcn_os.schemes import (
    AS,
    BEFORE,
    END,
    F1,
    F2,
    OS,
    OUT,
    PFC,
    STEADY,
    STEP,
    TWO,
    Seen,
    Sweeps,
    by_ms,
    seen,
    steps,
)

EQUILIBRIUM, STOP, GO = 60.0, 110.0, 44.0  # KB
COLOURS = {PFC: 3, AS: 1, OS: 0, OUT: 2, TWO: 4}
MIDDLE = sum(STEADY) / 2
TIME = "time (ms), first seed"


def colour(variant: str) -> str:
    """A scheme's colour."""
    return plots.COLOURS[COLOURS[variant]]


def of_flow(flow: int) -> str:
    """A flow's colour; the victim's and the culprit's are strong."""
    return plots.COLOURS[flow % len(plots.COLOURS)]


def throughputs(axes: Axes, run: Seen) -> None:
    """Every flow over time, means of 1 ms; f2 in dashes over f1, hot flows of other inputs behind."""
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
    """Limits of f1 and f2, and a mark at the foot for each CNM to them."""
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
    """What the shared input holds of f1 and of f2, or of both together, with the thresholds."""
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
    """Published values at times, by case and metric."""
    return [(time, published.get((case, metric))) for time, case, metric in at]


def draw_3(sweeps: Sweeps, published: Published) -> Drawing:
    """Figure 3."""
    with plots.style():
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
    """Figure 4, throughputs and the shared input."""
    run = seen(sweeps["hotspot"], AS)[0]
    with plots.style():
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
    """Figure 6: a row for each scheme."""
    with plots.style():
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
    """Figure 7, and what is published of the hot flows about their mean."""
    run = seen(sweeps["hotspot"], OUT)[0]
    with plots.style():
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
