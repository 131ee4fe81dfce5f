"""The numbers of the study of theta and lambda of PABO: its sweeps, their rows, and the rows as CSV."""

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, fields
from pathlib import Path
from typing import Any

import overspill
from overspill import stats
from overspill.sweeps import Sweep

SCENARIO = Path(__file__).with_name("bounce.toml")
THETA, LAMBDA = "switch.overflow.theta", "switch.overflow.lambda"
LOAD = "traffic.background.load.fraction"
REFERENCES = ("drop", "dctcp_k32", "dctcp_k32_rto_1ms", "dctcp_k32_shared")
BASELINES = (*REFERENCES, "drop_no_fast_retransmit", "dctcp")
BOUNCING = ("pabo", "pabo_dctcp")
SHORT, ALL, QCT, ENTROPY = "fct_p99[size=0-100KB]", "fct_p99", "qct_mean", "reorder_entropy"
METRICS = (
    *(SHORT, ALL, "fct_p99[traffic=background]", "fct_mean", "fct_mean[size=10MB+]", QCT, "qct_p95", ENTROPY),
    *(
        "drop_share",
        "bounced_share",
        "hops_mean",
        "hops_max",
        "timeouts",
        "retransmits",
        "load_payload[of=host]",
    ),
)
BOUNDS = ("", "_low", "_high")


@dataclass(frozen=True)
class Plan:
    """What is run: the grid, the loads, seeds, and settings for small trials."""

    thetas: tuple[float, ...] = (0.5, 0.7, 0.8, 0.9, 0.95)
    lambdas: tuple[float, ...] = (1, 10, 50, 160)
    loads: tuple[float, ...] = (0.2, 0.4, 0.6)
    seeds: int = 10
    jobs: int | None = None
    sets: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    """One configuration of one of the two sweeps; theta and lambda are empty where nothing is bounced."""

    series: str
    load: str
    theta: str
    lambda_: str
    variant: str


Less = tuple[float, float, float]  # mean, low, high of a difference


@dataclass(frozen=True)
class Row:
    """A metric of a case over seeds, in its unit, and what it is less each reference (paired, Holm)."""

    case: Case
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
        return 1e3 if self.unit == "s" else 100.0 if self.metric.endswith("_share") else 1.0

    @property
    def shown(self) -> float:
        """The mean in ms, per cent or as it is."""
        return self.mean * self.scale

    def differs(self, reference: str) -> bool:
        """Whether the interval of the difference from a reference excludes 0."""
        found = self.less.get(reference)
        return found is not None and (found[1] > 0 or found[2] < 0)


Values = dict[Case, dict[str, dict[int, float]]]  # metric, seed
Differences = dict[tuple[Case, str], dict[str, Less]]


def run(plan: Plan, out: Path) -> list[Row]:
    """Both sweeps, in one store, and their rows."""
    loads = overspill.sweep(
        SCENARIO, over={LOAD: list(plan.loads)}, seeds=plan.seeds, jobs=plan.jobs, sets=plan.sets, out=out
    )
    grid = overspill.sweep(
        SCENARIO,
        over={THETA: list(plan.thetas), LAMBDA: list(plan.lambdas)},
        variants=[*BASELINES, *BOUNCING],
        seeds=plan.seeds,
        jobs=plan.jobs,
        sets=plan.sets,
        out=out,
    )
    return [*rows(whole(grid), at_point), *rows(whole(loads), at_load)]


def whole(sweep: Sweep) -> Sweep:
    """The sweep, if all of it is there."""
    if sweep.failures or sweep.unfinished or sweep.partial or sweep.finished < sweep.planned:
        wrong = sweep.failures or sweep.unfinished or sweep.partial
        raise SystemExit(f"{sweep.scenario}: {sweep.finished} of {sweep.planned} runs, {wrong}")
    return sweep


def at_point(row: Mapping[str, object]) -> Case:
    """The case of a row of the grid."""
    variant = str(row["variant"])
    at = ("", "") if variant in BASELINES else (str(row[THETA]), str(row[LAMBDA]))
    return Case("grid", "0.4", *at, variant)


def at_load(row: Mapping[str, object]) -> Case:
    """The case of a row of the series over loads."""
    variant = str(row["variant"])
    at = ("", "") if variant in BASELINES else ("0.8", "50")
    return Case("load", str(row[LOAD]), *at, variant)


def rows(sweep: Sweep, case_of: Callable[[Mapping[str, object]], Case]) -> list[Row]:
    """Every metric of every case once, with its differences from the references."""
    values: Values = {}
    for one in told(sweep.table.to_pylist()):
        by_seed = values.setdefault(case_of(one), {}).setdefault(one["metric"], {})
        by_seed[one["seed"]] = one["value"]
    less = differences(values)
    found: dict[tuple[Case, str], Row] = {}
    for one in told(sweep.summary.to_pylist()):
        key = (case_of(one), one["metric"])
        if one["ci95"] is not None and key not in found:
            mean, half, low, high = (one[name] for name in ("mean", "ci95", "low", "high"))
            found[key] = Row(*key, one["unit"], one["n"], mean, half, low, high, less.get(key, {}))
    order = {case: at for at, case in enumerate(values)}
    return [found[key] for key in sorted(found, key=lambda key: (order[key[0]], METRICS.index(key[1])))]


def told(lines: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The lines of the metrics that the study tells."""
    return (one for one in lines if one["metric"] in METRICS)


def family(case: Case, metric: str) -> tuple[str, ...]:
    """What is corrected together: the whole grid of a variant, or all variants under one load."""
    return (metric, case.variant) if case.series == "grid" and case.theta else (metric, case.load)


def compared_with(variant: str) -> Sequence[str]:
    """The references of a variant; of two references the later one is compared with the earlier."""
    return REFERENCES[: REFERENCES.index(variant)] if variant in REFERENCES else REFERENCES


def differences(values: Values) -> Differences:
    """Each case less each reference, seed by seed, with Holm's intervals."""
    families: dict[tuple[str, ...], dict[tuple[Case, str, str], list[float]]] = {}
    for case, metrics in values.items():
        for metric, by_seed in metrics.items():
            for reference in compared_with(case.variant):
                other = values[Case(case.series, case.load, "", "", reference)].get(metric, {})
                seeds = sorted(by_seed.keys() & other.keys())
                if len(seeds) > 1:
                    paired = [stats.subtract(by_seed[seed], other[seed]) for seed in seeds]
                    families.setdefault(family(case, metric), {})[case, metric, reference] = paired
    found: Differences = {}
    for members in families.values():
        made = stats.holm("", {str(at): paired for at, paired in enumerate(members.values())})
        for (case, metric, reference), one in zip(members, made, strict=True):
            found.setdefault((case, metric), {})[reference] = (one.mean, one.low, one.high)
    return found


def write(found: Iterable[Row], path: Path) -> None:
    """The rows as CSV, numbers with six digits."""
    names = [one.name.rstrip("_") for one in fields(Case)]
    names += [one.name for one in fields(Row)[1:-1]]
    names += [f"less_{reference}{bound}" for reference in REFERENCES for bound in BOUNDS]
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(names)
        for row in found:
            numbers: list[float | str] = [row.mean, row.ci95, row.low, row.high]
            for reference in REFERENCES:
                numbers += row.less.get(reference, ("", "", ""))
            digits = (x if isinstance(x, str) else f"{x:.6g}" for x in numbers)
            out.writerow([*astuple(row.case), row.metric, row.unit, row.n, *digits])


def read(path: Path) -> list[Row]:
    """The rows of such a CSV."""
    with path.open(newline="", encoding="utf-8") as file:
        return [row_of(line) for line in list(csv.reader(file))[1:]]


def row_of(line: Sequence[str]) -> Row:
    """The row of a line."""
    case, (metric, unit, n), numbers, rest = Case(*line[:5]), line[5:8], line[8:12], line[12:]
    less = {
        reference: (float(rest[at]), float(rest[at + 1]), float(rest[at + 2]))
        for at, reference in ((3 * index, name) for index, name in enumerate(REFERENCES))
        if rest[at]
    }
    mean, ci95, low, high = (float(one) for one in numbers)
    return Row(case, metric, unit, int(n), mean, ci95, low, high, less)
