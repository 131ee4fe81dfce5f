"""Output of `overspill paper`: rows by figure, and the contents of a paper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from overspill.cli import table
from overspill.papers import row_names, row_words
from overspill.papers.claim_verdicts import decide_claim
from overspill.papers.paper_files import Paper, PaperFigure
from overspill.papers.paper_page import describe_totals
from overspill.papers.reproduce import Reproduction
from overspill.papers.row_counting import is_marked_later
from overspill.results import results_folder


def print_reproduction(found: Reproduction, console: Console) -> None:
    """Prints every figure's rows, the number reproduced, and the verdicts of claims."""
    if found.selection.part_description:
        console.print(Text(f"PART: {found.selection.part_description}", "bold"), soft_wrap=True)
    for line in found.warnings:
        console.print(Text(f"{line.label}: {line.text}", "bold red"), soft_wrap=True)
    for line in found.notes:
        console.print(Text(f"{line.label}: {line.text}"), soft_wrap=True)
    for figure in found.selection.figures:
        rows = [row for row in found.rows if row["figure"] == figure.id]
        if rows:
            console.print()
            console.print(Text(f"{figure.id}  {figure.title}", "bold"), soft_wrap=True)
            table.print_renderable(console, Text(figure.claim, "dim"), table.PIPED_LINE_WIDTH)
            table.print_full_width(console, rows_table(rows))
            print_notes(rows, console)
    if found.rows:
        console.print()
        console.print(Text(row_words.describe_score(found.score, found.rows), "bold"), soft_wrap=True)
        if found.selection.is_whole_paper and found.paper.claims and not found.left_out:
            decided = [decide_claim(claim, found.rows) for claim in found.paper.claims]
            console.print(Text(f"{len(decided)} claims: {describe_totals(decided)}", "bold"), soft_wrap=True)
        table.print_renderable(console, Text(row_words.LEGEND_TEXT, "dim"), table.PIPED_LINE_WIDTH)
    if found.rows_under_what_ifs:
        print_changed_verdicts(found, console)


def describe_checked_paper(found: Paper) -> str:
    """Returns a line about a valid paper: numbers of rows and claims, and claims that no row decides."""
    without = [one.id for one in found.claims if not one.patterns]
    text = f"{found.name}: {len(found.rows)} rows, {len(found.claims)} claims"
    if not found.claims:
        return f"{text}; there is no claims.toml"
    return f"{text}; no row decides {', '.join(without)}" if without else text


def rows_table(rows: Sequence[dict[str, Any]]) -> Table:
    """Returns the table of a figure's rows."""
    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold", show_edge=False)
    for head in row_words.COLUMN_HEADS:
        made.add_column(head, no_wrap=True, justify="right" if head in ("published", "measured") else "left")
    for row in rows:
        style = "dim" if is_marked_later(row) else row_words.VERDICT_STYLES[row["verdict"]]
        sign, _, verdict = row_words.format_verdict_with_former(row).partition(" ")
        cells = [
            row_names.format_case(row["case"]),
            row_names.format_metric(row["metric"]),
            row_words.format_value(row["published"], row["unit"]),
            row_words.format_measured(row),
        ]
        texts = [Text(one) for one in (*cells, row_words.format_tolerance(row))]
        made.add_row(
            Text(sign, style), *texts, Text(verdict, style), Text(row_words.format_basis(row), "dim")
        )
    return made


def print_notes(rows: Sequence[dict[str, Any]], console: Console) -> None:
    """Prints the notes below a figure's rows."""
    for row in rows:
        for note in row_words.row_notes(row):
            table.print_renderable(
                console, Text(f"  {row_names.format_row_name(row)}: {note}", "dim"), table.PIPED_LINE_WIDTH
            )


def print_changed_verdicts(found: Reproduction, console: Console) -> None:
    """Prints the verdicts that sensitivity runs change."""
    for one in found.selection.what_ifs:
        base = {(row["figure"], row["case"], row["metric"]): row for row in found.own_rows_for(one)}
        rows = found.rows_under_what_ifs[one.name]
        moved = [(base.get((row["figure"], row["case"], row["metric"])), row) for row in rows]
        other = [(old, new) for old, new in moved if old is not None and old["verdict"] != new["verdict"]]
        console.print()
        text = (
            f"sensitivity run: {one.title} ({', '.join(one.sets)}): {len(other)} of {len(rows)} verdicts "
            "change"
        )
        console.print(Text(text, "bold"), soft_wrap=True)
        for old, new in other:
            before, after = (
                f"{row_words.format_measured(one)} {row_words.format_verdict(one)}" for one in (old, new)
            )
            console.print(Text(f"  {row_names.format_row_name(new)}: {before} → {after}"), soft_wrap=True)


def describe_sweeps(figure: PaperFigure, later: int, rows: int) -> str:
    """Describes the sweeps that a figure depends on, and how many of its rows have no run."""
    if later == rows:
        return "no run"
    text = f"depends on {', '.join(figure.sweeps) or 'no runs'}"
    return f"{text}; {row_words.describe_rows_not_run(later)}" if later else text


def paper_contents(paper: Paper) -> dict[str, Any]:
    """Returns the contents of a paper as one JSON document: figures, sweeps and sensitivity runs."""
    rows = {name: paper.rows_of(name) for name in paper.figures}
    return {
        "name": paper.name,
        "title": paper.title,
        "cite": paper.cite,
        "figures": [
            {
                "id": one.id,
                "title": one.title,
                "rows": len(rows[one.id]),
                "not_run": sum(row.is_for_later for row in rows[one.id]),
                "sweeps": list(one.sweeps),
            }
            for one in paper.figures.values()
        ],
        "sweeps": [
            {"name": one.name, "scenario": one.scenario.name, "seeds": one.seeds, "over": list(one.over)}
            for one in paper.sweeps.values()
        ],
        "what_ifs": [
            {"name": one.name, "title": one.title, "sets": list(one.sets), "sweeps": list(one.sweeps)}
            for one in paper.what_ifs
        ],
    }


def print_contents(paper: Paper, console: Console) -> None:
    """Prints the contents of a paper."""
    console.print(Text(f"{paper.name}  {paper.title}", "bold"), soft_wrap=True)
    console.print(Text(paper.cite), soft_wrap=True)
    figures, sweeps, settings = (Table.grid(padding=(0, 2)) for _ in range(3))
    for figure in paper.figures.values():
        rows_of = paper.rows_of(figure.id)
        figures.add_row(
            f"  {figure.id}",
            f"{len(rows_of)} row{'' if len(rows_of) == 1 else 's'}",
            Text(figure.title),
            Text(describe_sweeps(figure, sum(row.is_for_later for row in rows_of), len(rows_of)), "dim"),
        )
    for sweep in paper.sweeps.values():
        axes = ", ".join(sweep.over) or "one point"
        sweeps.add_row(f"  {sweep.name}", sweep.scenario.name, f"{sweep.seeds} seeds", Text(axes))
    for one in paper.what_ifs:
        settings.add_row(
            f"  {one.name}",
            Text(one.title),
            Text(results_folder.shorten_path(", ".join(one.sets))),
            Text(", ".join(one.sweeps)),
        )
    for title, rows in (("figures", figures), ("sweeps", sweeps), ("sensitivity runs", settings)):
        if rows.row_count:
            console.print(Text(title, "bold"))
            table.print_renderable(console, rows)
