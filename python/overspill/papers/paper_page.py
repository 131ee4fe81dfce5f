"""Page of a paper as Markdown, and its record of revisions, from its rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from overspill.papers import claims_page, counting, words
from overspill.papers.claim_verdicts import (
    CLAIM_VERDICTS,
    IN_PART,
    NOT_REPRODUCED,
    Decided,
    decide,
    settings_of,
    verdict_of,
    worst_first,
)
from overspill.papers.counting import COUNTS, Shown, is_later
from overspill.papers.data import Paper
from overspill.papers.verdicts import FAILS, HOLDS
from overspill.papers.words import escaped, line

IMAGES = "images"  # folder of the figures on the page
MOST_ASSUMPTIONS = 10
COUNTED_AS = {
    counting.YES: "rows that count",
    counting.REPEAT: "repeats of another row with other traffic, sizes or ties",
    counting.REVISED: "added after a first run, or with another measure or tolerance since then",
    counting.ANECDOTE: "with a wide tolerance, which count only if they are missed",
    counting.UNPUBLISHED: "given to the runs, or following from the paper without being stated there",
}


def readme(
    paper: Paper, document: Mapping[str, Any], changed: Mapping[str, Any] | None, drawn: Sequence[str]
) -> str:
    """Returns the page: claims, assumptions, what is not reproduced, up to three figures, and commands."""
    rows, settings = document["rows"], settings_of(changed)
    found = [decide(claim, rows) for claim in paper.claims]
    parts = [f"# {paper.title}", "", paper.cite, ""]
    if warnings := [f"- **{escaped(one)}**" for one in by_label(document["warnings"])]:
        parts += [*warnings, ""]
    if document["part"]:
        parts += [f"**Part of the paper: {document['part']}.**", ""]
    elif found:
        parts += [f"Of {len(found)} claims: {totals(found)}. {claims_page.RULE}", ""]
        parts += [claims_page.table(found, rows, settings), ""]
    if paper.assumptions:
        first = paper.assumptions[:MOST_ASSUMPTIONS]
        parts += ["## Assumptions", "", *(f"- {escaped(one)}" for one in first), ""]
        if len(first) < len(paper.assumptions):
            parts += ["Further assumptions are in [paper.toml](paper.toml).", ""]
    if why := [*reasons(found), *other_reasons(paper, rows)]:
        parts += ["## Not reproduced, with reasons", "", *why, ""]
    if paper.studies:
        links = [f"- [{escaped(one.says)}](../../studies/{one.name}/README.md)" for one in paper.studies]
        parts += ["## Related studies", "", *links, ""]
    if changed is not None:
        told = [f"- `{one['name']}`: {escaped(one['title'])}" for one in changed["settings"]]
        parts += ["## Open parameters, changed one at a time", "", *told, ""]
    for name in (one for one in paper.on_page if one in drawn):
        figure = paper.figures[name]
        parts += [f"## {figure.id}: {figure.title}", "", f"The paper: {escaped(figure.claim)}", ""]
        parts += [f"![{escaped(figure.title)}](images/{figure.id}.png)", ""]
    return "\n".join([*parts, *describe_commands(paper, document)]).rstrip("\n") + "\n"


def by_label(warnings: Sequence[str]) -> list[str]:
    """Returns one line per kind of warning: its text, or for several the names of the places."""
    found: dict[str, list[str]] = {}
    for one in warnings:
        label, _, text = one.partition(": ")
        found.setdefault(label, []).append(text)
    return [
        f"{label}: {texts[0]}"
        if len(texts) == 1
        else f"{label}: {', '.join(dict.fromkeys(text.partition(': ')[0] for text in texts))}; see rows.json"
        for label, texts in found.items()
    ]


def totals(found: Sequence[Decided]) -> str:
    """Describes the number of claims with each verdict."""
    counted = Counter(one.verdict for one in found)
    return ", ".join(f"{counted[one]} {one}" for one in CLAIM_VERDICTS if counted[one])


def reasons(found: Sequence[Decided]) -> list[str]:
    """Returns the reasons why claims are not reproduced: notes of the rows that decide them."""
    told: dict[tuple[str, ...], str] = {}
    for one in found:
        if one.verdict not in (NOT_REPRODUCED, IN_PART):
            continue
        for row in worst_first(one.deciding):
            if verdict_of(row) != HOLDS and row["note"]:
                told.setdefault(key(row), row["note"])
    return by_note(told)


def other_reasons(paper: Paper, rows: Sequence[Shown]) -> list[str]:
    """Returns the reasons why rows that count, and that no claim uses, are not reproduced."""
    used = {(row.figure, *row.key) for claim in paper.claims for row in claim.rows(paper.rows)}
    told = {
        key(row): row["note"]
        for row in rows
        if row["counts"] == counting.YES
        and row["verdict"] == FAILS
        and row["note"]
        and (row["figure"], row["case"], row["metric"]) not in used
    }
    return by_note(told)


def key(row: Shown) -> tuple[str, ...]:
    """Returns figure, case and metric of a row as they are printed."""
    return row["figure"], row["case"], row["metric"].replace("_", " ")


def by_note(told: Mapping[tuple[str, ...], str]) -> list[str]:
    """Returns a line per note with all rows that have it; notes of single rows of one case share a line."""
    rows: dict[str, list[tuple[str, ...]]] = {}
    for row, note in told.items():
        rows.setdefault(note, []).append(row)
    lines: dict[str, list[str]] = {}
    for note, those in rows.items():
        if len(those) == 1:
            figure, case, metric = those[0]
            lines.setdefault(f"{figure}, {case}", []).append(f"{metric}: {note}")
        else:
            lines["; ".join(", ".join(row) for row in those)] = [note]
    return [f"- {escaped(name)}: {escaped('; '.join(notes))}" for name, notes in lines.items()]


def describe_commands(paper: Paper, document: Mapping[str, Any]) -> list[str]:
    """Returns Markdown lines with the command of the paper, and links to all rows."""
    counted = Counter(row["counts"] for row in document["rows"] if not is_later(row))
    kinds = "; ".join(f"{COUNTED_AS[one]}: {counted[one]}" for one in COUNTS if counted[one])
    later = sum(is_later(row) for row in document["rows"])
    rows = len(document["rows"])
    here = " ".join(["overspill paper", paper.name, *paper.at])
    return [
        "## Commands",
        "",
        f"    {document['command']}",
        "",
        f"`{here} --list` lists figures, sweeps and sensitivity runs. This page "
        f"was made with Overspill {document['overspill']}; `rows.toml` has the SHA-256 "
        f"`{document['tolerances']}`.",
        "",
        f"`{here} --redraw` draws every figure and a page of all rows, without runs.",
        "",
        f"{f'All {rows} rows are' if rows > 1 else 'The row is'} in [rows.json](rows.json): {kinds}."
        + (f" {words.not_run(later)}." if later else ""),
        *(["", "[Revisions](history.md) after a first run."] if has_history(paper, document["rows"]) else []),
    ]


def has_history(paper: Paper, rows: Sequence[Shown]) -> bool:
    """Returns true if a row was revised, or the paper lists other changes."""
    return bool(paper.history) or any("revised" in row for row in rows)


def history(paper: Paper, rows: Sequence[Shown]) -> str:
    """Returns the record of revisions: reasons, and both verdicts of rows whose measure changed."""
    parts = [f"# {paper.title}: revisions", ""]
    parts += [
        "Rows that were added after a first run, or whose measure, tolerance or settings changed since "
        "then, by reason. Rows of which only the settings changed still count.",
        "",
        *(f"- {escaped(one)}" for one in words.reasons(rows)),
        "",
        *(
            ["## Changes that no row records", "", *(f"- {escaped(one)}" for one in paper.history), ""]
            if paper.history
            else []
        ),
        "## Rows that were added, or have another measure or tolerance",
        "",
    ]
    changed = [row for row in rows if row.get("revised", {}).get("of") == "measure"]
    if not changed:
        return "\n".join([*parts, "None."]) + "\n"
    head = ("figure", "case", "metric", "published", "measured", "before", "now", "why")
    parts += [line(head), line("---" for _ in head)]
    for row in changed:
        cells = (row["figure"], row["case"], row["metric"], words.value(row["published"], row["unit"]))
        both = (words.printed(row["revised"]["verdict"]), words.verdict(row))
        parts.append(line((*cells, words.measured(row), *both, row["revised"]["why"])))
    return "\n".join(parts) + "\n"
