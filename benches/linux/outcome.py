"""Outcome of a run, on the kernel or in Overspill."""

from dataclasses import dataclass


class UnusableRun(Exception):
    """A run without a usable result, or a request without a case."""


@dataclass(frozen=True)
class Flow:
    """A flow: its start, relative to the first start of the run, its completion time and its recoveries."""

    start_ns: int
    completion_ns: int
    timeouts: int
    retransmissions: int


@dataclass(frozen=True)
class Outcome:
    """All flows of a run, and the drops at the bottleneck."""

    flows: list[Flow]
    drops: int

    @property
    def timeouts(self) -> int:
        """Timeouts of all flows."""
        return sum(flow.timeouts for flow in self.flows)

    @property
    def retransmissions(self) -> int:
        """Retransmitted segments of all flows."""
        return sum(flow.retransmissions for flow in self.flows)

    @property
    def completions_ms(self) -> list[float]:
        """Completion times in milliseconds, sorted."""
        return sorted(flow.completion_ns / 1e6 for flow in self.flows)
