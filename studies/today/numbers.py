"""Numbers of the study of occupancy sampling in modern networks: sweeps, rows, and goodput over time."""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from pathlib import Path

import numpy as np

import overspill
from overspill import Key, RunData, columns, stats
from studies import common
from studies.common import Line, Study, exact, summed

HERE = Path(__file__).parent
MAIN = ("pfc", "dcqcn", "qcn_out", "qcn_as", "qcn_os")
ASIDES = ("two_samples", "qcn_as_fast", "qcn_os_fast", "pfc_shared", "dcqcn_shared")
BESIDE_RING = ASIDES[1:]
MANY = ("pfc", "qcn_out", "qcn_as", "qcn_os", "two_samples")
QCN = ("qcn_out", "qcn_as", "qcn_os")
REFERENCES = ("pfc", "dcqcn", "qcn_as")
SERIES = ("hotspot", "reduce", "many")
# Time bins of goodput, and start of the hotspot, in seconds.
STEP = {"hotspot": 500e-6, "many": 1e-3}
ONSET = {"hotspot": 1e-3, "many": 5e-3}
# Payload of a frame as a share of its bytes on the wire.
SHARE = {"hotspot": 4096 / 4182, "many": 1464 / 1542}
RECOVERED, OVER = 0.9, 5e-3  # share of the victims' entitlement, and averaging window in seconds

VICTIMS, JAIN = Key("goodput", traffic="victims"), Key("jain", traffic="victims")
HOT, READS = Key("goodput", traffic="hotspot"), Key("fct_p99", traffic="reads")
READ = Key("fct_p50", traffic="reads")
RING, RINGS, RING_TAIL = (Key(one, traffic="ring") for one in ("qct_mean", "qct_p50", "qct_p95"))
RING_GOODPUT, WRITES = Key("goodput", traffic="ring"), Key("qct_mean", traffic="writes")
WRITES_TAIL = Key("qct_p95", traffic="writes")
VICTIM, CULPRIT = Key("goodput", traffic="victim"), Key("goodput", traffic="culprit")
HOTS = tuple(Key("goodput", traffic=f"hot{i}") for i in range(1, 5))
PAUSED, PAUSED_HOSTS = "paused_fraction_mean", Key("paused_fraction_mean", tier="host")
TOLD, FEEDBACK = "cnms", "cnm_feedback_mean"
TOLD_VICTIMS = (Key("cnms", traffic="victims"), Key("cnms", traffic="victim"), Key("cnms", traffic="ring"))
TREE = "saturation_hosts_max"
LATE_VICTIMS, LATE_HOT, BACK, NOT_BACK = "victims_late", "hot_late", "recovery", "not_recovered"
METRICS = (
    *(VICTIMS, JAIN, HOT, READS, READ, RING, RINGS, RING_TAIL, RING_GOODPUT, WRITES, WRITES_TAIL),
    *(VICTIM, CULPRIT, *HOTS, PAUSED, PAUSED_HOSTS, TREE, TOLD, *TOLD_VICTIMS, "cnps"),
    *("marks", "drops", FEEDBACK, LATE_VICTIMS, LATE_HOT, BACK, NOT_BACK),
)


@dataclass(frozen=True)
class Case:
    """A variant at a point of a series."""

    series: str
    point: str
    variant: str


Row = common.Row[Case]


def family(case: Case, metric: str) -> tuple[str, ...]:
    """Comparisons that are corrected together: all main variants at a point, or all asides there."""
    main = case.variant in (MANY if case.series == "many" else MAIN)
    return (metric, case.series, case.point, "main" if main else "aside")


def reference(case: Case, name: str) -> Case:
    """Returns the case of a reference at the same point."""
    return Case(case.series, case.point, name)


STUDY = Study(Case, METRICS, REFERENCES, reference, family)


@dataclass(frozen=True)
class Course:
    """Goodput in bit/s in one step of time: mean over seeds and 95% interval."""

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
    """Settings, variants and seeds of a point, and the hosts whose goodput is followed over time."""

    series: str
    name: str
    variants: Sequence[str]
    seeds: int
    sets: Mapping[str, object] = field(default_factory=dict)
    victims: Sequence[int] = ()
    hot: int = 0
    share: float = 0.0  # share of their links that victims are entitled to


def third() -> dict[str, object]:
    """Settings with a third of the buffer and of the thresholds relative to it; marking is unchanged."""
    sets: dict[str, object] = {"switch.buffer.size": "500KB", "switch.pause.xoff": "367KB"}
    sets["switch.pause.xon"] = "147KB"
    sets |= {f"variants.{name}.switch.input_buffer": "500KB" for name in MAIN}
    for name in QCN:
        sets[f"variants.{name}.switch.notify.q_eq"] = "200KB"
        sets[f"variants.{name}.switch.notify.interval"] = "500KB"
    return sets


def network(k: int) -> dict[str, object]:
    """Settings of a fat-tree of `k` ports: six senders, three victims, and clients near the hot host."""
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


def flows(count: int, hot: int = 1, own: bool = False) -> dict[str, object]:
    """Settings of `count` flows of victim and culprit, and of `hot` flows of each hot adapter.

    With `own`, the rate limit of each flow starts at the flow's rate.
    """
    sets: dict[str, object] = {}
    for name in ("victim", "culprit"):
        sets |= {f"traffic.{name}.flows": count, f"traffic.{name}.rate": f"{5000 // count}Mbps"}
    if hot > 1:
        for at in range(1, 5):
            sets |= {f"traffic.hot{at}.flows": hot, f"traffic.hot{at}.rate": f"{5000 // hot}Mbps"}
    for name in MANY[1:]:
        sets[f"variants.{name}.host.reaction.min_rate"] = f"{5_000_000 // count}bps"
    if own:
        sets["host.nic.flow_rate"] = f"{5000 // count}Mbps"
    return sets


def rate(gbps: int, scaled: bool = True) -> dict[str, object]:
    """Settings with another rate of all links and flows.

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
    for name in MANY[1:]:
        sets[f"variants.{name}.switch.notify.q_eq"] = f"{60 * k}KB"
        sets[f"variants.{name}.switch.notify.interval"] = f"{150 * k}KB"
        point = f"variants.{name}.host.reaction"
        sets |= {f"{point}.byte_counter": f"{150 * k}KB", f"{point}.min_rate": f"{5 * k}Mbps"}
        sets |= {f"{point}.r_ai": f"{5 * k}Mbps", f"{point}.r_hai": f"{50 * k}Mbps"}
    return sets


BASE, THIRD = "1.5 MB", "0.5 MB"
COUNTS = (1, 10, 100, 1000)
IDLE = tuple(16 * (pod % 7 + 1) + 7 for pod in range(1, 8))


def hotspot(
    name: str, variants: Sequence[str], seeds: int, sets: Mapping[str, object] | None = None
) -> Point:
    """Returns a point of the fat-tree with the seven victims of the scenario."""
    return Point("hotspot", name, variants, seeds, sets or {}, IDLE, 0, 1 - 1 / 14)


def many(name: str, seeds: int, sets: Mapping[str, object]) -> Point:
    """Returns a point of the single switch."""
    return Point("many", name, MANY, seeds, sets, (5,), 6, 0.5)


def points(seeds: int, few: int) -> list[Point]:
    """Returns all points, the most important first."""
    networks = ("pfc", "dcqcn", "qcn_as", "qcn_os")
    return [
        hotspot(BASE, MAIN, seeds),
        Point("reduce", BASE, MAIN, seeds),
        *(many(f"10 Gb/s, {n}", few, flows(n)) for n in COUNTS),
        *(many(f"{at} Gb/s, 1", few, rate(at)) for at in (40, 100)),
        many("10 Gb/s, 100, all, own rate", few, flows(100, 100, own=True)),
        Point("hotspot", "k = 4", networks, few, network(4)),
        hotspot(THIRD, MAIN, few, third()),
        hotspot(BASE, ASIDES, few),
        Point("reduce", THIRD, MAIN, few, third()),
        *(Point("hotspot", f"k = {k}", networks, few, network(k)) for k in (8, 16)),
        many("100 Gb/s, 1, Table I", few, rate(100, scaled=False)),
        many("10 Gb/s, 100, all", few, flows(100, 100)),
        Point("reduce", BASE, BESIDE_RING, few),
    ]


@dataclass(frozen=True)
class Plan:
    """Points to run, all or those named in `only`, and settings by series for small trials."""

    seeds: int = 10
    few: int = 5
    jobs: int | None = None
    sets: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    only: Sequence[tuple[str, str]] = ()

    def points(self) -> list[Point]:
        """Returns the points in the order in which they are run."""
        every = points(self.seeds, self.few)
        return [one for one in every if not self.only or (one.series, one.name) in self.only]


def run(plan: Plan, out: Path) -> tuple[list[Row], list[Course]]:
    """Runs each point in a store of its own, and returns rows and courses over time."""
    table: list[Line] = []
    summary: list[Line] = []
    courses: list[Course] = []
    for at in plan.points():
        found = overspill.run(
            HERE / f"{at.series}.toml",
            variants=list(at.variants),
            seeds=at.seeds,
            jobs=plan.jobs,
            sets={**at.sets, **plan.sets.get(at.series, {})},
            out=out / folder(at),
        )
        lines = exact(found)
        seen = [Seen(at, one) for one in found.each()] if at.victims else []
        more = [line for one in seen for line in one.lines()]
        place = {"series": at.series, "point": at.name}
        table += [one | place for one in [*lines, *more]]
        summary += [one | place for one in [*found.summary.to_pylist(), *summed(more)]]
        courses += together(at, seen)
    return STUDY.rows(table, summary, case_of), courses


def folder(at: Point) -> str:
    """Returns the folder of a point's runs; asides have a folder beside it."""
    aside = "" if at.variants[0] == "pfc" else "-asides"
    return (
        f"{at.series}-{at.name.replace(' ', '-').replace('/', '').replace(',', '').replace('=', '')}{aside}"
    )


def case_of(line: Line) -> Case:
    """Returns the case of a line."""
    return Case(line["series"], line["point"], str(line["variant"]))


@dataclass(frozen=True)
class Seen:
    """Goodput of the victims and of the hot host over time in a run."""

    at: Point
    run: RunData

    def received(self, hosts: Sequence[int]) -> np.ndarray:
        """Returns the total goodput of the hosts in bit/s, by time bin."""
        got, step = self.run.table("host_goodput"), STEP[self.at.series]
        assert got is not None
        bins = int(self.run.window_ps[1] * 1e-12 / step + 0.5)
        where, node, size = (columns.numbers(got, name) for name in ("bin", "node", "bytes"))
        chosen = np.isin(node, hosts) & (where < bins)
        return np.bincount(where[chosen], size[chosen], minlength=bins)[:bins] * 8 / step

    @property
    def entitled(self) -> float:
        """Total payload rate in bit/s that the victims are entitled to."""
        link = RATES.get(self.at.name, 100e9 if self.at.series == "hotspot" else 10e9)
        return len(self.at.victims) * link * SHARE[self.at.series] * self.at.share

    def recovery(self) -> tuple[float, bool]:
        """Time in seconds from the onset until the victims have recovered for good, and whether they have.

        Without a recovery the time is that from the onset to the end.
        """
        step, got = STEP[self.at.series], self.received(self.at.victims)
        after = got[round(ONSET[self.at.series] / step) :]
        wide = min(round(OVER / step), len(after))
        means = np.convolve(after, np.full(wide, 1 / wide), "valid")
        below = np.nonzero(means < RECOVERED * self.entitled)[0]
        if not len(below):
            return 0.0, True
        first = int(below[-1]) + 1
        return (first * step, True) if first < len(means) else (len(after) * step, False)

    def lines(self) -> Iterator[Line]:
        """Yields metrics of the course: goodput in the last third, and recovery of the victims."""
        front = {"variant": self.run.variant, "seed": self.run.seed}
        for metric, hosts in ((LATE_VICTIMS, self.at.victims), (LATE_HOT, (self.at.hot,))):
            got = self.received(hosts)
            value = float(got[-(len(got) // 3) :].mean())
            yield front | {"metric": metric, "value": value, "unit": "bit/s"}
        time, back = self.recovery()
        yield front | {"metric": BACK, "value": time, "unit": "s"}
        yield front | {"metric": NOT_BACK, "value": float(not back), "unit": "1"}


RATES = {"40 Gb/s, 1": 40e9, "100 Gb/s, 1": 100e9, "100 Gb/s, 1, Table I": 100e9}


def together(at: Point, seen: Sequence[Seen]) -> Iterator[Course]:
    """Yields courses over seeds in steps of two time bins, or of five if there are 200 bins or more."""
    for variant in dict.fromkeys(one.run.variant for one in seen):
        runs = [one for one in seen if one.run.variant == variant]
        for who, hosts in (("victims", at.victims), ("hot", (at.hot,))):
            every = [one.received(hosts) for one in runs]
            wide = 2 if len(every[0]) < 200 else 5
            for start in range(0, len(every[0]) - wide + 1, wide):
                values = [float(one[start : start + wide].mean()) for one in every]
                low, high = stats.interval(values, False) or (values[0], values[0])
                place = (at.series, at.name, variant, who)
                yield Course(*place, start * STEP[at.series], stats.mean(values), low, high)


def write_courses(found: Iterable[Course], path: Path) -> None:
    """Writes courses as CSV, numbers with five significant digits."""
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["series", "point", "variant", "who", "start", "mean", "low", "high"])
        for one in found:
            out.writerow([x if isinstance(x, str) else f"{x:.5g}" for x in astuple(one)])


def read_courses(path: Path) -> list[Course]:
    """Reads the courses of a CSV file that `write_courses` has written."""
    with path.open(newline="", encoding="utf-8") as file:
        lines = list(csv.reader(file))[1:]
    return [Course(a, b, c, d, *map(float, rest)) for a, b, c, d, *rest in lines]
