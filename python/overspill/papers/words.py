"""Texts of rows: numbers, tolerances, and verdicts with their signs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from overspill import formats
from overspill.papers.counting import YES, is_later
from overspill.papers.verdicts import FAILS, HOLDS, INCONCLUSIVE, NEW, VERDICTS, Cause, causes

HEADS = ("", "case", "metric", "published", "measured", "tolerance", "verdict", "basis")
LEGEND = (
    "measured: mean ± half-width of its 95% interval over seeds. reproduced: the whole interval is "
    "within the tolerance; not reproduced: the whole interval is outside; inconclusive: neither. If a "
    "row is exact, every seed must be within. A value that is undefined in some run is not reproduced, "
    "and the note says why. The basis is followed by the reason why a row does not count. An anecdote "
    "has a wide tolerance, and counts only if it is missed. Bars and bands of figures are 95% intervals "
    "of the mean."
)

PRINTED = {HOLDS: "reproduced", FAILS: "not reproduced", INCONCLUSIVE: "inconclusive"}
SIGNS = {HOLDS: "✓", FAILS: "✗", INCONCLUSIVE: "?"}
STYLES = {HOLDS: "green", FAILS: "bold red", INCONCLUSIVE: "yellow"}
BASES = {"own_model": "own model"}

Row = Mapping[str, Any]


def verdict(row: Row) -> str:
    """Returns the verdict with its sign."""
    return "– later" if is_later(row) else f"{SIGNS[row['verdict']]} {printed(row['verdict'])}"


def printed(verdict: str) -> str:
    """Returns a verdict of a file as pages print it."""
    return PRINTED.get(verdict, verdict)


def with_former(row: Row) -> str:
    """Returns the verdict with its sign, and the verdict before a revision."""
    if "revised" not in row:
        return verdict(row)
    former = row["revised"]["verdict"]
    return f"{verdict(row)}, {'' if former == NEW else 'was '}{printed(former)}"


def value(given: float | str | None, unit: str = "") -> str:
    """Formats a number or a text with its unit."""
    if given is None:
        return "–"
    if isinstance(given, str):
        return given
    return f"{plain(given)}{shown(unit)}" if unit == "%" else f"{plain(given)} {shown(unit)}".strip()


def shown(unit: str) -> str:
    """Returns a unit as it is printed; ratios have none."""
    return "" if unit == "1" else unit


def plain(given: float) -> str:
    """Formats a number in up to six digits; very small and very large ones with an exponent."""
    if given and not 1e-6 <= abs(given) < 1e15:
        return f"{given:.4g}"
    return formats.trimmed(given) if isinstance(given, float) else formats.number(given)


def measured(row: Row) -> str:
    """Formats the measured value, with half of its 95% interval."""
    found, half = row["measured"], row["ci95"]
    if found is None and row["verdict"] == FAILS:
        return "undefined" if row["seeds"] else "not measured"
    if found is None or isinstance(found, str) or not half:
        return value(found, row["unit"])
    return f"{formats.spread(found, half)} {shown(row['unit'])}".strip()


def tolerance(row: Row) -> str:
    """Formats the tolerance of a measurement."""
    form = row["tolerance"]
    if form is None:
        return "–" if row["published"] is None or is_later(row) else "the same"
    if set(form) == {"min", "max"}:
        return f"{plain(form['min'])} to {plain(form['max'])}"
    [(name, size)] = form.items()
    if name == "prediction" and isinstance(row["published"], str):
        return f"among the most frequent {plain(100 * size)}%"
    texts = {
        "min": f"≥ {plain(size)}",
        "max": f"≤ {plain(size)}",
        "abs": f"± {plain(size)}" if size else "exactly",
        "rel": f"± {plain(100 * size)}%",
        "factor": f"within a factor of {plain(size)}",
        "prediction": f"in the {plain(100 * size)}% interval of a run",
    }
    return texts[name]


def basis(row: Row) -> str:
    """Returns the source of the published value, and the reason why the row does not count."""
    name = BASES.get(row["basis"], str(row["basis"]))
    return name if row["counts"] == YES else f"{name}; {row['counts']}"


def notes(row: Row) -> list[str]:
    """Returns the notes below a row."""
    found = [row["note"]] if row["note"] else []
    one = row.get("prediction")
    if one and one["inside"] is not None:
        where = "inside" if one["inside"] else "outside"
        text = f"the published run is {where} the 95% prediction interval of one of our runs"
        found.append(f"{text}, {plain(one['low'])} to {plain(one['high'])} {shown(row['unit'])}".rstrip())
    return found


def score(found: Mapping[str, int], rows: Iterable[Row]) -> str:
    """Describes the number of rows that count with each verdict, and the number not run."""
    texts = [f"{found[one]} {PRINTED[one]}" for one in VERDICTS if found[one]]
    of = found["of"]
    text = f"{of} row{'s' * (of != 1)} count{'s' * (of == 1)}: {', '.join(texts)}" if of else "no row counts"
    return "; ".join(filter(None, (text, not_run(sum(is_later(row) for row in rows)))))


def reasons(rows: Sequence[Row]) -> list[str]:
    """Returns a line for each reason of revisions after a first run."""
    return [reason(one) for one in causes(rows)]


def reason(cause: Cause) -> str:
    """Describes the rows of one reason, with the names of those that are not reproduced any more."""
    rows = f"{cause.rows} row{'s' * (cause.rows != 1)}"
    text = f"{cause.why}: {rows}, {cause.hold} reproduced, {cause.held} before"
    text = f"{text}, {cause.new} new" if cause.new else text
    return f"{text}. No longer: {'; '.join(cause.lost)}" if cause.lost else text


def not_run(count: int) -> str:
    """Describes the number of rows without a run; empty without any."""
    return f"{count} row{' has' if count == 1 else 's have'} no run" if count else ""


def held(rows: Sequence[Row]) -> str:
    """Describes the number of a figure's rows that are reproduced."""
    text = f"{sum(row['ok'] for row in rows)} of {len(rows)} rows reproduced"
    return "; ".join(filter(None, (text, not_run(sum(is_later(row) for row in rows)))))


def line(given: Iterable[str]) -> str:
    """Returns a row of a Markdown table."""
    return "| " + " | ".join(escaped(one) for one in given) + " |"


def escaped(text: str) -> str:
    """Escapes a text for Markdown, except names in backquotes."""
    parts = " ".join(text.split()).split("`")
    if len(parts) % 2 == 0:  # the last backquote is not paired
        parts[-2:] = [f"{parts[-2]}\\`{parts[-1]}"]
    for at in range(0, len(parts), 2):
        for letter in "\\|*_<[":
            parts[at] = parts[at].replace(letter, f"\\{letter}" if letter != "<" else "&lt;")
    return "`".join(parts)
