"""Ctrl-C while runs go on: it asks them to stop, once or many times, and never breaks off what is saved."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def asked() -> Iterator[threading.Event]:
    """An event that Ctrl-C sets instead of raising, for as long as this lasts."""
    event = threading.Event()
    previous = signal.getsignal(signal.SIGINT)
    # Only the main thread may ask, and what ignores Ctrl-C (such as a job of `nohup`) goes on ignoring it.
    if threading.current_thread() is not threading.main_thread() or previous in (signal.SIG_IGN, None):
        yield event
        return

    def note(signum: int, frame: Any) -> None:
        event.set()

    signal.signal(signal.SIGINT, note)
    try:
        yield event
    finally:
        signal.signal(signal.SIGINT, previous)
