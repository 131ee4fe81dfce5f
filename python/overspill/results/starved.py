"""Flows that get next to nothing while others just like them do not, for longer than chance explains.

Two flows whose packets meet a full queue in the same order again and again can stay so for ever: one of
them always finds room and the other never does. No real network is that exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from overspill.results.measures.rates import Watched, watched
from overspill.results.rundata import RunData

SHARE = 0.01  # of the mean goodput of its peers: less than that is next to nothing
APART = 0.01  # of a flow's active time, in which the starts of its peers lie
ENOUGH = 1000 * 1460  # bytes that the mean of its peers brings in a flow's active time
# Retransmissions in a row that were lost, each twice as long after the one before it.
TIMEOUTS = 3
CHANCE = 0.01  # that independent losses starve any of the peers so
SEGMENT = 9000  # bytes of the largest segments: more of them would make the share of losses smaller
COLUMNS = ("src", "dst", "bytes", "ideal_ps", "retransmits", "timeouts")


@dataclass(frozen=True)
class Starved:
    """Starved flows of a workload in one run."""

    traffic: str
    flows: int  # of the workload
    starved: int
    share: float  # the largest of theirs, of the mean of their peers


def of(run: RunData) -> list[Starved]:
    """The workloads of a run that have starved flows; none where links change, which starves flows, too."""
    if any(change.loses for change in run.changes):
        return []
    found = []
    for one in watched(run, *COLUMNS):
        shares = starving(one, slowest(run, one.flows))
        if len(shares):
            name = str(run.summary["traffic"][one.workload]["name"])
            found.append(Starved(name, len(one.got), len(shares), float(shares.max())))
    return found


def known(run: RunData) -> list[Starved]:
    """The same, as it was kept with the run, or taken now."""
    kept = run.summary.get("starved")
    return of(run) if kept is None else [Starved(**one) for one in kept]


def kept(run: RunData) -> list[dict[str, Any]]:
    """The same as a summary keeps it."""
    return [asdict(one) for one in of(run)]


def slowest(run: RunData, flows: Mapping[str, np.ndarray]) -> np.ndarray:
    """Bits per second of the slower of a flow's two hosts' links; 0 where nobody says."""
    node, rate = run.columns("ports", "node", "rate_bps")
    size = 1 + max(
        (int(column.max()) for column in (node, flows["src"], flows["dst"]) if len(column)), default=0
    )
    of_node = np.zeros(size)
    of_node[node] = rate
    return np.asarray(np.minimum(of_node[flows["src"]], of_node[flows["dst"]]))


def starving(one: Watched, rates: np.ndarray) -> np.ndarray:
    """Shares of the flows that starve, of the mean goodput of their peers."""
    parts = [some for group in groups(one, rates) if len(some := of_group(one, group))]
    return np.concatenate(parts) if parts else np.zeros(0)


def groups(one: Watched, rates: np.ndarray) -> Iterator[np.ndarray]:
    """Places of active flows of the same size, that need the same time alone, over links as fast.

    Only those groups in which a flow had timeouts enough: of others nothing is told.
    """
    active = np.flatnonzero(one.active > 0)
    silent = one.flows["timeouts"][active] >= TIMEOUTS
    if not silent.any():
        return
    facts = [one.flows["bytes"], one.flows["ideal_ps"], rates]
    rows = np.stack([np.asarray(fact, np.float64)[active] for fact in facts], axis=1)
    index = np.unique(rows, axis=0, return_inverse=True)[1].ravel()
    order = np.argsort(index, kind="stable")
    for number in np.unique(index[silent]):
        begin, end = np.searchsorted(index[order], (number, number + 1))
        if end - begin > 1:
            yield active[order[begin:end]]


def of_group(one: Watched, places: np.ndarray) -> np.ndarray:
    """The shares of a group's starved flows: each is held against those that began when it did."""
    places = places[np.argsort(one.flows["start_ps"][places], kind="stable")]
    start, active, got = one.flows["start_ps"][places].astype(np.float64), one.active[places], one.got[places]
    again = one.flows["retransmits"][places].astype(np.float64)
    near = APART * active * 1e12
    first, last = np.searchsorted(start, start - near), np.searchsorted(start, start + near, "right")

    def summed(values: np.ndarray) -> np.ndarray:
        total = np.concatenate([[0.0], np.cumsum(values)])
        return np.asarray(total[last] - total[first])

    count = last - first
    mean = summed(got / active) / count  # bytes a second
    resent = summed(again)
    lost = resent / np.maximum(resent + summed(got) / SEGMENT, 1.0)
    timeouts = one.flows["timeouts"][places].astype(np.float64)
    share = np.where(mean > 0, got / active / np.where(mean > 0, mean, 1.0), 1.0)
    told = (count > 1) & (share < SHARE) & (mean * active >= ENOUGH)
    told &= (timeouts >= TIMEOUTS) & (count * lost**timeouts < CHANCE)
    return np.asarray(share[told])


def sentence(seeds: Iterable[Iterable[Starved]]) -> str:
    """What is said of starved flows, the seeds of a variant together: `1 of 2 flows of a (0.2 % at most)`."""
    most: dict[str, Starved] = {}
    shares: dict[str, float] = {}
    for one in (one for every in seeds for one in every):
        shares[one.traffic] = max(one.share, shares.get(one.traffic, 0.0))
        if one.traffic not in most or one.starved > most[one.traffic].starved:
            most[one.traffic] = one
    named = [
        f"{one.starved} of {one.flows} flows of {name} ({100 * shares[name]:.2g} % at most)"
        for name, one in most.items()
    ]
    return (
        f"{'; '.join(named)} got less than {SHARE * 100:.0f} % of what others of the same size that began "
        "with them got, for longer than chance explains: packets are in step. Another host.nic_jitter, and "
        "hosts of today (linux), tell whether that stays; --check-phase does not where moved starts lock, too"
    )
