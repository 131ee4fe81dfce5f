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
    from overspill.charts import files

    if text is not None and not report:
        raise BadInput("--figures: found with --no-report; figures belong to the report")
    formats = files.asked(text)
    return formats if report else None
