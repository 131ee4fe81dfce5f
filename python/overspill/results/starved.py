"""Flows that starve while similar flows do not, for longer than chance explains.

Two flows whose packets reach a full queue in the same order again and again can stay so forever: one of them
always finds free buffer space and the other never does. No real network is that exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from overspill.results import lockout, queue_pairs
from overspill.results.measures.rates import Watched, watched
from overspill.results.rundata import RunData
from overspill.results.victims import Starved as Starved
from overspill.results.victims import name_flow

SHARE = 0.01  # of the mean goodput of a flow's peers: less means that it starves
APART = 0.01  # of a flow's active time, within which its peers start
ENOUGH = 1000 * 1460  # fewest bytes that peers deliver on average in a flow's active time
# Fewest timeouts of a starved flow; the RTO doubles with each one in a row.
TIMEOUTS = 3
CHANCE = 0.01  # largest probability that independent losses starve any of the peers this much
SEGMENT = 9000  # bytes of the largest segment; smaller ones would lower the share of losses
COLUMNS = ("src", "dst", "bytes", "ideal_ps", "retransmits", "timeouts")


def starved_workloads(run: RunData) -> list[Starved]:
    """Returns the workloads of a run that have starved flows.

    If events lose frames, which starves flows as well, only workloads with unfinished queue pairs are
    returned.
    """
    if any(change.loses for change in run.changes):
        return [one for one in queue_pairs.find_stalled(run) if one.kind == "unfinished"]
    return [*of_windows(run), *lockout.find_locked_out(run), *queue_pairs.find_stalled(run)]


def of_windows(run: RunData) -> Iterator[Starved]:
    """Yields workloads of TCP or pFabric that have starved flows."""
    for one in watched(run, *COLUMNS):
        if run.summary["traffic"][one.workload].get("go_back"):
            continue
        places, shares = starving(one, slowest(run, one.flows))
        if len(shares):
            name = str(run.summary["traffic"][one.workload]["name"])
            worst = int(np.argmin(shares))
            words = f"{name_flow(run, one.flows, int(places[worst]))}, {100 * shares[worst]:.2g}%"
            yield Starved(name, len(one.got), len(shares), float(shares.max()), "window", words)


def known(run: RunData) -> list[Starved]:
    """Returns the workloads with starved flows, from the summary if it has them."""
    kept = run.summary.get("starved")
    return starved_workloads(run) if kept is None else [Starved(**one) for one in kept]


def kept(run: RunData) -> list[dict[str, Any]]:
    """Returns the workloads with starved flows in the form that a summary keeps."""
    return [asdict(one) for one in starved_workloads(run)]


def slowest(run: RunData, flows: Mapping[str, np.ndarray]) -> np.ndarray:
    """Returns the rate in bit/s of the slower host link of each flow; 0 if it is not known."""
    node, rate = run.columns("ports", "node", "rate_bps")
    size = 1 + max(
        (int(column.max()) for column in (node, flows["src"], flows["dst"]) if len(column)), default=0
    )
    of_node = np.zeros(size)
    of_node[node] = rate
    return np.asarray(np.minimum(of_node[flows["src"]], of_node[flows["dst"]]))


def starving(one: Watched, rates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the places of starved flows, and their shares of the mean goodput of their peers."""
    parts = [of_group(one, group) for group in groups(one, rates)]
    if not parts:
        return np.zeros(0, np.int64), np.zeros(0)
    places, shares = zip(*parts, strict=True)
    return np.concatenate(places), np.concatenate(shares)


def groups(one: Watched, rates: np.ndarray) -> Iterator[np.ndarray]:
    """Yields places of active flows with the same size, ideal time and rate of links.

    Only groups of several flows are included, one of which has at least `TIMEOUTS` timeouts.
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


def of_group(one: Watched, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns places and shares of a group's starved flows, each compared with flows of the same start."""
    places = places[np.argsort(one.flows["start_ps"][places], kind="stable")]
    start, active, got = one.flows["start_ps"][places].astype(np.float64), one.active[places], one.got[places]
    again = one.flows["retransmits"][places].astype(np.float64)
    near = APART * active * 1e12
    first, last = np.searchsorted(start, start - near), np.searchsorted(start, start + near, "right")

    def summed(values: np.ndarray) -> np.ndarray:
        total = np.concatenate([[0.0], np.cumsum(values)])
        return np.asarray(total[last] - total[first])

    count = last - first
    mean = summed(got / active) / count  # bytes per second
    resent = summed(again)
    lost = resent / np.maximum(resent + summed(got) / SEGMENT, 1.0)
    timeouts = one.flows["timeouts"][places].astype(np.float64)
    share = np.where(mean > 0, got / active / np.where(mean > 0, mean, 1.0), 1.0)
    told = (count > 1) & (share < SHARE) & (mean * active >= ENOUGH)
    told &= (timeouts >= TIMEOUTS) & (count * lost**timeouts < CHANCE)
    return np.asarray(places[told]), np.asarray(share[told])


WORDS = {
    "window": (
        f"got less than {SHARE * 100:.0f}% of the mean of their peers, for longer than chance explains: "
        "packets are phase-locked. Set `host.nic_jitter` to the time of a frame on the host's link, or "
        'use modern hosts (`transport.kind = "linux"`). `--check-phase` does not help if the moved starts '
        "are phase-locked as well"
    ),
    "raw": (
        f"got less than {lockout.SHARE * 100:.0f}% of the mean of their peers, which chance cannot explain: "
        "packets reach the full port phase-locked. Lower the rate to 99% of the host's link or less, and "
        "keep `host.nic_jitter`. Jitter has no effect at a NIC that is never idle. At the full rate, set "
        "`host.clock_ppm = 100` and `switch.clock_ppm = 100`"
    ),
    "stalled": (
        f"spent {queue_pairs.WAITED * 100:.0f}% or more of their time waiting for timeouts. After a loss, "
        "go-back-N discards all later packets, and the peers take the link. "
        'Set `switch.pause.kind = "pfc"`, or a lower `switch.pause.xoff` if PFC is on; `host.nic_jitter` and '
        "`clock_ppm` do not help"
    ),
    "early": (
        f"spent {queue_pairs.WAITED * 100:.0f}% or more of their time waiting for timeouts, and almost "
        "nothing was lost: the timeout is shorter than the delay, or packets overtake each other. Set "
        "`transport.rto` above the largest delay, and keep packets of a flow on one path"
    ),
    "unfinished": (
        "never finished: go-back-N sends the same packets again and again. "
        'Set `switch.pause.kind = "pfc"`, or a lower `switch.pause.xoff` if PFC is on, or '
        '`host.reaction.kind = "dcqcn"` with marking'
    ),
}
PAIRS = "queue pairs"
WHOM = {"window": "flows", "raw": "raw sources", "stalled": PAIRS, "early": PAIRS, "unfinished": PAIRS}


def sentence(seeds: Iterable[Iterable[Starved]]) -> str:
    """Returns the warning about starved flows of all seeds of a variant, by kind of sender."""
    most: dict[tuple[str, str], Starved] = {}
    for one in (one for every in seeds for one in every):
        known = most.get((one.kind, one.traffic))
        if known is None or one.starved > known.starved:
            most[one.kind, one.traffic] = one
    found = []
    for kind, words in WORDS.items():
        named = [describe(one) for one in most.values() if one.kind == kind]
        if named:
            found.append(f"{'; '.join(named)} {words}")
    return ". ".join(found)


def describe(one: Starved) -> str:
    """Describes starved flows and the worst one: `1 of 2 flows of a [h0 -> h2 (flow 1), 0.2%]`."""
    worst = f" [{one.worst}]" if one.worst else ""
    return f"{one.starved} of {one.flows} {WHOM[one.kind]} of {one.traffic}{worst}"
