"""What a value is of: a metric, and where it is of a part, by what that is told apart and which it is."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

# Counts whose parts other than workloads are metrics of their own.
APART = ("drops", "bounces")


class Key(NamedTuple):
    """`fct_p99`, or of a part: `fct_p99[size=0-100KB]`, by `size`, of `0-100KB`."""

    metric: str
    by: str = ""
    of: str = ""

    def __str__(self) -> str:
        return f"{self.metric}[{self.by}={self.of}]" if self.by else self.metric

    @property
    def registered(self) -> str:
        """The name in the registry: `drops[reason=..]` is `drops_by_reason`, and so on."""
        apart = self.metric in APART and self.by not in ("", "traffic")
        return f"{self.metric}_by_{self.by}" if apart else self.metric

    @property
    def statistic(self) -> str:
        """What it is of all samples: `p99` of `fct_p99`."""
        return self.metric.rpartition("_")[2]


def of_row(row: Mapping[str, Any]) -> Key:
    """What a row of a table with the columns `metric`, `by` and `of` is of."""
    return Key(row["metric"], row.get("by", ""), row.get("of", ""))


@lru_cache(maxsize=8192)
def parsed(text: str) -> Key:
    """The key that a text stands for; a name may have an equals sign, but no by does."""
    metric, _, label = text.partition("[")
    by, _, of = label.removesuffix("]").partition("=")
    return Key(metric, by, of)
