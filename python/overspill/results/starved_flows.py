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
from overspill.results.measures.rates import MeasuredOrEndlessFlows, iterate_measured_or_endless_flows
from overspill.results.rundata import RunData
from overspill.results.starved_workload import StarvedWorkload as StarvedWorkload
from overspill.results.starved_workload import name_flow

STARVED_SHARE = 0.01  # of the mean goodput of a flow's peers: less means that it starves
MAX_START_DIFFERENCE = 0.01  # of a flow's active time, within which its peers start
MIN_PEER_BYTES = 1000 * 1460  # fewest bytes that peers deliver on average in a flow's active time
# Fewest timeouts of a starved flow. The RTO doubles with each one in a row: three mean a long silence.
MIN_TIMEOUTS = 3
MAX_LOSS_PROBABILITY = 0.01  # largest probability that independent losses starve any of the peers this much
MAX_SEGMENT_BYTES = 9000  # bytes of the largest segment; smaller ones would lower the share of losses
FLOW_COLUMNS = ("src", "dst", "bytes", "ideal_ps", "retransmits", "timeouts")


def starved_workloads(run: RunData) -> list[StarvedWorkload]:
    """Returns the workloads of a run that have starved flows.

    If events lose frames or hosts pause the network, which starves flows as well, only workloads with
    unfinished queue pairs are returned.
    """
    if any(change.loses or change.pauses for change in run.changes):
        return [
            one for one in queue_pairs.workloads_with_stalled_queue_pairs(run) if one.kind == "unfinished"
        ]
    return [
        *starved_window_based_workloads(run),
        *lockout.workloads_with_locked_out_sources(run),
        *queue_pairs.workloads_with_stalled_queue_pairs(run),
    ]


def starved_window_based_workloads(run: RunData) -> Iterator[StarvedWorkload]:
    """Yields workloads of TCP or pFabric that have starved flows."""
    for one in iterate_measured_or_endless_flows(run, *FLOW_COLUMNS):
        if run.summary["traffic"][one.workload].get("go_back"):
            continue
        places, shares = find_starved_flows(one, slower_host_rates(run, one.flows))
        if len(shares):
            name = str(run.summary["traffic"][one.workload]["name"])
            worst = int(np.argmin(shares))
            words = f"{name_flow(run, one.flows, int(places[worst]))}, {100 * shares[worst]:.2g}%"
            yield StarvedWorkload(
                name, len(one.received_bytes), len(shares), float(shares.max()), "window", words
            )


def starved_workloads_from_summary(run: RunData) -> list[StarvedWorkload]:
    """Returns the workloads with starved flows, from the summary if it has them."""
    kept = run.summary.get("starved")
    return starved_workloads(run) if kept is None else [StarvedWorkload(**one) for one in kept]


def starved_workloads_for_summary(run: RunData) -> list[dict[str, Any]]:
    """Returns the workloads with starved flows in the form that a summary keeps."""
    return [asdict(one) for one in starved_workloads(run)]


def slower_host_rates(run: RunData, flows: Mapping[str, np.ndarray]) -> np.ndarray:
    """Returns the rate in bit/s of the slower host link of each flow; 0 if it is not known."""
    node, rate = run.columns("ports", "node", "rate_bps")
    size = 1 + max(
        (int(column.max()) for column in (node, flows["src"], flows["dst"]) if len(column)), default=0
    )
    of_node = np.zeros(size)
    of_node[node] = rate
    return np.asarray(np.minimum(of_node[flows["src"]], of_node[flows["dst"]]))


def find_starved_flows(one: MeasuredOrEndlessFlows, rates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the indices of starved flows, and their goodput as shares of their peers' mean goodput."""
    parts = [starved_flows_of_group(one, group) for group in group_equal_flows(one, rates)]
    if not parts:
        return np.zeros(0, np.int64), np.zeros(0)
    places, shares = zip(*parts, strict=True)
    return np.concatenate(places), np.concatenate(shares)


def group_equal_flows(one: MeasuredOrEndlessFlows, rates: np.ndarray) -> Iterator[np.ndarray]:
    """Yields the indices of active flows with the same size, ideal time and link rate, group by group.

    Only groups of several flows are included, one of which has at least `MIN_TIMEOUTS` timeouts.
    """
    active = np.flatnonzero(one.active_ps > 0)
    silent = one.flows["timeouts"][active] >= MIN_TIMEOUTS
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


def starved_flows_of_group(one: MeasuredOrEndlessFlows, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the starved flows of a group with their shares; peers are flows with the same start."""
    places = places[np.argsort(one.flows["start_ps"][places], kind="stable")]
    start, active, got = (
        one.flows["start_ps"][places].astype(np.float64),
        one.active_ps[places],
        one.received_bytes[places],
    )
    again = one.flows["retransmits"][places].astype(np.float64)
    near = MAX_START_DIFFERENCE * active * 1e12
    first, last = np.searchsorted(start, start - near), np.searchsorted(start, start + near, "right")

    def sum_over_peers(values: np.ndarray) -> np.ndarray:
        total = np.concatenate([[0.0], np.cumsum(values)])
        return np.asarray(total[last] - total[first])

    count = last - first
    mean = sum_over_peers(got / active) / count  # bytes per second
    resent = sum_over_peers(again)
    lost = resent / np.maximum(resent + sum_over_peers(got) / MAX_SEGMENT_BYTES, 1.0)
    timeouts = one.flows["timeouts"][places].astype(np.float64)
    share = np.where(mean > 0, got / active / np.where(mean > 0, mean, 1.0), 1.0)
    told = (count > 1) & (share < STARVED_SHARE) & (mean * active >= MIN_PEER_BYTES)
    told &= (timeouts >= MIN_TIMEOUTS) & (count * lost**timeouts < MAX_LOSS_PROBABILITY)
    return np.asarray(places[told]), np.asarray(share[told])


SYMPTOM_OF_KIND = {
    "window": (
        f"got less than {STARVED_SHARE * 100:.0f}% of the mean of their peers, for longer than chance "
        "explains: "
        "packets are phase-locked. Set `host.nic_jitter` to the time of a frame on the host's link, or "
        'use modern hosts (`transport.kind = "linux"`). `--check-phase` does not help if the moved starts '
        "are phase-locked as well"
    ),
    "raw": (
        f"got less than {lockout.LOCKED_OUT_SHARE * 100:.0f}% of the mean of their peers, which chance "
        "cannot explain: "
        "packets reach the full port phase-locked. Lower the rate to 99% of the host's link or less, and "
        "keep `host.nic_jitter`. Jitter has no effect at a NIC that is never idle. At the full rate, set "
        "`host.clock_ppm = 100` and `switch.clock_ppm = 100`"
    ),
    "stalled": (
        f"spent {queue_pairs.STALLED_TIME_SHARE * 100:.0f}% or more of their time waiting for timeouts. "
        "After a loss, "
        "go-back-N discards all later packets, and the peers take the link. "
        'Set `switch.pause.kind = "pfc"`, or a lower `switch.pause.xoff` if PFC is on; `host.nic_jitter` and '
        "`clock_ppm` do not help"
    ),
    "early": (
        f"spent {queue_pairs.STALLED_TIME_SHARE * 100:.0f}% or more of their time waiting for timeouts, "
        "and almost "
        "nothing was lost: the timeout is shorter than the delay, or packets overtake each other. Set "
        "`transport.rto` above the largest delay, and keep packets of a flow on one path"
    ),
    "unfinished": (
        "never finished: go-back-N sends the same packets again and again. "
        'Set `switch.pause.kind = "pfc"`, or a lower `switch.pause.xoff` if PFC is on, or '
        '`host.reaction.kind = "dcqcn"` with marking'
    ),
}
QUEUE_PAIRS_NOUN = "queue pairs"
NOUN_OF_KIND = {
    "window": "flows",
    "raw": "raw sources",
    "stalled": QUEUE_PAIRS_NOUN,
    "early": QUEUE_PAIRS_NOUN,
    "unfinished": QUEUE_PAIRS_NOUN,
}


def starved_warning(seeds: Iterable[Iterable[StarvedWorkload]]) -> str:
    """Returns the warning about starved flows of all seeds of a variant, by kind of sender."""
    most: dict[tuple[str, str], StarvedWorkload] = {}
    for one in (one for every in seeds for one in every):
        known = most.get((one.kind, one.traffic))
        if known is None or one.starved > known.starved:
            most[one.kind, one.traffic] = one
    found = []
    for kind, words in SYMPTOM_OF_KIND.items():
        named = [describe_starved(one) for one in most.values() if one.kind == kind]
        if named:
            found.append(f"{'; '.join(named)} {words}")
    return ". ".join(found)


def describe_starved(one: StarvedWorkload) -> str:
    """Describes starved flows and the worst one: `1 of 2 flows of a [h0 -> h2 (flow 1), 0.2%]`."""
    worst = f" [{one.worst}]" if one.worst else ""
    return f"{one.starved} of {one.flows} {NOUN_OF_KIND[one.kind]} of {one.traffic}{worst}"
