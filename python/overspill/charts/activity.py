"""Figures of events by place and time: drops, marks, detours, bounces, trims, CNMs, and busy links."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from overspill.charts import common
from overspill.charts.common import Period
from overspill.charts.spec import Axis, Chart, Colours, Heat, Panel
from overspill.results import formats, measures
from overspill.results.measures.saturation import peers
from overspill.results.names import FATES, REASONS
from overspill.results.rundata import RunData

if TYPE_CHECKING:
    from overspill.results.results import Results

DOING = (
    *(f"Frames {done}" for done in ("dropped", "marked", "detoured", "bounced", "cut")),
    "Congestion messages (CNMs) created",
)
PORT_COUNTERS = ("", "marked", "detoured", "bounced", "trimmed")  # other kinds have a table of their own
TITLES = {"cnms": "Congestion messages"}  # for events whose name is not a title
SWITCHES_SHOWN = 12
LOW = 1 / 2  # height of an empty panel relative to the others
LINKS_SHOWN = 12
ENOUGH = 8  # rows of a map that suffice to describe a network


def over_time(results: Results, kind: int) -> Chart | None:
    """Builds the figure of drops, marks, detours, bounces, trims or CNMs (0 to 5) by switch and time.

    It shows the first seed of each variant; `None` if there are no such events.
    """
    runs = common.first_runs(results)
    busy = [run for run in runs.values() if total(run, kind)]
    if not busy:
        return None
    columns = columns_of(list(runs.values()), kind, len(runs) - len(busy))
    rows = rows_of(list(runs.values()), kind, room(len(runs), len(runs) - len(busy), columns))
    period = common.period_of(results)
    maps = {variant: grid(run, (kind, rows), period) for variant, run in runs.items()}
    step = next(one.step_ps for variant, one in maps.items() if total(runs[variant], kind))
    largest = max(float(one.counts.max(initial=0)) for one in maps.values())
    panels = []
    for variant, one in maps.items():
        run = runs[variant]
        count = formats.number(counted(run, kind))
        title = f"{common.label(results, variant)}: {count} {FATES[kind]} in the window (seed {run.seed})"
        panels.append(map_panel(title, one, period, run, f"no {FATES[kind]}"))
    changed = " and the ends of links that change" if any(run.changes for run in busy) else ""
    most = (
        f", for the switches with the largest counts in the window over all variants{changed}, and one "
        "for all others together"
    )
    which = most if rows.others else ""
    caption = (
        f"{DOING[kind]}, by switch and time. One row per switch{which}; the rows are the same in every "
        f"panel. The colour is the count in {formats.time(step)}. First seed of each variant. Grey: "
        "outside the measurement window."
    )
    colours = scale(largest, f"{FATES[kind]} in {formats.time(step)}")
    names = max(len(one.names) for one in maps.values())
    return stacked(
        FATES[kind],
        f"{TITLES.get(FATES[kind], FATES[kind].capitalize())} by switch and time",
        caption,
        panels,
        (colours, names),
        columns,
    )


def stacked(
    name: str,
    title: str,
    caption: str,
    panels: list[Panel],
    drawn: tuple[Colours, int],
    columns: int | None = None,
) -> Chart:
    """Returns maps below each other with one scale of colours; low maps keep enough height for titles."""
    colours, names = drawn
    columns = columns or common.columns_of(len(panels))
    made = Chart(name, title, caption, panels, columns, colours=colours, share_x=True, down=True)
    return replace(made, height=min(max(1.2, 0.6 + 0.2 * names), common.TALLEST / sum(made.weights)))


def columns_of(runs: Sequence[RunData], kind: int, low: int) -> int:
    """Returns the columns of maps: one, or two if one below the other leaves too few rows of names."""
    columns = common.columns_of(len(runs))
    fewest = min(len(active(runs, (kind,))), ENOUGH)
    return 2 if columns == 1 and len(runs) > 2 and room(len(runs), low) < fewest else columns


def room(panels: int, low: int = 0, columns: int | None = None) -> int:
    """Returns the rows of names that fit into a panel, if `low` of the panels are low ones."""
    columns = columns or common.columns_of(panels)
    weight = panels - low * (1 - LOW) if columns == 1 else -(-panels // columns)
    height = common.TALLEST / weight
    return max(1, min(SWITCHES_SHOWN, int((height - 0.7) / 0.2) - 2))


def map_panel(title: str, one: Grid, period: Period, run: RunData, none: str) -> Panel:
    """Returns a panel with a map, or with a note if the map is empty."""
    if not one.counts.size or not np.nansum(one.counts):
        empty = common.panel_of(title, run, (period, Axis(ticks=(), shown=(0, 1))), [])
        return replace(empty, note=none, share=LOW)
    edges = one.start_ps + np.arange(one.counts.shape[1] + 1, dtype=np.int64) * one.step_ps
    values = np.where(one.counts > 0, one.counts, np.nan)
    return common.panel_of(title, run, (period, Axis()), [Heat(values, edges * measures.PS, one.names)])


def scale(largest: float, label: str) -> Colours:
    """Returns the scale of colours of counts: logarithmic from two decades on, else linear.

    A logarithmic scale over fewer decades would have too few ticks.
    """
    if largest >= 100:
        return Colours(1, largest, label, log=True, zero=True)
    return Colours(0, max(1.0, largest), label, whole=True, zero=True)


def counted(run: RunData, kind: int) -> int:
    """Returns the number of events of a kind in the measurement window, as in the table."""
    if kind >= len(PORT_COUNTERS):
        return int(run.column("congestion_points", FATES[kind]).sum())
    names = [f"drop_{reason}" for reason in REASONS] if kind == 0 else [PORT_COUNTERS[kind]]
    return sum(int(run.column("ports", name).sum()) for name in names)


@dataclass(frozen=True)
class Grid:
    """Counts by row and time step."""

    counts: np.ndarray
    names: list[str]
    start_ps: int
    step_ps: int


def events(run: RunData, kind: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns bins, nodes and counts of one kind of event."""
    bins, node, kinds, count = run.columns("activity", "bin", "node", "kind", "count")
    keep = kinds == kind
    return bins[keep], node[keep], count[keep]


def total(run: RunData, kind: int) -> int:
    """Returns the number of events of a kind over the whole run."""
    return int(events(run, kind)[2].sum())


@dataclass(frozen=True)
class Rows:
    """Rows of a map: switches, the others in one row, and hosts if `hosts` is set."""

    switches: list[int]
    others: list[int]
    hosts: bool


def rows_of(runs: Sequence[RunData], kind: int, most: int) -> Rows:
    """Returns the rows for one kind of event, equal for all variants.

    These are the switches with such events. If there are too many, ends of changed links and the switches
    with the most events are kept.
    """
    own = active(runs, (kind,))
    switches = own[:most] if len(own) > most else own
    if len(own) > most:
        ends = changed_ends(runs)
        switches = sorted(own, key=lambda node: node not in ends)[:most]
    hosts = any(run.is_host[events(run, kind)[1]].any() for run in runs)
    return Rows(sorted(switches), sorted(set(own) - set(switches)), hosts)


def active(runs: Sequence[RunData], kinds: Iterable[int]) -> list[int]:
    """Returns the switches with events of these kinds in any variant, those with most in the window first."""
    inside: dict[int, int] = {}
    every: dict[int, int] = {}
    for run in runs:
        start, end = run.window_ps
        for kind in kinds:
            bins, node, count = events(run, kind)
            keep = ~run.is_host[node] & (count > 0)
            at = bins[keep].astype(np.int64) * int(run.summary["bin_ps"])
            measured = ((at >= start) & (at < end)).tolist()
            for one, times, within in zip(node[keep].tolist(), count[keep].tolist(), measured, strict=True):
                every[one] = every.get(one, 0) + times
                inside[one] = inside.get(one, 0) + times * within
    return sorted(every, key=lambda node: (-inside[node], -every[node], node))


def changed_ends(runs: Iterable[RunData]) -> set[int]:
    """Returns the nodes at the ends of links that events of the scenario take down or change."""
    found: set[int] = set()
    for run in runs:
        names = {str(node["name"]): at for at, node in enumerate(run.summary["nodes"])}
        for change in run.changes:
            parts = [part for sign in ":>" for part in change.link.split(sign)]
            found |= {names[part] for part in parts if part in names}
    return found


def grid(run: RunData, what: tuple[int, Rows], period: Period) -> Grid:
    """Returns the map of one kind of event: the given switches, the other switches, and hosts."""
    kind, rows = what
    bins, node, count = events(run, kind)
    known = [row for row in rows.switches if row < len(run.summary["nodes"])]
    groups = [(run.node_name(row), node == row) for row in known]
    if rows.others:
        name = run.node_name(rows.others[0]) if len(rows.others) == 1 else f"{len(rows.others)} others"
        groups.append((name, np.isin(node, rows.others)))
    if rows.hosts:
        groups.append(("hosts", run.is_host[node]))
    return grid_of(run, (bins, count), groups, period)


def grid_of(
    run: RunData,
    data: tuple[np.ndarray, np.ndarray],
    groups: Sequence[tuple[str, np.ndarray]],
    period: Period,
) -> Grid:
    """Returns amounts by bin, summed over time steps, for each named group of rows."""
    bins, amounts = data
    first, steps, width = period.bins(run, common.COLUMNS_SHOWN)
    counts = np.zeros((len(groups), steps))
    for row, (_, keep) in enumerate(groups):
        counts[row] = period.sums(run, common.COLUMNS_SHOWN, (bins[keep], amounts[keep].astype(np.float64)))
    bin_ps = int(run.summary["bin_ps"])
    return Grid(counts, [name for name, _ in groups], first * bin_ps, width * bin_ps)


def hot_links(results: Results) -> Chart | None:
    """Builds the figure of the utilisation of the busiest links over time, first seeds.

    `None` if no run has the table `links`.
    """
    runs = common.with_rows(results, "links")
    if not runs:
        return None
    rows = busiest_links(runs)[: max(3, room(len(runs)) + 4)]
    period = common.period_of(results, ("links",))
    maps = {variant: used(run, rows, period) for variant, run in runs.items()}
    panels = [
        map_panel(common.title_of(results, variant, run), maps[variant], period, run, "nothing was sent")
        for variant, run in runs.items()
    ]
    step = next(iter(maps.values())).step_ps
    caption = (
        f"Utilisation of the {len(rows)} link directions with the highest load over all variants, first "
        f"seed of each. The colour is the utilisation in {formats.time(step)}; frames count with "
        "preamble and gap when their transmission begins. Grey: outside the measurement window."
    )
    label = f"share of the rate in {formats.time(step)}"
    colours = Colours(0, 1, label, kind="share", zero=True)
    return stacked("links", "Hot links", caption, panels, (colours, len(rows)))


Direction = tuple[int, int]  # node and port


def busiest_links(runs: dict[str, RunData]) -> list[Direction]:
    """Returns directions of links by utilisation over all variants, highest first."""
    sums: dict[Direction, float] = {}
    for run in runs.values():
        rates = rates_of(run)
        node, port, bits = run.columns("links", "node", "port", "bits")
        key = (node.astype(np.uint64) << np.uint64(16)) | port.astype(np.uint64)
        for one, amount in common.summed([(key, bits)]).items():
            place = (one >> 16, one & 0xFFFF)
            sums[place] = sums.get(place, 0.0) + amount / rates.get(place, np.inf)
    return common.most_first(sums)[:LINKS_SHOWN]


def rates_of(run: RunData) -> dict[Direction, float]:
    """Returns the rate of each port in bit/s."""
    node, port, rate = run.columns("ports", "node", "port", "rate_bps")
    return {(int(n), int(p)): float(r) for n, p, r in zip(node, port, rate, strict=True)}


def used(run: RunData, rows: Sequence[Direction], period: Period) -> Grid:
    """Returns the map of the utilisation of these directions of links."""
    bins, node, port, bits = run.columns("links", "bin", "node", "port", "bits")
    rates, ends = rates_of(run), peers(run)
    groups = [(link_name(run, ends, place), (node == place[0]) & (port == place[1])) for place in rows]
    found = grid_of(run, (bins, bits), groups, period)
    own = np.array([rates.get(place, np.inf) for place in rows])[:, None]
    # A frame counts entirely in the bin in which it begins, so a bin may exceed the rate.
    return replace(found, counts=np.minimum(found.counts / (own * (found.step_ps * measures.PS)), 1.0))


def link_name(run: RunData, ends: dict[Direction, int], port: Direction) -> str:
    """Returns the name of a direction of a link: `leaf0 > spine1`."""
    return f"{run.node_name(port[0])} > {run.node_name(ends[port])}" if port in ends else "-"
