"""What a run gives, on either side."""

from dataclasses import dataclass


class Broken(Exception):
    """A run whose numbers mean nothing."""


@dataclass(frozen=True)
class Flow:
    """A flow: its start after the first of the run, and what it took and met."""

    start_ns: int
    completion_ns: int
    timeouts: int
    retransmissions: int


@dataclass(frozen=True)
class Outcome:
    """A run."""

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
        """Completion times, in milliseconds, sorted."""
        return sorted(flow.completion_ns / 1e6 for flow in self.flows)
