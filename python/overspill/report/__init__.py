"""Pages of HTML: of results, of sweeps, and of the reference."""

from overspill.report.run import of_folder, render, write

__all__ = ["of_folder", "render", "write"]
