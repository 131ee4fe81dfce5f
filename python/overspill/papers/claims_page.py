"""The page of all papers' claims with their verdicts, from the published rows: `docs/reproduction/claims.md`.

`python -m overspill.papers.claims_page docs/reproduction > docs/reproduction/claims.md`
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from overspill.papers import data, words
from overspill.papers.claim_verdicts import (
    CLAIM_VERDICTS,
    NOT_REPRODUCED,
    UNDECIDED,
    Decided,
    Setting,
    decide,
    settings_of,
    turned,
    worst_first,
)
from overspill.papers.counting import Shown
from overspill.papers.verdicts import HOLDS

NUMBERS = 2  # rows whose numbers stand in a cell
INTRO = """# Claims of the five papers

What each paper claims, in our words, and what our runs say. The claims were written
[from the papers](../howto/papers.md#claims), before any verdict of a claim was computed.
Costs and limits are claims, too. The worst row that decides a claim, and counts, gives the verdict:

| verdict | means |
| --- | --- |
| reproduced | every deciding row lies within its tolerance |
| in part | a row is inconclusive, or no row decides a part of the claim |
| not reproduced | a row lies outside its tolerance |
| cannot be tested here | no measurement of a simulator can decide it |
| not decided | no row decides it yet, or those that do count no more |

A row does not count if its measure or its tolerance changed after its first run, if it repeats another row,
or if its tolerance reaches further than a quarter of the published value. Numbers are those of the worst
rows. A verdict "with" a name is the one that the claim has with one open parameter changed. The page of each
paper says what these names, its assumptions, figures and rows are.
"""
RULE = "The worst row that decides a claim, and counts, gives the [verdict](../claims.md)."


def page(published: Path) -> str:
    """The page, from the rows in a folder of published papers."""
    parts, totals = [], {}
    for name in data.names():
        paper = data.load(name)
        rows = json.loads((published / name / "rows.json").read_text(encoding="utf-8"))["rows"]
        path = published / name / "what_if.json"
        changed = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
        found = [decide(claim, rows) for claim in paper.claims]
        totals[name] = Counter(one.verdict for one in found)
        link = f"{paper.title}. [Its page]({name}/README.md)."
        parts.append(f"## {name}\n\n{link}\n\n{table(found, rows, settings_of(changed))}\n")
    head = ["paper", *CLAIM_VERDICTS]
    body = [
        [f"[{name}](#{name})", *(str(counted[verdict]) for verdict in CLAIM_VERDICTS)]
        for name, counted in totals.items()
    ]
    return "\n".join([INTRO, written(head, body), "", *parts]).rstrip() + "\n"


def table(found: Sequence[Decided], rows: Sequence[Shown], settings: Sequence[Setting]) -> str:
    """The claims of one paper as Markdown."""
    return written(["claim", "where", "verdict", "evidence"], cells(found, rows, settings))


def cells(found: Sequence[Decided], rows: Sequence[Shown], settings: Sequence[Setting]) -> list[list[str]]:
    """Claim, where, verdict (also with open parameters changed) and evidence of each."""
    return [[one.claim.claim, one.claim.where, verdict(one, rows, settings), evidence(one)] for one in found]


def verdict(one: Decided, rows: Sequence[Shown], settings: Sequence[Setting]) -> str:
    """The verdict of a claim, and others that it has with an open parameter changed."""
    by_verdict: dict[str, list[str]] = {}
    for setting, other in turned(one, rows, settings):
        by_verdict.setdefault(other, []).append(setting.name)
    return "; ".join(
        [one.verdict, *(f"{other} with {', '.join(names)}" for other, names in by_verdict.items())]
    )


def evidence(one: Decided) -> str:
    """What decides a claim: numbers of the worst rows, how many others there are, and what is missing."""
    claim, texts = one.claim, []
    if one.deciding:
        held = sum(row["verdict"] == HOLDS for row in one.deciding)
        texts.append(f"{held} of {len(one.deciding)} rows")
        fails = one.verdict == NOT_REPRODUCED
        shown = [row for row in worst_first(one.deciding) if row["verdict"] != HOLDS or not fails]
        texts += [numbers(row) for row in shown[:NUMBERS]]
    if one.uncounted:
        plural = "row does" if len(one.uncounted) == 1 else "rows do"
        texts.append(f"{len(one.uncounted)} {plural} not count")
    if claim.missing:
        texts.append(f"missing: {claim.missing}")
    if claim.untestable:
        texts.append(claim.untestable)
    if not texts and one.verdict == UNDECIDED:
        texts.append("no row")
    return "; ".join(texts)


def numbers(row: Shown) -> str:
    """Published beside measured of a row."""
    name = f"{row['figure']}, {row['case']}, {row['metric'].replace('_', ' ')}"
    if row["published"] is None:
        return f"{name}: {words.measured(row)}, expected {words.tolerance(row)}"
    return f"{name}: published {words.value(row['published'], row['unit'])}, measured {words.measured(row)}"


def written(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """A table as Markdown."""
    lines = [list(head), ["---"] * len(head), *(list(one) for one in body)]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in one)} |" for one in lines)


if __name__ == "__main__":
    sys.stdout.write(page(Path(sys.argv[1])))
