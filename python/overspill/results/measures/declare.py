"""What a metric is declared with; every subject declares its own beside the code that computes them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from overspill.results.key import Key
from overspill.stats.quantiles import PERCENTILES, Value

Better = Literal["lower", "higher", "none"]
PS = 1e-12
HALF_BUCKET = 1 / 128  # half of a bucket of a histogram of times, as a share of its value at most
RANK = "Percentiles are by nearest rank: the smallest sample with at least p % of all samples at or below it."
CENSORED = (
    "Unfinished flows are right-censored: a value that depends on them is a lower bound, printed `> x`."
)
STATISTIC = {"mean": "mean", **PERCENTILES}
WHOLE = "Counted in the measurement window, of all traffic."


@dataclass(frozen=True)
class Metric:
    """A metric; `unit` is that of the JSON document, tables may scale it."""

    name: str
    title: str
    unit: str
    doc: str
    better: Better = "none"
    zero_shown: bool = True  # in tables even where it is 0 for every variant
    formula: str = ""  # plain text
    source: str = ""  # where the definition comes from
    order_statistic: bool = False  # a percentile, minimum or maximum: its mean over seeds is not near normal
    within: float = 0.0  # the share of a value by which it may be off: it is the middle of a bucket
    survivors: bool = False  # of frames that were not lost: who loses more may have a better one


def rank_formula(symbol: str, percent: float) -> str:
    """The nearest rank in symbols."""
    return f"{symbol}₍ₖ₎, k = ⌈{percent / 100:g}·n⌉"


def family(name: str, metric: Metric, symbol: str) -> list[Metric]:
    """A mean and its percentiles; `metric.formula` says what one sample, `symbol`, is."""
    rows = []
    for part in STATISTIC:
        doc = f"{metric.doc} {RANK if part != 'mean' else ''} {CENSORED}".replace("  ", " ")
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


def present(values: Mapping[str, Value | float | None]) -> dict[Key, Value]:
    """What has a value, by its key."""
    return {
        name if isinstance(name, Key) else Key(name): one if isinstance(one, Value) else Value(float(one))
        for name, one in values.items()
        if one is not None
    }


def scale(picoseconds: float | None) -> float | None:
    """Seconds."""
    return None if picoseconds is None else picoseconds * PS
