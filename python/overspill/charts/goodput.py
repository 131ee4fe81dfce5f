"""Figures of goodput over time: in total, by host, and by flow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from overspill.charts import activity, common
from overspill.charts.activity import Grid
from overspill.charts.common import Period
from overspill.charts.spec import COLOURS, Axis, Band, Chart, Colours, Entry, Line, Look, Mark, Panel
from overspill.results import formats, measures
from overspill.results.columns import U64_NONE
from overspill.results.rundata import RunData

if TYPE_CHECKING:
    from overspill.results.results import Results

STEPS = 300  # time steps of a curve
STEPS_OF_BAND = 120  # time steps of a curve with a band; with more, the band would be hidden
VARIANTS_SHOWN = 6
HOSTS_SHOWN = 16
FLOWS_SHOWN = 7
FAINT = 60  # most flows in grey
BURSTS = (
    "Data that waited for a missing packet count in the bin in which that packet arrives, so a bin may show "
    "more than the rate of a link."
)
IN_ORDER = (
    "Data that waited for a missing packet count when that packet arrives, and may exceed a link's rate."
)
ENDS = "Each seed counts until its last byte has arrived, or until the run ends if flows are unfinished."


def waits(runs: Iterable[RunData]) -> bool:
    """Returns true if data may wait for a missing packet; raw traffic counts as it arrives."""
    return not all(has_raw_alone(run) for run in runs)


def has_raw_alone(run: RunData) -> bool:
    """Returns true if there are flows, and all of them are raw."""
    raw = run.column("flows", "raw")
    return len(raw) > 0 and bool((raw != 0).all())


def warned(runs: Iterable[RunData], beyond: str = "") -> tuple[str, str]:
    """Returns the sentences of caption and note on bursts of data that waited; empty if none can."""
    if not waits(runs):
        return "", beyond.strip()
    return f"{BURSTS} ", IN_ORDER + beyond


def of_all(results: Results) -> Chart | None:
    """Builds the figure of payload arriving at all hosts over time, a panel per variant; or `None`."""
    variants = common.having(results, "host_goodput")
    if not variants:
        return None
    shown = variants[:VARIANTS_SHOWN]
    period = period_of(results, ("host_goodput",))
    drawn = {variant: marks_of(results, variant, period) for variant in shown}
    every = [mark for marks in drawn.values() for mark in marks]
    highest, cut = top(every)
    y = Axis("goodput", "rate", shown=(0, highest))
    panels = [
        Panel(common.label(results, variant), period.axis(), y, marks) for variant, marks in drawn.items()
    ]
    step = formats.time(width_ps(results.runs_of(shown[0])[0], period, STEPS_OF_BAND))
    more = f" The first {len(shown)} of {len(variants)} variants." if len(variants) > len(shown) else ""
    beyond = " Bands that are cut flat continue beyond the axis." if cut else ""
    bursts, note = warned(results.runs, beyond)
    caption = (
        f"Payload that arrived in order at all hosts, in bins of {step}. {bursts}{ENDS} "
        f"{common.band_text(results)}{more} "
        "Grey: outside the measurement window."
    )
    height = common.height_of(len(panels), 1.6 if len(panels) > 1 else 3.1)
    return Chart(
        "goodput", "Goodput over time: payload that arrived in order at all hosts", caption, panels, 1,
        height, share_x=True, share_y=True, down=True,
        note=note,
        told=f"{common.part_told(len(shown), len(variants))} {common.means_told(results)}".strip(),
    )  # fmt: skip


def period_of(results: Results, tables: Sequence[str]) -> Period:
    """Returns the period with goodput, up to the end of the window if a run deadlocked.

    The goodput of a deadlocked run is 0 from then on.
    """
    found = common.period_of(results, tables)
    stuck = [run for run in results.runs if run.deadlock]
    last = max((min(run.end_ps, run.window_ps[1]) for run in stuck), default=0)
    return replace(found, end=max(found.end, last))


def rates_of_hosts(runs: Mapping[str, RunData]) -> dict[int, float]:
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


def marks_of(results: Results, variant: str, period: Period) -> list[Mark]:
    """Returns a variant's line, with its band if there are several seeds."""
    runs = results.runs_of(variant)
    marks: list[Mark] = [*common.outside(runs[0], period), *common.changes(runs[0], period)]
    at = period.edges(runs[0], STEPS_OF_BAND)
    rows = np.array([until_last(run, period) for run in runs])
    middle, low, high = (np.append(one, 0.0) for one in mean_of_known(rows))
    colour = Look(common.look(results, variant).colour, width=1.4)
    if len(rows) >= common.INTERVALS_FROM:
        marks.append(Band(at, low, high, colour, variant, "post"))
    return [*marks, Line(at, middle, colour, variant, "post")]


def until_last(run: RunData, period: Period) -> np.ndarray:
    """Returns goodput in each step, and NaN after the step in which the last byte has arrived.

    Seeds that end early must not lower the mean of those that still send. A run with unfinished or endless
    flows has not ended early: after a deadlock its goodput is 0.
    """
    data = run.columns("host_goodput", "bin", "bytes")
    found = rate(run, data, (period, STEPS_OF_BAND))
    first, _, width = period.bins(run, STEPS_OF_BAND)
    last = (int(data[0].max()) - first) // width if len(data[0]) else -1
    if not has_more_to_send(run):
        found[last + 1 :] = np.nan
    return found


def has_more_to_send(run: RunData) -> bool:
    """Returns true if any flow with a transport has not ended."""
    raw, end = run.columns("flows", "raw", "end_ps")
    return bool(((raw == 0) & (end == U64_NONE)).any())


def mean_of_known(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns mean and ends of the interval of each column, over the rows known there; 0 without any."""
    found = np.zeros((3, rows.shape[1]))
    known = np.isfinite(rows)
    for count in np.unique(known.sum(axis=0)):
        for at in np.flatnonzero(known.sum(axis=0) == count) if count else ():
            own = rows[known[:, at], at][:, None]
            found[:, at] = [float(one[0]) for one in common.mean_and_interval(own)]
    return found[0], found[1], found[2]


def top(marks: list[Mark]) -> tuple[float, bool]:
    """Returns the top of the axis for these lines and bands, and true if some bands extend beyond it.

    Only a few bands that are far wider than the rest are cut.
    """
    highest = max((float(mark.y.max(initial=0)) for mark in marks if isinstance(mark, Line)), default=0.0)
    highs = [mark.high for mark in marks if isinstance(mark, Band)]
    tops = np.concatenate(highs) if highs else np.zeros(1)
    most, usual = float(tops.max()), float(np.percentile(tops, 99))
    cut = most > 1.5 * max(usual, highest)
    return 1.06 * (max(highest, usual if cut else most) or 1.0), cut


def width_ps(run: RunData, period: Period, steps: int) -> int:
    """Returns the length of a time step in ps."""
    return period.bins(run, steps)[2] * int(run.summary["bin_ps"])


def rate(run: RunData, data: tuple[np.ndarray, ...], when: tuple[Period, int]) -> np.ndarray:
    """Returns bytes by bin as bit/s in each of `steps` time steps of a period."""
    (bins, size), (period, steps) = data, when
    seconds = width_ps(run, period, steps) * measures.PS
    return period.sums(run, steps, (bins, size.astype(np.float64))) * 8 / seconds


def by_host(results: Results) -> Chart | None:
    """Builds the figure of goodput by host and time, first seeds; `None` for fewer than two receivers."""
    runs = common.with_rows(results, "host_goodput")
    sums = common.summed(run.columns("host_goodput", "node", "bytes") for run in runs.values())
    hosts = common.most_first({host: size for host, size in sums.items() if size})
    if len(hosts) < 2:
        return None
    rows = sorted(hosts[: min(HOSTS_SHOWN, activity.room(len(runs)) + 8)])
    period = period_of(results, ("host_goodput",))
    maps = {variant: host_grid(run, rows, period) for variant, run in runs.items()}
    count = common.counted(len(hosts), "host")
    part = len(rows) < len(hosts)
    which = f"{len(rows)} of {count} that receive" if part else f"all {count} that receive"
    panels = [
        activity.map_panel(common.title_of(results, variant, run), maps[variant], period, run, "none")
        for variant, run in runs.items()
    ]
    largest = max(float(one.counts.max(initial=0)) for one in maps.values())
    step = formats.time(next(iter(maps.values())).step_ps)
    some = f"the {len(rows)} of {count} that receive most" if part else f"every host that receives ({count})"
    bursts, note = warned(runs.values())
    caption = (
        f"Payload that arrived in order at {some} over all variants, in bins of {step}, "
        f"first seed of each variant. {bursts}Grey: outside the measurement window."
    )
    # Data that waited for a gap arrive in a burst, which would make all else one colour.
    links = max(rates_of_hosts(runs).values(), default=largest)
    label = f"goodput in {step}" + (", darkest: at least this" if largest > links else "")
    colours = Colours(0, min(largest, links) or 1.0, label, kind="rate", zero=True)
    title = f"Goodput by host ({which}): payload that arrived in order"
    made = activity.stacked("goodput-hosts", title, caption, panels, (colours, len(rows)))
    return replace(made, note=note)


def host_grid(run: RunData, rows: list[int], period: Period) -> Grid:
    """Returns the map of goodput of these hosts in bit/s."""
    bins, node, size = run.columns("host_goodput", "bin", "node", "bytes")
    groups = [(run.node_name(host), node == host) for host in rows]
    found = activity.grid_of(run, (bins, size), groups, period)
    return replace(found, counts=found.counts * 8 / (found.step_ps * measures.PS))


def by_flow(results: Results) -> Chart | None:
    """Builds the figure of goodput by flow over time, first seeds, largest in colours; or `None`."""
    runs = common.with_rows(results, "flow_goodput")
    if not runs:
        return None
    period = period_of(results, ("flow_goodput",))
    sums = common.summed(run.columns("flow_goodput", "flow", "bytes") for run in runs.values())
    chosen = common.most_first(sums)
    shown = chosen[:FLOWS_SHOWN] if len(chosen) > len(COLOURS) else chosen
    order = [*reversed(chosen[len(shown) : FAINT]), *shown]
    drawn = {
        variant: [flow_line(run, flow, shown, period) for flow in order] for variant, run in runs.items()
    }
    highest = top([mark for marks in drawn.values() for mark in marks])[0]
    links = max(rates_of_hosts(runs).values(), default=highest)
    cut = highest > 2 * links
    beyond = " The highest bursts exceed the axis." if cut else ""
    y = Axis("goodput", "rate", shown=(0, 1.25 * links if cut else highest))
    panels = [
        common.panel_of(common.title_of(results, variant, run), run, (period, y), drawn[variant])
        for variant, run in runs.items()
    ]
    first = next(iter(runs.values()))
    entries = [
        Entry(str(flow), flow_name(first, flow), Look(COLOURS[at], width=1.6))
        for at, flow in enumerate(shown)
    ]
    step = formats.time(width_ps(first, period, STEPS))
    grey = f"; the next {len(chosen[len(shown) : FAINT])} in grey" if len(chosen) > len(shown) else ""
    bursts, note = warned(runs.values(), beyond)
    caption = (
        f"Payload of a flow that arrived in order, in bins of {step}: the {len(shown)} flows with most "
        f"bytes of {len(chosen)}{grey}. First seed of each variant. {bursts}Grey areas: outside the "
        "measurement window."
    )
    title = "Goodput by flow: payload that arrived in order"
    return replace(common.over_time(("goodput-flows", title, caption), panels, entries), note=note)


def flow_line(run: RunData, flow: int, shown: list[int], period: Period) -> Line:
    """Returns the line of one flow's goodput over time."""
    bins, flows, size = run.columns("flow_goodput", "bin", "flow", "bytes")
    keep = flows == flow
    rates = rate(run, (bins[keep], size[keep]), (period, STEPS))
    coloured = flow in shown
    colour = Look(COLOURS[shown.index(flow)], width=1.6) if coloured else Look("#b5bcc4", width=0.7)
    at = period.edges(run, STEPS)
    return Line(at, np.append(rates, rates[-1:]), colour, str(flow) if coloured else "", "post")


def flow_name(run: RunData, flow: int) -> str:
    """Returns the name of a flow: `flow 3: h1 > h5`."""
    ids, src, dst = run.columns("flows", "flow", "src", "dst")
    at = np.flatnonzero(ids == flow)
    ends = f": {run.node_name(int(src[at[0]]))} > {run.node_name(int(dst[at[0]]))}" if len(at) else ""
    return f"flow {flow}{ends}"
