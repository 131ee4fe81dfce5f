"""Figures of pauses: paused ports over time, and paused time by tier and class."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from overspill.charts import activity, common
from overspill.charts.activity import HeatMapValues
from overspill.charts.bounces import bar_legend, build_mean_bars, category_axis_range
from overspill.charts.chart_spec import Axis, Chart, Colours, Panel
from overspill.charts.common import Period
from overspill.results import formats, pausable_classes
from overspill.results.measures.saturation import PauseIntervals, find_peers
from overspill.results.rundata import RunData

if TYPE_CHECKING:
    from overspill.results.results import Results

MAX_ROWS_SHOWN = 16
PausedClass = tuple[int, int, int]  # node, port and class


def variants_that_may_pause(results: Results) -> list[str]:
    """Returns the variants in which ports may be paused."""
    return common.variants_with_table(results, "pauses")


def chart_paused_share(results: Results) -> Chart | None:
    """Builds the figure of the share of time that ports were paused, over time, first seeds.

    It shows the ports that were paused longest. `None` if no port was ever paused.
    """
    runs = {variant: results.runs_of(variant)[0] for variant in variants_that_may_pause(results)}
    pauses = {variant: PauseIntervals.from_run(run) for variant, run in runs.items()}
    if not any(len(one.start) for one in pauses.values()):
        return None
    empty = sum(not len(one.start) for one in pauses.values())
    every = rank_longest_paused(list(pauses.values()))
    rows = every[: min(MAX_ROWS_SHOWN, activity.rows_per_panel(len(runs), empty) + 4)]
    period = pause_period(list(pauses.values()))
    several = len({kind for _, _, kind in every}) > 1
    maps = {
        variant: build_pause_map(run, pauses[variant], (rows, period, several))
        for variant, run in runs.items()
    }
    panels = []
    for variant, one in maps.items():
        count = common.format_count(int(runs[variant].column("pauses", "times").sum()), "pause")
        title = f"{common.group_label(results, variant)}: {count} in the window (seed {runs[variant].seed})"
        panels.append(activity.heat_map_panel(title, one, period, runs[variant], "no pauses"))
    step = next(iter(maps.values())).step_ps
    left = len(every) - len(rows)
    caption = (
        f"Pauses of ports by their far ends: one row per port{' and class' if several else ''}, for the "
        f"{len(rows)} that were paused longest over all "
        f"variants{f'; {left} others are omitted' if left else ''}. The colour is the share of "
        f"{formats.format_time(step)} in which the port was paused. First seed of each variant. Grey: "
        "outside "
        "the measurement window."
    )
    colours = Colours(0, 1, f"share of {formats.format_time(step)} paused", kind="share", white_zero=True)
    some = f": the {len(rows)} of {len(every)} that were paused longest" if left else ""
    title = f"Paused ports over time{some}"
    return activity.chart_of_heat_maps("pauses", title, caption, panels, (colours, len(rows)))


def rank_longest_paused(pauses: list[PauseIntervals]) -> list[PausedClass]:
    """Returns ports and classes by the time they were paused in all runs together, longest first."""
    spans = ((np.array([one.node, one.port, one.traffic_class]).T, one.end - one.start) for one in pauses)
    return common.sort_by_amount(common.sum_by_key(spans))


def pause_period(pauses: list[PauseIntervals]) -> Period:
    """Returns the time range from the first pause to the last; it begins at 0 if the first pause is early."""
    some = [one for one in pauses if len(one.start)]
    start, end = min(int(one.start.min()) for one in some), max(int(one.end.max()) for one in some)
    margin = max((end - start) // 40, 1)
    return Period(0 if start < end // 4 else start - margin, end + margin)


def build_pause_map(
    run: RunData, pauses: PauseIntervals, what: tuple[list[PausedClass], Period, bool]
) -> HeatMapValues:
    """Returns the heat map of the share of each time step in which each of these ports was paused."""
    rows, period, several = what
    step = select_step_ps(period)
    first, last = period.start // step, -(-period.end // step)
    edges = np.arange(first, last + 1, dtype=np.int64) * step
    ends = find_peers(run)
    shares, names = np.zeros((len(rows), last - first)), []
    for at, (node, port, kind) in enumerate(rows):
        own = (pauses.node == node) & (pauses.port == port) & (pauses.traffic_class == kind)
        for start, end in zip(pauses.start[own].tolist(), pauses.end[own].tolist(), strict=True):
            shares[at] += np.clip(np.minimum(edges[1:], end) - np.maximum(edges[:-1], start), 0, None)
        names.append(activity.link_name(run, ends, (node, port)) + (f", class {kind}" if several else ""))
    return HeatMapValues(shares / step, names, first * step, step)


def select_step_ps(period: Period) -> int:
    """Returns the shortest time step in ps, 1, 2 or 5 times a power of ten, that gives few enough columns."""
    least = -(-(period.end - period.start) // common.MAX_MAP_COLUMNS)
    power = int(10 ** (len(str(least)) - 1))
    return next(many * power for many in (1, 2, 5, 10) if many * power >= least)


TierClass = tuple[str, int]  # tier and class


def chart_paused_share_by_tier(results: Results) -> Chart | None:
    """Builds the figure of the share of time that ports were paused, by tier and class.

    Values are means over ports and seeds. Tiers and classes without pauses have no bars. The caption names
    them, except lossy classes, which no switch may pause. `None` if no port was paused in the window.
    """
    variants = variants_that_may_pause(results)
    found = {variant: [paused_share_by_tier(run) for run in results.runs_of(variant)] for variant in variants}
    groups = [group for many in found.values() for one in many for group in one.items()]
    paused = {tier for (tier, _), share in groups if share}
    stopped = {kind for (_, kind), share in groups if share}
    if not paused:
        return None
    order = list(dict.fromkeys(str(tier) for run in results.runs for tier in run.tiers))
    every = sorted(
        {group for group, _ in groups if group[0] in paused and group[1] in stopped},
        key=lambda group: (order.index(group[0]), group[1]),
    )
    never = [tier for tier in order if tier not in paused and any(group[0] == tier for group, _ in groups)]
    classes = sorted({kind for (_, kind), _ in groups})
    pausable = find_pausable_classes_of_variants(results, variants)
    idle = [str(kind) for kind in classes if kind in pausable and kind not in stopped]
    told = [f"ports of {formats.format_listing(never, 5)}"] if never else []
    told += [f"class{'es' if len(idle) > 1 else ''} {formats.format_listing(idle, 8)}"] if idle else []
    others = f"Never paused in the window: {'; '.join(told)}." if told else ""
    several = len(classes) > 1
    # A variant without a class or a tier has a share of 0: the class or tier was never paused in it.
    rows = {
        variant: np.array([[one.get(group, 0.0) for group in every] for one in many])
        for variant, many in found.items()
    }
    marks, how = build_mean_bars(results, rows)
    texts = [f"{tier}\nclass {kind}" if several else tier for tier, kind in every]
    ticks = tuple((float(at), text) for at, text in enumerate(texts))
    caption = (
        "Share of the measurement window in which a port was paused by its far end, mean over all ports of "
        f"a tier{' by class' if several else ''}; hosts are paused at their NIC. "
        f"{common.format_seed_count(results, variants)}: {how}. {others}"
    ).rstrip()
    panel = Panel(
        "",
        Axis("tier of the ports", ticks=ticks, range=category_axis_range(len(every))),
        Axis("share of the time paused", "share"),
        marks,
    )
    note = common.means_over_seeds_note(results, "Bars: means over ports, and", variants)
    return Chart(
        "pauses-tiers",
        "Time paused by tier",
        caption,
        [panel],
        1,
        3.1,
        bar_legend(results, variants),
        file_note=f"{note} {others}".rstrip(),
    )


def find_pausable_classes_of_variants(results: Results, variants: list[str]) -> set[int]:
    """Returns the classes that any of these variants may pause."""
    resolved = results.facts.get("resolved", {})
    return {
        number
        for variant in variants
        for number in pausable_classes.find_pausable_classes(resolved.get(variant) or {})
    }


def paused_share_by_tier(run: RunData) -> dict[TierClass, float]:
    """Returns the share of the window that ports were paused, by tier and class, as means over ports."""
    start, end = run.window_ps
    node, kind, paused = run.columns("pauses", "node", "class", "paused_ps")
    if end <= start:
        return {}
    tiers = run.tiers[node.astype(np.int64)]
    found = {}
    for tier in dict.fromkeys(tiers):
        for one in np.unique(kind[tiers == tier]).tolist():
            own = paused[(tiers == tier) & (kind == one)]
            found[str(tier), int(one)] = float(own.astype(np.float64).mean()) / (end - start)
    return found
