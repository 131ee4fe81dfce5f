"""Seeds with exactly equal values that chance should vary, so that ± 0 is no interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from overspill import stats
from overspill.grouping import group_by_key
from overspill.results import metrics
from overspill.results.formats import join_with_and
from overspill.results.metric_key import Key
from overspill.stats.quantiles import Value

# Metrics that differ between seeds if random draws affect flows at all. QCT is none of them: it is a maximum,
# and a link that is never idle sends its last byte at the same instant, whichever flow comes first.
CHANCE_SENSITIVE_METRICS = ("fct_mean", "flow_goodput_min")
COMPARED_DIGITS = 6  # significant digits: one segment more or less changes flows of a gigabyte by as much

ValuesBySeed = Mapping[int, Mapping[Key, Value]]


@dataclass(frozen=True)
class EqualSeeds:
    """Finding that metrics are equal in all seeds of a variant; `metrics` is empty if all of them are."""

    seeds: int
    metrics: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Warning about equal values in all seeds."""
        if not self.metrics:
            return (
                f"every number is the same in all {self.seeds} seeds: random draws have no effect. Seeds "
                "give no independent repetitions, so ± 0 is not an interval"
            )
        titles = join_with_and([metrics.find_metric(name).title for name in self.metrics])
        are = "are" if len(self.metrics) > 1 else "is"
        return (
            f"{titles} {are} the same to {COMPARED_DIGITS} digits in all {self.seeds} seeds: random draws "
            "do not "
            "affect flows, or their packets are phase-locked. Seeds give no independent repetitions, so "
            "± 0 is not an interval"
        )


def find_equal_seeds(by_seed: ValuesBySeed) -> EqualSeeds | None:
    """Returns metrics that are equal in three or more seeds of a variant although chance should vary them."""
    every = list(by_seed.values())
    if len(every) < stats.MIN_SEEDS_FOR_INTERVAL or not every[0]:
        return None
    if all(one == every[0] for one in every):
        return EqualSeeds(len(every))
    names = tuple(
        name for name in CHANCE_SENSITIVE_METRICS if are_equal([one.get(Key(name)) for one in every])
    )
    return EqualSeeds(len(every), names) if names else None


def are_equal(values: Sequence[Value | None]) -> bool:
    """Returns true if all seeds have a value, and all are equal to `COMPARED_DIGITS` digits."""
    known = [one.value for one in values if one is not None and not one.censored]
    if len(known) < len(values):
        return False
    return max(known) - min(known) <= 10.0**-COMPARED_DIGITS * max(abs(one) for one in known)


def repeated_seed_lines(variants: Mapping[str, ValuesBySeed]) -> list[str]:
    """Returns a sentence for each finding, with the variants that share it."""
    found = ((find_equal_seeds(by_seed), variant) for variant, by_seed in variants.items())
    by_text = group_by_key((alike.text, variant) for alike, variant in found if alike is not None)
    return [f"{join_with_and(names)}: {text}" for text, names in by_text.items()]
