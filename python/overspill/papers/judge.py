"""Values by seed beside what was published: the verdict of a row. Pure: no files, no runs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from overspill import Failed, stats
from overspill.papers.rows import Row, Tolerance
from overspill.papers.spec import Measured
from overspill.papers.verdicts import FAILS, HOLDS, INCONCLUSIVE

# Ends of tolerances reach this much further, as a share: 0.13 + 0.005 is not 0.135 in binary.
NOISE = 1e-9
FEWEST = 3  # seeds from which the spread of single runs is known at all
Of = Callable[[Sequence[float], float], tuple[float, float] | None]  # where one more value lies


@dataclass(frozen=True)
class Judged:
    """A row's measurement over seeds and its verdict; `ci95` is half of the mean's 95 % interval."""

    measured: float | str | None
    ci95: float | None
    seeds: int
    verdict: str
    note: str = ""
    prediction: Mapping[str, Any] | None = None


PLATFORM = "model"  # what measured: a model in software
ONE_SEED = "one seed: no interval, and so no verdict"


def judge(row: Row, found: Measured | None, missing: str = "nothing computes it", seeds: int = 0) -> Judged:
    """The verdict of a row; `missing` says why nothing was measured. `Failed` where the code is at fault.

    `seeds` is how many the runs have, 0 where there are none: with a single one only what is exact is judged.
    """
    made = judged(row, found, missing)
    if seeds != 1 or row.kind == "exact" or made.measured is None or isinstance(made.measured, str):
        return made
    return replace(made, verdict=INCONCLUSIVE, note=joined(made.note, ONE_SEED))


def judged(row: Row, found: Measured | None, missing: str) -> Judged:
    """The verdict by the values alone."""
    if found is None:
        if row.later:
            return Judged(None, None, 0, INCONCLUSIVE, "", run(row, ()))
        return Judged(None, None, 0, FAILS, missing, run(row, ()))
    place = f"{row.figure}, {row.case}, {row.metric}"
    if row.later:
        raise Failed(f"{place}: measured, but rows.toml has it for later; take `later` away")
    if not len(found.values):
        return Judged(None, None, 0, FAILS, joined(found.note, missing), run(row, ()))
    texts = [one for one in found.values if isinstance(one, str)]
    if texts and len(texts) != len(found.values):
        raise Failed(f"{place}: found numbers and texts; expected one kind of value")
    if bool(texts) != isinstance(row.published, str):
        kinds = ("texts", "a number") if texts else ("numbers", "a text")
        raise Failed(f"{place}: measured are {kinds[0]}, but {kinds[1]} is published")
    if texts:
        return of_texts(row, texts, found.note)
    values = [float(one) for one in found.values]
    if found.seeds is None:
        return of_numbers(row, values, found.note)
    return replace(of_numbers(row, values, found.note, interval_of_part), ci95=None, seeds=found.seeds)


def of_texts(row: Row, texts: Sequence[str], note: str) -> Judged:
    """Texts hold where every seed's is the published one, or where one of our runs may well give it."""
    counts = Counter(texts)
    # The most frequent first, equal ones by their letters.
    order = sorted(counts, key=lambda text: (-counts[text], text))
    shown = order[0]
    if len(order) > 1:
        shown = "; ".join(f"{text} ({counts[text]} of {len(texts)})" for text in order)
    if row.tolerance is not None and row.tolerance.prediction is not None:
        likely = likeliest(counts, order, row.tolerance.prediction)
        verdict = INCONCLUSIVE if len(texts) < FEWEST else HOLDS if row.published in likely else FAILS
    else:
        verdict = HOLDS if order == [row.published] else FAILS
    return Judged(shown, None, len(texts), verdict, note)


def likeliest(counts: Mapping[str, int], order: Sequence[str], level: float) -> list[str]:
    """The most frequent texts, so many that they have that share of all runs; equals are in together."""
    needed = (level - NOISE) * sum(counts.values())
    found: list[str] = []
    for text in order:
        if sum(counts[one] for one in found) >= needed and counts[text] < counts[found[-1]]:
            break
        found.append(text)
    return found


def of_numbers(row: Row, values: Sequence[float], note: str, of_one: Of | None = None) -> Judged:
    """Numbers hold where their mean's interval lies within the tolerance, exact ones where every one does."""
    known = [one for one in values if math.isfinite(one)]
    if len(known) < len(values):
        text = f"no finite value in {len(values) - len(known)} of {len(values)}"
        if known:
            text += f", mean of the others {stats.mean(known):.6g}"
        return Judged(None, None, len(values), FAILS, joined(note, text), run(row, ()))
    centre, half = middle(values)
    assert row.tolerance is not None
    of_one = of_one or interval_of_one
    if row.tolerance.prediction is not None:
        verdict = predicted(row, values, row.tolerance.prediction, of_one)
    elif row.kind == "exact":
        each = (compared((one, one), row.tolerance, row.published) for one in values)
        verdict = HOLDS if all(one == HOLDS for one in each) else FAILS
    else:
        reach = half or 0.0
        verdict = compared((centre - reach, centre + reach), row.tolerance, row.published)
    return Judged(centre, half, len(values), verdict, note, run(row, values, of_one))


def middle(values: Sequence[float]) -> tuple[float, float | None]:
    """The mean and half of its interval: none with one value, 0 where chance has no part."""
    if len(values) == 1:
        return values[0], None
    if min(values) == max(values):
        return values[0], 0.0
    return stats.mean(values), stats.half_width(values)


def compared(interval: tuple[float, float], within: Tolerance, published: float | str | None) -> str:
    """The verdict of an interval."""
    size = abs(published) if isinstance(published, int | float) else 0.0
    low, high = (
        bound if math.isinf(bound) else bound + sign * NOISE * max(abs(bound), size)
        for bound, sign in ((within.low, -1), (within.high, 1))
    )
    if low <= interval[0] and interval[1] <= high:
        return HOLDS
    return FAILS if interval[1] < low or interval[0] > high else INCONCLUSIVE


def interval_of_one(values: Sequence[float], level: float) -> tuple[float, float] | None:
    """Where one more run lies with this confidence: mean ± t s sqrt(1 + 1/n); `None` with fewer than two."""
    if len(values) < 2:
        return None
    centre, half = middle(values)
    if not half:
        return centre, centre
    # The interval of the mean is t s / sqrt(n).
    reach = (stats.half_width(values, level) or 0.0) * math.sqrt(len(values) + 1)
    return centre - reach, centre + reach


def interval_of_part(values: Sequence[float], level: float) -> tuple[float, float] | None:
    """Where one more part lies with this confidence at least, however parts are distributed.

    From the k-th least value to the k-th largest, of n, one more lies with (n + 1 - 2 k) / (n + 1); `None`
    with too few. Counts of a packet are bounded, and often at either end: t would reach beyond.
    """
    ordered = sorted(values)
    k = math.floor((1 - level) / 2 * (len(ordered) + 1) + NOISE)
    return (ordered[k - 1], ordered[-k]) if k else None


def predicted(row: Row, values: Sequence[float], level: float, of_one: Of) -> str:
    """Returns true if the published value may be that of one of our runs, or of a part of one."""
    between = of_one(values, level) if len(values) >= FEWEST else None
    if between is None:
        return INCONCLUSIVE
    return HOLDS if inside(row, between) else FAILS


def inside(row: Row, between: tuple[float, float]) -> bool:
    """Returns true if the published value lies in an interval."""
    value = float(row.published or 0.0)
    return compared((value, value), Tolerance({}, *between), value) == HOLDS


def run(row: Row, values: Sequence[float], of_one: Of = interval_of_one) -> Mapping[str, Any] | None:
    """The 95 % interval of one of our runs, and whether the published value is in, where one run is shown."""
    if not row.one_run:
        return None
    between = of_one(values, stats.LEVEL)
    if between is None:
        return {"low": None, "high": None, "inside": None}
    # Of runs that are all the same there is no spread, and what is printed is rounded.
    chance = between[0] < between[1]
    return {"low": between[0], "high": between[1], "inside": inside(row, between) if chance else None}


def joined(*notes: str) -> str:
    """Notes as one."""
    return "; ".join(note for note in notes if note)


def document(paper: str, row: Row, found: Judged) -> dict[str, Any]:
    """A row as `--json` prints it."""
    made: dict[str, Any] = {
        "paper": paper,
        "figure": row.figure,
        "case": row.case,
        "metric": row.metric,
        "unit": row.unit,
        "published": row.published,
        "measured": found.measured,
        "ci95": found.ci95,
        "seeds": found.seeds,
        "platform": PLATFORM,
        "basis": row.basis,
        "kind": row.kind,
        "tolerance": None if row.tolerance is None else dict(row.tolerance.form),
        "verdict": found.verdict,
        "ok": found.verdict == HOLDS,
        "note": joined(row.note, found.note),
    }
    if row.repeat:
        made["repeat"] = row.repeat
    if found.prediction is not None:
        made["prediction"] = dict(found.prediction)
    if row.revised is not None:
        made["revised"] = {
            "verdict": row.revised.verdict,
            "why": row.revised.why,
            "of": row.revised.change,
        }
    return made
