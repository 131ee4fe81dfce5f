"""Command `overspill trace`."""

from pathlib import Path
from typing import Annotated

import typer

from overspill.cli import console
from overspill.cli.options import Figures, Scenario, Variant, requested_formats, single_name


def trace(
    scenario: Scenario,
    packet: Annotated[
        str,
        typer.Option(
            metavar="PACKET",
            help=(
                "most_detoured, most_bounced, first_trimmed, first_held, first_cnm, or flow=F,n=N: "
                "packet n of the sender of flow F, from 0; append ,reverse for packets of its receiver."
            ),
        ),
    ],
    variant: Variant = None,
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="Change a setting; may be repeated."),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed (default: the seed of the scenario).")] = None,
    at: Annotated[
        str | None,
        typer.Option(
            metavar="T1,T2,T3",
            help=(
                "Instants at which queues are shown (default: the packet's first detour or bounce, its "
                "last, and half-way between)."
            ),
        ),
    ] = None,
    out_dir: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Folder of the files (default: out/NAME-trace)."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help=("Print one JSON document instead of the table."))
    ] = False,
    report: Annotated[bool, typer.Option(help="Write trace.json and trace.html.")] = True,
    figures: Figures = None,
) -> None:
    """Repeat a run, and print and draw the trace of one of its packets."""
    with console.exit_on_signal():
        from overspill.cli import progress
        from overspill.cli import trace_table as show
        from overspill.results import results_folder
        from overspill.tracing import write
        from overspill.tracing.run import TraceOptions, run_passes_and_trace

        formats = requested_formats(figures, report)
        if report and out_dir is not None:
            write.check_folder(out_dir)
        with progress.select_listener(console.stderr_console()) as listener:
            chosen = single_name(console.split_names(variant))
            traced = run_passes_and_trace(
                scenario, TraceOptions(packet, chosen, seed, sets or (), at, listener)
            )
        if as_json:
            console.print_document(results_folder.dump_json(traced.document()))
        else:
            show.print_trace(traced, console.stdout_console())
        if formats is not None:
            folder = (
                out_dir or Path("out") / f"{results_folder.path_component(traced.facts['scenario'])}-trace"
            )
            write.check_folder(folder)
            with console.stderr_console().status("drawing the trace"):
                path = write.write_trace(traced, folder, formats)
            console.print_path(
                console.stderr_console() if as_json else console.stdout_console(), "report", path
            )
