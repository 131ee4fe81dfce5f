"""What a value is of: a metric, and where it is of a part, by what that is told apart and which it is."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

# Counts whose parts other than workloads are metrics of their own.
APART = ("drops", "bounces")

LABELS = ("traffic", "size", "of", "tier", "reason", "event")  # what parts are told apart by
Label = Mapping[str, str]  # what a part is told apart by, and which it is; empty for all
ALL: Label = {}


class Key(str):
    """`Key("fct_p99")`, or of a part: `Key("fct_p99", size="0-100KB")`.

    It is its name as files have it, `fct_p99[size=0-100KB]`, and knows what that is made of.
    """

    __slots__ = ("by", "metric", "of")

    metric: str
    by: str
    of: str

    def __new__(cls, metric: str, /, **label: str) -> Key:
        """A metric without a label is of all, and with one of that part."""
        if "=" in metric.partition("[")[2] or len(label) > 1:
            raise ValueError(f"found {metric!r} with {label}; expected a metric and one label: use `parsed`")
        by, of = next(iter(label.items()), ("", ""))
        made = super().__new__(cls, f"{metric}[{by}={of}]" if by else metric)
        made.metric, made.by, made.of = str(metric), by, of
        return made

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, str]]:
        """How a copy is made."""
        return (self.metric,), ({self.by: self.of} if self.by else {})

    @property
    def cells(self) -> tuple[str, str, str]:
        """What columns of tables have of it: `metric`, `by`, `of`."""
        return self.metric, self.by, self.of

    @property
    def registered(self) -> str:
        """The name in the registry: `drops[reason=..]` is `drops_by_reason`, and so on."""
        apart = self.metric in APART and self.by not in ("", "traffic")
        return f"{self.metric}_by_{self.by}" if apart else self.metric

    @property
    def statistic(self) -> str:
        """What it is of all samples: `p99` of `fct_p99`."""
        return self.metric.rpartition("_")[2]


def of_cells(metric: str, by: str, of: str) -> Key:
    """The key that three columns stand for."""
    return Key(metric, **{by: of}) if by else Key(metric)


def of_row(row: Mapping[str, Any]) -> Key:
    """What a row of a table with the columns `metric`, `by` and `of` is of."""
    return of_cells(row["metric"], row.get("by", ""), row.get("of", ""))


def parsed(text: str) -> Key:
    """The key that a text stands for, from a file or a user."""
    return text if isinstance(text, Key) else read(text)


@lru_cache(maxsize=8192)
def read(text: str) -> Key:
    """The same of a text; a name may have an equals sign, but no by does."""
    metric, _, label = text.partition("[")
    by, _, of = label.removesuffix("]").partition("=")
    return of_cells(metric, by, of)
