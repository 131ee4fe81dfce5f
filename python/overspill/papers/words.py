"""How rows are written for people: numbers, tolerances, verdicts with their signs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from overspill import formats
from overspill.papers.counting import YES, is_later
from overspill.papers.verdicts import FAILS, HOLDS, INCONCLUSIVE, NEW, VERDICTS, Cause, causes

HEADS = ("", "case", "metric", "published", "measured", "tolerance", "verdict", "basis")
LEGEND = (
    "measured: mean ± half-width of its 95% interval over seeds. reproduced: the whole interval is within "
    "the tolerance; not reproduced: wholly outside; inconclusive: neither. Where a row is exact, every seed "
    "must be within. What is undefined in some run is not reproduced, and its note says why. After the "
    "basis stands why a row does not count; an anecdote has a wide tolerance, and counts only if it is "
    "missed. Bars and bands of figures are 95% intervals of the mean."
)

PRINTED = {HOLDS: "reproduced", FAILS: "not reproduced", INCONCLUSIVE: "inconclusive"}
SIGNS = {HOLDS: "✓", FAILS: "✗", INCONCLUSIVE: "?"}
STYLES = {HOLDS: "green", FAILS: "bold red", INCONCLUSIVE: "yellow"}
BASES = {"own_model": "own model"}

Row = Mapping[str, Any]


def verdict(row: Row) -> str:
    """The verdict with its sign."""
    return "– later" if is_later(row) else f"{SIGNS[row['verdict']]} {printed(row['verdict'])}"


def printed(verdict: str) -> str:
    """A verdict of a file as pages print it."""
    return PRINTED.get(verdict, verdict)


def with_former(row: Row) -> str:
    """The verdict with its sign, and where the row was revised the last one before."""
    if "revised" not in row:
        return verdict(row)
    former = row["revised"]["verdict"]
    return f"{verdict(row)}, {'' if former == NEW else 'was '}{printed(former)}"


def value(given: float | str | None, unit: str = "") -> str:
    """A number or text with its unit."""
    if given is None:
        return "–"
    if isinstance(given, str):
        return given
    return f"{plain(given)} {shown(unit)}".strip()


def shown(unit: str) -> str:
    """A unit as it is printed; ratios have none."""
    return "" if unit == "1" else unit


def plain(given: float) -> str:
    """A number in up to six digits; very small and very large ones with an exponent."""
    if given and not 1e-6 <= abs(given) < 1e15:
        return f"{given:.4g}"
    return formats.trimmed(given) if isinstance(given, float) else formats.number(given)


def measured(row: Row) -> str:
    """What was measured, with half of its 95% interval."""
    found, half = row["measured"], row["ci95"]
    if found is None and row["verdict"] == FAILS:
        return "undefined" if row["seeds"] else "not measured"
    if found is None or isinstance(found, str) or not half:
        return value(found, row["unit"])
    return f"{formats.spread(found, half)} {shown(row['unit'])}".strip()


def tolerance(row: Row) -> str:
    """What a measurement must keep to."""
    form = row["tolerance"]
    if form is None:
        return "–" if row["published"] is None or is_later(row) else "the same"
    if set(form) == {"min", "max"}:
        return f"{plain(form['min'])} to {plain(form['max'])}"
    [(name, size)] = form.items()
    if name == "prediction" and isinstance(row["published"], str):
        return f"among the likeliest {plain(100 * size)}%"
    texts = {
        "min": f"≥ {plain(size)}",
        "max": f"≤ {plain(size)}",
        "abs": f"± {plain(size)}" if size else "exactly",
        "rel": f"± {plain(100 * size)}%",
        "factor": f"within a factor of {plain(size)}",
        "prediction": f"in {plain(100 * size)} % interval of a run",
    }
    return texts[name]


def basis(row: Row) -> str:
    """Where the published value is from, and why the row does not count."""
    name = BASES.get(row["basis"], str(row["basis"]))
    return name if row["counts"] == YES else f"{name}; {row['counts']}"


def notes(row: Row) -> list[str]:
    """What is told below a row."""
    found = [row["note"]] if row["note"] else []
    one = row.get("prediction")
    if one and one["inside"] is not None:
        where = "inside" if one["inside"] else "outside"
        text = f"the published run lies {where} the 95% prediction interval of one of ours"
        found.append(f"{text}, {plain(one['low'])} to {plain(one['high'])} {shown(row['unit'])}".rstrip())
    return found


def score(found: Mapping[str, int], rows: Iterable[Row]) -> str:
    """Describes how many rows that count have each verdict, and how many are not run."""
    texts = [f"{found[one]} {PRINTED[one]}" for one in VERDICTS if found[one]]
    of = found["of"]
    text = f"{of} row{'s' * (of != 1)} count{'s' * (of == 1)}: {', '.join(texts)}" if of else "no row counts"
    return "; ".join(filter(None, (text, not_run(sum(is_later(row) for row in rows)))))


def reasons(rows: Sequence[Row]) -> list[str]:
    """Why rows were revised after a first run, a line for each reason."""
    return [reason(one) for one in causes(rows)]


def reason(cause: Cause) -> str:
    """What became of the rows of one reason, with the name of each that holds no more."""
    rows = f"{cause.rows} row{'s' * (cause.rows != 1)}"
    text = f"{cause.why}: {rows}, {cause.hold} reproduced, {cause.held} before"
    text = f"{text}, {cause.new} new" if cause.new else text
    return f"{text}. No longer: {'; '.join(cause.lost)}" if cause.lost else text


def not_run(count: int) -> str:
    """Describes how many rows have no run; empty without any."""
    return f"{count} row{' has' if count == 1 else 's have'} no run" if count else ""


def held(rows: Sequence[Row]) -> str:
    """Describes how many of a figure's rows are reproduced."""
    text = f"{sum(row['ok'] for row in rows)} of {len(rows)} rows reproduced"
    return "; ".join(filter(None, (text, not_run(sum(is_later(row) for row in rows)))))


def line(given: Iterable[str]) -> str:
    """A row of a table in Markdown."""
    return "| " + " | ".join(escaped(one) for one in given) + " |"


def escaped(text: str) -> str:
    """A text that Markdown leaves alone, but for names in backquotes."""
    parts = " ".join(text.split()).split("`")
    if len(parts) % 2 == 0:  # the last backquote has no other
        parts[-2:] = [f"{parts[-2]}\\`{parts[-1]}"]
    for at in range(0, len(parts), 2):
        for letter in "\\|*_<[":
            parts[at] = parts[at].replace(letter, f"\\{letter}" if letter != "<" else "&lt;")
    return "`".join(parts)
