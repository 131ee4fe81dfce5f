"""Progress of runs as a share that never decreases, even if the planned end changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from overspill.engine.task import Task

SHARE_WHILE_DRAINING = (
    0.99  # a run ends as soon as all its measured flows have, usually long before the end of its drain
)


class RunProgress:
    """Shares of runs in progress, by task.

    The planned end of a run is its duration, and after that the end of its drain, which is often a hundred
    times as far. So a draining run counts as almost done.
    """

    def __init__(self) -> None:
        self.planned: dict[Task, int] = {}
        self.reached: dict[Task, float] = {}

    def update(self, task: Task, status: Mapping[str, Any]) -> float:
        """Returns the share of its duration that a run has simulated; 0.99 during the drain, 1 if done."""
        end = self.planned.setdefault(task, int(status["end_ps"]))
        share = 1.0 if status["done"] else min(SHARE_WHILE_DRAINING, status["time_ps"] / end) if end else 0.0
        self.reached[task] = max(share, self.reached.get(task, 0.0))
        return self.reached[task]

    def is_draining(self, task: Task, status: Mapping[str, Any]) -> bool:
        """Returns true if a run is past its duration."""
        return int(status["time_ps"]) > self.planned.get(task, int(status["end_ps"]))

    def forget(self, task: Task) -> None:
        """Removes a run that is over."""
        self.planned.pop(task, None)
        self.reached.pop(task, None)
