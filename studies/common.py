"""Shared code of the studies: means and paired differences as rows, in CSV and in the page's tables."""

import argparse
import csv
import gzip
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from overspill import Results, metrics, plots, stats

STUDIES = Path(__file__).resolve().parent
BOUND_SUFFIXES = ("", "_low", "_high")
NUMBERS_FILE = "numbers.csv.gz"  # rows of a study, in its folder
Difference = tuple[float, float, float]  # mean, low, high of a difference
TableLine = dict[str, Any]  # line of a sweep's table


class Case(Protocol):
    """Configuration of a study, with its variant: a frozen dataclass of strings."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def variant(self) -> str:
        """Name of the variant in this configuration."""


CaseType = TypeVar("CaseType", bound=Case)


@dataclass(frozen=True)
class Row(Generic[CaseType]):
    """Mean over seeds of a metric in one configuration, with paired differences from references (Holm)."""

    case: CaseType
    metric: str
    unit: str
    n: int
    mean: float
    ci95: float
    low: float
    high: float
    differences: Mapping[str, Difference]

    @property
    def display_factor(self) -> float:
        """Factor from the metric's unit to the unit shown: ms for times, percent for shares, else 1."""
        return 1e3 if self.unit == "s" else 100.0 if self.is_share else 1.0

    @property
    def is_share(self) -> bool:
        """True if the metric is a share, which is shown in percent."""
        return self.metric.endswith(("_share", "_ratio")) or self.metric.startswith(
            ("link_utilisation", "paused_fraction")
        )

    @property
    def displayed_mean(self) -> float:
        """Mean in the unit that tables show."""
        return self.mean * self.display_factor

    def differs(self, reference: str) -> bool:
        """Returns true if the difference from a reference is significant: its interval excludes 0."""
        found = self.differences.get(reference)
        return found is not None and (found[1] > 0 or found[2] < 0)


@dataclass(frozen=True)
class Study(Generic[CaseType]):
    """Metrics, references and groups of comparisons of a study.

    `reference` returns the case of a reference; `family` names the comparisons that Holm's method corrects
    together.
    """

    case: type[CaseType]
    metrics: Sequence[str]
    references: Sequence[str]
    reference: Callable[[CaseType, str], CaseType]
    family: Callable[[CaseType, str], tuple[str, ...]]

    def rows(
        self,
        table: Iterable[TableLine],
        summary: Iterable[TableLine],
        case_of: Callable[[TableLine], CaseType],
    ) -> list[Row[CaseType]]:
        """Returns a row for each metric of each configuration, with differences from the references."""
        values: dict[CaseType, dict[str, dict[int, float]]] = {}
        for one in self.select_lines(table):
            by_seed = values.setdefault(case_of(one), {}).setdefault(one["metric"], {})
            by_seed[one["seed"]] = one["value"]
        less = self.compute_differences(values)
        found: dict[tuple[CaseType, str], Row[CaseType]] = {}
        for one in self.select_lines(summary):
            key = (case_of(one), one["metric"])
            if one["ci95"] is not None and key not in found:
                mean, half, low, high = (one[name] for name in ("mean", "ci95", "low", "high"))
                found[key] = Row(*key, one["unit"], one["n"], mean, half, low, high, less.get(key, {}))
        order = {case: at for at, case in enumerate(values)}
        keys = sorted(found, key=lambda key: (order[key[0]], self.metrics.index(key[1])))
        return [found[key] for key in keys]

    def select_lines(self, lines: Iterable[TableLine]) -> Iterator[TableLine]:
        """Yields the lines of the study's metrics, with the metric names that results use."""
        named = (one | {"metric": metrics.key_of_row(one)} for one in lines)
        return (one for one in named if one["metric"] in self.metrics)

    def references_of(self, variant: str) -> Sequence[str]:
        """References that a variant is compared with; a reference is compared with earlier ones only."""
        references = self.references
        return references[: references.index(variant)] if variant in references else references

    def compute_differences(
        self, values: Mapping[CaseType, Mapping[str, Mapping[int, float]]]
    ) -> dict[tuple[CaseType, str], dict[str, Difference]]:
        """Returns the paired, Holm-corrected differences of each configuration from its references."""
        families: dict[tuple[str, ...], dict[tuple[CaseType, str, str], list[float]]] = {}
        for case, by_metric in values.items():
            for metric, by_seed in by_metric.items():
                for reference in self.references_of(case.variant):
                    other = values.get(self.reference(case, reference), {}).get(metric, {})
                    seeds = sorted(by_seed.keys() & other.keys())
                    if len(seeds) > 1:
                        paired = [
                            stats.subtract_ignoring_rounding(by_seed[seed], other[seed]) for seed in seeds
                        ]
                        family = families.setdefault(self.family(case, metric), {})
                        family[case, metric, reference] = paired
        found: dict[tuple[CaseType, str], dict[str, Difference]] = {}
        for members in families.values():
            made = stats.holm_differences("", {str(at): paired for at, paired in enumerate(members.values())})
            for (case, metric, reference), one in zip(members, made, strict=True):
                found.setdefault((case, metric), {})[reference] = (one.mean, one.low, one.high)
        return found

    def write(self, found: Iterable[Row[CaseType]], path: Path) -> None:
        """Writes the rows as a compressed CSV file, numbers with six significant digits."""
        names = [one.name.rstrip("_") for one in fields(self.case)]
        names += [one.name for one in fields(Row)[1:-1]]
        names += [f"less_{reference}{bound}" for reference in self.references for bound in BOUND_SUFFIXES]
        lines = []
        for row in found:
            numbers: list[float | str] = [row.mean, row.ci95, row.low, row.high]
            for reference in self.references:
                numbers += row.differences.get(reference, ("", "", ""))
            digits = (x if isinstance(x, str) else f"{x:.6g}" for x in numbers)
            lines.append([*astuple(row.case), row.metric, row.unit, row.n, *digits])
        write_csv(path, names, lines)

    def read(self, path: Path) -> list[Row[CaseType]]:
        """Reads the rows of a file that `write` has written."""
        return [self.parse_row(line) for line in read_csv(path)]

    def parse_row(self, line: Sequence[str]) -> Row[CaseType]:
        """Parses a row from a line of the CSV file."""
        at = len(fields(self.case))
        case, (metric, unit, n), rest = self.case(*line[:at]), line[at : at + 3], line[at + 3 :]
        mean, ci95, low, high = (float(one) for one in rest[:4])
        triples = zip(self.references, *(rest[4 + start :: 3] for start in range(3)), strict=True)
        less = {name: (float(a), float(b), float(c)) for name, a, b, c in triples if a}
        return Row(case, metric, unit, int(n), mean, ci95, low, high, less)


def write_csv(path: Path, names: Sequence[str], lines: Iterable[Sequence[object]]) -> None:
    """Writes the names of columns, then lines of values, as a CSV file compressed by gzip."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([names, *lines])
    path.write_bytes(gzip.compress(text.getvalue().encode(), mtime=0))  # equal lines are equal files


def read_csv(path: Path) -> list[list[str]]:
    """Reads the lines of a file that `write_csv` has written, without the names of columns."""
    with gzip.open(path, "rt", newline="", encoding="utf-8") as file:
        return list(csv.reader(file))[1:]


def parse_arguments(name: str, doc: str | None, arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parses a study's command line; with `--page` the study runs nothing and takes the committed CSV."""
    parser = argparse.ArgumentParser(description=doc)
    parser.add_argument("--out", type=Path, default=Path("out/studies") / name, help="folder of the runs")
    parser.add_argument("--jobs", type=int, help="runs at a time; all cores by default")
    parser.add_argument("--page", action="store_true", help="run nothing, take the committed CSV")
    return parser.parse_args(arguments)


@dataclass(frozen=True)
class Page(Generic[CaseType]):
    """Files of a study, in the folder of its name: CSV file of numbers, page, and figures."""

    name: str
    study: Study[CaseType]
    tables: Callable[[list[Row[CaseType]]], Mapping[str, str]]
    draw: Callable[[list[Row[CaseType]], Path], Iterable[Path]]

    def publish(self, run: Callable[[], Iterable[Row[CaseType]]] | None) -> None:
        """Performs missing runs by `run`, if it is given, then writes CSV file, tables and figures."""
        folder = STUDIES / self.name
        numbers, page = folder / NUMBERS_FILE, folder / "README.md"
        if run is not None:
            self.study.write(run(), numbers)
        found = self.study.read(numbers)
        page.write_text(insert_tables(page.read_text(encoding="utf-8"), self.tables(found)), encoding="utf-8")
        for path in self.draw(found, folder / "images"):
            print(path)


def require_complete(sweep: Results) -> Results:
    """Returns the given sweep; exits if runs failed or flows did not finish."""
    if (
        sweep.failures
        or sweep.run_status.unfinished
        or sweep.run_status.partial
        or sweep.finished < sweep.planned
    ):
        wrong = sweep.failures or sweep.run_status.unfinished or sweep.run_status.partial
        raise SystemExit(f"{sweep.scenario}: {sweep.finished} of {sweep.planned} runs, {wrong}")
    return sweep


def exact_metrics(sweep: Results) -> list[TableLine]:
    """Returns the metrics of a sweep that are not bounds, as lines.

    Metrics that unfinished flows turn into bounds, in any seed of a variant, are left out for that variant.
    """
    if sweep.failures or sweep.run_status.partial or sweep.finished < sweep.planned:
        raise SystemExit(f"{sweep.scenario}: {sweep.finished} of {sweep.planned} runs, {sweep.failures}")
    lines: list[TableLine] = sweep.metrics.to_pylist()
    bounds = {(one["variant"], metrics.key_of_row(one)) for one in lines if one["censored"]}
    return [one for one in lines if (one["variant"], metrics.key_of_row(one)) not in bounds]


def summarize_metrics(found: Sequence[TableLine]) -> Iterator[TableLine]:
    """Yields means and intervals over seeds of a study's own metrics, by the rules of every sweep."""
    groups: dict[tuple[Any, ...], list[TableLine]] = {}
    for one in found:
        key = tuple(value for name, value in one.items() if name not in ("seed", "value"))
        groups.setdefault(key, []).append(one)
    for several in groups.values():
        values = [one["value"] for one in several]
        bounds = stats.mean_interval(values, "_p99" in several[0]["metric"])
        if bounds is not None:
            low, high = bounds
            more = {"n": len(values), "mean": stats.mean(values), "ci95": (high - low) / 2}
            yield several[0] | more | {"low": low, "high": high}


def format_number(value: float) -> str:
    """Formats a number with three significant digits and at most two decimal places."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def format_value(row: Row[Any]) -> str:
    """Formats a mean with the half-width of its interval: `4.1 ± 0.2`."""
    return f"{format_number(row.displayed_mean)} ± {format_number(row.ci95 * row.display_factor)}"


def format_difference(row: Row[Any], reference: str) -> str:
    """Formats a difference with its interval, in bold if the interval excludes 0."""
    found = row.differences.get(reference)
    if found is None:
        return "–"
    mean, low, high = (x * row.display_factor for x in found)
    mark = "**" if row.differs(reference) else ""
    return f"{mark}{mean:+.2f}{mark} ± {format_number((high - low) / 2)}"


@dataclass(frozen=True)
class RelativeDifference:
    """Relative difference of a configuration from a reference, with interval and margin."""

    mean: float
    low: float
    high: float
    margin: float

    @property
    def differs(self) -> bool:
        """True if the difference is significant and at least as large as the margin."""
        return (self.low > 0 or self.high < 0) and abs(self.mean) >= self.margin

    @property
    def is_equivalent(self) -> bool:
        """True if the whole interval of the difference is within the margin."""
        return -self.margin < self.low and self.high < self.margin


def index_by_case(found: Iterable[Row[CaseType]]) -> dict[tuple[CaseType, str], Row[CaseType]]:
    """Indexes rows by configuration and metric."""
    return {(row.case, row.metric): row for row in found}


def relative_difference(
    rows: Mapping[tuple[CaseType, str], Row[CaseType]],
    case: CaseType,
    other: CaseType,
    of: tuple[str, str, float],
) -> RelativeDifference | None:
    """Returns the difference of a configuration from a second one, as a share of the second one's mean.

    `of` is the metric, the reference's name and the margin. The result is `None` if a value is missing, or if
    the other's mean is 0.
    """
    metric, name, margin = of
    row, reference = rows.get((case, metric)), rows.get((other, metric))
    if row is None or reference is None or not reference.mean or name not in row.differences:
        return None
    mean, low, high = (one / reference.mean for one in row.differences[name])
    return RelativeDifference(mean, low, high, margin)


def format_percent(less: RelativeDifference | None) -> str:
    """Formats a difference in percent with its half-width: bold if significant, `=` if equivalent."""
    if less is None:
        return "–"
    mark = "**" if less.differs else ""
    half = format_number(100 * (less.high - less.low) / 2)
    return f"{mark}{100 * less.mean:+.1f}{mark} ± {half}{' =' if less.is_equivalent else ''}"


Cells = dict[str, dict[str, Row[CaseType]]]  # label of the table's line, metric


def group_by_label(found: Iterable[Row[CaseType]], label: Callable[[Row[CaseType]], str]) -> Cells[CaseType]:
    """Groups rows by the label of the table line that they belong to."""
    made: Cells[CaseType] = {}
    for row in found:
        made.setdefault(label(row), {})[row.metric] = row
    return made


def format_table(heads: Iterable[str], body: Iterable[Iterable[str]]) -> str:
    """Formats a table as Markdown."""
    every = [list(heads), *(list(one) for one in body)]
    every.insert(1, ["---"] * len(every[0]))
    return "\n".join(f"| {' | '.join(one)} |" for one in every)


def insert_tables(text: str, made: Mapping[str, str]) -> str:
    """Inserts tables into the text of a page, each between its markers."""
    for name, body in made.items():
        start = f"<!-- {name} -->\n"
        before, mark, after = text.partition(start)
        _, end, rest = after.partition("<!-- end -->")
        if not mark or not end:
            raise SystemExit(f"the page has no {start.strip()} with <!-- end --> after it")
        text = f"{before}{start}\n{body}\n\n{end}{rest}"
    return text


def set_plain_log_labels(axes: Axes) -> None:
    """Labels a logarithmic axis with plain numbers at 1, 2 and 5 of each decade."""
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def save_figures(draw: Callable[[], Mapping[str, Figure]], folder: Path) -> list[Path]:
    """Draws the figures of a page in one style and saves them as PNG files with reproducible bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    with plots.style(), mpl.rc_context({"axes.titlesize": 9.5}):
        for name, figure in draw().items():
            made.append(folder / f"{name}.png")
            plots.save_small(figure, made[-1])
    return made
