"""Computation of metrics from a run's tables; each module has the metrics of one subject.

Rows of a run are grouped with numpy, those of a sweep with pyarrow; on one thread both give identical bits.
For a single run, loading `pyarrow.compute` takes 33 ms and saves 8 ms with 200,000 rows.
"""

from overspill.results.measures.bouncing import measure_bounces, measure_queue_filling
from overspill.results.measures.completion import (
    MAX_SMALL_BYTES,
    MIN_LARGE_BYTES,
    SIZE_BINS,
    goodput_until_last_byte,
    iterate_groups,
    measure_flows,
    measure_queries,
    measured_flows,
    query_times,
    slowdowns,
)
from overspill.results.measures.congestion import measure_congestion
from overspill.results.measures.declare import SECONDS_PER_PS, Metric, ps_to_seconds, without_missing_values
from overspill.results.measures.delivery import measure_packets
from overspill.results.measures.disorder import measure_reordering
from overspill.results.measures.events import LINK_LOSS_REASONS, measure_counters
from overspill.results.measures.holding import measure_held_acks
from overspill.results.measures.occupancy import (
    buffers_count_bytes,
    count_switch_ports,
    max_bytes_by_port,
    measure_fullest_port,
    measure_queues,
    measure_sojourns,
    queued_time_by_port,
    rank_busiest_ports,
)
from overspill.results.measures.pausing import measure_pauses
from overspill.results.measures.rates import (
    jain_index,
    measure_goodput,
    measure_hosts,
    measure_load,
    measure_sharing,
)
from overspill.results.measures.saturation import measure_trees
from overspill.results.measures.stages import measure_stages
from overspill.results.measures.utilisation import measure_links

__all__ = [
    "LINK_LOSS_REASONS",
    "MAX_SMALL_BYTES",
    "MIN_LARGE_BYTES",
    "SECONDS_PER_PS",
    "SIZE_BINS",
    "Metric",
    "buffers_count_bytes",
    "count_switch_ports",
    "goodput_until_last_byte",
    "iterate_groups",
    "jain_index",
    "max_bytes_by_port",
    "measure_bounces",
    "measure_congestion",
    "measure_counters",
    "measure_flows",
    "measure_fullest_port",
    "measure_goodput",
    "measure_held_acks",
    "measure_hosts",
    "measure_links",
    "measure_load",
    "measure_packets",
    "measure_pauses",
    "measure_queries",
    "measure_queue_filling",
    "measure_queues",
    "measure_reordering",
    "measure_sharing",
    "measure_sojourns",
    "measure_stages",
    "measure_trees",
    "measured_flows",
    "ps_to_seconds",
    "query_times",
    "queued_time_by_port",
    "rank_busiest_ports",
    "slowdowns",
    "without_missing_values",
]
