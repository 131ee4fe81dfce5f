"""Means and intervals over seeds, paired comparisons, percentiles."""

from overspill.stats.bootstrap import Interval
from overspill.stats.paired import (
    CONFIDENCE_LEVEL,
    MIN_SEEDS_FOR_BOOTSTRAP,
    MIN_SEEDS_FOR_INTERVAL,
    Comparison,
    Difference,
    PairedSamples,
    benjamini_hochberg,
    compare_variants,
    differences_from_baseline,
    half_width,
    holm_differences,
    mean,
    mean_interval,
    pair_on_seeds,
    standard_error,
    subtract_ignoring_rounding,
    t_quantile,
)

__all__ = [
    "CONFIDENCE_LEVEL",
    "MIN_SEEDS_FOR_BOOTSTRAP",
    "MIN_SEEDS_FOR_INTERVAL",
    "Comparison",
    "Difference",
    "Interval",
    "PairedSamples",
    "benjamini_hochberg",
    "compare_variants",
    "differences_from_baseline",
    "half_width",
    "holm_differences",
    "mean",
    "mean_interval",
    "pair_on_seeds",
    "standard_error",
    "subtract_ignoring_rounding",
    "t_quantile",
]
