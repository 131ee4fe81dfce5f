"""Page of a reproduction with every row and figure."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from overspill import formats
from overspill.papers import claims_page, whatif, words
from overspill.papers.claim_verdicts import decide, settings_of
from overspill.papers.counting import is_later
from overspill.papers.data import Paper, Shown
from overspill.papers.words import HEADS, LEGEND
from overspill.report import page as pages

BEFORE = "tolerances are set before the first run; rows that changed later are marked and do not count"
EMBEDDED = 400_000  # bytes of SVG up to which a figure is embedded as SVG


@dataclass(frozen=True)
class Figures:
    """Figures that were drawn: names, and the folder whose `figures` has their files."""

    folder: Path
    names: Sequence[str]


def page(paper: Paper, document: Mapping[str, Any], changed: Mapping[str, Any] | None, drawn: Figures) -> str:
    """Returns a self-contained page of the documents in `rows.json` and `what_if.json.gz`."""
    rows = document["rows"]
    return pages.render(
        "paper.html.j2",
        title=paper.title,
        paper=paper,
        lines=[{"label": label, "text": text, "loud": loud} for label, text, loud in facts(paper, document)],
        figures=[
            {
                "id": figure.id,
                "title": figure.title,
                "claim": figure.claim,
                "rows": [cells(row) for row in those],
                "count": words.held(those),
                "image": image(drawn.folder, figure.id) if figure.id in drawn.names else None,
            }
            for figure, those in by_figure(paper, rows)
        ],
        heads=HEADS[1:],
        legend=LEGEND,
        assumptions=paper.assumptions,
        claims=[] if document["part"] else claims(paper, rows, changed),
        matrix=None if changed is None else whatif.matrix(changed),
    )


def claims(paper: Paper, rows: list[dict[str, Any]], changed: Mapping[str, Any] | None) -> list[list[str]]:
    """Returns the claims of the paper: claim, place, verdict and evidence."""
    found = [decide(claim, rows) for claim in paper.claims]
    return claims_page.cells(found, rows, settings_of(changed))


def facts(paper: Paper, document: Mapping[str, Any]) -> Iterable[tuple[str, str, bool]]:
    """Yields facts above all figures; those that limit the results are loud."""
    if document["part"]:
        yield "part", document["part"], True
    for one in document["warnings"]:
        label, _, text = one.partition(": ")
        yield label, text, True
    yield "paper", paper.cite, False
    yield "rows", words.score(document["score"], document["rows"]), False
    yield "seeds", seeds(document["seeds"]), False
    yield "made by", f"{document['command']}, Overspill {document['overspill']}", False
    yield "tolerances", f"{BEFORE}; rows.toml has the SHA-256 {document['tolerances']}", False


def seeds(by_sweep: Mapping[str, int]) -> str:
    """Describes the number of seeds of each sweep."""
    counts: dict[int, list[str]] = {}
    for name, count in by_sweep.items():
        counts.setdefault(count, []).append(name)
    return "; ".join(f"{count}: {formats.listing(names, 20)}" for count, names in counts.items()) or "none"


def by_figure(paper: Paper, rows: Iterable[dict[str, Any]]) -> Iterable[tuple[Shown, list[dict[str, Any]]]]:
    """Returns every figure that has rows, with its rows."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(row["figure"], []).append(row)
    return ((paper.figures[name], those) for name, those in found.items())


def cells(row: dict[str, Any]) -> dict[str, Any]:
    """Returns a row as texts."""
    return {
        "anchor": anchor(row),
        "texts": texts(row),
        "verdict": words.with_former(row),
        "kind": "later" if is_later(row) else row["verdict"],
        "basis": words.basis(row),
        "notes": words.notes(row),
        "seeds": row["seeds"],
    }


def texts(row: dict[str, Any]) -> list[str]:
    """Returns the texts before the verdict."""
    published = words.value(row["published"], row["unit"])
    return [row["case"], row["metric"], published, words.measured(row), words.tolerance(row)]


def anchor(row: dict[str, Any]) -> str:
    """Returns the anchor of a row."""
    text = "-".join((row["figure"], row["case"], row["metric"]))
    return "".join(letter if letter.isalnum() else "-" for letter in text)


def image(out: Path, name: str) -> dict[str, str]:
    """Returns a figure as a part of the page: as SVG, or as PNG if the SVG is too large."""
    path, kind = out / "figures" / f"{name}.svg", "svg+xml"
    if path.stat().st_size > EMBEDDED:
        path, kind = path.with_suffix(".png"), "png"
    return {"name": name, "data": f"data:image/{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"}
