"""Key of a metric's value: name of the metric, and the label of the part of the samples it covers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

# Counts whose parts, except workloads, are metrics of their own, such as `drops_by_reason`.
METRICS_SPLIT_BY_PART = ("drops", "bounces")

LABELS = ("traffic", "size", "of", "tier", "reason", "event")  # labels that distinguish parts
Label = Mapping[str, str]  # label and value of a part; empty for all
NO_LABEL: Label = {}


class Key(str):
    """Key of a metric, `Key("fct_p99")`, or of a part of its samples, `Key("fct_p99", size="0-100KB")`.

    A key is the text that files have, `fct_p99[size=0-100KB]`, and has its parts as attributes: `metric`,
    `by` (the label) and `of` (its value).
    """

    __slots__ = ("by", "metric", "of")

    metric: str
    by: str
    of: str

    def __new__(cls, metric: str, /, **label: str) -> Key:
        """Creates the key of a metric: of all samples without a label, else of the labelled part."""
        if "=" in metric.partition("[")[2] or len(label) > 1:
            rule = "expected a metric and one label: use `parse_known_key`"
            raise ValueError(f"found {metric!r} with {label}; {rule}")
        by, of = next(iter(label.items()), ("", ""))
        made = super().__new__(cls, f"{metric}[{by}={of}]" if by else metric)
        made.metric, made.by, made.of = str(metric), by, of
        return made

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, str]]:
        """Returns the arguments of the constructor for pickling and copying."""
        return (self.metric,), ({self.by: self.of} if self.by else {})

    @property
    def cells(self) -> tuple[str, str, str]:
        """Values of the columns `metric`, `by` and `of` of tables."""
        return self.metric, self.by, self.of

    @property
    def registered(self) -> str:
        """Name of the metric in the registry: `drops_by_reason` for `drops[reason=..]`, and so on."""
        apart = self.metric in METRICS_SPLIT_BY_PART and self.by not in ("", "traffic")
        return f"{self.metric}_by_{self.by}" if apart else self.metric

    @property
    def statistic(self) -> str:
        """Statistic that the metric takes of its samples: `p99` for `fct_p99`."""
        return self.metric.rpartition("_")[2]


def key_from_cells(metric: str, by: str, of: str) -> Key:
    """Returns the key with these values of the columns `metric`, `by` and `of`."""
    return Key(metric, **{by: of}) if by else Key(metric)


def key_from_row(row: Mapping[str, Any]) -> Key:
    """Returns the key of a row of a table with the columns `metric`, `by` and `of`."""
    return key_from_cells(row["metric"], row.get("by", ""), row.get("of", ""))


def parse_known_key(text: str) -> Key:
    """Returns the key for a metric's name in a file or from a user, such as `fct_p99[size=0-100KB]`."""
    return text if isinstance(text, Key) else parse_key(text)


@lru_cache(maxsize=8192)
def parse_key(text: str) -> Key:
    """Parses a metric key; the value of a label may have an equals sign, but no label has one."""
    metric, _, label = text.partition("[")
    by, _, of = label.removesuffix("]").partition("=")
    return key_from_cells(metric, by, of)
