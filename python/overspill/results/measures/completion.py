"""Flows and queries: how long they took, and how they compare with an empty network."""

from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np

from overspill.results.columns import U32_NONE, U64_NONE, distinct
from overspill.results.key import Key, Label
from overspill.results.measures import workloads
from overspill.results.measures.declare import PS, Metric, family, present
from overspill.results.rundata import RunData
from overspill.stats import quantiles
from overspill.stats.quantiles import Value

SMALL, LARGE = 100_000, 10_000_000
SIZES = ("0-100KB", "100KB-10MB", "10MB+")
DATA = 0  # the role of a message that carries what was asked for; requests have another
FLOW = (
    "of measured flows (those that start in the measurement window; raw sources, requests and endless flows "
    "excluded)."
)

METRICS = [
    *family(
        "fct",
        Metric(
            "",
            "FCT",
            "s",
            f"Flow completion time {FLOW} It ends as `measure.fct_end` says.",
            "lower",
            formula="t = end − start",
        ),
        "t",
    ),
    *family(
        "slowdown",
        Metric(
            "",
            "slowdown",
            "1",
            f"FCT over the FCT of the same flow alone on its path, or on the fastest ones where its packets "
            f"draw their next hops, {FLOW}",
            "lower",
            formula="s = (end − start) / ideal",
        ),
        "s",
    ),
    *family(
        "qct",
        Metric(
            "",
            "QCT",
            "s",
            "Query completion time: first start to last end among all messages of a query, requests "
            "included, of queries whose first message is measured; a query belongs to its workload.",
            "lower",
            formula="q = max(end) − min(start)",
        ),
        "q",
    ),
    Metric(
        "unfinished_flows",
        "unfinished flows",
        "flows",
        "Measured flows that were not finished when the run ended: requests too, answers that are due and "
        "had not started, and all messages of a query whose first message is measured.",
        "lower",
        zero_shown=False,
        formula="number of messages without an end that the run waits for",
    ),
    Metric(
        "goodput_last",
        "goodput to the last byte",
        "bit/s",
        "Payload bits of measured flows over the time from the first start to the last end among them; no "
        "value where one is unfinished.",
        "higher",
        formula="8·Σ bytes / (max(end) − min(start))",
    ),
]


def workloads_that(run: RunData, fact: str) -> np.ndarray:
    """Numbers of the workloads of which the summary says this."""
    return np.array([i for i, one in enumerate(run.summary["traffic"]) if one.get(fact)], np.uint64)


def all_flows(run: RunData) -> dict[str, np.ndarray]:
    """Every message but raw packets; `open` marks the unfinished, whose `time` is a lower bound."""
    names = ("traffic", "query", "bytes", "start_ps", "end_ps", "ideal_ps", "measured", "raw")
    columns = dict(zip(names, run.columns("flows", *names), strict=True))
    # Older results have neither requests nor flows that nobody ends.
    role = run.column("flows", "role")
    columns["role"] = role if len(role) else np.zeros(len(columns["raw"]), np.uint8)
    keep = columns.pop("raw") == 0
    flows = {name: column[keep] for name, column in columns.items()}
    flows["measured"] = flows["measured"] != 0
    flows = with_owed(run, flows)
    flows["open"] = flows["end_ps"] == U64_NONE
    flows["end"] = np.where(flows["open"], np.uint64(run.end_ps), flows["end_ps"])
    flows["time"] = (flows["end"] - np.minimum(flows["start_ps"], flows["end"])).astype(np.float64)
    return flows


def with_owed(run: RunData, flows: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The same and what is due and has not started: answers, and the rest of queries that are measured.

    Of such a message nothing is known but that it is not there, so its time is at least 0. An answer counts
    by itself where its request does.
    """
    flows["owed"] = np.zeros(len(flows["role"]), bool)
    flows["awaited"] = flows["measured"] | in_measured_query(flows)
    if not run.unfinished:
        return flows
    late = [(key, True) for key, count in answers_due(flows).items() for _ in range(count)]
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


def answers_due(flows: Mapping[str, np.ndarray]) -> dict[int, int]:
    """By query, how many measured requests of it have no answer yet."""
    keys = query_keys(flows)
    counts = flows["measured"] & (flows["query"] != U32_NONE)
    due: Counter[int] = Counter(keys[counts & (flows["role"] != DATA)].tolist())
    answers = Counter(keys[counts & (flows["role"] == DATA)].tolist())
    return {key: count - answers[key] for key, count in due.items() if count > answers[key]}


def query_keys(flows: Mapping[str, np.ndarray]) -> np.ndarray:
    """Workload and query of each message as one number."""
    return (flows["traffic"].astype(np.uint64) << np.uint64(32)) | flows["query"].astype(np.uint64)


def in_measured_query(flows: Mapping[str, np.ndarray]) -> np.ndarray:
    """Whether each message is of a query whose first message is measured."""
    keys, index = np.unique(query_keys(flows), return_inverse=True)
    first, counts = np.full(len(keys), U64_NONE, np.uint64), np.zeros(len(keys), bool)
    np.minimum.at(first, index, flows["start_ps"])
    np.logical_or.at(counts, index, flows["measured"] & (flows["start_ps"] == first[index]))
    return np.asarray(counts[index] & (flows["query"] != U32_NONE))


def kept(flows: Mapping[str, np.ndarray], keep: np.ndarray) -> dict[str, np.ndarray]:
    """Some of the flows."""
    return {name: column[keep] for name, column in flows.items()}


def awaited_messages(run: RunData) -> dict[str, np.ndarray]:
    """The messages that a run waits for, requests too: those that count, and the rest of their queries."""
    flows = all_flows(run)
    endless = np.isin(flows["traffic"], workloads_that(run, "endless"))
    return kept(flows, flows["awaited"] & ~endless)


def measured_flows(run: RunData) -> dict[str, np.ndarray]:
    """The flows whose FCT counts, as columns; `open` marks the unfinished, whose `time` is a lower bound.

    An answer that is due and has not started is among them, `owed`, with a time of at least 0.
    """
    flows = awaited_messages(run)
    return kept(flows, flows["measured"] & (flows["role"] == DATA))


def groups(run: RunData, flows: Mapping[str, np.ndarray]) -> Iterator[tuple[Label, np.ndarray]]:
    """All flows, each workload where there are several, and each bin of sizes that has flows."""
    yield from workloads.split(run, flows["traffic"])
    bins = np.where(flows["bytes"] <= SMALL, 0, np.where(flows["bytes"] < LARGE, 1, 2))
    # Nobody has drawn the size of an answer that has not started.
    bins[flows["owed"]] = -1
    for one in distinct(bins[bins >= 0]):
        yield {"size": SIZES[one]}, bins == one


def flows(run: RunData) -> dict[Key, Value]:
    """FCT, slowdown, and how many did not finish."""
    everything = awaited_messages(run)
    data = kept(everything, everything["measured"] & (everything["role"] == DATA))
    found: dict[Key, Value] = {}
    slowdown = slowdowns(data)
    for label, keep in groups(run, data):
        open_ended = data["open"][keep]
        for part, value in quantiles.summary(data["time"][keep] * PS, open_ended).items():
            found[Key(f"fct_{part}", **label)] = value
        for part, value in quantiles.summary(slowdown[keep], open_ended).items():
            found[Key(f"slowdown_{part}", **label)] = value
    for label, keep in workloads.split(run, data["traffic"]):
        found |= present({Key("goodput_last", **label): goodput_last(kept(data, keep))})
    for label, keep in workloads.split(run, everything["traffic"]):
        found[Key("unfinished_flows", **label)] = Value(float(everything["open"][keep].sum()))
    return found


def slowdowns(flows: Mapping[str, np.ndarray]) -> np.ndarray:
    """FCT over the FCT of the same flow alone; of a flow that has not ended at least 1."""
    found = flows["time"] / np.maximum(flows["ideal_ps"].astype(np.float64), 1.0)
    return np.where(flows["open"], np.maximum(found, 1.0), found)


def goodput_last(flows: Mapping[str, np.ndarray]) -> float | None:
    """Payload bits of measured flows, from the first start to the last end; none if any is unfinished."""
    if not len(flows["time"]) or flows["open"].any():
        return None
    seconds = (int(flows["end"].max()) - int(flows["start_ps"].min())) * PS
    return float(flows["bytes"].sum(dtype=np.uint64)) * 8 / seconds if seconds > 0 else None


def query_times(run: RunData) -> tuple[np.ndarray, np.ndarray]:
    """Completion time in ps of every measured query, and whether it is only a lower bound."""
    times, open_ended, _ = measured_queries(all_flows(run))
    return times, open_ended


def measured_queries(flows: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same of the queries among all flows, and the workload of each.

    A query counts where its first message is measured, and then with all its messages.
    """
    data = kept(flows, in_measured_query(flows))
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


def queries(run: RunData) -> dict[Key, Value]:
    """QCT of all, and of each workload with queries where the scenario has several workloads."""
    data = all_flows(run)
    times, open_ended, traffic = measured_queries(data)
    found: dict[Key, Value] = {}
    for label, keep in workloads.split(run, traffic):
        values = quantiles.summary(times[keep] * PS, open_ended[keep])
        found |= {Key(f"qct_{part}", **label): value for part, value in values.items()}
    return found
