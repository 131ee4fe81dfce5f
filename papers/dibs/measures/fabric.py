"""Fat-tree (k = 8) of DIBS's simulations: neighbours of nodes, and values of ports over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from overspill import columns
from overspill.papers.spec import Point, Runs

DIBS, QPS_PATH = "dibs", "traffic.query.qps"
K = 8
HOST_COUNT, EDGE_COUNT, AGG_COUNT, CORE_COUNT = 128, 32, 32, 16
EDGES_PER_POD = K // 2  # edge switches of a pod, and as many aggregation switches
BUFFER_PACKETS = 100  # packets, buffer of a port


def load_point(load: int) -> Point:
    """Returns the point of a sweep with a load in queries per second."""
    return {QPS_PATH: str(load)}


@dataclass(frozen=True)
class Fabric:
    """All ports, as in the table `ports`: node, port number, far end and rate in bit/s."""

    node: np.ndarray
    port: np.ndarray
    peer: np.ndarray
    rate: np.ndarray
    first: dict[str, int]  # number of the first host, edge, aggregation and core switch

    @classmethod
    def of_run(cls, runs: Runs, ports: pa.Table) -> Fabric:
        """Returns the network of a run; all runs of the paper have the same one."""
        first = {tier: runs.node(f"{tier}0") for tier in ("h", "edge", "agg", "core")}
        names = ("node", "port", "peer", "rate_bps")
        node, port, peer, rate = (np.asarray(columns.column_to_numpy(ports, name)) for name in names)
        return cls(node, port, peer, rate, first)

    def tier(self, nodes: np.ndarray) -> np.ndarray:
        """Returns the tier of nodes: `h`, `edge`, `agg` or `core`."""
        counts = {"h": HOST_COUNT, "edge": EDGE_COUNT, "agg": AGG_COUNT, "core": CORE_COUNT}
        found = np.full(nodes.shape, "", dtype="<U4")
        for name, count in counts.items():
            found[(nodes >= self.first[name]) & (nodes < self.first[name] + count)] = name
        return found

    def pod(self, nodes: np.ndarray) -> np.ndarray:
        """Returns the pod of hosts, edge and aggregation switches; -1 for cores."""
        size = {"h": HOST_COUNT // K, "edge": EDGES_PER_POD, "agg": EDGES_PER_POD}
        tier, found = self.tier(nodes), np.full(nodes.shape, -1)
        for name, each in size.items():
            chosen = tier == name
            found[chosen] = (nodes[chosen].astype(np.int64) - self.first[name]) // each
        return found

    def edge_of(self, hosts: np.ndarray) -> np.ndarray:
        """Returns the edge switches of hosts."""
        each = HOST_COUNT // EDGE_COUNT
        return np.asarray(self.first["edge"] + (hosts.astype(np.int64) - self.first["h"]) // each)

    def far_ends(self, nodes: np.ndarray, ports: np.ndarray) -> np.ndarray:
        """Returns the nodes at the far ends of ports."""
        return np.asarray(self.peer[self.port_indices(nodes, ports)])

    def port_indices(self, nodes: np.ndarray, ports: np.ndarray) -> np.ndarray:
        """Returns the indices of ports in the table."""
        return np.asarray(self.port_index_table[nodes.astype(np.int64), ports.astype(np.int64)])

    @cached_property
    def port_index_table(self) -> np.ndarray:
        """Indices of ports in the table, by node and port."""
        found = np.full((int(self.node.max()) + 1, int(self.port.max()) + 1), -1)
        found[self.node, self.port] = np.arange(len(self.node))
        return found

    @cached_property
    def switches(self) -> np.ndarray:
        """Node numbers of all switches."""
        every = np.unique(self.node)
        return np.asarray(every[self.tier(every) != "h"])

    @cached_property
    def switch_distances(self) -> np.ndarray:
        """Matrix of distances between switches in hops, in the order of `switches`; 3 means 3 or more."""
        count = len(self.switches)
        beside = np.zeros((count, count), bool)
        inner = np.isin(self.node, self.switches) & np.isin(self.peer, self.switches)
        rows, others = (np.searchsorted(self.switches, of[inner]) for of in (self.node, self.peer))
        beside[rows, others] = True
        two = (beside.astype(int) @ beside.astype(int)) > 0
        found = np.where(two, 2, 3)
        found[beside] = 1
        np.fill_diagonal(found, 0)
        return found

    def by_step_and_port(self, table: pa.Table, column: str, bins: Sequence[int]) -> np.ndarray:
        """Returns a table column by time step and port, for a range of steps; 0 where there is no row."""
        first, end = bins
        step = columns.column_to_numpy(table, "bin").astype(np.int64)
        keep = (step >= first) & (step < end)
        place = self.port_indices(
            columns.column_to_numpy(table, "node")[keep], columns.column_to_numpy(table, "port")[keep]
        )
        found = np.zeros((end - first, len(self.node)))
        found[step[keep] - first, place] = columns.column_to_numpy(table, column)[keep]
        return found
