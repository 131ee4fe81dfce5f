"""Payload over time of hosts and flows, how evenly it is shared, and the load on links."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from overspill.results.columns import U64_NONE, distinct_values
from overspill.results.measures.completion import DATA_ROLE, workloads_with_fact
from overspill.results.measures.declare import SECONDS_PER_PS, Metric, without_missing_values
from overspill.results.metric_key import Key
from overspill.results.rundata import RunData
from overspill.stats.quantiles import Value

BINS_NOTE = "Taken over whole bins (`measure.bin`) in the measurement window."
RATE_FORMULA = "xᵢ = 8·received / active time"
FLOW_GOODPUT_NOTE = (
    "A flow's goodput is its payload that arrived in order, divided by its active time. That is from "
    "start to end, or to the end of the run if it is unfinished. With `measure.goodput = "
    '"flows"`, endless flows are measured over the whole bins of the window. Otherwise they are measured '
    "from their start to the end of the run."
)
WORKLOADS_WITH_LOAD = ("poisson", "incast", "query", "all_to_all")  # kinds of traffic that have a load
LINK_LEVELS = {
    "host": "all hosts' links",
    "tor_uplink": "all uplinks of racks",
    "bisection": "the bisection (one direction: from the first half of the hosts to the second)",
}
ACHIEVED_KEY = "achieved_loads"  # entry of a kept summary: achieved loads of a run whose tables are not kept
JAIN_SOURCE = "Jain, Chiu and Hawe 1984, DEC-TR-301"

METRICS = [
    Metric(
        "goodput",
        "goodput",
        "bit/s",
        "Payload bits that arrived in order at receivers in the measurement window, divided by its "
        "length. Covers all traffic, including raw sources; also by workload if there are several.",
        "higher",
        formula="8·Σ received in the window / window",
    ),
    *(
        Metric(
            f"host_goodput_{part}",
            f"goodput of a host, {part}",
            "bit/s",
            f"{words} goodput of the hosts that receive anything in the window: payload bits that "
            f"arrived in order, divided by time. {BINS_NOTE}",
            "higher",
            formula=f"{part} over hosts h of 8·Σ bytes(h) / time",
            order_statistic=part != "mean",
        )
        for part, words in (("min", "Smallest"), ("mean", "Mean"), ("max", "Largest"))
    ),
    *(
        Metric(
            f"flow_goodput_{part}",
            f"goodput of an endless flow, {part}",
            "bit/s",
            f"{words} goodput of flows that never end. {FLOW_GOODPUT_NOTE}",
            "higher",
            formula=f"{part} over endless flows i of xᵢ; {RATE_FORMULA}",
            order_statistic=part != "mean",
        )
        for part, words in (("min", "Smallest"), ("mean", "Mean"))
    ),
    Metric(
        "jain",
        "Jain's index",
        "1",
        "Jain's index of the goodput of measured and endless flows, without requests and raw sources; "
        "also by workload if there are several. Needs two flows or more. 1 is even; 1/n means that one "
        f"flow gets everything. {FLOW_GOODPUT_NOTE} Flows of different size or path differ even if they "
        "share fairly.",
        "higher",
        formula=f"(Σ xᵢ)² / (n·Σ xᵢ²); {RATE_FORMULA}",
        source=JAIN_SOURCE,
    ),
    Metric(
        "throughput",
        "throughput (wire)",
        "bit/s",
        "Bits of the frames that hosts began to send in the measurement window, divided by its length. "
        "Includes headers, ACKs, retransmissions and the overhead of Ethernet on the wire.",
        formula="Σ wire bits of hosts / window",
    ),
    Metric(
        "achieved_load",
        "achieved load",
        "1",
        "Payload of a workload that arrived in order in the measurement window, divided by the window's "
        "length. It is a fraction of the same capacity as the `offered load`.",
        formula="offered fraction · goodput / offered payload rate",
    ),
    Metric(
        "load_payload",
        "load, payload",
        "1",
        "Payload that arrived in order in the measurement window, divided by its length, as a fraction "
        "of the rate of all hosts' links.",
        formula="goodput / Σ rates of hosts' links",
    ),
    Metric(
        "load_wire",
        "load, wire",
        "1",
        "Bits that the links of this level carried in the measurement window, divided by its length and "
        "their capacity. Counts frames with preamble and gap whose transmission began in the window, "
        "including ACKs and retransmissions. Levels are links from hosts (`host`) and links up from "
        "switches with hosts (`tor_uplink`). `bisection` counts frames that hosts of the second "
        "half received in the window from hosts of the first.",
        formula="wire bits / (window · capacity)",
    ),
]


def arrived_bytes_by_workload(run: RunData) -> list[int] | None:
    """Returns the payload bytes of each workload that arrived in order in the window."""
    found = run.summary.get("received_bytes")
    return None if found is None else [int(one) for one in found]


def measure_goodput(run: RunData) -> dict[Key, Value]:
    """Measures the goodput in the window, of all workloads together and of each."""
    seconds = (run.window_ps[1] - run.window_ps[0]) * SECONDS_PER_PS
    got = arrived_bytes_by_workload(run)
    if got is None or seconds <= 0:
        return {}
    found = {"goodput": sum(got) * 8 / seconds}
    if len(got) > 1:
        for workload, size in zip(run.summary["traffic"], got, strict=False):
            found[Key("goodput", traffic=workload["name"])] = size * 8 / seconds
    return without_missing_values(found)


def whole_bin_range(run: RunData) -> tuple[int, int]:
    """Returns the first time bin that is wholly in the window, and the first after it that is not."""
    start, end = run.window_ps
    width = int(run.summary["bin_ps"])
    return -(-start // width), max(end // width, -(-start // width))


def host_goodputs(run: RunData) -> np.ndarray:
    """Returns the received bit rate of each host that receives data, by node; empty if not recorded."""
    bins, node, size = run.columns("host_goodput", "bin", "node", "bytes")
    first, last = whole_bin_range(run)
    keep = (bins >= first) & (bins < last)
    if not keep.any():
        return np.zeros(0)
    nodes, index = np.unique(node[keep], return_inverse=True)
    total = np.zeros(len(nodes))
    np.add.at(total, index, size[keep].astype(np.float64))
    return total[total > 0] * 8 / ((last - first) * int(run.summary["bin_ps"]) * SECONDS_PER_PS)


def measure_hosts(run: RunData) -> dict[Key, Value]:
    """Measures the least, mean and largest goodput of hosts that receive."""
    found = host_goodputs(run)
    if not len(found):
        return {}
    parts = {"min": found.min(), "mean": found.mean(), "max": found.max()}
    return without_missing_values({f"host_goodput_{part}": float(value) for part, value in parts.items()})


@dataclass(frozen=True)
class MeasuredOrEndlessFlows:
    """Data flows of one workload that are measured or never end, each over its active time."""

    workload: int
    endless: bool
    flows: dict[str, np.ndarray]
    received_bytes: np.ndarray  # payload bytes that arrived in order
    active_ps: np.ndarray  # seconds; 0 for a flow that began later

    @property
    def rates(self) -> np.ndarray:
        """Goodput in bit/s of each flow that was active."""
        some = self.active_ps > 0
        return np.asarray(self.received_bytes[some] * 8 / self.active_ps[some])


def iterate_measured_or_endless_flows(run: RunData, *more: str) -> Iterator[MeasuredOrEndlessFlows]:
    """Yields the measured or endless flows of each workload, with goodput and `more` table columns."""
    names = ("flow", "traffic", "start_ps", "end_ps", "received", "measured", "raw", *more)
    columns = dict(zip(names, run.columns("flows", *names), strict=True))
    role = run.column("flows", "role")
    data = (columns["raw"] == 0) & ((role == DATA_ROLE) if len(role) else True)
    endless = workloads_with_fact(run, "endless")
    # `flow_goodput` is always written, but is empty without `measure.goodput = "flows"`.
    binned = len(run.column("flow_goodput", "bin")) > 0
    for workload in distinct_values(columns["traffic"][data]).tolist():
        forever = bool(np.isin(workload, endless))
        keep = data & (columns["traffic"] == workload) & (forever | (columns["measured"] != 0))
        mine = {name: column[keep] for name, column in columns.items()}
        got, active = bytes_in_whole_bins(run, mine) if forever and binned else bytes_over_life(run, mine)
        if (active > 0).any():
            yield MeasuredOrEndlessFlows(workload, forever, mine, got, active)


def bytes_over_life(run: RunData, flows: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Returns the bytes received of each flow, and the time in seconds that it was active."""
    end = np.where(flows["end_ps"] == U64_NONE, np.uint64(run.end_ps), flows["end_ps"])
    active = (end - np.minimum(flows["start_ps"], end)).astype(np.float64) * SECONDS_PER_PS
    return flows["received"].astype(np.float64), active


def bytes_in_whole_bins(run: RunData, flows: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Returns each flow's bytes in whole time bins of the window, and its seconds in them since its start."""
    bins, flow, size = run.columns("flow_goodput", "bin", "flow", "bytes")
    first, last = whole_bin_range(run)
    width = int(run.summary["bin_ps"])
    keep = (bins >= first) & (bins < last) & np.isin(flow, flows["flow"])
    order = np.argsort(flows["flow"])
    place = order[np.searchsorted(flows["flow"], flow[keep], sorter=order)]
    got = np.zeros(len(flows["flow"]))
    np.add.at(got, place, size[keep].astype(np.float64))
    begun = np.maximum(flows["start_ps"].astype(np.float64), float(first * width))
    return got, np.maximum((last * width - begun) * SECONDS_PER_PS, 0.0)


def jain_index(shares: np.ndarray) -> float | None:
    """Returns Jain's fairness index; `None` for fewer than two shares, or if all are 0."""
    squares = float((shares**2).sum())
    return float(shares.sum()) ** 2 / (len(shares) * squares) if len(shares) > 1 and squares > 0 else None


def measure_sharing(run: RunData) -> dict[Key, Value]:
    """Measures Jain's index by workload, and the goodput of endless flows."""
    found: dict[str, float | None] = {}
    by_workload = list(iterate_measured_or_endless_flows(run))
    for one in by_workload:
        name = run.summary["traffic"][one.workload]["name"]
        found[Key("jain") if len(by_workload) == 1 else Key("jain", traffic=name)] = jain_index(one.rates)
    forever = [one.rates for one in by_workload if one.endless]
    if forever:
        rates = np.concatenate(forever)
        found |= {"flow_goodput_min": float(rates.min()), "flow_goodput_mean": float(rates.mean())}
    return without_missing_values(found)


def measure_load(run: RunData) -> dict[Key, Value]:
    """Measures throughput, and the achieved load of all workloads and of each with a load setting."""
    found: dict[str, float | None] = {}
    start, end = run.window_ps
    seconds = (end - start) * SECONDS_PER_PS
    if seconds <= 0:
        return {}
    got = arrived_bytes_by_workload(run) or []
    for number, offered, planned in requested_loads(run) if got else ():
        name = run.summary["traffic"][number]["name"]
        size = got[number]
        found[Key("achieved_load", traffic=name)] = offered["fraction"] * size * 8 / seconds / planned
    capacity = total_host_rate(run)
    if capacity and got:
        found[Key("load_payload", of="host")] = sum(got) * 8 / (seconds * capacity)
    for level, (bits, level_bps) in carried_bits_by_level(run).items():
        found[Key("load_wire", of=level)] = bits / (seconds * level_bps)
        if level == "host":
            found["throughput"] = bits / seconds
    return without_missing_values(found)


def workloads_with_load(run: RunData) -> list[dict[str, Any]]:
    """Returns the workloads that have a load setting."""
    return [run.summary["traffic"][number] for number, _, _ in requested_loads(run)]


def requested_loads(run: RunData) -> list[tuple[int, dict[str, Any], float]]:
    """Returns number, load setting and payload bit rate of each workload that has a load setting."""
    found = []
    for number, workload in enumerate(run.summary["traffic"]):
        offered: dict[str, Any] | None = (
            workload.get("offered") if workload.get("kind") in WORKLOADS_WITH_LOAD else None
        )
        planned = payload_bps(offered) if offered else None
        if offered and planned:
            found.append((number, offered, planned))
    return found


def achieved_and_started_loads(run: RunData) -> list[tuple[dict[str, Any], float, float]]:
    """Returns each workload with a load setting, its achieved load, and its load started in the window."""
    kept = run.summary.get(ACHIEVED_KEY)
    if kept is not None:
        return [(run.summary["traffic"][number], got, started) for number, got, started in kept]
    return [(run.summary["traffic"][number], got, started) for number, got, started in achieved_loads(run)]


def achieved_loads(run: RunData) -> list[tuple[int, float, float]]:
    """Computes the achieved load and the load started in the window of each workload, from a run's tables.

    A tuple contains the number of the workload and the two loads, as shares of the reference capacity.
    """
    start, end = run.window_ps
    got = arrived_bytes_by_workload(run)
    if got is None or end <= start:
        return []
    traffic, begun, size = run.columns("flows", "traffic", "start_ps", "bytes")
    inside = (begun >= start) & (begun < end)
    found = []
    for number, offered, planned in requested_loads(run):
        share = offered["fraction"] * 8 / ((end - start) * SECONDS_PER_PS * planned)
        sent = int(size[inside & (traffic == number)].sum(dtype=np.uint64))
        found.append((number, got[number] * share, sent * share))
    return found


def payload_bps(offered: dict[str, Any]) -> float | None:
    """Returns the payload bit rate that a workload's load setting requires of all hosts together."""
    found = offered.get("payload_bps")
    return found or (offered.get("bps") if offered["bytes"] == "payload" else None)


def carried_bits_by_level(run: RunData) -> dict[str, tuple[float, float]]:
    """Returns bits carried in the window and capacity in bit/s, for each level of links."""
    levels = run.summary.get("wire_bits", {})
    return {
        name: (one["bits"], one["capacity_bps"])
        for name, one in levels.items()
        if isinstance(one, dict) and one.get("capacity_bps") and one.get("bits") is not None
    }


def total_host_rate(run: RunData) -> float:
    """Returns the sum of the rates of all hosts' links."""
    node, rate = run.columns("ports", "node", "rate_bps")
    return float(rate[run.is_host[node]].sum()) if len(node) else 0.0
