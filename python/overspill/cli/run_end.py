"""End of `run` and `sweep`: report, warnings about missing runs, and exit status."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import typer
from rich.text import Text

from overspill.cli.console import (
    EXIT_FAILED,
    EXIT_UNFINISHED,
    discard_stdout,
    exit_status_of_signal,
    print_emphasised,
    print_path,
    stderr_console,
    stdout_console,
)
from overspill.errors import BadInput, escape_unprintable

if TYPE_CHECKING:
    from rich.console import Console

    from overspill.results.results import Results


def write_report_and_exit(
    results: Results, formats: Sequence[str] | None, as_json: bool, scenario: str
) -> NoReturn:
    """Writes the report, prints paths and warnings, and exits with the status of the results.

    `formats` are those of the report's figures; `None` writes no report. `scenario` is the path of the file.
    """
    if results.signal == getattr(signal, "SIGHUP", None):
        discard_stdout()
    if not results.finished:
        stderr_console().print("interrupted before the first run finished, so that no results are kept")
        raise typer.Exit(exit_status_of_signal(results.signal))
    console = stderr_console() if as_json else stdout_console()
    drawn = True
    if results.folder is None:
        stderr_console().print(Text(escape_unprintable(unlisted_runs_message(results))), soft_wrap=True)
    else:
        drawn = print_paths(results, formats, console)
        if results.replaced is not None:
            described = escape_unprintable(results.replaced.describe(scenario))
            stderr_console().print(Text(described), soft_wrap=True)
    from overspill.results.warnings import warnings

    left = exit_status(results)
    if as_json:
        for line in warnings(results):
            print_emphasised(f"{line.label}: {line.text}")
    if left and (not as_json or is_late_signal(results)):
        print_emphasised(f"{' and '.join(exit_causes(results))}: exit status {left}")
    raise typer.Exit(left if drawn else left or EXIT_FAILED)


def unlisted_runs_message(results: Results) -> str:
    """Returns the message that finished runs are kept, although no results list them yet."""
    if results.interrupted:
        return (
            f"finished runs are kept in {results.store}, and the earlier results stay as they were. "
            "Run the same command to continue"
        )
    return f"no results are written; finished runs are kept in {results.store}"


def print_paths(results: Results, formats: Sequence[str] | None, console: Console) -> bool:
    """Prints the paths of results, report and captures; returns true unless the report is missing."""
    assert results.folder is not None
    drawn = True
    if formats is not None and (results.interrupted or is_late_signal(results)):
        print_path(console, "results", results.folder)
        text = f"no report: interrupted; overspill report {results.folder} draws one"
        stderr_console().print(Text(escape_unprintable(text)), soft_wrap=True)
    elif formats is not None:
        if results.of_sweep:
            print_path(console, "results", results.folder)
        path = write_report(results, results.folder, formats)
        drawn = path is not None
        if path is not None:
            print_path(console, "report", path)
    else:
        print_path(console, "results", results.folder)
    if results.captures:
        print_path(console, "captures", results.folder / "runs")
    return drawn


def write_report(results: Results, folder: Path, formats: Sequence[str]) -> Path | None:
    """Writes the report and returns its path; `None` with a message if another command uses the folder."""
    from overspill import report

    try:
        with stderr_console().status("drawing the report"):
            return report.write(results, folder, formats)
    except BadInput as error:
        kept_in = f"finished runs are kept in {results.store}" if results.store else "the results stay"
        print_emphasised(f"no report: {' '.join(error.lines)}; {kept_in}")
        return None


def exit_status(results: Results) -> int:
    """Returns the exit status of results."""
    if results.failures:
        return EXIT_FAILED
    if results.interrupted or results.signal is not None:
        return exit_status_of_signal(results.signal)
    return EXIT_UNFINISHED if exit_causes(results) else 0


def is_late_signal(results: Results) -> bool:
    """Returns true if a signal came after all runs were done."""
    return results.signal is not None and not results.interrupted and not results.failures


def exit_causes(results: Results) -> list[str]:
    """Returns the causes of a nonzero exit status: labels of printed lines, or a late signal."""
    if results.failures:
        return ["FAILED"]
    if is_late_signal(results):
        return [f"stopped by {signal.Signals(results.signal or signal.SIGINT).name} after the last run"]
    if results.interrupted:
        return ["INTERRUPTED"]
    found = {
        "PARTIAL RESULT": results.run_status.partial,
        "UNFINISHED FLOWS": results.run_status.unfinished,
        "DEADLOCK": results.stuck,
    }
    return [label for label, there in found.items() if there]
