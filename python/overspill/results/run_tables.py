"""Tables that runs write, as properties named like the tables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from operator import methodcaller

import pyarrow as pa


def table_property(table: str, doc: str) -> property:
    """Returns a property that is a table of all runs; `doc` describes it."""
    return property(methodcaller("table", table), doc=doc)


class RunTables(ABC):
    """Tables of all runs as properties."""

    @abstractmethod
    def table(self, name: str) -> pa.Table:
        """Returns a table of all runs; empty if no run wrote it."""

    flows = table_property("flows", "Flows; `end_ps` is null if a flow did not finish.")
    ports = table_property("ports", "Counters of each port.")
    queues = table_property(
        "queue_hist", "Time that each queue held each number of frames, and arrivals that found that number."
    )
    queue_sojourn = table_property(
        "queue_sojourn",
        "Waiting time of frames in each queue until their transmission began, in ps, as histograms.",
    )
    host_goodput = table_property(
        "host_goodput", "Payload bytes that each host received in order, by bin; empty bins are omitted."
    )
    flow_goodput = table_property(
        "flow_goodput",
        'Payload bytes that each flow delivered in order, by bin, if `measure.goodput = "flows"`.',
    )
    links = table_property(
        "links",
        "Wire bits of frames whose transmission began at each port, by bin, if `measure.links` is set.",
    )
    reorder = table_property(
        "reorder",
        "Displacement (0), buffer occupancy (1), extent (2), number (3) of received data packets, as "
        "counts.\n\nBy workload, if `measure.reordering` is set.",
    )
    queue_trace = table_property(
        "queue_trace", "Queue length over time at each queue, by bin; empty bins are omitted."
    )
    sub_queues = table_property(
        "sub_queues",
        "Queues of every switch port and their limits in packets, 0 without a limit.\n\nClass c has "
        "queue 2·c and, for bounced frames, 2·c + 1; if `measure.sub_queues` is set.",
    )
    sub_queue_hist = table_property(
        "sub_queue_hist",
        "Time that each queue of `sub_queues` held each number of frames; arrivals and decisions "
        "that found that number.",
    )
    sub_queue_trace = table_property(
        "sub_queue_trace", "Length over time of each queue of `sub_queues`, by bin; empty bins are omitted."
    )
    activity = table_property(
        "activity", "Drops (0), marks (1), detours (2), bounces (3), cuts (4) and CNMs (5) by bin and node."
    )
    packet_hist = table_property(
        "packet_hist",
        "Delays, hops, detours, bounces and distances of delivered packets, as histograms, by workload.",
    )
    fates = table_property(
        "fates",
        "Drops (0), marks (1), detours (2), bounces (3), cuts (4), CNMs (5) in the window, by workload.",
    )
    packets = table_property(
        "packets",
        "Packets, if `measure.packets` is set; read from disk each time, see `batches`.",
    )
    detour_steps = table_property(
        "detour_steps",
        "Detours of those packets that were detoured at least `measure.detours` times.",
    )
    holds = table_property(
        "holds",
        "ACKs held at each port in the window: number, waiting time, and time of the port's congestion.",
    )
    hold_trace = table_property("hold_trace", "ACKs that each port holds over time, and its state.")
    congestion_points = table_property(
        "congestion_points",
        "Number of CNMs and CNPs that each port created in the window, and the feedback of CNMs.",
    )
    limited_flows = table_property(
        "limited_flows", "Flows that had a rate limit, and the time in the window for which they had it."
    )
    inputs = table_property("inputs", "Memory of each input in the window, for switches with input memory.")
    fabric_buffers = table_property(
        "fabric_buffers",
        "Occupancy of each buffer inside `fabric` switches in the window, and traffic into it.",
    )
    notices = table_property("notices", "CNMs and CNPs, if `measure.notices` is set.")
    rate_limits = table_property(
        "rate_limits", "Changes of the rate limits of flows, if `measure.rate_limits` is set."
    )
    input_trace = table_property(
        "input_trace",
        "Bytes that each input holds for each output over time, if `measure.inputs` is set.",
    )
    fabric_trace = table_property(
        "fabric_trace",
        "Bytes in each buffer inside `fabric` switches over time, if `measure.inputs` is set.",
    )
    sent_trace = table_property(
        "sent_trace",
        "Bytes of each flow whose transmission begins at its hosts over time, if `measure.sent` is set.",
    )
    pauses = table_property(
        "pauses", "Number and total time of pauses of each port by its far end, by class, in the window."
    )
    pause_storms = table_property(
        "pause_storms",
        "Pause storms that PFC watchdogs detected, by queue; `to_ps` is null if a storm did not end.",
    )
    pause_trace = table_property(
        "pause_trace", "Intervals in which a class was paused at a port, in the order of their ends."
    )
