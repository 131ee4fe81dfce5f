"""Measures of workloads with many flows: culprits and victims, subflows, a hundred flows, delay of CNMs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from overspill import columns
from overspill.papers.common import measured, quotient, quotients
from overspill.papers.spec import Measure, Measured, Runs, Sweeps

from .schemes import (
    ACKS,
    AS,
    END,
    F1,
    F2,
    LINE,
    MS,
    NAMES,
    OFFER,
    ONSET,
    OS,
    OUT,
    STEADY,
    STEP,
    STEPS,
    TWO_ACKS,
    Limits,
    by_ms,
    limits,
    steps,
    trace,
)

VICTIMS, CULPRITS = 0, 1  # indices in the scenarios that mix them
Window = tuple[float, float]  # ms
MANY = (50.0, 350.0)  # ms, while f2 is active
HOTSPOT = (ONSET, END)
INSIDE = 2.5  # Gb/s of the internal link
RECOVERED = 0.9  # share of the offer
OFFERED = 50.0  # Gb/s of all victims, and of all culprits
HOT_OUTPUTS = 20.0  # Gb/s of both
NS = 1e3  # ps
CNM = 84  # bytes on the wire, with preamble and gap
LINK = CNM * 8 / LINE + 250  # ns of a CNM on a link of 10 Gb/s and 50 m


class Workloads:
    """Flows of a run, with the workload of each."""

    def __init__(self, flows: pa.Table) -> None:
        self.flows, self.of = (columns.numbers(flows, name).astype(np.int64) for name in ("flow", "traffic"))
        self.count = int(self.of.max()) + 1
        self.by_flow = np.full(int(self.flows.max()) + 1, -1)
        self.by_flow[self.flows] = self.of

    def numbers(self, workload: int) -> np.ndarray:
        """Returns the numbers of a workload's flows."""
        return np.asarray(self.flows[self.of == workload])

    def sent(self, table: pa.Table, count: int = STEPS) -> np.ndarray:
        """Returns the throughput of each workload by step in Gb/s, from `sent_trace`."""
        rows = self.by_flow[columns.numbers(table, "flow").astype(np.int64)]
        return trace(table, rows, "wire_bytes", (self.count, count)) * 8 / (STEP * 1e6)

    def named(self, notices: pa.Table) -> np.ndarray:
        """Returns the CNMs to each flow after the onset, in the order of `flows`."""
        after = columns.numbers(notices, "time_ps") / MS >= ONSET
        about = columns.numbers(notices, "flow").astype(np.int64)[after]
        return np.bincount(about, minlength=len(self.by_flow))[self.flows]


def sent_by_workload(runs: Runs, variant: str, count: int = STEPS) -> list[np.ndarray]:
    """Returns the throughput of each workload by step in Gb/s, for every seed."""
    every = zip(runs.tables("flows", variant), runs.tables("sent_trace", variant), strict=True)
    return [Workloads(flows).sent(table, count) for flows, table in every]


def throughput(runs: Runs, variant: str, workload: int, window: Window) -> np.ndarray:
    """Mean throughput of a workload in a window in Gb/s, by seed."""
    return np.array([float(one[workload, steps(window)].mean()) for one in sent_by_workload(runs, variant)])


def named(runs: Runs, variant: str) -> list[list[np.ndarray]]:
    """Returns the CNMs to each flow of each workload after the onset, for every seed."""
    found = []
    for flows, notices in zip(runs.tables("flows", variant), runs.tables("notices", variant), strict=True):
        workloads = Workloads(flows)
        counts = workloads.named(notices)
        found.append([counts[workloads.of == one] for one in range(workloads.count)])
    return found


def shares(counts: Sequence[Sequence[np.ndarray]]) -> np.ndarray:
    """Share of culprits in the CNMs to victims and culprits in %, by seed; NaN without any."""
    victims, culprits = (
        np.array([float(one[workload].sum()) for one in counts]) for workload in (VICTIMS, CULPRITS)
    )
    return 100 * quotients(culprits, victims + culprits)


def most_by_least(counts: Sequence[np.ndarray]) -> float:
    """Most CNMs to a victim divided by the fewest to a culprit; NaN if a culprit gets none."""
    return quotient(float(counts[VICTIMS].max()), float(counts[CULPRITS].min()))


def culprits(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures CNMs to culprits and throughput of victims, with occupancy and arrival sampling."""
    runs = sweeps["mixed"]
    counts = {variant: named(runs, variant) for variant in (OS, AS)}
    found = {variant: shares(one) for variant, one in counts.items()}
    for variant, one in found.items():
        total = np.mean([sum(part[name].sum() for name in (VICTIMS, CULPRITS)) for part in counts[variant]])
        note = f"of {total:.0f} CNMs a run"
        yield measured(f"{NAMES[variant]}, culprits", "share_of_cnms", one, note)
    yield measured("QCN-OS less QCN-AS, culprits", "share_of_cnms", found[OS] - found[AS])
    ratios = [most_by_least(one) for one in counts[OS]]
    note = f"with QCN-AS {np.mean([most_by_least(one) for one in counts[AS]]):.3g}"
    yield measured("QCN-OS, the victim named most by the culprit named least", "cnms", ratios, note)
    ours, theirs = (throughput(runs, variant, VICTIMS, STEADY) for variant in (OS, AS))
    note = f"{ours.mean():.4g} and {theirs.mean():.4g} Gb/s"
    yield measured("QCN-OS less QCN-AS, victims, steady", "throughput", ours - theirs, note)


def recovery(sent: np.ndarray, window: Window = MANY, offer: float = OFFER) -> float:
    """Time in ms from a window's start until victims stay at nine tenths of their offer; NaN if never."""
    low = np.flatnonzero(by_ms(sent[steps(window)]) < RECOVERED * offer)
    if not len(low):
        return 0.0
    return float("nan") if low[-1] == window[1] - window[0] - 1 else float(low[-1] + 1)


def recovered(runs: Runs, variant: str, window: Window = MANY) -> np.ndarray:
    """Time in ms until f1 has recovered, by seed."""
    count = round(window[1] / STEP)
    return np.array([recovery(one[F1], window) for one in sent_by_workload(runs, variant, count)])


def schemes_compared(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures two samples relative to QCN-OS, both with acknowledgements, on ten subflows each."""
    runs = sweeps["subflows"]
    two, one = (recovered(runs, variant) for variant in (TWO_ACKS, ACKS))
    note = f"{two.mean():.3g} and {one.mean():.3g} ms"
    case = "subflows, two samples less QCN-OS, both with end-to-end ACKs"
    yield measured(case, "time_to_recover", two - one, note)


def allowed(found: Sequence[Limits], times: np.ndarray) -> np.ndarray:
    """Total throughput in Gb/s that limits allow for flows with equal offers at these times."""
    offer = OFFER / len(found)
    rates = [
        np.concatenate(([LINE], one.rates))[np.searchsorted(one.times, times, side="right")] for one in found
    ]
    return np.asarray(np.minimum(rates, offer).sum(axis=0))


def down(found: Sequence[Limits]) -> float:
    """Time in ms after f2 begins until limits first allow no more than the internal link; NaN if never."""
    times = np.unique(np.concatenate([one.times for one in found]))
    times = times[(times >= MANY[0]) & (times < MANY[1])]
    low = times[allowed(found, times) <= INSIDE + 1e-9]
    return float(low[0]) - MANY[0] if len(low) else float("nan")


def limits_down(runs: Runs, variant: str) -> np.ndarray:
    """Time in ms until the limits of f2 are down, by seed."""
    every = zip(runs.tables("flows", variant), runs.tables("rate_limits", variant), strict=True)
    return np.array([down(limits(table, Workloads(flows).numbers(F2))) for flows, table in every])


def later(case: str, metric: str, found: tuple[np.ndarray, np.ndarray], longest: float) -> Measured:
    """Returns the row of subflows minus one flow each; subflows that never recover count as `longest` ms."""
    many, one = found
    never = int(np.isnan(many).sum())
    capped = np.where(np.isnan(many), longest, many)
    note = f"{capped.mean():.4g} and {one.mean():.4g} ms"
    if never:
        note += f"; subflows not within {longest:.0f} ms in {never} of {len(many)} seeds"
    return measured(case, metric, capped - one, note)


def beside(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures subflows in the fabric without and with acknowledgements, and in the switch of figure 6."""
    fabric = sweeps["subflows"], sweeps["one_each"]
    length = MANY[1] - MANY[0]
    for variant, name in ((OS, "QCN-OS"), (ACKS, "QCN-OS with ACKs")):
        many, one = (limits_down(runs, variant) for runs in fabric)
        case = f"{name}, subflows less one flow each, f2"
        yield later(case, "time_until_limits_are_down", (many, one), length)
    many, one = (recovered(runs, ACKS) for runs in fabric)
    yield later("QCN-OS with ACKs, subflows less one flow each", "time_to_recover", (many, one), length)
    hotspot = sweeps["hotspot_subflows"], sweeps["hotspot"]
    many, one = (recovered(runs, OS, HOTSPOT) for runs in hotspot)
    case = "QCN-OS, six flows, subflows less one flow each"
    yield later(case, "time_to_recover", (many, one), END - ONSET)


def victims_by_offer(runs: Runs, variant: str) -> np.ndarray:
    """Steady throughput of all victims relative to their offer, by seed."""
    return throughput(runs, variant, VICTIMS, STEADY) / OFFERED


def victims_recovered(runs: Runs, variant: str) -> np.ndarray:
    """Time in ms until all victims together have recovered, by seed; NaN if they never do."""
    return np.array([recovery(one[VICTIMS], HOTSPOT, OFFERED) for one in sent_by_workload(runs, variant)])


def hundred_flows(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures victims, CNMs, recovery times, and the use of the hot outputs."""
    runs = sweeps["many"]
    ours, acked, theirs = (victims_by_offer(runs, variant) for variant in (OS, ACKS, AS))
    outputs = victims_by_offer(runs, OUT)
    metric = "throughput_by_offer"
    yield measured("QCN-OS, victims, steady", metric, ours, f"QCN-AS at outputs {outputs.mean():.3g}")
    yield measured("QCN-OS with ACKs, victims, steady", metric, acked)
    note = f"{ours.mean():.3g} and {theirs.mean():.3g}"
    yield measured("QCN-OS less QCN-AS, victims, steady", metric, ours - theirs, note)
    ours, acked, theirs = (shares(named(runs, variant)) for variant in (OS, ACKS, AS))
    note = f"with ACKs {acked.mean():.3g} %"
    yield measured("QCN-OS, culprits", "share_of_cnms", ours, note)
    note = f"{ours.mean():.3g} and {theirs.mean():.3g} %"
    yield measured("QCN-OS less QCN-AS, culprits", "share_of_cnms", ours - theirs, note)
    yield from times(runs)
    used = 100 * throughput(runs, OS, CULPRITS, STEADY) / HOT_OUTPUTS
    yield measured("QCN-OS, hot outputs, steady", "use", used)


def times(runs: Runs) -> Iterator[Measured]:
    """Yields recovery times; runs without a recovery count as the whole time after the onset.

    The exception is QCN-OS in its quotient with sampling at outputs, which is NaN without a recovery.
    """
    longest = END - ONSET
    found = {variant: victims_recovered(runs, variant) for variant in (OS, AS, OUT, ACKS)}
    capped = {variant: np.where(np.isnan(one), longest, one) for variant, one in found.items()}
    here, arrivals, there, acked = (
        f"{capped[variant].mean():.3g} ms (not back in {np.isnan(one).sum()} of {len(one)} seeds)"
        for variant, one in found.items()
    )
    note = f"{here} and {arrivals}"
    yield measured("QCN-OS less QCN-AS", "time_to_recover", capped[OS] - capped[AS], note)
    note = f"{here} and {there}; with ACKs {acked}"
    yield measured("QCN-OS by outputs", "time_to_recover", quotients(found[OS], capped[OUT]), note)


def cuts(table: pa.Table, flow: int) -> np.ndarray:
    """Returns the times in ps at which the limit of a flow falls, from `rate_limits`."""
    mine = columns.numbers(table, "flow") == flow
    rates = columns.numbers(table, "rate_bps")[mine]
    rates = np.where(rates < 0, LINE * 1e9, rates)
    falls = np.diff(np.concatenate(([LINE * 1e9], rates))) < 0
    return np.asarray(columns.numbers(table, "time_ps")[mine].astype(np.int64)[falls])


def delays(notices: pa.Table, limits: pa.Table, flows: Sequence[int] | np.ndarray) -> np.ndarray:
    """Delay of each CNM to some flows after the onset in ns: until the limit of its flow falls next.

    A CNM is left out if no fall follows, as at the end of a run.
    """
    made, about = (columns.numbers(notices, name).astype(np.int64) for name in ("time_ps", "flow"))
    found = []
    for flow in flows:
        times, falls = made[(about == flow) & (made >= ONSET * MS)], cuts(limits, int(flow))
        next_fall = np.searchsorted(falls, times)
        seen = next_fall < len(falls)
        found.append((falls[next_fall[seen]] - times[seen]) / NS)
    return np.concatenate(found)


def medians(runs: Runs, variant: str, among: Sequence[int]) -> np.ndarray:
    """Median delay of the CNMs to some workloads in ns, by seed; NaN without any."""
    tables = (runs.tables(name, variant) for name in ("flows", "notices", "rate_limits"))
    found = []
    for flows, notices, rate_limits in zip(*tables, strict=True):
        numbers = np.concatenate([Workloads(flows).numbers(one) for one in among])
        every = delays(notices, rate_limits, numbers)
        found.append(float(np.median(every)) if len(every) else float("nan"))
    return np.array(found)


def load(runs: Runs, variant: str) -> float:
    """Bytes of CNMs in % of the bytes that flows inject after the onset, mean over seeds."""
    found = []
    for counts, sent in zip(named(runs, variant), sent_by_workload(runs, variant), strict=True):
        injected = float(sent[:, steps((ONSET, END))].sum(axis=0).mean()) * 1e9 / 8 * (END - ONSET) / 1e3
        found.append(100 * CNM * float(sum(one.sum() for one in counts)) / injected)
    return float(np.mean(found))


def cost(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures the delay of CNMs of inputs with six flows, and of inputs and outputs in the larger fabric."""
    beyond = medians(sweeps["hotspot"], OS, (F1, F2)) - LINK
    case = "QCN-OS, six flows, shared input"
    yield measured(case, "median_delay_beyond_the_link", np.round(beyond, 6))
    runs = sweeps["many"]
    there, here = (medians(runs, variant, (0, 1)) / 1e3 for variant in (OUT, OS))
    note = f"{there.mean():.3g} and {here.mean():.3g} us; computed, not measured: CNMs of outputs add "
    note += f"{load(runs, OUT):.2g} % to the bytes that flows inject"
    yield measured("outputs less QCN-OS, hundred flows", "median_delay", there - here, note)


MEASURES: dict[str, Measure] = {
    "claim-culprits": culprits,
    "claim-subflows": beside,
    "claim-many": hundred_flows,
    "claim-cnms": cost,
}
