"""Options of several commands, and what their texts stand for."""

from collections.abc import Sequence
from typing import Annotated

import typer

from overspill.errors import BadInput

FirstSeed = Annotated[int | None, typer.Option(min=0, help="The first seed, instead of the scenario's.")]
MaxEvents = Annotated[
    int | None, typer.Option(min=1, help="Cut each run after so many events; the result is partial.")
]
Figures = Annotated[
    str | None,
    typer.Option(
        "--figures", metavar="pdf,svg,png", help="Also save each figure of the report in these formats."
    ),
]
# `--variant` is the same option: where one variant is meant, it is what people type.
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
        help="The variant (default: the first that detours, bounces, cuts, holds ACKs or sends congestion "
        "messages).",
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


def single(names: Sequence[str] | None) -> str | None:
    """The name of the only variant; `BadInput` if there are several."""
    found = list(dict.fromkeys(names or ()))
    if len(found) > 1:
        raise BadInput(f"--variants: found {', '.join(found)}; expected one variant")
    return found[0] if found else None
