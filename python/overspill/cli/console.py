"""Where results and messages go, and how a command ends that is stopped."""

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
BY_SIGNAL = 128  # and the signal's number, as shells have it


class Output(Console):
    """A console that goes on in silence once nobody reads it, so that the report is still written."""

    def on_broken_pipe(self) -> None:
        """Write no more."""
        self.quiet = True
        hush()


def hush() -> None:
    """Let what is still written to stdout vanish."""
    with suppress(OSError, ValueError):
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, sys.stdout.fileno())
        os.close(nothing)


def emit(text: str) -> None:
    """A document on stdout, as long as somebody reads it."""
    try:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        hush()


class Forgiving:
    """stderr that may be gone, as a closed terminal is: a run must not fail of it."""

    def __init__(self, stream: IO[str]) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write, if it can be."""
        with suppress(OSError):
            self.stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush, if it can be."""
        with suppress(OSError):
            self.stream.flush()

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return self.stream.isatty()

    def fileno(self) -> int:
        """Its number."""
        return self.stream.fileno()


def err() -> Console:
    """Where messages and progress go."""
    return Console(file=Forgiving(sys.stderr), highlight=False)  # type: ignore[arg-type]


def out() -> Console:
    """Where results go."""
    console = Output(highlight=False)
    # Where nobody looks at a screen, no row is wrapped.
    return console if console.is_terminal else Output(highlight=False, width=10_000)


def say(console: Console, what: str, path: Path) -> None:
    """One line that is never broken, so that the path can be copied."""
    console.print(Text(plain(f"{what}: {path}")), soft_wrap=True)


def loud(text: str) -> None:
    """A line on stderr that should be seen."""
    err().print(Text(plain(text), "bold red"), soft_wrap=True)


def names(given: str | Iterable[str] | None) -> list[str] | None:
    """The names between commas, of one text or of an option that was repeated."""
    if given is None:
        return None
    text = given if isinstance(given, str) else ",".join(given)
    return [one.strip() for one in text.split(",") if one.strip()]


def status_of(number: int | None) -> int:
    """The exit status of a command that this signal ended; Ctrl-C's where none is known."""
    return BY_SIGNAL + (number or signal.SIGINT)


@contextmanager
def interruptible() -> Iterator[None]:
    """A command that runs or draws: what stops it elsewhere leaves with the same status as within a run."""
    memory.enough_addresses()
    try:
        yield
    except KeyboardInterrupt as error:
        with suppress(OSError):
            print(": ".join(["interrupted", *map(str, error.args[1:])]), file=sys.stderr)
        number = error.args[0] if error.args and isinstance(error.args[0], int) else None
        raise typer.Exit(status_of(number)) from None
