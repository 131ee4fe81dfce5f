"""Numbers of the study of hosts in an incast: sweeps over servers, minimum RTO and connections; rows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa

import overspill
from overspill import Results, columns
from studies import common
from studies.common import Study, TableLine, exact_metrics, summarize_metrics

SCENARIO = Path(__file__).with_name("study.toml")
DEGREE_PATH, CONNECTION_PATH = "traffic.incast.sessions", "traffic.incast.connection"
TEXTBOOK_HOSTS = ("textbook", "textbook_dctcp", "textbook_cp")  # hosts with `initial_rto`
TCP_VARIANTS = ("textbook", "host_2011", "today")
DCTCP_VARIANTS = ("textbook_dctcp", "host_2011_dctcp", "today_dctcp")
CP_VARIANTS = ("textbook_cp", "host_2011_cp", "today_cp")
SINGLE_CHANGES = (
    *("host_2011_forgets", "host_2011_sack", "host_2011_no_frto", "host_2011_bic", "host_2011_delays"),
    "today_reno",
)
REFERENCES = ("textbook", "host_2011")
ROUND_PS = 10**12  # ps from one request to the next

MEAN_COMPLETION, WORST_COMPLETION, REPLY_TIMEOUTS = "round_mean", "round_worst", "reply_timeouts"
METRICS = (MEAN_COMPLETION, WORST_COMPLETION, REPLY_TIMEOUTS, "retransmits", "drops", "undos", "trims")


@dataclass(frozen=True)
class Plan:
    """Numbers of servers, minimum RTOs and seeds of the study, and settings for small trials."""

    degrees: Sequence[int] = (9, 18, 27, 36, 54, 72, 99)
    timeouts: Sequence[str] = ("10ms", "200ms")
    persistent_degree: int = 36
    single_change_degree: int = 36
    seeds: int = 10
    jobs: int | None = None
    sets: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    """Variant with a number of servers, a minimum RTO, and new or persistent connections."""

    degree: str
    rto: str
    connection: str
    variant: str


Row = common.Row[Case]
Rows = Mapping[tuple[Case, str], Row]


def comparison_family(case: Case, metric: str) -> tuple[str, ...]:
    """Group of comparisons that Holm's method corrects together: all variants in a configuration."""
    return (metric, case.degree, case.rto, case.connection)


def reference_case(case: Case, name: str) -> Case:
    """Returns a reference in the same configuration, with DCTCP or CP if the compared variant has it."""
    ending = next((one for one in ("_dctcp", "_cp") if case.variant.endswith(one)), "")
    return Case(case.degree, case.rto, case.connection, name + ending)


STUDY = Study(Case, METRICS, REFERENCES, reference_case, comparison_family)


def rto_settings(rto: str, variants: Sequence[str]) -> dict[str, object]:
    """Returns the scenario settings for the minimum RTO of every variant, and the first timeout of some."""
    made: dict[str, object] = {f"variants.{name}.transport.min_rto": rto for name in variants}
    made |= {f"variants.{name}.transport.initial_rto": rto for name in variants if name in TEXTBOOK_HOSTS}
    return made


def run_study(plan: Plan, out: Path) -> list[Row]:
    """Runs every sweep in one store and returns their rows."""
    main = [*TCP_VARIANTS, *DCTCP_VARIANTS, *CP_VARIANTS]
    jobs = [(rto, "new", plan.degrees, main) for rto in plan.timeouts]
    jobs += [(rto, "new", [plan.single_change_degree], [*SINGLE_CHANGES]) for rto in plan.timeouts]
    jobs += [(rto, "persistent", [plan.persistent_degree], main) for rto in plan.timeouts]
    table: list[TableLine] = []
    for rto, connection, degrees, variants in jobs:
        sweep = overspill.sweep(
            SCENARIO,
            over={DEGREE_PATH: list(degrees)},
            variants=list(variants),
            seeds=plan.seeds,
            jobs=plan.jobs,
            sets={CONNECTION_PATH: connection, **rto_settings(rto, variants), **plan.sets},
            tables=["flows"],
            out=out,
        )
        place = {"rto": rto, "connection": connection}
        table += [one | place for one in [*exact_metrics(sweep), *round_metrics(sweep)]]
    return STUDY.rows(table, summarize_metrics(table), case_of)


def case_of(line: TableLine) -> Case:
    """Returns the variant and the configuration of a line."""
    return Case(str(line[DEGREE_PATH]), line["rto"], line["connection"], str(line["variant"]))


def round_metrics(sweep: Results) -> Iterator[TableLine]:
    """Yields mean and longest completion time of each run's rounds, and timeouts of replies.

    Timeouts of requests are left out, since they delay no reply: only their ACKs are dropped at a full port,
    and the server already has the request.
    """
    for one in sweep.each():
        front = {**one.point, "variant": one.variant, "seed": one.seed, "unit": "s"}
        flows = one.table("flows")
        replies = columns.column_to_numpy(flows, "role") == 0
        expired = float(columns.column_to_numpy(flows, "timeouts")[replies].sum())
        yield front | {"metric": REPLY_TIMEOUTS, "value": expired, "unit": "events"}
        took = round_completions(flows)
        if len(took):
            yield front | {"metric": MEAN_COMPLETION, "value": float(took.mean())}
            yield front | {"metric": WORST_COMPLETION, "value": float(took.max())}


def round_completions(flows: pa.Table) -> np.ndarray:
    """Returns the completion times of rounds in seconds, from requests to the last byte of all replies."""
    starts, ends = (columns.column_to_numpy(flows, name).astype(float) for name in ("start_ps", "end_ps"))
    # A reply that starts late belongs to the round of its request, whose query it shares.
    query = columns.column_to_numpy(flows, "query")
    first = {q: starts[query == q].min() for q in columns.distinct_values(query)}
    of_round: dict[int, float] = {}
    for q, start in first.items():
        number = int(start // ROUND_PS)
        last = float(ends[query == q].max())
        of_round[number] = max(of_round.get(number, 0.0), last - number * ROUND_PS)
    return np.array(list(of_round.values())) * 1e-12
