"""Differences of every variant from a named baseline, metric by metric, at one point or at every point."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from overspill import stats
from overspill.results import metric_rows, summary_tables
from overspill.results.axes import Axis, Point
from overspill.results.metric_key import Key, key_from_row
from overspill.results.metric_rows import AllValues, ComparisonRules, MetricCell
from overspill.results.metrics import Metric, find_metric

COLUMNS = (
    summary_tables.VARIANT_COLUMN,
    pa.field("baseline", pa.string(), False),
    *summary_tables.METRIC_COLUMNS,
    pa.field("n", pa.uint32(), False),  # seeds that both have
    pa.field("mean", pa.float64(), False),  # variant minus baseline
    pa.field("low", pa.float64(), False),  # of the Holm-corrected 95% interval; for two seeds the least
    pa.field("high", pa.float64(), False),
    pa.field("differs", pa.bool_(), False),  # true if the interval excludes 0, and no rule forbids a mark
    pa.field("note", pa.string(), False),
)
FILE_NAME = "differences.parquet"
NUMBER_COLUMNS = ("n", "mean", "low", "high", "differs", "note")
LEGEND_TEXT = (
    "Each difference is a variant minus the baseline, paired by seed. * marks those whose "
    "Holm-corrected 95% interval over the variants of a point excludes 0."
)


@dataclass(frozen=True)
class Difference:
    """Difference of a metric from the baseline, with its interval over `n` seeds, or its range for two."""

    n: int
    mean: float
    low: float
    high: float
    differs: bool = False
    note: str = ""  # statement beside the mark, or reason against one

    censored = False
    resolution = 0.0

    @property
    def interval(self) -> tuple[float, float] | None:
        """Interval of the difference; `None` for fewer than three seeds."""
        return (self.low, self.high) if self.n >= stats.MIN_SEEDS_FOR_INTERVAL else None

    @property
    def span(self) -> tuple[float, float] | None:
        """Range of the difference in two seeds; `None` for other numbers of seeds."""
        return None if self.n >= stats.MIN_SEEDS_FOR_INTERVAL else (self.low, self.high)

    @property
    def ci95(self) -> float | None:
        """Half-width of the difference's interval; `None` for fewer than three seeds."""
        return (self.high - self.low) / 2 if self.n >= stats.MIN_SEEDS_FOR_INTERVAL else None


def differences_at_point(
    values: AllValues, baseline: str, rules: ComparisonRules
) -> Iterator[tuple[Key, str, Difference]]:
    """Yields the differences of all metrics at one point, by metric and variant."""
    if baseline not in values or len(values) < 2:
        return
    for key in metric_rows.all_metric_keys(values):
        cells = metric_rows.metric_cells(values, key)
        exact = {name: known for name, cell in cells.items() if (known := cell.exact_values) is not None}
        if baseline not in exact:
            continue
        for one, n in stats.differences_from_baseline(exact, baseline):
            pair = {name: cells[name] for name in (baseline, one.variant)}
            made = Difference(n, one.mean, one.low, one.high)
            if n >= stats.MIN_SEEDS_FOR_INTERVAL and one.excludes_zero:
                made = with_verdict(made, (find_metric(key), baseline, one.variant), pair, rules)
            yield key, one.variant, made


def with_verdict(
    one: Difference, what: tuple[Metric, str, str], pair: Mapping[str, MetricCell], rules: ComparisonRules
) -> Difference:
    """Returns a difference with its mark, or with the reason for none; its interval must exclude 0."""
    metric, baseline, variant = what
    better = one.mean < 0 if metric.better == "lower" else one.mean > 0
    best, other = (variant, baseline) if better else (baseline, variant)
    against = stats.Difference(other, one.mean, one.low, one.high)
    reason = rules.reason(metric, pair, best, [against])
    unequal = rules.unequal.describe_differences(metric, metric_rows.count_samples(pair))
    note = f"no *: {reason}" if reason else unequal
    return Difference(one.n, one.mean, one.low, one.high, not reason, note)


class DifferencesBuilder:
    """Builder of the table of differences, which is filled point by point."""

    def __init__(self, axes: Sequence[Axis], baseline: str) -> None:
        self.builder, self.baseline = summary_tables.TableBuilder(axes, COLUMNS), baseline

    def add(self, point: Point, values: AllValues, rules: ComparisonRules) -> None:
        """Adds the differences of all variants at a point."""
        for key, variant, one in differences_at_point(values, self.baseline, rules):
            numbers = (getattr(one, name) for name in NUMBER_COLUMNS)
            self.builder.add(
                point, variant, self.baseline, *key.cells, summary_tables.unit_of_metric(key), *numbers
            )

    def build_table(self) -> pa.Table:
        """Returns the table of all differences added so far."""
        return self.builder.table()


PointAndVariant = tuple[str, ...]  # values of the axes, variant


def differences_of_metric(
    table: pa.Table, axes: Sequence[Any], name: str
) -> dict[PointAndVariant, Difference]:
    """Returns the differences of a metric by point and variant."""
    paths = [axis.path for axis in axes]
    return {
        (*(row[path] for path in paths), row["variant"]): Difference(*(row[name] for name in NUMBER_COLUMNS))
        for row in summary_tables.rows_of_metric(table, name).to_pylist()
    }


def difference_document(row: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a difference as an entry of the JSON document: with its interval, or the range of two seeds."""
    kind = "interval" if row["n"] >= stats.MIN_SEEDS_FOR_INTERVAL else "range"
    found = {"baseline": row["baseline"], "mean": row["mean"], kind: [row["low"], row["high"]]}
    found |= {"seeds": row["n"], "differs": row["differs"]}
    return found | ({"note": row["note"]} if row["note"] else {})


def documents_by_place(table: pa.Table, axes: Sequence[Any]) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Returns differences as entries of the JSON document, by point, variant and metric."""
    paths = [axis.path for axis in axes]
    return {
        (*(row[path] for path in paths), row["variant"], str(key_from_row(row))): difference_document(row)
        for row in table.to_pylist()
    }
