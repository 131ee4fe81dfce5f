"""Page of a paper as Markdown, and its record of revisions, from its rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from overspill.papers import claims_page, failure_reasons, row_counting, row_names, row_words
from overspill.papers.claim_verdicts import (
    CLAIM_VERDICTS,
    DecidedClaim,
    decide_claim,
    parse_sensitivity_rows,
)
from overspill.papers.paper_files import Paper
from overspill.papers.row_counting import COUNT_CLASSES, RowDocument
from overspill.papers.row_words import escape_markdown, markdown_row
from overspill.results.line_labels import LABEL_MEANINGS

IMAGES_FOLDER = "images"  # folder of the figures on the page
MAX_ASSUMPTIONS = 10
COUNTED_AS = {
    row_counting.COUNTED: "Rows that count",
    row_counting.DERIVED: "Derived from the paper by arithmetic or a model (these decide claims)",
    row_counting.REPEATED: (
        "Repeats of another row with other traffic, sizes, or order of simultaneous arrivals"
    ),
    row_counting.REVISED: (
        "Added after a first run, or with another measure or tolerance since then (counted only if "
        "reproduced neither before nor now)"
    ),
    row_counting.ANECDOTAL: "With a wide tolerance (counted only if not reproduced)",
    row_counting.UNPUBLISHED: "Inputs of the runs, or calibrated",
    row_counting.NOT_RUN: "Not run",
}


def build_readme(
    paper: Paper, document: Mapping[str, Any], changed: Mapping[str, Any] | None, drawn: Sequence[str]
) -> str:
    """Returns the page: claims, assumptions, what is not reproduced, up to three figures, and commands."""
    rows, settings = document["rows"], parse_sensitivity_rows(changed)
    found = [decide_claim(claim, rows) for claim in paper.claims]
    parts = [f"# {paper.title}", "", paper.cite, "", *link_explanations(paper)]
    parts += section("Terms", [f"- {escape_markdown(one)}" for one in paper.terms])
    if document["part"]:
        parts += [f"**Part of the paper: {document['part']}.**", ""]
    elif found:
        totals = f"Of {len(found)} claims: {describe_totals(found)}. {claims_page.RULE_TEXT}"
        table = claims_page.claims_table(found, rows, settings)
        parts += section("Claims", [totals, "", table])
    parts += describe_sensitivity_runs(changed)
    parts += section("Warnings of the runs", describe_warnings(paper, document["warnings"]))
    parts += section("Assumptions", list_assumptions(paper))
    parts += section(
        "Not reproduced or inconclusive, with reasons", failure_reasons.reasons_table(paper, found, rows)
    )
    links = [
        f"- [{escape_markdown(one.summary)}](../../studies/{one.name}/README.md)" for one in paper.studies
    ]
    parts += section("Related studies", links)
    for figure in (paper.figures[name] for name in paper.figures_on_page if name in drawn):
        image = f"![{escape_markdown(figure.title)}](images/{figure.id}.png)"
        parts += section(
            f"{figure.id}: {figure.title}", [f"The paper: {escape_markdown(figure.claim)}", image]
        )
    return "\n".join([*parts, *describe_commands(paper, document)]).rstrip("\n") + "\n"


def section(heading: str, lines: Sequence[str]) -> list[str]:
    """Returns the lines of a section with its heading; empty if `lines` is."""
    return [f"## {heading}", "", *lines, ""] if lines else []


def describe_sensitivity_runs(changed: Mapping[str, Any] | None) -> list[str]:
    """Returns a paragraph with the name and the title of each sensitivity run; nothing without any."""
    if changed is None:
        return []
    runs = " ".join(f"`{one['name']}`: {escape_markdown(one['title'])}." for one in changed["settings"])
    return [
        "Each sensitivity run changes one parameter that the paper leaves open. Its name is in parentheses "
        "after the assumption that it changes, and below each verdict that it changes. "
        f"{runs}",
        "",
    ]


def list_assumptions(paper: Paper) -> list[str]:
    """Returns the first assumptions as a Markdown list, with a link to the others if there are more."""
    found = [f"- {escape_markdown(one)}" for one in paper.assumptions[:MAX_ASSUMPTIONS]]
    if len(paper.assumptions) > MAX_ASSUMPTIONS:
        found.append("- Further assumptions are in [paper.toml](paper.toml).")
    return found


def link_explanations(paper: Paper) -> list[str]:
    """Returns links to the pages that explain the mechanisms and the words of the page, if there are any."""
    links = ", ".join(f"[{one}](../../docs/mechanisms/{one}.md)" for one in paper.mechanisms)
    guide = "Rows, tolerances and verdicts are explained in [papers](../../docs/howto/papers.md)."
    return [f"How the mechanism works: {links}. {guide}", ""] if links else []


def describe_warnings(paper: Paper, warnings: Sequence[str]) -> list[str]:
    """Returns a line per kind of warning with its meaning and sweeps, and a line about their full texts."""
    found: dict[str, list[str]] = {}
    for one in warnings:
        label, _, text = one.partition(": ")
        found.setdefault(label, []).append(text)
    lines = [f"- **{label}**: {describe_warning(label, texts)}" for label, texts in found.items()]
    full = "Full texts are in [rows.json](rows.json), under `warnings`."
    return [*lines, f"- {full} `overspill paper {paper.name} --list` lists the sweeps."] if lines else []


def describe_warning(label: str, texts: Sequence[str]) -> str:
    """Returns the meaning of a warning and the names of its sweeps, or its text if it has no meaning."""
    meaning = LABEL_MEANINGS.get(label, "").partition(". ")[0].rstrip(".")
    if not meaning:
        return " ".join(map(escape_markdown, texts))
    names = list(dict.fromkeys(text.partition(": ")[0] for text in texts))
    # Only names of sweeps of sensitivity runs have a `/`, such as `textbook/pairs`.
    shown = [name for name in names if "/" not in name] or names
    also = "; also in sensitivity runs" if len(shown) < len(names) else ""
    sweeps = ", ".join(f"`{name}`" for name in shown)
    return f"{meaning}. Sweep{'s' * (len(shown) > 1)}: {sweeps}{also}."


def describe_totals(found: Sequence[DecidedClaim]) -> str:
    """Describes the number of claims with each verdict."""
    counted = Counter(one.verdict for one in found)
    return ", ".join(f"{counted[one]} {one}" for one in CLAIM_VERDICTS if counted[one])


def describe_commands(paper: Paper, document: Mapping[str, Any]) -> list[str]:
    """Returns Markdown lines with the command of the paper, and links to all rows."""
    counted = Counter(row["counts"] for row in document["rows"])
    kinds = " ".join(f"{COUNTED_AS[one]}: {counted[one]}." for one in COUNT_CLASSES if counted[one])
    rows = len(document["rows"])
    here = " ".join(["overspill paper", paper.name, *paper.folder_arguments])
    return [
        "## Commands",
        "",
        f"    {document['command']}",
        "",
        f"`{here} --list` lists figures, sweeps and sensitivity runs. "
        f"`{here} --redraw` draws every figure that has plotted data again and writes a page of all rows, "
        "without runs. "
        f"This page was made with Overspill {document['overspill']}; `rows.toml` has the SHA-256 "
        f"`{document['tolerances']}`.",
        "",
        f"{f'All {rows} rows are' if rows > 1 else 'The row is'} in [rows.json](rows.json). {kinds}"
        + (" [Revisions](history.md) after a first run." if has_history(paper, document["rows"]) else ""),
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
        *([f"- {escape_markdown(one)}" for one in row_words.revision_reasons(rows)] or ["None."]),
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
            row_names.format_case(row["case"]),
            row_names.format_metric(row["metric"]),
            row_words.format_value(row["published"], row["unit"]),
        )
        both = (row_words.verdict_word(row["revised"]["verdict"]), row_words.format_verdict(row))
        parts.append(markdown_row((*cells, row_words.format_measured(row), *both, row["revised"]["why"])))
    return "\n".join(parts) + "\n"
