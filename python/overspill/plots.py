"""Figures of results: each function returns a matplotlib figure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator

from overspill import formats, measures
from overspill.rundata import RunData

if TYPE_CHECKING:
    from overspill.results import Results

# Okabe and Ito's colours, told apart with any colour vision; with the dashes, 28 variants.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#444444")
# Where curves coincide, the wide one shows beside and between the dashes of the narrow ones.
DASHES: tuple[Any, ...] = ("-", (0, (6, 2)), (0, (2, 1.5)), (0, (7, 1.5, 1.5, 1.5)))
WIDTHS = (2.8, 2.2, 1.8, 1.4)
STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#666666",
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "lines.linewidth": 1.6,
    "legend.frameon": False,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "svg.fonttype": "path",
    "path.simplify": True,
}
WIDTH = 9.0
TALLEST = 10.4  # inches
KINDS = ("drops", "marks", "detours", "bounces")
PORT_COUNTERS = ("", "marked", "detoured", "bounced")
SWITCHES_SHOWN = 8
LETTERS = 118  # that fit the width of a figure
COLUMNS_SHOWN = 240  # columns of a map over time
STEPS_SHOWN = 1200  # steps of a curve over time
TAIL_FROM = 10  # samples
POINTS_SHOWN = 1500  # points of a distribution


def style() -> AbstractContextManager[Any]:
    """The look that all figures share."""
    return mpl.rc_context(STYLE)


def look(results: Results, variant: str) -> dict[str, Any]:
    """A variant's line: the same in every figure of the results."""
    index = results.variants.index(variant)
    width = WIDTHS[index % len(WIDTHS)]
    return {
        "color": COLOURS[index % len(COLOURS)],
        "linestyle": DASHES[index % len(DASHES)],
        "linewidth": width,
        "zorder": 3 - width / 10,
    }


def canvas(height: float) -> Figure:
    """An empty figure of the common width."""
    return Figure(
        figsize=(WIDTH, height), layout=ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.08, wspace=0.04)
    )


def with_runs(results: Results) -> list[str]:
    """Variants that have a finished run."""
    return [variant for variant in results.variants if results.of(variant)]


def legend_above(figure: Figure, axes: Axes) -> None:
    """One legend for the figure, above the axes, where it covers nothing."""
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside upper center", ncols=fitting(labels))


def time_axis(axes: Axes) -> str:
    """Make the x axis logarithmic, or linear where the times differ little; ticks have their unit.

    What the axis's name says of it is returned.
    """
    low, high = axes.dataLim.x0, axes.dataLim.x1
    ratio = high / low if low > 0 else 1.0
    if ratio < 3:
        margin = max((high - low) * 0.05, high * 0.005)
        axes.set_xlim(low - margin, high + margin)
        axes.xaxis.set_major_locator(MaxNLocator(5))
    else:
        axes.set_xscale("log")
        subs = (1.0,) if ratio > 200 else (1.0, 3.0) if ratio > 20 else (1.0, 2.0, 5.0)
        axes.xaxis.set_major_locator(LogLocator(subs=subs, numticks=12))
        axes.xaxis.set_minor_formatter(FuncFormatter(lambda value, _: ""))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: tick(value)))
    return "" if ratio < 3 else ", log scale"


def fitting(labels: Sequence[str]) -> int:
    """Columns of a legend that is no wider than the figure."""
    widest = max(len(label) for label in labels) + 7
    return max(1, min(len(labels), 5, int(LETTERS / widest)))


def tick(seconds: float) -> str:
    """`100 us`."""
    return formats.time(round(seconds * 1e12)) if seconds > 0 else ""


def distribution(results: Results, which: str, traffic: int | None = None) -> Figure | None:
    """The distribution of FCT (`which` = `fct`) or QCT (`qct`), and its tail; `None` without any."""
    samples = {variant: pooled(results, variant, which, traffic) for variant in with_runs(results)}
    samples = {variant: one for variant, one in samples.items() if len(one[0])}
    if not samples:
        return None
    name = which.upper()
    with style():
        figure = canvas(3.5 + 0.2 * (len(samples) // 3))
        # Of few samples there is no tail.
        few = max(len(values) for values, _ in samples.values()) < TAIL_FROM
        panels = figure.subplots(1, 1 if few else 2, squeeze=False)[0]
        whole, tail = panels[0], None if few else panels[1]
        for variant, (values, count) in samples.items():
            k = thinned(len(values))
            x = np.sort(values)[k] * measures.PS
            missing = count - len(values)
            label = f"{variant} ({missing} of {count} unfinished)" if missing else variant
            line = look(results, variant)
            whole.step(np.append(x[:1], x), np.append(0, (k + 1) / count), where="post", label=label, **line)
            # At the k-th smallest sample, the share that is as large or larger.
            if tail is not None:
                tail.step(x, (count - k) / count, where="pre", **line)
        finish_distribution(whole, tail, name)
        legend_above(figure, whole)
    return figure


def finish_distribution(whole: Axes, tail: Axes | None, name: str) -> None:
    """Scales and names of the two panels."""
    subject = "flows" if name == "FCT" else "queries"
    whole.set(ylim=(0, 1.02), ylabel=f"share of {subject} done within it")
    whole.set_title("distribution")
    whole.set_xlabel(name + time_axis(whole))
    if tail is None:
        return
    tail.set(yscale="log", ylabel="share that takes as long, log scale")
    tail.set_xlabel(name + time_axis(tail))
    # Whole decades, one at least, so that there are ticks to read.
    tail.set_ylim(min(0.1, 10 ** math.floor(math.log10(max(tail.dataLim.y0, 1e-9)))) * 0.85, 1.15)
    tail.yaxis.set_minor_formatter(FuncFormatter(lambda value, _: ""))
    tail.set_title("tail")
    tail.yaxis.set_major_formatter(FuncFormatter(lambda value, _: percent(value)))


def thinned(count: int) -> np.ndarray:
    """Which of so many sorted samples a curve shows: few of the body, all of the tail."""
    if count <= POINTS_SHOWN:
        return np.arange(count)
    return np.union1d(np.linspace(0, count - 1, POINTS_SHOWN, dtype=int), np.arange(count - 200, count))


def percent(share: float) -> str:
    """`0.1 %`."""
    return f"{formats.trimmed(share * 100)} %"


def pooled(results: Results, variant: str, which: str, traffic: int | None) -> tuple[np.ndarray, int]:
    """Times in ps of what finished, over all seeds, and the number of all."""
    done, count = [], 0
    for run in results.of(variant):
        if which == "qct":
            times, open_ended = measures.query_times(run)
        else:
            flows = measures.measured_flows(run)
            keep = np.ones(len(flows["time"]), bool) if traffic is None else flows["traffic"] == traffic
            times, open_ended = flows["time"][keep], flows["open"][keep]
        done.append(np.maximum(times[~open_ended], 1.0))
        count += len(times)
    return (np.concatenate(done) if done else np.zeros(0)), count


@dataclass(frozen=True)
class Span:
    """The part of the time that a figure shows, in ps: where something happens."""

    start: int
    end: int

    @property
    def unit(self) -> tuple[float, str]:
        """Picoseconds in a unit of the axis, and its name."""
        factor, name = formats.scale("s", [self.end * measures.PS])
        return factor / measures.PS, name

    def bins(self, run: RunData, shown: int) -> tuple[int, int, int]:
        """First bin, number of groups of bins, and bins in a group, so that no more than `shown` remain."""
        width_ps = int(run.summary["bin_ps"])
        first = self.start // width_ps
        count = max(1, -(-self.end // width_ps) - first)
        width = -(-count // shown)
        return first, -(-count // width), width


def span_of(results: Results) -> Span:
    """From the first bin to the last in which first seeds have queues or events; from 0 if that is early."""
    runs = [results.of(variant)[0] for variant in with_runs(results)]
    bins = [(run, run.column(table, "bin")) for run in runs for table in ("queue_trace", "activity")]
    pairs = [(int(run.summary["bin_ps"]), one) for run, one in bins if len(one)]
    start = min(width * int(one.min()) for width, one in pairs)
    end = max(width * (int(one.max()) + 1) for width, one in pairs)
    margin = (end - start) // 40
    return Span(0 if start < end // 4 else start - margin, end + margin)


def queue_over_time(results: Results) -> Figure | None:
    """The same switch port's queue in every variant, first seed: largest and mean of each bin."""
    runs = {variant: results.of(variant)[0] for variant in with_runs(results)}
    ports = watched(runs)
    traces = {variant: trace_of(runs[variant], port) for variant, port in ports.items()}
    if not any(len(trace.bins) for trace in traces.values()):
        return None
    span = span_of(results)
    factor, unit = span.unit
    with style():
        figure, panels = stacked(len(traces), 1.5)
        for axes, (variant, trace) in zip(panels, traces.items(), strict=True):
            run, colour = runs[variant], look(results, variant)["color"]
            at, high, mean = trace.steps(run, span)
            axes.fill_between(at / factor, high, step="post", color=colour, alpha=0.3, linewidth=0)
            axes.step(at / factor, mean, where="post", color=colour, linewidth=1.1)
            axes.set_title(f"{variant}: {trace.place} (seed {run.seed})")
            shade_outside(axes, run, span)
            axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
            axes.sharey(panels[0])
        panels[0].set_xlim(span.start / factor, span.end / factor)
        panels[0].set_ylim(0, 1.05 * max(1, *(trace.largest.max(initial=0) for trace in traces.values())))
        figure.supxlabel(f"time ({unit}); grey: outside the measurement window", fontsize=9.5)
        figure.supylabel("waiting frames in a bin: largest (area), mean (line)", fontsize=9.5)
    return figure


@dataclass(frozen=True)
class Trace:
    """One port's queue over time; bins in which it was empty are left out."""

    place: str
    bins: np.ndarray
    largest: np.ndarray
    mean: np.ndarray

    def steps(self, run: RunData, span: Span) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Instants in ps, and from each on the largest and the mean."""
        first, groups, width = span.bins(run, STEPS_SHOWN)
        largest, mean = np.zeros(groups + 1), np.zeros(groups + 1)
        inside = (self.bins >= first) & (self.bins < first + groups * width)
        group = (self.bins[inside].astype(np.int64) - first) // width
        np.maximum.at(largest, group, self.largest[inside])
        np.add.at(mean, group, self.mean[inside] / width)
        return (first + np.arange(groups + 1) * width) * int(run.summary["bin_ps"]), largest, mean


def watched(runs: dict[str, RunData]) -> dict[str, tuple[int, int]]:
    """The switch port to show of each run: the same, the one with the highest mean over all of them.

    Where the runs' networks differ, each has its own.
    """
    areas = {variant: measures.port_areas(run) for variant, run in runs.items()}
    areas = {variant: one for variant, one in areas.items() if one}
    if len({repr(runs[variant].summary["nodes"]) for variant in areas}) > 1:
        return {variant: measures.busiest_ports(runs[variant])[0] for variant in areas}
    total: dict[tuple[int, int], float] = {}
    for variant, one in areas.items():
        start, end = runs[variant].window_ps
        for port, area in one.items():
            total[port] = total.get(port, 0.0) + area / max(end - start, 1)
    best = min(total, key=lambda port: (-total[port], port), default=None)
    return {} if best is None else dict.fromkeys(areas, best)


def trace_of(run: RunData, port: tuple[int, int]) -> Trace:
    """The trace of a port; empty where nothing ever waited there."""
    names = ("bin", "node", "port", "max_packets", "mean_packets")
    bins, nodes, ports, largest, mean = run.columns("queue_trace", *names)
    keep = (nodes == port[0]) & (ports == port[1])
    return Trace(place(run, *port), bins[keep], largest[keep], mean[keep])


def stacked(count: int, height: float) -> tuple[Figure, list[Axes]]:
    """A figure with a panel for each variant, below each other, or in two columns where they are many."""
    columns = 1 if count <= 6 else 2
    rows = -(-count // columns)
    figure = canvas(min(TALLEST, 0.8 + rows * height))
    panels = list(figure.subplots(rows, columns, sharex=True, squeeze=False).T.flat)
    for spare in panels[count:]:
        spare.remove()
    return figure, panels[:count]


def place(run: RunData, node: int, port: int) -> str:
    """`leaf3 port 2 to h5`."""
    nodes, ports, peers = run.columns("ports", "node", "port", "peer")
    peer = peers[(nodes == node) & (ports == port)]
    toward = f" to {run.node_name(int(peer[0]))}" if len(peer) else ""
    return f"{run.node_name(node)} port {port}{toward}"


def shade_outside(axes: Axes, run: RunData, span: Span) -> None:
    """Grey where nothing is measured."""
    start, end = run.window_ps
    for left, right in ((span.start, start), (end, span.end)):
        if right > left:
            factor = span.unit[0]
            axes.axvspan(left / factor, right / factor, color="#888888", alpha=0.13, linewidth=0, zorder=0)


def activity_over_time(results: Results, kind: int) -> Figure | None:
    """Drops (0), marks (1), detours (2) or bounces (3) over time by switch, of each variant's first seed."""
    chosen = {variant: results.of(variant)[0] for variant in with_runs(results)}
    runs = {variant: run for variant, run in chosen.items() if total(run, kind)}
    if not runs:
        return None
    # So many rows of names as a panel has room for.
    room = int((TALLEST / -(-len(runs) // (1 if len(runs) <= 6 else 2)) - 0.7) / 0.2) - 2
    rows = busiest_switches(list(runs.values()), kind)[: max(1, min(SWITCHES_SHOWN, room))]
    span = span_of(results)
    maps = {variant: heat(run, (kind, rows), span) for variant, run in runs.items()}
    norm = colours(max(float(one.grid.max()) for one in maps.values()))
    with style(), mpl.rc_context({"axes.grid": False}):
        # A map of few rows needs no less than its title and axis do.
        height = max(1.1, 0.5 + 0.2 * max(len(one.names) for one in maps.values()))
        figure, panels = stacked(len(runs), height)
        for axes, (variant, one) in zip(panels, maps.items(), strict=True):
            run = runs[variant]
            count = formats.number(counted(run, kind))
            axes.set_title(f"{variant}: {count} {KINDS[kind]} in the window (seed {run.seed})")
            image = one.draw(axes, norm, span.unit[0])
            shade_outside(axes, run, span)
        panels[0].set_xlim(span.start / span.unit[0], span.end / span.unit[0])
        figure.supxlabel(f"time ({span.unit[1]}); grey: outside the measurement window", fontsize=9.5)
        bar = figure.colorbar(image, ax=panels, pad=0.01, fraction=0.03, aspect=30)
        scale = "\nlog scale" if isinstance(norm, LogNorm) else ""
        bar.set_label(f"{KINDS[kind]} in {formats.time(one.step_ps)}{scale}")
        if not scale:
            bar.ax.yaxis.set_major_locator(MaxNLocator(5, integer=True))
        bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: formats.trimmed(value)))
        bar.ax.yaxis.set_minor_formatter(FuncFormatter(lambda value, _: ""))
    return figure


def colours(largest: float) -> Normalize:
    """Counts as colours: by logarithm from two decades on, evenly below, where that has too few ticks."""
    return LogNorm(1, largest) if largest >= 100 else Normalize(0, max(1.0, largest))


def counted(run: RunData, kind: int) -> int:
    """How often it happened in the measurement window, as the table counts."""
    names = [f"drop_{reason}" for reason in measures.REASONS] if kind == 0 else [PORT_COUNTERS[kind]]
    return sum(int(run.column("ports", name).sum()) for name in names)


@dataclass(frozen=True)
class Heat:
    """Counts by row and step of time."""

    grid: np.ndarray
    names: list[str]
    start_ps: int
    step_ps: int

    def draw(self, axes: Axes, norm: Normalize, factor: float) -> AxesImage:
        """Draw it; nothing where nothing happened."""
        rows, steps = self.grid.shape
        left, right = self.start_ps / factor, (self.start_ps + steps * self.step_ps) / factor
        image = axes.imshow(
            np.ma.masked_less_equal(self.grid, 0),
            cmap="viridis_r",
            norm=norm,
            aspect="auto",
            interpolation="nearest",
            extent=(left, right, rows, 0),
        )
        axes.set_yticks(np.arange(rows) + 0.5, self.names, fontsize=8)
        axes.tick_params(axis="y", length=0)
        axes.hlines(np.arange(1, rows), left, right, color="#eeeeee", linewidth=0.5)
        return image


def activity(run: RunData, kind: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Bins, nodes and counts of one kind."""
    bins, node, kinds, count = run.columns("activity", "bin", "node", "kind", "count")
    keep = kinds == kind
    return bins[keep], node[keep], count[keep]


def total(run: RunData, kind: int) -> int:
    """How often it happened."""
    return int(activity(run, kind)[2].sum())


def busiest_switches(runs: Sequence[RunData], kind: int) -> list[int]:
    """The switches where it happened most, over all variants; in the order of nodes."""
    counts: dict[int, int] = {}
    for run in runs:
        _, node, count = activity(run, kind)
        keep = ~run.is_host[node]
        for one, times in zip(node[keep].tolist(), count[keep].tolist(), strict=True):
            counts[one] = counts.get(one, 0) + times
    return sorted(sorted(counts, key=lambda node: (-counts[node], node))[:SWITCHES_SHOWN])


def heat(run: RunData, what: tuple[int, Sequence[int]], span: Span) -> Heat:
    """One kind of event by time: the given switches, all others together, and hosts together."""
    kind, rows = what
    bins, node, count = activity(run, kind)
    hosts = run.is_host[node]
    rest = ~np.isin(node, rows) & ~hosts
    groups = [(run.node_name(row), node == row) for row in rows]
    if rest.any():
        others = np.unique(node[rest])
        groups.append((run.node_name(others[0]) if len(others) == 1 else f"{len(others)} others", rest))
    if hosts.any():
        groups.append(("hosts", hosts))
    first, steps, width = span.bins(run, COLUMNS_SHOWN)
    grid = np.zeros((len(groups), steps))
    for row, (_, keep) in enumerate(groups):
        inside = keep & (bins >= first) & (bins < first + steps * width)
        np.add.at(grid[row], (bins[inside].astype(np.int64) - first) // width, count[inside])
    bin_ps = int(run.summary["bin_ps"])
    return Heat(grid, [name for name, _ in groups], first * bin_ps, width * bin_ps)


def figures(results: Results) -> dict[str, tuple[str, Figure]]:
    """Every figure of the report that the results have data for: file name -> caption and figure."""
    found: dict[str, tuple[str, Figure | None]] = {
        "fct": ("Flow completion times of measured flows, all seeds.", distribution(results, "fct"))
    }
    names = [entry["name"] for entry in results.runs[0].summary["traffic"]] if results.runs else []
    if len(names) > 1:
        for index, name in enumerate(names[:6]):
            caption = f"Flow completion times of {name}, all seeds."
            found[f"fct-{index}"] = (caption, distribution(results, "fct", index))
    found["qct"] = ("Query completion times, all seeds.", distribution(results, "qct"))
    caption = "The queue of one switch port, the one with the highest mean over all variants, over time."
    found["queue"] = (caption, queue_over_time(results))
    for kind, name in enumerate(KINDS):
        caption = f"{name.capitalize()} over time, by switch: the busiest and the others."
        found[name] = (caption, activity_over_time(results, kind))
    return {name: (caption, figure) for name, (caption, figure) in found.items() if figure is not None}
