"""Tests that numbers on the pages of mechanisms come from the published rows of papers."""

import re
from pathlib import Path
from typing import Any

import pytest

from overspill.papers.published_files import ROWS_FILE, WHAT_IF_FILE, read_json

DOCS = Path(__file__).parents[1] / "docs"
# Rows of the table of docs/mechanisms/bounce.md: figure, case and metric of PABO's published rows.
BOUNCE = {
    "bounced, mild": ("tab1", "mild", "share_of_1"),
    "bounced, moderate": ("tab1", "moderate", "share_of_1"),
    "farthest back one link, severe": ("tab1", "severe", "share_of_1"),
    "farthest back two links, severe": ("tab1", "severe", "share_of_2"),
    "at most 11 hops, severe": ("fig7b", "severe", "share_within_11_hops"),
    "slope of fig. 9a": ("fig9a", "theta 0 to 0.9", "slope"),
    "mean totalHop, λ = 160": ("fig9b", "lambda=160", "mean_total_hop"),
}


def published_rows(name: str) -> dict[tuple[str, str, str], dict[str, Any]]:
    """Returns rows of PABO by figure, case and metric; a sensitivity run's rows include each setting."""
    found = read_json(DOCS.parent / f"papers/pabo/{name}") or {}
    return {(row["figure"], row["case"], row["metric"]): row for row in found["rows"]}


def numbers_in(cell: str) -> list[str]:
    """Returns the numbers of a cell with their digits as written."""
    return re.findall(r"-?\d+(?:\.\d+)?", cell.replace("−", "-"))


def is_written(cell: str, *values: float) -> bool:
    """Returns true if a cell has these values, each rounded to the digits that the cell has."""
    texts = numbers_in(cell)
    return len(texts) <= len(values) and all(
        text == f"{value:.{len(text.partition('.')[2])}f}" for text, value in zip(texts, values, strict=False)
    )


@pytest.mark.parametrize("title", BOUNCE)
def test_the_table_of_bounce_is_that_of_the_published_rows(title: str) -> None:
    page = (DOCS / "mechanisms/bounce.md").read_text()
    (line,) = [line for line in page.splitlines() if line.startswith(f"| {title} |")]
    of_paper, queued, cioq = line.strip("|").split("|")[1:]
    row = published_rows(ROWS_FILE)[BOUNCE[title]]
    inside = published_rows(WHAT_IF_FILE)[BOUNCE[title]]["settings"]["cioq"]
    assert is_written(of_paper, row["published"])
    assert is_written(queued, row["measured"], row["ci95"])
    assert is_written(cioq, inside["measured"], inside["ci95"])
    assert numbers_in(queued) and numbers_in(cioq)


def test_the_number_of_reproduced_claims_is_that_of_the_page_of_claims() -> None:
    table = re.findall(
        r"^\| \[[\w-]+\]\(#[\w-]+\) \|((?: \d+ \|){5})$", (DOCS / "claims.md").read_text(), re.MULTILINE
    )
    verdicts = [[int(number) for number in numbers_in(line)] for line in table]
    assert len(verdicts) == 5
    reproduced, every = sum(line[0] for line in verdicts), sum(map(sum, verdicts))
    page = " ".join((DOCS / "internals/README.md").read_text().split())
    assert f"{reproduced} of {every} claims are reproduced" in page
