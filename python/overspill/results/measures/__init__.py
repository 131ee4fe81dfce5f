"""Computation of metrics from a run's tables; each module declares and computes those of one subject.

Rows of a run are grouped with numpy, those of a sweep with pyarrow; on one thread both give identical bits.
For a single run, loading `pyarrow.compute` takes 33 ms and saves 8 ms with 200,000 rows.
"""

from overspill.results.measures.bouncing import bounced, filled
from overspill.results.measures.completion import (
    LARGE,
    SIZES,
    SMALL,
    flows,
    goodput_last,
    groups,
    measured_flows,
    queries,
    query_times,
    slowdowns,
)
from overspill.results.measures.congestion import congested
from overspill.results.measures.declare import PS, Metric, present, scale
from overspill.results.measures.delivery import packets
from overspill.results.measures.disorder import reordering
from overspill.results.measures.events import ON_LINKS, counters
from overspill.results.measures.holding import held
from overspill.results.measures.occupancy import (
    busiest_ports,
    counts_bytes,
    fullest,
    most_bytes,
    port_areas,
    queues,
    sojourns,
    switch_ports,
)
from overspill.results.measures.pausing import pauses
from overspill.results.measures.rates import goodput, hosts, jain, load, sharing
from overspill.results.measures.saturation import saturated
from overspill.results.measures.stages import inside
from overspill.results.measures.utilisation import links

__all__ = [
    "LARGE",
    "ON_LINKS",
    "PS",
    "SIZES",
    "SMALL",
    "Metric",
    "bounced",
    "busiest_ports",
    "congested",
    "counters",
    "counts_bytes",
    "filled",
    "flows",
    "fullest",
    "goodput",
    "goodput_last",
    "groups",
    "held",
    "hosts",
    "inside",
    "jain",
    "links",
    "load",
    "measured_flows",
    "most_bytes",
    "packets",
    "pauses",
    "port_areas",
    "present",
    "queries",
    "query_times",
    "queues",
    "reordering",
    "saturated",
    "scale",
    "sharing",
    "slowdowns",
    "sojourns",
    "switch_ports",
]
