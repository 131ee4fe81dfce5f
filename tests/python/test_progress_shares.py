"""Tests that the finished share of a run never falls."""

from typing import Any

import pytest

from overspill.cli.run_progress import RunProgress
from overspill.cli.sweep_progress import WorkEstimate
from overspill.engine.task import Task

TASK = Task("drop", 1)


def status(time: int, end: int, done: bool = False) -> dict[str, Any]:
    return {"time_ps": time, "end_ps": end, "done": done, "hops": 10}


def test_share_does_not_fall_when_the_drain_begins() -> None:
    shares, course = (
        RunProgress(),
        [status(45, 50), status(51, 1050), status(100, 1050), status(120, 1050, True)],
    )
    assert [shares.update(TASK, one) for one in course] == [0.9, 0.99, 0.99, 1.0]


def test_run_past_its_duration_is_draining() -> None:
    shares = RunProgress()
    shares.update(TASK, status(45, 50))
    assert not shares.is_draining(TASK, status(45, 50)) and shares.is_draining(TASK, status(51, 1050))


def test_next_run_of_a_task_begins_anew() -> None:
    shares = RunProgress()
    shares.update(TASK, status(45, 50, True))
    shares.forget(TASK)
    assert shares.update(TASK, status(5, 50)) == pytest.approx(0.1)


def test_meter_of_a_sweep_counts_a_draining_run_as_all_but_done() -> None:
    meter = WorkEstimate()
    meter.begin([TASK], [])
    for one in (status(45, 50), status(51, 1050)):
        meter.record_progress(TASK, one)
    assert meter.going[TASK] == (10, 0.99)
    meter.record_end(TASK, 10)
    assert not meter.shares.reached
