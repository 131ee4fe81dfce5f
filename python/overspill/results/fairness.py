"""Conditions of a fair comparison: same traffic, all flows finished, and seeds that change values."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from overspill.results.columns import U32_NONE
from overspill.results.measures.completion import workloads_with_fact
from overspill.results.metric_key import Key, parse_known_key
from overspill.results.rundata import RunData
from overspill.stats.quantiles import Value

RAW_KINDS = ("constant", "bursts")  # kinds of traffic without flows that end
TRAFFIC_KEY = "traffic_met"  # entry of a kept summary: the traffic of a run whose tables are not kept
MAX_MESSAGES = 500  # most messages of closed loops that such a summary keeps, at some ten bytes each
# A variant may be best in this metric even if flows are unfinished, since the metric is their number.
UNFINISHED_METRIC = "unfinished_flows"


@dataclass(frozen=True)
class Fairness:
    """Facts that may forbid calling a variant best, such as different traffic and unfinished flows."""

    traffic: tuple[tuple[str, ...], ...]  # groups of variants that carry the same traffic
    unfinished: int
    cut: bool
    has_equal_seeds: bool
    measured_alike: bool = True

    @property
    def has_different_traffic(self) -> bool:
        """True if some variants carry different traffic."""
        return len(self.traffic) > 1

    def allows_best(self, metric: str) -> bool:
        """Returns true if the best variant of a metric may be marked as such."""
        return not self.reason(metric)

    def reason(self, metric: str) -> str:
        """Returns the reason why no variant may be called best in a metric; empty if one may."""
        left = self.unfinished and parse_known_key(metric).metric != UNFINISHED_METRIC
        reasons = (
            (self.has_different_traffic, "different traffic"),
            (self.cut, "a run was cut"),
            (self.has_equal_seeds, "all seeds gave the same value"),
            (not self.measured_alike, "[measure] differs"),
            (left, "unfinished flows"),
        )
        return next((text for holds, text in reasons if holds), "")


Facts = Mapping[str, Any]
RunsByVariant = Mapping[str, Sequence[RunData]]  # runs by seed
Values = Mapping[str, Mapping[int, Mapping[Key, Value]]]  # variant -> seed -> metric


def judge_fairness(facts: Facts, by_variant: RunsByVariant, values: Values) -> Fairness:
    """Returns the fairness of comparisons between variants; `facts` are entries of the manifest."""
    runs = [run for several in by_variant.values() for run in several]
    return Fairness(
        tuple(group_by_traffic(facts, by_variant)),
        sum(run.unfinished for run in runs),
        any(run.cut for run in runs),
        have_equal_seeds(values),
        has_same_measure(facts, by_variant),
    )


def has_same_measure(facts: Facts, variants: Iterable[str]) -> bool:
    """Returns true if all variants have the same `[measure]` table."""
    resolved = facts.get("resolved", {})
    tables = [resolved.get(variant, {}).get("measure") for variant in variants]
    return all(one == tables[0] for one in tables[1:])


def group_by_traffic(facts: Facts, by_variant: RunsByVariant) -> list[tuple[str, ...]]:
    """Returns groups of variants that carry the same traffic in every seed that all of them have."""
    ran = {variant: runs for variant, runs in by_variant.items() if runs}
    any_cut = any(run.cut for runs in ran.values() for run in runs)
    if len(ran) < 2:
        return [tuple(ran)]
    seeds = set.intersection(*({run.seed for run in runs} for runs in ran.values()))
    groups: list[tuple[str, list[list[ClosedLoopMessages]], list[str]]] = []
    for variant, runs in ran.items():
        # A cut run may not have started all of its flows, which would look like different traffic.
        met = [run for run in runs if run.seed in seeds and not any_cut]
        fixed = repr(
            [raw_source_settings(facts, variant), *(flows_hash_from_summary_or_tables(run) for run in met)]
        )
        spoken = [closed_loop_messages_from_summary_or_tables(run) for run in met]
        for known, theirs, names in groups:
            if known == fixed and all(have_same_messages(*both) for both in zip(theirs, spoken, strict=True)):
                names.append(variant)
                break
        else:
            groups.append((fixed, spoken, [variant]))
    return [tuple(names) for _, _, names in groups]


def in_closed_loop(run: RunData, traffic: np.ndarray) -> np.ndarray:
    """Returns true for rows of closed-loop workloads, whose flows start when earlier flows complete."""
    return np.isin(traffic, workloads_with_fact(run, "closed_loop"))


def hash_flows(run: RunData) -> str:
    """Returns a hash of measured flows and raw sources, independent of order, without closed loops."""
    names = ("traffic", "start_ps", "src", "dst", "bytes", "measured", "raw")
    *facts, measured, raw = run.columns("flows", *names)
    keep = ((measured != 0) | (raw != 0)) & ~in_closed_loop(run, facts[0])
    rows = np.stack([column[keep].astype(np.uint64) for column in facts], axis=1)
    return hashlib.sha256(rows[np.lexsort(rows.T)].tobytes()).hexdigest()


Message = tuple[int, ...]
# Keys are (workload, query) or (workload, connection).
ClosedLoopMessages = dict[tuple[int, ...], list[Message]]


def closed_loop_messages(run: RunData) -> list[ClosedLoopMessages]:
    """Returns the messages of closed-loop workloads: in order by connection, and as a set by query.

    A message is role, source, destination and size, without its time.
    """
    traffic = run.column("flows", "traffic")
    keep = in_closed_loop(run, traffic)
    if not keep.any():
        return [{}, {}]
    names = ("flow", "query", "src", "dst", "bytes")
    flow, query, *facts = (column[keep] for column in run.columns("flows", *names))
    count = len(flow)
    role, connection = (run.column("flows", name) for name in ("role", "connection"))
    role = role[keep] if len(role) else np.zeros(count, np.uint8)
    connection = connection[keep] if len(connection) else flow
    ordered: ClosedLoopMessages = {}
    whole: ClosedLoopMessages = {}
    columns = [one.tolist() for one in (traffic[keep], query, connection, role, *facts)]
    for workload, asked, carrier, *message in (row for row in zip(*columns, strict=True)):
        if asked != U32_NONE:
            whole.setdefault((workload, asked), []).append(tuple(message))
        else:
            ordered.setdefault((workload, carrier), []).append(tuple(message))
    return [ordered, whole]


def flows_hash_from_summary_or_tables(run: RunData) -> str:
    """Returns the hash of a run's flows, from its summary if the run was kept without its tables."""
    kept = run.summary.get(TRAFFIC_KEY)
    return hash_flows(run) if kept is None else str(kept["flows"])


def closed_loop_messages_from_summary_or_tables(run: RunData) -> list[ClosedLoopMessages]:
    """Returns the closed-loop messages of a run, from its summary if the run was kept without its tables."""
    kept = run.summary.get(TRAFFIC_KEY)
    if kept is None:
        return closed_loop_messages(run)
    return [{tuple(key): list(map(tuple, every)) for key, every in spoken} for spoken in kept["spoken"]]


def traffic_for_summary(run: RunData) -> dict[str, Any]:
    """Returns the traffic of a run for its summary: a hash of flows, and first messages of closed loops."""
    ordered, whole = closed_loop_messages(run)
    return {
        "flows": hash_flows(run),
        "spoken": [first_messages(ordered, cut=True), first_messages(whole, cut=False)],
    }


def first_messages(spoken: ClosedLoopMessages, cut: bool) -> list[tuple[list[int], list[Message]]]:
    """Returns the messages of closed loops by connection or query, `MAX_MESSAGES` at most in total.

    A connection may be cut, as its beginning is compared; a query is kept whole or not at all, as its
    messages are compared as a set.
    """
    found: list[tuple[list[int], list[Message]]] = []
    left = MAX_MESSAGES
    for key in sorted(spoken):
        messages = spoken[key][:left] if cut else spoken[key]
        if not messages or len(messages) > left:
            break
        found.append((list(key), messages))
        left -= len(messages)
    return found


def have_same_messages(left: list[ClosedLoopMessages], right: list[ClosedLoopMessages]) -> bool:
    """Returns true if two variants exchange the same messages, up to the last message of the slower one.

    The number of messages may depend on the variant.
    """
    for key in left[0].keys() & right[0].keys():
        if any(a != b for a, b in zip(left[0][key], right[0][key], strict=False)):
            return False
    for key in left[1].keys() & right[1].keys():
        fewer, more = sorted((Counter(left[1][key]), Counter(right[1][key])), key=Counter.total)
        if fewer - more:
            return False
    return True


def raw_source_settings(facts: Facts, variant: str) -> str:
    """Returns the settings of a variant's raw sources, whose packets no table lists."""
    workloads = facts["resolved"].get(variant, {}).get("traffic", [])
    return json.dumps([one for one in workloads if one.get("kind") in RAW_KINDS], sort_keys=True)


def have_equal_seeds(values: Values) -> bool:
    """Returns true if each variant has identical values in all seeds, and some variant has several."""
    several = [list(by_seed.values()) for by_seed in values.values() if len(by_seed) > 1]
    return bool(several) and all(one == runs[0] for runs in several for one in runs)
