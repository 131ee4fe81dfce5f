"""Findings of a phase check: metrics that change if starts move by less than a frame's time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from overspill import stats
from overspill.results import formats, metrics, summary_tables, table_cells
from overspill.results.line_labels import Line
from overspill.results.metric_key import Key, parse_known_key
from overspill.results.summary_tables import MetricSummary
from overspill.stats.quantiles import Value

MIN_MEAN_SHIFT = 0.01  # of the mean: histograms are known within 0.8%, and a frame's time is no finding
MIN_MEAN_SHIFT_FEW_SEEDS = 0.25  # of the mean, with too few seeds for intervals
MAX_METRICS_NAMED = 6  # metrics that a line names
MAX_ROWS_PER_VARIANT = 12  # rows of the table per variant

ValuesBySeed = Mapping[int, Mapping[Key, Value]]
Facts = Mapping[str, Any]


@dataclass(frozen=True)
class MetricPair:
    """Values of a metric in common seeds, with original and with moved starts."""

    name: Key
    before: Sequence[float]
    after: Sequence[float]

    @property
    def differences(self) -> list[float]:
        """Differences by seed: value with moved starts minus original value."""
        return [
            stats.subtract_ignoring_rounding(new, old)
            for old, new in zip(self.before, self.after, strict=True)
        ]

    @property
    def mean_change(self) -> float:
        """Change of the mean, as a share of the larger mean."""
        means = stats.mean(self.before), stats.mean(self.after)
        return abs(stats.mean(self.differences)) / max(map(abs, means), default=1.0)


def find_differing_metrics(before: ValuesBySeed, after: ValuesBySeed) -> list[MetricPair]:
    """Returns every metric that a phase check changes in any seed, with its values before and after.

    Metrics with lower bounds are left out.
    """
    seeds = [seed for seed in before if seed in after]
    names = dict.fromkeys(name for seed in seeds for name in before[seed])
    for again in metrics.single_size_metrics(names):
        del names[again]
    found = []
    for name in summary_tables.order_metrics({0: dict.fromkeys(names, Value(0.0))}):
        values = [(before[seed].get(name), after[seed].get(name)) for seed in seeds]
        known = [(a, b) for a, b in values if a is not None and b is not None]
        if any(a.censored or b.censored for a, b in known):
            continue
        pair = MetricPair(name, [a.value for a, _ in known], [b.value for _, b in known])
        if any(pair.differences):
            found.append(pair)
    return found


def select_moved(every: Sequence[MetricPair]) -> list[MetricPair]:
    """Returns the metrics that moved by more than chance: beyond their interval, and by a share of the mean.

    With three seeds or more, the paired differences must also differ from 0. They are corrected for the
    number of metrics, since some of many would move so by chance. With fewer, ranges must not overlap, and
    the share is a quarter.
    """
    many = [pair for pair in every if len(pair.before) >= stats.MIN_SEEDS_FOR_INTERVAL]
    sure = stats.benjamini_hochberg([pair.differences for pair in many])
    told = {id(pair) for pair, one in zip(many, sure, strict=True) if one and is_beyond_interval(pair)}
    told |= {
        id(pair) for pair in every if len(pair.before) < stats.MIN_SEEDS_FOR_INTERVAL and is_separated(pair)
    }
    return [pair for pair in every if id(pair) in told]


def is_beyond_interval(pair: MetricPair) -> bool:
    """Returns true if the mean leaves the original interval, and moves by more than `MIN_MEAN_SHIFT`."""
    low, high = metric_interval(pair.name, pair.before) or (0.0, 0.0)
    return pair.mean_change > MIN_MEAN_SHIFT and not low <= stats.mean(pair.after) <= high


def is_separated(pair: MetricPair) -> bool:
    """Returns true if, with few seeds, ranges do not overlap and the mean moves by more than a quarter."""
    gap = max(min(pair.after) - max(pair.before), min(pair.before) - max(pair.after))
    return gap > 0 and pair.mean_change > MIN_MEAN_SHIFT_FEW_SEEDS


def metric_interval(name: Key, values: Sequence[float]) -> stats.Interval | None:
    """Returns the interval of a metric by the rules of the results table."""
    return stats.mean_interval(values, metrics.find_metric(name).order_statistic)


def compare_starts(
    told: Facts, before: Mapping[str, ValuesBySeed], after: Mapping[str, ValuesBySeed]
) -> dict[str, Any]:
    """Returns the findings of a phase check; `told` lists moved, kept and refused workloads, and failures."""
    variants = {}
    for variant in told["moved"]:
        old, new = before.get(variant, {}), after.get(variant, {})
        variants[variant] = {
            "seeds": [seed for seed in old if seed in new],
            "missing": len(old.keys() - new.keys()),
            "metrics": {
                str(pair.name): pair_document(pair) for pair in select_moved(find_differing_metrics(old, new))
            },
        }
    return {**told, "variants": variants}


def pair_document(pair: MetricPair) -> dict[str, Any]:
    """Returns a moved metric as JSON: its unit, and its values before and after."""
    return {
        "unit": metrics.find_metric(pair.name).unit,
        "before": describe_values(pair.name, pair.before),
        "after": describe_values(pair.name, pair.after),
    }


def describe_values(name: Key, values: Sequence[float]) -> dict[str, Any]:
    """Returns mean and interval as JSON; the range for two seeds, neither for one."""
    bounds = metric_interval(name, values) if len(values) >= stats.MIN_SEEDS_FOR_INTERVAL else None
    ends = bounds or ((min(values), max(values)) if len(values) > 1 else None)
    found: dict[str, Any] = {"n": len(values), "mean": stats.mean(values)}
    return found | {"interval" if bounds else "range": None if ends is None else list(ends)}


def finding_lines(facts: Facts) -> list[Line]:
    """Returns the findings of a phase check, variants with moved metrics first."""
    known = facts.get("phase")
    if not known:
        return []
    return [*tie_sensitive_warnings(known), *unmoved_lines(known), *incomplete_check_warnings(known)]


def tie_sensitive_warnings(known: Facts) -> Iterator[Line]:
    """Yields warnings about variants with metrics that moved."""
    for variant, one in known["variants"].items():
        names = rank_metrics(one["metrics"])
        if names:
            named = "; ".join(metrics.find_metric(name).title for name in names[:MAX_METRICS_NAMED])
            named += f"; and {len(names) - MAX_METRICS_NAMED} more" if len(names) > MAX_METRICS_NAMED else ""
            limit = describe_limit(one, "their")
            text = f"{variant}: these metrics changed by more than {limit} {describe_move(known)}: {named}"
            yield Line("SENSITIVE TO TIE-BREAKING", text + few_seeds_caution(one), True)


def unmoved_lines(known: Facts) -> Iterator[Line]:
    """Yields lines on variants in which no metric moved, and on those without anything to move."""
    still = [name for name, one in known["variants"].items() if one["seeds"] and not one["metrics"]]
    if still:
        one = known["variants"][still[0]]
        limit = describe_limit(one, "its")
        text = f"no metric changed by more than {limit} {describe_move(known)}{few_seeds_caution(one)}"
        yield Line("phase check", f"{formats.join_with_and(still)}: {text}")
    scattered = [name for name in known["kept"] if name not in {**known["moved"], **known["refused"]}]
    if scattered:
        text = (
            "no start was moved, since every workload has a jitter of at least "
            f"{format_frame_time(known)}, the time "
            "of a frame"
        )
        yield Line("phase check", f"{formats.join_with_and(scattered)}: {text}")


def incomplete_check_warnings(known: Facts) -> Iterator[Line]:
    """Yields warnings about workloads that could not be moved, and about missing runs of the check."""
    by_reason: dict[str, list[str]] = {}
    for by_name in known["refused"].values():
        for name, why in by_name.items():
            if name not in by_reason.setdefault(why, []):
                by_reason[why].append(name)
    for why, names in by_reason.items():
        yield Line(
            "PHASE CHECK", f"the starts of {formats.join_with_and(names)} cannot be moved: {why}", True
        )
    absent = [name for name, one in known["variants"].items() if one["missing"]]
    if absent:
        runs = sum(known["variants"][name]["missing"] for name in absent)
        reason = f": {known['failures'][0]}" if known["failures"] else ". Run the same command to continue"
        yield Line(
            "PHASE CHECK",
            f"{formats.join_with_and(absent)}: {runs} runs of the check are missing{reason}",
            True,
        )


def format_frame_time(known: Facts) -> str:
    """Formats the transmission time of a frame, by less than which starts were moved."""
    return formats.format_time(known["frame_ps"])


def describe_move(known: Facts) -> str:
    """Describes how far a phase check moved starts: `when starts moved by less than 1.2 us`."""
    return f"when starts moved by less than {format_frame_time(known)}"


def describe_limit(one: Facts, whose: str) -> str:
    """Describes the limit beyond which a metric counts as moved."""
    if len(one["seeds"]) >= stats.MIN_SEEDS_FOR_INTERVAL:
        return f"{whose} own 95% interval"
    return f"{whose} range and {MIN_MEAN_SHIFT_FEW_SEEDS * 100:.0f}% of the mean"


def few_seeds_caution(one: Facts) -> str:
    """Returns the caution about few seeds; empty if there are enough."""
    if len(one["seeds"]) >= stats.MIN_SEEDS_FOR_INTERVAL:
        return ""
    return f". Fewer than {stats.MIN_SEEDS_FOR_INTERVAL} seeds give only a hint"


def rank_metrics(names: Mapping[str, Any]) -> list[str]:
    """Returns metrics with those of the printed results table first."""
    first = {
        name: at for at, name in enumerate((*table_cells.METRICS_WITHOUT_FLOWS, *table_cells.FIRST_METRICS))
    }
    return sorted(names, key=lambda name: first.get(name, len(first)))


@dataclass(frozen=True)
class MovedMetricRow:
    """Table row of a metric that a phase check moved, as text."""

    variant: str
    title: str
    before: str
    after: str


def build_rows(facts: Facts) -> tuple[list[MovedMetricRow], int]:
    """Returns the table rows of moved metrics to print, and the number of rows that are left out."""
    known = facts.get("phase") or {"variants": {}}
    found, more = [], 0
    for variant, one in known["variants"].items():
        names = rank_metrics(one["metrics"])
        found += [build_row(variant, name, one["metrics"][name]) for name in names[:MAX_ROWS_PER_VARIANT]]
        more += len(names[MAX_ROWS_PER_VARIANT:])
    return found, more


def build_row(variant: str, name: str, one: Facts) -> MovedMetricRow:
    """Returns the table row of a moved metric, with both numbers in one unit."""
    both = [metric_summary(name, one[part]) for part in ("before", "after")]
    factor, unit = formats.select_unit(one["unit"], [part.mean for part in both])
    title = formats.title_with_unit(metrics.find_metric(parse_known_key(name)).title, unit)
    return MovedMetricRow(variant, title, *(formats.format_cell(part, factor) for part in both))


def metric_summary(name: str, one: Facts) -> MetricSummary:
    """Returns mean, interval and range of a metric in a form for table cells."""
    within = metrics.find_metric(parse_known_key(name)).resolution * abs(one["mean"])
    bounds, span = one.get("interval"), one.get("range")
    half = (bounds[1] - bounds[0]) / 2 if bounds else None
    low, high = bounds or (None, None)
    two = (span[0], span[1]) if span else None
    return MetricSummary(one["n"], one["mean"], half, low, high, False, within, two)
