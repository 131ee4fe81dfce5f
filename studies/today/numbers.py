"""Numbers of the study of occupancy sampling in modern networks: sweeps, rows, and goodput over time."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from pathlib import Path

import numpy as np

import overspill
from overspill import Key, RunData, columns, stats
from studies import common
from studies.common import Study, TableLine, exact_metrics, summarize_metrics

HERE = Path(__file__).parent
MAIN_VARIANTS = ("pfc", "dcqcn", "qcn_out", "qcn_as", "qcn_os")
SINGLE_CHANGES = ("two_samples", "qcn_as_fast", "qcn_os_fast", "pfc_shared", "dcqcn_shared")
RING_SINGLE_CHANGES = SINGLE_CHANGES[1:]
MANY_FLOWS_VARIANTS = ("pfc", "qcn_out", "qcn_as", "qcn_os", "two_samples")
QCN_VARIANTS = ("qcn_out", "qcn_as", "qcn_os")
REFERENCES = ("pfc", "dcqcn", "qcn_as")
SERIES = ("hotspot", "reduce", "many")
# Time bins of goodput, and start of the hotspot, in seconds.
STEP_SECONDS = {"hotspot": 500e-6, "many": 1e-3}
ONSET_SECONDS = {"hotspot": 1e-3, "many": 5e-3}
# Payload of a frame as a share of its bytes on the wire.
PAYLOAD_SHARE = {"hotspot": 4096 / 4182, "many": 1464 / 1542}
RECOVERED_SHARE, AVERAGING_SECONDS = (
    0.9,
    5e-3,
)  # share of the victims' entitlement, and averaging window in seconds

VICTIMS_GOODPUT, VICTIMS_JAIN = Key("goodput", traffic="victims"), Key("jain", traffic="victims")
HOT_GOODPUT, READS_TAIL = Key("goodput", traffic="hotspot"), Key("fct_p99", traffic="reads")
READS_MEDIAN = Key("fct_p50", traffic="reads")
RING_MEAN, RING_MEDIAN, RING_TAIL = (Key(one, traffic="ring") for one in ("qct_mean", "qct_p50", "qct_p95"))
RING_GOODPUT, WRITES_MEAN = Key("goodput", traffic="ring"), Key("qct_mean", traffic="writes")
WRITES_TAIL = Key("qct_p95", traffic="writes")
VICTIM_GOODPUT, CULPRIT_GOODPUT = Key("goodput", traffic="victim"), Key("goodput", traffic="culprit")
HOT_FLOW_GOODPUTS = tuple(Key("goodput", traffic=f"hot{i}") for i in range(1, 5))
PAUSED_FRACTION, PAUSED_HOST_FRACTION = "paused_fraction_mean", Key("paused_fraction_mean", tier="host")
CNMS, CNM_FEEDBACK = "cnms", "cnm_feedback_mean"
CNMS_TO_VICTIMS = (Key("cnms", traffic="victims"), Key("cnms", traffic="victim"), Key("cnms", traffic="ring"))
SATURATED_HOSTS = "saturation_hosts_max"
LATE_VICTIMS, LATE_HOT, RECOVERY, NOT_RECOVERED = "victims_late", "hot_late", "recovery", "not_recovered"
METRICS = (
    *(
        VICTIMS_GOODPUT,
        VICTIMS_JAIN,
        HOT_GOODPUT,
        READS_TAIL,
        READS_MEDIAN,
        RING_MEAN,
        RING_MEDIAN,
        RING_TAIL,
        RING_GOODPUT,
        WRITES_MEAN,
        WRITES_TAIL,
    ),
    *(
        VICTIM_GOODPUT,
        CULPRIT_GOODPUT,
        *HOT_FLOW_GOODPUTS,
        PAUSED_FRACTION,
        PAUSED_HOST_FRACTION,
        SATURATED_HOSTS,
        CNMS,
        *CNMS_TO_VICTIMS,
        "cnps",
    ),
    *("marks", "drops", CNM_FEEDBACK, LATE_VICTIMS, LATE_HOT, RECOVERY, NOT_RECOVERED),
)


@dataclass(frozen=True)
class Case:
    """Variant in a configuration of one of the study's series of runs."""

    series: str
    point: str
    variant: str


Row = common.Row[Case]


def comparison_family(case: Case, metric: str) -> tuple[str, ...]:
    """Comparisons that Holm's method corrects together: main or single-change variants of a configuration."""
    main = case.variant in (MANY_FLOWS_VARIANTS if case.series == "many" else MAIN_VARIANTS)
    return (metric, case.series, case.point, "main" if main else "aside")


def reference_case(case: Case, name: str) -> Case:
    """Returns a reference variant in the same configuration."""
    return Case(case.series, case.point, name)


STUDY = Study(Case, METRICS, REFERENCES, reference_case, comparison_family)


@dataclass(frozen=True)
class GoodputStep:
    """Goodput in bit/s of some hosts in one time step: mean over seeds and 95% interval."""

    series: str
    point: str
    variant: str
    who: str
    start: float
    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Point:
    """Configuration: settings, variants, seeds, and the hosts whose goodput over time is recorded."""

    series: str
    name: str
    variants: Sequence[str]
    seeds: int
    sets: Mapping[str, object] = field(default_factory=dict)
    victims: Sequence[int] = ()
    hot: int = 0
    share: float = 0.0  # share of their links that victims are entitled to


def third_of_buffer_settings() -> dict[str, object]:
    """Settings with a third of the buffer and of its thresholds; marking is unchanged."""
    sets: dict[str, object] = {"switch.buffer.size": "500KB", "switch.pause.xoff": "367KB"}
    sets["switch.pause.xon"] = "147KB"
    sets |= {f"variants.{name}.switch.input_buffer": "500KB" for name in MAIN_VARIANTS}
    for name in QCN_VARIANTS:
        sets[f"variants.{name}.switch.notify.q_eq"] = "200KB"
        sets[f"variants.{name}.switch.notify.interval"] = "500KB"
    return sets


def network_settings(k: int) -> dict[str, object]:
    """Settings of a `k`-port fat-tree: six senders, three victims, and clients near the hot host."""
    half = k // 2

    def host(pod: int, edge: int, at: int) -> str:
        return f"h{pod * half * half + edge * half + at}"

    pods = range(1, 4)
    return {
        "topology.k": k,
        "traffic.hotspot.sources": [host(pod, edge, 0) for pod in pods for edge in (0, 1)],
        "traffic.victims.sources": [host(pod, 0, 0) for pod in pods],
        "traffic.victims.destinations": [host(pod % 3 + 1, 1, 1) for pod in pods],
        "traffic.reads.servers": [host(pod, 0, 1) for pod in pods],
        "traffic.reads.clients": [host(0, 1, 0), host(0, 1, 1)],
        "traffic.reads.sessions": 6,
    }


def flow_settings(count: int, hot: int = 1, own: bool = False) -> dict[str, object]:
    """Settings of `count` flows of victim and culprit, and of `hot` flows of each hot adapter.

    With `own`, the rate limit of each flow starts at the flow's rate.
    """
    sets: dict[str, object] = {}
    for name in ("victim", "culprit"):
        sets |= {f"traffic.{name}.flows": count, f"traffic.{name}.rate": f"{5000 // count}Mbps"}
    if hot > 1:
        for at in range(1, 5):
            sets |= {f"traffic.hot{at}.flows": hot, f"traffic.hot{at}.rate": f"{5000 // hot}Mbps"}
    for name in MANY_FLOWS_VARIANTS[1:]:
        sets[f"variants.{name}.host.reaction.min_rate"] = f"{5_000_000 // count}bps"
    if own:
        sets["host.nic.flow_rate"] = f"{5000 // count}Mbps"
    return sets


def rate_settings(gbps: int, scaled: bool = True) -> dict[str, object]:
    """Settings with a different rate of all links and flows.

    With `scaled`, buffer sizes and thresholds in bytes grow by the same factor.
    """
    k = gbps // 10
    sets: dict[str, object] = {"topology.link.rate": f"{gbps}Gbps", "duration": "55ms"}
    for name in ("victim", "culprit", "hot1", "hot2", "hot3", "hot4"):
        sets[f"traffic.{name}.rate"] = f"{5 * k}Gbps"
    if not scaled:
        return sets
    sets |= {"switch.input_buffer": f"{150 * k}KB", "switch.buffer.size": f"{150 * k}KB"}
    sets |= {"switch.pause.xoff": f"{110 * k}KB", "switch.pause.xon": f"{44 * k}KB"}
    for name in MANY_FLOWS_VARIANTS[1:]:
        sets[f"variants.{name}.switch.notify.q_eq"] = f"{60 * k}KB"
        sets[f"variants.{name}.switch.notify.interval"] = f"{150 * k}KB"
        point = f"variants.{name}.host.reaction"
        sets |= {f"{point}.byte_counter": f"{150 * k}KB", f"{point}.min_rate": f"{5 * k}Mbps"}
        sets |= {f"{point}.r_ai": f"{5 * k}Mbps", f"{point}.r_hai": f"{50 * k}Mbps"}
    return sets


BASE_BUFFER, THIRD_OF_BUFFER = "1.5 MB", "0.5 MB"
FLOW_COUNTS = (1, 10, 100, 1000)
IDLE_HOSTS = tuple(16 * (pod % 7 + 1) + 7 for pod in range(1, 8))


def hotspot_point(
    name: str, variants: Sequence[str], seeds: int, sets: Mapping[str, object] | None = None
) -> Point:
    """Returns a configuration of the fat-tree with the seven victims of the scenario."""
    return Point("hotspot", name, variants, seeds, sets or {}, IDLE_HOSTS, 0, 1 - 1 / 14)


def many_flows_point(name: str, seeds: int, sets: Mapping[str, object]) -> Point:
    """Returns a configuration of the single switch."""
    return Point("many", name, MANY_FLOWS_VARIANTS, seeds, sets, (5,), 6, 0.5)


def all_points(seeds: int, few: int) -> list[Point]:
    """Returns all configurations of the study, the most important first."""
    networks = ("pfc", "dcqcn", "qcn_as", "qcn_os")
    return [
        hotspot_point(BASE_BUFFER, MAIN_VARIANTS, seeds),
        Point("reduce", BASE_BUFFER, MAIN_VARIANTS, seeds),
        *(many_flows_point(f"10 Gb/s, {n}", few, flow_settings(n)) for n in FLOW_COUNTS),
        *(many_flows_point(f"{at} Gb/s, 1", few, rate_settings(at)) for at in (40, 100)),
        many_flows_point("10 Gb/s, 100, all, own rate", few, flow_settings(100, 100, own=True)),
        Point("hotspot", "k = 4", networks, few, network_settings(4)),
        hotspot_point(THIRD_OF_BUFFER, MAIN_VARIANTS, few, third_of_buffer_settings()),
        hotspot_point(BASE_BUFFER, SINGLE_CHANGES, few),
        Point("reduce", THIRD_OF_BUFFER, MAIN_VARIANTS, few, third_of_buffer_settings()),
        *(Point("hotspot", f"k = {k}", networks, few, network_settings(k)) for k in (8, 16)),
        many_flows_point("100 Gb/s, 1, Table I", few, rate_settings(100, scaled=False)),
        many_flows_point("10 Gb/s, 100, all", few, flow_settings(100, 100)),
        Point("reduce", BASE_BUFFER, RING_SINGLE_CHANGES, few),
    ]


@dataclass(frozen=True)
class Plan:
    """Configurations to run, all or those named in `only`, and settings by series for small trials."""

    seeds: int = 10
    few: int = 5
    jobs: int | None = None
    sets: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    only: Sequence[tuple[str, str]] = ()

    def points(self) -> list[Point]:
        """Returns the configurations in the order in which they are run."""
        every = all_points(self.seeds, self.few)
        return [one for one in every if not self.only or (one.series, one.name) in self.only]


def run_study(plan: Plan, out: Path) -> tuple[list[Row], list[GoodputStep]]:
    """Runs each configuration in a store of its own; returns rows, and goodput over time."""
    table: list[TableLine] = []
    summary: list[TableLine] = []
    courses: list[GoodputStep] = []
    for at in plan.points():
        found = overspill.run(
            HERE / f"{at.series}.toml",
            variants=list(at.variants),
            seeds=at.seeds,
            jobs=plan.jobs,
            sets={**at.sets, **plan.sets.get(at.series, {})},
            out=out / folder_of_point(at),
        )
        lines = exact_metrics(found)
        seen = [RunGoodput(at, one) for one in found.each()] if at.victims else []
        more = [line for one in seen for line in one.metric_lines()]
        place = {"series": at.series, "point": at.name}
        table += [one | place for one in [*lines, *more]]
        summary += [one | place for one in [*found.summary.to_pylist(), *summarize_metrics(more)]]
        courses += mean_goodput_steps(at, seen)
    return STUDY.rows(table, summary, case_of), courses


def folder_of_point(at: Point) -> str:
    """Returns the name of the folder for a configuration's runs; single-change variants have their own."""
    aside = "" if at.variants[0] == "pfc" else "-asides"
    return (
        f"{at.series}-{at.name.replace(' ', '-').replace('/', '').replace(',', '').replace('=', '')}{aside}"
    )


def case_of(line: TableLine) -> Case:
    """Returns the variant and the configuration of a line."""
    return Case(line["series"], line["point"], str(line["variant"]))


@dataclass(frozen=True)
class RunGoodput:
    """Goodput of the victims and of the hot host over time, in one run."""

    at: Point
    run: RunData

    def received(self, hosts: Sequence[int]) -> np.ndarray:
        """Returns the total goodput of the hosts in bit/s, by time bin."""
        got, step = self.run.table("host_goodput"), STEP_SECONDS[self.at.series]
        assert got is not None
        bins = int(self.run.window_ps[1] * 1e-12 / step + 0.5)
        where, node, size = (columns.column_to_numpy(got, name) for name in ("bin", "node", "bytes"))
        chosen = np.isin(node, hosts) & (where < bins)
        return np.bincount(where[chosen], size[chosen], minlength=bins)[:bins] * 8 / step

    @property
    def entitled_rate(self) -> float:
        """Payload rate in bit/s that all victims together are entitled to."""
        link = ENTITLED_RATES.get(self.at.name, 100e9 if self.at.series == "hotspot" else 10e9)
        return len(self.at.victims) * link * PAYLOAD_SHARE[self.at.series] * self.at.share

    def recovery(self) -> tuple[float, bool]:
        """Time in seconds from the onset until the victims have recovered for good, and whether they have.

        Without a recovery the time is that from the onset to the end.
        """
        step, got = STEP_SECONDS[self.at.series], self.received(self.at.victims)
        after = got[round(ONSET_SECONDS[self.at.series] / step) :]
        wide = min(round(AVERAGING_SECONDS / step), len(after))
        means = np.convolve(after, np.full(wide, 1 / wide), "valid")
        below = np.nonzero(means < RECOVERED_SHARE * self.entitled_rate)[0]
        if not len(below):
            return 0.0, True
        first = int(below[-1]) + 1
        return (first * step, True) if first < len(means) else (len(after) * step, False)

    def metric_lines(self) -> Iterator[TableLine]:
        """Yields metrics of goodput over time: mean of the last third, and recovery of the victims."""
        front = {"variant": self.run.variant, "seed": self.run.seed}
        for metric, hosts in ((LATE_VICTIMS, self.at.victims), (LATE_HOT, (self.at.hot,))):
            got = self.received(hosts)
            value = float(got[-(len(got) // 3) :].mean())
            yield front | {"metric": metric, "value": value, "unit": "bit/s"}
        time, back = self.recovery()
        yield front | {"metric": RECOVERY, "value": time, "unit": "s"}
        yield front | {"metric": NOT_RECOVERED, "value": float(not back), "unit": "1"}


ENTITLED_RATES = {"40 Gb/s, 1": 40e9, "100 Gb/s, 1": 100e9, "100 Gb/s, 1, Table I": 100e9}


def mean_goodput_steps(at: Point, seen: Sequence[RunGoodput]) -> Iterator[GoodputStep]:
    """Yields goodput over time as means over seeds, in steps of two time bins, or five from 200 bins on."""
    for variant in dict.fromkeys(one.run.variant for one in seen):
        runs = [one for one in seen if one.run.variant == variant]
        for who, hosts in (("victims", at.victims), ("hot", (at.hot,))):
            every = [one.received(hosts) for one in runs]
            wide = 2 if len(every[0]) < 200 else 5
            for start in range(0, len(every[0]) - wide + 1, wide):
                values = [float(one[start : start + wide].mean()) for one in every]
                low, high = stats.mean_interval(values, False) or (values[0], values[0])
                place = (at.series, at.name, variant, who)
                yield GoodputStep(*place, start * STEP_SECONDS[at.series], stats.mean(values), low, high)


def write_goodput_steps(found: Iterable[GoodputStep], path: Path) -> None:
    """Writes goodput over time as a compressed CSV file, numbers with five significant digits."""
    names = ["series", "point", "variant", "who", "start", "mean", "low", "high"]
    lines = ([x if isinstance(x, str) else f"{x:.5g}" for x in astuple(one)] for one in found)
    common.write_csv(path, names, lines)


def read_goodput_steps(path: Path) -> list[GoodputStep]:
    """Reads goodput over time from a file that `write_goodput_steps` has written."""
    return [GoodputStep(a, b, c, d, *map(float, rest)) for a, b, c, d, *rest in common.read_csv(path)]
