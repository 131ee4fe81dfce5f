"""Tests of the interval at which a run checks for stop requests, and of the fallback if it cannot."""

import signal
import threading
import time

import pytest

from overspill.engine import interrupts, machine, pace
from overspill.engine.pace import Pace


def looks(cost: float, count: int = 30) -> list[float]:
    """Returns the seconds between checks of a run whose events cost `cost` seconds each."""
    own, seconds = Pace(), []
    for _ in range(count):
        seconds.append(own.events * cost)
        own.took(seconds[-1])
    return seconds


@pytest.mark.parametrize("cost", [1e-8, 1e-7, 1e-5, 1e-3, 0.01, 0.09])
def test_a_run_is_looked_at_ten_times_a_second_whatever_events_cost(cost: float) -> None:
    assert max(looks(cost)[3:]) <= pace.AIM * 1.001
    assert looks(cost)[-1] > min(pace.AIM / 2, pace.MOST * cost / 2), "and not much more often"


def test_the_first_looks_come_after_few_events_and_never_less_than_one() -> None:
    own = Pace()
    assert own.events == pace.FIRST < 100
    own.took(1000.0)
    assert own.events == 1
    own.took(1000.0)
    assert own.events == 1
    for _ in range(20):
        own.took(0.0)
    assert own.events == pace.MOST


def test_work_that_hears_nobody_is_left_behind_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine.Abandoned, "threads", False)
    stop, release = interrupts.Asked(), threading.Event()
    threading.Timer(0.1, stop.note, (signal.SIGTERM,)).start()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt) as stopped:
        interrupts.heard(lambda: release.wait(30), stop)
    release.set()
    assert stopped.value.args == (signal.SIGTERM,) and machine.Abandoned.threads
    assert time.monotonic() - begun < 5


def test_work_that_ends_by_itself_is_not_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine.Abandoned, "threads", False)
    assert interrupts.heard(lambda: 7, interrupts.Asked()) == 7
    with pytest.raises(ZeroDivisionError):
        interrupts.heard(lambda: 1 / 0, interrupts.Asked())
    assert not machine.Abandoned.threads
