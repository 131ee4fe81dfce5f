"""Numbers of the study of PABO's theta and lambda: its sweeps and their rows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import overspill
from overspill import Key, Results
from studies import common
from studies.common import Study, TableLine, require_complete

SCENARIO = Path(__file__).with_name("study.toml")
THETA_PATH, LAMBDA_PATH = "switch.overflow.theta", "switch.overflow.lambda"
LOAD_PATH = "traffic.background.load.fraction"
REFERENCES = ("drop", "dctcp_k32", "dctcp_k32_rto_1ms", "dctcp_k32_shared")
BASELINE_VARIANTS = (*REFERENCES, "drop_no_fast_retransmit", "dctcp")
BOUNCING_VARIANTS = ("pabo", "pabo_dctcp")
SHORT_FCT, ALL_FCT, QCT, ENTROPY = Key("fct_p99", size="0-100KB"), "fct_p99", "qct_mean", "reorder_entropy"
METRICS = (
    *(
        SHORT_FCT,
        ALL_FCT,
        Key("fct_p99", traffic="background"),
        "fct_mean",
        Key("fct_mean", size="10MB+"),
        QCT,
        "qct_p95",
        ENTROPY,
    ),
    *(
        "drop_ratio",
        "bounced_share",
        "hops_mean",
        "hops_max",
        "timeouts",
        "retransmits",
        Key("load_payload", of="host"),
    ),
)


@dataclass(frozen=True)
class Plan:
    """Values of theta and lambda, loads, seeds, and settings for small trials."""

    thetas: tuple[float, ...] = (0.5, 0.7, 0.8, 0.9, 0.95)
    lambdas: tuple[float, ...] = (1, 10, 50, 160)
    loads: tuple[float, ...] = (0.2, 0.4, 0.6)
    seeds: int = 10
    jobs: int | None = None
    sets: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    """Configuration of the grid or of the sweep over loads; theta and lambda are empty without bounces."""

    series: str
    load: str
    theta: str
    lambda_: str
    variant: str


Row = common.Row[Case]


def comparison_family(case: Case, metric: str) -> tuple[str, ...]:
    """Comparisons that Holm's method corrects together: a variant's grid, or all variants under one load."""
    return (metric, case.variant) if case.series == "grid" and case.theta else (metric, case.load)


def reference_case(case: Case, name: str) -> Case:
    """Returns a reference variant under the same load."""
    return Case(case.series, case.load, "", "", name)


STUDY = Study(Case, METRICS, REFERENCES, reference_case, comparison_family)


def run_study(plan: Plan, out: Path) -> list[Row]:
    """Runs both sweeps in one store and returns their rows."""
    loads = overspill.sweep(
        SCENARIO,
        over={LOAD_PATH: list(plan.loads)},
        seeds=plan.seeds,
        jobs=plan.jobs,
        sets=plan.sets,
        out=out,
    )
    grid = overspill.sweep(
        SCENARIO,
        over={THETA_PATH: list(plan.thetas), LAMBDA_PATH: list(plan.lambdas)},
        variants=[*BASELINE_VARIANTS, *BOUNCING_VARIANTS],
        seeds=plan.seeds,
        jobs=plan.jobs,
        sets=plan.sets,
        out=out,
    )
    return [*sweep_rows(grid, grid_case), *sweep_rows(loads, load_case)]


def sweep_rows(sweep: Results, case_of: Callable[[TableLine], Case]) -> list[Row]:
    """Returns the rows of a complete sweep; exits if runs failed or flows did not finish."""
    made = require_complete(sweep)
    return STUDY.rows(made.metrics.to_pylist(), made.summary.to_pylist(), case_of)


def grid_case(row: TableLine) -> Case:
    """Returns the configuration of a line of the grid over theta and lambda."""
    variant = str(row["variant"])
    at = ("", "") if variant in BASELINE_VARIANTS else (str(row[THETA_PATH]), str(row[LAMBDA_PATH]))
    return Case("grid", "0.4", *at, variant)


def load_case(row: TableLine) -> Case:
    """Returns the configuration of a line of the sweep over loads."""
    variant = str(row["variant"])
    at = ("", "") if variant in BASELINE_VARIANTS else ("0.8", "50")
    return Case("load", str(row[LOAD_PATH]), *at, variant)
