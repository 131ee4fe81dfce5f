"""Tables of a sweep: every value of every run, and means and intervals over seeds."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from overspill import stats
from overspill.atomic_files import replace_file
from overspill.errors import BadInput
from overspill.results import metrics
from overspill.results.axes import Axis, Point
from overspill.results.metric_key import (
    LABELS,
    NO_LABEL,
    Key,
    Label,
    key_from_cells,
    key_from_row,
    parse_known_key,
)
from overspill.results.metric_names import parse_metric, unknown_metric_error
from overspill.stats import bootstrap
from overspill.stats.quantiles import Value

VARIANT_COLUMN = pa.field("variant", pa.string(), False)
METRIC_COLUMNS = (
    pa.field("metric", pa.string(), False),
    pa.field("by", pa.string(), False),  # label that distinguishes the part: traffic, size, reason, ...
    pa.field("of", pa.string(), False),  # value of that label; both empty for all samples
    pa.field("unit", pa.string(), False),
)
VALUE_COLUMNS = (
    VARIANT_COLUMN,
    pa.field("seed", pa.uint64(), False),
    *METRIC_COLUMNS,
    pa.field("value", pa.float64(), False),
    pa.field("censored", pa.bool_(), False),
)
SUMMARY_COLUMNS = (
    VARIANT_COLUMN,
    *METRIC_COLUMNS,
    pa.field("n", pa.uint32(), False),
    pa.field("mean", pa.float64(), False),
    pa.field("ci95", pa.float64()),
    pa.field("low", pa.float64()),
    pa.field("high", pa.float64()),
    pa.field("censored", pa.bool_(), False),
)
METRICS_FILE, MEANS_FILE = "sweep.parquet", "summary.parquet"
TABLE_FILES = (METRICS_FILE, "sweep.csv", MEANS_FILE, "summary.csv")
FORMULA_PATTERN = r"^[=+\-@\t\r]"  # first character of a cell that spreadsheets compute
NUMBER_PATTERN = r"^[+-]?[0-9]+(\.[0-9]*)?(e[+-]?[0-9]+)?$"
ROWS_PER_BATCH = 50_000  # rows gathered before they become columns

NUMBER_COLUMNS = ("n", "mean", "ci95", "low", "high", "censored")  # columns of a summary

ValuesBySeed = Mapping[int, Mapping[Key, Value]]  # seed -> metric -> value


@dataclass(frozen=True)
class MetricSummary:
    """Metric over seeds; `ci95` is the half-width of its 95% interval.

    There is no interval with fewer than three seeds, or if a value is censored.
    """

    n: int
    mean: float
    ci95: float | None
    low: float | None
    high: float | None
    censored: bool
    resolution: float = 0.0  # possible error of the mean, since its values are midpoints of buckets
    span: bootstrap.Interval | None = None  # least and largest value if there are two

    @property
    def interval(self) -> bootstrap.Interval | None:
        """95% interval of the metric's mean, if there is one."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    @staticmethod
    def from_row(row: Mapping[str, Any], span: bootstrap.Interval | None = None) -> "MetricSummary":
        """Converts a row of the table of means to a summary; `span` is the range of two values."""
        within = metrics.REGISTRY[key_from_row(row).registered].resolution
        numbers = {name: row[name] for name in NUMBER_COLUMNS}
        return MetricSummary(**numbers, resolution=within * abs(row["mean"]), span=span)


def summarise_values(values: Sequence[Value], interval: bootstrap.Interval | None) -> MetricSummary:
    """Returns the mean over seeds, and its interval unless any value is a lower bound."""
    known, censored = [one.value for one in values], any(one.censored for one in values)
    if censored or interval is None:
        return MetricSummary(len(known), stats.mean(known), None, None, None, censored)
    low, high = interval
    return MetricSummary(len(known), stats.mean(known), (high - low) / 2, low, high, False)


def confidence_intervals(samples: Sequence[tuple[Key, Sequence[Value]]]) -> list[bootstrap.Interval | None]:
    """Returns the interval of each metric's values; samples of equal length are bootstrapped together.

    The metrics that are bootstrapped are those of `overspill run`.
    """
    found: list[bootstrap.Interval | None] = []
    resampled: dict[int, list[int]] = {}
    for at, (metric, values) in enumerate(samples):
        known = [one.value for one in values]
        found.append(stats.mean_interval(known) if len(known) >= stats.MIN_SEEDS_FOR_INTERVAL else None)
        if metrics.find_metric(metric).order_statistic and len(known) >= stats.MIN_SEEDS_FOR_BOOTSTRAP:
            resampled.setdefault(len(known), []).append(at)
    for places in resampled.values():
        rows = [[one.value for one in samples[at][1]] for at in places]
        for at, made in zip(places, bootstrap.bca_intervals(rows, [stats.CONFIDENCE_LEVEL]), strict=True):
            found[at] = made[0] or found[at]
    return found


class TableBuilder:
    """Builder of a table that stores rows in batches of columns, which saves memory."""

    def __init__(self, axes: Sequence[Axis], fields: Sequence[pa.Field]) -> None:
        names = [pa.field(axis.path, pa.string(), False) for axis in axes]
        self.schema = pa.schema([*names, *fields])
        self.rows: list[tuple[object, ...]] = []
        self.batches: list[pa.RecordBatch] = []

    def add(self, point: Point, *cells: object) -> None:
        """Adds a row to the table."""
        self.rows.append((*point.values.values(), *cells))
        if len(self.rows) >= ROWS_PER_BATCH:
            self.flush()

    def flush(self) -> None:
        """Turns the rows added so far into a batch of columns."""
        columns = zip(*self.rows, strict=True)
        arrays = [pa.array(column, field.type) for column, field in zip(columns, self.schema, strict=True)]
        self.batches.append(pa.record_batch(arrays, schema=self.schema))
        self.rows.clear()

    def table(self) -> pa.Table:
        """Returns the table of all rows."""
        if self.rows:
            self.flush()
        return pa.Table.from_batches(self.batches, self.schema).combine_chunks()


def build_tables(
    axes: Sequence[Axis], runs: Iterable[tuple[Point, str, ValuesBySeed]]
) -> tuple[pa.Table, pa.Table]:
    """Returns the tables of values and of summaries, ordered by points, variants, seeds and metrics."""
    values, summary = TableBuilder(axes, VALUE_COLUMNS), TableBuilder(axes, SUMMARY_COLUMNS)
    places: list[tuple[Point, str]] = []
    samples: list[tuple[Key, Sequence[Value]]] = []
    for point, variant, by_seed in runs:
        for seed, found in by_seed.items():
            for name, one in found.items():
                values.add(point, variant, seed, *name.cells, unit_of_metric(name), one.value, one.censored)
        for name in order_metrics(by_seed):
            places.append((point, variant))
            samples.append((name, [found[name] for found in by_seed.values() if name in found]))
    every = {name for name, _ in samples}
    again = metrics.single_size_metrics(every)
    kept = [at for at, (name, _) in enumerate(samples) if name not in again]
    places, samples = [places[at] for at in kept], [samples[at] for at in kept]
    for (point, variant), (name, known), interval in zip(
        places, samples, confidence_intervals(samples), strict=True
    ):
        made = summarise_values(known, interval)
        cells = (made.n, made.mean, made.ci95, made.low, made.high, made.censored)
        summary.add(point, variant, *name.cells, unit_of_metric(name), *cells)
    return without_metrics(values.table(), again), summary.table()


RowIdentity = tuple[str, ...]  # values of the axes, variant, metric, by, of


def identity_columns(table: pa.Table) -> list[str]:
    """Returns the columns of a table of summaries that identify a row."""
    return list(table.column_names[: table.column_names.index("unit")])


def two_seed_ranges(values: pa.Table, summary: pa.Table) -> dict[RowIdentity, bootstrap.Interval]:
    """Returns the range of each metric with values in exactly two seeds, by its `identity_columns`."""
    if 2 not in summary.column("n").unique().to_pylist():
        return {}
    import pyarrow.compute as compute

    names = identity_columns(summary)
    bounds = values.group_by(names).aggregate([("value", "count"), ("value", "min"), ("value", "max")])
    two = bounds.filter(compute.equal(bounds.column("value_count"), 2))
    keys = zip(*(two.column(name).to_pylist() for name in names), strict=True)
    ends = zip(two.column("value_min").to_pylist(), two.column("value_max").to_pylist(), strict=True)
    return dict(zip(keys, ends, strict=True))


def without_metrics(table: pa.Table, names: set[Key]) -> pa.Table:
    """Returns a table without the rows of the given metrics."""
    if not names:
        return table
    import pyarrow.compute as compute  # slow to load, and needed for sweeps only

    for by, of in {(key.by, key.of) for key in names}:
        # All metrics of a size bin are removed together, so the label identifies them.
        mine = compute.and_(compute.equal(table.column("by"), by), compute.equal(table.column("of"), of))
        table = table.filter(compute.invert(mine))
    return table.combine_chunks()


def rows_of_metric(table: pa.Table, name: str, label: Label = NO_LABEL) -> pa.Table:
    """Returns the rows of a metric, for all samples or for the part that a label names.

    The name may contain the label, as in files: `fct_p99[size=0-100KB]`.
    """
    import pyarrow.compute as compute

    key = parse_requested_key(name, label)
    if key.by and not key.of:
        groups = table.filter(compute.equal(table.column("by"), "traffic"))
        key = parse_metric(name, groups.column("of").unique().to_pylist())
    if key.by and key.by not in {*LABELS, *table.column("by").unique().to_pylist()}:
        raise BadInput(f"metric: {name}: found the label {key.by}; expected one of {', '.join(LABELS)}")
    keep = compute.equal(table.column("metric"), key.metric)
    for column, text in (("by", key.by), ("of", key.of)):
        if column in table.column_names:
            keep = compute.and_(keep, compute.equal(table.column(column), text))
    return table.filter(keep)


def parse_requested_key(name: str, label: Label) -> Key:
    """Returns the key of a name and a label from a user; raises `BadInput` if there is no such metric."""
    if not isinstance(name, str) or len(label) > 1 or not all(isinstance(of, str) for of in label.values()):
        raise BadInput(f"metric: found {name!r} with {label}; expected a name, and one label with a text")
    try:
        key = Key(name, **label) if label else parse_known_key(name)
    except ValueError as error:
        raise BadInput(f"metric: {error}") from None
    if metrics.registered_name(key) not in metrics.REGISTRY:
        raise unknown_metric_error(metrics.registered_name(key), key, "metric")
    return key


def list_metrics(table: pa.Table) -> list[Key]:
    """Returns every metric of a table, in its order."""
    columns = (table.column(name).to_pylist() for name in ("metric", "by", "of"))
    return [key_from_cells(*row) for row in dict.fromkeys(zip(*columns, strict=True))]


@lru_cache(maxsize=4096)
def unit_of_metric(name: str) -> str:
    """Returns the unit of a metric."""
    return metrics.find_metric(name).unit


@lru_cache(maxsize=4096)
def samples_needed(name: str) -> int:
    """Returns the number of samples that a percentile needs to differ from the maximum; 0 otherwise."""
    return metrics.samples_needed(name)


def order_metrics(by_seed: ValuesBySeed) -> Iterator[Key]:
    """Yields every metric that any seed has, in the order of the registry."""
    place = {name: at for at, name in enumerate(metrics.REGISTRY)}
    names = dict.fromkeys(name for found in by_seed.values() for name in found)
    yield from sorted(names, key=lambda name: place[name.registered])


def escape_formula(text: str) -> str:
    """Returns a text with an apostrophe in front if a spreadsheet would take it for a formula."""
    return f"'{text}" if re.search(FORMULA_PATTERN, text) and not re.search(NUMBER_PATTERN, text) else text


def escape_formulas(table: pa.Table) -> pa.Table:
    """Returns a table with an apostrophe before texts that spreadsheets would take for formulas.

    Numbers stay as they are.
    """
    import pyarrow.compute as compute

    for at, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            texts = table.column(at)
            formula = compute.match_substring_regex(texts, FORMULA_PATTERN)
            number = compute.match_substring_regex(texts, NUMBER_PATTERN)
            marked = compute.binary_join_element_wise("'", texts, "")
            safe = compute.if_else(compute.and_not(formula, number), marked, texts)
            table = table.set_column(at, field, safe)
    return table


def with_labels(table: pa.Table, labels: Mapping[str, str]) -> pa.Table:
    """Returns a table with a column of variants' labels after their names; unchanged without labels."""
    if not labels:
        return table
    texts = [labels.get(name, name) for name in table.column("variant").to_pylist()]
    return table.add_column(
        table.schema.get_field_index("variant") + 1, "label", pa.array(texts, pa.string())
    )


def write_parquet_and_csv(table: pa.Table, path: Path, labels: Mapping[str, str]) -> list[Path]:
    """Writes a table as Parquet and, with the labels of its variants, as CSV; returns both files."""
    import pyarrow.csv as pc

    files = [path.with_suffix(".parquet"), path.with_suffix(".csv")]
    for file in files:
        with replace_file(file) as new:
            if file.suffix == ".parquet":
                pq.write_table(table, new, compression="zstd")
            else:
                pc.write_csv(escape_formulas(with_labels(table, labels)), new)
    return files
