"""Figure of the bytes in one switch input buffer over time, split by the output port of the frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from overspill.charts import common, queues
from overspill.charts.chart_spec import COLOURS, Axis, Band, Chart, LegendEntry, Line, LineStyle, Mark
from overspill.charts.common import Period
from overspill.charts.queues import QueueTrace
from overspill.engine import axis_values
from overspill.results.rundata import RunData

if TYPE_CHECKING:
    from overspill.results.results import Results

MAX_OUTPUTS_SHOWN = len(COLOURS) - 1
OTHERS_LINE_STYLE = LineStyle("#b5bcc4", width=0)
AREA_OPACITY = 0.8  # of areas, which have no line
LARGEST_LINE_STYLE = LineStyle("#444444", width=0, opacity=0.25)
THRESHOLD_DASHES = (("xoff", (4.0, 2.0)), ("xon", (1.5, 1.5)))
Port = tuple[int, int]


def chart_input_memory(results: Results) -> Chart | None:
    """Builds the figure of one switch input buffer, split by output; each variant shows the same input.

    `None` if it is not recorded.
    """
    runs = common.first_runs_with_table(results, "input_trace")
    if not runs:
        return None
    port, several = select_input(list(runs.values()))
    first = next(iter(runs.values()))
    outputs = rank_outputs(list(runs.values()), port)
    shown = sorted(outputs[:MAX_OUTPUTS_SHOWN])
    period = common.period_of(results, ("input_trace",))
    drawn = {variant: build_stacked_areas(run, port, shown, period) for variant, run in runs.items()}
    lines = {variant: pause_thresholds(results, variant, port[0]) for variant in runs}
    tops = [
        float(mark.high.max(initial=0))
        for marks in drawn.values()
        for mark in marks
        if isinstance(mark, Band)
    ]
    y = Axis(
        "bytes",
        "bytes",
        range=(0, 1.06 * max([1.0, *tops, *(at for told in lines.values() for at in told.values())])),
    )
    panels = []
    for variant, run in runs.items():
        marks = [*drawn[variant], *(threshold_line(at, key, period) for key, at in lines[variant].items())]
        panels.append(common.time_panel(common.run_title(results, variant, run), run, (period, y), marks))
    legend = [
        LegendEntry(
            str(one), f"for {far_node_name(first, port[0], one)}", LineStyle(COLOURS[at], width=8), "square"
        )
        for at, one in enumerate(shown)
    ]
    if len(outputs) > len(shown):
        legend.append(
            LegendEntry("others", "for other outputs", LineStyle(OTHERS_LINE_STYLE.colour, width=8), "square")
        )
    known = {key for told in lines.values() for key in told}
    peaks = "largest in each time step" + (", summed over outputs" if len(outputs) > 1 else "")
    legend.append(
        LegendEntry(
            "largest",
            peaks,
            LineStyle(LARGEST_LINE_STYLE.colour, width=8, opacity=LARGEST_LINE_STYLE.opacity),
            "square",
        )
    )
    legend += [
        LegendEntry(key, key.upper(), threshold_line_style(key))
        for key, _ in THRESHOLD_DASHES
        if key in known
    ]
    place = queues.port_name(first, *port).replace(" to ", " from ")
    among = "of the inputs with frames for several outputs" if several else "of all inputs"
    caption = (
        f"Bytes in the memory of the input of {place} by output, mean over a time step. This input holds "
        f"the most bytes {among}, over all variants. Light: largest value in each time step"
        f"{', summed over outputs, maybe at different instants' if len(outputs) > 1 else ''}. "
        f"{'Dashed: thresholds at which the input pauses and resumes its far end. ' if known else ''}"
        f"{common.FIRST_SEEDS_NOTE}"
    )
    return common.chart_over_time(
        ("inputs", f"Memory of an input over time: {place}", caption), panels, legend
    )


def select_input(runs: list[RunData]) -> tuple[Port, bool]:
    """Returns the switch input to show, and true if some input holds frames for several outputs.

    Only at such inputs can frames for one output block those for another. Among these, or among all without
    any, it is the one that holds most over all runs.
    """
    sums: dict[Port, float] = {}
    outputs: dict[Port, set[int]] = {}
    for run in runs:
        *places, mean = run.columns("input_trace", "node", "input", "output", "mean_bytes")
        for (at, source, toward), amount in common.sum_by_key([(np.array(places).T, mean)]).items():
            sums[at, source] = sums.get((at, source), 0.0) + amount
            outputs.setdefault((at, source), set()).add(toward)
    shared = [place for place in sums if len(outputs[place]) > 1]
    return min(shared or sums, key=lambda place: (-sums[place], place)), bool(shared)


def rank_outputs(runs: list[RunData], port: Port) -> list[int]:
    """Returns the output ports for which an input buffer holds frames, most bytes first."""
    sums: dict[int, float] = {}
    for run in runs:
        node, source, output, mean = run.columns("input_trace", "node", "input", "output", "mean_bytes")
        own = (node == port[0]) & (source == port[1])
        for one in np.unique(output[own]).tolist():
            sums[one] = sums.get(one, 0.0) + float(mean[own & (output == one)].sum())
    return common.sort_by_amount(sums)


def far_node_name(run: RunData, node: int, port: int) -> str:
    """Returns the name of the node at the far end of a port: `h5`."""
    nodes, ports, peers = run.columns("ports", "node", "port", "peer")
    peer = peers[(nodes == node) & (ports == port)]
    return run.node_name(int(peer[0])) if len(peer) else f"port {port}"


def threshold_line_style(key: str) -> LineStyle:
    """Returns the line style of a pause threshold."""
    return LineStyle("#444444", dict(THRESHOLD_DASHES)[key], width=1.1)


def build_stacked_areas(run: RunData, port: Port, shown: list[int], period: Period) -> list[Mark]:
    """Returns stacked areas of bytes in an input: by shown output, for others, and up to the largest sum."""
    names = ("bin", "node", "input", "output", "max_bytes", "mean_bytes")
    bins, node, source, output, largest, mean = run.columns("input_trace", *names)
    here = (node == port[0]) & (source == port[1])
    parts = [(str(one), LineStyle(COLOURS[at], width=0), output == one) for at, one in enumerate(shown)]
    parts.append(("others", OTHERS_LINE_STYLE, ~np.isin(output, shown)))
    marks: list[Mark] = []
    low: np.ndarray | None = None
    for key, look, own in parts:
        keep = here & own
        at, _, held = QueueTrace("", bins[keep], largest[keep], mean[keep]).steps(run, period)
        low = np.zeros(len(at)) if low is None else low
        high = low + held
        if keep.any():
            marks.append(Band(at, low, high, look, key, "post", interval=False, opacity=AREA_OPACITY))
        low = high
    at, peaks = largest_by_step(run, (bins[here], largest[here]), period)
    low = np.zeros(len(at)) if low is None else low
    top = np.maximum(peaks, low)
    return [
        *marks,
        Band(
            at,
            low,
            top,
            LARGEST_LINE_STYLE,
            "largest",
            "post",
            interval=False,
            opacity=LARGEST_LINE_STYLE.opacity,
        ),
    ]


HeldBytes = tuple[np.ndarray, np.ndarray]  # bins, and the largest amount of an output in each


def largest_by_step(run: RunData, held: HeldBytes, period: Period) -> tuple[np.ndarray, np.ndarray]:
    """Returns step times in seconds, and the largest bytes of an input in each step, summed over outputs.

    Outputs may have their largest amounts at different times, so the total never exceeded this sum.
    """
    bins, index = np.unique(held[0], return_inverse=True)
    sums = np.zeros(len(bins))
    np.add.at(sums, index, held[1].astype(np.float64))
    at, peaks, _ = QueueTrace("", bins, sums, np.zeros(len(bins))).steps(run, period)
    return at, peaks


def pause_thresholds(results: Results, variant: str, node: int) -> dict[str, float]:
    """Returns the bytes at which a variant's switches pause and resume, if all switches have the same."""
    resolved = (results.facts.get("resolved") or {}).get(variant) or {}
    switches = resolved.get("switches") or []
    tables = [table for one in switches for table in (one, *(one.get("ports") or {}).values())]
    pauses = [table["pause"] for table in tables if "pause" in table]
    found = {}
    for key, _ in THRESHOLD_DASHES:
        text = queues.common_text(one.get(key) for one in pauses)
        parsed = axis_values.numbers_in_one_unit(["1B", text]) if text else None
        if parsed is not None:
            found[key] = parsed[0][1]
    return found


def threshold_line(at: float, key: str, period: Period) -> Line:
    """Returns a horizontal line across the panel at a threshold."""
    return Line(np.array(period.seconds), np.full(2, at), threshold_line_style(key), key)
