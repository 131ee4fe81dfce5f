"""Artificial runs of ABQ's sweeps: points of the paper's file, and known numbers."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import sample_runs
from overspill_papers.abq.measures.comparisons import MIN_TRANSIT_PS, ROUTINGS
from overspill_papers.abq.measures.schemes import SENDERS_PATH
from sample_runs import Told

from overspill.papers.spec import Point

PAPER = Path(__file__).parents[2] / "papers" / "abq"
THREE = ("drop_tail", "ecn", "abq")
NODE, PORT = 101, 0  # the port to the receiver
LEAF, SPINES = 101, (1, 2)  # the senders' rack in `routes`, whose ports 1 and 2 lead to the spines
MS = 10**9


@dataclass(eq=False)
class FakeRuns(sample_runs.FakeRuns):
    """Runs of the three schemes; the receiver is node 0."""

    variants: Sequence[str] = THREE

    def node(self, name: str) -> int:
        return {"h0": 0, "leaf0": LEAF, "spine0": SPINES[0], "spine1": SPINES[1]}[name]


def table(**columns: Sequence[int]) -> pa.Table:
    """Returns a table with columns of whole numbers."""
    return pa.table({name: pa.array(values, pa.uint64()) for name, values in columns.items()})


def flows(
    *took: float, size: int = 32_768, timeouts: int = 0, again: int = 0, long: Sequence[int] = ()
) -> pa.Table:
    """Returns `flows` that start at 10 ms, from their durations in ms.

    Flows at the indices `long` have 30 MB and no query.
    """
    count = len(took)
    whole = table(
        start_ps=[10 * MS] * count,
        end_ps=[10 * MS + int(one * MS) for one in took],
        bytes=[30_000_000 if at in long else size for at in range(count)],
        timeouts=[timeouts] + [0] * (count - 1),
        retransmits=[again] + [0] * (count - 1),
        dst=[at if at in long else 999 for at in range(count)],
    )
    queries = [2**32 - 1 if at in long else 0 for at in range(count)]
    return whole.append_column("query", pa.array(queries, pa.uint32()))


def ports(*lost: int, longest: int = 80) -> pa.Table:
    """Returns `ports` with drops at the port to each of the first hosts, and none at another host's port."""
    count = len(lost) + 1
    return table(
        node=[NODE] * count,
        port=range(count),
        peer=range(count),
        max_packets=[longest] * count,
        max_bytes=[1500 * longest] * count,
        drop_buffer_full=[*lost, 0],
        drop_hold_full=[0] * count,
    )


def hist(*times: tuple[int, int], window: int) -> pa.Table:
    """Returns `queue_hist` from durations in ms of numbers of packets; the queue is empty for the rest.

    The table also has another port.
    """
    rows = [(0, window - sum(ms for _, ms in times)), *times]
    count = len(rows) + 1
    return table(
        node=[NODE] * count,
        port=[PORT] * (count - 1) + [7],
        packets=[*(packets for packets, _ in rows), 9],
        time_ps=[*(ms * MS for _, ms in rows), 5 * MS],
    )


def holds(waited: int, congested: int = 0, most: int = 0) -> pa.Table:
    """Returns `holds` with the total wait of ACKs in ms at the receiver's port, and at another one."""
    return table(
        node=[NODE, NODE],
        port=[PORT, 7],
        waited_ps=[waited * MS, 99 * MS],
        congested_ps=[congested * MS, 99 * MS],
        max_packets=[most, 99],
        max_bytes=[60 * most, 99],
    )


def packets(*rows: tuple[int, int, int]) -> pa.Table:
    """Returns `packets` from reverse, end and fate."""
    names = ("reverse", "end_ps", "fate")
    return table(**{name: [row[at] for row in rows] for at, name in enumerate(names)})


def crossing_table(*rows: tuple[int, int, int, int]) -> pa.Table:
    """Returns `packets` of `routes` from flow, reverse, emission, and ps beyond the fastest path."""
    ends = [MIN_TRANSIT_PS + row[3] for row in rows]
    names = ("flow", "reverse", "emission")
    parts = {name: [row[at] for row in rows] for at, name in enumerate(names)}
    return table(**parts, sent_ps=[0] * len(rows), end_ps=ends, fate=[0] * len(rows))


def trace(*longest: int) -> pa.Table:
    """Returns `queue_trace` of the receiver's port, one value for each step."""
    count = len(longest)
    return table(bin=range(count), node=[NODE] * count, port=[PORT] * count, max_packets=longest)


def level_of_variant(variant: str, seed: int) -> int:
    """Returns a number that grows with the scheme's index and the seed."""
    return 10 + 2 * (THREE.index(variant) if variant in THREE else len(variant)) + seed


def all_sweeps() -> dict[str, FakeRuns]:
    """Returns every sweep of the paper."""
    five = range(5)
    incast: Mapping[str, Told] = {
        "flows": lambda one, _, seed: flows(*range(2, level_of_variant(one, seed)), timeouts=seed, again=3),
        "ports": lambda one, _, seed: ports(level_of_variant(one, seed)),
        "queue_hist": lambda one, _, seed: hist((20 + level_of_variant(one, seed), 3), (5, 2), window=990),
        "holds": lambda *_: holds(2),
        "packets": lambda *_: packets((1, 5, 0), (1, 700_000, 0), (0, 6, 0)),
        "queue_trace": lambda *_: trace(0, 10, 80, 40),
    }
    scale: Mapping[str, Told] = {
        "flows": lambda one, _, seed: flows(
            *(240 + level_of_variant(one, seed) for _ in five), 1, 9, 30, long=five
        ),
        "ports": lambda one, _, seed: ports(*(level_of_variant(one, seed) + at for at in five)),
    }
    routes: Mapping[str, Told] = incast | {
        "packets": lambda *_: crossing_table((0, 0, 0, 0), (0, 1, 0, 0), (0, 1, 1, 50_000_000)),
    }
    by_scenario = {"incast.toml": incast, "holding.toml": incast, "scale.toml": scale, "routes.toml": routes}
    found = {}
    for sweep in tomllib.loads((PAPER / "paper.toml").read_text())["sweep"]:
        points: list[Point] = [
            {path: str(value)} for path, values in sweep.get("over", {}).items() for value in values
        ]
        variants = sweep.get("variants", list(ROUTINGS) if sweep["name"] == "routes" else THREE)
        kept = by_scenario[sweep["scenario"]]
        found[sweep["name"]] = FakeRuns(points or ({},), variants, {}, kept, other=lambda *_: 2e-4)
    return found


def senders(*counts: int) -> list[Point]:
    """Returns points with these numbers of senders."""
    return sample_runs.points_along(SENDERS_PATH, counts)
