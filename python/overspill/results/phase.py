"""Runs beside the same with their starts moved by less than a frame's time: the metrics that this moves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from overspill import stats
from overspill.results import cells, formats, metrics, tables
from overspill.results.key import Key, parsed
from overspill.results.labels import Line
from overspill.results.tables import Summary
from overspill.stats.quantiles import Value

BOUND = 0.01  # of the mean: histograms are known within 0.8 %, and a frame's time is no news
HINT = 0.25  # of it where seeds are too few for intervals
NAMED = 6  # metrics that a line names
SHOWN = 12  # rows of the table, of each variant

BySeed = Mapping[int, Mapping[Key, Value]]
Facts = Mapping[str, Any]


@dataclass(frozen=True)
class Pair:
    """A metric in the same seeds, as the scenario has it and with starts moved."""

    name: Key
    before: Sequence[float]
    after: Sequence[float]

    @property
    def differences(self) -> list[float]:
        """Seed by seed."""
        return [stats.subtract(new, old) for old, new in zip(self.before, self.after, strict=True)]

    @property
    def share(self) -> float:
        """By how much the mean moves, of the larger of both."""
        means = stats.mean(self.before), stats.mean(self.after)
        return abs(stats.mean(self.differences)) / max(map(abs, means), default=1.0)


def pairs(before: BySeed, after: BySeed) -> list[Pair]:
    """Every metric that differs in any seed, of the seeds in which both have it; none that has bounds."""
    seeds = [seed for seed in before if seed in after]
    names = dict.fromkeys(name for seed in seeds for name in before[seed])
    for again in metrics.one_size(names):
        del names[again]
    found = []
    for name in tables.ordered({0: dict.fromkeys(names, Value(0.0))}):
        values = [(before[seed].get(name), after[seed].get(name)) for seed in seeds]
        known = [(a, b) for a, b in values if a is not None and b is not None]
        if any(a.censored or b.censored for a, b in known):
            continue
        pair = Pair(name, [a.value for a, _ in known], [b.value for _, b in known])
        if any(pair.differences):
            found.append(pair)
    return found


def moved(every: Sequence[Pair]) -> list[Pair]:
    """Those that moved by more than chance: by more than their own interval and by a share of their mean.

    With three seeds or more, the paired differences differ from 0 as well, corrected for how many metrics
    there are: of so many, some would move so by chance. With fewer, ranges lie apart and the share is a
    quarter.
    """
    many = [pair for pair in every if len(pair.before) >= stats.FEWEST]
    sure = stats.rejected([pair.differences for pair in many])
    told = {id(pair) for pair, one in zip(many, sure, strict=True) if one and beyond(pair)}
    told |= {id(pair) for pair in every if len(pair.before) < stats.FEWEST and apart(pair)}
    return [pair for pair in every if id(pair) in told]


def beyond(pair: Pair) -> bool:
    """Whether the mean moves out of its own interval."""
    low, high = interval(pair.name, pair.before) or (0.0, 0.0)
    return pair.share > BOUND and not low <= stats.mean(pair.after) <= high


def apart(pair: Pair) -> bool:
    """Whether the values of few seeds all lie on one side of the others."""
    gap = max(min(pair.after) - max(pair.before), min(pair.before) - max(pair.after))
    return gap > 0 and pair.share > HINT


def interval(name: Key, values: Sequence[float]) -> stats.Interval | None:
    """The interval of a metric, as tables have it."""
    return stats.interval(values, metrics.find(name).order_statistic)


def compared(told: Facts, before: Mapping[str, BySeed], after: Mapping[str, BySeed]) -> dict[str, Any]:
    """What is kept of a check; `told` is what was moved, kept and refused, and runs that failed."""
    variants = {}
    for variant in told["moved"]:
        old, new = before.get(variant, {}), after.get(variant, {})
        variants[variant] = {
            "seeds": [seed for seed in old if seed in new],
            "missing": len(old.keys() - new.keys()),
            "metrics": {str(pair.name): entry(pair) for pair in moved(pairs(old, new))},
        }
    return {**told, "variants": variants}


def entry(pair: Pair) -> dict[str, Any]:
    """A metric that moved, with its numbers."""
    return {
        "unit": metrics.find(pair.name).unit,
        "before": numbers(pair.name, pair.before),
        "after": numbers(pair.name, pair.after),
    }


def numbers(name: Key, values: Sequence[float]) -> dict[str, Any]:
    """Mean and interval; of two seeds the range, of one neither."""
    bounds = interval(name, values) if len(values) >= stats.FEWEST else None
    ends = bounds or ((min(values), max(values)) if len(values) > 1 else None)
    found: dict[str, Any] = {"n": len(values), "mean": stats.mean(values)}
    return found | {"interval" if bounds else "range": None if ends is None else list(ends)}


def lines(facts: Facts) -> list[Line]:
    """What a check has found, the variants with moved metrics first."""
    known = facts.get("phase")
    if not known:
        return []
    return [*hanging(known), *steady(known), *left(known)]


def hanging(known: Facts) -> Iterator[Line]:
    """Variants with metrics that moved."""
    for variant, one in known["variants"].items():
        names = ranked(one["metrics"])
        if names:
            named = "; ".join(metrics.find(name).title for name in names[:NAMED])
            named += f"; and {len(names) - NAMED} more" if len(names) > NAMED else ""
            text = f"{variant}: moved by more than {limit(one, 'their')} {when(known)}: {named}"
            yield Line("HANGS ON TIES", text + hint(one), True)


def steady(known: Facts) -> Iterator[Line]:
    """Variants of which nothing moved, and those where there was nothing to move."""
    still = [name for name, one in known["variants"].items() if one["seeds"] and not one["metrics"]]
    if still:
        one = known["variants"][still[0]]
        text = f"no metric moved by more than {limit(one, 'its')} {when(known)}{hint(one)}"
        yield Line("phase check", f"{formats.joined(still)}: {text}")
    scattered = [name for name in known["kept"] if name not in {**known["moved"], **known["refused"]}]
    if scattered:
        text = f"every workload has a jitter of {frame(known)}, the time of a frame, or more: nothing to move"
        yield Line("phase check", f"{formats.joined(scattered)}: {text}")


def left(known: Facts) -> Iterator[Line]:
    """Workloads that could not be moved, and runs of the check that are not there."""
    by_reason: dict[str, list[str]] = {}
    for by_name in known["refused"].values():
        for name, why in by_name.items():
            if name not in by_reason.setdefault(why, []):
                by_reason[why].append(name)
    for why, names in by_reason.items():
        yield Line("PHASE CHECK", f"starts of {formats.joined(names)} cannot be moved: {why}", True)
    absent = [name for name, one in known["variants"].items() if one["missing"]]
    if absent:
        runs = sum(known["variants"][name]["missing"] for name in absent)
        reason = f": {known['failures'][0]}" if known["failures"] else ". Run the same command to continue"
        yield Line(
            "PHASE CHECK", f"{formats.joined(absent)}: {runs} runs of the check are missing{reason}", True
        )


def frame(known: Facts) -> str:
    """The time of a frame."""
    return formats.time(known["frame_ps"])


def when(known: Facts) -> str:
    """What was done."""
    return f"when starts were moved by less than {frame(known)}"


def limit(one: Facts, whose: str) -> str:
    """By how much a metric has to move."""
    if len(one["seeds"]) >= stats.FEWEST:
        return f"{whose} own 95% interval"
    return f"{whose} range and {HINT * 100:.0f} %"


def hint(one: Facts) -> str:
    """What few seeds leave open."""
    if len(one["seeds"]) >= stats.FEWEST:
        return ""
    return "; of so few seeds this is a hint"


def ranked(names: Mapping[str, Any]) -> list[str]:
    """Metrics, those of the printed table first."""
    first = {name: at for at, name in enumerate((*cells.WITHOUT_FLOWS, *cells.FIRST))}
    return sorted(names, key=lambda name: first.get(name, len(first)))


@dataclass(frozen=True)
class Row:
    """A metric that moved, in words."""

    variant: str
    title: str
    before: str
    after: str


def table(facts: Facts) -> tuple[list[Row], int]:
    """The rows to print, and how many more there are."""
    known = facts.get("phase") or {"variants": {}}
    found, more = [], 0
    for variant, one in known["variants"].items():
        names = ranked(one["metrics"])
        found += [row(variant, name, one["metrics"][name]) for name in names[:SHOWN]]
        more += len(names[SHOWN:])
    return found, more


def row(variant: str, name: str, one: Facts) -> Row:
    """A metric of a variant, both numbers in one unit."""
    both = [summary(name, one[part]) for part in ("before", "after")]
    factor, unit = formats.scale(one["unit"], [part.mean for part in both])
    title = formats.headed(metrics.find(parsed(name)).title, unit)
    return Row(variant, title, *(formats.cell(part, factor) for part in both))


def summary(name: str, one: Facts) -> Summary:
    """The numbers of a metric as a cell takes them."""
    within = metrics.find(parsed(name)).within * abs(one["mean"])
    bounds, span = one.get("interval"), one.get("range")
    half = (bounds[1] - bounds[0]) / 2 if bounds else None
    low, high = bounds or (None, None)
    two = (span[0], span[1]) if span else None
    return Summary(one["n"], one["mean"], half, low, high, False, within, two)
