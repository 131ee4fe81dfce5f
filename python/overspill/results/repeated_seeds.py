"""Seeds that repeat a run to the digit, where they should not: the interval ± 0 is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from overspill import stats
from overspill.grouping import by_key
from overspill.results import metrics
from overspill.results.formats import joined
from overspill.results.key import Key
from overspill.stats.quantiles import Value

# Chance that reaches flows moves one of these. QCT, a maximum, is no such: a link that is never idle ends
# with its last byte at the same instant, whoever comes first.
MOVED = ("fct_mean", "flow_goodput_min")
DIGITS = 6  # significant ones: one segment more or less moves flows of a gigabyte by as much

BySeed = Mapping[int, Mapping[Key, Value]]


@dataclass(frozen=True)
class Alike:
    """Metrics that seeds have in common; none are named where it is all of them."""

    seeds: int
    metrics: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """What that means."""
        if not self.metrics:
            return (
                f"every number is the same in all {self.seeds} seeds: nothing that is drawn at random makes "
                "a difference, seeds are no repetition, and ± 0 is no interval"
            )
        titles = joined([metrics.find(name).title for name in self.metrics])
        are = "are" if len(self.metrics) > 1 else "is"
        return (
            f"{titles} {are} the same to {DIGITS} digits in all {self.seeds} seeds: chance does not reach "
            "flows, or their packets are in step; seeds do not repeat them, and ± 0 is no interval"
        )


def find_repeats(by_seed: BySeed) -> Alike | None:
    """What three seeds or more of a variant have in common that chance should tell apart."""
    every = list(by_seed.values())
    if len(every) < stats.FEWEST or not every[0]:
        return None
    if all(one == every[0] for one in every):
        return Alike(len(every))
    names = tuple(name for name in MOVED if same([one.get(Key(name)) for one in every]))
    return Alike(len(every), names) if names else None


def same(values: Sequence[Value | None]) -> bool:
    """Whether all have a value, and no two differ in these digits."""
    known = [one.value for one in values if one is not None and not one.censored]
    if len(known) < len(values):
        return False
    return max(known) - min(known) <= 10.0**-DIGITS * max(abs(one) for one in known)


def lines(variants: Mapping[str, BySeed]) -> list[str]:
    """A sentence for each kind, the variants that share it together."""
    found = ((find_repeats(by_seed), variant) for variant, by_seed in variants.items())
    by_text = by_key((alike.text, variant) for alike, variant in found if alike is not None)
    return [f"{joined(names)}: {text}" for text, names in by_text.items()]
