"""The page of a reproduction, and the same as Markdown."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from overspill import formats, version
from overspill.papers import whatif, words
from overspill.papers.data import Shown
from overspill.papers.reproduce import Reproduced
from overspill.papers.words import HEADS, LEGEND, escaped, line
from overspill.report import page as pages

BEFORE = "tolerances are set before the first run, and a later change is told in CHANGELOG.md"
REVISED = (
    "Rows whose measure, tolerance or settings were changed after a first run, of every basis, by reason. "
    "Their verdicts say what they were before."
)
EMBEDDED = 400_000  # bytes of SVG up to which a figure is embedded as such


def page(made: Reproduced, drawn: list[str], out: Path) -> str:
    """One self-contained page."""
    paper = made.paper
    return pages.render(
        "paper.html.j2",
        title=paper.title,
        paper=paper,
        lines=[{"label": label, "text": text, "loud": loud} for label, text, loud in facts(made)],
        figures=[
            {
                "id": figure.id,
                "title": figure.title,
                "claim": figure.claim,
                "rows": [cells(row) for row in rows],
                "count": words.held(rows),
                "image": image(out, figure.id) if figure.id in drawn else None,
            }
            for figure, rows in by_figure(made)
        ],
        heads=HEADS[1:],
        legend=LEGEND,
        revised_note=REVISED,
        assumptions=paper.assumptions,
        revised=words.reasons(made.rows),
        matrix=(matrix := whatif.matrix(made)),
        matrix_images={
            name: image(out, name)
            for name in (group["image"] for group in (matrix or {"groups": []})["groups"])
            if name and (out / "figures" / f"{name}.png").is_file()
        },
    )


def facts(made: Reproduced) -> Iterable[tuple[str, str, bool]]:
    """What is told above everything; what limits the results is loud."""
    if made.asked.part:
        yield "part", made.asked.part, True
    yield from ((line.label, line.text, True) for line in made.warnings)
    yield "paper", made.paper.cite, False
    yield "score", words.score(made.score, made.rows), False
    if former := words.without_revised(made.without_revised):
        yield "revised", former, False
    yield "seeds", seeds(made), False
    yield "made by", f"{command(made)}, Overspill {version()}", False
    yield "tolerances", f"{BEFORE}; rows.toml has the SHA-256 {made.paper.digest}", False


def command(made: Reproduced) -> str:
    """The command that makes this again."""
    asked = made.asked
    some = [] if len(asked.figures) == len(asked.paper.figures) else [figure.id for figure in asked.figures]
    seeds = [] if asked.seeds is None else ["--seeds", str(asked.seeds)]
    return " ".join(
        ["overspill paper", asked.paper.name, *some, *seeds, *(["--what-if"] if asked.what_ifs else [])]
    )


def seeds(made: Reproduced) -> str:
    """How many seeds each sweep has."""
    counts: dict[int, list[str]] = {}
    for one in made.ran:
        if one.planned.what_if is None:
            counts.setdefault(one.planned.seeds, []).append(one.planned.experiment.name)
    return "; ".join(f"{count}: {formats.listing(names, 20)}" for count, names in counts.items()) or "none"


def by_figure(made: Reproduced) -> Iterable[tuple[Shown, list[dict[str, Any]]]]:
    """Every figure with its rows."""
    for figure in made.asked.figures:
        rows = [row for row in made.rows if row["figure"] == figure.id]
        if rows:
            yield figure, rows


def cells(row: dict[str, Any]) -> dict[str, Any]:
    """A row as text."""
    return {
        "anchor": anchor(row),
        "texts": texts(row),
        "verdict": words.with_former(row),
        "kind": "later" if words.later(row) else row["verdict"],
        "basis": words.basis(row),
        "notes": words.notes(row),
        "seeds": row["seeds"],
    }


def texts(row: dict[str, Any]) -> list[str]:
    """What stands before the verdict."""
    published = words.value(row["published"], row["unit"])
    return [row["case"], row["metric"], published, words.measured(row), words.tolerance(row)]


def anchor(row: dict[str, Any]) -> str:
    """What a link to a row ends in."""
    text = "-".join((row["figure"], row["case"], row["metric"]))
    return "".join(letter if letter.isalnum() else "-" for letter in text)


def image(out: Path, name: str) -> dict[str, str]:
    """A figure as a part of the page: as SVG, or as PNG where that is huge."""
    path, kind = out / "figures" / f"{name}.svg", "svg+xml"
    if path.stat().st_size > EMBEDDED:
        path, kind = path.with_suffix(".png"), "png"
    return {"name": name, "data": f"data:image/{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"}


def readme(made: Reproduced, drawn: list[str]) -> str:
    """The same as Markdown, figures linked."""
    paper = made.paper
    lines = [f"# {paper.title}", "", paper.cite, ""]
    lines += [f"**{words.score(made.score, made.rows)}.**", ""]
    if former := words.without_revised(made.without_revised):
        lines += [f"{former[0].upper()}{former[1:]}.", ""]
    lines += [f"**{line.label}**: {escaped(line.text)}\n" for line in made.warnings]
    lines += [
        f"Made by `{command(made)}`, Overspill {version()}. {BEFORE[0].upper()}{BEFORE[1:]}; "
        f"`rows.toml` has the SHA-256 `{paper.digest}`. Seeds: {seeds(made)}.",
        "",
        f"{LEGEND} All numbers are in [rows.json](rows.json), the same as a page for offline in "
        "[page.html](page.html).",
        "",
    ]
    if made.asked.part:
        lines[4:4] = [f"**Part of the paper: {made.asked.part}.**", ""]
    if paper.assumptions:
        lines += ["## What is assumed", "", *(f"- {escaped(one)}" for one in paper.assumptions), ""]
    if reasons := words.reasons(made.rows):
        lines += ["## What was revised", "", REVISED, "", *(f"- {escaped(one)}" for one in reasons), ""]
    for figure, rows in by_figure(made):
        lines += [f"## {figure.id}: {figure.title}", "", f"The paper: {escaped(figure.claim)}", ""]
        lines += [line(HEADS[1:]), line("---" for _ in HEADS[1:])]
        lines += [line((*texts(row), words.with_former(row), words.basis(row))) for row in rows]
        lines += [""]
        told = [(row, note) for row in rows for note in words.notes(row)]
        lines += [
            f"- {escaped(row['case'])}, {escaped(row['metric'])}: {escaped(note)}" for row, note in told
        ]
        lines += [""] if told else []
        if figure.id in drawn:
            lines += [f"![{escaped(figure.title)}](figures/{figure.id}.png)", ""]
    lines += whatif.markdown(made)
    return "\n".join(lines).rstrip("\n") + "\n"
