"""HTML pages of results, and Markdown pages of the reference."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from overspill.errors import BadInput, Failed
from overspill.report import run, sweep
from overspill.report.run import render_run_page
from overspill.results import cache, pending_sweep, results_folder
from overspill.results.results import WRITER_COMMANDS, Results

__all__ = ["render_run_page", "write", "write_report_of_folder"]


def write_report_of_folder(folder: Path, formats: Collection[str] = ()) -> Path:
    """Writes the report of a folder that `overspill run` or `sweep` wrote; returns the path of the page.

    Figures are saved in these formats, and again in those in which they exist. The tables of a sweep that was
    stopped before it could write them are made from its finished runs.
    """
    if not (folder / results_folder.PLAN_FILE).is_file():
        results_folder.parse_manifest(folder, WRITER_COMMANDS)
    with lock_results_folder(folder):
        pending_sweep.complete_sweep(folder)
        return write_page_and_figures(Results.load(folder), folder, formats)


def write(results: Results, folder: Path, formats: Collection[str] = ()) -> Path:
    """Writes `report.html`, and figures in the given formats; returns the path of the page.

    Raises `BadInput` if another command is writing there, or has put its results there since.
    """
    results_folder.parse_manifest(folder, WRITER_COMMANDS)
    with lock_results_folder(folder):
        if (
            results_folder.results_identity(results_folder.parse_manifest(folder, WRITER_COMMANDS))
            != results.identity
        ):
            raise BadInput(
                f"{folder}: another run or sweep has replaced these results, so that no page was written. "
                "Run the command again, in another folder"
            )
        return write_page_and_figures(results, folder, formats)


@contextmanager
def lock_results_folder(folder: Path) -> Iterator[None]:
    """Locks a folder of results for this command."""
    try:
        with cache.lock_for_drawing(folder):
            yield
    except OSError as error:
        raise Failed(f"{folder}: the report cannot be written: {error.strerror}") from error


def write_page_and_figures(results: Results, folder: Path, formats: Collection[str]) -> Path:
    """Writes the HTML page of results and its figures into their folder; returns the path of the page."""
    return (
        sweep.write_sweep_report(results, folder, formats)
        if results.of_sweep
        else run.write_run_report(results, folder, formats)
    )
