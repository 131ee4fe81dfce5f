"""The command `overspill`: its exit status, whatever happens, and no traceback."""

import atexit
import gc
import os
import sys
from contextlib import suppress
from typing import NoReturn

FAILED, INTERRUPTED = 1, 130
# Threads that would only wait.
DEFAULTS = {"OPENBLAS_NUM_THREADS": "1"}
# Python would look for garbage whenever 700 objects are new, also while it imports, which makes none.
NEW_OBJECTS = 50_000


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command and leave with its status."""
    gc.set_threshold(NEW_OBJECTS)
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
            flush()
            os._exit(left.code if isinstance(left.code, int) else FAILED)
        raise


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
        from overspill.cli import commands, console, paper, sweep, trace
        from overspill.engine import memory
    except KeyboardInterrupt:
        leave("interrupted", INTERRUPTED)
    except ImportError as error:
        leave(f"overspill is not whole: {error}; build it with `make setup`", FAILED)
    memory.spare_addresses()
    sweep.register(commands.app)
    paper.register(commands.app)
    trace.register(commands.app)
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
        what = errors.told(" ".join(str(error).split())) or "no message"
        leave(
            f"unexpected failure: {type(error).__name__}: {what} (OVERSPILL_TRACEBACK=1 tells where)", FAILED
        )
    sys.exit(0)


def leave(text: str, status: int) -> NoReturn:
    """Say why, and go."""
    print(text, file=sys.stderr)
    sys.exit(status)
