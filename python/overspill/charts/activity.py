"""Figures of events by place and time: drops, marks, detours, bounces, trims, CNMs, and busy links."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from overspill.charts import common
from overspill.charts.chart_spec import Axis, Chart, Colours, HeatMap, Panel
from overspill.charts.common import Period
from overspill.results import formats, measures
from overspill.results.measures.saturation import find_peers
from overspill.results.names import DROP_REASONS, FRAME_OUTCOMES
from overspill.results.rundata import RunData

if TYPE_CHECKING:
    from overspill.results.results import Results

TITLE_OF_KIND = (
    *(f"Frames {done}" for done in ("dropped", "marked", "detoured", "bounced", "cut")),
    "Congestion messages (CNMs) created",
)
PORT_COUNTERS = ("", "marked", "detoured", "bounced", "trimmed")  # other kinds have a table of their own
SPECIAL_TITLES = {"cnms": "Congestion messages"}  # for events whose name is not a title
MAX_SWITCHES_SHOWN = 12
EMPTY_PANEL_HEIGHT = 1 / 2  # height of an empty panel relative to the others
MAX_LINKS_SHOWN = 12
ENOUGH_ROWS = 8  # rows of a map that suffice to describe a network


def chart_events_over_time(results: Results, kind: int) -> Chart | None:
    """Builds the heat map of one kind of event by switch and time.

    `kind` 0 to 5 is drops, marks, detours, bounces, trims or CNMs. The figure shows the first seed of each
    variant; `None` if there are no such events.
    """
    runs = common.first_runs(results)
    busy = [run for run in runs.values() if count_all_events(run, kind)]
    if not busy:
        return None
    columns = count_map_columns(list(runs.values()), kind, len(runs) - len(busy))
    rows = select_heat_map_rows(
        list(runs.values()), kind, rows_per_panel(len(runs), len(runs) - len(busy), columns)
    )
    period = common.period_of(results)
    maps = {variant: build_event_map(run, (kind, rows), period) for variant, run in runs.items()}
    step = next(one.step_ps for variant, one in maps.items() if count_all_events(runs[variant], kind))
    largest = max(float(one.counts.max(initial=0)) for one in maps.values())
    panels = []
    for variant, one in maps.items():
        run = runs[variant]
        count = formats.format_number(count_window_events(run, kind))
        label = common.group_label(results, variant)
        title = f"{label}: {count} {FRAME_OUTCOMES[kind]} in the window (seed {run.seed})"
        panels.append(heat_map_panel(title, one, period, run, f"no {FRAME_OUTCOMES[kind]}"))
    changed = " and the ends of links that change" if any(run.changes for run in busy) else ""
    most = (
        f", for the switches with the largest counts in the window over all variants{changed}, and one "
        "for all others together"
    )
    which = most if rows.others else ""
    caption = (
        f"{TITLE_OF_KIND[kind]}, by switch and time. One row per switch{which}; the rows are the same in "
        f"every panel. The colour is the count per bin of {formats.format_time(step)}. First seed of each "
        "variant. Grey: outside the measurement window."
    )
    colours = colours_for_counts(largest, f"{FRAME_OUTCOMES[kind]} in {formats.format_time(step)}")
    names = max(len(one.names) for one in maps.values())
    return chart_of_heat_maps(
        FRAME_OUTCOMES[kind],
        f"{SPECIAL_TITLES.get(FRAME_OUTCOMES[kind], FRAME_OUTCOMES[kind].capitalize())} by switch and time",
        caption,
        panels,
        (colours, names),
        columns,
    )


def chart_of_heat_maps(
    name: str,
    title: str,
    caption: str,
    panels: list[Panel],
    drawn: tuple[Colours, int],
    columns: int | None = None,
) -> Chart:
    """Returns a figure of heat maps with one colour scale; low maps keep enough height for their titles."""
    colours, names = drawn
    columns = columns or common.count_panel_columns(len(panels))
    made = Chart(
        name, title, caption, panels, columns, colours=colours, share_x=True, fill_columns_first=True
    )
    return replace(
        made, height=min(max(1.2, 0.6 + 0.2 * names), common.MAX_PANELS_HEIGHT / sum(made.row_heights))
    )


def count_map_columns(runs: Sequence[RunData], kind: int, low: int) -> int:
    """Returns the number of columns of heat maps: two if one leaves too little height for switch names."""
    columns = common.count_panel_columns(len(runs))
    fewest = min(len(rank_active_switches(runs, (kind,))), ENOUGH_ROWS)
    return 2 if columns == 1 and len(runs) > 2 and rows_per_panel(len(runs), low) < fewest else columns


def rows_per_panel(panels: int, low: int = 0, columns: int | None = None) -> int:
    """Returns the number of rows of a heat map that fit into a panel; `low` panels have little height."""
    columns = columns or common.count_panel_columns(panels)
    weight = panels - low * (1 - EMPTY_PANEL_HEIGHT) if columns == 1 else -(-panels // columns)
    height = common.MAX_PANELS_HEIGHT / weight
    return max(1, min(MAX_SWITCHES_SHOWN, int((height - 0.7) / 0.2) - 2))


def heat_map_panel(title: str, one: HeatMapValues, period: Period, run: RunData, none: str) -> Panel:
    """Returns a panel with a heat map, or with a note if the heat map is empty."""
    if not one.counts.size or not np.nansum(one.counts):
        empty = common.time_panel(title, run, (period, Axis(ticks=(), range=(0, 1))), [])
        return replace(empty, note=none, height_share=EMPTY_PANEL_HEIGHT)
    edges = one.start_ps + np.arange(one.counts.shape[1] + 1, dtype=np.int64) * one.step_ps
    values = np.where(one.counts > 0, one.counts, np.nan)
    return common.time_panel(
        title, run, (period, Axis()), [HeatMap(values, edges * measures.SECONDS_PER_PS, one.names)]
    )


def colours_for_counts(largest: float, label: str) -> Colours:
    """Returns the colour scale for counts: logarithmic from two decades on, else linear.

    A logarithmic scale over fewer decades would have too few ticks.
    """
    if largest >= 100:
        return Colours(1, largest, label, log=True, white_zero=True)
    return Colours(0, max(1.0, largest), label, whole_numbers=True, white_zero=True)


def count_window_events(run: RunData, kind: int) -> int:
    """Returns the number of events of one kind in the measurement window, as the results table has it."""
    if kind >= len(PORT_COUNTERS):
        return int(run.column("congestion_points", FRAME_OUTCOMES[kind]).sum())
    names = [f"drop_{reason}" for reason in DROP_REASONS] if kind == 0 else [PORT_COUNTERS[kind]]
    return sum(int(run.column("ports", name).sum()) for name in names)


@dataclass(frozen=True)
class HeatMapValues:
    """Values of a heat map, by row and time step."""

    counts: np.ndarray
    names: list[str]
    start_ps: int
    step_ps: int


def read_event_bins(run: RunData, kind: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns three arrays for one kind of event: time bin, node and count."""
    bins, node, kinds, count = run.columns("activity", "bin", "node", "kind", "count")
    keep = kinds == kind
    return bins[keep], node[keep], count[keep]


def count_all_events(run: RunData, kind: int) -> int:
    """Returns the number of events of a kind over the whole run."""
    return int(read_event_bins(run, kind)[2].sum())


@dataclass(frozen=True)
class HeatMapRows:
    """Rows of a heat map: switches, one row for all other switches, and hosts if `hosts` is set."""

    switches: list[int]
    others: list[int]
    hosts: bool


def select_heat_map_rows(runs: Sequence[RunData], kind: int, most: int) -> HeatMapRows:
    """Returns the rows of the heat map for one kind of event, equal for all variants.

    These are the switches with such events. If there are too many, ends of changed links and the switches
    with the most events are kept.
    """
    own = rank_active_switches(runs, (kind,))
    switches = own[:most] if len(own) > most else own
    if len(own) > most:
        ends = find_changed_nodes(runs)
        switches = sorted(own, key=lambda node: node not in ends)[:most]
    hosts = any(run.is_host[read_event_bins(run, kind)[1]].any() for run in runs)
    return HeatMapRows(sorted(switches), sorted(set(own) - set(switches)), hosts)


def rank_active_switches(runs: Sequence[RunData], kinds: Iterable[int]) -> list[int]:
    """Returns the switches with events of these kinds in any variant, those with most in the window first."""
    inside: dict[int, int] = {}
    every: dict[int, int] = {}
    for run in runs:
        start, end = run.window_ps
        for kind in kinds:
            bins, node, count = read_event_bins(run, kind)
            keep = ~run.is_host[node] & (count > 0)
            at = bins[keep].astype(np.int64) * int(run.summary["bin_ps"])
            measured = ((at >= start) & (at < end)).tolist()
            for one, times, within in zip(node[keep].tolist(), count[keep].tolist(), measured, strict=True):
                every[one] = every.get(one, 0) + times
                inside[one] = inside.get(one, 0) + times * within
    return sorted(every, key=lambda node: (-inside[node], -every[node], node))


def find_changed_nodes(runs: Iterable[RunData]) -> set[int]:
    """Returns the nodes at the ends of links that events change, and the hosts that events change."""
    found: set[int] = set()
    for run in runs:
        names = {str(node["name"]): at for at, node in enumerate(run.summary["nodes"])}
        for change in run.changes:
            parts = [part for sign in ":>" for part in change.link.split(sign)]
            found |= {names[part] for part in parts if part in names}
    return found


def build_event_map(run: RunData, what: tuple[int, HeatMapRows], period: Period) -> HeatMapValues:
    """Returns the heat map of one kind of event: the given switches, the other switches, and hosts."""
    kind, rows = what
    bins, node, count = read_event_bins(run, kind)
    known = [row for row in rows.switches if row < len(run.summary["nodes"])]
    groups = [(run.node_name(row), node == row) for row in known]
    if rows.others:
        name = run.node_name(rows.others[0]) if len(rows.others) == 1 else f"{len(rows.others)} others"
        groups.append((name, np.isin(node, rows.others)))
    if rows.hosts:
        groups.append(("hosts", run.is_host[node]))
    return sum_over_steps(run, (bins, count), groups, period)


def sum_over_steps(
    run: RunData,
    data: tuple[np.ndarray, np.ndarray],
    groups: Sequence[tuple[str, np.ndarray]],
    period: Period,
) -> HeatMapValues:
    """Returns the heat map of amounts in time bins, summed over time steps, with one row for each group."""
    bins, amounts = data
    first, steps, width = period.bin_groups(run, common.MAX_MAP_COLUMNS)
    counts = np.zeros((len(groups), steps))
    for row, (_, keep) in enumerate(groups):
        counts[row] = period.sum_groups(
            run, common.MAX_MAP_COLUMNS, (bins[keep], amounts[keep].astype(np.float64))
        )
    bin_ps = int(run.summary["bin_ps"])
    return HeatMapValues(counts, [name for name, _ in groups], first * bin_ps, width * bin_ps)


def chart_hot_links(results: Results) -> Chart | None:
    """Builds the heat map of the busiest links' utilisation over time, for the first seed of each variant.

    `None` if no run has the table `links`.
    """
    runs = common.first_runs_with_table(results, "links")
    if not runs:
        return None
    rows = rank_busiest_links(runs)[: max(3, rows_per_panel(len(runs)) + 4)]
    period = common.period_of(results, ("links",))
    maps = {variant: build_utilisation_map(run, rows, period) for variant, run in runs.items()}
    panels = [
        heat_map_panel(
            common.run_title(results, variant, run), maps[variant], period, run, "nothing was sent"
        )
        for variant, run in runs.items()
    ]
    step = next(iter(maps.values())).step_ps
    caption = (
        f"Utilisation of the {len(rows)} link directions with the highest load over all variants, first "
        f"seed of each. The colour is the utilisation per bin of {formats.format_time(step)}. A frame "
        "counts, with preamble and gap, in the bin in which its transmission begins. Grey: outside the "
        "measurement window."
    )
    label = f"share of the rate in {formats.format_time(step)}"
    colours = Colours(0, 1, label, kind="share", white_zero=True)
    return chart_of_heat_maps("links", "Hot links", caption, panels, (colours, len(rows)))


Direction = tuple[int, int]  # node and port


def rank_busiest_links(runs: dict[str, RunData]) -> list[Direction]:
    """Returns links, each direction separately, by utilisation over all variants, highest first."""
    sums: dict[Direction, float] = {}
    for run in runs.values():
        rates = port_rates(run)
        node, port, bits = run.columns("links", "node", "port", "bits")
        key = (node.astype(np.uint64) << np.uint64(16)) | port.astype(np.uint64)
        for one, amount in common.sum_by_key([(key, bits)]).items():
            place = (one >> 16, one & 0xFFFF)
            sums[place] = sums.get(place, 0.0) + amount / rates.get(place, np.inf)
    return common.sort_by_amount(sums)[:MAX_LINKS_SHOWN]


def port_rates(run: RunData) -> dict[Direction, float]:
    """Returns the rate of each port in bit/s."""
    node, port, rate = run.columns("ports", "node", "port", "rate_bps")
    return {(int(n), int(p)): float(r) for n, p, r in zip(node, port, rate, strict=True)}


def build_utilisation_map(run: RunData, rows: Sequence[Direction], period: Period) -> HeatMapValues:
    """Returns the heat map of the utilisation of links over time, one row for each given link direction."""
    bins, node, port, bits = run.columns("links", "bin", "node", "port", "bits")
    rates, ends = port_rates(run), find_peers(run)
    groups = [(link_name(run, ends, place), (node == place[0]) & (port == place[1])) for place in rows]
    found = sum_over_steps(run, (bins, bits), groups, period)
    own = np.array([rates.get(place, np.inf) for place in rows])[:, None]
    # A frame counts entirely in the bin in which it begins. A bin may thus exceed the rate; 1 is the cap.
    return replace(
        found, counts=np.minimum(found.counts / (own * (found.step_ps * measures.SECONDS_PER_PS)), 1.0)
    )


def link_name(run: RunData, ends: dict[Direction, int], port: Direction) -> str:
    """Returns the name of a direction of a link: `leaf0 > spine1`."""
    return f"{run.node_name(port[0])} > {run.node_name(ends[port])}" if port in ends else "-"
