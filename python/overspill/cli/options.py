"""Arguments and options of several commands, and functions that parse them."""

from collections.abc import Sequence
from typing import Annotated

import typer

from overspill import shipped_files
from overspill.errors import BadInput

Scenario = Annotated[
    str, typer.Argument(help="Scenario file (TOML).", callback=shipped_files.check_scenario_path)
]
FirstSeed = Annotated[int | None, typer.Option(min=0, help="First seed (default: the seed of the scenario).")]
MaxEvents = Annotated[
    int | None, typer.Option(min=1, help="Stop each run after this number of events, with partial results.")
]
EveryMetric = Annotated[
    bool,
    typer.Option(
        "--all",
        help=(
            "Print all metrics except those that are 0 in every run (default: only the most "
            "informative metrics)."
        ),
    ),
]
Figures = Annotated[
    str | None,
    typer.Option(
        "--figures", metavar="pdf,svg,png", help="Also save each figure of the report in these formats."
    ),
]
# Users who mean a single variant type `--variant`, so both spellings are one option.
VARIANTS_OPTION_NAMES = ("--variants", "--variant")
Variants = Annotated[
    list[str] | None,
    typer.Option(*VARIANTS_OPTION_NAMES, metavar="A,B", help="Only these variants (default: all)."),
]
Variant = Annotated[
    list[str] | None,
    typer.Option(
        *VARIANTS_OPTION_NAMES,
        metavar="NAME",
        help=(
            "Variant (default: the first that detours, bounces, cuts, holds ACKs or sends congestion "
            "messages)."
        ),
    ),
]


def requested_formats(text: str | None, report: bool) -> tuple[str, ...] | None:
    """Parses `--figures` into formats; `None` without a report, since figures belong to the report."""
    if text is None:
        return () if report else None
    if not report:
        raise BadInput(
            "--figures: found together with --no-report; expected only one of them, because "
            "figures are part of the report"
        )
    from overspill.charts import figure_files

    return figure_files.parse_formats(text)


def single_name(names: Sequence[str] | None) -> str | None:
    """Returns the name of the only variant; raises `BadInput` if there are several."""
    found = list(dict.fromkeys(names or ()))
    if len(found) > 1:
        raise BadInput(f"--variants: found {', '.join(found)}; expected one variant")
    return found[0] if found else None
