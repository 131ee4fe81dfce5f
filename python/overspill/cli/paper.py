"""Command `overspill paper`."""

import signal
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer
from rich.text import Text

from overspill.cli import console as commands
from overspill.cli.options import figures_asked
from overspill.errors import BadInput, Unwritable

if TYPE_CHECKING:
    from overspill.papers.data import Paper
    from overspill.papers.reproduce import Reproduced


def paper(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help=("Name of a paper (see `overspill list papers`)."))
    ],
    wanted: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FIGURE_OR_SWEEP]...",
            help="Only these figures, or all figures that depend on these sweeps (default: all figures).",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the rows as JSON, or the list with --list.")
    ] = False,
    out_dir: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Folder of the results (default: out/papers/NAME)."),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help=("Number of simultaneous runs (default: number of cores)."))
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Number of seeds of every sweep, for a quick look.")
    ] = None,
    what_if: Annotated[
        bool, typer.Option("--what-if", help="Also run with each open parameter of the paper changed alone.")
    ] = False,
    listed: Annotated[bool, typer.Option("--list", help="List figures and sweeps; run nothing.")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Check rows and claims of the paper; run nothing.")
    ] = False,
    report: Annotated[bool, typer.Option(help="Write page.html, README.md and the figures.")] = True,
    figures: Annotated[
        str | None,
        typer.Option("--figures", metavar="pdf", help="Also save figures as PDF, beside SVG and PNG."),
    ] = None,
    publish: Annotated[
        bool,
        typer.Option(
            "--publish",
            help="Also put rows, plotted data and README into the paper's folder; with figures, only theirs.",
        ),
    ] = False,
    redraw: Annotated[
        bool,
        typer.Option(
            "--redraw",
            help="Draw page, README and figures from published rows and plotted data; run nothing.",
        ),
    ] = False,
    papers: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder of the papers (default: $OVERSPILL_PAPERS, the repository, or the package).",
        ),
    ] = None,
) -> None:
    """Reproduce a paper: compare published with measured values; continue after an interruption.

    The exit status depends on the runs, not on the verdicts: 0 if every run was done; 1 if runs failed;
    3 if flows did not finish although they had to; 130, 143 or 129 if Ctrl-C, SIGTERM or SIGHUP stopped
    the command.
    """
    with commands.interruptible():
        from overspill.cli import paper_table as show
        from overspill.cli import watch as progress
        from overspill.papers import data
        from overspill.papers.reproduce import reproduce, select
        from overspill.results import store

        formats = figures_asked(figures, report)
        found = data.load(name, papers)
        if check:
            commands.out().print(Text(show.checked(found)), soft_wrap=True)
            return
        if listed:
            if as_json:
                commands.emit(store.dump(show.contents(found)))
            else:
                show.listed(found, commands.out())
            return
        out = Path("out") / "papers" / store.slug(name)
        if redraw:
            if wanted or seeds or jobs or what_if or as_json or not report:
                raise BadInput(
                    "--redraw: found figures, or an option of runs; expected --out, --figures or --publish"
                )
            draw_again(found, out_dir or out / "published", formats or (), publish)
            return
        asked = select(found, wanted or (), what_if, (out_dir or out, seeds))
        if publish:
            from overspill.papers import write

            write.check_publish(asked, report)
        if what_if and not asked.what_ifs:
            commands.err().print(
                f"{name}: --what-if has no effect, since no open parameter concerns these figures"
            )
        with progress.watch(commands.err()) as watch:
            made = reproduce(asked, watch, jobs)
        if as_json:
            commands.emit(store.dump(made.rows))
        else:
            show.show(made, commands.out())
        finish(made, (as_json, formats), publish)


def draw_again(paper: "Paper", out: Path, formats: Sequence[str], publish: bool) -> None:
    """Writes page, README and figures of the published rows, and prints their paths."""
    from overspill.papers import write

    if undrawn := ", ".join(write.undrawn(paper)):
        if publish:
            raise BadInput(
                f"--redraw --publish: found no plotted data of {undrawn}; expected those of a complete run"
            )
        commands.err().print(Text(f"{paper.name}: no plotted data of {undrawn}; the page omits them"))
    page = write.redraw(paper, out, formats)
    if write.is_stale(paper):
        text = (
            "rows.toml has changed since its rows were published; the page has the earlier tolerances "
            "and notes"
        )
        commands.err().print(Text(f"{paper.name}: {text}"), soft_wrap=True)
    commands.say(commands.out(), "page", page)
    if publish:
        commands.say(commands.out(), "published", write.publish(paper, out))


def finish(made: "Reproduced", how: tuple[bool, Sequence[str] | None], publish: bool) -> NoReturn:
    """Writes the files, prints paths and what is missing, and exits with the right status."""
    as_json, formats = how
    if made.signal == getattr(signal, "SIGHUP", None):
        commands.hush()
    console, left = commands.err() if as_json else commands.out(), status(made)
    if made.signal is not None:
        text = "no files were written, since the command was interrupted. Run the same command to continue"
        commands.err().print(Text(text), soft_wrap=True)
    else:
        from overspill.papers import write

        with commands.err().status("drawing the figures"):
            path = write.everything(made, formats)
        commands.say(console, "rows" if formats is None else "page", path)
        if publish and made.failed:
            raise Unwritable(f"{made.paper.folder}: not published, since runs failed")
        if publish:
            commands.say(console, "published", write.publish_made(made, formats or ()))
    if as_json:
        for line in made.warnings:
            commands.err().print(Text(f"{line.label}: {line.text}", "bold red"), soft_wrap=True)
        for line in made.notes:
            commands.err().print(Text(f"{line.label}: {line.text}"), soft_wrap=True)
    elif left and made.warnings:
        labels = " and ".join(dict.fromkeys(line.label for line in made.warnings))
        commands.err().print(Text(f"{labels}: exit status {left}", "bold red"), soft_wrap=True)
    raise typer.Exit(left)


def status(made: "Reproduced") -> int:
    """Returns the exit status, which depends on the runs and not on the verdicts."""
    if made.failed:
        return commands.FAILED
    if made.signal is not None:
        return commands.status_of(made.signal)
    return commands.UNFINISHED if made.unfinished else 0
