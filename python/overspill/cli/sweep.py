"""Command `overspill sweep`."""

from pathlib import Path
from typing import Annotated

import typer

from overspill.cli import console
from overspill.cli.console import split_names
from overspill.cli.options import Figures, FirstSeed, MaxEvents, Scenario, Variants, requested_formats
from overspill.cli.run_end import write_report_and_exit


def sweep(
    scenario: Scenario,
    over: Annotated[
        list[str],
        typer.Option(
            "--over",
            metavar="PATH=VALUES",
            help=(
                "Field and its values: a,b,c or 10KB..50KB:10KB or lin(1,5,9) or log(1KB,1MB,4); may be "
                "repeated, for a grid."
            ),
        ),
    ],
    zips: Annotated[
        list[str] | None,
        typer.Option(
            "--zip",
            metavar="PATH,PATH",
            help="Fields whose values change together, point by point, instead of in all combinations.",
        ),
    ] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="Change a setting at every point; may be repeated."),
    ] = None,
    seed: FirstSeed = None,
    seeds: Annotated[int, typer.Option(min=1, help="Number of seeds.")] = 10,
    variants: Variants = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Metric to print; may be repeated. The files of the results have all metrics.",
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Print every metric.")] = False,
    baseline: Annotated[
        str | None,
        typer.Option(metavar="VARIANT", help="Variant from which differences are computed (default: first)."),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help=("Number of simultaneous runs (default: number of cores)."))
    ] = None,
    on: Annotated[
        str | None,
        typer.Option(metavar="SCHEDULER", help="Run on a Dask cluster: tcp://host:8786, or local:N."),
    ] = None,
    out_dir: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Folder of the results (default: out/NAME-sweep)."),
    ] = None,
    tables: Annotated[
        str | None, typer.Option(metavar="A,B", help="Also keep these tables of each run, such as flows.")
    ] = None,
    max_events: MaxEvents = None,
    as_json: Annotated[
        bool, typer.Option("--json", help=("Print one JSON document instead of the table."))
    ] = False,
    report: Annotated[bool, typer.Option(help="Write report.html.")] = True,
    figures: Figures = None,
) -> None:
    """Run a scenario at every point of a grid; continue after an interruption."""
    with console.exit_on_signal():
        from overspill.cli import sweep_progress as progress
        from overspill.cli import sweep_table as show
        from overspill.engine.options import Options
        from overspill.engine.run import execute
        from overspill.results import results_folder

        formats = requested_formats(figures, report)
        with progress.select_listener(console.stderr_console()) as watch:
            options = Options(
                over=over,
                zips=zips or (),
                sets=sets or (),
                seed=seed,
                seeds=seeds,
                variants=split_names(variants),
                max_events=max_events,
                baseline=baseline,
                metrics=metric or (),
                tables=split_names(tables) or (),
                jobs=jobs,
                on=on,
                out=out_dir or (lambda name: Path("out") / f"{results_folder.path_component(name)}-sweep"),
                listener=watch,
                sweep=True,
            )
            found = execute(scenario, options)
        if as_json:
            console.print_document(results_folder.dump_json(found.document()))
        elif found.finished:
            show.print_sweep(found, found.metric_names if every else metric or (), console.stdout_console())
        write_report_and_exit(found, formats, as_json, scenario)
