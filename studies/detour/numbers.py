"""Numbers of the study of detour policies of DIBS: networks, loads, sweeps and their rows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa

import overspill
from overspill import Key, Results, columns
from studies import common
from studies.common import Study, TableLine, require_complete, summarize_metrics

SCENARIO = Path(__file__).with_name("study.toml")
QPS_PATH, K_PATH = "traffic.query.qps", "switch.marking.k"
THETA_PATH, LAMBDA_PATH = (f"variants.pabo.switch.overflow.{name}" for name in ("theta", "lambda"))
ALPHA_PATH = "variants.drop_shared.switch.buffer.alpha"
PATH_OF_SYMBOL = {"θ": THETA_PATH, "λ": LAMBDA_PATH, "α": ALPHA_PATH, "K": K_PATH}
Sets = Mapping[str, object]

LINK = {"rate": "1Gbps", "delay": "1us"}
HYPERX: Sets = {"topology": {"kind": "hyperx", "dims": [4, 4], "hosts_per_switch": 8, "link": LINK}}
JELLYFISH: Sets = {
    "topology": {"kind": "jellyfish", "switches": 16, "degree": 6, "hosts_per_switch": 8, "link": LINK}
}
WIDE_HYPERX: Sets = {"topology": {"kind": "hyperx", "dims": [4, 8], "hosts_per_switch": 4, "link": LINK}}
EIGHT_PATHS: Sets = {"switch.routing": {"kind": "k_shortest", "k": 8}}
NETWORKS: Mapping[str, Sets] = {
    "fat_tree": {},
    "hyperx": HYPERX,
    "jellyfish": JELLYFISH,
    "hyperx, 8 paths": {**HYPERX, **EIGHT_PATHS},
    "jellyfish, 8 paths": {**JELLYFISH, **EIGHT_PATHS},
    "hyperx_wide": WIDE_HYPERX,
}
ONE_CLASS: Sets = {"traffic.query.class": 0, "traffic.background.class": 0}
SWAPPED_CLASSES: Sets = {"traffic.query.class": 0, "traffic.background.class": 7}

DETOUR_POLICIES = (
    *("random", "load_aware", "flow_all", "flow_short", "flow_long"),
    *("probabilistic", "probabilistic_early"),
)
POLICIES = ("drop", "drop_no_fast_retransmit", *DETOUR_POLICIES)
WIDE_HYPERX_POLICIES = ("drop", "drop_no_fast_retransmit", "random", "load_aware", "flow_all")
SINGLE_CHANGES = (
    *("drop", "random", "probabilistic", "probabilistic_early", "random_not_back", "random_at_most_8"),
    *("random_not_marked", "random_fast_retransmit", "drop_strict_priority", "flow_all", "flow_short"),
    "flow_short_1mb",
)
SWAPPED_CLASS_POLICIES = ("random", "probabilistic", "probabilistic_early")
TUNED_VARIANTS: Mapping[str, tuple[str, ...]] = {
    "dibs": ("random", "load_aware", "flow_all", "probabilistic"),
    "pabo": ("pabo",),
    "pool": ("drop_shared",),
}
OTHER_MECHANISMS = ("drop", "drop_rto_1ms", "drop_shared")
REFERENCES = ("random", "dibs_tuned", "drop")

QCT, QCT_TAIL, BACKGROUND = "qct_mean", "qct_p99", "fct_p99[background, up to 100 KB]"
DETOURED_SHARE, DETOURS_MEAN, DETOURS_TAIL = (
    "detoured_share",
    "detours_mean[of detoured]",
    "detours_p99[of detoured]",
)
ENTROPY, LINK_UTILISATION = "reorder_entropy", Key("link_utilisation_mean", of="switches")
METRICS = (
    *(QCT, QCT_TAIL, BACKGROUND, Key("fct_p99", traffic="background"), Key("fct_mean", traffic="background")),
    *(DETOURED_SHARE, DETOURS_MEAN, DETOURS_TAIL, "hops_mean", "bounced_share", "drop_ratio", "timeouts"),
    *(ENTROPY, Key("reorder_entropy", traffic="query"), "reorder_extent_p99", "retransmits"),
    *(Key("load_payload", of="host"), LINK_UTILISATION),
)
SHORT_FLOW_BYTES = 100_000  # bytes
TABLES = ("flows", "packet_hist")
SECONDS_PER_PS = 1e-12  # seconds in a picosecond


@dataclass(frozen=True)
class Plan:
    """Loads in queries per second, seeds, settings to choose from, and settings for small trials."""

    loads: Mapping[str, Sequence[int]] = field(
        default_factory=lambda: {
            "fat_tree": (300, 1000, 2000, 4000),
            "hyperx": (1000, 2000, 4000),
            "jellyfish": (1000, 2000, 4000),
            "hyperx, 8 paths": (2000,),
            "jellyfish, 8 paths": (2000,),
            "hyperx_wide": (4000,),
        }
    )
    single_change_loads: Mapping[str, int] = field(default_factory=lambda: {"fat_tree": 2000, "hyperx": 4000})
    tuned_loads: Sequence[int] = (300, 1000, 2000)
    tuned_at: int = 1000
    thetas: Sequence[float] = (0.6, 0.8)
    lambdas: Sequence[int] = (1, 50)
    alphas: Sequence[int] = (1, 2, 4, 8)
    marking_thresholds: Sequence[int] = (5, 10, 20, 40)
    seeds: int = 10
    tuning: int = 5  # seeds after the main ones
    jobs: int | None = None
    sets: Sets = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    """Configuration; `setting` is set only in the rows from which a setting is chosen."""

    series: str
    network: str
    load: str
    variant: str
    setting: str = ""


Row = common.Row[Case]


def comparison_family(case: Case, metric: str) -> tuple[str, ...]:
    """Group of comparisons that Holm's method corrects together: variants of a network under one load."""
    return (metric, case.series, case.network, case.load)


def reference_case(case: Case, name: str) -> Case:
    """Returns a reference variant in the same network under the same load."""
    return Case(case.series, case.network, case.load, name)


STUDY = Study(Case, METRICS, REFERENCES, reference_case, comparison_family)


@dataclass
class ResultLines:
    """Values of runs and their means, from several sweeps, as lines of tables with their configuration."""

    table: list[TableLine] = field(default_factory=list)
    summary: list[TableLine] = field(default_factory=list)

    def add(self, sweep: Results, case: Case) -> None:
        """Adds the values and means of a sweep; its points and variants complete `case`."""
        extra = list(derived_metrics(require_complete(sweep)))
        for one in [*sweep.metrics.to_pylist(), *extra]:
            self.table.append(one | {"case": complete_case(case, one)})
        for one in [*sweep.summary.to_pylist(), *summarize_metrics(extra)]:
            self.summary.append(one | {"case": complete_case(case, one)})

    def rows(self) -> list[Row]:
        """Returns the rows, with their differences from the references."""
        return STUDY.rows(self.table, self.summary, lambda one: one["case"])


def complete_case(case: Case, one: TableLine) -> Case:
    """Returns `case` with the variant and setting of a line, and with its load if `case` has none."""
    tried = [f"{name} {one[path]}" for name, path in PATH_OF_SYMBOL.items() if path in one]
    variant, load = str(one["variant"]), case.load or str(one[QPS_PATH])
    return Case(case.series, case.network, load, case.variant.format(variant), ", ".join(tried))


def derived_metrics(sweep: Results) -> Iterator[TableLine]:
    """Yields metrics computed from tables of runs: FCTs of short background flows, and detours."""
    if sweep.folder is None:
        return
    for run in sweep.each():
        front = {**run.point, "variant": run.variant, "seed": run.seed}
        for name, make in (("flows", short_flow_metrics), ("packet_hist", detour_metrics)):
            for metric, (value, unit) in make(run.table(name)).items():
                yield front | {"metric": metric, "value": value, "unit": unit}


def short_flow_metrics(flows: pa.Table) -> dict[str, tuple[float, str]]:
    """Returns the 99th percentile of FCT of measured background flows of up to 100 KB."""
    counts = columns.column_to_numpy(flows, "measured") != 0
    counts &= (columns.column_to_numpy(flows, "traffic") == 1) & (
        columns.column_to_numpy(flows, "bytes") <= SHORT_FLOW_BYTES
    )
    took = np.sort(
        (columns.column_to_numpy(flows, "end_ps") - columns.column_to_numpy(flows, "start_ps"))[counts]
    )
    return (
        {BACKGROUND: (float(took[-(-99 * len(took) // 100) - 1]) * SECONDS_PER_PS, "s")} if len(took) else {}
    )


def detour_metrics(hist: pa.Table) -> dict[str, tuple[float, str]]:
    """Returns mean and 99th percentile of the detours of data packets that were detoured."""
    some = (columns.column_to_numpy(hist, "data") == 1) & (columns.column_to_numpy(hist, "metric") == 2)
    some &= columns.column_to_numpy(hist, "low") > 0
    if not some.any():
        return {}
    low, count = (columns.column_to_numpy(hist, name)[some].astype(float) for name in ("low", "count"))
    high = columns.column_to_numpy(hist, "high")[some].astype(float)
    order = np.argsort(low)
    middle, many = ((low + high - 1) / 2)[order], count[order]
    tail = middle[np.searchsorted(np.cumsum(many), 0.99 * many.sum())]
    return {
        DETOURS_MEAN: (float((middle * many).sum() / many.sum()), "detours"),
        DETOURS_TAIL: (float(tail), "detours"),
    }


@dataclass(frozen=True)
class Runner:
    """Runner of the sweeps of one plan, with one store."""

    plan: Plan
    out: Path

    def sweep(
        self, over: Mapping[str, Sequence[object]], variants: Sequence[str], sets: Sets, tuning: bool = False
    ) -> Results:
        """Runs a sweep on the main seeds, or on the seeds used to choose settings."""
        seeds, first = (self.plan.tuning, self.plan.seeds + 1) if tuning else (self.plan.seeds, 1)
        return overspill.sweep(
            SCENARIO,
            over={path: list(values) for path, values in over.items()},
            variants=list(variants),
            seeds=seeds,
            seed=first,
            jobs=self.plan.jobs,
            sets={**sets, **self.plan.sets},
            tables=TABLES,
            out=self.out,
        )

    def run_policies(self) -> list[Row]:
        """Runs every detour policy in every network under every load."""
        found = ResultLines()
        for network, loads in self.plan.loads.items():
            variants = WIDE_HYPERX_POLICIES if network == "hyperx_wide" else POLICIES
            sweep = self.sweep({QPS_PATH: loads}, variants, NETWORKS[network])
            found.add(sweep, Case("policy", network, "", "{}"))
        return found.rows()

    def run_single_changes(self) -> list[Row]:
        """Runs other settings of some policies, and swapped classes, in each network under one load."""
        found = ResultLines()
        for network, load in self.plan.single_change_loads.items():
            over, sets = {QPS_PATH: [load]}, NETWORKS[network]
            found.add(self.sweep(over, SINGLE_CHANGES, sets), Case("aside", network, "", "{}"))
            other = self.sweep(over, SWAPPED_CLASS_POLICIES, {**sets, **SWAPPED_CLASSES})
            found.add(other, Case("swapped", network, "", "{}"))
        return found.rows()

    def run_tuning(self) -> list[Row]:
        """Runs sixteen settings each of DIBS, PABO and the shared buffer, on seeds of their own."""
        plan, found = self.plan, ResultLines()
        sets = {**ONE_CLASS, QPS_PATH: plan.tuned_at}
        case = Case("tune", "fat_tree", str(plan.tuned_at), "{}")
        grids: dict[str, dict[str, Sequence[object]]] = {
            "dibs": {},
            "pabo": {THETA_PATH: plan.thetas, LAMBDA_PATH: plan.lambdas},
            "pool": {ALPHA_PATH: plan.alphas},
        }
        for name, grid in grids.items():
            over = {**grid, K_PATH: [f"{k}pkt" for k in plan.marking_thresholds]}
            found.add(self.sweep(over, TUNED_VARIANTS[name], sets, tuning=True), case)
        return found.rows()

    def run_tuned_mechanisms(self, tuned: Sequence[Row]) -> list[Row]:
        """Runs DIBS, PABO and the shared buffer, untuned and tuned, and the other mechanisms."""
        found, over = ResultLines(), {QPS_PATH: self.plan.tuned_loads}
        runs: list[tuple[str, Sequence[str], Sets]] = [
            ("{}", OTHER_MECHANISMS, {}),
            ("dibs", ("random",), {}),
            ("pabo", ("pabo",), {}),
        ]
        best = {name: chosen_setting(tuned, name) for name in TUNED_VARIANTS}
        runs += [(f"{name}_tuned", (case.variant,), tried_settings(case)) for name, case in best.items()]
        for name, variants, sets in runs:
            found.add(self.sweep(over, variants, {**ONE_CLASS, **sets}), Case("duel", "fat_tree", "", name))
        return found.rows()


def chosen_setting(tuned: Sequence[Row], name: str) -> Case:
    """Returns the tried setting of DIBS, PABO or the shared buffer that has the lowest mean QCT."""
    of = [one for one in tuned if one.metric == QCT and one.case.variant in TUNED_VARIANTS[name]]
    return min(of, key=lambda one: one.mean).case


def tried_settings(case: Case) -> Sets:
    """Returns the scenario settings for a tried setting of DIBS, PABO or the shared buffer."""
    return {PATH_OF_SYMBOL[name]: text for name, text in (one.split(" ") for one in case.setting.split(", "))}


def run_study(plan: Plan, out: Path) -> list[Row]:
    """Runs all sweeps in one store and returns their rows."""
    runner = Runner(plan, out)
    tuned = runner.run_tuning()
    return [*runner.run_policies(), *runner.run_single_changes(), *tuned, *runner.run_tuned_mechanisms(tuned)]
