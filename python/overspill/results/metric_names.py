"""Lookup of metrics by the names that users give: those of files, and those that tables print."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable

from overspill.errors import BadInput
from overspill.results import metrics
from overspill.results.key import APART, LABELS, Key
from overspill.results.measures import SIZES
from overspill.results.measures.rates import LINKS
from overspill.results.names import REASONS

# `qct_mean`, `qct_mean[traffic=ring]`, `qct_mean[ring]`, `QCT mean [ring]`, `QCT mean [ring] (ms)`.
FORM = re.compile(r"(?P<metric>[^\[]*?)\s*(\[(?P<label>.*)\])?\s*(\([^()\[\]]*\))?")
TITLES = {one.title.casefold(): one.name for one in reversed(metrics.ALL)}
OF_TIERS = (*APART, *(one.name for one in metrics.SECTIONS["pauses"]))
PARTS = {**dict.fromkeys(SIZES, "size"), **dict.fromkeys(REASONS, "reason"), **dict.fromkeys(LINKS, "of")}


def key_of(text: str, workloads: Collection[str], field: str = "metric") -> Key:
    """Returns the metric that a text names, in a scenario with these workloads.

    The metric of a scenario's only workload is the metric of all. Raises `BadInput` if there is no such
    metric or part.
    """
    parts = FORM.fullmatch(text.strip())
    name = metric_of(parts["metric"] if parts else text, text, field)
    label = parts["label"] if parts else None
    if not label:
        return Key(name)
    by, equals, of = label.partition("=")
    if not equals or by not in LABELS:
        by, of = part_of(name, label, workloads), label
    if by == "traffic":
        if workloads and of not in workloads:
            raise BadInput(f"{field}: found {text}; expected a workload: {', '.join(workloads)}")
        if len(workloads) == 1:
            return Key(name)
    return Key(name, **{by: of})


def metric_of(name: str, text: str, field: str) -> str:
    """Returns the name of a metric that is given by its name or its title."""
    name = name.strip()
    found = name if name in metrics.REGISTRY else TITLES.get(name.casefold())
    if found is None:
        raise unknown(name, text, field)
    return found


def unknown(name: str, text: str, field: str) -> BadInput:
    """Returns the error for a text with a name that no metric has."""
    meant = hint(name, metrics.REGISTRY)
    return BadInput(f"{field}: found {text}; expected one of `overspill list metrics`{meant}")


def hint(name: str, known: Iterable[str]) -> str:
    """Returns a question with names that are similar to a wrong one; empty if none is near."""
    close = difflib.get_close_matches(name, list(known), n=3)
    return f"; did you mean {' or '.join(close)}?" if close else ""


def part_of(name: str, label: str, workloads: Collection[str]) -> str:
    """Returns the label of a part that is given by its value only; workloads come first."""
    if label in workloads:
        return "traffic"
    return PARTS.get(label) or ("tier" if name in OF_TIERS else "traffic")
