"""Rows of papers as text: numbers, tolerances, and verdicts with their signs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from overspill import formats
from overspill.papers.row_counting import COUNTED, DERIVED, count_verdicts, is_marked_later
from overspill.papers.verdicts import (
    FAILS,
    HOLDS,
    INCONCLUSIVE,
    NEW_ROW,
    VERDICTS,
    RevisionCause,
    group_by_cause,
)

COLUMN_HEADS = ("", "case", "metric", "published", "measured", "tolerance", "verdict", "basis")
COUNTING_TEXT = (
    "A row counts and decides claims if the paper states its value as a result. The value of a derived "
    "row follows from the paper by arithmetic or a model. Such a row decides claims, but is not in the "
    "number of rows that count. A row does neither if it is an input of the runs or calibrated, was not "
    "run, or repeats another row. A row is an anecdote if its tolerance is more than a quarter of its "
    "value. So is a row with a prediction interval wider than other tolerances of its unit. An anecdote "
    "counts and decides only if it is not reproduced. A row is revised if it was added, or its measure or "
    "tolerance changed, after a first run. A revised row counts and decides only if it was not reproduced "
    "before and is not now. A claim is at most reproduced in part if one of its anecdotes or revised rows "
    "is not reproduced. The same is true if one of its revised rows was not reproduced before."
)
LEGEND_TEXT = (
    "measured: mean ± half-width of its 95% interval over seeds. reproduced: the whole interval is "
    "within the tolerance; not reproduced: the whole interval is outside; inconclusive: neither. If a "
    "row is exact, the value of every seed must be within. A value that is undefined in some run is not "
    "reproduced, and the note says why. The basis is followed by the reason why a row does not count. An "
    "anecdote has a wide tolerance, and counts only if it is missed. A revised row counts only if it was and "
    "is missed. Bars and bands of figures are 95% "
    "intervals of the mean."
)

VERDICT_WORDS = {HOLDS: "reproduced", FAILS: "not reproduced", INCONCLUSIVE: "inconclusive"}
VERDICT_SIGNS = {HOLDS: "✓", FAILS: "✗", INCONCLUSIVE: "?"}
VERDICT_STYLES = {HOLDS: "green", FAILS: "bold red", INCONCLUSIVE: "yellow"}
BASIS_WORDS = {"own_model": "own model"}

RowDocument = Mapping[str, Any]


def format_verdict(row: RowDocument) -> str:
    """Returns the verdict of a row with its sign."""
    return (
        "– later"
        if is_marked_later(row)
        else f"{VERDICT_SIGNS[row['verdict']]} {verdict_word(row['verdict'])}"
    )


def verdict_word(verdict: str) -> str:
    """Returns the word that pages print for a verdict in `rows.json`."""
    return VERDICT_WORDS.get(verdict, verdict)


def format_verdict_with_former(row: RowDocument) -> str:
    """Returns the verdict of a row with its sign, and the former verdict if the row was revised."""
    if "revised" not in row:
        return format_verdict(row)
    former = row["revised"]["verdict"]
    prefix = "" if former == NEW_ROW else "before revision: "
    return f"{format_verdict(row)}, {prefix}{verdict_word(former)}"


def format_value(given: float | str | None, unit: str = "") -> str:
    """Formats the value of a row with its unit; a dash if there is none."""
    if given is None:
        return "–"
    if isinstance(given, str):
        return given
    return (
        f"{format_plain(given)}{format_unit(unit)}"
        if unit == "%"
        else f"{format_plain(given)} {format_unit(unit)}".strip()
    )


def format_unit(unit: str) -> str:
    """Returns a unit as it is printed; ratios have none."""
    return "" if unit == "1" else unit


def format_plain(given: float) -> str:
    """Formats a number in up to six digits; very small and very large ones with an exponent."""
    if given and not 1e-6 <= abs(given) < 1e15:
        return f"{given:.4g}"
    return formats.format_trimmed(given) if isinstance(given, float) else formats.format_number(given)


def format_measured(row: RowDocument) -> str:
    """Formats the measured value of a row, with the half-width of its 95% interval."""
    found, half = row["measured"], row["ci95"]
    if found is None and row["verdict"] == FAILS:
        return "undefined" if row["seeds"] else "not measured"
    if found is None or isinstance(found, str) or not half:
        return format_value(found, row["unit"])
    return f"{formats.format_plus_minus(found, half)} {format_unit(row['unit'])}".strip()


def format_tolerance(row: RowDocument) -> str:
    """Formats the tolerance of a row."""
    form = row["tolerance"]
    if form is None:
        return "–" if row["published"] is None or is_marked_later(row) else "the same"
    if set(form) == {"min", "max"}:
        return f"{format_plain(form['min'])} to {format_plain(form['max'])}"
    [(name, size)] = form.items()
    if name == "prediction" and isinstance(row["published"], str):
        return f"among the most frequent {format_plain(100 * size)}%"
    texts = {
        "min": f"≥ {format_plain(size)}",
        "max": f"≤ {format_plain(size)}",
        "abs": f"± {format_plain(size)}" if size else "exactly",
        "rel": f"± {format_plain(100 * size)}%",
        "factor": f"within a factor of {format_plain(size)}",
        "prediction": f"in the {format_plain(100 * size)}% prediction interval of one run",
    }
    return texts[name]


def format_basis(row: RowDocument) -> str:
    """Returns the origin of a published value, with the reason why its row does not count, if so."""
    name = BASIS_WORDS.get(row["basis"], str(row["basis"]))
    return name if row["counts"] in (COUNTED, DERIVED) else f"{name}; {row['counts']}"


def row_notes(row: RowDocument) -> list[str]:
    """Returns the notes printed below a row."""
    found = [row["note"]] if row["note"] else []
    one = row.get("prediction")
    if one and one["inside"] is not None:
        where = "inside" if one["inside"] else "outside"
        text = f"the published run is {where} the 95% prediction interval of one of our runs"
        low, high = format_plain(one["low"]), format_plain(one["high"])
        found.append(f"{text}, {low} to {high} {format_unit(row['unit'])}".rstrip())
    return found


def describe_score(found: Mapping[str, int], rows: Iterable[RowDocument]) -> str:
    """Describes how many of the rows that count have each verdict, and how many rows were not run."""
    texts = [f"{found[one]} {VERDICT_WORDS[one]}" for one in VERDICTS if found[one]]
    of = found["of"]
    text = (
        f"{of} row{'s' * (of != 1)} count{'s' * (of == 1)}: {', '.join(texts)}"
        if of
        else "no row of this figure counts"
    )
    return "; ".join(filter(None, (text, describe_rows_not_run(sum(is_marked_later(row) for row in rows)))))


def revision_reasons(rows: Sequence[RowDocument]) -> list[str]:
    """Returns one line of text for each reason for which rows were revised after a first run."""
    return [describe_revision(one) for one in group_by_cause(rows)]


def describe_revision(cause: RevisionCause) -> str:
    """Describes the rows revised for one reason, and names those that are no longer reproduced."""
    rows = f"{cause.rows} row{'s' * (cause.rows != 1)}"
    text = f"{cause.reason}: {rows}, {cause.reproduced_now} reproduced, {cause.reproduced_before} before"
    text = f"{text}, {cause.new} new" if cause.new else text
    return (
        f"{text}. No longer: {'; '.join(cause.no_longer_reproduced)}" if cause.no_longer_reproduced else text
    )


def describe_rows_not_run(count: int) -> str:
    """Describes the number of rows without a run; empty without any."""
    return f"{count} row{' has' if count == 1 else 's have'} no run" if count else ""


def describe_reproduced_rows(rows: Sequence[RowDocument]) -> str:
    """Describes how many of a figure's rows that count are reproduced."""
    found = count_verdicts(rows, VERDICTS)
    text = (
        f"{found[HOLDS]} of {found['of']} rows that count are reproduced"
        if found["of"]
        else "no row of this figure counts"
    )
    return "; ".join(filter(None, (text, describe_rows_not_run(sum(is_marked_later(row) for row in rows)))))


def markdown_row(given: Iterable[str]) -> str:
    """Returns a row of a Markdown table."""
    return "| " + " | ".join(escape_markdown(one) for one in given) + " |"


def escape_markdown(text: str) -> str:
    """Escapes a text for Markdown, except for names in backquotes."""
    parts = " ".join(text.split()).split("`")
    if len(parts) % 2 == 0:  # the last backquote is not paired
        parts[-2:] = [f"{parts[-2]}\\`{parts[-1]}"]
    for at in range(0, len(parts), 2):
        for letter in "\\|*_<[":
            parts[at] = parts[at].replace(letter, f"\\{letter}" if letter != "<" else "&lt;")
    return "`".join(parts)
