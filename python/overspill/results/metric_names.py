"""Lookup of metrics by the names that users give: names in files, and titles in tables."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable

from overspill.errors import BadInput
from overspill.results import metrics
from overspill.results.measures import SIZE_BINS
from overspill.results.measures.rates import LINK_LEVELS
from overspill.results.metric_key import LABELS, METRICS_SPLIT_BY_PART, Key
from overspill.results.names import DROP_REASONS

# Matches `qct_mean`, `qct_mean[traffic=ring]`, `qct_mean[ring]`, and titles such as `QCT mean [ring] (ms)`.
NAME_PATTERN = re.compile(r"(?P<metric>[^\[]*?)\s*(\[(?P<label>.*)\])?\s*(\([^()\[\]]*\))?")
NAME_OF_TITLE = {one.title.casefold(): one.name for one in reversed(metrics.ALL_METRICS)}
METRICS_BY_TIER = (*METRICS_SPLIT_BY_PART, *(one.name for one in metrics.SECTIONS["pauses"]))
LABEL_OF_VALUE = {
    **dict.fromkeys(SIZE_BINS, "size"),
    **dict.fromkeys(DROP_REASONS, "reason"),
    **dict.fromkeys(LINK_LEVELS, "of"),
}


def parse_metric(text: str, workloads: Collection[str], field: str = "metric") -> Key:
    """Returns the metric for a user's text, in a scenario with these workloads.

    The metric of a scenario's only workload is the metric of all. Raises `BadInput` if there is no such
    metric or part.
    """
    parts = NAME_PATTERN.fullmatch(text.strip())
    name = find_metric_name(parts["metric"] if parts else text, text, field)
    label = parts["label"] if parts else None
    if not label:
        return Key(name)
    by, equals, of = label.partition("=")
    if not equals or by not in LABELS:
        by, of = label_for_bare_value(name, label, workloads), label
    if by == "traffic":
        if workloads and of not in workloads:
            raise BadInput(f"{field}: found {text}; expected a workload: {', '.join(workloads)}")
        if len(workloads) == 1:
            return Key(name)
    return Key(name, **{by: of})


def find_metric_name(name: str, text: str, field: str) -> str:
    """Returns the name of a metric that is given by its name or its title."""
    name = name.strip()
    found = name if name in metrics.REGISTRY else NAME_OF_TITLE.get(name.casefold())
    if found is None:
        raise unknown_metric_error(name, text, field)
    return found


def unknown_metric_error(name: str, text: str, field: str) -> BadInput:
    """Returns the error for a text with a name that no metric has."""
    meant = similar_names_hint(name, metrics.REGISTRY)
    return BadInput(f"{field}: found {text}; expected one of `overspill list metrics`{meant}")


def similar_names_hint(name: str, known: Iterable[str]) -> str:
    """Returns a question with names that are similar to a wrong one; empty if none is similar."""
    close = difflib.get_close_matches(name, list(dict.fromkeys(known)), n=3)
    return f"; did you mean {' or '.join(close)}?" if close else ""


def label_for_bare_value(name: str, label: str, workloads: Collection[str]) -> str:
    """Returns the label for a value without one, such as `traffic` for a workload's name."""
    if label in workloads:
        return "traffic"
    return LABEL_OF_VALUE.get(label) or ("tier" if name in METRICS_BY_TIER else "traffic")
