"""Command `overspill import`: fragments of scenarios from configurations of real switches."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from overspill.cli.console import print_document, print_path, split_names, stderr_console, stdout_console
from overspill.errors import escape_unprintable

import_app = typer.Typer(
    help="Print a scenario fragment with the memory, queues and pauses of a real switch.",
    no_args_is_help=True,
)


@import_app.callback()
def declare_formats() -> None:
    """Keeps the format a word of its own, since there may be several."""


@import_app.command("sonic")
def import_sonic(
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="SONiC config_db.json.")],
    lookup: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="pg_profile_lookup.ini of the device, with headroom by speed and cable."
        ),
    ] = None,
    chip: Annotated[
        str | None, typer.Option(metavar="NAME", help="Chip with known cells and slices, such as tomahawk.")
    ] = None,
    cell: Annotated[str | None, typer.Option(metavar="SIZE", help="Size of a memory cell.")] = None,
    slices: Annotated[
        int | None, typer.Option(min=1, max=64, help="Number of slices of the memory (default: 1).")
    ] = None,
    slice_of: Annotated[
        str | None,
        typer.Option(metavar="N,N,…", help="Slice of each pair of an input pipe and an output pipe."),
    ] = None,
    size_includes: Annotated[
        str | None,
        typer.Option(
            metavar="PARTS", help="Content of a pool size: shared, reserves or reserves_and_headroom."
        ),
    ] = None,
    ports: Annotated[
        list[str] | None, typer.Option(metavar="A,B", help="Only these ports (default: all).")
    ] = None,
    speed: Annotated[str | None, typer.Option(metavar="RATE", help="Only ports of this rate.")] = None,
    pool_size: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=BYTES", help="Size of a pool that the switch computes itself; may be repeated."
        ),
    ] = None,
    star: Annotated[
        bool, typer.Option("--star", help="Print a whole scenario: the switch in a star, with bursts to h0.")
    ] = False,
    out_path: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the fragment into a file.")
    ] = None,
) -> None:
    """Print the fragment of a SONiC configuration; list what it cannot express on stderr."""
    from overspill import atomic_files
    from overspill.importing import sonic
    from overspill.importing.chips import ChipOptions

    options = sonic.SonicOptions(
        chip=ChipOptions(chip, cell, slices, slice_of, size_includes),
        lookup=lookup,
        ports=split_names(ports),
        speed=speed,
        pool_sizes=pool_size or (),
        star=star,
    )
    found = sonic.import_sonic(config, options)
    if out_path is None:
        print_document(found.text.rstrip("\n"))
    else:
        with atomic_files.report_write_errors(out_path), atomic_files.replace_file(out_path) as new:
            new.write_text(found.text, encoding="utf-8")
        print_path(stdout_console(), "written", out_path)
    for line in found.omitted:
        stderr_console().print(Text(escape_unprintable(f"not expressed: {line}")), soft_wrap=True)
