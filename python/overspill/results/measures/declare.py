"""Declaration of metrics; each subject declares its own beside the code that computes them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from overspill.results.metric_key import Key
from overspill.stats.quantiles import PERCENTILES, Value

Better = Literal["lower", "higher", "none"]
SECONDS_PER_PS = 1e-12
HALF_BUCKET = 1 / 128  # half the width of a bucket of a histogram of times, as a share of its value, at most
RANK_NOTE = (
    "Percentiles are by nearest rank: the smallest sample with at least p% of all samples at or below it."
)
CENSORED_NOTE = (
    "Unfinished flows are right-censored: a value that depends on them is a lower bound, printed `> x`."
)
STATISTIC_NAMES = {"mean": "mean", **PERCENTILES}
WINDOW_SCOPE_NOTE = "Counted in the measurement window, for all traffic."


@dataclass(frozen=True)
class Metric:
    """Declaration of a metric; `unit` is that of the JSON document, which printed tables may scale."""

    name: str
    title: str
    unit: str
    doc: str
    better: Better = "none"
    zero_shown: bool = True  # true to print it even if it is 0 for every variant
    formula: str = ""  # plain text
    source: str = ""  # source of the definition
    order_statistic: bool = False  # percentile, minimum or maximum, whose mean over seeds is not near normal
    resolution: float = 0.0  # possible error as a share of a value, which is the midpoint of a bucket
    of_delivered_frames: bool = (
        False  # true if only frames that were not lost count, so that losses may improve it
    )


def rank_formula(symbol: str, percent: float) -> str:
    """Returns the formula of a percentile by nearest rank."""
    return f"{symbol}₍ₖ₎, k = ⌈{percent / 100:g}·n⌉"


def statistics_of_metric(name: str, metric: Metric, symbol: str) -> list[Metric]:
    """Declares a mean and its percentiles as metrics; `metric.formula` defines one sample, `symbol`."""
    rows = []
    for part in STATISTIC_NAMES:
        doc = f"{metric.doc} {RANK_NOTE if part != 'mean' else ''} {CENSORED_NOTE}".replace("  ", " ")
        of_all = f"Σ {symbol} / n" if part == "mean" else rank_formula(symbol, PERCENTILES[part])
        made = Metric(
            f"{name}_{part}",
            f"{metric.title} {part}",
            metric.unit,
            doc,
            metric.better,
            formula=f"{of_all}; {metric.formula}",
            source=metric.source,
            order_statistic=part != "mean",
        )
        rows.append(made)
    return rows


def without_missing_values(values: Mapping[str, Value | float | None]) -> dict[Key, Value]:
    """Returns the values that are not `None`, by metric key."""
    return {
        name if isinstance(name, Key) else Key(name): one if isinstance(one, Value) else Value(float(one))
        for name, one in values.items()
        if one is not None
    }


def ps_to_seconds(picoseconds: float | None) -> float | None:
    """Converts picoseconds to seconds."""
    return None if picoseconds is None else picoseconds * SECONDS_PER_PS
