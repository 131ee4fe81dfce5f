"""What studies share: rows of means and paired differences, as CSV, and as Markdown between marks."""

import argparse
import csv
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
BOUNDS = ("", "_low", "_high")
Less = tuple[float, float, float]  # mean, low, high of a difference
Line = dict[str, Any]  # of a sweep's table


class Case(Protocol):
    """One configuration; a frozen dataclass of texts."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def variant(self) -> str:
        """Its variant's name."""


C = TypeVar("C", bound=Case)


@dataclass(frozen=True)
class Row(Generic[C]):
    """A metric of a case over seeds, in its unit, and what it is less each reference (paired, Holm)."""

    case: C
    metric: str
    unit: str
    n: int
    mean: float
    ci95: float
    low: float
    high: float
    less: Mapping[str, Less]

    @property
    def scale(self) -> float:
        """What a number of the metric is multiplied with to be shown: ms and per cent."""
        return 1e3 if self.unit == "s" else 100.0 if self.percent else 1.0

    @property
    def percent(self) -> bool:
        """Whether it is a share of a whole, shown in per cent."""
        return self.metric.endswith(("_share", "_ratio")) or self.metric.startswith(
            ("link_utilisation", "paused_fraction")
        )

    @property
    def shown(self) -> float:
        """The mean in ms, per cent or as it is."""
        return self.mean * self.scale

    def differs(self, reference: str) -> bool:
        """Whether the interval of the difference from a reference excludes 0."""
        found = self.less.get(reference)
        return found is not None and (found[1] > 0 or found[2] < 0)


@dataclass(frozen=True)
class Study(Generic[C]):
    """How a study compares: `reference` is the case of a reference, `family` what is corrected together."""

    case: type[C]
    metrics: Sequence[str]
    references: Sequence[str]
    reference: Callable[[C, str], C]
    family: Callable[[C, str], tuple[str, ...]]

    def rows(
        self, table: Iterable[Line], summary: Iterable[Line], case_of: Callable[[Line], C]
    ) -> list[Row[C]]:
        """Every metric of every case once, with its differences from the references."""
        values: dict[C, dict[str, dict[int, float]]] = {}
        for one in self.select_lines(table):
            by_seed = values.setdefault(case_of(one), {}).setdefault(one["metric"], {})
            by_seed[one["seed"]] = one["value"]
        less = self.differences(values)
        found: dict[tuple[C, str], Row[C]] = {}
        for one in self.select_lines(summary):
            key = (case_of(one), one["metric"])
            if one["ci95"] is not None and key not in found:
                mean, half, low, high = (one[name] for name in ("mean", "ci95", "low", "high"))
                found[key] = Row(*key, one["unit"], one["n"], mean, half, low, high, less.get(key, {}))
        order = {case: at for at, case in enumerate(values)}
        keys = sorted(found, key=lambda key: (order[key[0]], self.metrics.index(key[1])))
        return [found[key] for key in keys]

    def select_lines(self, lines: Iterable[Line]) -> Iterator[Line]:
        """The lines of the metrics that the study tells, by their names as results have them."""
        named = (one | {"metric": metrics.name(one)} for one in lines)
        return (one for one in named if one["metric"] in self.metrics)

    def compared_with(self, variant: str) -> Sequence[str]:
        """The references of a variant; of two references the later one is compared with the earlier."""
        references = self.references
        return references[: references.index(variant)] if variant in references else references

    def differences(
        self, values: Mapping[C, Mapping[str, Mapping[int, float]]]
    ) -> dict[tuple[C, str], dict[str, Less]]:
        """Each case less each reference that there is, seed by seed, with Holm's intervals."""
        families: dict[tuple[str, ...], dict[tuple[C, str, str], list[float]]] = {}
        for case, by_metric in values.items():
            for metric, by_seed in by_metric.items():
                for reference in self.compared_with(case.variant):
                    other = values.get(self.reference(case, reference), {}).get(metric, {})
                    seeds = sorted(by_seed.keys() & other.keys())
                    if len(seeds) > 1:
                        paired = [stats.subtract(by_seed[seed], other[seed]) for seed in seeds]
                        family = families.setdefault(self.family(case, metric), {})
                        family[case, metric, reference] = paired
        found: dict[tuple[C, str], dict[str, Less]] = {}
        for members in families.values():
            made = stats.holm("", {str(at): paired for at, paired in enumerate(members.values())})
            for (case, metric, reference), one in zip(members, made, strict=True):
                found.setdefault((case, metric), {})[reference] = (one.mean, one.low, one.high)
        return found

    def write(self, found: Iterable[Row[C]], path: Path) -> None:
        """The rows as CSV, numbers with six digits."""
        names = [one.name.rstrip("_") for one in fields(self.case)]
        names += [one.name for one in fields(Row)[1:-1]]
        names += [f"less_{reference}{bound}" for reference in self.references for bound in BOUNDS]
        with path.open("w", newline="", encoding="utf-8") as file:
            out = csv.writer(file, lineterminator="\n")
            out.writerow(names)
            for row in found:
                numbers: list[float | str] = [row.mean, row.ci95, row.low, row.high]
                for reference in self.references:
                    numbers += row.less.get(reference, ("", "", ""))
                digits = (x if isinstance(x, str) else f"{x:.6g}" for x in numbers)
                out.writerow([*astuple(row.case), row.metric, row.unit, row.n, *digits])

    def read(self, path: Path) -> list[Row[C]]:
        """The rows of such a CSV."""
        with path.open(newline="", encoding="utf-8") as file:
            return [self.row_of(line) for line in list(csv.reader(file))[1:]]

    def row_of(self, line: Sequence[str]) -> Row[C]:
        """The row of a line."""
        at = len(fields(self.case))
        case, (metric, unit, n), rest = self.case(*line[:at]), line[at : at + 3], line[at + 3 :]
        mean, ci95, low, high = (float(one) for one in rest[:4])
        triples = zip(self.references, *(rest[4 + start :: 3] for start in range(3)), strict=True)
        less = {name: (float(a), float(b), float(c)) for name, a, b, c in triples if a}
        return Row(case, metric, unit, int(n), mean, ci95, low, high, less)


def asked(name: str, doc: str | None, arguments: Sequence[str] | None) -> argparse.Namespace:
    """What the command of a study is asked for: `out`, `jobs`, and whether the `page` alone is made anew."""
    parser = argparse.ArgumentParser(description=doc)
    parser.add_argument("--out", type=Path, default=Path("out/studies") / name, help="folder of the runs")
    parser.add_argument("--jobs", type=int, help="runs at a time; all cores by default")
    parser.add_argument("--page", action="store_true", help="run nothing, take the committed CSV")
    return parser.parse_args(arguments)


@dataclass(frozen=True)
class Page(Generic[C]):
    """The CSV, page and figures that a study writes into the folder of its name."""

    name: str
    study: Study[C]
    tables: Callable[[list[Row[C]]], Mapping[str, str]]
    draw: Callable[[list[Row[C]], Path], Iterable[Path]]

    def publish(self, run: Callable[[], Iterable[Row[C]]] | None) -> None:
        """Run what the store does not have, if anything; then write CSV, tables and figures."""
        folder = STUDIES / self.name
        numbers, page = folder / "numbers.csv", folder / "README.md"
        if run is not None:
            self.study.write(run(), numbers)
        found = self.study.read(numbers)
        page.write_text(place(page.read_text(encoding="utf-8"), self.tables(found)), encoding="utf-8")
        for path in self.draw(found, folder / "images"):
            print(path)


def whole(sweep: Results) -> Results:
    """The sweep, if all of it is there."""
    if (
        sweep.failures
        or sweep.run_status.unfinished
        or sweep.run_status.partial
        or sweep.finished < sweep.planned
    ):
        wrong = sweep.failures or sweep.run_status.unfinished or sweep.run_status.partial
        raise SystemExit(f"{sweep.scenario}: {sweep.finished} of {sweep.planned} runs, {wrong}")
    return sweep


def exact(sweep: Results) -> list[Line]:
    """What was measured, without what flows that had not ended make a bound in any seed of a variant."""
    if sweep.failures or sweep.run_status.partial or sweep.finished < sweep.planned:
        raise SystemExit(f"{sweep.scenario}: {sweep.finished} of {sweep.planned} runs, {sweep.failures}")
    lines: list[Line] = sweep.metrics.to_pylist()
    bounds = {(one["variant"], metrics.name(one)) for one in lines if one["censored"]}
    return [one for one in lines if (one["variant"], metrics.name(one)) not in bounds]


def summed(found: Sequence[Line]) -> Iterator[Line]:
    """Means over seeds of what a study measures itself, and their intervals, by the rules of every sweep."""
    groups: dict[tuple[Any, ...], list[Line]] = {}
    for one in found:
        key = tuple(value for name, value in one.items() if name not in ("seed", "value"))
        groups.setdefault(key, []).append(one)
    for several in groups.values():
        values = [one["value"] for one in several]
        bounds = stats.interval(values, "_p99" in several[0]["metric"])
        if bounds is not None:
            low, high = bounds
            more = {"n": len(values), "mean": stats.mean(values), "ci95": (high - low) / 2}
            yield several[0] | more | {"low": low, "high": high}


def number(value: float) -> str:
    """Three digits, and no more than two places."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def value(row: Row[Any]) -> str:
    """Mean and half-width."""
    return f"{number(row.shown)} ± {number(row.ci95 * row.scale)}"


def less(row: Row[Any], reference: str) -> str:
    """A difference with its interval, in bold where that excludes 0."""
    found = row.less.get(reference)
    if found is None:
        return "–"
    mean, low, high = (x * row.scale for x in found)
    mark = "**" if row.differs(reference) else ""
    return f"{mark}{mean:+.2f}{mark} ± {number((high - low) / 2)}"


@dataclass(frozen=True)
class Told:
    """A difference from a reference in parts of the reference's mean, with its interval."""

    mean: float
    low: float
    high: float
    margin: float

    @property
    def differs(self) -> bool:
        """Whether it counts: its interval excludes 0, and its mean is no less than the margin."""
        return (self.low > 0 or self.high < 0) and abs(self.mean) >= self.margin

    @property
    def same(self) -> bool:
        """Whether all of its interval is within the margin."""
        return -self.margin < self.low and self.high < self.margin


def by_case(found: Iterable[Row[C]]) -> dict[tuple[C, str], Row[C]]:
    """Rows by case and metric."""
    return {(row.case, row.metric): row for row in found}


def difference_text(
    rows: Mapping[tuple[C, str], Row[C]], case: C, other: C, of: tuple[str, str, float]
) -> Told | None:
    """A case less another, where that is not 0; `of` is the metric, the reference's name and the margin."""
    metric, name, margin = of
    row, reference = rows.get((case, metric)), rows.get((other, metric))
    if row is None or reference is None or not reference.mean or name not in row.less:
        return None
    mean, low, high = (one / reference.mean for one in row.less[name])
    return Told(mean, low, high, margin)


def percent(less: Told | None) -> str:
    """A difference in per cent with the half of its interval: bold where it counts, = where it is equal."""
    if less is None:
        return "–"
    mark = "**" if less.differs else ""
    half = number(100 * (less.high - less.low) / 2)
    return f"{mark}{100 * less.mean:+.1f}{mark} ± {half}{' =' if less.same else ''}"


Cells = dict[str, dict[str, Row[C]]]  # label of the line, metric


def lines(found: Iterable[Row[C]], label: Callable[[Row[C]], str]) -> Cells[C]:
    """Rows by line of a table."""
    made: Cells[C] = {}
    for row in found:
        made.setdefault(label(row), {})[row.metric] = row
    return made


def written(heads: Iterable[str], body: Iterable[Iterable[str]]) -> str:
    """A table as Markdown."""
    every = [list(heads), *(list(one) for one in body)]
    every.insert(1, ["---"] * len(every[0]))
    return "\n".join(f"| {' | '.join(one)} |" for one in every)


def place(text: str, made: Mapping[str, str]) -> str:
    """A page's text with its tables put between their marks."""
    for name, body in made.items():
        start = f"<!-- {name} -->\n"
        before, mark, after = text.partition(start)
        _, end, rest = after.partition("<!-- end -->")
        if not mark or not end:
            raise SystemExit(f"the page has no {start.strip()} with <!-- end --> after it")
        text = f"{before}{start}\n{body}\n\n{end}{rest}"
    return text


def plain(axes: Axes) -> None:
    """Numbers, not powers, at 1, 2 and 5 of each decade of a logarithmic axis."""
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def saved(draw: Callable[[], Mapping[str, Figure]], folder: Path) -> list[Path]:
    """Figures of a page, drawn in one style and saved by their names as PNG: the same bytes every time."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    with plots.style(), mpl.rc_context({"axes.titlesize": 9.5}):
        for name, figure in draw().items():
            made.append(folder / f"{name}.png")
            plots.save_small(figure, made[-1])
    return made
