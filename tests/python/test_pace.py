"""Tests of the interval at which a run checks for stop requests, and of the fallback if it cannot."""

import signal
import threading
import time

import pytest

from overspill.engine import chunk_size, interrupts, machine
from overspill.engine.chunk_size import ChunkSize


def check_times(cost: float, count: int = 30) -> list[float]:
    """Returns the seconds between checks of a run whose events cost `cost` seconds each."""
    own, seconds = ChunkSize(), []
    for _ in range(count):
        seconds.append(own.events * cost)
        own.adapt(seconds[-1])
    return seconds


@pytest.mark.parametrize("cost", [1e-8, 1e-7, 1e-5, 1e-3, 0.01, 0.09])
def test_a_run_is_looked_at_ten_times_a_second_whatever_events_cost(cost: float) -> None:
    assert max(check_times(cost)[3:]) <= chunk_size.CHUNK_SECONDS * 1.001
    assert check_times(cost)[-1] > min(chunk_size.CHUNK_SECONDS / 2, chunk_size.MAX_CHUNK * cost / 2), (
        "and not much more often"
    )


def test_the_first_looks_come_after_few_events_and_never_less_than_one() -> None:
    own = ChunkSize()
    assert own.events == chunk_size.FIRST_CHUNK < 100
    own.adapt(1000.0)
    assert own.events == 1
    own.adapt(1000.0)
    assert own.events == 1
    for _ in range(20):
        own.adapt(0.0)
    assert own.events == chunk_size.MAX_CHUNK


def test_work_that_hears_nobody_is_left_behind_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine.AbandonedThreads, "exist", False)
    stop, release = interrupts.StopRequest(), threading.Event()
    threading.Timer(0.1, stop.handle_signal, (signal.SIGTERM,)).start()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt) as stopped:
        interrupts.run_interruptibly(lambda: release.wait(30), stop)
    release.set()
    assert stopped.value.args == (signal.SIGTERM,) and machine.AbandonedThreads.exist
    assert time.monotonic() - begun < 5


def test_work_that_ends_by_itself_is_not_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine.AbandonedThreads, "exist", False)
    assert interrupts.run_interruptibly(lambda: 7, interrupts.StopRequest()) == 7
    with pytest.raises(ZeroDivisionError):
        interrupts.run_interruptibly(lambda: 1 / 0, interrupts.StopRequest())
    assert not machine.AbandonedThreads.exist
