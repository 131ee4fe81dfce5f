"""The option `--variants` of all commands that read or repeat runs."""

from collections.abc import Sequence
from typing import Annotated

import typer

from overspill.errors import BadInput

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


def single(names: Sequence[str] | None) -> str | None:
    """The name of the only variant; `BadInput` if there are several."""
    found = list(dict.fromkeys(names or ()))
    if len(found) > 1:
        raise BadInput(f"--variants: found {', '.join(found)}; expected one variant")
    return found[0] if found else None
