"""Progress of runs as a share that never falls, also if the planned end changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from overspill.engine.task import Task

DRAINING = 0.99  # a run ends as soon as all flows that count have, long before the end of its drain


class Shares:
    """Shares of runs that go on, by task.

    The planned end of a run is its duration, and once that is over the end of its drain, which is often a
    hundred times as far. So a run counts as all but done then.
    """

    def __init__(self) -> None:
        self.planned: dict[Task, int] = {}
        self.reached: dict[Task, float] = {}

    def update(self, task: Task, status: Mapping[str, Any]) -> float:
        """Share of its duration that a run has simulated; 0.99 while it drains, 1 if it is done."""
        end = self.planned.setdefault(task, int(status["end_ps"]))
        share = 1.0 if status["done"] else min(DRAINING, status["time_ps"] / end) if end else 0.0
        self.reached[task] = max(share, self.reached.get(task, 0.0))
        return self.reached[task]

    def drains(self, task: Task, status: Mapping[str, Any]) -> bool:
        """True if a run is past its duration."""
        return int(status["time_ps"]) > self.planned.get(task, int(status["end_ps"]))

    def forget(self, task: Task) -> None:
        """Drops a run that is over."""
        self.planned.pop(task, None)
        self.reached.pop(task, None)
