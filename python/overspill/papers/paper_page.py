"""Page of a paper as Markdown, and its record of revisions, from its rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from overspill.papers import claims_page, row_counting, row_words
from overspill.papers.claim_verdicts import (
    CLAIM_VERDICTS,
    NOT_REPRODUCED,
    REPRODUCED_IN_PART,
    DecidedClaim,
    decide_claim,
    parse_sensitivity_rows,
    row_verdict,
    sort_worst_first,
)
from overspill.papers.paper_files import Paper
from overspill.papers.row_counting import COUNT_CLASSES, RowDocument, is_later
from overspill.papers.row_words import escape_markdown, markdown_row
from overspill.papers.verdicts import FAILS, HOLDS

IMAGES_FOLDER = "images"  # folder of the figures on the page
MAX_ASSUMPTIONS = 10
COUNTED_AS = {
    row_counting.COUNTED: "rows that count",
    row_counting.REPEATED: "repeats of another row with other traffic, sizes or ties",
    row_counting.REVISED: "added after a first run, or with another measure or tolerance since then",
    row_counting.ANECDOTAL: "with a wide tolerance, which count only if they are missed",
    row_counting.UNPUBLISHED: "given to the runs, or following from the paper without being stated there",
}


def build_readme(
    paper: Paper, document: Mapping[str, Any], changed: Mapping[str, Any] | None, drawn: Sequence[str]
) -> str:
    """Returns the page: claims, assumptions, what is not reproduced, up to three figures, and commands."""
    rows, settings = document["rows"], parse_sensitivity_rows(changed)
    found = [decide_claim(claim, rows) for claim in paper.claims]
    parts = [f"# {paper.title}", "", paper.cite, ""]
    parts += link_explanations(paper)
    if warnings := [f"- **{escape_markdown(one)}**" for one in merge_warnings_by_label(document["warnings"])]:
        parts += [*warnings, ""]
    if document["part"]:
        parts += [f"**Part of the paper: {document['part']}.**", ""]
    elif found:
        parts += [f"Of {len(found)} claims: {describe_totals(found)}. {claims_page.RULE_TEXT}", ""]
        parts += [claims_page.claims_table(found, rows, settings), ""]
    if paper.assumptions:
        first = paper.assumptions[:MAX_ASSUMPTIONS]
        parts += ["## Assumptions", "", *(f"- {escape_markdown(one)}" for one in first), ""]
        if len(first) < len(paper.assumptions):
            parts += ["Further assumptions are in [paper.toml](paper.toml).", ""]
    if why := [*failure_reasons(found), *failure_reasons_without_claims(paper, rows)]:
        parts += ["## Not reproduced, with reasons", "", *why, ""]
    if paper.studies:
        links = [
            f"- [{escape_markdown(one.summary)}](../../studies/{one.name}/README.md)" for one in paper.studies
        ]
        parts += ["## Related studies", "", *links, ""]
    if changed is not None:
        told = [f"- `{one['name']}`: {escape_markdown(one['title'])}" for one in changed["settings"]]
        parts += ["## Open parameters, changed one at a time", "", *told, ""]
    for name in (one for one in paper.figures_on_page if one in drawn):
        figure = paper.figures[name]
        parts += [f"## {figure.id}: {figure.title}", "", f"The paper: {escape_markdown(figure.claim)}", ""]
        parts += [f"![{escape_markdown(figure.title)}](images/{figure.id}.png)", ""]
    return "\n".join([*parts, *describe_commands(paper, document)]).rstrip("\n") + "\n"


def link_explanations(paper: Paper) -> list[str]:
    """Returns links to the pages that explain the mechanisms and the words of the page, if there are any."""
    links = ", ".join(f"[{one}](../../docs/mechanisms/{one}.md)" for one in paper.mechanisms)
    guide = "Rows, tolerances and verdicts are explained in [papers](../../docs/howto/papers.md)."
    return [f"How the mechanism works: {links}. {guide}", ""] if links else []


def merge_warnings_by_label(warnings: Sequence[str]) -> list[str]:
    """Returns one line per kind of warning: its text, or for several the names of the places."""
    found: dict[str, list[str]] = {}
    for one in warnings:
        label, _, text = one.partition(": ")
        found.setdefault(label, []).append(text)
    sweeps = {
        label: ", ".join(dict.fromkeys(text.partition(": ")[0] for text in texts))
        for label, texts in found.items()
    }
    return [
        f"{label}: {texts[0] if len(texts) == 1 else f'sweeps {sweeps[label]}; see rows.json'}"
        for label, texts in found.items()
    ]


def describe_totals(found: Sequence[DecidedClaim]) -> str:
    """Describes the number of claims with each verdict."""
    counted = Counter(one.verdict for one in found)
    return ", ".join(f"{counted[one]} {one}" for one in CLAIM_VERDICTS if counted[one])


def failure_reasons(found: Sequence[DecidedClaim]) -> list[str]:
    """Returns the reasons why claims are not reproduced: notes of the rows that decide them."""
    told: dict[tuple[str, ...], str] = {}
    for one in found:
        if one.verdict not in (NOT_REPRODUCED, REPRODUCED_IN_PART):
            continue
        for row in sort_worst_first(one.deciding):
            if row_verdict(row) != HOLDS and row["note"]:
                told.setdefault(printed_row_key(row), row["note"])
    return merge_rows_by_note(told)


def failure_reasons_without_claims(paper: Paper, rows: Sequence[RowDocument]) -> list[str]:
    """Returns the reasons why rows that count, and that no claim uses, are not reproduced."""
    used = {(row.figure, *row.key) for claim in paper.claims for row in claim.rows(paper.rows)}
    told = {
        printed_row_key(row): row["note"]
        for row in rows
        if row["counts"] == row_counting.COUNTED
        and row["verdict"] == FAILS
        and row["note"]
        and (row["figure"], row["case"], row["metric"]) not in used
    }
    return merge_rows_by_note(told)


def printed_row_key(row: RowDocument) -> tuple[str, ...]:
    """Returns figure, case and metric of a row as they are printed."""
    return row["figure"], row["case"], row["metric"].replace("_", " ")


def merge_rows_by_note(told: Mapping[tuple[str, ...], str]) -> list[str]:
    """Returns a line per note with all rows that have it; notes of single rows of one case share a line.

    Notes of a figure that refer to the same case (`See N = 1; 326 Mb/s`) are one line, without their
    additions.
    """
    groups: dict[tuple[str, str], dict[tuple[str, ...], str]] = {}
    for row, note in told.items():
        refers = note.startswith("See ")
        group = (row[0], note.partition("; ")[0]) if refers else ("", note)
        groups.setdefault(group, {})[row] = note
    lines: dict[str, list[str]] = {}
    for (_, shared), notes in groups.items():
        if len(notes) == 1:
            [((figure, case, metric), note)] = notes.items()
            lines.setdefault(f"{figure}, {case}", []).append(f"{metric}: {note}")
        else:
            lines["; ".join(", ".join(row) for row in notes)] = [shared]
    return [
        f"- {escape_markdown(name)}: {escape_markdown('; '.join(notes))}" for name, notes in lines.items()
    ]


def describe_commands(paper: Paper, document: Mapping[str, Any]) -> list[str]:
    """Returns Markdown lines with the command of the paper, and links to all rows."""
    counted = Counter(row["counts"] for row in document["rows"] if not is_later(row))
    kinds = "; ".join(f"{COUNTED_AS[one]}: {counted[one]}" for one in COUNT_CLASSES if counted[one])
    later = sum(is_later(row) for row in document["rows"])
    rows = len(document["rows"])
    here = " ".join(["overspill paper", paper.name, *paper.folder_arguments])
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
        + (f" {row_words.describe_rows_not_run(later)}." if later else ""),
        *(["", "[Revisions](history.md) after a first run."] if has_history(paper, document["rows"]) else []),
    ]


def has_history(paper: Paper, rows: Sequence[RowDocument]) -> bool:
    """Returns true if a row was revised, or the paper lists other changes."""
    return bool(paper.history) or any("revised" in row for row in rows)


def build_history(paper: Paper, rows: Sequence[RowDocument]) -> str:
    """Returns the record of revisions: reasons, and both verdicts of rows whose measure changed."""
    parts = [f"# {paper.title}: revisions", ""]
    parts += [
        "Rows that were added after a first run, or whose measure, tolerance or settings changed since "
        "then, by reason. Rows of which only the settings changed still count.",
        "",
        *(f"- {escape_markdown(one)}" for one in row_words.revision_reasons(rows)),
        "",
        *(
            [
                "## Changes that no row records",
                "",
                *(f"- {escape_markdown(one)}" for one in paper.history),
                "",
            ]
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
    parts += [markdown_row(head), markdown_row("---" for _ in head)]
    for row in changed:
        cells = (
            row["figure"],
            row["case"],
            row["metric"],
            row_words.format_value(row["published"], row["unit"]),
        )
        both = (row_words.verdict_word(row["revised"]["verdict"]), row_words.format_verdict(row))
        parts.append(markdown_row((*cells, row_words.format_measured(row), *both, row["revised"]["why"])))
    return "\n".join(parts) + "\n"
