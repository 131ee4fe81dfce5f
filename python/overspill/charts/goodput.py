"""Figures of goodput over time: in total, by host, and by flow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from overspill.charts import activity, common
from overspill.charts.activity import HeatMapValues
from overspill.charts.chart_spec import (
    COLOURS,
    Axis,
    Band,
    Chart,
    Colours,
    LegendEntry,
    Line,
    LineStyle,
    Mark,
    Panel,
)
from overspill.charts.common import Period
from overspill.results import formats, measures
from overspill.results.columns import U64_NONE
from overspill.results.rundata import RunData

if TYPE_CHECKING:
    from overspill.results.results import Results

MAX_STEPS = 300  # time steps of a curve
MAX_STEPS_WITH_BAND = 120  # time steps of a curve with a band; with more, the band would be hidden
MAX_VARIANTS_SHOWN = 6
MAX_HOSTS_SHOWN = 16
MAX_COLOURED_FLOWS = 7
MAX_GREY_FLOWS = 60  # most flows in grey
BURSTS_NOTE = (
    "Data that waited for a missing packet counts when that packet arrives, so that a bin may show more than "
    "the rate of the link."
)
IN_ORDER_NOTE = (
    "Data that waited for a missing packet counts when that packet arrives, and may exceed the rate of the "
    "link."
)
LINE_ENDS_NOTE = (
    "Each seed is shown until its last byte arrives, or until the end of the run if flows are unfinished."
)


def may_wait_for_missing(runs: Iterable[RunData]) -> bool:
    """Returns true if received data may wait for a missing packet, as it does for all but raw flows."""
    return not all(has_only_raw_flows(run) for run in runs)


def has_only_raw_flows(run: RunData) -> bool:
    """Returns true if the run has flows, and all of them are raw (without a transport)."""
    raw = run.column("flows", "raw")
    return len(raw) > 0 and bool((raw != 0).all())


def burst_notes(runs: Iterable[RunData], beyond: str = "") -> tuple[str, str]:
    """Returns sentences on goodput bursts for caption and note; only `beyond` if there can be no bursts."""
    if not may_wait_for_missing(runs):
        return "", beyond.strip()
    return f"{BURSTS_NOTE} ", IN_ORDER_NOTE + beyond


def chart_total_goodput(results: Results) -> Chart | None:
    """Builds the figure of payload arriving at all hosts over time by variant; `None` without any."""
    variants = common.variants_with_table(results, "host_goodput")
    if not variants:
        return None
    shown = variants[:MAX_VARIANTS_SHOWN]
    period = goodput_period(results, ("host_goodput",))
    drawn = {variant: build_goodput_marks(results, variant, period) for variant in shown}
    every = [mark for marks in drawn.values() for mark in marks]
    highest, cut = axis_top(every)
    y = Axis("goodput", "rate", range=(0, highest))
    panels = [
        Panel(common.group_label(results, variant), period.axis(), y, marks)
        for variant, marks in drawn.items()
    ]
    step = formats.format_time(step_width_ps(results.runs_of(shown[0])[0], period, MAX_STEPS_WITH_BAND))
    more = f" The first {len(shown)} of {len(variants)} variants." if len(variants) > len(shown) else ""
    beyond = " Bands with a flat edge continue beyond the axis." if cut else ""
    bursts, note = burst_notes(results.runs, beyond)
    caption = (
        f"Payload that arrived in order at all hosts, in bins of {step}. {bursts}{LINE_ENDS_NOTE} "
        f"{common.describe_band(results)}{more} "
        "Grey: outside the measurement window."
    )
    height = common.panel_height(len(panels), 1.6 if len(panels) > 1 else 3.1)
    omitted = common.omitted_variants_note(len(shown), len(variants))
    return Chart(
        "goodput", "Goodput over time: payload that arrived in order at all hosts", caption, panels, 1,
        height, share_x=True, share_y=True, fill_columns_first=True,
        note=note,
        file_note=f"{omitted} {common.mean_lines_note(results)}".strip(),
    )  # fmt: skip


def goodput_period(results: Results, tables: Sequence[str]) -> Period:
    """Returns the period with goodput, up to the end of the window if a run deadlocked.

    The goodput of a deadlocked run is 0 from then on.
    """
    found = common.period_of(results, tables)
    stuck = [run for run in results.runs if run.deadlock]
    last = max((min(run.end_ps, run.window_ps[1]) for run in stuck), default=0)
    return replace(found, end=max(found.end, last))


def host_link_rates(runs: Mapping[str, RunData]) -> dict[int, float]:
    """Returns the rate of the links to each receiving host in bit/s, the largest of all variants."""
    found: dict[int, float] = {}
    for run in runs.values():
        receivers = set(run.column("host_goodput", "node").tolist())
        own: dict[int, float] = {}
        for peer, rate_bps in zip(
            *(one.tolist() for one in run.columns("ports", "peer", "rate_bps")), strict=True
        ):
            if peer in receivers:
                own[peer] = own.get(peer, 0.0) + float(rate_bps)
        found |= {node: max(of_links, found.get(node, 0.0)) for node, of_links in own.items()}
    return found


def build_goodput_marks(results: Results, variant: str, period: Period) -> list[Mark]:
    """Returns a variant's goodput line, with its interval band if there are several seeds."""
    runs = results.runs_of(variant)
    marks: list[Mark] = [*common.grey_spans(runs[0], period), *common.change_marks(runs[0], period)]
    at = period.group_edges(runs[0], MAX_STEPS_WITH_BAND)
    rows = np.array([goodput_until_last_byte(run, period) for run in runs])
    middle, low, high = (np.append(one, 0.0) for one in mean_of_finite(rows))
    colour = LineStyle(common.line_style_of_variant(results, variant).colour, width=1.4)
    if len(rows) >= common.MIN_SEEDS_FOR_INTERVALS:
        marks.append(Band(at, low, high, colour, variant, "post"))
    return [*marks, Line(at, middle, colour, variant, "post")]


def goodput_until_last_byte(run: RunData, period: Period) -> np.ndarray:
    """Returns goodput in each step, and NaN after the step in which the last byte has arrived.

    Seeds that end early must not lower the mean of those that still send. A run with unfinished or endless
    flows has not ended early: after a deadlock its goodput is 0.
    """
    data = run.columns("host_goodput", "bin", "bytes")
    found = compute_rates(run, data, (period, MAX_STEPS_WITH_BAND))
    first, _, width = period.bin_groups(run, MAX_STEPS_WITH_BAND)
    last = (int(data[0].max()) - first) // width if len(data[0]) else -1
    if not has_unfinished_transport_flow(run):
        found[last + 1 :] = np.nan
    return found


def has_unfinished_transport_flow(run: RunData) -> bool:
    """Returns true if any flow with a transport has not ended."""
    raw, end = run.columns("flows", "raw", "end_ps")
    return bool(((raw == 0) & (end == U64_NONE)).any())


def mean_of_finite(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns mean and interval ends of each column over its finite values; 0 for columns without any."""
    found = np.zeros((3, rows.shape[1]))
    known = np.isfinite(rows)
    for count in np.unique(known.sum(axis=0)):
        for at in np.flatnonzero(known.sum(axis=0) == count) if count else ():
            own = rows[known[:, at], at][:, None]
            found[:, at] = [float(one[0]) for one in common.mean_and_interval(own)]
    return found[0], found[1], found[2]


def axis_top(marks: list[Mark]) -> tuple[float, bool]:
    """Returns the top of the y axis for lines and bands, and true if it cuts some bands.

    Only a few bands that are far wider than the rest are cut.
    """
    highest = max((float(mark.y.max(initial=0)) for mark in marks if isinstance(mark, Line)), default=0.0)
    highs = [mark.high for mark in marks if isinstance(mark, Band)]
    tops = np.concatenate(highs) if highs else np.zeros(1)
    most, usual = float(tops.max()), float(np.percentile(tops, 99))
    cut = most > 1.5 * max(usual, highest)
    return 1.06 * (max(highest, usual if cut else most) or 1.0), cut


def step_width_ps(run: RunData, period: Period, steps: int) -> int:
    """Returns the length of a time step in ps."""
    return period.bin_groups(run, steps)[2] * int(run.summary["bin_ps"])


def compute_rates(run: RunData, data: tuple[np.ndarray, ...], when: tuple[Period, int]) -> np.ndarray:
    """Converts bytes by bin to rates in bit/s, one for each of `steps` time steps of a period."""
    (bins, size), (period, steps) = data, when
    seconds = step_width_ps(run, period, steps) * measures.SECONDS_PER_PS
    return period.sum_groups(run, steps, (bins, size.astype(np.float64))) * 8 / seconds


def chart_goodput_by_host(results: Results) -> Chart | None:
    """Builds the heat map of first seeds' goodput by host and time; `None` for fewer than two receivers."""
    runs = common.first_runs_with_table(results, "host_goodput")
    sums = common.sum_by_key(run.columns("host_goodput", "node", "bytes") for run in runs.values())
    hosts = common.sort_by_amount({host: size for host, size in sums.items() if size})
    if len(hosts) < 2:
        return None
    rows = sorted(hosts[: min(MAX_HOSTS_SHOWN, activity.rows_per_panel(len(runs)) + 8)])
    period = goodput_period(results, ("host_goodput",))
    maps = {variant: build_host_map(run, rows, period) for variant, run in runs.items()}
    count = common.format_count(len(hosts), "host")
    part = len(rows) < len(hosts)
    which = f"{len(rows)} of {count} that receive" if part else f"all {count} that receive"
    panels = [
        activity.heat_map_panel(common.run_title(results, variant, run), maps[variant], period, run, "none")
        for variant, run in runs.items()
    ]
    largest = max(float(one.counts.max(initial=0)) for one in maps.values())
    step = formats.format_time(next(iter(maps.values())).step_ps)
    some = f"the {len(rows)} of {count} that receive most" if part else f"every host that receives ({count})"
    bursts, note = burst_notes(runs.values())
    caption = (
        f"Payload that arrived in order at {some} over all variants, in bins of {step}, "
        f"first seed of each variant. {bursts}Grey: outside the measurement window."
    )
    # Data that waited for a missing packet count in a burst. Without this limit, the burst would be dark and
    # all other values one light colour.
    links = max(host_link_rates(runs).values(), default=largest)
    label = f"goodput in {step}" + (", darkest: at least this" if largest > links else "")
    colours = Colours(0, min(largest, links) or 1.0, label, kind="rate", white_zero=True)
    title = f"Goodput by host ({which}): payload that arrived in order"
    made = activity.chart_of_heat_maps("goodput-hosts", title, caption, panels, (colours, len(rows)))
    return replace(made, note=note)


def build_host_map(run: RunData, rows: list[int], period: Period) -> HeatMapValues:
    """Returns the heat map of goodput in bit/s over time, one row for each given host."""
    bins, node, size = run.columns("host_goodput", "bin", "node", "bytes")
    groups = [(run.node_name(host), node == host) for host in rows]
    found = activity.sum_over_steps(run, (bins, size), groups, period)
    return replace(found, counts=found.counts * 8 / (found.step_ps * measures.SECONDS_PER_PS))


def chart_goodput_by_flow(results: Results) -> Chart | None:
    """Builds the figure of first seeds' goodput by flow over time, largest in colours; `None` without any."""
    runs = common.first_runs_with_table(results, "flow_goodput")
    if not runs:
        return None
    period = goodput_period(results, ("flow_goodput",))
    sums = common.sum_by_key(run.columns("flow_goodput", "flow", "bytes") for run in runs.values())
    chosen = common.sort_by_amount(sums)
    shown = chosen[:MAX_COLOURED_FLOWS] if len(chosen) > len(COLOURS) else chosen
    order = [*reversed(chosen[len(shown) : MAX_GREY_FLOWS]), *shown]
    drawn = {
        variant: [flow_line(run, flow, shown, period) for flow in order] for variant, run in runs.items()
    }
    highest = axis_top([mark for marks in drawn.values() for mark in marks])[0]
    links = max(host_link_rates(runs).values(), default=highest)
    cut = highest > 2 * links
    beyond = " The highest bursts exceed the axis." if cut else ""
    y = Axis("goodput", "rate", range=(0, 1.25 * links if cut else highest))
    panels = [
        common.time_panel(common.run_title(results, variant, run), run, (period, y), drawn[variant])
        for variant, run in runs.items()
    ]
    first = next(iter(runs.values()))
    entries = [
        LegendEntry(str(flow), flow_name(first, flow), LineStyle(COLOURS[at], width=1.6))
        for at, flow in enumerate(shown)
    ]
    step = formats.format_time(step_width_ps(first, period, MAX_STEPS))
    part = len(chosen) > len(shown)
    most = f"Of {len(chosen)} flows, the {len(shown)} with the most bytes are in colour"
    which = most if part else "Each flow has a colour"
    grey = f"; the next {len(chosen[len(shown) : MAX_GREY_FLOWS])} are in grey" if part else ""
    bursts, note = burst_notes(runs.values(), beyond)
    caption = (
        f"Payload that arrived in order, per flow, in bins of {step}. {which}{grey}. First seed of each "
        f"variant. {bursts}Grey areas: outside the measurement window."
    )
    title = "Goodput by flow: payload that arrived in order"
    return replace(common.chart_over_time(("goodput-flows", title, caption), panels, entries), note=note)


def flow_line(run: RunData, flow: int, shown: list[int], period: Period) -> Line:
    """Returns the line of one flow's goodput over time."""
    bins, flows, size = run.columns("flow_goodput", "bin", "flow", "bytes")
    keep = flows == flow
    rates = compute_rates(run, (bins[keep], size[keep]), (period, MAX_STEPS))
    coloured = flow in shown
    colour = LineStyle(COLOURS[shown.index(flow)], width=1.6) if coloured else LineStyle("#b5bcc4", width=0.7)
    at = period.group_edges(run, MAX_STEPS)
    return Line(at, np.append(rates, rates[-1:]), colour, str(flow) if coloured else "", "post")


def flow_name(run: RunData, flow: int) -> str:
    """Returns the name of a flow: `flow 3: h1 > h5`."""
    ids, src, dst = run.columns("flows", "flow", "src", "dst")
    at = np.flatnonzero(ids == flow)
    ends = f": {run.node_name(int(src[at[0]]))} > {run.node_name(int(dst[at[0]]))}" if len(at) else ""
    return f"flow {flow}{ends}"
