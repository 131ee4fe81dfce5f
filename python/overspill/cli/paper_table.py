"""Output of `overspill paper`: rows by figure, and the contents of a paper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from overspill.cli import table
from overspill.papers import words
from overspill.papers.claim_verdicts import decide
from overspill.papers.counting import is_later
from overspill.papers.data import Paper, Shown
from overspill.papers.paper_page import totals
from overspill.papers.reproduce import Reproduced
from overspill.results import store


def show(found: Reproduced, console: Console) -> None:
    """Prints every figure's rows, the number reproduced, and the verdicts of claims."""
    if found.asked.part:
        console.print(Text(f"PART: {found.asked.part}", "bold"), soft_wrap=True)
    for line in found.warnings:
        console.print(Text(f"{line.label}: {line.text}", "bold red"), soft_wrap=True)
    for line in found.notes:
        console.print(Text(f"{line.label}: {line.text}"), soft_wrap=True)
    for figure in found.asked.figures:
        rows = [row for row in found.rows if row["figure"] == figure.id]
        if rows:
            console.print()
            console.print(Text(f"{figure.id}  {figure.title}", "bold"), soft_wrap=True)
            table.put(console, Text(figure.claim, "dim"), table.LINE)
            table.whole(console, grid(rows))
            print_notes(rows, console)
    if found.rows:
        console.print()
        console.print(Text(words.score(found.score, found.rows), "bold"), soft_wrap=True)
        if found.asked.whole and found.paper.claims and not found.left_out:
            decided = [decide(claim, found.rows) for claim in found.paper.claims]
            console.print(Text(f"{len(decided)} claims: {totals(decided)}", "bold"), soft_wrap=True)
        table.put(console, Text(words.LEGEND, "dim"), table.LINE)
    if found.changed:
        told_changes(found, console)


def checked(found: Paper) -> str:
    """Returns a line about a valid paper: numbers of rows and claims, and claims that no row decides."""
    without = [one.id for one in found.claims if not one.patterns]
    text = f"{found.name}: {len(found.rows)} rows, {len(found.claims)} claims"
    if not found.claims:
        return f"{text}; there is no claims.toml"
    return f"{text}; no row decides {', '.join(without)}" if without else text


def grid(rows: Sequence[dict[str, Any]]) -> Table:
    """Returns the table of a figure's rows."""
    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold", show_edge=False)
    for head in words.HEADS:
        made.add_column(head, no_wrap=True, justify="right" if head in ("published", "measured") else "left")
    for row in rows:
        style = "dim" if is_later(row) else words.STYLES[row["verdict"]]
        sign, _, verdict = words.with_former(row).partition(" ")
        cells = [row["case"], row["metric"], words.value(row["published"], row["unit"]), words.measured(row)]
        texts = [Text(one) for one in (*cells, words.tolerance(row))]
        made.add_row(Text(sign, style), *texts, Text(verdict, style), Text(words.basis(row), "dim"))
    return made


def print_notes(rows: Sequence[dict[str, Any]], console: Console) -> None:
    """Prints the notes below a figure's rows."""
    for row in rows:
        for note in words.notes(row):
            table.put(console, Text(f"  {row['case']}, {row['metric']}: {note}", "dim"), table.LINE)


def told_changes(found: Reproduced, console: Console) -> None:
    """Prints the verdicts that sensitivity runs change."""
    for one in found.asked.what_ifs:
        base = {(row["figure"], row["case"], row["metric"]): row for row in found.beside(one)}
        rows = found.changed[one.name]
        moved = [(base.get((row["figure"], row["case"], row["metric"])), row) for row in rows]
        other = [(old, new) for old, new in moved if old is not None and old["verdict"] != new["verdict"]]
        console.print()
        text = (
            f"sensitivity run: {one.title} ({', '.join(one.sets)}): {len(other)} of {len(rows)} verdicts "
            "change"
        )
        console.print(Text(text, "bold"), soft_wrap=True)
        for old, new in other:
            name = f"{new['figure']}, {new['case']}, {new['metric']}"
            told_one = (
                f"{words.measured(old)} {words.verdict(old)} → {words.measured(new)} {words.verdict(new)}"
            )
            console.print(Text(f"  {name}: {told_one}"), soft_wrap=True)


def rests(figure: Shown, later: int, rows: int) -> str:
    """Describes the sweeps of a figure, and the rows that have no run."""
    if later == rows:
        return "no run"
    text = f"depends on {', '.join(figure.sweeps) or 'no runs'}"
    return f"{text}; {words.not_run(later)}" if later else text


def contents(paper: Paper) -> dict[str, Any]:
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
                "not_run": sum(row.later for row in rows[one.id]),
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


def listed(paper: Paper, console: Console) -> None:
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
            Text(rests(figure, sum(row.later for row in rows_of), len(rows_of)), "dim"),
        )
    for sweep in paper.sweeps.values():
        axes = ", ".join(sweep.over) or "one point"
        sweeps.add_row(f"  {sweep.name}", sweep.scenario.name, f"{sweep.seeds} seeds", Text(axes))
    for one in paper.what_ifs:
        settings.add_row(
            f"  {one.name}",
            Text(one.title),
            Text(store.shortened(", ".join(one.sets))),
            Text(", ".join(one.sweeps)),
        )
    for title, rows in (("figures", figures), ("sweeps", sweeps), ("sensitivity runs", settings)):
        if rows.row_count:
            console.print(Text(title, "bold"))
            table.put(console, rows)
