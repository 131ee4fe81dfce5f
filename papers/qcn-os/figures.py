"""Drawings of QCN-OS's figures; those of single runs show the first seed, as the report shows one run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from overspill import plots
from overspill.papers.bars import BarGroups, draw_grouped_bars
from overspill.papers.common import PublishedValues, draw_legend, draw_published_values, new_panels
from overspill.papers.spec import Draw, Sweeps

from .measures.congestion_points import (
    ARRIVAL,
    FLOW_ORDINALS,
    FRAME_BYTES,
    OCCUPANCY,
    PASSING_FLOWS,
    RATE_CASES,
    STORED_CASES,
    STORED_FLOWS,
    FlowCounts,
    flow_counts,
    watched_queues,
)
from .measures.schemes import (
    BEFORE_WINDOW,
    END_MS,
    EQUILIBRIUM_KB,
    F1,
    F2,
    NAMES,
    PFC,
    QCN_AS,
    QCN_AS_OUTPUTS,
    QCN_OS,
    QCN_OS_ACKS,
    STEADY_WINDOW,
    STEP_MS,
    TWO_SAMPLES,
    TWO_SAMPLES_ACKS,
    HotspotRun,
    means_by_ms,
    read_runs,
    window_steps,
)

XOFF_KB, XON_KB = 110.0, 44.0  # KB
SCHEME_COLOURS = {PFC: 3, QCN_AS: 1, QCN_OS: 0, QCN_AS_OUTPUTS: 2, TWO_SAMPLES: 4}
STEADY_MIDDLE_MS = sum(STEADY_WINDOW) / 2
TIME_LABEL = "time (ms), first seed"
LAST_MIDDLE_MS = 130.0  # ms, middle of the window of steady values
FLOW_NAMES = ["stored 1", "stored 2", "stored 3", "passing 1", "passing 2", "passing 3"]
SHARE_KINDS = ("CNMs", "arrivals", "occupancy")
FRAME_TITLES = {"laws": "Frames of 1522 B", "laws_sizes": "stored 1 and passing 2 in frames of 64 B"}


def scheme_colour(variant: str) -> str:
    """Returns the colour of a scheme in QCN-OS's figures."""
    return plots.COLOURS[SCHEME_COLOURS[variant]]


def flow_colour(flow: int) -> str:
    """Returns the colour of a flow in QCN-OS's figures; the victim and the culprit have strong ones."""
    return plots.COLOURS[flow % len(plots.COLOURS)]


def draw_throughputs(axes: Axes, run: HotspotRun) -> None:
    """Draws the throughput of every flow, averaged over 1 ms.

    f2 is dashed on top of f1; hot flows of other inputs are behind both.
    """
    means = means_by_ms(run.sent)
    time = np.arange(means.shape[1]) + 0.5
    for flow, mean in enumerate(means):
        style: dict[str, Any] = {"linewidth": 0.7, "zorder": 2.5}
        if flow == F1:
            style = {"linewidth": 1.7, "zorder": 3}
        elif flow == F2:
            style = {"linewidth": 1.3, "zorder": 3.1, "linestyle": (0, (4, 1.5))}
        axes.plot(time, mean, color=flow_colour(flow), label=f"f{flow + 1}", **style)
    axes.set_ylabel("Gb/s")
    axes.set_ylim(0, 10.5)
    axes.set_xlim(0, END_MS)


def draw_rate_limits(axes: Axes, run: HotspotRun) -> None:
    """Draws the rate limits of flows f1 and f2, with a tick below for each CNM to them."""
    for place, flow in enumerate((F1, F2)):
        limit = run.limits[flow]
        times = np.concatenate(([0.0], limit.times, [END_MS]))
        rates = np.array([limit.limit_at(one) for one in times])
        axes.plot(times, rates, drawstyle="steps-post", color=flow_colour(flow), linewidth=1)
        told = run.cnm_times[run.cnm_flows == flow]
        foot = np.full(len(told), -0.4 - 0.5 * place)
        axes.plot(told, foot, "|", color=flow_colour(flow), markersize=5, markeredgewidth=0.5)
    axes.set_ylabel("Gb/s; below 0: CNMs")
    axes.set_ylim(-1.4, 10.5)
    axes.set_xlim(0, END_MS)


def draw_occupancies(axes: Axes, run: HotspotRun, total: bool = False) -> None:
    """Draws the bytes of flows f1 and f2 in the shared input buffer, separately or in total.

    Dotted lines show QCN's equilibrium and the thresholds of PFC.
    """
    time = (np.arange(run.stored.shape[1]) + 0.5) * STEP_MS
    if total:
        axes.plot(time, run.stored.sum(axis=0), color=scheme_colour(QCN_AS), linewidth=0.8)
    else:
        for flow in (F2, F1):
            axes.plot(time, run.stored[flow], color=flow_colour(flow), linewidth=0.6)
    for level, name in ((EQUILIBRIUM_KB, "Q_eq"), (XOFF_KB, "STOP"), (XON_KB, "GO")):
        axes.axhline(level, color="black", linewidth=0.8, linestyle=":")
        style: dict[str, Any] = {"fontsize": 8, "ha": "left", "va": "center", "textcoords": "offset points"}
        axes.annotate(name, (END_MS, level), xytext=(3, 0), **style)
    axes.set_ylabel("KB")
    axes.set_ylim(0, 125)
    axes.set_xlim(0, END_MS)


def published_points(
    published: PublishedValues, at: list[tuple[float, str, str]]
) -> list[tuple[float, float | None]]:
    """Returns published values with the times at which figures show them."""
    return [(time, published.get((case, metric))) for time, case, metric in at]


def draw_figure_3(sweeps: Sweeps, published: PublishedValues) -> Drawing:
    """Draws figure 3: throughput of each flow with PFC alone."""
    made, [axes] = new_panels(1, height=3.6)
    draw_throughputs(axes, read_runs(sweeps["baseline"], PFC)[0])
    early = [(sum(BEFORE_WINDOW) / 2, f"f{flow}, before", "throughput") for flow in (1, 2)]
    late = [(STEADY_MIDDLE_MS, f"f{flow}, steady", "throughput") for flow in range(1, 6)]
    draw_published_values(axes, published_points(published, early[:1] + late[:1]))
    axes.set_xlabel(TIME_LABEL)
    axes.set_title("Throughput of adapters, PFC alone, five flows")
    draw_legend(axes, loc="upper right", ncols=3)
    return made


def draw_figure_4(sweeps: Sweeps, published: PublishedValues) -> Drawing:
    """Draws figure 4: throughput of each flow, and the shared input buffer."""
    run = read_runs(sweeps["hotspot"], QCN_AS)[0]
    made, [above, below] = new_panels(1, rows=2, height=2.9)
    draw_throughputs(above, run)
    rates = [(12.0, "f1, 10 to 14 ms", "throughput"), (STEADY_MIDDLE_MS, "f1, steady", "throughput")]
    draw_published_values(above, published_points(published, rates), "published, f1")
    above.set_title("(a) Throughput of adapters, QCN-AS at inputs, six flows")
    draw_legend(above, loc="upper right", ncols=4)
    draw_occupancies(below, run, total=True)
    draw_published_values(
        below, published_points(published, [(STEADY_MIDDLE_MS, "shared input, steady", "occupancy")])
    )
    below.set_title("(b) Input queue of f1 and f2")
    below.set_xlabel(TIME_LABEL)
    draw_legend(below, loc="lower right")
    return made


def draw_figure_6(sweeps: Sweeps, published: PublishedValues) -> Drawing:
    """Draws figure 6: throughputs, rate limits and input buffer, in a row for each scheme."""
    made, panels = new_panels(3, rows=2, height=3.0)
    for row, (variant, name) in enumerate(((QCN_AS, "QCN-AS"), (QCN_OS, "QCN-OS"))):
        run = read_runs(sweeps["hotspot"], variant)[0]
        rates, limits, stored = panels[3 * row : 3 * row + 3]
        draw_throughputs(rates, run)
        steady = [(STEADY_MIDDLE_MS, f"{name}, f{flow}, steady", "throughput") for flow in (1, 2)]
        draw_published_values(rates, published_points(published, steady))
        draw_rate_limits(limits, run)
        early = [(25.0, f"{name}, f{flow}, 25 ms", "rate_limit") for flow in (1, 2)]
        draw_published_values(limits, published_points(published, early))
        draw_occupancies(stored, run)
        draw_published_values(
            stored, published_points(published, [(STEADY_MIDDLE_MS, f"{name}, f2, steady", "occupancy")])
        )
        titles = ("throughput", "rate limits", "input queue by flow")
        for axes, letter, title in zip(
            (rates, limits, stored), "abc" if not row else "def", titles, strict=True
        ):
            axes.set_title(f"({letter}) {name}: {title}", fontsize=9)
    for axes in panels[3:]:
        axes.set_xlabel(TIME_LABEL)
    handles, labels = panels[0].get_legend_handles_labels()
    known = panels[1].get_legend_handles_labels()
    extra = [(one, text) for one, text in zip(*known, strict=True) if text == "published"]
    handles += [one for one, _ in extra]
    labels += [text for _, text in extra]
    made.legend(handles, labels, loc="outside lower center", ncols=8)
    return made


def draw_figure_7(sweeps: Sweeps, published: PublishedValues) -> Drawing:
    """Draws figure 7: throughputs, with the published range of the hot flows around their mean."""
    run = read_runs(sweeps["hotspot"], QCN_AS_OUTPUTS)[0]
    made, [axes] = new_panels(1, height=3.6)
    draw_throughputs(axes, run)
    apart = published.get(("hot flows, steady", "largest_deviation"))
    if apart is not None:
        mean = float(run.sent[1:, window_steps(STEADY_WINDOW)].mean())
        draw_published_values(
            axes, [(STEADY_MIDDLE_MS, mean - apart), (STEADY_MIDDLE_MS, mean + apart)], "published, hot flows"
        )
    axes.set_xlabel(TIME_LABEL)
    axes.set_title("Throughput of adapters, QCN-AS at outputs, six flows")
    draw_legend(axes, loc="upper right", ncols=4)
    return made


def draw_published_throughputs(
    axes: Axes, run: HotspotRun, published: list[tuple[float, float | None]], title: str
) -> None:
    """Draws throughputs with their published values."""
    draw_throughputs(axes, run)
    draw_published_values(axes, published)
    axes.set_title(title, fontsize=9)


def published_steady_values(
    published: PublishedValues, name: str, when: str, flows: tuple[int, ...] = (1, 2)
) -> list[tuple[float, float | None]]:
    """Returns the published steady throughputs of a scheme, with the time at which figures show them."""
    return published_points(
        published, [(LAST_MIDDLE_MS, f"{name}, f{flow}, {when}", "throughput") for flow in flows]
    )


def draw_scheme_row(
    panels: list[Axes], run: HotspotRun, published: list[tuple[float, float | None]], named: tuple[str, str]
) -> None:
    """Draws a scheme's row of panels: throughputs, rate limits, and shared input buffer.

    `named` is the scheme's name and the letters of the panels.
    """
    name, letters = named
    draw_published_throughputs(panels[0], run, published, f"({letters[0]}) {name}: throughput")
    draw_rate_limits(panels[1], run)
    panels[1].set_title(f"({letters[1]}) {name}: rate limits", fontsize=9)
    draw_occupancies(panels[2], run)
    panels[2].set_title(f"({letters[2]}) {name}: input queue by flow", fontsize=9)


def finish_figure(made: Drawing, panels: list[Axes], last: int) -> None:
    """Adds one legend below all panels, and time labels to the last `last` panels."""
    for axes in panels[-last:]:
        axes.set_xlabel(TIME_LABEL)
    handles, labels = panels[0].get_legend_handles_labels()
    more = [one for one in zip(*panels[-1].get_legend_handles_labels(), strict=True) if one[1] not in labels]
    handles += [one for one, _ in more]
    labels += [text for _, text in more]
    made.legend(handles, labels, loc="outside lower center", ncols=len(labels))


def draw_figure_9(sweeps: Sweeps, published: PublishedValues) -> Drawing:
    """Draws figure 9: throughputs of three schemes; rate limits and input buffer with occupancy sampling."""
    runs = sweeps["fabric"]
    made, panels = new_panels(3, rows=2, height=3.0)
    before = published_steady_values(published, "PFC alone", "60 to 150 ms")
    draw_published_throughputs(panels[0], read_runs(runs, PFC)[0], before, "(a) PFC alone")
    before = published_steady_values(published, "QCN-AS at outputs", "60 to 150 ms", (1,))
    draw_published_throughputs(panels[1], read_runs(runs, QCN_AS_OUTPUTS)[0], before, "(b) QCN-AS at outputs")
    draw_published_throughputs(
        panels[2],
        read_runs(runs, QCN_AS)[0],
        published_steady_values(published, "QCN-AS", "110 to 150 ms"),
        "(c) QCN-AS at inputs",
    )
    draw_scheme_row(
        panels[3:],
        read_runs(runs, QCN_OS)[0],
        published_steady_values(published, "QCN-OS", "110 to 150 ms"),
        ("QCN-OS", "def"),
    )
    stored = read_runs(runs, QCN_OS)[0].stored.sum(axis=0)
    time = (np.arange(len(stored)) + 0.5) * STEP_MS
    panels[5].plot(time, stored, color="black", linewidth=0.5, zorder=1.5, label="f1 + f2")
    level = published_points(published, [(125.0, "QCN-OS, both flows, from 100 ms on", "backlog")])
    draw_published_values(panels[5], level, "published, f1 + f2")
    finish_figure(made, panels, 3)
    return made


def draw_figure_10(sweeps: Sweeps, published: PublishedValues) -> Drawing:
    """Draws figure 10: throughputs, rate limits and input buffer, in a row for each scheme."""
    runs = sweeps["fabric"]
    made, panels = new_panels(3, rows=2, height=3.0)
    when = "110 to 150 ms"
    draw_scheme_row(
        panels[:3],
        read_runs(runs, TWO_SAMPLES)[0],
        published_steady_values(published, "two samples", when),
        ("two samples", "abc"),
    )
    draw_scheme_row(
        panels[3:],
        read_runs(runs, QCN_OS_ACKS)[0],
        published_steady_values(published, "ACKs", when),
        ("QCN-OS, ACKs", "def"),
    )
    finish_figure(made, panels, 3)
    return made


def draw_figure_11(sweeps: Sweeps, published: PublishedValues) -> Drawing:
    """Draws figure 11: throughput with two samples and end-to-end ACKs."""
    made, [axes] = new_panels(1, height=3.6)
    found = published_points(
        published, [(LAST_MIDDLE_MS, f"f{flow}, 110 to 150 ms", "throughput") for flow in (1, 2)]
    )
    draw_published_throughputs(
        axes, read_runs(sweeps["fabric"], TWO_SAMPLES_ACKS)[0], found, "Two samples with end-to-end ACKs"
    )
    axes.set_xlabel(TIME_LABEL)
    draw_legend(axes, loc="upper right", ncols=2)
    return made


def draw_law(
    law: tuple[str, slice, Mapping[str, str]], sweeps: Sweeps, published: PublishedValues
) -> Drawing:
    """Draws each flow's shares of CNMs, arrivals and occupancy, with published CNM shares of three flows."""
    variant, which, cases = law
    made, panels = new_panels(1, rows=len(cases), height=2.8)
    for axes, (sweep, case) in zip(panels, cases.items(), strict=True):
        paper = [published.get((f"{case}, {name} flow", "share_of_cnms")) for name in FLOW_ORDINALS]
        draw_share_bars(axes, flow_counts(sweeps[sweep], variant, FRAME_BYTES[sweep]), which, paper)
        axes.set_title(FRAME_TITLES[sweep], loc="left")
    made.suptitle(f"Congestion point that samples {'arrivals' if variant == ARRIVAL else 'occupancy'}")
    return made


def draw_share_bars(
    axes: Axes, every: Sequence[FlowCounts], which: slice, paper: Sequence[float | None]
) -> None:
    """Draws each flow's shares as bars, with the CNM shares of a law for three, scaled to all CNMs."""
    values = [
        [flow_share(np.array([getattr(one, name) for one in every]), flow) for flow in range(len(FLOW_NAMES))]
        for name in ("cnms", "arrived", "stored")
    ]
    whole = float(np.mean([one.cnms[which].sum() / max(one.cnms.sum(), 1) for one in every]))
    marks: list[float | None] = [None] * len(FLOW_NAMES)
    marks[which] = [None if one is None else one * whole for one in paper]
    others: list[float | None] = [None] * len(FLOW_NAMES)
    law = "law, scaled to its three flows"
    draw_grouped_bars(axes, FLOW_NAMES, BarGroups(SHARE_KINDS, values), [marks, others, others], law)
    axes.set_ylabel("share")


def flow_share(by_seed: np.ndarray, flow: int) -> np.ndarray:
    """Returns the share of one flow in a count, by seed."""
    whole = by_seed.sum(axis=1)
    return np.asarray(by_seed[:, flow] / np.where(whole > 0, whole, 1))


def draw_output_queue(sweeps: Sweeps, _: PublishedValues) -> Drawing:
    """Draws the queue that each congestion point watches, and the throughput of f1, of the first seed."""
    runs = sweeps["output"]
    time = np.arange(0.5, END_MS)
    made, [left, right] = new_panels(2)
    for variant in (QCN_OS, QCN_AS_OUTPUTS):
        left.plot(
            time,
            means_by_ms(watched_queues(runs, variant)[0]),
            color=scheme_colour(variant),
            label=NAMES[variant],
        )
        right.plot(time, means_by_ms(read_runs(runs, variant)[0].sent[0]), color=scheme_colour(variant))
    left.axhline(EQUILIBRIUM_KB, color="black", linewidth=0.8, linestyle=":")
    style: dict[str, Any] = {"fontsize": 8, "va": "center", "textcoords": "offset points"}
    left.annotate("Q_eq", (END_MS, EQUILIBRIUM_KB), xytext=(3, 0), **style)
    left.set_ylabel("KB")
    left.set_title("Queue watched by the congestion point of f2")
    left.legend()
    right.set_ylabel("Gb/s")
    right.set_title("Throughput of f1")
    for axes in (left, right):
        axes.set_ylim(bottom=0)
        axes.set_xlim(0, END_MS)
        axes.set_xlabel(TIME_LABEL)
    return made


DRAWINGS: dict[str, Draw] = {
    "fig3": draw_figure_3,
    "fig4": draw_figure_4,
    "fig6": draw_figure_6,
    "fig7": draw_figure_7,
    "fig9": draw_figure_9,
    "fig10": draw_figure_10,
    "fig11": draw_figure_11,
    "eq1-3": partial(draw_law, (ARRIVAL, PASSING_FLOWS, RATE_CASES)),
    "eq4-5": partial(draw_law, (OCCUPANCY, STORED_FLOWS, STORED_CASES)),
    "og": draw_output_queue,
}
