"""How far Overspill is from the kernel, case by case, and whether that is within the tolerance."""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from cases import Case, Tolerance
from outcome import Outcome
from overspill.stats.paired import half_width, mean

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
    """A quantity on both sides, as means over the repeats."""

    kernel: float
    half_width: float
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
        return abs(self.ours - self.kernel) <= self.half_width

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
    """A case."""

    case: Case
    differences: dict[str, Difference]
    kernel_ms: list[float]
    ours_ms: list[float]

    @property
    def holds(self) -> bool:
        """Whether all is within the tolerance."""
        return all(difference.holds for difference in self.differences.values())


def percentiles(values: list[float]) -> list[float]:
    """By nearest rank, at `SHARES`."""
    ordered = sorted(values)
    return [ordered[math.ceil(share * len(ordered)) - 1] for share in SHARES]


def difference(kernel: list[float], ours: list[float], tolerance: float | None) -> Difference:
    """Of the means over repeats."""
    return Difference(mean(kernel), half_width(kernel) or 0.0, mean(ours), tolerance)


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
            "half_width": each.half_width,
            "ours": each.ours,
            "apart": each.apart if each.apart != float("inf") else None,
            "holds": each.holds,
        }
        for name, each in row.differences.items()
    }
    return {
        "case": asdict(row.case),
        "holds": row.holds,
        **told,
        "completion_ms": {"shares": SHARES, "kernel": row.kernel_ms, "ours": row.ours_ms},
    }
