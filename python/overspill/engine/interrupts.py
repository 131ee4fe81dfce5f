"""Ctrl-C, SIGTERM and SIGHUP while runs go on: they ask runs to stop, and never break off what is saved."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# A closed terminal sends SIGHUP, which not every system has.
SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


class Asked(threading.Event):
    """Set once the user asks to stop; `signal` is the number of the first signal that did."""

    signal: int | None = None


@contextmanager
def asked() -> Iterator[Asked]:
    """An event that these signals set instead of ending the process, for as long as this lasts."""
    event = Asked()
    # Only the main thread may ask.
    if threading.current_thread() is not threading.main_thread():
        yield event
        return

    def note(signum: int, frame: Any) -> None:
        if event.signal is None:
            event.signal = signum
        event.set()

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


def raised(number: int | None) -> None:
    """What a signal does where nobody waits for runs: the process ends as it would have without `asked`."""
    if number is None or number == signal.SIGINT:
        raise KeyboardInterrupt
    signal.raise_signal(number)
