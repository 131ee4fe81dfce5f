"""Figures of flows and queries: distributions of completion times, and slowdown by size."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from overspill.charts import axes as words
from overspill.charts import common
from overspill.charts.chart_spec import Axis, Band, Chart, LegendEntry, Line, Mark, Panel, Points
from overspill.results import formats, measures
from overspill.stats import quantiles

if TYPE_CHECKING:
    from overspill.results.results import Results
    from overspill.results.rundata import RunData

MIN_SAMPLES_FOR_TAIL = 10  # fewest samples for a panel of the tail
BINS_PER_DECADE = 4  # bins of sizes per decade
MIN_FLOWS_PER_BIN = 5  # fewest samples of a bin in every seed; a bin with fewer is left out
PERCENTILES = {"p50": 50.0, "p95": 95.0, "p99": 99.0}
HOLLOW_NOTE = (
    "Hollow points: a seed has too few flows for the percentile, or unfinished flows, so that the value is a "
    "lower bound."
)
SUBJECT_NAMES = {"fct": ("Flow", "flows"), "qct": ("Query", "queries")}


def chart_distribution(results: Results, which: str, traffic: int | None = None) -> Chart | None:
    """Builds the figure of the distribution of FCT (`which` = `fct`) or QCT (`qct`), with its tail."""
    samples = {
        variant: pool_completion_times(results, variant, which, traffic)
        for variant in common.variants_with_runs(results)
    }
    samples = {variant: one for variant, one in samples.items() if len(one[0])}
    if not samples:
        return None
    whole: list[Mark] = []
    tail: list[Mark] = []
    entries: list[LegendEntry] = []
    for variant, (values, count) in samples.items():
        k = common.select_curve_samples(len(values))
        x = np.sort(values)[k] * measures.SECONDS_PER_PS
        missing = count - len(values)
        label = common.group_label(results, variant) + (
            f" ({missing} of {count} unfinished)" if missing else ""
        )
        line = common.line_style_of_variant(results, variant)
        entries.append(LegendEntry(variant, label, line))
        # The curve begins at share 0, or a curve of a single sample would have no line.
        steps = np.append(x[:1], x), np.append(0.0, (k + 1) / count)
        whole.append(Line(*steps, line, variant, "post"))
        # The sample itself counts, so that no share is 0, which a logarithmic axis cannot show.
        tail.append(Line(x, (count - k) / count, line, variant, "pre"))
    few = max(len(values) for values, _ in samples.values()) < MIN_SAMPLES_FOR_TAIL
    panels = distribution_panels(which, whole, () if few else tail)
    subject, many = SUBJECT_NAMES[which]
    name = "" if traffic is None else f" of {traffic_name(results, traffic)}"
    counts = sorted({count for _, count in samples.values()})
    pool = f"{formats.format_number(counts[0])}" if len(counts) == 1 else (
        f"{formats.format_number(counts[0])} to {formats.format_number(counts[-1])}"
    )  # fmt: skip
    end = "Left: share of flows that finished within a time. Right: share that took at least that long."
    caption = (
        f"{subject} completion times{name}: {pool} measured {many} per variant, "
        f"{common.format_seed_count(results)} pooled.{'' if few else ' ' + end}"
    )
    key = which if traffic is None else f"{which}-{workload_file_key(results, traffic)}"
    told = common.pooled_seeds_note(results, samples)
    title = f"{subject} completion time{name}"
    return Chart(key, title, caption, panels, len(panels), 3.1, entries, file_note=told)


def distribution_panels(which: str, whole: list[Mark], tail: list[Mark] | tuple[()]) -> list[Panel]:
    """Returns the panels of a distribution and of its tail; without the tail if there are few samples."""
    name, many = which.upper(), SUBJECT_NAMES[which][1]
    low, high = x_range(whole)
    scale, shown = words.time_scale(low, high)
    x = Axis(name, "time", "log" if scale == "log" else "linear", shown)
    panels = [
        Panel("distribution", x, Axis(f"share of {many} finished by then", "share", range=(0, 1.02)), whole)
    ]
    if tail:
        smallest = min(float(mark.y.min()) for mark in tail if isinstance(mark, Line))
        # Whole decades, at least one, since a logarithmic axis has ticks at powers of ten.
        floor = min(0.1, 10 ** math.floor(math.log10(max(smallest, 1e-9)))) * 0.85
        panels.append(
            Panel("tail", x, Axis("share that takes at least this time", "share", "log", (floor, 1.15)), tail)
        )
    return panels


def x_range(marks: list[Mark]) -> tuple[float, float]:
    """Returns the smallest and the largest x coordinate of the lines."""
    every = np.concatenate([mark.x for mark in marks if isinstance(mark, Line)])
    return float(every.min()), float(every.max())


def pool_completion_times(
    results: Results, variant: str, which: str, traffic: int | None
) -> tuple[np.ndarray, int]:
    """Returns completion times in ps of the finished flows or queries of all seeds, and the number of all."""
    done, count = [], 0
    for run in results.runs_of(variant):
        if which == "qct":
            times, open_ended = measures.query_times(run)
        else:
            flows = measures.measured_flows(run)
            keep = is_data_flow(flows)
            keep &= True if traffic is None else flows["traffic"] == traffic
            times, open_ended = flows["time"][keep], flows["open"][keep]
        done.append(np.maximum(times[~open_ended], 1.0))
        count += len(times)
    return (np.concatenate(done) if done else np.zeros(0)), count


def is_data_flow(flows: Mapping[str, np.ndarray]) -> np.ndarray:
    """Returns true for each flow that carries data, false for requests; all true in results without roles."""
    return flows["role"] == 0 if "role" in flows else np.ones(len(flows["time"]), bool)


def traffic_names(results: Results) -> list[str]:
    """Returns the names of the workloads by number."""
    workloads: list[dict[str, Any]] = max(
        (run.summary["traffic"] for run in results.runs), key=len, default=[]
    )
    return [str(workload["name"]) for workload in workloads]


def traffic_name(results: Results, traffic: int) -> str:
    """Returns the name of a workload."""
    return traffic_names(results)[traffic]


def workload_file_key(results: Results, traffic: int) -> str:
    """Returns the name of a workload for use in a file name, with its number if it is not unique."""
    keys = [re.sub(r"[^A-Za-z0-9_]+", "-", name).strip("-").lower() for name in traffic_names(results)]
    own = keys[traffic]
    return own if own and keys.count(own) == 1 else f"{own}-{traffic}".strip("-")


def workloads_with_flows(results: Results) -> list[int]:
    """Returns the numbers of the workloads that have measured data flows."""
    every = [measures.measured_flows(run) for run in results.runs]
    found = [np.unique(flows["traffic"][is_data_flow(flows)]) for flows in every]
    return sorted({int(one) for numbers in found for one in numbers})


def chart_slowdown_by_size(results: Results) -> Chart | None:
    """Builds the figure of slowdown by flow size, a panel per percentile; `None` for a single size."""
    variants = [
        variant for variant in common.variants_with_runs(results) if sized_flows_by_seed(results, variant)
    ]
    data = {variant: sized_flows_by_seed(results, variant) for variant in variants}
    edges = size_bin_edges([sizes for runs in data.values() for sizes, _, _ in runs])
    if len(edges) < 3:
        return None
    curves = {
        name: {variant: compute_binned_curve(data[variant], edges, percent) for variant in variants}
        for name, percent in PERCENTILES.items()
    }
    if not any(len(curve[0]) > 1 for by_variant in curves.values() for curve in by_variant.values()):
        return None
    panels = []
    x = Axis("flow size", "bytes", "log")
    for name, by_variant in curves.items():
        marks = [
            mark
            for variant, curve in by_variant.items()
            for mark in build_size_marks(results, variant, curve)
        ]
        panels.append(Panel(f"{name} of slowdown", x, Axis("slowdown", scale="log"), marks))
    caption = (
        "Slowdown (FCT divided by the FCT of the same flow alone) against flow size, "
        f"{common.format_seed_count(results)}; a percentile is taken per seed and bin of sizes. "
        f"{common.describe_band(results, common.BOOTSTRAP_NOTE)} Hollow points: a seed has too few flows for "
        "the percentile, or unfinished flows, so that the value is a lower bound. Bins with fewer than "
        f"{MIN_FLOWS_PER_BIN} flows in a seed are omitted."
    )
    entries = common.variant_legend(results, variants)
    hollow = HOLLOW_NOTE if has_hollow_points(panels) else ""
    return Chart(
        "slowdown-size",
        "Slowdown by flow size",
        caption,
        panels,
        3,
        3.1,
        entries,
        share_y=True,
        file_note=f"{common.mean_lines_note(results)} {hollow}".strip(),
    )


def has_hollow_points(panels: Iterable[Panel]) -> bool:
    """Returns true if the figure marks any percentile as doubtful, by a hollow point."""
    return any(isinstance(mark, Points) and mark.hollow for panel in panels for mark in panel.marks)


def has_single_size(results: Results) -> bool:
    """Returns true if all flows have one size, so that slowdown by size is not drawn."""
    sizes = [
        one[0]
        for variant in common.variants_with_runs(results)
        for one in sized_flows_by_seed(results, variant)
    ]
    return len(np.unique(np.concatenate(sizes))) == 1 if sizes else False


SizedFlows = tuple[np.ndarray, np.ndarray, np.ndarray]


def sized_flows_by_seed(results: Results, variant: str) -> list[SizedFlows]:
    """Returns sizes in bytes, slowdowns, and flags of lower bounds, for each seed with flows."""
    return [one for one in (read_sized_flows(run) for run in results.runs_of(variant)) if len(one[0])]


def read_sized_flows(run: RunData) -> SizedFlows:
    """Returns sizes in bytes, slowdowns, and flags of lower bounds, of one run."""
    flows = measures.measured_flows(run)
    keep = is_data_flow(flows) & ~flows["owed"]
    ideal = np.maximum(flows["ideal_ps"][keep].astype(np.float64), 1.0)
    return flows["bytes"][keep].astype(np.float64), flows["time"][keep] / ideal, flows["open"][keep]


def size_bin_edges(sizes: list[np.ndarray]) -> np.ndarray:
    """Returns edges of bins of flow sizes: one bin per size if sizes are few, else bins of equal ratio."""
    every = np.unique(np.concatenate(sizes)) if sizes else np.zeros(0)
    every = every[every > 0]
    if len(every) < 2:
        return np.zeros(0)
    if len(every) <= 10:
        middles = np.sqrt(every[1:] * every[:-1])
        return np.concatenate([[every[0] * 0.9], middles, [every[-1] * 1.1]])
    low, high = math.floor(math.log10(every[0]) * BINS_PER_DECADE), math.log10(every[-1]) * BINS_PER_DECADE
    return 10 ** (np.arange(low, math.floor(high) + 2) / BINS_PER_DECADE)


BinnedCurve = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, list[str]]


def compute_binned_curve(seeds: list[SizedFlows], edges: np.ndarray, percent: float) -> BinnedCurve:
    """Returns by bin of flow sizes: size, mean percentile, interval over seeds, doubt flag, hover text."""
    found = []
    for left, right in itertools.pairwise(edges.tolist()):
        parts = [(sizes >= left) & (sizes < right) for sizes, _, _ in seeds]
        counts = [int(part.sum()) for part in parts]
        if min(counts, default=0) < MIN_FLOWS_PER_BIN:
            continue
        values = [
            quantiles.percentile(slow[part], late[part], percent)
            for part, (_, slow, late) in zip(parts, seeds, strict=True)
        ]
        known = [one for one in values if one is not None]
        open_ended = any(one.censored for one in known)
        middle, low, high = common.percentile_interval([one.value for one in known])
        doubtful = open_ended or min(counts) < math.ceil(round(100 / (100 - percent), 6))
        sizes = np.concatenate([one[part] for part, (one, _, _) in zip(parts, seeds, strict=True)])
        size = float(np.exp(np.log(sizes).mean()))
        text = f"{words.format_quantity(left, 'bytes')} to {words.format_quantity(right, 'bytes')}: slowdown "
        text += f"{'> ' if open_ended else ''}{formats.format_trimmed(middle)}"
        text += f"<br>{formats.format_number(min(counts))} flows or more in a seed"
        found.append((size, middle, low, high, doubtful, text))
    if not found:
        return (*(np.zeros(0) for _ in range(5)), [])  # type: ignore[return-value]
    *numbers, texts = zip(*found, strict=True)
    at, middles, lows, highs, doubt = (np.array(one, np.float64) for one in numbers)
    # Slowdowns are at least 1, so the interval of their mean must not reach below 1.
    return at, middles, np.maximum(lows, np.minimum(middles, 1.0)), highs, doubt, list(texts)


def build_size_marks(results: Results, variant: str, curve: BinnedCurve) -> list[Mark]:
    """Returns line, interval band and points of one variant's slowdown by flow size."""
    size, middle, low, high, doubtful, texts = curve
    line = common.line_style_of_variant(results, variant)
    marks: list[Mark] = []
    if len(results.runs_of(variant)) >= common.MIN_SEEDS_FOR_INTERVALS:
        marks.append(Band(size, low, high, line, variant))
    marks.append(Line(size, middle, line, variant))
    for hollow in (False, True):
        keep = (doubtful != 0) == hollow
        if keep.any():
            hover = [text for text, kept in zip(texts, keep, strict=True) if kept]
            marks.append(Points(size[keep], middle[keep], line, variant, hollow=hollow, size=4, hover=hover))
    return marks
