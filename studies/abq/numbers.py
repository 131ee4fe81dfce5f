"""Numbers of the study of ABQ (held ACKs): configurations, choice of the threshold K, sweeps and rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import overspill
from overspill import Key, Results
from studies import common
from studies.common import Study, TableLine, exact_metrics

SCENARIO = Path(__file__).with_name("study.toml")
SENDERS_PATH = "traffic.query.senders"
MAIN_VARIANTS = ("tcp", "dctcp", "abq", "abq_alone", "window")
TUNED_VARIANTS = ("dctcp", "abq", "abq_alone", "window")
ABQ_SINGLE_CHANGES = ("abq_no_ece", "abq_floor", "abq_all", "abq_open")
SINGLE_CHANGES = (*ABQ_SINGLE_CHANGES, "dctcp_open")
HOLDING_VARIANTS = ("abq", "abq_alone", "window", *ABQ_SINGLE_CHANGES)
TWO_THRESHOLD_VARIANTS = ("abq", *ABQ_SINGLE_CHANGES)
REFERENCES = ("dctcp", "abq", "twin")

QCT, QCT_MEAN, QCT_TAIL = "qct_p50", "qct_mean", "qct_p99"
BACKGROUND, BACKGROUND_TAIL = (Key(name, traffic="background") for name in ("fct_mean", "fct_p99"))
TIME_METRICS = (QCT, QCT_MEAN, QCT_TAIL, BACKGROUND, BACKGROUND_TAIL)
METRICS = (
    *TIME_METRICS,
    *("drops", "timeouts", "retransmits", "marks", "held_acks", "hold_time_mean", "hold_share_max"),
    *("queue_busiest_mean", "queue_busiest_max", "unfinished_flows"),
)
MARGIN, COUNT_MARGIN = 0.05, 0.2


@dataclass(frozen=True)
class Network:
    """Network of the study: link rate in Gb/s, and bandwidth-delay product in KB without load."""

    rate: int
    bdp: int
    sets: Mapping[str, object]


FAT_TREE = {"topology": {"kind": "fat_tree", "k": 8, "link": {"rate": "10Gbps", "delay": "1us"}}}
NETWORKS = {
    "rack, 1 Gb/s": Network(1, 24, {"topology.link.delay": "40us"}),
    "rack, 10 Gb/s": Network(10, 24, {}),
    "rack, 100 Gb/s": Network(100, 104, {"topology.link.delay": "2us"}),
    "fat-tree, 10 Gb/s": Network(10, 24, FAT_TREE),
}


@dataclass(frozen=True)
class Point:
    """Configuration: network, servers that reply to a query, reply size in BDPs, background load in %."""

    network: str
    degree: int = 32
    answer: int = 8
    background: int = 20


@dataclass(frozen=True)
class Plan:
    """Configurations, candidates for K, single-change variants, seeds, and settings for small trials."""

    points: Sequence[Point] = (
        *(Point(name) for name in NETWORKS),
        *(Point(f"rack, {rate} Gb/s", degree) for rate in (10, 100) for degree in (8, 64)),
        *(Point(name, answer=1) for name in NETWORKS),
        Point("fat-tree, 10 Gb/s", background=50),
    )
    candidates: Sequence[float] = (0.25, 0.5, 1, 2, 4)  # candidates for K, in BDPs
    single_changes: Mapping[Point, Sequence[str]] = field(
        default_factory=lambda: {
            Point("rack, 10 Gb/s"): ("abq_no_ece", "abq_floor", "abq_open", "dctcp_open"),
            Point("fat-tree, 10 Gb/s"): ("abq_no_ece", "abq_floor", "abq_all", "abq_open", "dctcp_open"),
        }
    )
    seeds: int = 10
    tuning: int = 3  # seeds after the main ones
    jobs: int | None = None
    sets: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    """Variant in a configuration; `k` in BDPs is set only in the rows from which K is chosen."""

    network: str
    degree: str
    answer: str
    background: str
    variant: str
    k: str = ""

    @property
    def point(self) -> tuple[str, str, str, str]:
        """Configuration in which the variant was run."""
        return self.network, self.degree, self.answer, self.background


Row = common.Row[Case]


def comparison_family(case: Case, metric: str) -> tuple[str, ...]:
    """Comparisons that Holm's method corrects together: main or single-change variants of a configuration."""
    return (metric, *case.point, case.k, "main" if case.variant in MAIN_VARIANTS else "aside")


def reference_case(case: Case, name: str) -> Case:
    """Returns a reference variant in the same configuration.

    An aside is compared only with the variant that it changes, and `abq_open` also with its twin.
    """
    variant = case.variant
    if case.k:
        return Case(*case.point, "")
    if name == "twin":
        return Case(*case.point, "dctcp_open" if variant == "abq_open" else "")
    return Case(*case.point, name if variant in MAIN_VARIANTS or name == base_variant(variant) else "")


def base_variant(variant: str) -> str:
    """Returns the variant from which a single-change variant differs in one setting."""
    return "dctcp" if variant == "dctcp_open" else "abq"


STUDY = Study(Case, METRICS, REFERENCES, reference_case, comparison_family)


def case_at(at: Point, variant: str, k: str = "") -> Case:
    """Returns a variant in a configuration, as the key of rows."""
    return Case(at.network, str(at.degree), str(at.answer), str(at.background), variant, k)


def point_settings(at: Point) -> dict[str, object]:
    """Returns the scenario settings of a configuration: buffer and reply sizes are multiples of its BDP.

    The load lasts for 300, 30 or 6 ms at 1, 10 or 100 Gb/s.
    """
    place = NETWORKS[at.network]
    bdp, time = place.bdp * 1000, 300 if place.rate == 1 else 30 if place.rate == 10 else 6
    sets: dict[str, object] = {
        **place.sets,
        "topology.link.rate": f"{place.rate}Gbps",
        "switch.buffer.size": f"{10 * bdp}B",
        "traffic.query.size": f"{at.answer * bdp}B",
        "traffic.query.stop": f"{time}ms",
        "traffic.background.stop": f"{time}ms",
        "traffic.background.load.fraction": at.background / 100,
        "duration": f"{2 * time}ms",
    }
    for name in HOLDING_VARIANTS:
        sets[f"variants.{name}.switch.buffer.size"] = f"{9 * bdp}B"
        sets[f"variants.{name}.switch.ack_hold.capacity"] = f"{bdp}B"
    return sets


def k_settings(at: Point, variant: str, k: float) -> dict[str, object]:
    """Returns the scenario settings that set a variant's threshold K, given in BDPs.

    As in the article, variants that also mark do so from twice the K from which they hold ACKs.
    """
    size = int(k * NETWORKS[at.network].bdp * 1000)
    if variant == "dctcp":
        return {"switch.marking.k": f"{size}B"}
    sets: dict[str, object] = {f"variants.{variant}.switch.ack_hold.k": f"{size}B"}
    if variant in TWO_THRESHOLD_VARIANTS:
        sets[f"variants.{variant}.switch.marking.k"] = f"{2 * size}B"
    return sets


@dataclass
class ResultLines:
    """Values of runs and their means, from several sweeps, as lines of tables with their configuration."""

    table: list[TableLine] = field(default_factory=list)
    summary: list[TableLine] = field(default_factory=list)

    def add(self, sweep: Results, at: Point, k: str = "") -> None:
        """Adds the values and means of a sweep in one configuration."""
        self.table += [one | {"case": case_at(at, str(one["variant"]), k)} for one in exact_metrics(sweep)]
        self.summary += [
            one | {"case": case_at(at, str(one["variant"]), k)} for one in sweep.summary.to_pylist()
        ]

    def rows(self) -> list[Row]:
        """Returns the rows, with their differences from the references."""
        return STUDY.rows(self.table, self.summary, lambda one: one["case"])


@dataclass(frozen=True)
class Runner:
    """Runner of the sweeps of one plan, with one store."""

    plan: Plan
    out: Path

    def sweep(
        self, at: Point, variants: Sequence[str], sets: Mapping[str, object], tuning: bool = False
    ) -> Results:
        """Runs a sweep on the main seeds, or on the seeds used to choose K."""
        plan = self.plan
        return overspill.sweep(
            SCENARIO,
            over={SENDERS_PATH: [at.degree]},
            variants=list(variants),
            seeds=plan.tuning if tuning else plan.seeds,
            seed=plan.seeds + 1 if tuning else 1,
            jobs=plan.jobs,
            sets={**point_settings(at), **sets, **plan.sets},
            out=self.out,
        )

    def run_tuning(self) -> list[Row]:
        """Runs every candidate for K of every tuned variant in the first configuration of each network."""
        found = ResultLines()
        for at in tuning_points(self.plan):
            for k in self.plan.candidates:
                sets = {path: one for name in TUNED_VARIANTS for path, one in k_settings(at, name, k).items()}
                found.add(self.sweep(at, TUNED_VARIANTS, sets, tuning=True), at, f"{k:g}")
        return found.rows()

    def run_tuned(self, tuned: Sequence[Row]) -> list[Row]:
        """Runs every configuration, each variant with the threshold K chosen for its network."""
        found = ResultLines()
        for at in self.plan.points:
            best = {name: chosen_k(tuned, at.network, name) for name in TUNED_VARIANTS}
            best |= dict.fromkeys(ABQ_SINGLE_CHANGES, best["abq"])
            sets = {path: one for name, k in best.items() for path, one in k_settings(at, name, k).items()}
            found.add(self.sweep(at, [*MAIN_VARIANTS, *self.plan.single_changes.get(at, ())], sets), at)
        return found.rows()


def tuning_points(plan: Plan) -> list[Point]:
    """Returns the first configuration of each network."""
    first: dict[str, Point] = {}
    for at in plan.points:
        first.setdefault(at.network, at)
    return list(first.values())


def chosen_k(tuned: Sequence[Row], network: str, variant: str) -> float:
    """Returns the threshold K with the lowest product of mean QCT and mean background FCT.

    The smallest of equal candidates is taken. Candidates with unfinished flows are left out.
    """
    means: dict[str, dict[str, float]] = {}
    for row in tuned:
        if (row.case.network, row.case.variant) == (network, variant) and row.case.k:
            means.setdefault(row.case.k, {})[row.metric] = row.mean
    both = {float(k): of for k, of in means.items() if of.keys() >= {QCT_MEAN, BACKGROUND}}
    cost = {k: of[QCT_MEAN] * of[BACKGROUND] for k, of in both.items()}
    if not cost:
        raise SystemExit(f"{variant} in {network}: no candidate of K after which all flows ended")
    return min(sorted(cost), key=lambda k: cost[k])


def run_study(plan: Plan, out: Path) -> list[Row]:
    """Runs all sweeps in one store and returns their rows."""
    runner = Runner(plan, out)
    tuned = runner.run_tuning()
    return [*runner.run_tuned(tuned), *tuned]


def relative_difference(
    rows: Mapping[tuple[Case, str], Row], case: Case, metric: str, name: str
) -> common.RelativeDifference | None:
    """Returns a variant's difference from a reference as a share of the reference's mean."""
    margin = MARGIN if metric in TIME_METRICS else COUNT_MARGIN
    return common.relative_difference(rows, case, reference_case(case, name), (metric, name, margin))
