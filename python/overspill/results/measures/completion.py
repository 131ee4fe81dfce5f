"""Completion times of flows and queries, and their ratio to those in an empty network."""

from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np

from overspill.results.columns import U32_NONE, U64_NONE, distinct_values
from overspill.results.measures import workloads
from overspill.results.measures.declare import (
    SECONDS_PER_PS,
    Metric,
    statistics_of_metric,
    without_missing_values,
)
from overspill.results.metric_key import Key, Label
from overspill.results.rundata import RunData
from overspill.stats import quantiles
from overspill.stats.quantiles import Value

MAX_SMALL_BYTES, MIN_LARGE_BYTES = 100_000, 10_000_000
SIZE_BINS = ("0-100KB", "100KB-10MB", "10MB+")
DATA_ROLE = 0  # role of a message with the requested data; requests have another
MEASURED_FLOWS_NOTE = (
    "of measured flows: those that start in the measurement window, without raw sources, requests and "
    "endless flows."
)

METRICS = [
    *statistics_of_metric(
        "fct",
        Metric(
            "",
            "FCT",
            "s",
            f"Flow completion time {MEASURED_FLOWS_NOTE} `measure.fct_end` selects its end.",
            "lower",
            formula="t = end − start",
        ),
        "t",
    ),
    *statistics_of_metric(
        "slowdown",
        Metric(
            "",
            "slowdown",
            "1",
            "FCT divided by the FCT of the same flow alone on its path. Measured flows start in the "
            "measurement window; raw sources, requests and endless flows do not count. If packets draw their "
            "next hops, the fastest paths count.",
            "lower",
            formula="s = (end − start) / ideal",
        ),
        "s",
    ),
    *statistics_of_metric(
        "qct",
        Metric(
            "",
            "QCT",
            "s",
            "Query completion time: from the first start to the last end of all messages of a query, "
            "requests included. A query is measured if its first message is. Each query belongs to one "
            "workload.",
            "lower",
            formula="q = max(end) − min(start)",
        ),
        "q",
    ),
    Metric(
        "unfinished_flows",
        "unfinished flows",
        "flows",
        "Measured flows without an end when the run ended. Also counts requests, responses that are due and "
        "had not started, and all messages of a query whose first message is measured.",
        "lower",
        zero_shown=False,
        formula="number of unfinished messages that the run waits for",
    ),
    Metric(
        "goodput_last",
        "goodput to the last byte",
        "bit/s",
        "Payload bits of measured flows, divided by the time from their first start to their last end. "
        "No value if a flow is unfinished.",
        "higher",
        formula="8·Σ bytes / (max(end) − min(start))",
    ),
]


def workloads_with_fact(run: RunData, fact: str) -> np.ndarray:
    """Returns the numbers of the workloads that have a fact, such as `endless`, in the run's summary."""
    return np.array([i for i, one in enumerate(run.summary["traffic"]) if one.get(fact)], np.uint64)


def flows_with_transport(run: RunData) -> dict[str, np.ndarray]:
    """Returns all flows that are not raw; `open` marks unfinished ones, whose `time` is a lower bound."""
    names = ("traffic", "query", "bytes", "start_ps", "end_ps", "ideal_ps", "measured", "raw")
    columns = dict(zip(names, run.columns("flows", *names), strict=True))
    # Results of older versions, which had neither requests nor endless flows, have no column `role`.
    role = run.column("flows", "role")
    columns["role"] = role if len(role) else np.zeros(len(columns["raw"]), np.uint8)
    keep = columns.pop("raw") == 0
    flows = {name: column[keep] for name, column in columns.items()}
    flows["measured"] = flows["measured"] != 0
    flows = with_due_messages(run, flows)
    flows["open"] = flows["end_ps"] == U64_NONE
    flows["end"] = np.where(flows["open"], np.uint64(run.end_ps), flows["end_ps"])
    flows["time"] = (flows["end"] - np.minimum(flows["start_ps"], flows["end"])).astype(np.float64)
    return flows


def with_due_messages(run: RunData, flows: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Adds to flows the messages that are due but have not started, such as answers to requests.

    These are answers, and the rest of measured queries. The time of such a message is at least 0. An answer
    is measured if its request is.
    """
    flows["owed"] = np.zeros(len(flows["role"]), bool)
    flows["awaited"] = flows["measured"] | is_in_measured_query(flows)
    if not run.unfinished:
        return flows
    late = [(key, True) for key, count in count_due_answers(flows).items() for _ in range(count)]
    known = Counter(key for key, _ in late)
    for traffic, query, count in run.summary["flows"].get("owed", []):
        key = traffic << 32 | query
        late += [(key, False)] * (count - known[key])
    more = {
        "traffic": [key >> 32 for key, _ in late],
        "query": [key & U32_NONE for key, _ in late],
        "start_ps": [run.end_ps] * len(late),
        "end_ps": [U64_NONE] * len(late),
        "measured": [measured for _, measured in late],
        "awaited": [True] * len(late),
        "owed": [True] * len(late),
    }
    return {
        name: np.append(column, np.array(more.get(name, [0] * len(late)), column.dtype))
        for name, column in flows.items()
    }


def count_due_answers(flows: Mapping[str, np.ndarray]) -> dict[int, int]:
    """Returns by query the number of measured requests that have no answer yet."""
    keys = query_keys(flows)
    counts = flows["measured"] & (flows["query"] != U32_NONE)
    due: Counter[int] = Counter(keys[counts & (flows["role"] != DATA_ROLE)].tolist())
    answers = Counter(keys[counts & (flows["role"] == DATA_ROLE)].tolist())
    return {key: count - answers[key] for key, count in due.items() if count > answers[key]}


def query_keys(flows: Mapping[str, np.ndarray]) -> np.ndarray:
    """Combines workload and query of each message into one number."""
    return (flows["traffic"].astype(np.uint64) << np.uint64(32)) | flows["query"].astype(np.uint64)


def is_in_measured_query(flows: Mapping[str, np.ndarray]) -> np.ndarray:
    """Returns true for each message whose query has a measured first message."""
    keys, index = np.unique(query_keys(flows), return_inverse=True)
    first, counts = np.full(len(keys), U64_NONE, np.uint64), np.zeros(len(keys), bool)
    np.minimum.at(first, index, flows["start_ps"])
    np.logical_or.at(counts, index, flows["measured"] & (flows["start_ps"] == first[index]))
    return np.asarray(counts[index] & (flows["query"] != U32_NONE))


def select_flows(flows: Mapping[str, np.ndarray], keep: np.ndarray) -> dict[str, np.ndarray]:
    """Returns the flows for which `keep` is true."""
    return {name: column[keep] for name, column in flows.items()}


def awaited_messages(run: RunData) -> dict[str, np.ndarray]:
    """Returns the messages that a run waits for: measured flows with requests, and the rest of queries."""
    flows = flows_with_transport(run)
    endless = np.isin(flows["traffic"], workloads_with_fact(run, "endless"))
    return select_flows(flows, flows["awaited"] & ~endless)


def measured_flows(run: RunData) -> dict[str, np.ndarray]:
    """Returns columns of the flows with an FCT; `open` marks unfinished ones, whose `time` is a lower bound.

    Answers that are due and have not started are included, marked `owed`, with a time of at least 0.
    """
    flows = awaited_messages(run)
    return select_flows(flows, flows["measured"] & (flows["role"] == DATA_ROLE))


def iterate_groups(run: RunData, flows: Mapping[str, np.ndarray]) -> Iterator[tuple[Label, np.ndarray]]:
    """Yields groups of flows: all, each of several workloads, and each bin of sizes that has flows."""
    yield from workloads.split_by_workload(run, flows["traffic"])
    bins = np.where(flows["bytes"] <= MAX_SMALL_BYTES, 0, np.where(flows["bytes"] < MIN_LARGE_BYTES, 1, 2))
    # An answer that has not started is in no bin: its size is drawn when it starts.
    bins[flows["owed"]] = -1
    for one in distinct_values(bins[bins >= 0]):
        yield {"size": SIZE_BINS[one]}, bins == one


def measure_flows(run: RunData) -> dict[Key, Value]:
    """Measures FCT, slowdown, goodput to the last byte, and the number of unfinished flows."""
    everything = awaited_messages(run)
    data = select_flows(everything, everything["measured"] & (everything["role"] == DATA_ROLE))
    found: dict[Key, Value] = {}
    slowdown = slowdowns(data)
    for label, keep in iterate_groups(run, data):
        open_ended = data["open"][keep]
        for part, value in quantiles.mean_and_percentiles(
            data["time"][keep] * SECONDS_PER_PS, open_ended
        ).items():
            found[Key(f"fct_{part}", **label)] = value
        for part, value in quantiles.mean_and_percentiles(slowdown[keep], open_ended).items():
            found[Key(f"slowdown_{part}", **label)] = value
    for label, keep in workloads.split_by_workload(run, data["traffic"]):
        found |= without_missing_values(
            {Key("goodput_last", **label): goodput_until_last_byte(select_flows(data, keep))}
        )
    for label, keep in workloads.split_by_workload(run, everything["traffic"]):
        found[Key("unfinished_flows", **label)] = Value(float(everything["open"][keep].sum()))
    return found


def slowdowns(flows: Mapping[str, np.ndarray]) -> np.ndarray:
    """Returns FCT over the FCT of the same flow alone; at least 1 for a flow that has not ended."""
    found = flows["time"] / np.maximum(flows["ideal_ps"].astype(np.float64), 1.0)
    return np.where(flows["open"], np.maximum(found, 1.0), found)


def goodput_until_last_byte(flows: Mapping[str, np.ndarray]) -> float | None:
    """Returns the goodput in bit/s from first start to last end of flows; `None` if one is unfinished."""
    if not len(flows["time"]) or flows["open"].any():
        return None
    seconds = (int(flows["end"].max()) - int(flows["start_ps"].min())) * SECONDS_PER_PS
    return float(flows["bytes"].sum(dtype=np.uint64)) * 8 / seconds if seconds > 0 else None


def query_times(run: RunData) -> tuple[np.ndarray, np.ndarray]:
    """Returns the completion time in ps of every measured query, and true for each lower bound."""
    times, open_ended, _ = measured_queries(flows_with_transport(run))
    return times, open_ended


def measured_queries(flows: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns completion time, lower-bound flag and workload of each measured query.

    A query is measured if its first message is, and then with all its messages.
    """
    data = select_flows(flows, is_in_measured_query(flows))
    if not len(data["query"]):
        return np.zeros(0), np.zeros(0, bool), np.zeros(0, np.uint64)
    known, index = np.unique(query_keys(data), return_inverse=True)
    start, end = np.full(len(known), U64_NONE, np.uint64), np.zeros(len(known), np.uint64)
    open_ended = np.zeros(len(known), bool)
    np.minimum.at(start, index, data["start_ps"])
    np.maximum.at(end, index, data["end"])
    np.logical_or.at(open_ended, index, data["open"])
    times = (end - np.minimum(start, end)).astype(np.float64)
    return times, open_ended, known >> np.uint64(32)


def measure_queries(run: RunData) -> dict[Key, Value]:
    """Measures QCT, of all queries and of each workload with queries if the scenario has several."""
    data = flows_with_transport(run)
    times, open_ended, traffic = measured_queries(data)
    found: dict[Key, Value] = {}
    for label, keep in workloads.split_by_workload(run, traffic):
        values = quantiles.mean_and_percentiles(times[keep] * SECONDS_PER_PS, open_ended[keep])
        found |= {Key(f"qct_{part}", **label): value for part, value in values.items()}
    return found
