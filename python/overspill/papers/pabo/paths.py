"""Where two-level routing takes the flows of section VI: figure 10."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from matplotlib.figure import Figure as Drawing

from overspill import columns
from overspill.papers.pabo.common import Published
from overspill.papers.pabo.fat_tree import CORES, HOSTS, SWITCHES, Sweeps
from overspill.papers.pabo.paths_drawn import draw
from overspill.papers.spec import Figure, Measured, Runs

SWEEP, VARIANT = "paths", "two_level"
STEP_PS = 10**9  # one flow in each step of the link trace
EXAMPLE = ("H2", "H10")
# Servers by the client that they answer.
FLOWS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "3to1": {"H9": ("H1", "H5", "H13")},
    "6to1": {"H9": ("H1", "H5", "H13", "H3", "H7", "H15")},
    "9to1": {"H9": ("H1", "H5", "H13", "H3", "H7", "H15", "H2", "H8", "H14")},
    "12to1": {"H9": ("H1", "H2", "H3", "H4", "H5", "H6", "H7", "H8", "H13", "H14", "H15", "H11")},
    "mtom": {"H9": ("H1", "H5", "H13"), "H10": ("H4", "H8", "H16")},
}


@dataclass(frozen=True)
class Hop:
    """A switch that a packet crosses, and the port that it leaves by."""

    switch: str
    port: int


@dataclass(frozen=True)
class Trace:
    """Which links carried the data of which flow."""

    runs: Runs
    flows: pa.Table
    links: pa.Table

    def hops(self, source: str, destination: str) -> list[Hop]:
        """The switches on a flow's path, the source's first; none where there is no such flow."""
        step = self.step(source, destination)
        if step is None:
            return []
        node, port, bits = (columns.numbers(self.links, name) for name in ("node", "port", "bits"))
        at = columns.numbers(self.links, "bin") == step
        # ACKs, which come back on links of their own, are shorter than data.
        data = at & (bits == bits[at].max(initial=0))
        left = dict(zip(node[data].tolist(), port[data].tolist(), strict=True))
        crossed = [name for name, ours in SWITCHES.items() if self.runs.node(ours) in left]
        found = [Hop(name, left[self.runs.node(SWITCHES[name])]) for name in crossed]
        return sorted(found, key=lambda hop: place(hop.switch, source))

    def step(self, source: str, destination: str) -> int | None:
        """The step of the trace in which a flow starts."""
        ends = self.runs.node(HOSTS[source]), self.runs.node(HOSTS[destination])
        src, dst = columns.numbers(self.flows, "src"), columns.numbers(self.flows, "dst")
        starts = columns.numbers(self.flows, "start_ps")[(src == ends[0]) & (dst == ends[1])]
        return int(starts[0]) // STEP_PS if len(starts) else None


def height(switch: str) -> int:
    """0 for edge switches, 1 for those of aggregation, 2 for core switches."""
    return ("edge", "agg", "core").index(SWITCHES[switch].rstrip("0123456789"))


def place(switch: str, source: str) -> int:
    """How far along a path a switch is: up from the source's edge switch, then down."""
    up, number, host = height(switch), int(SWITCHES[switch].lstrip("adegcor")), int(HOSTS[source][1:])
    begins = (number == host // 2, number // 2 == host // 4, True)[up]
    return up if begins else 4 - up


def told(hops: Sequence[Hop]) -> str:
    """A path in words, with the ports of the switches below its top, which have a choice."""
    top = max(range(len(hops)), key=lambda at: height(hops[at].switch), default=0)
    return ", ".join(
        f"{hop.switch} port {hop.port}" if at < top else hop.switch for at, hop in enumerate(hops)
    )


def cores(trace: Trace, flows: Mapping[str, Sequence[str]]) -> str:
    """Each core switch and the servers whose data crosses it: `C1: H1 H5`."""
    found: dict[str, set[str]] = {core: set() for core in CORES}
    for client, servers in flows.items():
        for server in servers:
            for hop in trace.hops(server, client):
                if hop.switch in found:
                    found[hop.switch].add(server)
    listed = {core: [name for name in HOSTS if name in servers] for core, servers in found.items()}
    return "; ".join(f"{core}: {' '.join(servers)}" for core, servers in listed.items() if servers) or "none"


def traces(runs: Runs) -> list[Trace]:
    """What each seed's run recorded."""
    tables = (runs.tables(name, VARIANT) for name in ("flows", "links"))
    return [Trace(runs, flows, links) for flows, links in zip(*tables, strict=True)]


def figure_10(sweeps: Sweeps) -> Iterable[Measured]:
    """The example of the figure, and the core switch of each flow of every scenario."""
    found = traces(sweeps[SWEEP])
    example = [told(one.hops(*EXAMPLE)) or "none" for one in found]
    yield Measured(" to ".join(EXAMPLE), "path", example)
    for case, flows in FLOWS.items():
        yield Measured(case, "core_switches", [cores(one, flows) for one in found])


def draw_example(sweeps: Sweeps, published: Published) -> Drawing:
    """The figure's topology and its example."""
    crossed = traces(sweeps[SWEEP])[0].hops(*EXAMPLE)
    return draw([hop.switch for hop in crossed], EXAMPLE)


FIGURES: dict[str, Figure] = {"fig10": Figure(figure_10, draw_example)}
