"""Figures of bounces: where packets are bounced, how far back, and how many hops that makes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from overspill.charts import common
from overspill.charts.spec import Axis, Bars, Chart, Entry, Line, Mark, Panel
from overspill.results.measures.bouncing import BOUNCES, DISTANCE, HOPS

if TYPE_CHECKING:
    from overspill.results.results import Results

SWITCHES_SHOWN = 24
CATEGORIES_FROM = 5
ROOM = 0.8  # of the space between categories, for the bars of all variants
OPACITY = 0.75  # of bars, so that ends of intervals show inside


def bouncing(results: Results) -> list[str]:
    """Variants that bounced something."""
    return [
        variant
        for variant in common.with_runs(results)
        if any(run.column("ports", "bounced").any() for run in results.runs_of(variant))
    ]


def by_switch(results: Results) -> Chart | None:
    """How often each switch bounced a frame, mean over seeds; `None` where nothing was bounced."""
    variants = bouncing(results)
    if not variants:
        return None
    counts = {variant: at_switches(results, variant) for variant in variants}
    order = place(results)
    every = sorted({name for found in counts.values() for name in found}, key=lambda name: order[name])
    totals = {name: sum(found.get(name, np.zeros(1)).mean() for found in counts.values()) for name in every}
    most = sorted(every, key=lambda name: (-totals[name], every.index(name)))[:SWITCHES_SHOWN]
    names = [name for name in every if name in most]
    rows = {
        variant: np.array([found.get(name, np.zeros(len(results.runs_of(variant)))) for name in names]).T
        for variant, found in counts.items()
    }
    marks, means = mean_bars(results, rows)
    ticks = tuple((float(at), name) for at, name in enumerate(names))
    left = len(every) - len(names)
    others = f" The {len(names)} switches with most; {left} others are left out." if left else ""
    part = f"{len(names)} of {len(every)} switches, those with most." if left else ""
    caption = (
        "How often each switch bounced a frame in the measurement window; a frame counts every time. "
        "Switches that bounced nothing are left out."
        f"{others} {common.seeds_text(results, variants)}: {means}."
    )
    panel = Panel("", Axis("switch", ticks=ticks, shown=categories(len(names))), Axis("bounces"), marks)
    entries = legend_of_bars(results, variants)
    told = f"{part} {common.means_over(results, 'Bars: means', variants)}".strip()
    return Chart("bounces-switches", "Bounces by switch", caption, [panel], 1, 3.1, entries, told=told)


def mean_bars(results: Results, rows: Mapping[str, np.ndarray]) -> tuple[list[Bars], str]:
    """Bars of each variant's means over seeds, which are its rows, and what they and their ends are."""
    marks = []
    for index, (variant, values) in enumerate(rows.items()):
        height, low, high = common.mean_and_interval(values)
        made = bars(results, (variant, index, len(rows)), (np.arange(len(height)), height))
        marks.append(replace(made, low=low, high=high) if len(values) >= common.INTERVALS_FROM else made)
    with_ends = any(one.low is not None for one in marks)
    return marks, "means and 95% intervals (Student's t)" if with_ends else "means"


def bars(results: Results, which: tuple[str, int, int], data: tuple[np.ndarray, np.ndarray]) -> Bars:
    """Bars of a variant, the n-th of so many beside each other."""
    variant, index, count = which
    width = ROOM / count
    x = data[0] + (index - (count - 1) / 2) * width
    look = replace(common.look(results, variant), opacity=OPACITY)
    return Bars(x, data[1], width * 0.92, look, variant)


def legend_of_bars(results: Results, variants: list[str]) -> list[Entry]:
    """An entry for each of the variants, as its bars are."""
    every = common.legend(results, variants)
    return [replace(one, look=replace(one.look, opacity=OPACITY), symbol="square") for one in every]


def categories(count: int) -> tuple[float, float]:
    """How far the axis of so many goes; few bars are not wide."""
    spare = max(0, CATEGORIES_FROM - count) / 2
    return -0.6 - spare, count - 0.4 + spare


def place(results: Results) -> dict[str, int]:
    """The place of a switch in the order of the scenario's nodes."""
    names = [node["name"] for run in results.runs for node in run.summary["nodes"]]
    return {name: at for at, name in reversed(list(enumerate(names)))}


def at_switches(results: Results, variant: str) -> dict[str, np.ndarray]:
    """Bounces in each seed by the name of the switch."""
    runs = results.runs_of(variant)
    found: dict[str, np.ndarray] = {}
    for seed, run in enumerate(runs):
        node, count = run.columns("ports", "node", "bounced")
        for one, times in zip(node[count > 0].tolist(), count[count > 0].tolist(), strict=True):
            found.setdefault(run.node_name(one), np.zeros(len(runs)))[seed] += times
    return found


def packets(results: Results) -> Chart | None:
    """How far back packets were bounced, and their hops; `None` where nothing was bounced."""
    variants = bouncing(results)
    far: list[Mark] = []
    hops: list[Mark] = []
    drawn, most = [], 0
    for index, variant in enumerate(variants):
        values, share = shares(results, variant, DISTANCE)
        if not len(values):
            continue
        drawn.append(variant)
        most = max(most, int(values.max()))
        far.append(bars(results, (variant, index, len(variants)), (values, share)))
        values, share = shares(results, variant, HOPS)
        # A step begins at its foot.
        x, y = np.append(values[:1], values) - 1, np.append(0.0, np.cumsum(share))
        hops.append(Line(x, y, common.look(results, variant), variant, "post"))
    if not drawn:
        return None
    ticks = tuple((float(at), f"{at}") for at in range(most + 1))
    panels = [
        Panel(
            "bounced distance",
            Axis("how far back (hops)", ticks=ticks, shown=categories(most + 1)),
            Axis("share of packets", "share", shown=(0, 1.02)),
            far,
        ),
        Panel(
            "total hops (totalHop of PABO)",
            Axis("links crossed, less one", whole=True),
            Axis("share with as many or fewer", "share", shown=(0, 1.02)),
            hops,
        ),
    ]
    caption = (
        "Delivered data packets that were sent in the measurement window. Left: the farthest that bounces "
        "ever brought a packet back, 0 for those that were never bounced. Right: the links that a packet "
        "crossed less one, which is the switches that it was at, again each time, and the hosts that sent it "
        "again. "
        f"{common.seeds_text(results, drawn)} and all traffic pooled."
    )
    entries = common.legend(results, drawn)
    told = common.pooled_told(results, drawn)
    return Chart("bounced", "Bounced packets", caption, panels, 2, 3.1, entries, told=told)


def shares(results: Results, variant: str, which: int) -> tuple[np.ndarray, np.ndarray]:
    """Values of data packets, and the share that has each; none where there are none.

    A workload of which nothing was bounced has no distances: its packets are 0 far.
    """
    rows = [run.columns("packet_hist", "data", "metric", "low", "count") for run in results.runs_of(variant)]

    def counted(kind: int) -> dict[int, float]:
        kept = [((data != 0) & (metric == kind), low, count) for data, metric, low, count in rows]
        return common.summed((low[keep], count[keep]) for keep, low, count in kept)

    counts = counted(which)
    if which == DISTANCE:
        never = sum(counted(BOUNCES).values()) - sum(counts.values())
        counts[0] = counts.get(0, 0.0) + never
    counts = {value: count for value, count in counts.items() if count}
    if not counts or (which == DISTANCE and set(counts) == {0}):
        return np.zeros(0), np.zeros(0)
    values = np.array(sorted(counts), np.float64)
    found = np.array([counts[int(value)] for value in values])
    return values, found / found.sum()
