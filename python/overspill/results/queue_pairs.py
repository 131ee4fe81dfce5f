"""Queue pairs (RoCE) that go-back-N holds up: never finished, or finished after long timeouts.

After a loss, a queue pair sends all later packets in vain. Two that overload a port by turns lose all that
they send while the other one gets the whole link.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from overspill.results import formats
from overspill.results.columns import U64_NONE
from overspill.results.measures.completion import DATA
from overspill.results.measures.rates import over_life
from overspill.results.rundata import RunData
from overspill.results.victims import Starved, name_flow

WAITED = 0.25  # share of a flow's time spent waiting for timeouts: more is a stall
AGAIN = 0.5  # retransmissions per data packet: fewer are no lockout
COUNTS = ("retransmits", "fast_retransmits", "timeouts")
LOST = 0.01  # lost data packets per retransmission: fewer do not explain the retransmissions
COLUMNS = (
    "flow", "traffic", "src", "dst", "bytes", "start_ps", "end_ps", "received", "measured", "role", *COUNTS
)  # fmt: skip


def find_stalled(run: RunData) -> list[Starved]:
    """Returns workloads with queue pairs that did not finish, or that stalled."""
    found = []
    for number, workload in enumerate(run.summary["traffic"]):
        how = workload.get("go_back")
        if how:
            flows = data_flows(run, number, bool(workload.get("endless")))
            _, active = over_life(run, flows)
            pairs = Pairs(run, flows, active, how["mss"], how["timeout_ps"] * 1e-12)
            found += [one for one in (pairs.unfinished(), pairs.stalled()) if one]
    return found


def data_flows(run: RunData, workload: int, endless: bool) -> dict[str, np.ndarray]:
    """Returns columns of the data flows of a workload that are measured or endless."""
    flows = dict(zip(COLUMNS, run.columns("flows", *COLUMNS), strict=True))
    keep = (flows["traffic"] == workload) & (flows["role"] == DATA)
    keep &= endless | (flows["measured"] != 0)
    keep &= np.minimum(flows["end_ps"], run.end_ps) > flows["start_ps"]
    return {name: column[keep] for name, column in flows.items()}


@dataclass(frozen=True)
class Pairs:
    """Queue pairs of one workload, with the seconds that each was active."""

    run: RunData
    flows: dict[str, np.ndarray]
    active: np.ndarray
    mss: int
    timeout: float

    def unfinished(self) -> Starved | None:
        """Returns queue pairs that went back and did not finish; `None` for a run that was cut."""
        late = (self.flows["end_ps"] == U64_NONE) & (self.flows["bytes"] > 0)
        # A queue pair without losses only needs more time.
        stuck = np.flatnonzero(late & (self.flows["timeouts"] + self.flows["fast_retransmits"] > 0))
        if not len(stuck) or self.run.cut:
            return None
        worst = int(stuck[np.argmin(self.flows["received"][stuck] / self.flows["bytes"][stuck])])
        words = progress(self.run, self.flows, worst, float(self.active[worst]))
        return self.found(stuck, worst, "unfinished", words)

    def stalled(self) -> Starved | None:
        """Returns queue pairs that waited long for timeouts and sent most of their data again."""
        ended = (self.flows["end_ps"] != U64_NONE) | (self.flows["bytes"] == 0)
        waited = self.flows["timeouts"] * self.timeout / self.active
        packets = -(-self.flows["received"].astype(np.float64) // self.mss)
        again = self.flows["retransmits"] >= AGAIN * packets
        stalled = np.flatnonzero(ended & (waited >= WAITED) & again)
        if not len(stalled):
            return None
        worst = int(stalled[np.argmax(waited[stalled])])
        share, time = min(1.0, float(waited[worst])), formats.time(self.active[worst] * 1e12)
        words = (
            f"{went_back(self.flows, worst)} for {packets[worst]:,.0f} data packets; it waited for "
            f"timeouts during {share:.0%} of {time}"
        )
        return self.found(stalled, worst, "stalled" if self.loses(stalled) else "early", words)

    def loses(self, places: np.ndarray) -> bool:
        """Returns true if losses explain the retransmissions of these queue pairs, or were not counted."""
        lost = self.run.column("flows", "data_drops")
        if not len(lost):
            return True
        of_flow = lost[self.flows["flow"][places].astype(np.int64)].sum()
        return bool(of_flow > LOST * self.flows["retransmits"][places].sum())

    def found(self, places: np.ndarray, worst: int, kind: str, words: str) -> Starved:
        """Returns the summary of the queue pairs at these places, with the worst one."""
        name = str(self.run.summary["traffic"][int(self.flows["traffic"][worst])]["name"])
        named = f"{name_flow(self.run, self.flows, worst)}: {words}"
        return Starved(name, len(self.active), len(places), 0.0, kind, named)


def went_back(flows: dict[str, np.ndarray], place: int) -> str:
    """Returns the numbers of go-backs and of retransmissions of a queue pair as text."""
    naks, timeouts = int(flows["fast_retransmits"][place]), int(flows["timeouts"][place])
    resent = int(flows["retransmits"][place])
    return (
        f"went back {naks + timeouts:,} times ({naks:,} NAKs, {timeouts:,} timeouts) and retransmitted "
        f"{resent:,} packets"
    )


def progress(run: RunData, flows: dict[str, np.ndarray], place: int, active: float) -> str:
    """Returns the progress of an unfinished queue pair, and when its host last received data, if counted."""
    got, size = int(flows["received"][place]), int(flows["bytes"][place])
    found = f"{went_back(flows, place)}, {100 * got / size:.0f}% of its {size:,} B arrived in "
    found += formats.time(active * 1e12)
    bins, node, arrived = run.columns("host_goodput", "bin", "node", "bytes")
    here = bins[(node == flows["dst"][place]) & (arrived > 0)]
    if not len(here):
        return found
    last = (int(here.max()) + 1) * int(run.summary["bin_ps"])
    if run.end_ps - last < active * 1e12 / 10:
        return f"{found}; its host still receives data"
    return f"{found}, and nothing after {formats.time(last)}"
