"""Differences of every variant from a named baseline, metric by metric, at one point or at every point."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from overspill import stats
from overspill.results import rows, tables
from overspill.results.axes import Axis, Point
from overspill.results.key import Key, of_row
from overspill.results.metrics import Metric, find
from overspill.results.rows import AllValues, Cell, Rules

FIELDS = (
    tables.VARIANT,
    pa.field("baseline", pa.string(), False),
    *tables.WHAT,
    pa.field("n", pa.uint32(), False),  # seeds that both have
    pa.field("mean", pa.float64(), False),  # variant minus baseline
    pa.field("low", pa.float64(), False),  # of the Holm-corrected 95% interval; for two seeds the least
    pa.field("high", pa.float64(), False),
    pa.field("differs", pa.bool_(), False),  # true if the interval excludes 0, and no rule forbids a mark
    pa.field("note", pa.string(), False),
)
FILE = "differences.parquet"
NUMBERS = ("n", "mean", "low", "high", "differs", "note")
LEGEND = (
    "Each difference is a variant minus the baseline, paired by seed. * marks those whose "
    "Holm-corrected 95% interval over the variants of a point excludes 0."
)


@dataclass(frozen=True)
class Difference:
    """Difference of a metric from the baseline's, with its interval over `n` seeds, or range for two."""

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
        """Interval, from three seeds on."""
        return (self.low, self.high) if self.n >= stats.FEWEST else None

    @property
    def span(self) -> tuple[float, float] | None:
        """Range, for two seeds."""
        return None if self.n >= stats.FEWEST else (self.low, self.high)

    @property
    def ci95(self) -> float | None:
        """Half-width of the interval."""
        return (self.high - self.low) / 2 if self.n >= stats.FEWEST else None


def of_point(values: AllValues, baseline: str, rules: Rules) -> Iterator[tuple[Key, str, Difference]]:
    """Yields the differences of all metrics at one point, by metric and variant."""
    if baseline not in values or len(values) < 2:
        return
    for key in rows.every_key(values):
        cells = rows.cells_of(values, key)
        exact = {name: known for name, cell in cells.items() if (known := cell.exact) is not None}
        if baseline not in exact:
            continue
        for one, n in stats.from_baseline(exact, baseline):
            pair = {name: cells[name] for name in (baseline, one.variant)}
            made = Difference(n, one.mean, one.low, one.high)
            if n >= stats.FEWEST and one.excludes_zero:
                made = judged(made, (find(key), baseline, one.variant), pair, rules)
            yield key, one.variant, made


def judged(
    one: Difference, what: tuple[Metric, str, str], pair: Mapping[str, Cell], rules: Rules
) -> Difference:
    """Returns a difference whose interval excludes 0, with its mark or the reason against one."""
    metric, baseline, variant = what
    better = one.mean < 0 if metric.better == "lower" else one.mean > 0
    best, other = (variant, baseline) if better else (baseline, variant)
    against = stats.Difference(other, one.mean, one.low, one.high)
    reason = rules.reason(metric, pair, best, [against])
    note = f"no *: {reason}" if reason else rules.unequal.text(metric, rows.samples(pair))
    return Difference(one.n, one.mean, one.low, one.high, not reason, note)


class Table:
    """Table of differences, gathered point by point."""

    def __init__(self, axes: Sequence[Axis], baseline: str) -> None:
        self.builder, self.baseline = tables.Builder(axes, FIELDS), baseline

    def add(self, point: Point, values: AllValues, rules: Rules) -> None:
        """Adds the differences at a point."""
        for key, variant, one in of_point(values, self.baseline, rules):
            numbers = (getattr(one, name) for name in NUMBERS)
            self.builder.add(point, variant, self.baseline, *key.cells, tables.unit(key), *numbers)

    def made(self) -> pa.Table:
        """Returns the table."""
        return self.builder.table()


Place = tuple[str, ...]  # values of the axes, variant


def of_metric(table: pa.Table, axes: Sequence[Any], name: str) -> dict[Place, Difference]:
    """Returns the differences of a metric by point and variant."""
    paths = [axis.path for axis in axes]
    return {
        (*(row[path] for path in paths), row["variant"]): Difference(*(row[name] for name in NUMBERS))
        for row in tables.of_metric(table, name).to_pylist()
    }


def document(row: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a row in the form of the JSON document: an interval, or the range of two seeds."""
    kind = "interval" if row["n"] >= stats.FEWEST else "range"
    found = {"baseline": row["baseline"], "mean": row["mean"], kind: [row["low"], row["high"]]}
    found |= {"seeds": row["n"], "differs": row["differs"]}
    return found | ({"note": row["note"]} if row["note"] else {})


def by_place(table: pa.Table, axes: Sequence[Any]) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Returns the rows in the form of the JSON document, by point, variant and metric."""
    paths = [axis.path for axis in axes]
    return {
        (*(row[path] for path in paths), row["variant"], str(of_row(row))): document(row)
        for row in table.to_pylist()
    }
