"""Means and intervals over seeds, paired comparisons, percentiles."""

from overspill.stats.bootstrap import Interval
from overspill.stats.paired import (
    ENOUGH,
    FEWEST,
    LEVEL,
    Comparison,
    Difference,
    Pairs,
    compare,
    from_baseline,
    half_width,
    holm,
    interval,
    mean,
    pair,
    rejected,
    standard_error,
    subtract,
    t_quantile,
)

__all__ = [
    "ENOUGH",
    "FEWEST",
    "LEVEL",
    "Comparison",
    "Difference",
    "Interval",
    "Pairs",
    "compare",
    "from_baseline",
    "half_width",
    "holm",
    "interval",
    "mean",
    "pair",
    "rejected",
    "standard_error",
    "subtract",
    "t_quantile",
]
