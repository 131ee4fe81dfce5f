"""Fat-tree of PABO's section VI: names and scenarios, statistics of a run, paths (figure 10)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import pyarrow as pa

from overspill import columns
from overspill.papers.common import divide_by_seed, dropped_packets_by_port
from overspill.papers.spec import Measure, Measured, Point, Runs, Sweeps

WITHOUT, PABO = "without", "pabo"
MANY_TO_ONE = ("3to1", "6to1", "9to1", "12to1")
SCENARIOS = (*MANY_TO_ONE, "mtom")
# S(4p + 1) to S(4p + 4) of pod p are its two edge switches and then its two aggregation switches (figure 10).
CORES = {f"C{number}": f"core{number - 1}" for number in range(1, 5)}
POD_SWITCHES = {
    f"S{4 * pod + place + 1}": f"{tier}{2 * pod + side}"
    for pod in range(4)
    for place, (tier, side) in enumerate((("edge", 0), ("edge", 1), ("agg", 0), ("agg", 1)))
}
SWITCHES = CORES | POD_SWITCHES
HOSTS = {f"H{number}": f"h{number - 1}" for number in range(1, 17)}

DISPLACEMENT_INDEX = columns.REORDER.index("displacement")
REQUEST_ROLE = 1  # role of a flow in `flows`; replies have 0
END_PS = 10_000_000_000_000  # end of every run
BASE_NOTE = "shares and means are of delivered data packets, the requests (1 in 2000) among them"
PATHS_SWEEP, TWO_LEVEL_VARIANT = "paths", "two_level"
STEP_PS = 10**9  # one flow in each step of the link trace
EXAMPLE_FLOW = ("H2", "H10")
# Servers of each scenario, by the client to which they reply.
SERVERS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "3to1": {"H9": ("H1", "H5", "H13")},
    "6to1": {"H9": ("H1", "H5", "H13", "H3", "H7", "H15")},
    "9to1": {"H9": ("H1", "H5", "H13", "H3", "H7", "H15", "H2", "H8", "H14")},
    "12to1": {"H9": ("H1", "H2", "H3", "H4", "H5", "H6", "H7", "H8", "H13", "H14", "H15", "H11")},
    "mtom": {"H9": ("H1", "H5", "H13"), "H10": ("H4", "H8", "H16")},
}


class PacketMetric(IntEnum):
    """Indices of the metrics in table `packet_hist`."""

    DELAY = columns.PACKET_HIST.index("delay")
    DETOURS = columns.PACKET_HIST.index("detours")
    BOUNCES = columns.PACKET_HIST.index("bounces")
    MAX_BOUNCED_DISTANCE = columns.PACKET_HIST.index("max_bounced_distance")


@dataclass(frozen=True)
class Histogram:
    """Histogram of a metric over the delivered packets of one run; values below 128 are exact."""

    low: np.ndarray
    count: np.ndarray
    sum: float
    squares: float  # sum of squared deviations from the mean

    @property
    def total(self) -> int:
        """Number of packets in the histogram."""
        return int(self.count.sum())

    @property
    def mean(self) -> float:
        """Mean of the histogram's values; NaN without packets."""
        return self.sum / self.total if self.total else float("nan")

    @property
    def deviation(self) -> float:
        """Standard deviation of the histogram's values; NaN without packets."""
        return float(np.sqrt(self.squares / self.total)) if self.total else float("nan")

    def share(self, least: int, most: float = float("inf")) -> float:
        """Returns the share of packets from `least` to `most` in %; NaN without packets."""
        if not self.total:
            return float("nan")
        chosen = (self.low >= least) & (self.low <= most)
        return 100 * float(self.count[chosen].sum()) / self.total


def read_histogram(table: pa.Table, metric: PacketMetric) -> Histogram:
    """Returns the histogram of a metric of delivered data packets, all workloads together."""
    chosen = (columns.column_to_numpy(table, "metric") == metric) & (
        columns.column_to_numpy(table, "data") == 1
    )
    if metric is PacketMetric.MAX_BOUNCED_DISTANCE and not chosen.any():
        # The metric is recorded only if packets are bounced; otherwise it is 0 for all of them.
        every = read_histogram(table, PacketMetric.BOUNCES).total
        return Histogram(np.zeros(min(every, 1)), np.full(min(every, 1), every), 0.0, 0.0)
    workload, low, count, total = (
        columns.column_to_numpy(table, name)[chosen] for name in ("traffic", "low", "count", "sum")
    )
    if "squared_deviations" not in table.column_names:
        return Histogram(low, count, float(total.sum()), float("nan"))
    inside, between = float(columns.column_to_numpy(table, "squared_deviations")[chosen].sum()), 0.0
    mean = total.sum() / count.sum() if len(count) else 0.0
    for one in np.unique(workload):
        size = float(count[workload == one].sum())
        between += size * (total[workload == one].sum() / size - mean) ** 2
    return Histogram(low, count, float(total.sum()), inside + between)


# Statistics from the table `packet_hist` of a run.


def bounced_share(table: pa.Table) -> float:
    """Bounced packets in % of the delivered ones."""
    return read_histogram(table, PacketMetric.BOUNCES).share(1)


def bounces_per_bounced(table: pa.Table) -> float:
    """Mean number of bounces of a bounced packet; NaN without any."""
    found = read_histogram(table, PacketMetric.BOUNCES)
    bounced = int(found.count[found.low > 0].sum())
    return found.sum / bounced if bounced else float("nan")


def mean_delay(table: pa.Table) -> float:
    """Mean delay from host to host in us."""
    return read_histogram(table, PacketMetric.DELAY).mean / 1e6


def delay_deviation(table: pa.Table) -> float:
    """Standard deviation of the delay over packets in us."""
    return read_histogram(table, PacketMetric.DELAY).deviation / 1e6


def count_delivered(table: pa.Table, acks: bool = False) -> int:
    """Number of delivered data packets, with `acks` of data packets and ACKs."""
    chosen = columns.column_to_numpy(table, "metric") == PacketMetric.DELAY
    if not acks:
        chosen &= columns.column_to_numpy(table, "data") == 1
    return int(columns.column_to_numpy(table, "count")[chosen].sum())


# Displacements from the table `reorder` of a run.


def read_displacements(table: pa.Table) -> tuple[np.ndarray, np.ndarray]:
    """Returns the absolute displacements in table `reorder`, and the number of packets with each."""
    chosen = columns.column_to_numpy(table, "metric") == DISPLACEMENT_INDEX
    return np.abs(columns.column_to_numpy(table, "value")[chosen]), columns.column_to_numpy(table, "count")[
        chosen
    ]


# Bounces and drops from the tables `ports` of runs; drop rates also need `packet_hist`.


def counts_by_node(
    runs: Runs, table: pa.Table, counts: np.ndarray, nodes: Mapping[str, str]
) -> dict[str, int]:
    """Returns counts of ports, summed over the ports of each node, by the paper's name."""
    node = columns.column_to_numpy(table, "node")
    return {name: int(counts[node == runs.node(ours)].sum()) for name, ours in nodes.items()}


def bounces_by_switch(runs: Runs) -> list[dict[str, int]]:
    """Returns the bounces of each switch with PABO, seed by seed."""
    tables = runs.tables("ports", PABO)
    return [
        counts_by_node(runs, table, columns.column_to_numpy(table, "bounced"), SWITCHES) for table in tables
    ]


def drops_by_node(runs: Runs, variant: str) -> list[dict[str, int]]:
    """Returns packets dropped by node, hosts last, seed by seed."""
    return [
        counts_by_node(runs, table, dropped_packets_by_port(table), SWITCHES | HOSTS)
        for table in runs.tables("ports", variant)
    ]


def drop_rates(runs: Runs, variant: str, acks: bool = False) -> np.ndarray:
    """Drops in % of data packets delivered or dropped, seed by seed; with `acks`, ACKs are included."""
    arrived = [count_delivered(table, acks) for table in runs.tables("packet_hist", variant)]
    counts = np.array([sum(one.values()) for one in drops_by_node(runs, variant)])
    return 100 * divide_by_seed(counts, np.array(arrived) + counts)


def percent_shares(counts: Mapping[str, int]) -> dict[str, float]:
    """Returns counts in % of their sum; NaN if it is 0."""
    total = sum(counts.values())
    return {name: 100 * count / total if total else float("nan") for name, count in counts.items()}


# Replies from the tables `flows` of runs.


@dataclass(frozen=True)
class Replies:
    """Replies of servers in a run; times in ms, from a request's start to its reply's last byte."""

    times: np.ndarray
    unfinished_times: np.ndarray  # time of requests without a finished reply until the end of the run
    unfinished_servers: str  # servers of the unfinished replies, by the paper's names

    @property
    def unfinished(self) -> int:
        """Number of unfinished replies."""
        return len(self.unfinished_times)

    @property
    def mean(self) -> float:
        """Mean time of finished replies; NaN without any."""
        return float(self.times.mean()) if len(self.times) else float("nan")

    @property
    def mean_lower_bound(self) -> float:
        """Lower bound of the mean time of all replies: unfinished ones count until the end of the run."""
        every = np.concatenate([self.times, self.unfinished_times])
        return float(every.mean()) if len(every) else float("nan")


def read_replies(runs: Runs, table: pa.Table) -> Replies:
    """Pairs requests and replies of `flows` by workload and query; replies not begun are unfinished."""
    asked: dict[tuple[int, int], tuple[int, int]] = {}
    ended: dict[tuple[int, int], int] = {}
    wanted = ("traffic", "query", "role", "start_ps", "end_ps", "dst")
    for one in table.select(list(wanted)).to_pylist():
        pair = one["traffic"], one["query"]
        if one["role"] == REQUEST_ROLE:
            asked[pair] = one["start_ps"], one["dst"]
        elif one["end_ps"] is not None:
            ended[pair] = one["end_ps"]
    times = [(ended[pair] - start) / 1e9 for pair, (start, _) in asked.items() if pair in ended]
    late = [one for pair, one in asked.items() if pair not in ended]
    waited = [(END_PS - start) / 1e9 for start, _ in late]
    servers = {server for _, server in late}
    held = " ".join(name for name, ours in HOSTS.items() if runs.node(ours) in servers)
    return Replies(np.array(times), np.array(waited), held)


def replies_by_seed(runs: Runs, variant: str, point: Point | None = None) -> list[Replies]:
    """Returns the replies of servers, by seed."""
    return [read_replies(runs, table) for table in runs.tables("flows", variant, point)]


def mean_fct(runs: Runs, variant: str, point: Point | None = None) -> np.ndarray:
    """Mean flow completion time of finished replies in ms, by seed."""
    return np.array([one.mean for one in replies_by_seed(runs, variant, point)])


def packet_statistic(
    runs: Runs, of: Callable[[pa.Table], float], variant: str = PABO, point: Point | None = None
) -> np.ndarray:
    """Returns a statistic of table `packet_hist`, by seed."""
    return np.array([of(table) for table in runs.tables("packet_hist", variant, point)])


def join_seed_notes(runs: Runs, told: Sequence[str]) -> str:
    """Joins the notes of those seeds that have one."""
    return "; ".join(f"seed {seed}: {text}" for seed, text in zip(runs.seeds, told, strict=True) if text)


@dataclass(frozen=True)
class Hop:
    """Switch on a packet's path, and the port by which the packet leaves it."""

    switch: str
    port: int


@dataclass(frozen=True)
class LinkTrace:
    """Links that carried each flow's data, over time."""

    runs: Runs
    flows: pa.Table
    links: pa.Table

    def hops(self, source: str, destination: str) -> list[Hop]:
        """Returns the switches on a flow's path, the source's first; empty if there is no such flow."""
        step = self.step(source, destination)
        if step is None:
            return []
        node, port, bits = (columns.column_to_numpy(self.links, name) for name in ("node", "port", "bits"))
        at = columns.column_to_numpy(self.links, "bin") == step
        # Data is longer than ACKs, which return on other links and must not count as part of the path.
        data = at & (bits == bits[at].max(initial=0))
        left = dict(zip(node[data].tolist(), port[data].tolist(), strict=True))
        crossed = [name for name, ours in SWITCHES.items() if self.runs.node(ours) in left]
        found = [Hop(name, left[self.runs.node(SWITCHES[name])]) for name in crossed]
        return sorted(found, key=lambda hop: path_position(hop.switch, source))

    def step(self, source: str, destination: str) -> int | None:
        """Returns the time step in which a flow starts; `None` if there is no such flow."""
        ends = self.runs.node(HOSTS[source]), self.runs.node(HOSTS[destination])
        src, dst = columns.column_to_numpy(self.flows, "src"), columns.column_to_numpy(self.flows, "dst")
        starts = columns.column_to_numpy(self.flows, "start_ps")[(src == ends[0]) & (dst == ends[1])]
        return int(starts[0]) // STEP_PS if len(starts) else None


def tier_height(switch: str) -> int:
    """Returns the tier of a switch as a number: 0 for edge, 1 for aggregation, 2 for core."""
    return ("edge", "agg", "core").index(SWITCHES[switch].rstrip("0123456789"))


def path_position(switch: str, source: str) -> int:
    """Returns the position of a switch on a path up from the source's edge switch and down again."""
    up, number, host = tier_height(switch), int(SWITCHES[switch].lstrip("adegcor")), int(HOSTS[source][1:])
    begins = (number == host // 2, number // 2 == host // 4, True)[up]
    return up if begins else 4 - up


def describe_path(hops: Sequence[Hop]) -> str:
    """Describes a path by its switches, with ports on the way up, where there is a choice."""
    top = max(range(len(hops)), key=lambda at: tier_height(hops[at].switch), default=0)
    return ", ".join(
        f"{hop.switch} port {hop.port}" if at < top else hop.switch for at, hop in enumerate(hops)
    )


def describe_cores(trace: LinkTrace, flows: Mapping[str, Sequence[str]]) -> str:
    """Describes the servers whose data crosses each core switch: `C1: H1 H5`."""
    found: dict[str, set[str]] = {core: set() for core in CORES}
    for client, servers in flows.items():
        for server in servers:
            for hop in trace.hops(server, client):
                if hop.switch in found:
                    found[hop.switch].add(server)
    listed = {core: [name for name in HOSTS if name in servers] for core, servers in found.items()}
    return "; ".join(f"{core}: {' '.join(servers)}" for core, servers in listed.items() if servers) or "none"


def read_traces(runs: Runs) -> list[LinkTrace]:
    """Returns the links that carried each flow's data, for each seed."""
    tables = (runs.tables(name, TWO_LEVEL_VARIANT) for name in ("flows", "links"))
    return [LinkTrace(runs, flows, links) for flows, links in zip(*tables, strict=True)]


def measure_figure_10(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures the example path of figure 10, and each flow's core switch in every scenario."""
    found = read_traces(sweeps[PATHS_SWEEP])
    example = [describe_path(one.hops(*EXAMPLE_FLOW)) or "none" for one in found]
    yield Measured(" to ".join(EXAMPLE_FLOW), "path", example)
    for case, flows in SERVERS.items():
        yield Measured(case, "core_switches", [describe_cores(one, flows) for one in found])


MEASURES: dict[str, Measure] = {
    "fig10": measure_figure_10,
}
