"""Differences between Overspill and the kernel, case by case, and whether they are within the tolerance."""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

from cases import Case, Tolerance
from outcome import Outcome
from overspill.stats.paired import CONFIDENCE_LEVEL, half_width, mean

# Quantities measured in each run; only those with a tolerance decide.
QUANTITIES: dict[str, Callable[[Outcome], float]] = {
    "completion_median": lambda outcome: median(outcome.completions_ms),
    "retransmissions": lambda outcome: outcome.retransmissions,
    "timeouts": lambda outcome: outcome.timeouts,
    "drops": lambda outcome: outcome.drops,
}
PERCENTILE_SHARES = (0.1, 0.25, 0.5, 0.75, 0.9, 1.0)


@dataclass(frozen=True)
class Difference:
    """A quantity on both sides, as means over the repeats, and the 95% interval of the kernel's mean."""

    kernel: float
    interval: tuple[float, float]
    ours: float
    tolerance: float | None

    @property
    def relative_difference(self) -> float:
        """Relative difference from the kernel's mean; infinite if that mean is 0 and Overspill's is not."""
        if self.ours == self.kernel:
            return 0.0
        return self.ours / self.kernel - 1.0 if self.kernel else float("inf")

    @property
    def within_interval(self) -> bool:
        """True if Overspill's mean is within the interval of the kernel's mean."""
        return self.interval[0] <= self.ours <= self.interval[1]

    @property
    def within_share(self) -> bool:
        """True if the relative difference is within the tolerance, whatever the interval."""
        return self.tolerance is not None and abs(self.relative_difference) <= self.tolerance

    @property
    def holds(self) -> bool:
        """True if the difference is within tolerance or interval, or if the quantity has no tolerance."""
        return self.tolerance is None or self.within_share or self.within_interval


@dataclass(frozen=True)
class Row:
    """Result of a case.

    If the first runs are out of tolerance, `further` is the result of further runs. `kernel_repeat` compares
    the kernel's first runs with its further ones, by the same tolerance. For each sysctl, `without` compares
    the kernel's runs with this mechanism switched off to its usual runs.
    """

    case: Case
    differences: dict[str, Difference]
    kernel_ms: list[float]
    ours_ms: list[float]
    further: "Row | None" = None
    kernel_repeat: "Row | None" = None
    without: "dict[str, Row]" = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """True if all quantities are within the tolerance in these runs."""
        return all(difference.holds for difference in self.differences.values())

    @property
    def passes(self) -> bool:
        """True if the case holds in the first or further runs.

        Quantities for which the kernel's two sets of runs differ by more than the tolerance are left out.
        """
        return not self.failed_quantities

    @property
    def is_undecided(self) -> bool:
        """True if the case passes only because the kernel's own two sets of runs differ as much."""
        return self.passes and not self.holds and self.further is not None and not self.further.holds

    @property
    def failed_quantities(self) -> set[str]:
        """Quantities that are out of tolerance after all runs."""
        if self.holds or self.further is None or self.kernel_repeat is None:
            return self.missed_quantities
        return self.further.missed_quantities - self.kernel_repeat.missed_quantities

    @property
    def decisive_mechanisms(self) -> dict[str, list[str]]:
        """Mechanisms that move the kernel out of its own tolerance if switched off, for each quantity left.

        Such a mechanism affects the quantity. It need not be the cause of the difference.
        """
        return {
            name: [switch for switch, row in self.without.items() if name in row.missed_quantities]
            for name in sorted(self.failed_quantities)
        }

    @property
    def missed_quantities(self) -> set[str]:
        """Quantities that are out of tolerance in these runs."""
        return {name for name, difference in self.differences.items() if not difference.holds}


def percentiles(values: list[float]) -> list[float]:
    """Returns percentiles at `PERCENTILE_SHARES` by nearest rank."""
    ordered = sorted(values)
    return [ordered[math.ceil(share * len(ordered)) - 1] for share in PERCENTILE_SHARES]


def interval_of_zero_counts(runs: int) -> tuple[float, float]:
    """Returns the interval of the mean of counts that are 0 in every run, so that no deviation is known.

    The upper end is the exact one of a Poisson count (Garwood 1936): -ln 0.025, over all runs.
    """
    return 0.0, -math.log((1.0 - CONFIDENCE_LEVEL) / 2.0) / runs


def compare_means(kernel: list[float], ours: list[float], tolerance: float | None) -> Difference:
    """Compares the means over repeats; the interval is Student's t, or Poisson's if all counts are 0."""
    middle, width = mean(kernel), half_width(kernel) or 0.0
    interval = (middle - width, middle + width) if any(kernel) else interval_of_zero_counts(len(kernel))
    return Difference(middle, interval, mean(ours), tolerance)


def compare_case(case: Case, kernel: list[Outcome], ours: list[Outcome], tolerance: Tolerance) -> Row:
    """Compares every quantity of a case over its repeats."""
    allowed = asdict(tolerance)
    differences = {
        name: compare_means(
            [float(of(run)) for run in kernel], [float(of(run)) for run in ours], allowed.get(name)
        )
        for name, of in QUANTITIES.items()
    }
    kernel_ms, ours_ms = ([ms for run in runs for ms in run.completions_ms] for runs in (kernel, ours))
    return Row(case, differences, percentiles(kernel_ms), percentiles(ours_ms))


def row_document(row: Row) -> dict[str, Any]:
    """Returns a row of `out/bench-linux.json`."""
    told = {
        name: {
            "kernel": each.kernel,
            "interval": each.interval,
            "ours": each.ours,
            "apart": each.relative_difference if each.relative_difference != float("inf") else None,
            "holds": each.holds,
        }
        for name, each in row.differences.items()
    }
    return {
        "case": asdict(row.case),
        "holds": row.holds,
        "passes": row.passes,
        **told,
        "completion_ms": {"shares": PERCENTILE_SHARES, "kernel": row.kernel_ms, "ours": row.ours_ms},
        "further": None if row.further is None else row_document(row.further),
        "itself": None if row.kernel_repeat is None else sorted(row.kernel_repeat.missed_quantities),
        "undecided": row.is_undecided,
        "hangs_on": row.decisive_mechanisms,
        "without": {name: row_document(off) for name, off in row.without.items()},
    }
