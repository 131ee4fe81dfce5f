"""Pages of HTML: of results at one point or at many, and of the reference."""

from collections.abc import Collection
from pathlib import Path

from overspill.report import run, sweep
from overspill.report.run import render
from overspill.results.results import Results

__all__ = ["of_folder", "render", "write"]


def of_folder(folder: Path, formats: Collection[str] = ()) -> Path:
    """Write the report of a folder that `overspill run` or `overspill sweep` wrote; the page's path.

    Figures are saved in these formats, and anew in those in which they lie there.
    """
    return write(Results.load(folder), folder, formats)


def write(results: Results, folder: Path, formats: Collection[str] = ()) -> Path:
    """Write `report.html`, and figures in these formats; the page's path."""
    return sweep.write(results, folder, formats) if results.of_sweep else run.write(results, folder, formats)
