"""Bounced packets one by one: delay by the order of service, repeated bounces, and the counter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from overspill import columns
from overspill.papers.pabo import fat_tree
from overspill.papers.pabo.common import LOADS, load, measured, quotient
from overspill.papers.pabo.fat_tree import PABO, SCENARIOS, Of, Sweeps
from overspill.papers.spec import Figure, Measured, Runs

IN_TURN, ONE_QUEUE = "in_turn", "one_queue"
DELIVERED = 0  # `fate` of the table `packets`


@dataclass(frozen=True)
class Packets:
    """Delivered packets of one run of raw senders, each known by its flow and its place in it."""

    flow: np.ndarray
    emission: np.ndarray
    bounces: np.ndarray
    end: np.ndarray  # ps
    delay: np.ndarray  # us

    @property
    def key(self) -> np.ndarray:
        """A number for each packet, the same in runs of other variants."""
        return np.asarray(self.flow.astype(np.int64) << 32 | self.emission.astype(np.int64))


def packets(table: pa.Table) -> Packets:
    """Delivered packets of the table `packets`."""
    kept = (columns.numbers(table, "fate") == DELIVERED) & (columns.numbers(table, "reverse") == 0)
    flow, emission, bounces, sent, end = (
        columns.numbers(table, name)[kept] for name in ("flow", "emission", "bounces", "sent_ps", "end_ps")
    )
    return Packets(flow, emission, bounces, end, (end - sent) / 1e6)


def bounced_delay(found: Packets) -> float:
    """Mean delay in us of packets that were bounced; NaN without any."""
    chosen = found.delay[found.bounces > 0]
    return float(chosen.mean()) if len(chosen) else float("nan")


def less_in_one_queue(bouncing: Packets, queued: Packets) -> float:
    """Mean delay in us of bounced packets less that of the same packets in a run without bounces."""
    mine = bouncing.bounces > 0
    _, here, there = np.intersect1d(bouncing.key[mine], queued.key, return_indices=True)
    differences = bouncing.delay[mine][here] - queued.delay[there]
    return float(differences.mean()) if len(differences) else float("nan")


def entropy(found: Packets) -> float:
    """Reorder entropy (PABO eq. 7) of all flows together, by ranks among the packets that arrive."""
    places = [ranks(found.end[one]) - ranks(found.emission[one]) for one in by_flow(found)]
    _, counts = np.unique(np.concatenate(places), return_counts=True)
    shares = counts / counts.sum()
    return float(-(shares * np.log(shares)).sum()) + 0.0


def by_flow(found: Packets) -> list[np.ndarray]:
    """Which packets are of each flow."""
    return [found.flow == one for one in np.unique(found.flow)]


def ranks(values: np.ndarray) -> np.ndarray:
    """Place of each value in their order, from 0."""
    place = np.empty(len(values), np.int64)
    place[np.argsort(values, kind="stable")] = np.arange(len(values))
    return place


# Statistics of one run, from its `packet_hist`.


def again_less_once(table: pa.Table) -> float:
    """Share in % of bounced packets that are bounced again, less that of packets that are bounced at all."""
    found = fat_tree.histogram(table, Of.BOUNCES)
    once, twice = found.share(1), found.share(2)
    return 100 * quotient(twice, once) - once


def largest_count(tables: Sequence[pa.Table]) -> float:
    """Most bounces of a delivered packet, ACKs included, in some runs."""
    return max(most(table) for table in tables)


def most(table: pa.Table) -> float:
    """Most bounces of a delivered packet, ACKs included."""
    chosen = (columns.numbers(table, "metric") == Of.BOUNCES) & (columns.numbers(table, "count") > 0)
    return float(columns.numbers(table, "low")[chosen].max(initial=0))


# Figures.


def first(sweeps: Sweeps) -> Iterator[Measured]:
    """Delay of bounced packets by the order of service, and how many are bounced again."""
    served = sweeps["served"]
    for name in LOADS:
        by_variant = {
            variant: list(map(packets, served.tables("packets", variant, load(served, name))))
            for variant in (PABO, IN_TURN, ONE_QUEUE)
        }
        mine = by_variant[PABO]
        in_turn = [
            bounced_delay(other) - bounced_delay(one)
            for one, other in zip(mine, by_variant[IN_TURN], strict=True)
        ]
        told = f"{np.mean([bounced_delay(one) for one in mine]):.0f} us where they are served first"
        yield measured(name, "delay_of_bounced_in_turn_less_first", in_turn, told)
        pairs = zip(mine, by_variant[ONE_QUEUE], strict=True)
        yield measured(
            name, "delay_of_bounced_less_in_one_queue", [less_in_one_queue(*pair) for pair in pairs]
        )
    severity = sweeps["severity"]
    for name in LOADS:
        tables = severity.tables("packet_hist", PABO, load(severity, name))
        yield measured(name, "share_bounced_again_less_bounced", list(map(again_less_once, tables)))
    for name in SCENARIOS:
        values = fat_tree.packets(sweeps[name], again_less_once)
        yield measured(name, "share_bounced_again_less_bounced", values)


def counter(sweeps: Sweeps) -> Iterator[Measured]:
    """Most bounces of a packet in any run with PABO, by seed as far as all sweeps have it."""
    every = [tables for runs in sweeps.values() for tables in kept(runs)]
    seeds = min(len(one) for one in every)
    values = [largest_count([tables[seed] for tables in every]) for seed in range(seeds)]
    told = f"{max(largest_count(tables) for tables in every):.0f} at most, over all seeds of all sweeps"
    yield measured("every run with PABO", "largest_count", values, told)


def kept(runs: Runs) -> list[list[pa.Table]]:
    """`packet_hist` with PABO at each point, by seed."""
    return [runs.tables("packet_hist", PABO, point) for point in runs.points]


FIGURES: dict[str, Figure] = {"claim-first": Figure(first), "claim-counter": Figure(counter)}
