"""HTML pages of results, and Markdown pages of the reference."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from overspill.errors import BadInput, Failed
from overspill.report import run, sweep
from overspill.report.run import render
from overspill.results import cache, pending, store
from overspill.results.results import WRITERS, Results

__all__ = ["of_folder", "render", "write"]


def of_folder(folder: Path, formats: Collection[str] = ()) -> Path:
    """Writes the report of a folder that `overspill run` or `overspill sweep` wrote; returns its path.

    Figures are saved in these formats, and again in those in which they exist. The tables of a sweep that was
    stopped before it could write them are made from its finished runs.
    """
    if not (folder / store.PLAN).is_file():
        store.parse_manifest(folder, WRITERS)
    with held(folder):
        pending.complete(folder)
        return drawn(Results.load(folder), folder, formats)


def write(results: Results, folder: Path, formats: Collection[str] = ()) -> Path:
    """Writes `report.html`, and figures in these formats; returns the path of the page.

    Raises `BadInput` if another command is writing there, or has put its results there since.
    """
    store.parse_manifest(folder, WRITERS)
    with held(folder):
        if store.identity(store.parse_manifest(folder, WRITERS)) != results.identity:
            raise BadInput(f"{folder}: another run or sweep has replaced these results; no page is drawn")
        return drawn(results, folder, formats)


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Locks a folder of results for this command."""
    try:
        with cache.drawn_in(folder):
            yield
    except OSError as error:
        raise Failed(f"{folder}: the report cannot be written: {error.strerror}") from error


def drawn(results: Results, folder: Path, formats: Collection[str]) -> Path:
    """Writes the page of results and its figures into their folder; returns the path of the page."""
    return sweep.write(results, folder, formats) if results.of_sweep else run.write(results, folder, formats)
