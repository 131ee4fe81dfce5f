"""Output of results and messages, and exit of commands that are stopped."""

import os
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import typer
from rich.console import Console
from rich.text import Text

from overspill.engine import memory
from overspill.errors import plain

FAILED, UNFINISHED = 1, 3
BY_SIGNAL = 128  # plus the signal's number, as in shells


class Output(Console):
    """Console that stops printing once its reader is gone, so that the report is still written."""

    def on_broken_pipe(self) -> None:
        """Stops printing."""
        self.quiet = True
        hush()


def hush() -> None:
    """Discards everything that is still written to stdout."""
    with suppress(OSError, ValueError):
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, sys.stdout.fileno())
        os.close(nothing)


def emit(text: str) -> None:
    """Prints a document to stdout, and ignores a reader that is gone."""
    try:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        hush()


class Forgiving:
    """Wrapper of stderr, which may be gone like a closed terminal: a run must not fail for that."""

    def __init__(self, stream: IO[str]) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Writes a text unless writing fails."""
        with suppress(OSError):
            self.stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flushes the stream unless that fails."""
        with suppress(OSError):
            self.stream.flush()

    def isatty(self) -> bool:
        """Returns true if the stream is a terminal."""
        return self.stream.isatty()

    def fileno(self) -> int:
        """Returns the file descriptor of the stream."""
        return self.stream.fileno()


def err() -> Console:
    """Returns the console of messages and progress."""
    return Console(file=Forgiving(sys.stderr), highlight=False)  # type: ignore[arg-type]


def out() -> Console:
    """Returns the console of results."""
    console = Output(highlight=False)
    # Without a terminal, rows are not wrapped.
    return console if console.is_terminal else Output(highlight=False, width=10_000)


def say(console: Console, what: str, path: Path) -> None:
    """Prints a path on a line that is never wrapped, so that the path can be copied."""
    console.print(Text(plain(f"{what}: {path}")), soft_wrap=True)


def loud(text: str) -> None:
    """Prints a line to stderr that should be noticed."""
    err().print(Text(plain(text), "bold red"), soft_wrap=True)


def names(given: str | Iterable[str] | None) -> list[str] | None:
    """Returns names separated by commas, from one text or from a repeated option."""
    if given is None:
        return None
    text = given if isinstance(given, str) else ",".join(given)
    return [one.strip() for one in text.split(",") if one.strip()]


def status_of(number: int | None) -> int:
    """Returns the exit status of a command that a signal ended; that of Ctrl-C for `None`."""
    return BY_SIGNAL + (number or signal.SIGINT)


@contextmanager
def interruptible() -> Iterator[None]:
    """Exits with the same status for a signal in the block as for one during runs.

    It also checks that the address space suffices.
    """
    memory.enough_addresses()
    try:
        yield
    except KeyboardInterrupt as error:
        with suppress(OSError):
            print(": ".join(["interrupted", *map(str, error.args[1:])]), file=sys.stderr)
        number = error.args[0] if error.args and isinstance(error.args[0], int) else None
        raise typer.Exit(status_of(number)) from None
