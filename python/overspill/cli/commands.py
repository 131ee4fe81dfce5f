"""Commands of `overspill`."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from overspill.cli import explain, import_config, new, paper, sweep, trace
from overspill.cli.console import (
    exit_on_signal,
    print_document,
    print_path,
    split_names,
    stderr_console,
    stdout_console,
)
from overspill.cli.options import (
    EveryMetric,
    Figures,
    FirstSeed,
    MaxEvents,
    Scenario,
    Variants,
    requested_formats,
    single_name,
)
from overspill.cli.run_end import write_report_and_exit
from overspill.errors import escape_unprintable

DEMO, DEMO_SEEDS = "incast", 5

# Each command imports its modules only when it runs, so that `--help` need not load them.

app = typer.Typer(
    help="What should a switch do when its buffer overflows? A packet-level data-center network simulator.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def show_version(asked: bool) -> None:
    """Prints the version and exits."""
    if asked:
        from overspill.engine import core

        typer.echo(f"overspill {core.version()}")
        raise typer.Exit


@app.callback()
def declare_global_options(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Declares the options of `overspill` that come before a command."""


@app.command()
def run(
    scenario: Scenario,
    sets: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="PATH=VALUE", help="Change a setting in every variant; may be repeated."
        ),
    ] = None,
    seed: FirstSeed = None,
    seeds: Annotated[int, typer.Option(min=1, help="Number of seeds.")] = 1,
    variants: Variants = None,
    out_dir: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Folder for the results (default: out/NAME).")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help=("Print one JSON document instead of the table."))
    ] = False,
    max_events: MaxEvents = None,
    every: EveryMetric = False,
    jobs: Annotated[
        int | None, typer.Option(min=1, help=("Number of simultaneous runs (default: number of cores)."))
    ] = None,
    pcap: Annotated[
        list[str] | None,
        typer.Option(
            "--pcap",
            metavar="LINK|HOST",
            help="Capture the frames on a link (a:b, or the link of a host) as pcapng; may be repeated.",
        ),
    ] = None,
    pcap_snaplen: Annotated[
        int | None,
        typer.Option(
            "--pcap-snaplen",
            metavar="BYTES",
            help=("Maximum number of bytes to keep of each captured frame."),
        ),
    ] = None,
    check_phase: Annotated[
        bool,
        typer.Option(
            "--check-phase",
            help=(
                "Repeat all runs with each start moved by less than the time of a frame, and list the "
                "metrics that change."
            ),
        ),
    ] = False,
    report: Annotated[bool, typer.Option(help="Write report.html.")] = True,
    figures: Figures = None,
) -> None:
    """Run a scenario with all its variants; continue after an interruption."""
    with exit_on_signal():
        formats = requested_formats(figures, report)
        from overspill.cli import progress, table
        from overspill.engine.options import Options
        from overspill.engine.run import execute
        from overspill.results import results_folder

        with progress.select_listener(stderr_console()) as listener:
            place = out_dir or (lambda name: Path("out") / results_folder.path_component(name))
            options = Options(
                sets=sets or (),
                seed=seed,
                seeds=seeds,
                variants=split_names(variants),
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
            print_document(results_folder.dump_json(results.document()))
        elif results.finished:
            table.print_results(results, stdout_console(), every)
        write_report_and_exit(results, formats, as_json, scenario)


@app.command()
def demo(
    example: Annotated[
        str, typer.Argument(metavar="[EXAMPLE]", help="Example scenario, as in `overspill list examples`.")
    ] = DEMO,
    seeds: Annotated[int, typer.Option(min=1, help="Number of seeds.")] = DEMO_SEEDS,
    out_dir: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Folder for the results (default: out/NAME).")
    ] = None,
    every: EveryMetric = False,
    show: Annotated[bool, typer.Option("--print", help="Print the scenario file instead.")] = False,
) -> None:
    """Run an example scenario: by default a burst into one host (incast)."""
    with exit_on_signal():
        from overspill import shipped_files

        path = shipped_files.find_example(example)
        if show:
            typer.echo(path.read_text(encoding="utf-8"), nl=False)
            return
    run(str(path), seeds=seeds, out_dir=out_dir, every=every)


@app.command("report")
def report_command(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Results folder of `overspill run` or `overspill sweep`.")
    ],
    figures: Figures = None,
) -> None:
    """Write report.html from results, and figures in the requested formats."""
    with exit_on_signal():
        formats = requested_formats(figures, True) or ()
        from overspill.report import write_report_of_folder

        with stderr_console().status("drawing the report"):
            path = write_report_of_folder(folder, formats)
        print_path(stdout_console(), "report", path)


@app.command("export")
def export_command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Results folder of `overspill run`.")],
    form: Annotated[
        str, typer.Option("--format", help='hpcc (fct.txt) or csv (flows for `kind = "trace"`).')
    ],
    out_path: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE_OR_DIR", help=("File or folder to write (default: DIR/export).")),
    ] = None,
    variant: Variants = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Only this seed (default: all seeds).")] = None,
) -> None:
    """Write the flows of results in the format of another tool."""
    from overspill.results import export

    with exit_on_signal():
        for written in export.write(
            export.load(folder),
            form,
            out_path or folder / "export",
            (single_name(split_names(variant)), seed),
        ):
            print_path(stdout_console(), "written", written.path)
            if written.unfinished:
                left_out = f"{written.path}: {written.unfinished} unfinished flows are left out"
                stderr_console().print(Text(escape_unprintable(left_out)), soft_wrap=True)


@app.command("list")
def list_command(
    which: Annotated[
        str | None,
        typer.Argument(metavar="[mechanisms|topologies|transports|traffic|sizes|metrics|papers|examples]"),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help=("Print one JSON document instead of the lists."))
    ] = False,
) -> None:
    """List the names that a scenario may use, the metrics, the papers and the example scenarios."""
    from overspill.cli import catalogue, table

    if as_json:
        from overspill.results import results_folder

        print_document(
            results_folder.dump_json(catalogue.list_as_document(catalogue.select_categories(which)))
        )
        return
    console = stdout_console()
    for category in catalogue.select_categories(which):
        table.print_groups(catalogue.list_entries(category), console)


@app.command("schema")
def schema_command() -> None:
    """Print the JSON Schema of a scenario."""
    from overspill.engine import core

    print_document(core.schema())


app.command(cls=new.SlotCommand)(new.new)
for command in (explain.explain, sweep.sweep, paper.paper, trace.trace):
    app.command()(command)
app.add_typer(import_config.import_app, name="import")
