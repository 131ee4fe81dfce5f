"""Transport settings of a run, by variant if they differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from overspill.grouping import group_by_key
from overspill.results.finished_runs import FinishedRuns
from overspill.results.line_labels import Line

RAW_KINDS = ("constant", "bursts")  # kinds of traffic without a transport
DCTCP_KINDS = ("dctcp", "linux_dctcp", "linux_2_6_38_dctcp")  # their data packets are always ECN-capable


def transport_lines(results: FinishedRuns) -> Iterator[Line]:
    """Yields one line for each group of variants with the same transports; none without transports."""
    resolved = results.facts.get("resolved") or {}
    texts = ((describe_transports(resolved.get(variant) or {}), variant) for variant in results.variants)
    by_text = group_by_key((text, variant) for text, variant in texts if text)
    for text, variants in by_text.items():
        named = "" if len(by_text) == 1 else f"{', '.join(variants)}: "
        yield Line("transport", named + text)


def describe_transports(scenario: Mapping[str, Any]) -> str:
    """Describes the transports of a variant: the common one, those of workloads, and overrides of hosts."""
    base = scenario.get("transport")
    flows = [one for one in scenario.get("traffic", []) if one["kind"] not in RAW_KINDS]
    if not base or not flows:
        return ""
    found = []
    if any(one.get("transport") in (None, base) for one in flows):
        found.append(describe_transport(base))
    for one in flows:
        own = one.get("transport")
        if own and own != base:
            found.append(f"{one['name']} {describe_transport(own)}")
    if any("transport" in one for one in scenario.get("override", [])):
        found.append("some hosts use other transports (`[[override]]`)")
    return "; ".join(dict.fromkeys(found))


def describe_transport(transport: Mapping[str, Any]) -> str:
    """Formats a transport: `linux, cubic, initial window 10pkt, minimum RTO 200ms, MSS 1448B, ECN off`."""
    found = [str(transport["kind"])]
    if "congestion_control" in transport:
        found.append(str(transport["congestion_control"]))
    if "initial_window" in transport:
        found.append(f"initial window {transport['initial_window']}")
    for key, words in (("min_rto", "minimum RTO"), ("rto", "RTO")):
        if key in transport:
            found.append(f"{words} {transport[key]}")
    found.append(f"MSS {transport['mss']}")
    ecn = transport.get("ecn", transport["kind"] in DCTCP_KINDS)
    found.append(f"ECN {ecn if isinstance(ecn, str) else 'on' if ecn else 'off'}")
    return ", ".join(found)
