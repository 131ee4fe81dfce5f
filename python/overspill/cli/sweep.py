"""The command `overspill sweep`."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer
from rich.text import Text

from overspill.cli import commands

if TYPE_CHECKING:
    from overspill.results.sweep import Sweep


def names(given: str | None) -> list[str] | None:
    """The names between commas."""
    return None if given is None else [one.strip() for one in given.split(",") if one.strip()]


def sweep(
    scenario: Annotated[str, typer.Argument(help="A scenario file (TOML).")],
    over: Annotated[
        list[str],
        typer.Option(
            "--over",
            metavar="PATH=VALUES",
            help="A field and its values: a,b,c or 10KB..50KB:10KB or lin(1,5,9) or log(1KB,1MB,4); may be "
            "repeated, for a grid.",
        ),
    ],
    zips: Annotated[
        list[str] | None,
        typer.Option("--zip", metavar="PATH,PATH", help="Axes that move together, not crossed."),
    ] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="Change a setting at every point; may be repeated."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="The first seed, instead of the scenario's.")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds.")] = 10,
    variants: Annotated[
        str | None, typer.Option(metavar="A,B", help="Only these variants (default: all).")
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A metric to print; may be repeated. The files have all."),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Print every metric.")] = False,
    jobs: Annotated[int | None, typer.Option(min=1, help="Runs at a time (default: all cores).")] = None,
    on: Annotated[
        str | None,
        typer.Option(metavar="SCHEDULER", help="Run on a Dask cluster: tcp://host:8786, or local:N."),
    ] = None,
    out_dir: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Folder of the results (default: out/NAME-sweep)."),
    ] = None,
    tables: Annotated[
        str | None, typer.Option(metavar="A,B", help="Tables of each run to keep as well, such as flows.")
    ] = None,
    max_events: Annotated[
        int | None, typer.Option(min=1, help="Cut each run after so many events; the result is partial.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document, not the table.")] = False,
    report: Annotated[bool, typer.Option(help="Write report.html.")] = True,
    figures: commands.Figures = None,
) -> None:
    """Run a scenario at every point of a grid; goes on where it was stopped."""
    with commands.interruptible():
        from overspill.cli import sweep_table as show
        from overspill.engine import watch as progress
        from overspill.engine.sweep import Options, execute
        from overspill.results import store

        show.check(metric or ())
        formats = commands.figures_asked(figures, report)
        with progress.watch(commands.err()) as watch:
            options = Options(
                over,
                zips or (),
                sets or (),
                seed,
                seeds,
                names(variants),
                max_events,
                names(tables) or (),
                jobs,
                on,
                out_dir or (lambda name: Path("out") / f"{store.slug(name)}-sweep"),
                watch,
            )
            found = execute(scenario, options)
        if as_json:
            commands.emit(store.dump(found.document()))
        elif found.finished:
            show.show(found, found.metrics if every else metric or (), commands.out())
        finish(found, as_json, formats)


def finish(sweep: "Sweep", as_json: bool, formats: Sequence[str] | None) -> NoReturn:
    """Write the report, say where the results are and what is missing, and leave with the right status.

    `formats` are those of the report's figures; `None` writes no report.
    """
    from overspill.cli import sweep_table as show

    if not sweep.finished:
        commands.err().print("interrupted before the first run was finished; nothing is kept")
        raise typer.Exit(commands.INTERRUPTED)
    assert sweep.folder is not None
    console = commands.err() if as_json else commands.out()
    commands.say(console, "results", sweep.folder)
    if formats is not None and sweep.interrupted:
        text = f"no report: interrupted; overspill report {sweep.folder} draws one"
        commands.err().print(Text(text), soft_wrap=True)
    elif formats is not None:
        from overspill.report import sweep as sweepreport

        with commands.err().status("drawing the report"):
            path = sweepreport.write(sweep, sweep.folder, formats)
        commands.say(console, "report", path)
    left, loud = status(sweep), show.warnings(sweep)
    if as_json:
        told(f"{line.label}: {line.text}" for line in loud)
    elif left:
        labels = " and ".join(dict.fromkeys(line.label for line in loud))
        told([f"{labels}: exit status {left}"])
    raise typer.Exit(left)


def told(lines: Iterable[str]) -> None:
    """Lines on stderr, loud."""
    for line in lines:
        commands.err().print(Text(line, "bold red"), soft_wrap=True)


def status(sweep: "Sweep") -> int:
    """The exit status of a sweep."""
    if sweep.failures:
        return commands.FAILED
    if sweep.interrupted:
        return commands.INTERRUPTED
    return commands.UNFINISHED if sweep.partial or sweep.unfinished or sweep.stuck else 0


def register(app: typer.Typer) -> None:
    """Put the command beside the others, once."""
    if not any(one.name == "sweep" for one in app.registered_commands):
        app.command("sweep")(sweep)
