"""Figures of results: each function returns a matplotlib figure."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from overspill import formats, measures
from overspill.rundata import RunData

if TYPE_CHECKING:
    from overspill.results import Results

# Okabe and Ito's colours, told apart with any colour vision; dashes tell more than seven variants apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#444444")
DASHES = ("-", "--", ":", "-.")
STYLE = {
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
KINDS = ("drops", "marks", "detours", "bounces")
SWITCHES_SHOWN = 8
COLUMNS_SHOWN = 240  # bins of time that a figure can show


def style() -> AbstractContextManager[Any]:
    """The look that all figures share."""
    return mpl.rc_context(STYLE)


def look(results: Results, variant: str) -> dict[str, Any]:
    """A variant's line: the same in every figure of the results."""
    index = results.variants.index(variant)
    return {
        "color": COLOURS[index % len(COLOURS)],
        "linestyle": DASHES[index // len(COLOURS) % len(DASHES)],
    }


def canvas(height: float) -> Figure:
    """An empty figure of the common width."""
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.08, h_pad=0.08, wspace=0.04)  # type: ignore[union-attr]
    return figure


def with_runs(results: Results) -> list[str]:
    """Variants that have a finished run."""
    return [variant for variant in results.variants if results.of(variant)]


def legend_above(figure: Figure, axes: Axes) -> None:
    """One legend for the figure, above the axes, where it covers nothing."""
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside upper center", ncols=min(len(labels), 5))


def time_axis(axis: Any, largest: float) -> tuple[float, str]:
    """Ticks of a logarithmic axis in seconds, in plain words; the factor is 1."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: tick(value)))
    axis.set_minor_formatter(FuncFormatter(lambda value, _: ""))
    return formats.scale("s", [largest])


def tick(seconds: float) -> str:
    """`100 us`."""
    return formats.time(seconds * 1e12) if seconds > 0 else ""


def distribution(results: Results, which: str, traffic: int | None = None) -> Figure | None:
    """The distribution of FCT (`which` = `fct`) or QCT (`qct`): all of it, and its tail; `None` without any."""
    samples = {variant: pooled(results, variant, which, traffic) for variant in with_runs(results)}
    samples = {variant: one for variant, one in samples.items() if len(one[0])}
    if not samples:
        return None
    name = which.upper()
    with style():
        figure = canvas(3.6)
        whole, tail = figure.subplots(1, 2)
        for variant, (values, count) in samples.items():
            x, share = np.sort(values) * measures.PS, np.arange(1, len(values) + 1) / count
            missing = count - len(values)
            label = f"{variant} ({missing} of {count} unfinished)" if missing else variant
            line = look(results, variant)
            whole.step(x, share, where="post", label=label, **line)
            # At its k-th smallest sample, the share that is as large or larger.
            tail.step(x, (count - np.arange(len(x))) / count, where="pre", **line)
        finish_distribution(whole, tail, name)
        legend_above(figure, whole)
    return figure


def finish_distribution(whole: Axes, tail: Axes, name: str) -> None:
    """Scales and names of the two panels."""
    subject = "flows" if name == "FCT" else "queries"
    whole.set(xscale="log", ylim=(0, 1.02), xlabel=name, ylabel=f"share of {subject} done within it")
    whole.set_title("distribution")
    tail.set(xscale="log", yscale="log", xlabel=name, ylabel=f"share of {subject} that take as long")
    tail.set_ylim(top=1.15)
    tail.set_title("tail")
    tail.yaxis.set_major_formatter(FuncFormatter(lambda value, _: percent(value)))
    for axes in (whole, tail):
        time_axis(axes.xaxis, axes.get_xlim()[1])


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


def queue_over_time(results: Results) -> Figure | None:
    """The busiest switch port's queue of every variant, first seed: largest and mean of each bin."""
    chosen = {variant: results.of(variant)[0] for variant in with_runs(results)}
    traces = {variant: busiest_trace(run) for variant, run in chosen.items()}
    found = {variant: trace for variant, trace in traces.items() if trace is not None}
    if not found:
        return None
    with style():
        figure = canvas(0.7 + 1.5 * len(found))
        panels = figure.subplots(len(found), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
        end = max(chosen[variant].end_ps for variant in found)
        factor, unit = formats.scale("s", [end * measures.PS])
        for axes, (variant, (place, start, high, mean)) in zip(panels, found.items(), strict=True):
            run, colour = chosen[variant], look(results, variant)["color"]
            at = start * (run.summary["bin_ps"] * measures.PS / factor)
            axes.fill_between(at, high, step="post", color=colour, alpha=0.3, linewidth=0, label="largest")
            axes.step(at, mean, where="post", color=colour, linewidth=1.1, label="mean")
            axes.set_title(f"{variant}: {place} (seed {run.seed})")
            shade_outside(axes, run, factor)
            axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
        panels[0].set_xlim(0, end * measures.PS / factor)
        panels[0].set_ylim(bottom=0)
        panels[-1].set_xlabel(f"time ({unit}); grey: outside the measurement window")
        figure.supylabel("waiting frames in a bin: largest (area), mean (line)", fontsize=9.5)
    return figure


def busiest_trace(run: RunData) -> tuple[str, np.ndarray, np.ndarray, np.ndarray] | None:
    """Place, bins, largest and mean of the busiest switch port that has a trace."""
    bins, node, port, high, mean = run.columns(
        "queue_trace", "bin", "node", "port", "max_packets", "mean_packets"
    )
    for wanted in measures.busiest_ports(run):
        keep = (node == wanted[0]) & (port == wanted[1])
        if keep.any():
            count = bins_of(run)
            width = max(1, -(-count // 1500))
            at, tops = binned(bins[keep], high[keep], count, width, "max")
            _, means = binned(bins[keep], mean[keep], count, width, "mean")
            return place(run, *wanted), at, tops, means
    return None


def place(run: RunData, node: int, port: int) -> str:
    """`leaf3 port 2 to h5`."""
    nodes, ports, peers = run.columns("ports", "node", "port", "peer")
    peer = peers[(nodes == node) & (ports == port)]
    toward = f" to {run.node_name(int(peer[0]))}" if len(peer) else ""
    return f"{run.node_name(node)} port {port}{toward}"


def bins_of(run: RunData) -> int:
    """How many bins the run has."""
    return max(1, -(-run.end_ps // int(run.summary["bin_ps"])))


def binned(
    bins: np.ndarray, values: np.ndarray, count: int, width: int, how: str
) -> tuple[np.ndarray, np.ndarray]:
    """Sparse bins filled up with 0 and put together by `width`: `max`, `mean` or `sum` of each."""
    dense = np.zeros(-(-count // width) * width)
    inside = bins < count
    dense[bins[inside]] = values[inside]
    groups = dense.reshape(-1, width)
    merged = {"max": groups.max, "mean": groups.mean, "sum": groups.sum}[how](axis=1)
    return np.arange(len(groups) + 1) * width, np.append(merged, merged[-1:])


def shade_outside(axes: Axes, run: RunData, factor: float) -> None:
    """Grey where nothing is measured."""
    start, end = (instant * measures.PS / factor for instant in run.window_ps)
    for left, right in ((0, start), (end, run.end_ps * measures.PS / factor)):
        if right > left:
            axes.axvspan(left, right, color="#888888", alpha=0.13, linewidth=0, zorder=0)


def activity_over_time(results: Results, kind: int) -> Figure | None:
    """Drops (0), marks (1), detours (2) or bounces (3) over time by switch, of each variant's first seed."""
    chosen = {variant: results.of(variant)[0] for variant in with_runs(results)}
    runs = {variant: run for variant, run in chosen.items() if total(run, kind)}
    if not runs:
        return None
    rows = busiest_switches(list(runs.values()), kind)
    maps = {variant: heat(run, kind, rows) for variant, run in runs.items()}
    # A map of 3 rows needs no less than its title and axis do.
    height = max(0.95, 0.2 * (len(rows) + 1) + 0.5)
    with style(), mpl.rc_context({"axes.grid": False}):
        figure = canvas(0.8 + height * len(runs))
        panels = figure.subplots(len(runs), 1, sharex=True, squeeze=False)[:, 0]
        largest = max(float(grid.max()) for grid, _, _ in maps.values())
        norm = LogNorm(1, max(largest, 2))
        end = max(run.end_ps for run in runs.values())
        factor, unit = formats.scale("s", [end * measures.PS])
        for axes, (variant, (grid, names, span_ps)) in zip(panels, maps.items(), strict=True):
            right = span_ps * measures.PS / factor
            shape = {"aspect": "auto", "interpolation": "nearest", "extent": (0, right, len(names), 0)}
            shown = axes.imshow(np.ma.masked_less_equal(grid, 0), cmap="viridis_r", norm=norm, **shape)
            axes.set_yticks(np.arange(len(names)) + 0.5, names, fontsize=8)
            axes.tick_params(axis="y", length=0)
            axes.hlines(np.arange(1, len(names)), 0, right, color="#eeeeee", linewidth=0.5)
            run = runs[variant]
            axes.set_title(f"{variant}: {formats.number(total(run, kind))} {KINDS[kind]} (seed {run.seed})")
        panels[0].set_xlim(0, end * measures.PS / factor)
        panels[-1].set_xlabel(f"time ({unit})")
        width = formats.time(next(iter(maps.values()))[2] / next(iter(maps.values()))[0].shape[1])
        bar = figure.colorbar(shown, ax=list(panels), pad=0.01, fraction=0.03, aspect=30)
        bar.set_label(f"{KINDS[kind]} in {width}")
        bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: formats.trimmed(value)))
        bar.ax.yaxis.set_minor_formatter(FuncFormatter(lambda value, _: ""))
    return figure


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


def heat(run: RunData, kind: int, rows: Sequence[int]) -> tuple[np.ndarray, list[str], int]:
    """Counts by row and time, the rows' names, and the time that all columns span together in ps."""
    bins, node, count = activity(run, kind)
    hosts = run.is_host[node]
    known = np.isin(node, rows)
    groups = [(run.node_name(row), node == row) for row in rows]
    rest = ~known & ~hosts
    if rest.any():
        groups.append((f"{len(np.unique(node[rest]))} others", rest))
    if hosts.any():
        groups.append(("hosts", hosts))
    whole = bins_of(run)
    width = max(1, -(-whole // COLUMNS_SHOWN))
    grid = np.zeros((len(groups), -(-whole // width)))
    for row, (_, keep) in enumerate(groups):
        inside = keep & (bins < whole)
        np.add.at(grid[row], bins[inside] // width, count[inside])
    return grid, [name for name, _ in groups], grid.shape[1] * width * int(run.summary["bin_ps"])


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
    caption = "The queue of the busiest switch port (highest mean) of each variant, over time."
    found["queue"] = (caption, queue_over_time(results))
    for kind, name in enumerate(KINDS):
        caption = f"{name.capitalize()} over time, by switch: the {SWITCHES_SHOWN} busiest and the others."
        found[name] = (caption, activity_over_time(results, kind))
    return {name: (caption, figure) for name, (caption, figure) in found.items() if figure is not None}
