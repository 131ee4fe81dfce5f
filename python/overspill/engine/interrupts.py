"""Ctrl-C, SIGTERM and SIGHUP during runs: a signal stops the runs and leaves saved results intact."""

import _thread
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any, TypeVar

from overspill.engine import machine

Result = TypeVar("Result")

# A terminal that is closed sends SIGHUP. Windows does not have this signal.
SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


# Limit in seconds for the work after all runs. It begins with a signal, or with the end of the last run if
# the signal came earlier. Results of thousands of runs take some seconds to assemble, and are to be shown.
SECONDS_FOR_REMAINING_WORK = 5.0
# Seconds after a signal until work that has not stopped is abandoned. Even with `POLLING_INTERVAL` added, the
# user waits less than a second.
SECONDS_BEFORE_ABANDONING = 0.4
POLLING_INTERVAL = 0.2  # seconds between two checks for a stop request


class StopRequest(threading.Event):
    """Event that is set once the user asks to stop; `signal` is the number of the first signal."""

    signal: int | None = None
    finishing = overdue = False
    timer: threading.Timer | None = None

    def handle_signal(self, number: int) -> None:
        """Handles a signal: sets the event, and limits the time for the remaining work.

        A further signal when that time is over raises `KeyboardInterrupt`.
        """
        if self.finishing and self.overdue:
            raise KeyboardInterrupt(self.signal, GIVEN_UP_MESSAGE)
        if self.signal is None:
            self.signal = number
        self.set()
        self.start_time_limit()

    def start_time_limit(self) -> None:
        """Starts the timer that ends the work after all runs, if a signal has arrived."""
        if self.finishing and self.signal is not None and self.timer is None:
            self.timer = threading.Timer(SECONDS_FOR_REMAINING_WORK, self.raise_again, (self.signal,))
            self.timer.daemon = True
            self.timer.start()

    def raise_again(self, number: int) -> None:
        """Raises the signal in the main thread again."""
        self.overdue = True
        _thread.interrupt_main(signal.Signals(number))

    @contextmanager
    def limit_remaining_work(self) -> Iterator[None]:
        """Limits work in the block, after all runs, to `SECONDS_FOR_REMAINING_WORK` after a stop signal."""
        self.finishing, self.overdue = True, False
        try:
            self.start_time_limit()
            yield
        finally:
            self.finishing = False
            if self.timer is not None:
                self.timer.cancel()
                self.timer = None


GIVEN_UP_MESSAGE = (
    "finished runs are kept. Run the same command to continue, or `overspill report DIR` to write the tables "
    "of a sweep"
)


@contextmanager
def stop_on_signal() -> Iterator[StopRequest]:
    """Yields an event that the signals set during the block, instead of ending the process."""
    event = StopRequest()
    # Python allows only the main thread to set signal handlers.
    if threading.current_thread() is not threading.main_thread():
        yield event
        return

    def on_signal(signum: int, frame: Any) -> None:
        event.handle_signal(signum)

    previous = {one: signal.getsignal(one) for one in SIGNALS}
    # Ignored signals stay ignored, such as Ctrl-C in a background job, or SIGHUP under `nohup`.
    previous = {one: before for one, before in previous.items() if before not in (signal.SIG_IGN, None)}
    for one in previous:
        signal.signal(one, on_signal)
    try:
        yield event
    finally:
        for one, before in previous.items():
            signal.signal(one, before)


def run_interruptibly(work: Callable[[], Result], stop: StopRequest) -> Result:
    """Runs `work` in a thread of its own, so that signals are handled however long the work takes.

    `work` polls `stop` and raises `KeyboardInterrupt`. If it does not within `SECONDS_BEFORE_ABANDONING`, its
    thread is abandoned.
    """
    pool = ThreadPoolExecutor(1)
    future, since = pool.submit(work), None
    try:
        while not wait([future], timeout=POLLING_INTERVAL).done:
            if stop.is_set():
                since = since or time.monotonic()
                if time.monotonic() - since > SECONDS_BEFORE_ABANDONING:
                    raise KeyboardInterrupt(stop.signal)
        return future.result()
    finally:
        machine.shut_down_pool(pool, at_once=not future.done())


def raise_signal(number: int | None) -> None:
    """Raises a signal with its default effect, as if `stop_on_signal` had not handled it."""
    if number is None or number == signal.SIGINT:
        raise KeyboardInterrupt
    signal.raise_signal(number)
