"""Figures of bounces: the switches that bounce, the distance of bounces, and total hops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from overspill.charts import common
from overspill.charts.chart_spec import Axis, Bars, Chart, LegendEntry, Line, Mark, Panel
from overspill.results.measures.bouncing import BOUNCES_INDEX, DISTANCE_INDEX, HOPS_INDEX

if TYPE_CHECKING:
    from overspill.results.results import Results

MAX_SWITCHES_SHOWN = 24
MIN_AXIS_CATEGORIES = 5
BAR_GROUP_WIDTH = 0.8  # of the space of a category, for the bars of all variants
BAR_OPACITY = 0.75  # of bars, so that ends of intervals are visible inside


def variants_with_bounces(results: Results) -> list[str]:
    """Returns the variants that bounced any frame."""
    return [
        variant
        for variant in common.variants_with_runs(results)
        if any(run.column("ports", "bounced").any() for run in results.runs_of(variant))
    ]


def chart_bounces_by_switch(results: Results) -> Chart | None:
    """Builds the figure of bounces by switch, means over seeds; `None` if no frame was bounced."""
    variants = variants_with_bounces(results)
    if not variants:
        return None
    counts = {variant: count_bounces_by_switch(results, variant) for variant in variants}
    order = node_positions(results)
    every = sorted({name for found in counts.values() for name in found}, key=lambda name: order[name])
    totals = {name: sum(found.get(name, np.zeros(1)).mean() for found in counts.values()) for name in every}
    most = sorted(every, key=lambda name: (-totals[name], every.index(name)))[:MAX_SWITCHES_SHOWN]
    names = [name for name in every if name in most]
    rows = {
        variant: np.array([found.get(name, np.zeros(len(results.runs_of(variant)))) for name in names]).T
        for variant, found in counts.items()
    }
    marks, means = build_mean_bars(results, rows)
    ticks = tuple((float(at), name) for at, name in enumerate(names))
    left = len(every) - len(names)
    others = (
        (f" Only the {len(names)} switches with most bounces are shown; {left} others are omitted.")
        if left
        else ""
    )
    part = f"{len(names)} of {len(every)} switches, those with most bounces." if left else ""
    caption = (
        "Number of bounces at each switch in the measurement window; a frame counts each time. Switches "
        f"without bounces are omitted.{others} {common.format_seed_count(results, variants)}: {means}."
    )
    panel = Panel(
        "", Axis("switch", ticks=ticks, range=category_axis_range(len(names))), Axis("bounces"), marks
    )
    entries = bar_legend(results, variants)
    told = f"{part} {common.means_over_seeds_note(results, 'Bars: means', variants)}".strip()
    return Chart("bounces-switches", "Bounces by switch", caption, [panel], 1, 3.1, entries, file_note=told)


def build_mean_bars(results: Results, rows: Mapping[str, np.ndarray]) -> tuple[list[Bars], str]:
    """Returns bars for means over each variant's seeds (rows), and a text on what bars and error bars are."""
    marks = []
    for index, (variant, values) in enumerate(rows.items()):
        height, low, high = common.mean_and_interval(values)
        made = build_bars(results, (variant, index, len(rows)), (np.arange(len(height)), height))
        marks.append(
            replace(made, low=low, high=high) if len(values) >= common.MIN_SEEDS_FOR_INTERVALS else made
        )
    with_ends = any(one.low is not None for one in marks)
    return marks, "means and 95% intervals (Student's t)" if with_ends else "means"


def build_bars(results: Results, which: tuple[str, int, int], data: tuple[np.ndarray, np.ndarray]) -> Bars:
    """Returns the bars of one variant, beside those of other variants in each group."""
    variant, index, count = which
    width = BAR_GROUP_WIDTH / count
    x = data[0] + (index - (count - 1) / 2) * width
    look = replace(common.line_style_of_variant(results, variant), opacity=BAR_OPACITY)
    return Bars(x, data[1], width * 0.92, look, variant)


def bar_legend(results: Results, variants: list[str]) -> list[LegendEntry]:
    """Returns the legend entry of each variant, with a square in the colour of its bars."""
    every = common.variant_legend(results, variants)
    return [replace(one, look=replace(one.look, opacity=BAR_OPACITY), symbol="square") for one in every]


def category_axis_range(count: int) -> tuple[float, float]:
    """Returns the range of an axis with `count` categories, wider for few so that bars stay narrow."""
    spare = max(0, MIN_AXIS_CATEGORIES - count) / 2
    return -0.6 - spare, count - 0.4 + spare


def node_positions(results: Results) -> dict[str, int]:
    """Returns the index of each node in the order of the scenario."""
    names = [node["name"] for run in results.runs for node in run.summary["nodes"]]
    return {name: at for at, name in reversed(list(enumerate(names)))}


def count_bounces_by_switch(results: Results, variant: str) -> dict[str, np.ndarray]:
    """Returns bounces by switch name, each as an array with one count for each seed."""
    runs = results.runs_of(variant)
    found: dict[str, np.ndarray] = {}
    for seed, run in enumerate(runs):
        node, count = run.columns("ports", "node", "bounced")
        for one, times in zip(node[count > 0].tolist(), count[count > 0].tolist(), strict=True):
            found.setdefault(run.node_name(one), np.zeros(len(runs)))[seed] += times
    return found


def chart_bounced_packets(results: Results) -> Chart | None:
    """Builds the figure of bounced distance and total hops; `None` if no packet was bounced."""
    variants = variants_with_bounces(results)
    far: list[Mark] = []
    hops: list[Mark] = []
    drawn, most = [], 0
    for index, variant in enumerate(variants):
        values, share = packet_shares(results, variant, DISTANCE_INDEX)
        if not len(values):
            continue
        drawn.append(variant)
        most = max(most, int(values.max()))
        far.append(build_bars(results, (variant, index, len(variants)), (values, share)))
        values, share = packet_shares(results, variant, HOPS_INDEX)
        # The first value is repeated, so that the step curve rises from 0. PABO's totalHop is one less than
        # the number of crossed links.
        x, y = np.append(values[:1], values) - 1, np.append(0.0, np.cumsum(share))
        hops.append(Line(x, y, common.line_style_of_variant(results, variant), variant, "post"))
    if not drawn:
        return None
    ticks = tuple((float(at), f"{at}") for at in range(most + 1))
    panels = [
        Panel(
            "bounced distance",
            Axis("distance back (hops)", ticks=ticks, range=category_axis_range(most + 1)),
            Axis("share of packets", "share", range=(0, 1.02)),
            far,
        ),
        Panel(
            "total hops (totalHop of PABO)",
            Axis("links crossed minus one", whole_numbers=True),
            Axis("share with at most as many", "share", range=(0, 1.02)),
            hops,
        ),
    ]
    caption = (
        "Delivered data packets that were sent in the measurement window. Left: farthest distance that "
        "bounces brought a packet back, 0 for packets that were never bounced. Right: links that a "
        "packet crossed, minus one. These are its visits to switches, and to hosts that sent it again. "
        f"{common.format_seed_count(results, drawn)} and all traffic pooled."
    )
    entries = common.variant_legend(results, drawn)
    told = common.pooled_seeds_note(results, drawn)
    return Chart("bounced", "Bounced packets", caption, panels, 2, 3.1, entries, file_note=told)


def packet_shares(results: Results, variant: str, which: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns values of one packet metric, and the share of data packets with each; empty without packets.

    Workloads without bounces record no distances: their packets count with a distance of 0.
    """
    rows = [run.columns("packet_hist", "data", "metric", "low", "count") for run in results.runs_of(variant)]

    def counts_of(kind: int) -> dict[int, float]:
        kept = [((data != 0) & (metric == kind), low, count) for data, metric, low, count in rows]
        return common.sum_by_key((low[keep], count[keep]) for keep, low, count in kept)

    counts = counts_of(which)
    if which == DISTANCE_INDEX:
        never = sum(counts_of(BOUNCES_INDEX).values()) - sum(counts.values())
        counts[0] = counts.get(0, 0.0) + never
    counts = {value: count for value, count in counts.items() if count}
    if not counts or (which == DISTANCE_INDEX and set(counts) == {0}):
        return np.zeros(0), np.zeros(0)
    values = np.array(sorted(counts), np.float64)
    found = np.array([counts[int(value)] for value in values])
    return values, found / found.sum()
