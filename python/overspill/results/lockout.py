"""Raw sources that a full port locks out: their peers' packets always take the free buffer space.

Raw sources send at the same rate whatever is lost, so a port that drops by chance leaves all of them the same
share. Unequal shares of thousands of packets mean that arrivals at the full port are phase-locked.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from overspill.results.columns import distinct_values
from overspill.results.measures.rates import bytes_over_life
from overspill.results.rundata import RunData
from overspill.results.starved_workload import StarvedWorkload, name_flow

LOCKED_OUT_SHARE = 0.25  # of the mean of the peers: by chance each of them gets nearly all of it
MAX_START_DIFFERENCE = 0.01  # of the active time, within which peers start
MIN_PEER_BYTES = 1000 * 1460  # fewest bytes that peers deliver on average
FLOW_COLUMNS = ("flow", "traffic", "src", "dst", "start_ps", "end_ps", "received", "raw")


def workloads_with_locked_out_sources(run: RunData) -> list[StarvedWorkload]:
    """Returns workloads in which a full port locks out some of the raw sources.

    Peers are of one workload, send to one host over links of one rate, and begin together. All losses of the
    run are at the last ports, toward hosts, so that peers share their only bottleneck.
    """
    flows = dict(zip(FLOW_COLUMNS, run.columns("flows", *FLOW_COLUMNS), strict=True))
    full = find_bottleneck_hosts(run) if flows["raw"].any() else np.zeros(0)
    if not len(full):
        return []
    flows = {name: column[flows["raw"] != 0] for name, column in flows.items()}
    got, active = bytes_over_life(run, flows)
    rates = np.concatenate([run.column("ports", "rate_bps"), [0.0]])[host_port_rows(run, flows["src"])]
    found = []
    for workload in distinct_values(flows["traffic"]).tolist():
        mine = (flows["traffic"] == workload) & np.isin(flows["dst"], full) & (active > 0)
        shares = np.ones(len(got))
        for peers in group_competing_flows(np.flatnonzero(mine), flows, rates, active):
            mean = float((got[peers] / active[peers]).mean())
            if mean * float(active[peers].min()) >= MIN_PEER_BYTES:
                shares[peers] = got[peers] / active[peers] / mean
        starved = np.flatnonzero(shares < LOCKED_OUT_SHARE)
        if len(starved):
            worst = int(starved[np.argmin(shares[starved])])
            count = int((flows["traffic"] == workload).sum())
            name = str(run.summary["traffic"][workload]["name"])
            words = f"{name_flow(run, flows, worst)}, {100 * shares[worst]:.2g}%"
            largest = float(shares[starved].max())
            found.append(StarvedWorkload(name, count, len(starved), largest, "raw", words))
    return found


def find_bottleneck_hosts(run: RunData) -> np.ndarray:
    """Returns hosts toward which a switch port dropped packets; empty if packets were lost anywhere else."""
    reasons = [name for name in run.column_names("ports") if name.startswith("drop_")]
    node, peer, *lost = run.columns("ports", "node", "peer", *reasons)
    dropping = np.sum(lost, axis=0) > 0 if len(node) else np.zeros(0, bool)
    to_host = run.is_host[peer[dropping]] & ~run.is_host[node[dropping]]
    return peer[dropping] if to_host.all() else np.zeros(0)


def host_port_rows(run: RunData, hosts: np.ndarray) -> np.ndarray:
    """Returns the row of each host's port in the table of ports, or the number of rows if it has none."""
    node = run.column("ports", "node")
    row = np.full(len(run.is_host), len(node))
    row[node[::-1]] = np.arange(len(node))[::-1]
    return np.asarray(row[hosts])


def group_competing_flows(
    places: np.ndarray, flows: dict[str, np.ndarray], rates: np.ndarray, active: np.ndarray
) -> Iterator[np.ndarray]:
    """Yields groups of flows to the same host, over links of one rate, that begin together."""
    keys = np.stack([flows["dst"][places].astype(np.float64), rates[places]], axis=1)
    index = np.unique(keys, axis=0, return_inverse=True)[1].ravel()
    for number in range(int(index.max(initial=-1)) + 1):
        peers = places[index == number]
        starts = flows["start_ps"][peers].astype(np.float64) * 1e-12
        if len(peers) > 1 and np.ptp(starts) <= MAX_START_DIFFERENCE * float(active[peers].min()):
            yield peers
