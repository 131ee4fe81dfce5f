"""Queue pairs (RoCE) delayed by go-back-N: never finished, or finished after long timeouts.

After a loss, a queue pair sends all later packets in vain. Two that overload a port by turns lose all that
they send while the other one gets the whole link.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from overspill.results import formats
from overspill.results.columns import U64_NONE
from overspill.results.measures.completion import DATA_ROLE
from overspill.results.measures.rates import bytes_over_life
from overspill.results.rundata import RunData
from overspill.results.starved_workload import StarvedWorkload, name_flow

STALLED_TIME_SHARE = 0.25  # share of a flow's time spent waiting for timeouts: more is a stall
MIN_RETRANSMISSION_RATIO = 0.5  # retransmissions per data packet: fewer are no lockout
COUNTER_COLUMNS = ("retransmits", "fast_retransmits", "timeouts")
MIN_LOSS_RATIO = 0.01  # lost data packets per retransmission: fewer do not explain the retransmissions
FLOW_COLUMNS = (
    "flow", "traffic", "src", "dst", "bytes", "start_ps", "end_ps", "received", "measured", "role",
    *COUNTER_COLUMNS,
)  # fmt: skip


def workloads_with_stalled_queue_pairs(run: RunData) -> list[StarvedWorkload]:
    """Returns workloads that have queue pairs that did not finish, or that stalled."""
    found = []
    for number, workload in enumerate(run.summary["traffic"]):
        how = workload.get("go_back")
        if how:
            flows = data_flows(run, number, bool(workload.get("endless")))
            _, active = bytes_over_life(run, flows)
            pairs = QueuePairs(run, flows, active, how["mss"], how["timeout_ps"] * 1e-12)
            found += [one for one in (pairs.summarise_unfinished(), pairs.summarise_stalled()) if one]
    return found


def data_flows(run: RunData, workload: int, endless: bool) -> dict[str, np.ndarray]:
    """Returns columns of those data flows of a workload that are measured or endless."""
    flows = dict(zip(FLOW_COLUMNS, run.columns("flows", *FLOW_COLUMNS), strict=True))
    keep = (flows["traffic"] == workload) & (flows["role"] == DATA_ROLE)
    keep &= endless | (flows["measured"] != 0)
    keep &= np.minimum(flows["end_ps"], run.end_ps) > flows["start_ps"]
    return {name: column[keep] for name, column in flows.items()}


@dataclass(frozen=True)
class QueuePairs:
    """Queue pairs of one workload, with the seconds that each was active."""

    run: RunData
    flows: dict[str, np.ndarray]
    active: np.ndarray
    mss: int
    timeout: float

    def summarise_unfinished(self) -> StarvedWorkload | None:
        """Returns the unfinished queue pairs that retransmitted by go-back-N; `None` if the run was cut."""
        late = (self.flows["end_ps"] == U64_NONE) & (self.flows["bytes"] > 0)
        # A queue pair that never went back is not stuck, but only needs more time.
        stuck = np.flatnonzero(late & (self.flows["timeouts"] + self.flows["fast_retransmits"] > 0))
        if not len(stuck) or self.run.cut:
            return None
        worst = int(stuck[np.argmin(self.flows["received"][stuck] / self.flows["bytes"][stuck])])
        words = describe_progress(self.run, self.flows, worst, float(self.active[worst]))
        return self.summarise_pairs(stuck, worst, "unfinished", words)

    def summarise_stalled(self) -> StarvedWorkload | None:
        """Returns the queue pairs that waited long for timeouts and sent most of their data again."""
        ended = (self.flows["end_ps"] != U64_NONE) | (self.flows["bytes"] == 0)
        waited = self.flows["timeouts"] * self.timeout / self.active
        packets = -(-self.flows["received"].astype(np.float64) // self.mss)
        again = self.flows["retransmits"] >= MIN_RETRANSMISSION_RATIO * packets
        stalled = np.flatnonzero(ended & (waited >= STALLED_TIME_SHARE) & again)
        if not len(stalled):
            return None
        worst = int(stalled[np.argmax(waited[stalled])])
        share, time = min(1.0, float(waited[worst])), formats.format_time(self.active[worst] * 1e12)
        words = (
            f"{describe_go_backs(self.flows, worst)} for {packets[worst]:,.0f} data packets; it waited for "
            f"timeouts during {share:.0%} of {time}"
        )
        return self.summarise_pairs(
            stalled, worst, "stalled" if self.are_explained_by_losses(stalled) else "early", words
        )

    def are_explained_by_losses(self, places: np.ndarray) -> bool:
        """Returns true if losses explain the retransmissions of these queue pairs, or were not counted."""
        lost = self.run.column("flows", "data_drops")
        if not len(lost):
            return True
        of_flow = lost[self.flows["flow"][places].astype(np.int64)].sum()
        return bool(of_flow > MIN_LOSS_RATIO * self.flows["retransmits"][places].sum())

    def summarise_pairs(self, places: np.ndarray, worst: int, kind: str, words: str) -> StarvedWorkload:
        """Summarises the queue pairs at the given indices, and names the worst one."""
        name = str(self.run.summary["traffic"][int(self.flows["traffic"][worst])]["name"])
        named = f"{name_flow(self.run, self.flows, worst)}: {words}"
        return StarvedWorkload(name, len(self.active), len(places), 0.0, kind, named)


def describe_go_backs(flows: dict[str, np.ndarray], place: int) -> str:
    """Returns the numbers of go-backs and of retransmissions of a queue pair as text."""
    naks, timeouts = int(flows["fast_retransmits"][place]), int(flows["timeouts"][place])
    resent = int(flows["retransmits"][place])
    return (
        f"went back {naks + timeouts:,} times ({naks:,} NAKs, {timeouts:,} timeouts) and retransmitted "
        f"{resent:,} packets"
    )


def describe_progress(run: RunData, flows: dict[str, np.ndarray], place: int, active: float) -> str:
    """Returns the progress of an unfinished queue pair, and when its host last received data, if counted."""
    got, size = int(flows["received"][place]), int(flows["bytes"][place])
    found = f"{describe_go_backs(flows, place)}, {100 * got / size:.0f}% of its {size:,} B arrived in "
    found += formats.format_time(active * 1e12)
    bins, node, arrived = run.columns("host_goodput", "bin", "node", "bytes")
    here = bins[(node == flows["dst"][place]) & (arrived > 0)]
    if not len(here):
        return found
    last = (int(here.max()) + 1) * int(run.summary["bin_ps"])
    if run.end_ps - last < active * 1e12 / 10:
        return f"{found}; its host still receives data"
    return f"{found}, and nothing after {formats.format_time(last)}"
