"""Command `overspill paper`."""

import signal
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer
from rich.text import Text

from overspill.cli import console as commands
from overspill.cli.options import requested_formats
from overspill.errors import BadInput, Unwritable

if TYPE_CHECKING:
    from overspill.papers.paper_files import Paper
    from overspill.papers.reproduce import Reproduction


def paper(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="Name of a paper (see `overspill list papers`); may be left out with --check: all papers.",
        ),
    ] = None,
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
        int | None, typer.Option(min=1, help="Number of seeds of every sweep, for a quick preview.")
    ] = None,
    what_if: Annotated[
        bool,
        typer.Option(
            "--what-if",
            help="Also run the sensitivity runs, in which one open parameter of the paper changes at a time.",
        ),
    ] = False,
    listed: Annotated[
        bool, typer.Option("--list", help="List figures and sweeps, without simulations.")
    ] = False,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Check rows and claims of the paper, also against its published rows, without simulations.",
        ),
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
            help="Also write rows, plotted data and README into the folder of the paper; with --figures, "
            "only those of the figures.",
        ),
    ] = False,
    redraw: Annotated[
        bool,
        typer.Option(
            "--redraw",
            help="Draw page, README and figures from published rows and plotted data, without simulations.",
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
    with commands.exit_on_signal():
        from overspill.cli import paper_table as show
        from overspill.cli import sweep_progress as progress
        from overspill.papers.reproduce import reproduce_selection, select_part
        from overspill.results import results_folder

        formats = requested_formats(figures, report)
        if check:
            for line in check_papers(name, papers):
                commands.stdout_console().print(Text(line), soft_wrap=True)
            return
        found = load_named_paper(name, papers)
        if listed:
            if as_json:
                commands.print_document(results_folder.dump_json(show.paper_contents(found)))
            else:
                show.print_contents(found, commands.stdout_console())
            return
        out = Path("out") / "papers" / results_folder.path_component(found.name)
        if redraw:
            if wanted or seeds or jobs or what_if or as_json or not report:
                raise BadInput(
                    "--redraw: found a figure, --seeds, --jobs, --what-if, --json or --no-report; "
                    "expected only --out, --figures or --publish, because --redraw draws all figures"
                )
            redraw_published(found, out_dir or out / "published", formats or (), publish)
            return
        asked = select_part(found, wanted or (), what_if, (out_dir or out, seeds))
        if publish:
            from overspill.papers import write_paper

            write_paper.check_publish(asked, report)
        if what_if and not asked.what_ifs:
            commands.stderr_console().print(
                f"{found.name}: --what-if has no effect, since no open parameter concerns these figures"
            )
        with progress.select_listener(commands.stderr_console()) as watch:
            made = reproduce_selection(asked, watch, jobs)
        if as_json:
            commands.print_document(results_folder.dump_json(made.rows))
        else:
            show.print_reproduction(made, commands.stdout_console())
        write_and_exit(made, (as_json, formats), publish)


def load_named_paper(name: str | None, folder: Path | None) -> "Paper":
    """Loads the paper of this name; raises `BadInput` without a name."""
    from overspill.papers import paper_files

    if name is None:
        raise BadInput("NAME: found nothing; expected the name of a paper (see `overspill list papers`)")
    return paper_files.load_paper(name, folder)


def check_papers(name: str | None, folder: Path | None) -> list[str]:
    """Returns a line about the paper of this name, or about each one without a name.

    Raises `BadInput` with the errors of all of them.
    """
    from overspill.cli import paper_table as show
    from overspill.papers import changed_rows, paper_files

    names = [name] if name else paper_files.paper_names(folder)
    lines, wrong = [], list[str]() if names else [paper_files.describe_absence(folder)]
    for each in names:
        try:
            found = paper_files.load_paper(each, folder)
            changed_rows.check_unmarked_changes(found)
            lines.append(show.describe_checked_paper(found))
        except BadInput as error:
            wrong += error.lines
    if wrong:
        raise BadInput(wrong)
    return lines


def redraw_published(paper: "Paper", out: Path, formats: Sequence[str], publish: bool) -> None:
    """Writes page, README and figures from the rows published in the repository, and prints their paths."""
    from overspill.papers import write_paper

    if undrawn := ", ".join(write_paper.undrawn_figures(paper)):
        if publish:
            raise BadInput(
                f"--redraw --publish: found no plotted data of {undrawn}; expected those of a complete run"
            )
        commands.stderr_console().print(
            Text(f"{paper.name}: no plotted data of {undrawn}; the page omits them")
        )
    page = write_paper.redraw_published(paper, out, formats)
    if write_paper.is_stale(paper):
        text = (
            "rows.toml has changed since its rows were published; the page has the earlier tolerances "
            "and notes"
        )
        commands.stderr_console().print(Text(f"{paper.name}: {text}"), soft_wrap=True)
    commands.print_path(commands.stdout_console(), "page", page)
    if publish:
        commands.print_path(commands.stdout_console(), "published", write_paper.publish_files(paper, out))


def write_and_exit(made: "Reproduction", how: tuple[bool, Sequence[str] | None], publish: bool) -> NoReturn:
    """Writes the files, prints their paths and warnings, and exits with the status of the runs."""
    as_json, formats = how
    if made.signal == getattr(signal, "SIGHUP", None):
        commands.discard_stdout()
    console, left = commands.stderr_console() if as_json else commands.stdout_console(), exit_status(made)
    if made.signal is not None:
        text = "no files were written, since the command was interrupted. Run the same command to continue"
        commands.stderr_console().print(Text(text), soft_wrap=True)
    else:
        from overspill.papers import write_paper

        with commands.stderr_console().status("drawing the figures"):
            path = write_paper.write_reproduction(made, formats)
        commands.print_path(console, "rows" if formats is None else "page", path)
        if publish and made.failed:
            raise Unwritable(f"{made.paper.folder}: not published, since runs failed")
        if publish:
            commands.print_path(console, "published", write_paper.publish_reproduction(made, formats or ()))
    if as_json:
        for line in made.warnings:
            commands.stderr_console().print(Text(f"{line.label}: {line.text}", "bold red"), soft_wrap=True)
        for line in made.notes:
            commands.stderr_console().print(Text(f"{line.label}: {line.text}"), soft_wrap=True)
    elif left and made.warnings:
        labels = " and ".join(dict.fromkeys(line.label for line in made.warnings))
        commands.stderr_console().print(Text(f"{labels}: exit status {left}", "bold red"), soft_wrap=True)
    raise typer.Exit(left)


def exit_status(made: "Reproduction") -> int:
    """Returns the exit status, which depends on the runs and not on the verdicts."""
    if made.failed:
        return commands.EXIT_FAILED
    if made.signal is not None:
        return commands.exit_status_of_signal(made.signal)
    return commands.EXIT_UNFINISHED if made.unfinished else 0
