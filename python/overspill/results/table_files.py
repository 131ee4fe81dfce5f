"""Tables that runs write, as properties by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from operator import methodcaller

import pyarrow as pa


def of_runs(table: str, doc: str) -> property:
    """Returns a property that is a table of all runs; `doc` describes it."""
    return property(methodcaller("table", table), doc=doc)


class Named(ABC):
    """Tables of all runs as properties."""

    @abstractmethod
    def table(self, name: str) -> pa.Table:
        """Returns a table of all runs; empty if no run wrote it."""

    flows = of_runs("flows", "Flows; `end_ps` is null if a flow did not finish.")
    ports = of_runs("ports", "Counters of each port.")
    queues = of_runs(
        "queue_hist", "Time that each queue held each number of frames, and number of arrivals that found it."
    )
    queue_sojourn = of_runs(
        "queue_sojourn",
        "Waiting time of frames in each queue until their transmission began, in ps, as histograms.",
    )
    host_goodput = of_runs(
        "host_goodput", "Payload bytes that each host received in order, by bin; empty bins are omitted."
    )
    flow_goodput = of_runs(
        "flow_goodput",
        'Payload bytes that each flow delivered in order, by bin, if `measure.goodput = "flows"`.',
    )
    links = of_runs(
        "links",
        "Wire bits of frames whose transmission began at each port, by bin, if `measure.links` is set.",
    )
    reorder = of_runs(
        "reorder",
        "Displacement (0), buffer occupancy (1), extent (2), number (3) of received data packets, as "
        "counts.\n\nBy workload, if `measure.reordering` is set.",
    )
    queue_trace = of_runs(
        "queue_trace", "Queue length over time at each queue, by bin; empty bins are omitted."
    )
    sub_queues = of_runs(
        "sub_queues",
        "Queues of every switch port and their limits in packets, 0 without a limit.\n\nClass c has "
        "queue 2·c and, for bounced frames, 2·c + 1; if `measure.sub_queues` is set.",
    )
    sub_queue_hist = of_runs(
        "sub_queue_hist",
        "Time that each of these queues held each number of frames; arrivals and decisions that found it.",
    )
    sub_queue_trace = of_runs(
        "sub_queue_trace", "Length over time of each of these queues, by bin; empty bins are omitted."
    )
    activity = of_runs(
        "activity", "Drops (0), marks (1), detours (2), bounces (3), cuts (4) and CNMs (5) by bin and node."
    )
    packet_hist = of_runs(
        "packet_hist",
        "Delays, hops, detours, bounces and distances of delivered packets, as histograms, by workload.",
    )
    fates = of_runs(
        "fates",
        "Drops (0), marks (1), detours (2), bounces (3), cuts (4), CNMs (5) in the window, by workload.",
    )
    packets = of_runs(
        "packets",
        "Packets, if `measure.packets` is set; read from disk each time, see `batches`.",
    )
    detour_steps = of_runs(
        "detour_steps",
        "Detours of packets with at least the number of detours in `measure.detours`.",
    )
    holds = of_runs(
        "holds", "Number of ACKs that each port held in the window, their time, and the time of congestion."
    )
    hold_trace = of_runs("hold_trace", "ACKs that each port holds over time, and its state.")
    congestion_points = of_runs(
        "congestion_points",
        "Number of CNMs and CNPs that each port created in the window, and the feedback of CNMs.",
    )
    limited_flows = of_runs("limited_flows", "Flows that had a rate limit, and its time in the window.")
    inputs = of_runs("inputs", "Memory of each input in the window, for switches with input memory.")
    fabric_buffers = of_runs(
        "fabric_buffers",
        "Occupancy of each buffer inside `fabric` switches in the window, and traffic into it.",
    )
    notices = of_runs("notices", "CNMs and CNPs, if `measure.notices` is set.")
    rate_limits = of_runs(
        "rate_limits", "Changes of the rate limits of flows, if `measure.rate_limits` is set."
    )
    input_trace = of_runs(
        "input_trace",
        "Bytes that each input holds for each output over time, if `measure.inputs` is set.",
    )
    fabric_trace = of_runs(
        "fabric_trace",
        "Bytes in each buffer inside `fabric` switches over time, if `measure.inputs` is set.",
    )
    sent_trace = of_runs(
        "sent_trace",
        "Bytes of each flow whose transmission begins at its hosts over time, if `measure.sent` is set.",
    )
    pauses = of_runs(
        "pauses", "Number and total time of pauses of each port by its far end, by class, in the window."
    )
    pause_trace = of_runs(
        "pause_trace", "Intervals in which a class was paused at a port, in the order of their ends."
    )
