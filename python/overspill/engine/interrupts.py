"""Ctrl-C, SIGTERM and SIGHUP while runs go on: they ask runs to stop, and never break off what is saved."""

import _thread
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any, TypeVar

from overspill.engine import machine

Made = TypeVar("Made")

# A closed terminal sends SIGHUP, which not every system has.
SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


# Seconds after a signal, or after the last run where it came before, until what is left to do is given up.
# Thousands of finished runs take some seconds to be put together, and are to be shown.
PATIENCE = 5.0
# Seconds after a signal until a step that still goes on is left behind. With the time between two looks it is
# less than a second.
GRACE = 0.4
WAIT = 0.2  # seconds between two looks at who wants to stop


class Asked(threading.Event):
    """Set once the user asks to stop; `signal` is the number of the first signal that did."""

    signal: int | None = None
    finishing = overdue = False
    timer: threading.Timer | None = None

    def note(self, number: int) -> None:
        """A signal has come; what takes too long after it is broken off."""
        if self.finishing and self.overdue:
            raise KeyboardInterrupt(self.signal, GIVEN_UP)
        if self.signal is None:
            self.signal = number
        self.set()
        self.hurry()

    def hurry(self) -> None:
        """Wait no longer than a moment for what is being written."""
        if self.finishing and self.signal is not None and self.timer is None:
            self.timer = threading.Timer(PATIENCE, self.break_off, (self.signal,))
            self.timer.daemon = True
            self.timer.start()

    def break_off(self, number: int) -> None:
        """Let the main thread meet the signal again."""
        self.overdue = True
        _thread.interrupt_main(signal.Signals(number))

    @contextmanager
    def after_runs(self) -> Iterator[None]:
        """What is done when all runs are over: from a signal on it has a moment left."""
        self.finishing, self.overdue = True, False
        try:
            self.hurry()
            yield
        finally:
            self.finishing = False
            if self.timer is not None:
                self.timer.cancel()
                self.timer = None


GIVEN_UP = (
    "finished runs are kept. Run the same command to continue, or `overspill report DIR` to write the tables "
    "of a sweep"
)


@contextmanager
def asked() -> Iterator[Asked]:
    """An event that these signals set instead of ending the process, for as long as this lasts."""
    event = Asked()
    # Only the main thread may ask.
    if threading.current_thread() is not threading.main_thread():
        yield event
        return

    def note(signum: int, frame: Any) -> None:
        event.note(signum)

    previous = {one: signal.getsignal(one) for one in SIGNALS}
    # What is ignored (as Ctrl-C is by a job in the background, and SIGHUP under `nohup`) stays so.
    previous = {one: before for one, before in previous.items() if before not in (signal.SIG_IGN, None)}
    for one in previous:
        signal.signal(one, note)
    try:
        yield event
    finally:
        for one, before in previous.items():
            signal.signal(one, before)


def heard(work: Callable[[], Made], stop: Asked) -> Made:
    """Do some work in a thread of its own, so that a signal is heard whatever the work costs.

    `work` looks at `stop` now and then and raises `KeyboardInterrupt`. If it does not do so soon, it is left
    behind.
    """
    pool = ThreadPoolExecutor(1)
    future, since = pool.submit(work), None
    try:
        while not wait([future], timeout=WAIT).done:
            if stop.is_set():
                since = since or time.monotonic()
                if time.monotonic() - since > GRACE:
                    raise KeyboardInterrupt(stop.signal)
        return future.result()
    finally:
        machine.leave(pool, at_once=not future.done())


def raised(number: int | None) -> None:
    """What a signal does where nobody waits for runs: the process ends as it would have without `asked`."""
    if number is None or number == signal.SIGINT:
        raise KeyboardInterrupt
    signal.raise_signal(number)
