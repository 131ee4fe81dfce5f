"""End of `run` and `sweep`: report, warnings about missing runs, and exit status."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import typer
from rich.text import Text

from overspill.cli.console import FAILED, UNFINISHED, err, hush, loud, out, say, status_of
from overspill.errors import BadInput, plain

if TYPE_CHECKING:
    from rich.console import Console

    from overspill.results.results import Results


def finish(results: Results, formats: Sequence[str] | None, as_json: bool, scenario: str) -> NoReturn:
    """Writes the report, prints paths and what is missing, and exits with the right status.

    `formats` are those of the report's figures; `None` writes no report. `scenario` is the path of the file.
    """
    if results.signal == getattr(signal, "SIGHUP", None):
        hush()
    if not results.finished:
        err().print("interrupted before the first run was finished; nothing is kept")
        raise typer.Exit(status_of(results.signal))
    console = err() if as_json else out()
    drawn = True
    if results.folder is None:
        err().print(Text(plain(kept(results))), soft_wrap=True)
    else:
        drawn = places(results, formats, console)
        if results.replaced is not None:
            err().print(Text(plain(results.replaced.text(scenario))), soft_wrap=True)
    from overspill.results.warnings import warnings

    left = status(results)
    if as_json:
        for line in warnings(results):
            loud(f"{line.label}: {line.text}")
    if left and (not as_json or late(results)):
        loud(f"{' and '.join(causes(results))}: exit status {left}")
    raise typer.Exit(left if drawn else left or FAILED)


def kept(results: Results) -> str:
    """Returns the message on finished runs that no results list yet."""
    if results.interrupted:
        return (
            f"finished runs are kept in {results.store}, and the earlier results stay as they were. "
            "Run the same command to continue"
        )
    return f"no results are written; finished runs are kept in {results.store}"


def places(results: Results, formats: Sequence[str] | None, console: Console) -> bool:
    """Prints the paths of results, report and captures; returns true unless the report is missing."""
    assert results.folder is not None
    drawn = True
    if formats is not None and (results.interrupted or late(results)):
        say(console, "results", results.folder)
        text = f"no report: interrupted; overspill report {results.folder} draws one"
        err().print(Text(plain(text)), soft_wrap=True)
    elif formats is not None:
        if results.of_sweep:
            say(console, "results", results.folder)
        path = written(results, results.folder, formats)
        drawn = path is not None
        if path is not None:
            say(console, "report", path)
    else:
        say(console, "results", results.folder)
    if results.captures:
        say(console, "captures", results.folder / "runs")
    return drawn


def written(results: Results, folder: Path, formats: Sequence[str]) -> Path | None:
    """Writes the report and returns its path; `None` with a message if another command has the folder."""
    from overspill import report

    try:
        with err().status("drawing the report"):
            return report.write(results, folder, formats)
    except BadInput as error:
        kept_in = f"finished runs are kept in {results.store}" if results.store else "the results stay"
        loud(f"no report: {' '.join(error.lines)}; {kept_in}")
        return None


def status(results: Results) -> int:
    """Returns the exit status of results."""
    if results.failures:
        return FAILED
    if results.interrupted or results.signal is not None:
        return status_of(results.signal)
    return UNFINISHED if causes(results) else 0


def late(results: Results) -> bool:
    """Returns true if a signal came after all runs were done."""
    return results.signal is not None and not results.interrupted and not results.failures


def causes(results: Results) -> list[str]:
    """Returns the causes of the exit status: labels of lines above, or a signal without a line."""
    if results.failures:
        return ["FAILED"]
    if late(results):
        return [f"stopped by {signal.Signals(results.signal or signal.SIGINT).name} after the last run"]
    if results.interrupted:
        return ["INTERRUPTED"]
    found = {
        "PARTIAL RESULT": results.run_status.partial,
        "UNFINISHED FLOWS": results.run_status.unfinished,
        "DEADLOCK": results.stuck,
    }
    return [label for label, there in found.items() if there]
