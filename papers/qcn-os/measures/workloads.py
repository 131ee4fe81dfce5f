"""Measures of QCN-OS with many flows: culprits and victims, subflows, a hundred flows, delay of CNMs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from overspill import columns
from overspill.papers.common import build_measured, divide_by_seed, divide_or_nan
from overspill.papers.spec import Measure, Measured, Runs, Sweeps

from .schemes import (
    END_MS,
    F1,
    F2,
    LINE_GBPS,
    NAMES,
    OFFER_GBPS,
    ONSET_MS,
    PS_PER_MS,
    QCN_AS,
    QCN_AS_OUTPUTS,
    QCN_OS,
    QCN_OS_ACKS,
    STEADY_WINDOW,
    STEP_COUNT,
    STEP_MS,
    TWO_SAMPLES_ACKS,
    RateLimits,
    means_by_ms,
    read_rate_limits,
    sum_by_step,
    window_steps,
)

VICTIMS, CULPRITS = 0, 1  # indices in the scenarios that mix them
Window = tuple[float, float]  # ms
MANY_FLOWS_WINDOW = (50.0, 350.0)  # ms, while f2 is active
HOTSPOT_WINDOW = (ONSET_MS, END_MS)
INTERNAL_LINK_GBPS = 2.5  # Gb/s of the internal link
RECOVERED_SHARE = 0.9  # share of the offer
OFFERED_GBPS = 50.0  # Gb/s of all victims, and of all culprits
HOT_OUTPUTS_GBPS = 20.0  # Gb/s of both
PS_PER_NS = 1e3  # ps
CNM_BYTES = 84  # bytes on the wire, with preamble and gap
CNM_LINK_NS = CNM_BYTES * 8 / LINE_GBPS + 250  # ns of a CNM on a link of 10 Gb/s and 50 m


class WorkloadFlows:
    """Flows of a run by workload."""

    def __init__(self, flows: pa.Table) -> None:
        self.flows, self.of = (
            columns.column_to_numpy(flows, name).astype(np.int64) for name in ("flow", "traffic")
        )
        self.count = int(self.of.max()) + 1
        self.by_flow = np.full(int(self.flows.max()) + 1, -1)
        self.by_flow[self.flows] = self.of

    def numbers(self, workload: int) -> np.ndarray:
        """Returns the flow numbers of a workload."""
        return np.asarray(self.flows[self.of == workload])

    def sent(self, table: pa.Table, count: int = STEP_COUNT) -> np.ndarray:
        """Returns the throughput of each workload in Gb/s by time step, from table `sent_trace`."""
        rows = self.by_flow[columns.column_to_numpy(table, "flow").astype(np.int64)]
        return sum_by_step(table, rows, "wire_bytes", (self.count, count)) * 8 / (STEP_MS * 1e6)

    def cnms_by_flow(self, notices: pa.Table) -> np.ndarray:
        """Returns the CNMs to each flow after the onset of congestion, in the order of `flows`."""
        after = columns.column_to_numpy(notices, "time_ps") / PS_PER_MS >= ONSET_MS
        about = columns.column_to_numpy(notices, "flow").astype(np.int64)[after]
        return np.bincount(about, minlength=len(self.by_flow))[self.flows]


def throughput_by_workload(runs: Runs, variant: str, count: int = STEP_COUNT) -> list[np.ndarray]:
    """Returns the throughput of each workload in Gb/s by time step, for every seed."""
    every = zip(runs.tables("flows", variant), runs.tables("sent_trace", variant), strict=True)
    return [WorkloadFlows(flows).sent(table, count) for flows, table in every]


def workload_throughput(runs: Runs, variant: str, workload: int, window: Window) -> np.ndarray:
    """Mean throughput of a workload in a window in Gb/s, by seed."""
    return np.array(
        [float(one[workload, window_steps(window)].mean()) for one in throughput_by_workload(runs, variant)]
    )


def cnms_by_workload(runs: Runs, variant: str) -> list[list[np.ndarray]]:
    """Returns the CNMs to each flow of each workload after the onset of congestion, for every seed."""
    found = []
    for flows, notices in zip(runs.tables("flows", variant), runs.tables("notices", variant), strict=True):
        workloads = WorkloadFlows(flows)
        counts = workloads.cnms_by_flow(notices)
        found.append([counts[workloads.of == one] for one in range(workloads.count)])
    return found


def culprit_cnm_shares(counts: Sequence[Sequence[np.ndarray]]) -> np.ndarray:
    """Share of culprits in the CNMs to victims and culprits in %, by seed; NaN without any."""
    victims, culprits = (
        np.array([float(one[workload].sum()) for one in counts]) for workload in (VICTIMS, CULPRITS)
    )
    return 100 * divide_by_seed(culprits, victims + culprits)


def victim_to_culprit_cnm_ratio(counts: Sequence[np.ndarray]) -> float:
    """Most CNMs to a victim divided by the fewest to a culprit; NaN if a culprit gets none."""
    return divide_or_nan(float(counts[VICTIMS].max()), float(counts[CULPRITS].min()))


def measure_culprits(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures CNMs to culprits and throughput of victims, with occupancy and arrival sampling."""
    runs = sweeps["mixed"]
    counts = {variant: cnms_by_workload(runs, variant) for variant in (QCN_OS, QCN_AS)}
    found = {variant: culprit_cnm_shares(one) for variant, one in counts.items()}
    for variant, one in found.items():
        total = np.mean([sum(part[name].sum() for name in (VICTIMS, CULPRITS)) for part in counts[variant]])
        note = f"of {total:.0f} CNMs a run"
        yield build_measured(f"{NAMES[variant]}, culprits", "share_of_cnms", one, note)
    yield build_measured("QCN-OS less QCN-AS, culprits", "share_of_cnms", found[QCN_OS] - found[QCN_AS])
    ratios = [victim_to_culprit_cnm_ratio(one) for one in counts[QCN_OS]]
    note = f"with QCN-AS {np.mean([victim_to_culprit_cnm_ratio(one) for one in counts[QCN_AS]]):.3g}"
    yield build_measured("QCN-OS, the victim named most by the culprit named least", "cnms", ratios, note)
    ours, theirs = (
        workload_throughput(runs, variant, VICTIMS, STEADY_WINDOW) for variant in (QCN_OS, QCN_AS)
    )
    note = f"{ours.mean():.4g} and {theirs.mean():.4g} Gb/s"
    yield build_measured("QCN-OS less QCN-AS, victims, steady", "throughput", ours - theirs, note)


def recovery_time(sent: np.ndarray, window: Window = MANY_FLOWS_WINDOW, offer: float = OFFER_GBPS) -> float:
    """Time in ms from a window's start until victims stay at 90% of their offer or more; NaN if never."""
    low = np.flatnonzero(means_by_ms(sent[window_steps(window)]) < RECOVERED_SHARE * offer)
    if not len(low):
        return 0.0
    return float("nan") if low[-1] == window[1] - window[0] - 1 else float(low[-1] + 1)


def recovery_times(runs: Runs, variant: str, window: Window = MANY_FLOWS_WINDOW) -> np.ndarray:
    """Time in ms until f1 has recovered its throughput, by seed."""
    count = round(window[1] / STEP_MS)
    return np.array([recovery_time(one[F1], window) for one in throughput_by_workload(runs, variant, count)])


def compare_schemes_with_subflows(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures `two samples` relative to QCN-OS, both with acknowledgements and ten subflows per flow."""
    runs = sweeps["subflows"]
    two, one = (recovery_times(runs, variant) for variant in (TWO_SAMPLES_ACKS, QCN_OS_ACKS))
    note = f"{two.mean():.3g} and {one.mean():.3g} ms"
    case = "subflows, two samples less QCN-OS, both with end-to-end ACKs"
    yield build_measured(case, "time_to_recover", two - one, note)


def allowed_throughput(found: Sequence[RateLimits], times: np.ndarray) -> np.ndarray:
    """Total throughput in Gb/s that limits allow for flows with equal offers at these times."""
    offer = OFFER_GBPS / len(found)
    rates = [
        np.concatenate(([LINE_GBPS], one.rates))[np.searchsorted(one.times, times, side="right")]
        for one in found
    ]
    return np.asarray(np.minimum(rates, offer).sum(axis=0))


def limit_fall_time(found: Sequence[RateLimits]) -> float:
    """Time in ms from f2's start until limits first allow no more than the internal link; NaN if never."""
    times = np.unique(np.concatenate([one.times for one in found]))
    times = times[(times >= MANY_FLOWS_WINDOW[0]) & (times < MANY_FLOWS_WINDOW[1])]
    low = times[allowed_throughput(found, times) <= INTERNAL_LINK_GBPS + 1e-9]
    return float(low[0]) - MANY_FLOWS_WINDOW[0] if len(low) else float("nan")


def limit_fall_times(runs: Runs, variant: str) -> np.ndarray:
    """Time in ms until f2's rate limits are down to the internal link, by seed."""
    every = zip(runs.tables("flows", variant), runs.tables("rate_limits", variant), strict=True)
    return np.array(
        [limit_fall_time(read_rate_limits(table, WorkloadFlows(flows).numbers(F2))) for flows, table in every]
    )


def measure_subflow_delay(
    case: str, metric: str, found: tuple[np.ndarray, np.ndarray], longest: float
) -> Measured:
    """Returns the row for a time with subflows minus that with one flow each.

    A time of NaN means that the event did not happen in the run with subflows, and counts as `longest` ms.
    """
    many, one = found
    never = int(np.isnan(many).sum())
    capped = np.where(np.isnan(many), longest, many)
    note = f"{capped.mean():.4g} and {one.mean():.4g} ms"
    if never:
        note += f"; with subflows, the time exceeds {longest:.0f} ms in {never} of {len(many)} seeds"
    return build_measured(case, metric, capped - one, note)


def measure_subflows(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures ten subflows per flow: in the fabric without and with ACKs, and in the switch of figure 6."""
    fabric = sweeps["subflows"], sweeps["one_each"]
    length = MANY_FLOWS_WINDOW[1] - MANY_FLOWS_WINDOW[0]
    for variant, name in ((QCN_OS, "QCN-OS"), (QCN_OS_ACKS, "QCN-OS with ACKs")):
        many, one = (limit_fall_times(runs, variant) for runs in fabric)
        case = f"{name}, subflows less one flow each, f2"
        yield measure_subflow_delay(case, "time_until_limits_are_down", (many, one), length)
    many, one = (recovery_times(runs, QCN_OS_ACKS) for runs in fabric)
    yield measure_subflow_delay(
        "QCN-OS with ACKs, subflows less one flow each", "time_to_recover", (many, one), length
    )
    hotspot = sweeps["hotspot_subflows"], sweeps["hotspot"]
    many, one = (recovery_times(runs, QCN_OS, HOTSPOT_WINDOW) for runs in hotspot)
    case = "QCN-OS, six flows, subflows less one flow each"
    yield measure_subflow_delay(case, "time_to_recover", (many, one), END_MS - ONSET_MS)


def victims_share_of_offer(runs: Runs, variant: str) -> np.ndarray:
    """Steady throughput of all victims relative to their offered rate, by seed."""
    return workload_throughput(runs, variant, VICTIMS, STEADY_WINDOW) / OFFERED_GBPS


def victims_recovery_times(runs: Runs, variant: str) -> np.ndarray:
    """Time in ms until the victims' total throughput has recovered, by seed; NaN if it never does."""
    return np.array(
        [
            recovery_time(one[VICTIMS], HOTSPOT_WINDOW, OFFERED_GBPS)
            for one in throughput_by_workload(runs, variant)
        ]
    )


def measure_hundred_flows(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures victims, CNMs, recovery times, and the use of the hot outputs."""
    runs = sweeps["many"]
    ours, acked, theirs = (victims_share_of_offer(runs, variant) for variant in (QCN_OS, QCN_OS_ACKS, QCN_AS))
    outputs = victims_share_of_offer(runs, QCN_AS_OUTPUTS)
    metric = "throughput_by_offer"
    yield build_measured("QCN-OS, victims, steady", metric, ours, f"QCN-AS at outputs {outputs.mean():.3g}")
    yield build_measured("QCN-OS with ACKs, victims, steady", metric, acked)
    note = f"{ours.mean():.3g} and {theirs.mean():.3g}"
    yield build_measured("QCN-OS less QCN-AS, victims, steady", metric, ours - theirs, note)
    ours, acked, theirs = (
        culprit_cnm_shares(cnms_by_workload(runs, variant)) for variant in (QCN_OS, QCN_OS_ACKS, QCN_AS)
    )
    note = f"with ACKs {acked.mean():.3g} %"
    yield build_measured("QCN-OS, culprits", "share_of_cnms", ours, note)
    note = f"{ours.mean():.3g} and {theirs.mean():.3g} %"
    yield build_measured("QCN-OS less QCN-AS, culprits", "share_of_cnms", ours - theirs, note)
    yield from measure_recovery_times(runs)
    used = 100 * workload_throughput(runs, QCN_OS, CULPRITS, STEADY_WINDOW) / HOT_OUTPUTS_GBPS
    yield build_measured("QCN-OS, hot outputs, steady", "use", used)


def describe_recovery_times(scheme: str, times: np.ndarray, longest: float) -> str:
    """Returns the mean recovery time of a scheme as text, with the number of seeds without a recovery."""
    never = np.isnan(times)
    text = f"{scheme} {np.where(never, longest, times).mean():.3g} ms"
    if not never.any():
        return text
    return f"{text} ({never.sum()} of {len(times)} seeds did not recover and count as {longest:.0f} ms)"


def measure_recovery_times(runs: Runs) -> Iterator[Measured]:
    """Yields recovery times of victims; without a recovery, the whole time after the onset counts.

    The exception is QCN-OS in its quotient with sampling at outputs, which is NaN without a recovery.
    """
    longest = END_MS - ONSET_MS
    found = {
        variant: victims_recovery_times(runs, variant)
        for variant in (QCN_OS, QCN_AS, QCN_AS_OUTPUTS, QCN_OS_ACKS)
    }
    capped = {variant: np.where(np.isnan(one), longest, one) for variant, one in found.items()}
    names = NAMES | {QCN_OS_ACKS: "QCN-OS with ACKs"}
    os_time, as_time, outputs_time, acks_time = (
        describe_recovery_times(names[variant], one, longest) for variant, one in found.items()
    )
    note = f"{os_time}; {as_time}"
    yield build_measured("QCN-OS less QCN-AS", "time_to_recover", capped[QCN_OS] - capped[QCN_AS], note)
    note = f"{os_time}; {outputs_time}; {acks_time}"
    yield build_measured(
        "QCN-OS by outputs", "time_to_recover", divide_by_seed(found[QCN_OS], capped[QCN_AS_OUTPUTS]), note
    )


def limit_fall_instants(table: pa.Table, flow: int) -> np.ndarray:
    """Returns the times in ps at which the rate limit of a flow falls, from table `rate_limits`."""
    mine = columns.column_to_numpy(table, "flow") == flow
    rates = columns.column_to_numpy(table, "rate_bps")[mine]
    rates = np.where(rates < 0, LINE_GBPS * 1e9, rates)
    falls = np.diff(np.concatenate(([LINE_GBPS * 1e9], rates))) < 0
    return np.asarray(columns.column_to_numpy(table, "time_ps")[mine].astype(np.int64)[falls])


def cnm_delays(notices: pa.Table, limits: pa.Table, flows: Sequence[int] | np.ndarray) -> np.ndarray:
    """Delay in ns of each CNM to some flows after the onset: until the rate limit of its flow falls next.

    A CNM is left out if no fall follows, as at the end of a run.
    """
    made, about = (columns.column_to_numpy(notices, name).astype(np.int64) for name in ("time_ps", "flow"))
    found = []
    for flow in flows:
        times, falls = (
            made[(about == flow) & (made >= ONSET_MS * PS_PER_MS)],
            limit_fall_instants(limits, int(flow)),
        )
        next_fall = np.searchsorted(falls, times)
        seen = next_fall < len(falls)
        found.append((falls[next_fall[seen]] - times[seen]) / PS_PER_NS)
    return np.concatenate(found)


def median_cnm_delays(runs: Runs, variant: str, among: Sequence[int]) -> np.ndarray:
    """Median delay in ns of the CNMs to flows of some workloads, by seed; NaN without CNMs."""
    tables = (runs.tables(name, variant) for name in ("flows", "notices", "rate_limits"))
    found = []
    for flows, notices, rate_limits in zip(*tables, strict=True):
        numbers = np.concatenate([WorkloadFlows(flows).numbers(one) for one in among])
        every = cnm_delays(notices, rate_limits, numbers)
        found.append(float(np.median(every)) if len(every) else float("nan"))
    return np.array(found)


def cnm_load(runs: Runs, variant: str) -> float:
    """Bytes of CNMs in % of the bytes that flows inject after the onset, mean over seeds."""
    found = []
    for counts, sent in zip(
        cnms_by_workload(runs, variant), throughput_by_workload(runs, variant), strict=True
    ):
        injected = (
            float(sent[:, window_steps((ONSET_MS, END_MS))].sum(axis=0).mean())
            * 1e9
            / 8
            * (END_MS - ONSET_MS)
            / 1e3
        )
        found.append(100 * CNM_BYTES * float(sum(one.sum() for one in counts)) / injected)
    return float(np.mean(found))


def measure_cnm_cost(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures the delay of CNMs of inputs with six flows, and of inputs and outputs in the larger fabric."""
    beyond = median_cnm_delays(sweeps["hotspot"], QCN_OS, (F1, F2)) - CNM_LINK_NS
    case = "QCN-OS, six flows, shared input"
    yield build_measured(case, "median_delay_beyond_the_link", np.round(beyond, 6))
    runs = sweeps["many"]
    there, here = (median_cnm_delays(runs, variant, (0, 1)) / 1e3 for variant in (QCN_AS_OUTPUTS, QCN_OS))
    note = f"{there.mean():.3g} and {here.mean():.3g} us; computed, not measured: CNMs of outputs add "
    note += f"{cnm_load(runs, QCN_AS_OUTPUTS):.2g} % to the bytes that flows inject"
    yield build_measured("outputs less QCN-OS, hundred flows", "median_delay", there - here, note)


MEASURES: dict[str, Measure] = {
    "claim-culprits": measure_culprits,
    "claim-subflows": measure_subflows,
    "claim-many": measure_hundred_flows,
    "claim-cnms": measure_cnm_cost,
}
