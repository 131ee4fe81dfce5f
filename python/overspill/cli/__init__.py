"""Entry point of the command `overspill`: it always ends with an exit status and without a traceback."""

import atexit
import gc
import io
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn, TextIO

EXIT_FAILED, EXIT_INTERRUPTED = 1, 130
# More threads of OpenBLAS would only wait: no large matrices are multiplied. Arrow's own allocator would zero
# 24 MB for the tables of a small run.
DEFAULT_ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
# By default, Python looks for garbage after every 700 new objects, also during imports, which create none.
GC_THRESHOLD = 50_000


def main(arguments: list[str] | None = None) -> NoReturn:
    """Runs the command and exits with its status."""
    gc.set_threshold(GC_THRESHOLD)
    before = sys.stdout
    if isinstance(before, io.TextIOWrapper) and before.errors == "strict":
        # On some systems, output into a file or pipe has an encoding without most symbols.
        before.reconfigure(errors="backslashreplace")
    # `sys.stdout` is `None` if the command is started with stdout closed, as by `>&-`.
    stdout = SafeStdout(before or open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    sys.stdout = stdout
    for name, value in DEFAULT_ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    # The system frees all memory when the process ends, so the final garbage collection would waste time.
    atexit.register(gc.freeze)
    try:
        run_command(arguments)
    except SystemExit as left:
        machine = sys.modules.get("overspill.engine.machine")
        if machine is not None and machine.AbandonedThreads.exist:
            # A normal exit would wait for these threads, such as one that builds a large network.
            exit_immediately(stdout.exit_status(left.code))
        sys.exit(stdout.exit_status(left.code))
    finally:
        sys.stdout = before


class SafeStdout:
    """Wrapper of stdout that survives a full disk: a failed write is reported at the end."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.lost: str | None = None

    def write(self, text: str) -> int:
        """Writes a text unless writing fails; raises `BrokenPipeError` if the reader is gone."""
        self.try_write(lambda: self.stream.write(text))
        return len(text)

    def flush(self) -> None:
        """Flushes the stream unless that fails."""
        self.try_write(self.stream.flush)

    def try_write(self, write: Callable[[], object]) -> None:
        """Calls a function that writes, unless writing failed before."""
        if self.lost is not None:
            return
        try:
            write()
        except BrokenPipeError:
            raise
        except OSError as error:
            self.lost = error.strerror or str(error)
            # At its end, Python writes the rest of the buffer again. Into the null device, this cannot fail.
            with suppress(OSError, ValueError):
                nothing = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nothing, self.stream.fileno())
                os.close(nothing)

    def exit_status(self, left: object) -> int:
        """Flushes stdout and returns the exit status: that of `left`, or 1 if output could not be written."""
        with suppress(BrokenPipeError, ValueError):
            self.flush()
        if self.lost is not None:
            with suppress(OSError):
                print(f"stdout: cannot be written: {self.lost}; the output is incomplete", file=sys.stderr)
            return EXIT_FAILED
        return 0 if left is None else left if isinstance(left, int) else EXIT_FAILED

    def __getattr__(self, name: str) -> Any:
        """Returns any attribute of the wrapped stream that this class does not define."""
        return getattr(self.stream, name)


def exit_immediately(status: int) -> NoReturn:
    """Exits the process immediately, without waiting for threads."""
    flush_output()
    os._exit(status)


def flush_output() -> None:
    """Flushes stdout and stderr."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()


def run_command(arguments: list[str] | None) -> NoReturn:
    """Runs the command and exits with its status, after its threads have ended."""
    try:
        # Imported in `try`: imports take a second, in which Ctrl-C must not print a traceback.
        from overspill import errors
        from overspill.cli import commands, console
        from overspill.engine import memory
    except KeyboardInterrupt:
        exit_with_message("interrupted", EXIT_INTERRUPTED)
    except ImportError as error:
        exit_with_message(f"overspill is incomplete: {error}; build it with `make setup`", EXIT_FAILED)
    memory.limit_allocator_reservations()
    try:
        commands.app(args=arguments, prog_name="overspill")
    except errors.OverspillError as error:
        exit_with_message("\n".join(error.lines), error.status)
    except KeyboardInterrupt:
        exit_with_message("interrupted", EXIT_INTERRUPTED)
    except BrokenPipeError:
        console.discard_stdout()
        sys.exit(0)
    except Exception as error:
        if os.environ.get("OVERSPILL_TRACEBACK"):
            raise
        what = errors.shorten_line(" ".join(str(error).split())) or "no message"
        exit_with_message(
            f"unexpected failure: {type(error).__name__}: {what} (set OVERSPILL_TRACEBACK=1 to see where)",
            EXIT_FAILED,
        )
    sys.exit(0)


def exit_with_message(text: str, status: int) -> NoReturn:
    """Prints a message to stderr and exits."""
    print(text, file=sys.stderr)
    sys.exit(status)
