"""The option `--figures`."""

from typing import Annotated

import typer

from overspill.errors import BadInput

Figures = Annotated[
    str | None,
    typer.Option(
        "--figures", metavar="pdf,svg,png", help="Also save each figure of the report in these formats."
    ),
]


def figures_asked(text: str | None, report: bool) -> tuple[str, ...] | None:
    """The formats of `--figures`; `None` without a report, whose figures they are."""
    if text is None:
        return () if report else None
    if not report:
        raise BadInput("--figures: found with --no-report; figures belong to the report")
    from overspill.charts import files

    return files.asked(text)
