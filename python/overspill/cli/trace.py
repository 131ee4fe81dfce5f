"""Command `overspill trace`."""

from pathlib import Path
from typing import Annotated

import typer

from overspill.cli import console
from overspill.cli.options import Figures, Variant, figures_asked, single


def trace(
    scenario: Annotated[str, typer.Argument(help="Scenario file (TOML).")],
    packet: Annotated[
        str,
        typer.Option(
            metavar="PACKET",
            help=(
                "most_detoured, most_bounced, first_trimmed, first_held, first_cnm, or flow=F,n=N: "
                "packet n of the sender of flow F, from 0; with ,reverse of its receiver."
            ),
        ),
    ],
    variant: Variant = None,
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="Change a setting; may be repeated."),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed (default: that of the scenario).")] = None,
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
    with console.interruptible():
        from overspill.cli import progress
        from overspill.cli import trace_table as show
        from overspill.results import store
        from overspill.tracing import write
        from overspill.tracing.run import Options, execute

        formats = figures_asked(figures, report)
        if report and out_dir is not None:
            write.check(out_dir)
        with progress.listener(console.err()) as listener:
            chosen = single(console.names(variant))
            traced = execute(scenario, Options(packet, chosen, seed, sets or (), at, listener))
        if as_json:
            console.emit(store.dump(traced.document()))
        else:
            show.show(traced, console.out())
        if formats is not None:
            folder = out_dir or Path("out") / f"{store.slug(traced.facts['scenario'])}-trace"
            write.check(folder)
            with console.err().status("drawing the trace"):
                path = write.write(traced, folder, formats)
            console.say(console.err() if as_json else console.out(), "report", path)
