"""Options of several commands, and functions that parse them."""

from collections.abc import Sequence
from typing import Annotated

import typer

from overspill.errors import BadInput

FirstSeed = Annotated[int | None, typer.Option(min=0, help="First seed (default: that of the scenario).")]
MaxEvents = Annotated[
    int | None, typer.Option(min=1, help="Stop each run after this number of events; the result is partial.")
]
Figures = Annotated[
    str | None,
    typer.Option(
        "--figures", metavar="pdf,svg,png", help="Also save each figure of the report in these formats."
    ),
]
# `--variant` is the same option, since users type it if they mean one variant.
SPELLINGS = ("--variants", "--variant")
Variants = Annotated[
    list[str] | None,
    typer.Option(*SPELLINGS, metavar="A,B", help="Only these variants (default: all)."),
]
Variant = Annotated[
    list[str] | None,
    typer.Option(
        *SPELLINGS,
        metavar="NAME",
        help=(
            "Variant (default: the first that detours, bounces, cuts, holds ACKs or sends congestion "
            "messages)."
        ),
    ),
]


def figures_asked(text: str | None, report: bool) -> tuple[str, ...] | None:
    """Returns the formats of `--figures`; `None` without a report, which the figures belong to."""
    if text is None:
        return () if report else None
    if not report:
        raise BadInput("--figures: found with --no-report; figures belong to the report")
    from overspill.charts import files

    return files.asked(text)


def single(names: Sequence[str] | None) -> str | None:
    """Returns the name of the only variant; raises `BadInput` if there are several."""
    found = list(dict.fromkeys(names or ()))
    if len(found) > 1:
        raise BadInput(f"--variants: found {', '.join(found)}; expected one variant")
    return found[0] if found else None
