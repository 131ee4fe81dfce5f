"""Numbers of the study of trimmed packets: configurations, sweeps, rows, and margins of differences."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import overspill
from overspill import Key, metrics
from studies import common
from studies.common import RelativeDifference, Study, TableLine, exact_metrics, summarize_metrics

SCENARIO = Path(__file__).with_name("study.toml")
SENDERS_PATH = "traffic.query.senders"
HEADER_BUFFER_BYTES = 4096  # bytes of buffer that CP reserves for headers
MAIN_VARIANTS = ("tcp", "dctcp", "cp", "strict", "quarter", "return")
SIZE_VARIANTS = ("cp_128", "cp_256", "strict_128", "strict_256")
LATER_VARIANTS = ("strict_128_mark", "ten_to_one_128", "quarter_128")
SINGLE_CHANGES = (
    *("cp_mark", "strict_mark", "cp_128", "cp_256", "strict_128", "strict_256", "ten_to_one", "strict_coin"),
    *("cp_16k", "strict_16k", "cp_tcp", "strict_tcp", "cp_spray", "strict_spray", "cp_rto_10ms"),
    *("strict_rto_10ms", "dctcp_rto_10ms", "dctcp_rack", *LATER_VARIANTS),
)
DROP_VARIANTS = ("tcp", "dctcp", "dctcp_rto_10ms", "dctcp_rack")
LARGER_HEADER_BUFFERS = {"cp_16k": 16384, "strict_16k": 16384}
REFERENCES = ("dctcp", "cp", "strict", "twin")

QCT, QCT_TAIL = "qct_p50", "qct_p99"
BACKGROUND, BACKGROUND_TAIL = (Key(name, traffic="background") for name in ("fct_mean", "fct_p99"))
TIME_METRICS = (QCT, QCT_TAIL, BACKGROUND, BACKGROUND_TAIL)
UNNOTIFIED_TRIMS = "unheard"
METRICS = (
    *(
        "qct_mean",
        *TIME_METRICS,
        Key("slowdown_mean", traffic="background"),
        Key("fct_mean", traffic="query"),
    ),
    *("trims", "packs", UNNOTIFIED_TRIMS, "drops", "timeouts", "retransmits", "marks", "unfinished_flows"),
)
MARGIN, COUNT_MARGIN = 0.05, 0.2


@dataclass(frozen=True)
class Point:
    """Configuration: link rate in Gb/s, port buffer in KB per Gb/s, servers that reply to a query."""

    rate: int
    buffer: int
    degree: int


@dataclass(frozen=True)
class Plan:
    """Configurations, single-change variants, seeds, and settings for small trials."""

    rates: Sequence[int] = (10, 100)
    buffers: Sequence[int] = (5, 15, 30, 75, 150)
    degrees: Sequence[int] = (8, 32, 128)
    buffer: int = 15
    degree: int = 32
    single_changes: Mapping[Point, Sequence[str]] = field(
        default_factory=lambda: {
            Point(10, 15, 32): SINGLE_CHANGES,
            Point(10, 15, 128): (*SIZE_VARIANTS, "ten_to_one", "strict_coin", "cp_16k", "strict_16k"),
        }
    )
    fast_link_variants: Sequence[str] = (
        "dctcp",
        "cp",
        "strict",
        "quarter",
        "return",
    )  # variants at more than 10 Gb/s
    seeds: int = 10
    jobs: int | None = None
    sets: Mapping[str, object] = field(default_factory=dict)

    def points(self) -> list[Point]:
        """Returns each configuration once; it differs from the middle one in one factor."""
        grid = [Point(rate, buffer, self.degree) for rate in self.rates for buffer in self.buffers]
        grid += [Point(rate, self.buffer, degree) for rate in self.rates for degree in self.degrees]
        return list(dict.fromkeys(grid))


@dataclass(frozen=True)
class Case:
    """Variant in a configuration."""

    rate: str
    buffer: str
    degree: str
    variant: str

    @property
    def point(self) -> tuple[str, str, str]:
        """Configuration in which the variant was run."""
        return self.rate, self.buffer, self.degree


Row = common.Row[Case]


def comparison_family(case: Case, metric: str) -> tuple[str, ...]:
    """Comparisons that Holm's method corrects together: main or single-change variants of a configuration."""
    return (metric, *case.point, "main" if case.variant in MAIN_VARIANTS else "aside")


def reference_case(case: Case, name: str) -> Case:
    """Returns a reference variant in the same configuration.

    A single-change variant is compared only with the variant that it changes. One of `strict` is also
    compared with the same change of `cp`, which has the name `twin`.
    """
    variant = case.variant
    if (variant, name) == ("dctcp_rack", "twin"):  # hosts alone against the switch
        return Case(*case.point, "cp")
    if name == "twin":
        name = variant.replace("strict", "cp") if variant.startswith("strict_") else ""
        return Case(*case.point, name if name in SINGLE_CHANGES else "")
    return Case(*case.point, name if variant in MAIN_VARIANTS or name == base_variant(variant) else "")


def base_variant(variant: str) -> str:
    """Returns the variant from which a single-change variant differs in one setting."""
    return next((name for name in ("dctcp", "cp") if variant.startswith(name)), "strict")


STUDY = Study(Case, METRICS, REFERENCES, reference_case, comparison_family)


def point_settings(at: Point) -> dict[str, object]:
    """Returns the scenario settings of a configuration.

    Buffer, marking threshold, window and query size grow with the rate, so that a query lasts equally long.
    """
    memory = at.buffer * 1000 * at.rate
    short = at.rate > 10  # At 100 Gb/s, a tenth of the time has as many packets.
    stop = "3500us" if short else "12ms"
    rooms = dict.fromkeys(DROP_VARIANTS, 0) | LARGER_HEADER_BUFFERS
    window = f"{at.rate}pkt"
    return {
        "transport.initial_window": window,
        **{f"variants.{name}.transport.initial_window": window for name in ("tcp", "cp_tcp", "strict_tcp")},
        "topology.link.rate": f"{at.rate}Gbps",
        "switch.buffer.size": f"{memory - HEADER_BUFFER_BYTES}B",
        "switch.marking.k": f"{3 * at.rate}KB",
        "traffic.query.size": f"{64_000 * at.rate // at.degree}B",
        "traffic.query.start": "500us" if short else "2ms",
        "traffic.query.stop": stop,
        "traffic.background.stop": stop,
        **{f"variants.{name}.switch.buffer.size": f"{memory - room}B" for name, room in rooms.items()},
    }


def run_study(plan: Plan, out: Path) -> list[Row]:
    """Runs a sweep for each configuration in one store, and returns the rows."""
    table: list[TableLine] = []
    summary: list[TableLine] = []
    for at in plan.points():
        variants = [
            *(plan.fast_link_variants if at.rate > 10 else MAIN_VARIANTS),
            *plan.single_changes.get(at, ()),
        ]
        sweep = overspill.sweep(
            SCENARIO,
            over={SENDERS_PATH: [at.degree]},
            variants=variants,
            seeds=plan.seeds,
            jobs=plan.jobs,
            sets={**point_settings(at), **plan.sets},
            out=out,
        )
        lines = exact_metrics(sweep)
        more = list(count_unnotified_trims(lines))
        place = {"rate": str(at.rate), "buffer": str(at.buffer), "degree": str(at.degree)}
        table += [one | place for one in [*lines, *more]]
        summary += [one | place for one in [*sweep.summary.to_pylist(), *summarize_metrics(more)]]
    return STUDY.rows(table, summary, case_of)


def case_of(line: TableLine) -> Case:
    """Returns the variant and the configuration of a line."""
    return Case(line["rate"], line["buffer"], line["degree"], str(line["variant"]))


def count_unnotified_trims(lines: Sequence[TableLine]) -> Iterator[TableLine]:
    """Yields the number of trimmed packets whose loss notification (PACK) did not reach the sender.

    Header or PACK was dropped, or the header was sent back.
    """
    counts: dict[tuple[str, int], dict[str, float]] = {}
    # If flows continue after the window, PACKs of later trims would be counted, but not these trims.
    without_end = {one["variant"] for one in lines if one["metric"] == "unfinished_flows" and one["value"]}
    for one in (one for one in lines if one["variant"] not in without_end):
        if (name := metrics.key_of_row(one)) in ("trims", "packs"):
            counts.setdefault((one["variant"], one["seed"]), {})[name] = one["value"]
    for (variant, seed), found in counts.items():
        if len(found) == 2:
            value = found["trims"] - found["packs"]
            front = {"variant": variant, "seed": seed, "metric": UNNOTIFIED_TRIMS}
            yield front | {"value": value, "unit": "packets"}


Rows = Mapping[tuple[Case, str], Row]


def relative_difference(rows: Rows, case: Case, metric: str, name: str) -> RelativeDifference | None:
    """Returns a variant's relative difference from a reference, or `None` if it has none."""
    margin = MARGIN if metric in TIME_METRICS else COUNT_MARGIN
    return common.relative_difference(rows, case, reference_case(case, name), (metric, name, margin))
