"""Printed names of rows: `less` becomes `−`, `by` becomes `/`, and schemes get their published names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

PRINTED_WORDS = {
    "abq": "ABQ",
    "cnms": "CNMs",
    "dctcp": "DCTCP",
    "dibs": "DIBS",
    "droptail": "DropTail",
    "fct": "FCT",
    "jain": "Jain's index",
    "pfabric": "pFabric",
    "qct": "QCT",
    "ttl": "TTL",
}
CLEAR_PHRASES = {
    "returned frames informed less not": "returned frames, informed less not informed",
    "delay of bounced in turn less first": "delay of bounced packets, in turn less first",
    "delay of bounced less in one queue": "delay of bounced packets less delay in one queue",
    "samples by law": "sampling rate by that of the law",
    "drops dibs": "drops, dibs",
    "40 less 10 %": "P = 40% less P = 10%",
    "100 to 150 less 50 to 70 ms": "(100 to 150 ms) less (50 to 70 ms)",
    "jains index": "Jain's index",
    "less best between": "less lowest with medium buffers",
    "size of rank correlation": "absolute rank correlation",
    "throughput of 60 and more": "throughput with 60 and more senders",
    "throughput at 50 less at 10 percent": "throughput at P = 50% less at P = 10%",
    "worse than the best other": "distance behind the best other",
}
WORD = re.compile(rf"\b({'|'.join(PRINTED_WORDS)})\b")
SIGNS = (
    (re.compile(r",? less (?!than\b)"), " − "),
    # "By" is no ratio in `ECMP by packet`, `ties by port`, `drops by ttl`, `than by the model`.
    (re.compile(r"(?<!than) by (?!packet\b|flow\b|port\b|ttl\b|scheme\b)"), " / "),
)
# Quantity and compared schemes: `p99 qct dctcp − dibs` is printed as `p99 QCT, DCTCP − DIBS`.
COMPARED = re.compile(
    r"^(.*\b(?:qct|fct|delay|drops|entropy|goodput|segments|large|\d+ms)) (?!of |at )(.+ [−/] .+)$"
)
SPACED_PERCENT = re.compile(r"(\d) %")


def format_row_name(row: Mapping[str, Any]) -> str:
    """Returns figure, case and metric of a row, such as `fig9, 20 KB: p99 QCT, DCTCP − DIBS`."""
    return f"{row['figure']}, {format_case(row['case'])}: {format_metric(row['metric'])}"


def format_case(case: str) -> str:
    """Returns the case of a row with signs for differences and ratios, and schemes by their names."""
    return with_scheme_names(SPACED_PERCENT.sub(r"\1%", with_signs(with_clear_phrases(case))))


def format_metric(metric: str) -> str:
    """Returns the metric of a row with signs for differences and ratios, and schemes by their names."""
    text = with_clear_phrases(metric.replace("_", " "))
    return with_scheme_names(COMPARED.sub(r"\1, \2", with_signs(text)))


def with_clear_phrases(name: str) -> str:
    """Returns a name with clearer words for the phrases in `CLEAR_PHRASES`."""
    for words, printed in CLEAR_PHRASES.items():
        name = name.replace(words, printed)
    return name


def with_scheme_names(name: str) -> str:
    """Returns a name with schemes and abbreviations as they are written in text."""
    return WORD.sub(lambda found: PRINTED_WORDS[found[1]], name)


def with_signs(name: str) -> str:
    """Returns a name with `−` for `less`, and with `/` for `by` if it is a ratio."""
    for words, sign in SIGNS:
        name = words.sub(sign, name)
    return name
