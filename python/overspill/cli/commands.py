"""The commands of `overspill`."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from overspill.cli import explain, paper, sweep, trace
from overspill.cli.console import emit, err, interruptible, names, out, say
from overspill.cli.finish import finish
from overspill.cli.options import Figures, FirstSeed, MaxEvents, Variants, figures_asked, single
from overspill.errors import plain

# What a command needs is imported where it is used: `--help` needs none of it.

app = typer.Typer(
    help="What should a switch do when its buffer overflows? A packet-level data-center network simulator.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def show_version(asked: bool) -> None:
    """Print the version and leave."""
    if asked:
        from overspill.engine import core

        typer.echo(f"overspill {core.version()}")
        raise typer.Exit


@app.callback()
def overspill(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """What should a switch do when its buffer overflows?"""


@app.command()
def run(
    scenario: Annotated[str, typer.Argument(help="A scenario file (TOML).")],
    sets: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="PATH=VALUE", help="Change a setting in every variant; may be repeated."
        ),
    ] = None,
    seed: FirstSeed = None,
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds.")] = 1,
    variants: Variants = None,
    out_dir: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Folder of the results (default: out/NAME).")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document, not the table.")] = False,
    max_events: MaxEvents = None,
    every: Annotated[
        bool,
        typer.Option("--all", help="Print all metrics that are not 0 in every run, not those that say most."),
    ] = False,
    jobs: Annotated[int | None, typer.Option(min=1, help="Runs at a time (default: all cores).")] = None,
    pcap: Annotated[
        list[str] | None,
        typer.Option(
            "--pcap",
            metavar="LINK|HOST",
            help="Capture what crosses a link (a:b, or a host's) as pcapng; may be repeated.",
        ),
    ] = None,
    pcap_snaplen: Annotated[
        int | None,
        typer.Option("--pcap-snaplen", metavar="BYTES", help="Keep at most so much of each captured frame."),
    ] = None,
    check_phase: Annotated[
        bool,
        typer.Option(
            "--check-phase",
            help="Run all again with starts moved by less than a frame's time, and name what this moves.",
        ),
    ] = False,
    report: Annotated[bool, typer.Option(help="Write report.html.")] = True,
    figures: Figures = None,
) -> None:
    """Run a scenario: every variant side by side; goes on where it was stopped."""
    with interruptible():
        formats = figures_asked(figures, report)
        from overspill.cli import progress, table
        from overspill.engine.options import Options
        from overspill.engine.run import execute
        from overspill.results import store

        with progress.listener(err()) as listener:
            place = out_dir or (lambda name: Path("out") / store.slug(name))
            options = Options(
                sets=sets or (),
                seed=seed,
                seeds=seeds,
                variants=names(variants),
                max_events=max_events,
                jobs=jobs,
                out=place,
                listener=listener,
                pcap=pcap or (),
                pcap_snaplen=pcap_snaplen,
                check_phase=check_phase,
            )
            results = execute(scenario, options)
        if as_json:
            emit(store.dump(results.document()))
        elif results.finished:
            table.show(results, out(), every)
        finish(results, formats, as_json, scenario)


@app.command("report")
def report_command(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A folder that `overspill run` or `overspill sweep` wrote.")
    ],
    figures: Figures = None,
) -> None:
    """Write report.html, and figures in the formats asked for, from results."""
    with interruptible():
        formats = figures_asked(figures, True) or ()
        from overspill.report import of_folder

        with err().status("drawing the report"):
            path = of_folder(folder, formats)
        say(out(), "report", path)


@app.command("export")
def export_command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that `overspill run` wrote.")],
    form: Annotated[
        str, typer.Option("--format", help='hpcc (fct.txt) or csv (flows that `kind = "trace"` reads).')
    ],
    out_path: Annotated[
        Path | None, typer.Option("--out", metavar="FILE_OR_DIR", help="Where to (default: DIR/export).")
    ] = None,
    variant: Variants = None,
    seed: Annotated[int | None, typer.Option(min=0, help="This seed only.")] = None,
) -> None:
    """Write the flows of results in a format of other tools."""
    from overspill.results import export

    with interruptible():
        for written in export.write(
            export.load(folder), form, out_path or folder / "export", (single(names(variant)), seed)
        ):
            say(out(), "written", written.path)
            if written.unfinished:
                left_out = f"{written.path}: {written.unfinished} unfinished flows are left out"
                err().print(Text(plain(left_out)), soft_wrap=True)


@app.command("list")
def list_command(
    which: Annotated[
        str | None, typer.Argument(metavar="[mechanisms|topologies|transports|traffic|sizes|metrics|papers]")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document, not the lists.")] = False,
) -> None:
    """List what a scenario may name, the metrics, and the papers."""
    from overspill.cli import catalogue, table

    if as_json:
        from overspill.results import store

        emit(store.dump(catalogue.listed(catalogue.select_categories(which))))
        return
    console = out()
    for category in catalogue.select_categories(which):
        groups: dict[str, Table] = {}
        for group, name, doc in catalogue.entries(category):
            grid = groups.setdefault(group, Table.grid(padding=(0, 2)))
            if not grid.columns:
                grid.add_column(no_wrap=True)
                grid.add_column(overflow="fold")
            grid.add_row(Text(f"  {name}"), Text(doc))
        for group, grid in groups.items():
            console.print(Text(group, "bold"))
            table.put(console, grid)


@app.command()
def schema() -> None:
    """Print the JSON Schema of a scenario."""
    from overspill.engine import core

    emit(core.schema())


for command in (explain.explain, sweep.sweep, paper.paper, trace.trace):
    app.command()(command)
