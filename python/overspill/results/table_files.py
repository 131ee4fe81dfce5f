"""The tables that runs write, each by its name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from operator import methodcaller

import pyarrow as pa


def of_runs(table: str, doc: str) -> property:
    """A property with a table of all runs, which `doc` describes."""
    return property(methodcaller("table", table), doc=doc)


class Named(ABC):
    """Tables of all runs."""

    @abstractmethod
    def table(self, name: str) -> pa.Table:
        """A table of all runs; empty where no run wrote it."""

    flows = of_runs("flows", "Every flow; `end_ps` is null where it did not finish.")
    ports = of_runs("ports", "Every port's counters.")
    queues = of_runs(
        "queue_hist", "How long each queue held how many frames, and how many arrivals found so many."
    )
    queue_sojourn = of_runs(
        "queue_sojourn",
        "How long frames waited in each queue until their transmission began, ps, as histograms.",
    )
    host_goodput = of_runs(
        "host_goodput", "Payload bytes that each host got in order, by bin; empty bins are left out."
    )
    flow_goodput = of_runs(
        "flow_goodput", 'The same for each flow, where the scenario says `measure.goodput = "flows"`.'
    )
    links = of_runs(
        "links", "Wire bits of frames that began to leave by each port, by bin, where the scenario says so."
    )
    reorder = of_runs(
        "reorder",
        "Displacement (0), buffer occupancy (1), extent (2), number (3) of data packets received, as counts."
        "\n\nBy workload, where it says `measure.reordering`.",
    )
    queue_trace = of_runs("queue_trace", "Each queue over time, by bin; empty bins are left out.")
    sub_queues = of_runs(
        "sub_queues",
        "The queues of every switch port and their limits in packets, 0 for none."
        "\n\nClass c has queue 2·c and, for what was bounced, 2·c + 1; with `measure.sub_queues`.",
    )
    sub_queue_hist = of_runs(
        "sub_queue_hist",
        "How long each of them held how many frames; arrivals and decisions that found so many.",
    )
    sub_queue_trace = of_runs("sub_queue_trace", "Each of them over time, by bin; empty bins are left out.")
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
        "Every packet, where the scenario says `measure.packets`; read anew each time, and see `batches`.",
    )
    detour_steps = of_runs(
        "detour_steps",
        "Every detour of packets with at least so many as the scenario's `measure.detours` says.",
    )
    holds = of_runs(
        "holds", "How many ACKs each port held in the window, how long, and how long it was congested."
    )
    hold_trace = of_runs("hold_trace", "ACKs that each port holds over time, and its state.")
    congestion_points = of_runs(
        "congestion_points", "How many CNMs and CNPs each port made in the window, and how strong CNMs were."
    )
    limited_flows = of_runs("limited_flows", "Flows that had a rate limit, and for how long in the window.")
    inputs = of_runs("inputs", "The memory of each input of switches that have some, in the window.")
    fabric_buffers = of_runs(
        "fabric_buffers",
        "Each buffer inside `fabric` switches, in the window: how full it was, and what moved into it.",
    )
    notices = of_runs("notices", "Every CNM and CNP, where the scenario says `measure.notices`.")
    rate_limits = of_runs(
        "rate_limits", "Every change of a flow's rate limit, where the scenario says `measure.rate_limits`."
    )
    input_trace = of_runs(
        "input_trace",
        "What each input holds for each output over time, where the scenario says `measure.inputs`.",
    )
    fabric_trace = of_runs(
        "fabric_trace",
        "Each buffer inside `fabric` switches over time, where the scenario says `measure.inputs`.",
    )
    sent_trace = of_runs(
        "sent_trace",
        "Bytes of each flow that begin to leave its hosts over time, where it says `measure.sent`.",
    )
    pauses = of_runs(
        "pauses", "How often and how long each port was paused by its far end in each class, in the window."
    )
    pause_trace = of_runs(
        "pause_trace", "Every time in which a class could not leave by a port, in the order of their ends."
    )
