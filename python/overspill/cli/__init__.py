"""The command `overspill`: its exit status, whatever happens, and no traceback."""

import atexit
import gc
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn, TextIO

FAILED, INTERRUPTED = 1, 130
# Threads that would only wait, and an allocator that has 24 MB zeroed for the tables of a small run.
DEFAULTS = {"OPENBLAS_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
# Python would look for garbage whenever 700 objects are new, also while it imports, which makes none.
NEW_OBJECTS = 50_000


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command and leave with its status."""
    gc.set_threshold(NEW_OBJECTS)
    before = sys.stdout
    # A command may be started with no stdout at all.
    stdout = Told(before or open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    sys.stdout = stdout
    for name, value in DEFAULTS.items():
        os.environ.setdefault(name, value)
    # What is left at the end goes with the process; nobody has to search it.
    atexit.register(gc.freeze)
    try:
        command(arguments)
    except SystemExit as left:
        machine = sys.modules.get("overspill.engine.machine")
        if machine is not None and machine.Abandoned.threads:
            # Whoever stopped it does not wait for a network that is being built.
            at_once(stdout.status(left.code))
        sys.exit(stdout.status(left.code))
    finally:
        sys.stdout = before


class Told:
    """stdout, where a full disk ends no command: what could not be written is told at the end."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.lost: str | None = None

    def write(self, text: str) -> int:
        """Write, if it can be; where nobody reads it any more, `BrokenPipeError` as ever."""
        self.tried(lambda: self.stream.write(text))
        return len(text)

    def flush(self) -> None:
        """Flush, if it can be."""
        self.tried(self.stream.flush)

    def tried(self, write: Callable[[], object]) -> None:
        """Write, unless it has failed before."""
        if self.lost is not None:
            return
        try:
            write()
        except BrokenPipeError:
            raise
        except OSError as error:
            self.lost = error.strerror or str(error)
            # What still lies in its buffer is not tried again as the process ends.
            with suppress(OSError, ValueError):
                nothing = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nothing, self.stream.fileno())
                os.close(nothing)

    def status(self, left: object) -> int:
        """The exit status, once all is written: 1 where it could not be."""
        with suppress(BrokenPipeError, ValueError):
            self.flush()
        if self.lost is not None:
            with suppress(OSError):
                print(
                    f"stdout: cannot be written: {self.lost}; what was printed is not whole", file=sys.stderr
                )
            return FAILED
        return 0 if left is None else left if isinstance(left, int) else FAILED

    def __getattr__(self, name: str) -> Any:
        """What else a stream has."""
        return getattr(self.stream, name)


def at_once(status: int) -> NoReturn:
    """Leave without waiting for threads."""
    flush()
    os._exit(status)


def flush() -> None:
    """Write what is still to be written."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()


def command(arguments: list[str] | None) -> NoReturn:
    """The same, its threads waited for."""
    try:
        # Imported here, since that takes a second in which the user may press Ctrl-C.
        from overspill import errors
        from overspill.cli import commands, console
        from overspill.engine import memory
    except KeyboardInterrupt:
        leave("interrupted", INTERRUPTED)
    except ImportError as error:
        leave(f"overspill is not whole: {error}; build it with `make setup`", FAILED)
    memory.spare_addresses()
    try:
        commands.app(args=arguments, prog_name="overspill")
    except errors.OverspillError as error:
        leave("\n".join(error.lines), error.status)
    except KeyboardInterrupt:
        leave("interrupted", INTERRUPTED)
    except BrokenPipeError:
        console.hush()
        sys.exit(0)
    except Exception as error:
        if os.environ.get("OVERSPILL_TRACEBACK"):
            raise
        what = errors.shorten(" ".join(str(error).split())) or "no message"
        leave(
            f"unexpected failure: {type(error).__name__}: {what} (OVERSPILL_TRACEBACK=1 tells where)", FAILED
        )
    sys.exit(0)


def leave(text: str, status: int) -> NoReturn:
    """Say why, and go."""
    print(text, file=sys.stderr)
    sys.exit(status)
