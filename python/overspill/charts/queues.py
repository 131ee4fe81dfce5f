"""Figures of queues: length of one queue over time, time-weighted lengths, and waiting times."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from overspill.charts import axes as words
from overspill.charts import common
from overspill.charts.chart_spec import Axis, Band, Chart, LegendEntry, Line, LineStyle, Mark, Panel
from overspill.charts.common import Period
from overspill.engine import axis_values
from overspill.results import measures
from overspill.results.names import DROP_REASONS
from overspill.results.rundata import RunData

if TYPE_CHECKING:
    from overspill.results.results import Results

MIN_WAIT_SECONDS = 1e-9  # seconds; frames that arrive simultaneously may differ by picoseconds
MIN_SHARE_MENTIONED = 0.01  # share of frames with a shorter wait, from which on it is printed
NEGLIGIBLE_SHARE = 0.002  # share of frames that is too small to show their waits
MAX_HOVER_LENGTHS = 5  # variants with a line of their own in a panel's corner
MAX_LENGTHS_SHOWN = 400  # points of a distribution of lengths
LEGEND = (
    LegendEntry("largest", "largest in each time step", LineStyle("#444444", width=8, opacity=0.25)),
    LegendEntry("mean", "mean of each time step", LineStyle("#444444", width=1.1)),
)
SCOPE_NAMES = {"busiest": "busiest switch port", "all": "all switch ports"}


def chart_queue_over_time(results: Results) -> Chart | None:
    """Builds the figure of one switch port's queue over time, first seed of each variant; or `None`.

    It shows the largest and the mean length of each bin.
    """
    runs = common.first_runs(results)
    ports, why = select_ports(runs)
    traces = {variant: read_queue_trace(runs[variant], port) for variant, port in ports.items()}
    if not any(len(trace.bins) for trace in traces.values()):
        return None
    period = common.period_of(results)
    highest = max(float(trace.largest.max(initial=0)) for trace in traces.values())
    y = Axis("queued frames", range=(0, 1.05 * max(1.0, highest)), whole_numbers=True)
    places = {trace.port_name for trace in traces.values()}
    panels = []
    for variant, trace in traces.items():
        run, colour = runs[variant], common.line_style_of_variant(results, variant).colour
        at, high, mean = trace.steps(run, period)
        marks: list[Mark] = [
            Band(at, np.zeros(len(at)), high, LineStyle(colour, width=0), "largest", "post", interval=False),
            Line(at, mean, LineStyle(colour, width=1.1), "mean", "post", queue_hover_texts(high, mean)),
        ]
        own = "" if len(places) == 1 else f"{trace.port_name}, "
        label, limit = common.group_label(results, variant), queue_limit_text(results, variant)
        title = f"{label} ({own}seed {run.seed}{limit})"
        panels.append(common.time_panel(title, run, (period, y), marks))
    caption = (
        f"Queued frames at one switch port, {why}, first seed of each: largest number in each time "
        "step (area) and mean (line). A buffer in bytes holds more frames if they are short. Grey: outside "
        "the measurement window."
    )
    title = f"Queue over time: {' and '.join(places)}" if len(places) == 1 else "Queue over time"
    return common.chart_over_time(("queue", title, caption), panels, LEGEND, 1.5)


def queue_hover_texts(high: np.ndarray, mean: np.ndarray) -> list[str]:
    """Returns the hover text of each time step: largest and mean number of queued frames."""
    return [f"largest {top:g}, mean {middle:.3g}" for top, middle in zip(high, mean, strict=True)]


@dataclass(frozen=True)
class QueueTrace:
    """Queue of one port over time; bins in which it was empty are left out."""

    port_name: str
    bins: np.ndarray
    largest: np.ndarray
    mean: np.ndarray

    def steps(self, run: RunData, period: Period) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Returns edges of time steps in seconds, and largest and mean queue of the step after each."""
        first, groups, width = period.bin_groups(run, common.MAX_CURVE_STEPS)
        largest, mean = np.zeros(groups + 1), np.zeros(groups + 1)
        inside = (self.bins >= first) & (self.bins < first + groups * width)
        group = (self.bins[inside].astype(np.int64) - first) // width
        np.maximum.at(largest, group, self.largest[inside])
        np.add.at(mean, group, self.mean[inside] / width)
        return period.group_edges(run, common.MAX_CURVE_STEPS), largest, mean


def select_ports(runs: dict[str, RunData]) -> tuple[dict[str, tuple[int, int]], str]:
    """Returns the switch port to show for each run, and the reason for the choice.

    It is the port that dropped most in the window; without drops, the one with the longest queue, in bytes if
    buffers count bytes; among equals the one with the highest mean. All runs have the same port, unless their
    networks differ.
    """
    known = {variant: rank_ports(run) for variant, run in runs.items()}
    known = {variant: one for variant, one in known.items() if one}
    groups = [[variant] for variant in known]
    if len({repr(runs[variant].summary["nodes"]) for variant in known}) == 1:
        groups = [list(known)]
    found: dict[str, tuple[int, int]] = {}
    dropped = False
    for group in groups:
        total: dict[tuple[int, int], tuple[float, float, float]] = {}
        for variant in group:
            for port, (drops, longest, area) in known[variant].items():
                sums = total.get(port, (0.0, 0.0, 0.0))
                total[port] = (sums[0] + drops, max(sums[1], longest), sums[2] + area)
        best = min(total, key=lambda port: (*(-one for one in total[port]), port))
        dropped = dropped or total[best][0] > 0
        found |= dict.fromkeys(group, best)
    why = "the port with most drops in the window" if dropped else "the port with the longest queue"
    return found, f"{why}{' over all variants' if len(found) > 1 and len(groups) == 1 else ''}"


def rank_ports(run: RunData) -> dict[tuple[int, int], tuple[float, float, float]]:
    """Returns drops, longest queue and mean queue of each switch port with a queue in the window.

    Losses on the link behind a port are left out, since they are no sign of its queue.
    """
    start, end = run.window_ps
    areas = measures.queued_time_by_port(run)
    node, port = run.columns("ports", "node", "port")
    drops = np.zeros(len(node))
    for reason in DROP_REASONS:
        counts = run.column("ports", f"drop_{reason}")
        if reason not in measures.LINK_LOSS_REASONS and len(counts) == len(node):
            drops += counts
    by_port = dict(zip(zip(node.tolist(), port.tolist(), strict=True), drops.tolist(), strict=True))
    at, which, packets = run.columns("queue_hist", "node", "port", "packets")
    places, index = np.unique(np.array([at, which]), axis=1, return_inverse=True)
    highest = np.zeros(places.shape[1])
    np.maximum.at(highest, index.reshape(-1), packets.astype(np.float64))
    longest = dict(zip(map(tuple, places.T.tolist()), highest.tolist(), strict=True))
    longest = measures.max_bytes_by_port(run) if measures.buffers_count_bytes(run) else longest
    long = float(max(end - start, 1))
    return {one: (by_port.get(one, 0.0), longest.get(one, 0.0), area / long) for one, area in areas.items()}


def queue_limit_text(results: Results, variant: str) -> str:
    """Returns the queue capacity of a port as text if all ports have the same; other buffers are added."""
    resolved = (results.facts.get("resolved") or {}).get(variant) or {}
    buffers = [one.get("buffer") or {} for one in resolved.get("switches") or []]
    size = common_text(one.get("size") if one.get("kind") == "per_port" else None for one in buffers)
    if not size:
        return ""
    memory = ((results.facts.get("memory") or {}).get(variant) or {}).get("switches") or []
    bounce, inputs, inside = (
        common_text(one.get(name) for one in memory) for name in ("bounce", "input", "inside")
    )
    text = f", buffer {size} a port{format_size_in_frames(size, resolved)}"
    text += f", bounce queue {bounce}" if bounce else ""
    text += f", {inputs} at each input" if inputs else ""
    return text + (f", {inside} in internal buffers" if inside else "")


def common_text(found: Iterable[object]) -> str:
    """Returns the common text of all values; empty if the values differ or are not texts."""
    every = set(found)
    one = every.pop() if len(every) == 1 else None
    return one if isinstance(one, str) else ""


def format_size_in_frames(size: str, resolved: Mapping[str, Any]) -> str:
    """Returns a size in bytes as a number of full frames, since the axis counts frames.

    Empty if workloads have frames of different sizes.
    """
    framing = resolved.get("framing") or {}
    base = resolved.get("transport") or {}
    own = [one.get("transport") or base for one in resolved.get("traffic") or []]
    mss = common_text(one.get("mss") for one in own or [base])
    if not mss:
        return ""
    parts = axis_values.numbers_in_one_unit(
        ["1B", size, *map(str, (mss, framing.get("header"), framing.get("link")))]
    )
    if parts is None or parts[0][1] == 0:
        return ""
    _, limit, *frame = parts[0]
    return f" = {int(limit // sum(frame))} full frames"


def read_queue_trace(run: RunData, port: tuple[int, int]) -> QueueTrace:
    """Returns the queue of a port over time; empty if nothing was ever queued."""
    names = ("bin", "node", "port", "max_packets", "mean_packets")
    bins, nodes, ports, largest, mean = run.columns("queue_trace", *names)
    keep = (nodes == port[0]) & (ports == port[1])
    return QueueTrace(port_name(run, *port), bins[keep], largest[keep], mean[keep])


def port_name(run: RunData, node: int, port: int) -> str:
    """Returns the name of a port: `leaf3 port 2 to h5`."""
    nodes, ports, peers = run.columns("ports", "node", "port", "peer")
    peer = peers[(nodes == node) & (ports == port)]
    toward = f" to {run.node_name(int(peer[0]))}" if len(peer) else ""
    return f"{run.node_name(node)} port {port}{toward}"


def chart_queue_lengths(results: Results) -> Chart | None:
    """Builds the figure of the share of time with at least n queued frames; `None` without data.

    It has panels of the busiest switch port and of all.
    """
    variants = common.variants_with_table(results, "queue_hist")
    panels = []
    for where, name in SCOPE_NAMES.items():
        rows = {variant: queue_length_ccdfs_by_seed(results, variant, where) for variant in variants}
        shares = {variant: one for variant, one in rows.items() if one is not None}
        marks = [
            mark for variant, one in shares.items() for mark in build_length_marks(results, variant, one)
        ]
        smallest = [float(one[one > 0].min()) for one in shares.values() if (one > 0).any()]
        floor = 10 ** math.floor(math.log10(max(min(smallest, default=0.1), 1e-6) * 1.001))
        x = Axis("queue length, at least (frames)", whole_numbers=True)
        y = Axis("share of time", "share", "log", (min(floor, 0.1), 1.3))
        panels.append(Panel(name, x, y, marks))
    if not any(panel.marks for panel in panels):
        return None
    caption = (
        "Share of the measurement window in which at least this many frames are queued: at the switch "
        f"port with the highest mean of each run, and over all switch ports. {common.describe_band(results)}"
    )
    entries = common.variant_legend(results, variants)
    return Chart(
        "queue-cdf",
        "Queue lengths: share of time with at least this many frames",
        caption,
        panels,
        2,
        3.1,
        entries,
        file_note=common.mean_lines_note(results),
    )


def queue_length_ccdfs_by_seed(results: Results, variant: str, where: str) -> np.ndarray | None:
    """Returns for each seed the share of time with at least 1 frame, at least 2, and so on."""
    rows = [queue_length_ccdf(run, where) for run in results.runs_of(variant)]
    known = [row for row in rows if row is not None]
    longest = max((len(row) for row in known), default=0)
    if not longest:
        return None
    return np.array([np.pad(row, (0, longest - len(row))) for row in known])


def queue_length_ccdf(run: RunData, where: str) -> np.ndarray | None:
    """Returns the share of time with at least 1 frame, at least 2, ..., in one run; `None` without data."""
    ports = measures.rank_busiest_ports(run)
    whole = max(run.window_ps[1] - run.window_ps[0], 0)
    if not ports or not whole:
        return None
    node, port, packets, time = run.columns("queue_hist", "node", "port", "packets", "time_ps")
    keep = (node == ports[0][0]) & (port == ports[0][1]) if where == "busiest" else ~run.is_host[node]
    whole *= 1 if where == "busiest" else max(measures.count_switch_ports(run), 1)
    spent = np.zeros(int(packets[keep].max(initial=0)) + 1)
    np.add.at(spent, packets[keep].astype(np.int64), time[keep].astype(np.float64))
    return np.asarray(np.cumsum(spent[:0:-1])[::-1] / float(whole))


def build_length_marks(results: Results, variant: str, shares: np.ndarray) -> list[Mark]:
    """Returns a variant's line, with its band if there are several seeds; the line ends at 0."""
    middle, low, high = common.mean_and_interval(shares)
    count = len(middle)
    at = np.unique(np.linspace(0, count - 1, min(count, MAX_LENGTHS_SHOWN), dtype=int))
    at = at[middle[at] > 0]
    line = common.line_style_of_variant(results, variant)
    marks: list[Mark] = []
    if shares.shape[0] >= common.MIN_SEEDS_FOR_INTERVALS:
        # A logarithmic axis cannot show 0, so the band does not reach below a thousandth of the mean.
        marks.append(Band(at + 1.0, np.maximum(low[at], middle[at] * 1e-3), high[at], line, variant))
    return [*marks, Line(at + 1.0, middle[at], line, variant)]


def chart_sojourn(results: Results) -> Chart | None:
    """Builds the figure of the time that frames wait in queues; `None` without data.

    It has panels of the busiest switch port and of all.
    """
    variants = common.variants_with_table(results, "queue_sojourn")
    panels: list[Panel] = []
    times = {
        where: {one: read_wait_curve(results, one, where) for one in variants}
        for where in SCOPE_NAMES
        if variants
    }
    every = [curve for by_variant in times.values() for curve in by_variant.values() if len(curve[0])]
    if not every:
        return None
    left = 0.8 * min(first_visible_wait(curve) for curve in every)
    for where, by_variant in times.items():
        marks = [
            Line(*clip_to_axis(curve, left), common.line_style_of_variant(results, variant), variant, "post")
            for variant, curve in by_variant.items()
            if len(curve[0])
        ]
        right = max(float(mark.x.max()) for mark in marks) if marks else 10 * left
        x = Axis("time in the queue", "time", "log", (left, 1.25 * right))
        y = Axis("share waiting longer", "share", "log")
        panels.append(
            Panel(
                SCOPE_NAMES[where],
                x,
                y,
                marks,
                corner=describe_unqueued_share(
                    {common.group_label(results, one): curve for one, curve in by_variant.items()}
                ),
            )
        )
    caption = (
        "Share of frames that wait longer than a time before their transmission starts, in the "
        f"measurement window, {common.format_seed_count(results)} pooled: at the switch port with the "
        "highest mean queue of each run, and over all switch ports. Times are ends of histogram buckets."
    )
    entries = common.variant_legend(results, variants)
    told = common.pooled_seeds_note(results, variants)
    return Chart("sojourn", "Time in queues", caption, panels, 2, 3.1, entries, share_y=True, file_note=told)


WaitCurve = tuple[
    np.ndarray, np.ndarray
]  # ends of buckets in seconds; the share of frames that waited longer


def clip_to_axis(curve: WaitCurve, left: float) -> WaitCurve:
    """Returns the part of a waiting-time curve from the left end of its axis to the longest wait."""
    at, above = curve
    kept = (at > left) & (above > 0)
    return np.append(left, at[kept]), np.append(1 - share_of_shorter_waits(curve, left), above[kept])


def first_visible_wait(curve: WaitCurve) -> float:
    """Returns the wait, 1 ns or more, at which the curve has visibly fallen: the start of its axis."""
    at, above = curve
    begin = 1 - share_of_shorter_waits(curve, MIN_WAIT_SECONDS)
    gone = (at >= MIN_WAIT_SECONDS) & (above < begin - NEGLIGIBLE_SHARE)
    return float(at[gone].min()) if gone.any() else MIN_WAIT_SECONDS


def share_of_shorter_waits(curve: WaitCurve, wait: float) -> float:
    """Returns the share of frames that wait less than a time, as far as complete buckets show it."""
    at, above = curve
    below = above[at < wait]
    return float(1 - below[-1]) if len(below) else 0.0


def describe_unqueued_share(by_variant: dict[str, WaitCurve]) -> list[str]:
    """Returns lines on the share of frames whose wait is too short for the axis; none if it is small."""
    shares = {
        one: share_of_shorter_waits(curve, MIN_WAIT_SECONDS)
        for one, curve in by_variant.items()
        if len(curve[0])
    }
    told = {variant: share for variant, share in shares.items() if share > MIN_SHARE_MENTIONED}
    if not told:
        return []
    head = f"wait less than {words.format_quantity(MIN_WAIT_SECONDS, 'time')}:"
    if len(told) > MAX_HOVER_LENGTHS:
        return [f"{head} {format_percent(min(told.values()))} to {format_percent(max(told.values()))}"]
    return [head, *(f"{variant}: {format_percent(share)}" for variant, share in told.items())]


def format_percent(share: float) -> str:
    """Formats a share with at most three digits."""
    return words.format_quantity(float(f"{share:.3g}"), "share")


def read_wait_curve(results: Results, variant: str, where: str) -> WaitCurve:
    """Returns ends of buckets in seconds, and the share of frames that waited longer, over all seeds."""
    ends: list[np.ndarray] = []
    counts: list[np.ndarray] = []
    for run in results.runs_of(variant):
        node, port, high, count = run.columns("queue_sojourn", "node", "port", "high", "count")
        ports = measures.rank_busiest_ports(run)
        keep = ~run.is_host[node] if len(node) else np.zeros(0, bool)
        if where == "busiest" and ports:
            keep = (node == ports[0][0]) & (port == ports[0][1])
        # `high` does not belong to its bucket: the longest wait in the bucket is 1 ps shorter.
        ends.append(np.maximum(high[keep].astype(np.float64) - 1, 0))
        counts.append(count[keep].astype(np.float64))
    at, index = np.unique(np.concatenate(ends), return_inverse=True)
    total = np.zeros(len(at))
    np.add.at(total, index, np.concatenate(counts))
    whole = total.sum()
    return (
        (at * measures.SECONDS_PER_PS, 1 - np.cumsum(total) / whole) if whole else (np.zeros(0), np.zeros(0))
    )
