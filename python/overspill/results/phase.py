"""Phase check: metrics that change if all starts are moved by less than a frame's time."""

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

BOUND = 0.01  # of the mean: histograms are known within 0.8%, and a frame's time is no finding
HINT = 0.25  # of the mean, with too few seeds for intervals
NAMED = 6  # metrics that a line names
SHOWN = 12  # rows of the table per variant

BySeed = Mapping[int, Mapping[Key, Value]]
Facts = Mapping[str, Any]


@dataclass(frozen=True)
class Pair:
    """Values of a metric in the same seeds, with the scenario's starts and with moved ones."""

    name: Key
    before: Sequence[float]
    after: Sequence[float]

    @property
    def differences(self) -> list[float]:
        """Differences by seed: moved minus original."""
        return [stats.subtract(new, old) for old, new in zip(self.before, self.after, strict=True)]

    @property
    def share(self) -> float:
        """Change of the mean, as a share of the larger mean."""
        means = stats.mean(self.before), stats.mean(self.after)
        return abs(stats.mean(self.differences)) / max(map(abs, means), default=1.0)


def pairs(before: BySeed, after: BySeed) -> list[Pair]:
    """Returns every metric that differs in any seed, with the seeds in which both runs have it.

    Metrics with lower bounds are left out.
    """
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
    """Returns the metrics that moved by more than chance: out of their interval, by a share of their mean.

    With three seeds or more, the paired differences must also differ from 0. They are corrected for the
    number of metrics, since some of many would move so by chance. With fewer, ranges must not overlap, and
    the share is a quarter.
    """
    many = [pair for pair in every if len(pair.before) >= stats.FEWEST]
    sure = stats.rejected([pair.differences for pair in many])
    told = {id(pair) for pair, one in zip(many, sure, strict=True) if one and beyond(pair)}
    told |= {id(pair) for pair in every if len(pair.before) < stats.FEWEST and apart(pair)}
    return [pair for pair in every if id(pair) in told]


def beyond(pair: Pair) -> bool:
    """Returns true if the mean moves out of its own interval."""
    low, high = interval(pair.name, pair.before) or (0.0, 0.0)
    return pair.share > BOUND and not low <= stats.mean(pair.after) <= high


def apart(pair: Pair) -> bool:
    """Returns true if the values of few seeds are all on one side of the others."""
    gap = max(min(pair.after) - max(pair.before), min(pair.before) - max(pair.after))
    return gap > 0 and pair.share > HINT


def interval(name: Key, values: Sequence[float]) -> stats.Interval | None:
    """Returns the interval of a metric, as in tables."""
    return stats.interval(values, metrics.find(name).order_statistic)


def compared(told: Facts, before: Mapping[str, BySeed], after: Mapping[str, BySeed]) -> dict[str, Any]:
    """Returns the result of a check; `told` has the workloads moved, kept and refused, and the failures."""
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
    """Returns a metric that moved, with its numbers."""
    return {
        "unit": metrics.find(pair.name).unit,
        "before": numbers(pair.name, pair.before),
        "after": numbers(pair.name, pair.after),
    }


def numbers(name: Key, values: Sequence[float]) -> dict[str, Any]:
    """Returns mean and interval; for two seeds the range, for one neither."""
    bounds = interval(name, values) if len(values) >= stats.FEWEST else None
    ends = bounds or ((min(values), max(values)) if len(values) > 1 else None)
    found: dict[str, Any] = {"n": len(values), "mean": stats.mean(values)}
    return found | {"interval" if bounds else "range": None if ends is None else list(ends)}


def lines(facts: Facts) -> list[Line]:
    """Returns the findings of a check, variants with moved metrics first."""
    known = facts.get("phase")
    if not known:
        return []
    return [*hanging(known), *steady(known), *left(known)]


def hanging(known: Facts) -> Iterator[Line]:
    """Yields warnings about variants with metrics that moved."""
    for variant, one in known["variants"].items():
        names = ranked(one["metrics"])
        if names:
            named = "; ".join(metrics.find(name).title for name in names[:NAMED])
            named += f"; and {len(names) - NAMED} more" if len(names) > NAMED else ""
            text = (
                f"{variant}: these metrics changed by more than {limit(one, 'their')} {when(known)}: {named}"
            )
            yield Line("SENSITIVE TO TIE-BREAKING", text + hint(one), True)


def steady(known: Facts) -> Iterator[Line]:
    """Yields lines on variants in which no metric moved, and on those without anything to move."""
    still = [name for name, one in known["variants"].items() if one["seeds"] and not one["metrics"]]
    if still:
        one = known["variants"][still[0]]
        text = f"no metric changed by more than {limit(one, 'its')} {when(known)}{hint(one)}"
        yield Line("phase check", f"{formats.joined(still)}: {text}")
    scattered = [name for name in known["kept"] if name not in {**known["moved"], **known["refused"]}]
    if scattered:
        text = (
            f"no start was moved, since every workload has a jitter of at least {frame(known)}, the time "
            "of a frame"
        )
        yield Line("phase check", f"{formats.joined(scattered)}: {text}")


def left(known: Facts) -> Iterator[Line]:
    """Yields warnings about workloads that could not be moved, and about missing runs of the check."""
    by_reason: dict[str, list[str]] = {}
    for by_name in known["refused"].values():
        for name, why in by_name.items():
            if name not in by_reason.setdefault(why, []):
                by_reason[why].append(name)
    for why, names in by_reason.items():
        yield Line("PHASE CHECK", f"the starts of {formats.joined(names)} cannot be moved: {why}", True)
    absent = [name for name, one in known["variants"].items() if one["missing"]]
    if absent:
        runs = sum(known["variants"][name]["missing"] for name in absent)
        reason = f": {known['failures'][0]}" if known["failures"] else ". Run the same command to continue"
        yield Line(
            "PHASE CHECK", f"{formats.joined(absent)}: {runs} runs of the check are missing{reason}", True
        )


def frame(known: Facts) -> str:
    """Formats the time of a frame."""
    return formats.time(known["frame_ps"])


def when(known: Facts) -> str:
    """Returns the description of the move."""
    return f"when starts moved by less than {frame(known)}"


def limit(one: Facts, whose: str) -> str:
    """Returns the amount by which a metric has to move."""
    if len(one["seeds"]) >= stats.FEWEST:
        return f"{whose} own 95% interval"
    return f"{whose} range and {HINT * 100:.0f}% of the mean"


def hint(one: Facts) -> str:
    """Returns the caution about few seeds; empty if there are enough."""
    if len(one["seeds"]) >= stats.FEWEST:
        return ""
    return ". So few seeds give only a hint"


def ranked(names: Mapping[str, Any]) -> list[str]:
    """Returns metrics with those of the printed table first."""
    first = {name: at for at, name in enumerate((*cells.WITHOUT_FLOWS, *cells.FIRST))}
    return sorted(names, key=lambda name: first.get(name, len(first)))


@dataclass(frozen=True)
class Row:
    """Metric that moved, as text."""

    variant: str
    title: str
    before: str
    after: str


def table(facts: Facts) -> tuple[list[Row], int]:
    """Returns the rows to print, and the number of further ones."""
    known = facts.get("phase") or {"variants": {}}
    found, more = [], 0
    for variant, one in known["variants"].items():
        names = ranked(one["metrics"])
        found += [row(variant, name, one["metrics"][name]) for name in names[:SHOWN]]
        more += len(names[SHOWN:])
    return found, more


def row(variant: str, name: str, one: Facts) -> Row:
    """Returns a metric of a variant, with both numbers in one unit."""
    both = [summary(name, one[part]) for part in ("before", "after")]
    factor, unit = formats.scale(one["unit"], [part.mean for part in both])
    title = formats.headed(metrics.find(parsed(name)).title, unit)
    return Row(variant, title, *(formats.cell(part, factor) for part in both))


def summary(name: str, one: Facts) -> Summary:
    """Returns the numbers of a metric in the form that a cell takes."""
    within = metrics.find(parsed(name)).within * abs(one["mean"])
    bounds, span = one.get("interval"), one.get("range")
    half = (bounds[1] - bounds[0]) / 2 if bounds else None
    low, high = bounds or (None, None)
    two = (span[0], span[1]) if span else None
    return Summary(one["n"], one["mean"], half, low, high, False, within, two)
