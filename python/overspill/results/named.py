"""The tables that runs write, each by its name."""

from __future__ import annotations

from abc import ABC, abstractmethod

import pyarrow as pa


class Named(ABC):
    """Tables of all runs."""

    @abstractmethod
    def table(self, name: str) -> pa.Table:
        """A table of all runs; empty where no run wrote it."""

    @property
    def flows(self) -> pa.Table:
        """Every flow; `end_ps` is null where it did not finish."""
        return self.table("flows")

    @property
    def ports(self) -> pa.Table:
        """Every port's counters."""
        return self.table("ports")

    @property
    def queues(self) -> pa.Table:
        """How long each queue held how many frames, and how many arrivals found so many."""
        return self.table("queue_hist")

    @property
    def queue_sojourn(self) -> pa.Table:
        """How long frames waited in each queue until their transmission began, ps, as histograms."""
        return self.table("queue_sojourn")

    @property
    def host_goodput(self) -> pa.Table:
        """Payload bytes that each host got in order, by bin; empty bins are left out."""
        return self.table("host_goodput")

    @property
    def flow_goodput(self) -> pa.Table:
        """The same for each flow, where the scenario says `measure.goodput = "flows"`."""
        return self.table("flow_goodput")

    @property
    def links(self) -> pa.Table:
        """Wire bits of frames that began to leave by each port, by bin, where the scenario says so."""
        return self.table("links")

    @property
    def reorder(self) -> pa.Table:
        """Displacement (0), buffer occupancy (1), extent (2), number (3) of data packets received, as counts.

        By workload, where it says `measure.reordering`.
        """
        return self.table("reorder")

    @property
    def queue_trace(self) -> pa.Table:
        """Each queue over time, by bin; empty bins are left out."""
        return self.table("queue_trace")

    @property
    def sub_queues(self) -> pa.Table:
        """The queues of every switch port and their limits in packets, 0 for none.

        Class c has queue 2·c and, for what was bounced, 2·c + 1; with `measure.sub_queues`.
        """
        return self.table("sub_queues")

    @property
    def sub_queue_hist(self) -> pa.Table:
        """How long each of them held how many frames; arrivals and decisions that found so many."""
        return self.table("sub_queue_hist")

    @property
    def sub_queue_trace(self) -> pa.Table:
        """Each of them over time, by bin; empty bins are left out."""
        return self.table("sub_queue_trace")

    @property
    def activity(self) -> pa.Table:
        """Drops (0), marks (1), detours (2), bounces (3), cuts (4) and CNMs (5) by bin and node."""
        return self.table("activity")

    @property
    def packet_hist(self) -> pa.Table:
        """Delays, hops, detours, bounces and distances of delivered packets, as histograms, by workload."""
        return self.table("packet_hist")

    @property
    def fates(self) -> pa.Table:
        """Drops (0), marks (1), detours (2), bounces (3), cuts (4), CNMs (5) in the window, by workload."""
        return self.table("fates")

    @property
    def packets(self) -> pa.Table:
        """Every packet, where the scenario says `measure.packets`; read anew each time, and see `batches`."""
        return self.table("packets")

    @property
    def detour_steps(self) -> pa.Table:
        """Every detour of packets with at least so many as the scenario's `measure.detours` says."""
        return self.table("detour_steps")

    @property
    def holds(self) -> pa.Table:
        """How many ACKs each port held in the window, how long, and how long it was congested."""
        return self.table("holds")

    @property
    def hold_trace(self) -> pa.Table:
        """ACKs that each port holds over time, and its state."""
        return self.table("hold_trace")

    @property
    def congestion_points(self) -> pa.Table:
        """How many CNMs and CNPs each port made in the window, and how strong CNMs were."""
        return self.table("congestion_points")

    @property
    def limited_flows(self) -> pa.Table:
        """Flows that had a rate limit, and for how long in the window."""
        return self.table("limited_flows")

    @property
    def inputs(self) -> pa.Table:
        """The memory of each input of switches that have some, in the window."""
        return self.table("inputs")

    @property
    def fabric_buffers(self) -> pa.Table:
        """Each buffer inside `fabric` switches, in the window: how full it was, and what moved into it."""
        return self.table("fabric_buffers")

    @property
    def notices(self) -> pa.Table:
        """Every CNM and CNP, where the scenario says `measure.notices`."""
        return self.table("notices")

    @property
    def rate_limits(self) -> pa.Table:
        """Every change of a flow's rate limit, where the scenario says `measure.rate_limits`."""
        return self.table("rate_limits")

    @property
    def input_trace(self) -> pa.Table:
        """What each input holds for each output over time, where the scenario says `measure.inputs`."""
        return self.table("input_trace")

    @property
    def fabric_trace(self) -> pa.Table:
        """Each buffer inside `fabric` switches over time, where the scenario says `measure.inputs`."""
        return self.table("fabric_trace")

    @property
    def sent_trace(self) -> pa.Table:
        """Bytes of each flow that begin to leave its hosts over time, where it says `measure.sent`."""
        return self.table("sent_trace")

    @property
    def pauses(self) -> pa.Table:
        """How often and how long each port was paused by its far end in each class, in the window."""
        return self.table("pauses")

    @property
    def pause_trace(self) -> pa.Table:
        """Every time in which a class could not leave by a port, in the order of their ends."""
        return self.table("pause_trace")
