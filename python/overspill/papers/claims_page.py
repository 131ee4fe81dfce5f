"""Page of all papers' claims with their verdicts, from the published rows: `docs/claims.md`.

`python -m overspill.papers.claims_page > docs/claims.md`
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence

from overspill.papers import data, words
from overspill.papers.claim_verdicts import (
    CLAIM_VERDICTS,
    NOT_REPRODUCED,
    UNDECIDED,
    Decided,
    Setting,
    decide,
    find_turned_verdicts,
    limits,
    settings_of,
    verdict_of,
    worst_first,
)
from overspill.papers.counting import Shown, is_later
from overspill.papers.published import Found
from overspill.papers.verdicts import HOLDS

NUMBERS = 2  # rows whose numbers are in a cell
INTRO = """# Claims of the five papers

Claims of each paper in our words, with the verdicts of our runs. The claims were written
[from the papers](howto/papers.md#claims), before the verdict of any claim was computed.
Costs and limits are claims as well. The worst row that counts gives the verdict of its claim:

| verdict | means |
| --- | --- |
| reproduced | every deciding row is within its tolerance |
| in part | a row is inconclusive, or no row that counts decides a part of the claim |
| not reproduced | a row is outside its tolerance |
| cannot be tested here | no measurement of a simulator can decide it |
| not decided | no row decides it, or its rows do not count |

A row counts if the paper states its value, or if the value follows from the paper by arithmetic or a model. A
row does not count if it repeats another row, or if it was added, or its measure or tolerance changed, after a
first run. A row whose tolerance exceeds a quarter of its value is an anecdote: it counts only if it is
missed. Numbers are those of the worst rows. "Not reproduced with x" is the verdict if the open parameter x is
changed. The page of each paper explains these names, and has its assumptions, figures and rows.
"""
RULE = "The worst row that counts gives the [verdict](../../docs/claims.md) of its claim."


def page() -> str:
    """Returns the page, from the rows in the folders of papers."""
    parts, totals = [], {}
    for name in data.names():
        paper = data.load(name)
        published = Found.read(paper.folder)
        rows, changed = published.document["rows"], published.changed
        found = [decide(claim, rows) for claim in paper.claims]
        totals[name] = Counter(one.verdict for one in found)
        link = f"{paper.title}. [Its page](../papers/{name}/README.md)."
        parts.append(f"## {name}\n\n{link}\n\n{table(found, rows, settings_of(changed))}\n")
    head = ["paper", *CLAIM_VERDICTS]
    body = [
        [f"[{name}](#{name})", *(str(counted[verdict]) for verdict in CLAIM_VERDICTS)]
        for name, counted in totals.items()
    ]
    return "\n".join([INTRO, written(head, body), "", *parts]).rstrip() + "\n"


def table(found: Sequence[Decided], rows: Sequence[Shown], settings: Sequence[Setting]) -> str:
    """Returns the claims of one paper as a Markdown table."""
    return written(["claim", "where", "verdict", "evidence"], cells(found, rows, settings))


def cells(found: Sequence[Decided], rows: Sequence[Shown], settings: Sequence[Setting]) -> list[list[str]]:
    """Returns the cells of each claim: claim, place, verdict (also under sensitivity runs), and evidence."""
    return [[one.claim.claim, one.claim.where, verdict(one, rows, settings), evidence(one)] for one in found]


def verdict(one: Decided, rows: Sequence[Shown], settings: Sequence[Setting]) -> str:
    """Returns the verdict of a claim, with other verdicts that it has under sensitivity runs."""
    by_verdict: dict[str, list[str]] = {}
    for setting, other in find_turned_verdicts(one, rows, settings):
        by_verdict.setdefault(other, []).append(setting.name)
    return "; ".join(
        [one.verdict, *(f"{other} with {', '.join(names)}" for other, names in by_verdict.items())]
    )


def evidence(one: Decided) -> str:
    """Describes the evidence of a claim: numbers of the worst rows, number of rows, and what is missing."""
    claim, texts = one.claim, []
    if one.deciding:
        held = sum(verdict_of(row) == HOLDS for row in one.deciding)
        texts.append(f"{held} of {len(one.deciding)} rows")
        fails = one.verdict == NOT_REPRODUCED
        shown = [row for row in worst_first(one.deciding) if verdict_of(row) != HOLDS or not fails]
        texts += [numbers(row) for row in shown[:NUMBERS]]
    texts += uncounted(one.uncounted)
    if claim.missing:
        texts.append(f"missing: {claim.missing}")
    if claim.untestable:
        texts.append(claim.untestable)
    if not texts and one.verdict == UNDECIDED:
        texts.append("no row")
    return "; ".join(texts)


def uncounted(rows: Sequence[Shown]) -> list[str]:
    """Describes rows of a claim that do not count, with those revised or missed, and the number not run."""
    texts = []
    ran = [row for row in rows if not is_later(row)]
    if ran:
        texts.append(f"{len(ran)} row{' does' if len(ran) == 1 else 's do'} not count")
    told = [row for row in ran if limits(row)]
    texts += [f"{numbers(row)} ({row['counts']}: {words.with_former(row)})" for row in told[:NUMBERS]]
    if waiting := words.not_run(len(rows) - len(ran)):
        texts.append(waiting)
    return texts


def numbers(row: Shown) -> str:
    """Describes a row by its published and measured values."""
    name = f"{row['figure']}, {row['case']}, {row['metric'].replace('_', ' ')}"
    if row["published"] is None:
        return f"{name}: {words.measured(row)}, expected {words.tolerance(row)}"
    return f"{name}: published {words.value(row['published'], row['unit'])}, measured {words.measured(row)}"


def written(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """Returns a table as Markdown."""
    lines = [list(head), ["---"] * len(head), *(list(one) for one in body)]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in one)} |" for one in lines)


if __name__ == "__main__":
    sys.stdout.write(page())
