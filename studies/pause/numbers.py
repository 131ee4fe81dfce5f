"""Numbers of the study of PAUSE and PFC compared with DIBS: sweeps, rows, and their CSV file."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

import overspill
from overspill import Key, Results, RunData, metrics, quantiles, stats
from studies import common

SCENARIO = Path(__file__).with_name("study.toml")
QPS_PATH = "traffic.query.qps"
REFERENCES = ("drop", "dibs", "shared")
MAIN_VARIANTS = (*REFERENCES, "pause", "pfc", "pfc_query")
SINGLE_CHANGES = ("drop_tcp", "pfc_tcp", "pfc_dibs")
TIERS = ("host", "edge", "agg", "core")
SHORT_P99, SHORT_MEAN, DEADLOCKS = "short_p99", "short_mean", "deadlocks"
COMPARED_METRICS = ("qct_mean", "qct_p99", SHORT_P99, SHORT_MEAN)
METRICS = (
    *COMPARED_METRICS,
    *(
        Key("fct_mean", traffic="background"),
        "drops",
        Key("drops", traffic="background"),
        "timeouts",
        "detoured_share",
    ),
    *(
        "hops_mean",
        "pauses",
        "paused_fraction_mean",
        *(Key("paused_fraction_mean", tier=tier) for tier in TIERS),
    ),
    *("pause_length_mean", "saturation_depth_mean", "saturation_depth_max"),
    *("saturation_hosts_mean", "saturation_hosts_max", Key("achieved_load", traffic="query"), DEADLOCKS),
)
BACKGROUND_WORKLOAD, MIN_SHORT_BYTES, MAX_SHORT_BYTES = (
    1,
    1_000,
    10_000,
)  # index of the workload, and bytes of its short flows
BOUND_SUFFIXES = ("", "_low", "_high")


@dataclass(frozen=True)
class Plan:
    """Query rates of main and single-change variants, seeds, and settings for small trials."""

    rates: tuple[int, ...] = (300, 1000, 2000, 4000)
    single_change_rates: tuple[int, ...] = (2000,)
    seeds: int = 10
    jobs: int | None = None
    sets: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    """Variant at a rate of queries."""

    qps: str
    variant: str


Difference = tuple[float, float, float]  # mean, low, high of a difference


@dataclass(frozen=True)
class Row:
    """Mean over seeds of a metric in one configuration, with paired differences from references (Holm)."""

    case: Case
    metric: str
    unit: str
    n: int
    mean: float
    low: float
    high: float
    differences: Mapping[str, Difference]

    @property
    def display_factor(self) -> float:
        """Factor from the metric's unit to the unit shown: ms for times, percent for shares, else 1."""
        shares = "_share" in self.metric or self.metric.startswith(
            ("load", "achieved_load", "drop_ratio", "paused_fraction")
        )
        return 1e3 if self.unit == "s" else 100.0 if shares else 1.0

    def differs(self, reference: str) -> bool:
        """Returns true if the difference from a reference is significant: its interval excludes 0."""
        found = self.differences.get(reference)
        return found is not None and (found[1] > 0 or found[2] < 0)


Values = dict[Case, dict[str, dict[int, float]]]  # metric, seed


def run_study(plan: Plan, out: Path) -> list[Row]:
    """Runs both sweeps in one store and returns their rows."""
    values: Values = {}
    for rates, variants in ((plan.rates, MAIN_VARIANTS), (plan.single_change_rates, SINGLE_CHANGES)):
        found = overspill.sweep(
            SCENARIO,
            over={QPS_PATH: list(rates)},
            variants=list(variants),
            seeds=plan.seeds,
            jobs=plan.jobs,
            sets=plan.sets,
            out=out,
            tables=["flows"],
        )
        locked = deadlocked_runs(require_complete(found))
        for case, metric, seed, value in [*measured_values(found), *short_flow_values(found, locked)]:
            if (case, seed) not in locked:
                values.setdefault(case, {}).setdefault(metric, {})[seed] = value
        for run in found.each():
            case = Case(run.point[QPS_PATH], run.variant)
            values[case].setdefault(DEADLOCKS, {})[run.seed] = float((case, run.seed) in locked)
    return summary_rows(values)


def require_complete(sweep: Results) -> Results:
    """Returns the given sweep; exits if runs are missing, or flows are unfinished without a deadlock."""
    left = [one for one in sweep.run_status.unfinished if not cases_and_seeds(one) <= deadlocked_runs(sweep)]
    if sweep.failures or left or sweep.run_status.partial or sweep.finished < sweep.planned:
        wrong = sweep.failures or left or sweep.run_status.partial
        raise SystemExit(f"{sweep.scenario}: {sweep.finished} of {sweep.planned} runs, {wrong}")
    return sweep


def deadlocked_runs(sweep: Results) -> set[tuple[Case, int]]:
    """Configurations and seeds of runs that end in a deadlock, whose metrics are not comparable."""
    return {place for one in sweep.run_status.deadlocks for place in cases_and_seeds(one)}


def cases_and_seeds(one: Mapping[str, Any]) -> set[tuple[Case, int]]:
    """Returns the configurations and seeds that an entry of a sweep's status names."""
    return {(Case(one["point"][0], one["variant"]), seed) for seed in one["seeds"]}


MeasuredValue = tuple[Case, str, int, float]


def measured_values(sweep: Results) -> Iterator[MeasuredValue]:
    """Yields the metrics of every run."""
    for one in sweep.metrics.to_pylist():
        if (metric := metrics.key_of_row(one)) in METRICS:
            yield Case(one[QPS_PATH], one["variant"]), metric, one["seed"], one["value"]


def short_flow_values(sweep: Results, without: Collection[tuple[Case, int]]) -> Iterator[MeasuredValue]:
    """Yields p99 and mean FCT of short background flows in seconds, for all runs but `without`."""
    for run in sweep.each():
        case, seed = Case(run.point[QPS_PATH], run.variant), run.seed
        if (case, seed) in without:
            continue
        took = short_times(run)
        tail = quantiles.percentile(took, np.zeros(len(took), bool), 99)
        assert tail is not None
        yield case, SHORT_P99, seed, tail.value
        yield case, SHORT_MEAN, seed, float(took.mean())


def short_times(run: RunData) -> np.ndarray:
    """Returns the FCTs of a run's short background flows in seconds; all flows have finished."""
    names = ("traffic", "bytes", "start_ps", "end_ps", "measured")
    workload, size, start, end, counts = run.columns("flows", *names)
    keep = (
        (workload == BACKGROUND_WORKLOAD)
        & (size >= MIN_SHORT_BYTES)
        & (size <= MAX_SHORT_BYTES)
        & (counts != 0)
    )
    return np.asarray((end[keep] - start[keep]) * 1e-12, np.float64)


def summary_rows(values: Values) -> list[Row]:
    """Returns a row for each metric of each configuration, with differences from the references."""
    less = paired_differences(values)
    found = []
    for case, by_metric in values.items():
        for metric in METRICS:
            numbers = list(by_metric.get(metric, {}).values())
            if not numbers:
                continue
            unit, tail = unit_and_kind(metric)
            low, high = stats.mean_interval(numbers, tail) or (numbers[0], numbers[0])
            mean, of_case = stats.mean(numbers), less.get((case, metric), {})
            found.append(Row(case, metric, unit, len(numbers), mean, low, high, of_case))
    return found


def unit_and_kind(metric: str) -> tuple[str, bool]:
    """Returns the unit of a metric, and true if it is a percentile or a maximum."""
    if metric in (SHORT_P99, SHORT_MEAN):
        return "s", metric == SHORT_P99
    if metric == DEADLOCKS:
        return "1", False
    found = metrics.find_metric(metric)
    return found.unit, found.order_statistic


def paired_differences(values: Values) -> dict[tuple[Case, str], dict[str, Difference]]:
    """Returns the paired differences of each configuration from each reference.

    Holm's method corrects all comparisons of a metric at a query rate together.
    """
    families: dict[tuple[str, str], dict[tuple[Case, str], list[float]]] = {}
    for case, by_metric in values.items():
        for metric in COMPARED_METRICS:
            for reference in references_of(case.variant):
                other = values[Case(case.qps, reference)][metric]
                paired = [
                    stats.subtract_ignoring_rounding(value, other[seed])
                    for seed, value in by_metric[metric].items()
                ]
                if len(paired) > 1:
                    families.setdefault((metric, case.qps), {})[case, reference] = paired
    found: dict[tuple[Case, str], dict[str, Difference]] = {}
    for (metric, _), members in families.items():
        made = stats.holm_differences("", {str(at): paired for at, paired in enumerate(members.values())})
        for (case, reference), one in zip(members, made, strict=True):
            found.setdefault((case, metric), {})[reference] = (one.mean, one.low, one.high)
    return found


def references_of(variant: str) -> Sequence[str]:
    """References that a variant is compared with; a reference is compared with earlier ones only."""
    return REFERENCES[: REFERENCES.index(variant)] if variant in REFERENCES else REFERENCES


def write_rows(found: Iterable[Row], path: Path) -> None:
    """Writes the rows as a compressed CSV file, numbers with six significant digits."""
    names = [one.name for one in (*fields(Case), *fields(Row)[1:-1])]
    names += [f"less_{reference}{bound}" for reference in REFERENCES for bound in BOUND_SUFFIXES]
    lines = []
    for row in found:
        numbers: list[float | str] = [row.mean, row.low, row.high]
        for reference in REFERENCES:
            numbers += row.differences.get(reference, ("", "", ""))
        digits = (one if isinstance(one, str) else f"{one:.6g}" for one in numbers)
        lines.append([*astuple(row.case), row.metric, row.unit, row.n, *digits])
    common.write_csv(path, names, lines)


def read_rows(path: Path) -> list[Row]:
    """Reads the rows of a file that `write_rows` has written."""
    return [parse_row(line) for line in common.read_csv(path)]


def parse_row(line: Sequence[str]) -> Row:
    """Parses a row from a line of the CSV file."""
    qps, variant, metric, unit, n, *numbers = line
    triples = zip(REFERENCES, *(numbers[3 + start :: 3] for start in range(3)), strict=True)
    less = {name: (float(a), float(b), float(c)) for name, a, b, c in triples if a}
    mean, low, high = (float(one) for one in numbers[:3])
    return Row(Case(qps, variant), metric, unit, int(n), mean, low, high, less)
