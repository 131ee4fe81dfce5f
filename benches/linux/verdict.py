"""How far Overspill is from the kernel, case by case, and whether that is within the tolerance."""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

from cases import Case, Tolerance
from outcome import Outcome
from overspill.stats.paired import LEVEL, half_width, mean

# What a run is measured by; those with a tolerance decide.
QUANTITIES: dict[str, Callable[[Outcome], float]] = {
    "completion_median": lambda outcome: median(outcome.completions_ms),
    "retransmissions": lambda outcome: outcome.retransmissions,
    "timeouts": lambda outcome: outcome.timeouts,
    "drops": lambda outcome: outcome.drops,
}
SHARES = (0.1, 0.25, 0.5, 0.75, 0.9, 1.0)


@dataclass(frozen=True)
class Difference:
    """A quantity on both sides, as means over the repeats, and the 95 % interval of the kernel's mean."""

    kernel: float
    interval: tuple[float, float]
    ours: float
    tolerance: float | None

    @property
    def apart(self) -> float:
        """Share of the kernel's mean; without bound where that is 0 and ours is not."""
        if self.ours == self.kernel:
            return 0.0
        return self.ours / self.kernel - 1.0 if self.kernel else float("inf")

    @property
    def within_interval(self) -> bool:
        """Whether ours could be the kernel's own mean."""
        return self.interval[0] <= self.ours <= self.interval[1]

    @property
    def within_share(self) -> bool:
        """Whether it is near enough, however sure the kernel is."""
        return self.tolerance is not None and abs(self.apart) <= self.tolerance

    @property
    def holds(self) -> bool:
        """Near enough, or no farther than chance; what has no tolerance decides nothing."""
        return self.tolerance is None or self.within_share or self.within_interval


@dataclass(frozen=True)
class Row:
    """A case.

    Where the first runs were out of tolerance, `further` is what others of it gave, and `itself` how far the
    kernel's first runs are from these, by the same tolerance. `without` is the kernel's runs with a mechanism
    switched off, by its sysctl, beside its usual ones.
    """

    case: Case
    differences: dict[str, Difference]
    kernel_ms: list[float]
    ours_ms: list[float]
    further: "Row | None" = None
    itself: "Row | None" = None
    without: "dict[str, Row]" = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """Whether all is within the tolerance, by these runs."""
        return all(difference.holds for difference in self.differences.values())

    @property
    def passes(self) -> bool:
        """Whether it holds, or does by further runs; what the kernel disagrees with itself on is left out."""
        return not self.left

    @property
    def undecided(self) -> bool:
        """Whether it passes only since the kernel's own two sets of runs are as far apart."""
        return self.passes and not self.holds and self.further is not None and not self.further.holds

    @property
    def left(self) -> set[str]:
        """What is out of tolerance after all runs."""
        if self.holds or self.further is None or self.itself is None:
            return self.missed
        return self.further.missed - self.itself.missed

    @property
    def hangs_on(self) -> dict[str, list[str]]:
        """For each that is left, the mechanisms without which the kernel is out of its own tolerance.

        They may matter, which is not to say that the difference would go away.
        """
        return {
            name: [switch for switch, row in self.without.items() if name in row.missed]
            for name in sorted(self.left)
        }

    @property
    def missed(self) -> set[str]:
        """What is out of tolerance by these runs."""
        return {name for name, difference in self.differences.items() if not difference.holds}


def percentiles(values: list[float]) -> list[float]:
    """By nearest rank, at `SHARES`."""
    ordered = sorted(values)
    return [ordered[math.ceil(share * len(ordered)) - 1] for share in SHARES]


def none_in(runs: int) -> tuple[float, float]:
    """The interval of the mean of counts that were 0 in every run, of which a deviation tells nothing.

    The upper end is the exact one of a Poisson count (Garwood 1936): - ln 0.025, over all runs.
    """
    return 0.0, -math.log((1.0 - LEVEL) / 2.0) / runs


def difference(kernel: list[float], ours: list[float], tolerance: float | None) -> Difference:
    """Of the means over repeats; Student's t, but where there is no deviation."""
    middle, width = mean(kernel), half_width(kernel) or 0.0
    interval = (middle - width, middle + width) if any(kernel) else none_in(len(kernel))
    return Difference(middle, interval, mean(ours), tolerance)


def compare(case: Case, kernel: list[Outcome], ours: list[Outcome], tolerance: Tolerance) -> Row:
    """Every quantity of a case, over its repeats."""
    allowed = asdict(tolerance)
    differences = {
        name: difference(
            [float(of(run)) for run in kernel], [float(of(run)) for run in ours], allowed.get(name)
        )
        for name, of in QUANTITIES.items()
    }
    kernel_ms, ours_ms = ([ms for run in runs for ms in run.completions_ms] for runs in (kernel, ours))
    return Row(case, differences, percentiles(kernel_ms), percentiles(ours_ms))


def document(row: Row) -> dict[str, Any]:
    """A row of `out/bench-linux.json`."""
    told = {
        name: {
            "kernel": each.kernel,
            "interval": each.interval,
            "ours": each.ours,
            "apart": each.apart if each.apart != float("inf") else None,
            "holds": each.holds,
        }
        for name, each in row.differences.items()
    }
    return {
        "case": asdict(row.case),
        "holds": row.holds,
        "passes": row.passes,
        **told,
        "completion_ms": {"shares": SHARES, "kernel": row.kernel_ms, "ours": row.ours_ms},
        "further": None if row.further is None else document(row.further),
        "itself": None if row.itself is None else sorted(row.itself.missed),
        "undecided": row.undecided,
        "hangs_on": row.hangs_on,
        "without": {name: document(off) for name, off in row.without.items()},
    }
