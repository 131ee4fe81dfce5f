"""Page of all papers' claims with their verdicts, from the published rows: `docs/claims.md`.

`python -m overspill.papers.claims_page > docs/claims.md`
"""

from __future__ import annotations

import sys
import textwrap
from collections import Counter
from collections.abc import Sequence

from overspill.papers import paper_files, row_names, row_words
from overspill.papers.claim_verdicts import (
    CLAIM_VERDICTS,
    NOT_REPRODUCED,
    REPRODUCED,
    UNDECIDED,
    ChangedClaim,
    DecidedClaim,
    SensitivityRows,
    decide_claim,
    find_changed_verdicts,
    is_unreproduced_non_evidence,
    parse_sensitivity_rows,
    sort_worst_first,
)
from overspill.papers.published_files import PublishedDocuments
from overspill.papers.row_counting import DERIVED, REVISED, RowDocument, is_marked_later
from overspill.papers.verdicts import HOLDS, INCONCLUSIVE, NEW_ROW

MAX_ROWS_CITED = 2  # rows whose numbers are in a cell
PAGE_WIDTH = 110  # characters of a line of text
INTRO_TEXT = """# Claims of the five papers

Claims of each paper in our words, with the verdicts of our runs. The claims were written
[from the papers](howto/papers.md#claims), before the verdict of any claim was computed.
Later changes of the rows that decide a claim are in `history.md` of the paper.
"Why" gives the reason for a verdict, and was written after the runs, from the notes of the rows.
Costs and limits are claims as well. The worst row that decides a claim gives its verdict:

| verdict | means |
| --- | --- |
| reproduced | every deciding row is within its tolerance |
| in part | a deciding row is inconclusive, or no deciding row tests a part of the claim |
| not reproduced | a deciding row is outside its tolerance |
| cannot be tested here | no measurement of a simulator can decide it |
| not decided | no row decides it, or every deciding row is inconclusive |

{counting}

The evidence cites the worst rows: figure, case and metric, then the measured value with its 95% interval
beside the value of the paper. `A − B` is a difference, `A / B` a ratio. "Not reproduced with `x`" is the
verdict if the open parameter `x` is changed; the evidence then has the worst row that changes with `x`. The
page of each paper explains these names, and has its assumptions, figures and rows.
"""
RULE_TEXT = (
    "The worst row that decides a claim gives its [verdict](../../docs/claims.md). The verdict is "
    f"`in part` or worse if no row tests a part of the claim. {row_words.COUNTING_TEXT} The evidence cites "
    "the worst rows: figure, case and metric, "
    "then the measured value beside the value of the paper. In place of a figure, `abs` stands for the "
    "abstract and `fn` for a footnote. `concl` stands for the conclusion, and `claim-` for a claim without a "
    "figure. "
    "`A − B` is a difference, `A / B` a ratio. A value is undefined if some run has none."
)


def build_page() -> str:
    """Returns the page, from the rows in the folders of papers."""
    parts, totals = [], {}
    for name in paper_files.paper_names():
        paper = paper_files.load_paper(name)
        published = PublishedDocuments.read(paper.folder)
        rows, changed = published.rows_document["rows"], published.sensitivity_document
        found = [decide_claim(claim, rows) for claim in paper.claims]
        totals[name] = Counter(one.verdict for one in found)
        link = f"{paper.title}. [Its page](../papers/{name}/README.md)."
        parts.append(f"## {name}\n\n{link}\n\n{claims_table(found, rows, parse_sensitivity_rows(changed))}\n")
    head = ["paper", *CLAIM_VERDICTS]
    body = [
        [f"[{name}](#{name})", *(str(counted[verdict]) for verdict in CLAIM_VERDICTS)]
        for name, counted in totals.items()
    ]
    intro = INTRO_TEXT.format(counting=textwrap.fill(row_words.COUNTING_TEXT, PAGE_WIDTH))
    return "\n".join([intro, format_markdown_table(head, body), "", *parts]).rstrip() + "\n"


def claims_table(
    found: Sequence[DecidedClaim], rows: Sequence[RowDocument], settings: Sequence[SensitivityRows]
) -> str:
    """Returns the claims of one paper as a Markdown table."""
    cells = [["<br>".join(lines) for lines in claim] for claim in claim_cells(found, rows, settings)]
    return format_markdown_table(["claim", "where", "verdict", "evidence"], cells)


def claim_cells(
    found: Sequence[DecidedClaim], rows: Sequence[RowDocument], settings: Sequence[SensitivityRows]
) -> list[list[list[str]]]:
    """Returns the cells of each claim as lines: claim, place in the paper, verdicts and evidence."""
    cells = []
    for one in found:
        changed = find_changed_verdicts(one, rows, settings)
        evidence = describe_evidence(one, changed)
        cells.append(
            [[one.claim.claim], [one.claim.place_in_paper], describe_verdict(one, changed), evidence]
        )
    return cells


def describe_verdict(one: DecidedClaim, changed: Sequence[ChangedClaim]) -> list[str]:
    """Returns the verdict of a claim, and other verdicts that it has under sensitivity runs."""
    by_verdict: dict[str, list[str]] = {}
    for other in changed:
        by_verdict.setdefault(other.verdict, []).append(other.setting.name)
    others = [
        f"({other} with {', '.join(f'`{name}`' for name in names)})" for other, names in by_verdict.items()
    ]
    return [one.verdict, *others]


def describe_evidence(one: DecidedClaim, changed: Sequence[ChangedClaim] = ()) -> list[str]:
    """Describes the evidence of a claim: the reason for its verdict, number of rows, and what is missing.

    A claim that is reproduced has no reason. For each sensitivity run that changes the verdict, it has the
    worst row of those that the run changes.
    """
    claim = one.claim
    lines = [f"Why: {claim.why}"] if claim.why and one.verdict != REPRODUCED else []
    if one.deciding:
        held = sum(row["verdict"] == HOLDS for row in one.deciding)
        open_ones = sum(row["verdict"] == INCONCLUSIVE for row in one.deciding)
        undecided = f", {open_ones} inconclusive" if open_ones else ""
        rows = f"{held} of {len(one.deciding)} rows{describe_derived_rows(one.deciding)} reproduced"
        lines.append(f"{rows}{undecided}:")
        fails = one.verdict == NOT_REPRODUCED
        shown = [row for row in sort_worst_first(one.deciding) if row["verdict"] != HOLDS or not fails]
        lines += [describe_row_numbers(row) for row in shown[:MAX_ROWS_CITED]]
    lines += [
        f"With `{other.setting.name}`: {describe_row_numbers(other.changed[0])}"
        for other in changed
        if other.changed
    ]
    lines += describe_non_evidence_rows(one.uncounted)
    if claim.remark:
        lines.append(claim.remark)
    if claim.missing:
        lines.append(f"Missing: {claim.missing}")
    if claim.untestable:
        lines.append(capitalise(claim.untestable))
    if not lines and one.verdict == UNDECIDED:
        lines.append("No row.")
    return lines


def describe_derived_rows(rows: Sequence[RowDocument]) -> str:
    """Describes how many rows are derived from the paper, in parentheses; empty without any."""
    count = sum(row["counts"] == DERIVED for row in rows)
    return f" ({'all' if count == len(rows) else count} derived)" if count else ""


def describe_non_evidence_rows(rows: Sequence[RowDocument]) -> list[str]:
    """Describes the rows that do not decide a claim: their number, those missed, and those not run."""
    lines = []
    ran = [row for row in rows if not is_marked_later(row)]
    missed = [row for row in ran if is_unreproduced_non_evidence(row)]
    if ran:
        end = "." if not missed else ":" if len(missed) == len(ran) else ", for example:"
        lines.append(f"{len(ran)} further row{' does' if len(ran) == 1 else 's do'} not decide it{end}")
    lines += [f"{describe_row_numbers(row)} ({reason_not_counted(row)})" for row in missed[:MAX_ROWS_CITED]]
    if waiting := row_words.describe_rows_not_run(len(rows) - len(ran)):
        lines.append(f"{waiting}.")
    return lines


def reason_not_counted(row: RowDocument) -> str:
    """Describes the reason why a row does not count, with its verdict, and the verdict before a revision."""
    verdict = row_words.verdict_word(row["verdict"])
    if row["counts"] != REVISED:
        return f"its tolerance is too wide to count; {verdict}"
    former = row["revised"]["verdict"]
    if former == NEW_ROW:
        return f"added after a first run; {verdict}"
    return f"revised after a first run; {row_words.verdict_word(former)} before, {verdict} now"


def describe_row_numbers(row: RowDocument) -> str:
    """Describes a row by its measured value, and by the published value or the tolerance."""
    value = f"{row_names.format_row_name(row)} = {row_words.format_measured(row)}"
    if row["published"] is None:
        return f"{value}, expected {row_words.format_tolerance(row)}"
    paper = f"paper: {row_words.format_value(row['published'], row['unit'])}"
    # A range or a bound may differ from the published value, such as `above 10,000`.
    is_bound = bool(set(row["tolerance"] or {}) & {"min", "max"})
    return (
        f"{value}, {paper}, expected {row_words.format_tolerance(row)}" if is_bound else f"{value}, {paper}"
    )


def capitalise(text: str) -> str:
    """Returns a text with a capital first letter."""
    return text[:1].upper() + text[1:]


def format_markdown_table(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """Returns a table as Markdown."""
    lines = [list(head), ["---"] * len(head), *(list(one) for one in body)]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in one)} |" for one in lines)


if __name__ == "__main__":
    sys.stdout.write(build_page())
