"""HTML page of a reproduced paper, with every row and figure."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from overspill import formats
from overspill.papers import claims_page, row_names, row_words, sensitivity
from overspill.papers.claim_verdicts import decide_claim, parse_sensitivity_rows
from overspill.papers.paper_files import Paper, PaperFigure
from overspill.papers.row_counting import is_marked_later
from overspill.papers.row_words import COLUMN_HEADS, LEGEND_TEXT
from overspill.report import page as pages

TOLERANCES_NOTE = (
    "tolerances were set before the first run; rows that changed later are marked, and count only if they "
    "were not reproduced before and are not now"
)
MAX_EMBEDDED_BYTES = 400_000  # bytes of SVG up to which a figure is embedded as SVG


@dataclass(frozen=True)
class DrawnFigures:
    """Figures that were drawn: names, and the folder that has their files in `figures`."""

    folder: Path
    names: Sequence[str]


def build_page(
    paper: Paper, document: Mapping[str, Any], changed: Mapping[str, Any] | None, drawn: DrawnFigures
) -> str:
    """Returns a self-contained page of the documents in `rows.json` and `what_if.json.gz`."""
    rows = document["rows"]
    return pages.render_template(
        "paper.html.j2",
        title=paper.title,
        paper=paper,
        lines=[
            {"label": label, "text": text, "loud": loud} for label, text, loud in page_facts(paper, document)
        ],
        figures=[
            {
                "id": figure.id,
                "title": figure.title,
                "claim": figure.claim,
                "rows": [row_cells(row) for row in those],
                "count": row_words.describe_reproduced_rows(those),
                "image": embed_figure(drawn.folder, figure.id) if figure.id in drawn.names else None,
            }
            for figure, those in group_by_figure(paper, rows)
        ],
        heads=COLUMN_HEADS[1:],
        legend=LEGEND_TEXT,
        terms=paper.terms,
        assumptions=paper.assumptions,
        claims=[] if document["part"] else claim_cells(paper, rows, changed),
        matrix=None if changed is None else sensitivity.sensitivity_tables(changed),
    )


def claim_cells(
    paper: Paper, rows: list[dict[str, Any]], changed: Mapping[str, Any] | None
) -> list[list[list[str]]]:
    """Returns the claims of a paper as table lines: claim, place in the paper, verdicts and evidence."""
    found = [decide_claim(claim, rows) for claim in paper.claims]
    return claims_page.claim_cells(found, rows, parse_sensitivity_rows(changed))


def page_facts(paper: Paper, document: Mapping[str, Any]) -> Iterable[tuple[str, str, bool]]:
    """Yields the facts above all figures; facts that limit the results are flagged for emphasis."""
    if document["part"]:
        yield "part", document["part"], True
    for one in document["warnings"]:
        label, _, text = one.partition(": ")
        yield label, text, True
    yield "paper", paper.cite, False
    yield "rows", row_words.describe_score(document["score"], document["rows"]), False
    yield "seeds", describe_seeds(document["seeds"]), False
    yield "made by", f"{document['command']}, Overspill {document['overspill']}", False
    yield "tolerances", f"{TOLERANCES_NOTE}; rows.toml has the SHA-256 {document['tolerances']}", False


def describe_seeds(by_sweep: Mapping[str, int]) -> str:
    """Describes the number of seeds of each sweep."""
    counts: dict[int, list[str]] = {}
    for name, count in by_sweep.items():
        counts.setdefault(count, []).append(name)
    return (
        "; ".join(f"{count}: {formats.format_listing(names, 20)}" for count, names in counts.items())
        or "none"
    )


def group_by_figure(
    paper: Paper, rows: Iterable[dict[str, Any]]
) -> Iterable[tuple[PaperFigure, list[dict[str, Any]]]]:
    """Groups the rows of a paper by figure."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(row["figure"], []).append(row)
    return ((paper.figures[name], those) for name, those in found.items())


def row_cells(row: dict[str, Any]) -> dict[str, Any]:
    """Returns the texts of a row for the HTML page of a paper."""
    return {
        "anchor": row_anchor(row),
        "texts": row_texts(row),
        "verdict": row_words.format_verdict_with_former(row),
        "kind": "later" if is_marked_later(row) else row["verdict"],
        "basis": row_words.format_basis(row),
        "notes": row_words.row_notes(row),
        "seeds": row["seeds"],
    }


def row_texts(row: dict[str, Any]) -> list[str]:
    """Returns the cells of a row before its verdict: case, metric, published, measured, tolerance."""
    published = row_words.format_value(row["published"], row["unit"])
    return [
        row_names.format_case(row["case"]),
        row_names.format_metric(row["metric"]),
        published,
        row_words.format_measured(row),
        row_words.format_tolerance(row),
    ]


def row_anchor(row: dict[str, Any]) -> str:
    """Returns the HTML anchor of a row."""
    text = "-".join((row["figure"], row["case"], row["metric"]))
    return "".join(letter if letter.isalnum() else "-" for letter in text)


def embed_figure(out: Path, name: str) -> dict[str, str]:
    """Returns a figure as a part of the HTML page: as SVG, or as PNG if the SVG is too large."""
    path, kind = out / "figures" / f"{name}.svg", "svg+xml"
    if path.stat().st_size > MAX_EMBEDDED_BYTES:
        path, kind = path.with_suffix(".png"), "png"
    return {"name": name, "data": f"data:image/{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"}
