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
from overspill.errors import escape_unprintable

EXIT_FAILED, EXIT_UNFINISHED = 1, 3
SIGNAL_EXIT_BASE = 128  # plus the signal's number, as in shells


class PipeSafeConsole(Console):
    """Console that stops printing once its reader is gone, so that the report is still written."""

    def on_broken_pipe(self) -> None:
        """Stops printing to a reader that is gone."""
        self.quiet = True
        discard_stdout()


def discard_stdout() -> None:
    """Discards everything that is still written to stdout."""
    with suppress(OSError, ValueError):
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, sys.stdout.fileno())
        os.close(nothing)


def print_document(text: str) -> None:
    """Prints a document to stdout, and ignores a reader that is gone."""
    try:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        discard_stdout()


class SafeStderr:
    """Wrapper of stderr that ignores failed writes: a run must not fail because its terminal is closed."""

    def __init__(self, stream: IO[str]) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Writes a text, and ignores a failure to write."""
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


def stderr_console() -> Console:
    """Returns the console to which commands print messages and progress (stderr)."""
    return Console(file=SafeStderr(sys.stderr), highlight=False)  # type: ignore[arg-type]


def stdout_console() -> Console:
    """Returns the console to which commands print results (stdout)."""
    console = PipeSafeConsole(highlight=False)
    # A pipe or a file has no width: `rich` would wrap rows at 80 columns, and scripts could not read them.
    return console if console.is_terminal else PipeSafeConsole(highlight=False, width=10_000)


def print_path(console: Console, what: str, path: Path) -> None:
    """Prints a path on a line that is never wrapped, so that the path can be copied."""
    console.print(Text(escape_unprintable(f"{what}: {path}")), soft_wrap=True)


def print_emphasised(text: str) -> None:
    """Prints a line to stderr in bold red, so that users notice it."""
    stderr_console().print(Text(escape_unprintable(text), "bold red"), soft_wrap=True)


def split_names(given: str | Iterable[str] | None) -> list[str] | None:
    """Returns names separated by commas, from one text or from a repeated option."""
    if given is None:
        return None
    text = given if isinstance(given, str) else ",".join(given)
    return [one.strip() for one in text.split(",") if one.strip()]


def exit_status_of_signal(number: int | None) -> int:
    """Returns the exit status of a command that a signal ended; that of Ctrl-C for `None`."""
    return SIGNAL_EXIT_BASE + (number or signal.SIGINT)


@contextmanager
def exit_on_signal() -> Iterator[None]:
    """Ends the command after a signal in the block, with the same exit status as after a signal during runs.

    It also checks that the address space suffices.
    """
    memory.check_address_space()
    try:
        yield
    except KeyboardInterrupt as error:
        with suppress(OSError):
            print(": ".join(["interrupted", *map(str, error.args[1:])]), file=sys.stderr)
        number = error.args[0] if error.args and isinstance(error.args[0], int) else None
        raise typer.Exit(exit_status_of_signal(number)) from None
