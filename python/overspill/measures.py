"""How each metric is computed from a run's tables."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from overspill import quantiles
from overspill.columns import U32_NONE, U64_NONE
from overspill.quantiles import Value
from overspill.rundata import RunData

PS = 1e-12
SMALL, LARGE = 100_000, 10_000_000
SIZES = ("0-100KB", "100KB-10MB", "10MB+")
REASONS = (
    "buffer_full",
    "bounce_queue_full",
    "no_detour",
    "ttl_expired",
    "evicted",
    "early_drop",
    "no_route",
    "hold_full",
)
DELAY, HOPS, DETOURS, BOUNCES = range(4)


def present(values: Mapping[str, Value | float | None]) -> dict[str, Value]:
    """What has a value."""
    return {
        name: one if isinstance(one, Value) else Value(float(one))
        for name, one in values.items()
        if one is not None
    }


def measured_flows(run: RunData) -> dict[str, np.ndarray]:
    """The flows that count, as columns; `open` marks the unfinished, whose `time` is a lower bound."""
    names = ("traffic", "query", "bytes", "start_ps", "end_ps", "ideal_ps", "measured", "raw")
    columns = dict(zip(names, run.columns("flows", *names), strict=True))
    keep = (columns.pop("measured") != 0) & (columns.pop("raw") == 0)
    flows = {name: column[keep] for name, column in columns.items()}
    flows["open"] = flows["end_ps"] == U64_NONE
    flows["end"] = np.where(flows["open"], np.uint64(run.end_ps), flows["end_ps"])
    flows["time"] = (flows["end"] - np.minimum(flows["start_ps"], flows["end"])).astype(np.float64)
    return flows


def groups(run: RunData, flows: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """All flows, and each traffic entry and each bin of sizes where several have flows."""
    found = {"": np.ones(len(flows["time"]), bool)}
    entries = np.unique(flows["traffic"])
    if len(entries) > 1:
        for entry in entries:
            name = run.summary["traffic"][int(entry)]["name"]
            found[f"[traffic={name}]"] = flows["traffic"] == entry
    bins = np.where(flows["bytes"] <= SMALL, 0, np.where(flows["bytes"] < LARGE, 1, 2))
    used = np.unique(bins)
    if len(used) > 1:
        for one in used:
            found[f"[size={SIZES[one]}]"] = bins == one
    return found


def flows(run: RunData) -> dict[str, Value]:
    """FCT, slowdown, goodput, and how many did not finish."""
    data = measured_flows(run)
    found: dict[str, Value] = {}
    ideal = np.maximum(data["ideal_ps"].astype(np.float64), 1.0)
    for label, keep in groups(run, data).items():
        open_ended = data["open"][keep]
        for part, value in quantiles.summary(data["time"][keep] * PS, open_ended).items():
            found[f"fct_{part}{label}"] = value
        for part, value in quantiles.summary(data["time"][keep] / ideal[keep], open_ended).items():
            found[f"slowdown_{part}{label}"] = value
    if len(data["time"]):
        found["unfinished_flows"] = Value(float(data["open"].sum()))
    return found | present({"goodput_last": goodput_last(data)})


def goodput_last(flows: Mapping[str, np.ndarray]) -> float | None:
    """Payload bits of measured flows, from the first start to the last end; none if any is unfinished."""
    if not len(flows["time"]) or flows["open"].any():
        return None
    seconds = (int(flows["end"].max()) - int(flows["start_ps"].min())) * PS
    return float(flows["bytes"].sum(dtype=np.uint64)) * 8 / seconds if seconds > 0 else None


def arrived(run: RunData) -> list[int] | None:
    """Payload bytes that arrived for the first time in the window, of each traffic entry."""
    found = run.summary.get("received_bytes")
    return None if found is None else [int(one) for one in found]


def goodput(run: RunData) -> dict[str, Value]:
    """Payload bits that arrived in the window over its length: of all, and of each of several entries."""
    seconds = (run.window_ps[1] - run.window_ps[0]) * PS
    got = arrived(run)
    if got is None or seconds <= 0:
        return {}
    found = {"goodput": sum(got) * 8 / seconds}
    if len(got) > 1:
        for entry, size in zip(run.summary["traffic"], got, strict=False):
            found[f"goodput[traffic={entry['name']}]"] = size * 8 / seconds
    return present(found)


def query_times(run: RunData) -> tuple[np.ndarray, np.ndarray]:
    """Completion time in ps of every measured query, and whether it is only a lower bound."""
    data = measured_flows(run)
    part = data["query"] != U32_NONE
    if not part.any():
        return np.zeros(0), np.zeros(0, bool)
    key = (data["traffic"][part].astype(np.uint64) << np.uint64(32)) | data["query"][part].astype(np.uint64)
    _, index = np.unique(key, return_inverse=True)
    count = int(index.max()) + 1
    start, end = np.full(count, U64_NONE, np.uint64), np.zeros(count, np.uint64)
    open_ended = np.zeros(count, bool)
    np.minimum.at(start, index, data["start_ps"][part])
    np.maximum.at(end, index, data["end"][part])
    np.logical_or.at(open_ended, index, data["open"][part])
    return (end - np.minimum(start, end)).astype(np.float64), open_ended


def queries(run: RunData) -> dict[str, Value]:
    """QCT."""
    times, open_ended = query_times(run)
    return {f"qct_{part}": value for part, value in quantiles.summary(times * PS, open_ended).items()}


def load(run: RunData) -> dict[str, Value]:
    """Throughput, and the load that was achieved: of each entry that asks for one, and of all."""
    found: dict[str, float | None] = {}
    start, end = run.window_ps
    seconds = (end - start) * PS
    if seconds <= 0:
        return {}
    got = arrived(run) or []
    for entry, size in zip(run.summary["traffic"], got, strict=False):
        offered: dict[str, Any] | None = entry.get("offered") if entry.get("kind") == "poisson" else None
        planned = payload_bps(offered) if offered else None
        if offered and planned:
            found[f"load_asked[traffic={entry['name']}]"] = offered["fraction"] * size * 8 / seconds / planned
    capacity = host_bps(run)
    if capacity and got:
        found["load_payload[of=host]"] = sum(got) * 8 / (seconds * capacity)
    for level, (bits, level_bps) in carried(run).items():
        found[f"load_wire[of={level}]"] = bits / (seconds * level_bps)
        if level == "host":
            found["throughput"] = bits / seconds
    return present(found)


def payload_bps(offered: dict[str, Any]) -> float | None:
    """Payload bits per second that an entry asks all its hosts together to send."""
    found = offered.get("payload_bps")
    return found or (offered.get("bps") if offered["bytes"] == "payload" else None)


def carried(run: RunData) -> dict[str, tuple[float, float]]:
    """By level: bits that its links carried in the window, and their capacity in bit/s."""
    levels = run.summary.get("wire_bits", {})
    return {
        name: (one["bits"], one["capacity_bps"])
        for name, one in levels.items()
        if isinstance(one, dict) and one.get("capacity_bps") and one.get("bits") is not None
    }


def host_bps(run: RunData) -> float:
    """The rates of all hosts' links together."""
    node, rate = run.columns("ports", "node", "rate_bps")
    return float(rate[run.is_host[node]].sum()) if len(node) else 0.0


def switch_ports(run: RunData) -> int:
    """How many ports all switches have."""
    node = run.column("ports", "node")
    return int((~run.is_host[node]).sum()) if len(node) else 0


def busiest_ports(run: RunData) -> list[tuple[int, int]]:
    """Switch ports, the one with the highest time-weighted mean queue first; ties by node and port."""
    areas = port_areas(run)
    return sorted(areas, key=lambda one: (-areas[one], one))


def port_areas(run: RunData) -> dict[tuple[int, int], float]:
    """Frames times picoseconds that waited at each switch port in the window."""
    node, port, packets, time = run.columns("queue_hist", "node", "port", "packets", "time_ps")
    if len(node) == 0:
        return {}
    keep = ~run.is_host[node]
    key = (node[keep].astype(np.uint64) << np.uint64(16)) | port[keep].astype(np.uint64)
    ports, index = np.unique(key, return_inverse=True)
    area = np.zeros(len(ports))
    np.add.at(area, index, packets[keep].astype(np.float64) * time[keep].astype(np.float64))
    return {(int(one) >> 16, int(one) & 0xFFFF): float(area[at]) for at, one in enumerate(ports)}


def queues(run: RunData) -> dict[str, Value]:
    """Occupancy at the busiest switch port and over all of them."""
    ports = busiest_ports(run)
    if not ports:
        return {}
    names = ("node", "port", "packets", "time_ps", "arrivals")
    node, port, packets, time, arrivals = run.columns("queue_hist", *names)
    window = max(run.window_ps[1] - run.window_ps[0], 0)
    found: dict[str, Value] = {}
    choices = {
        "busiest": ((node == ports[0][0]) & (port == ports[0][1]), 1),
        "all": (~run.is_host[node], switch_ports(run)),
    }
    for place, (keep, count) in choices.items():
        values = occupancy(packets[keep], time[keep], window * count)
        values |= arrivals_see(packets[keep], arrivals[keep])
        found |= present({f"queue_{place}_{part}": value for part, value in values.items()})
    return found


def occupancy(packets: np.ndarray, time: np.ndarray, whole: int) -> dict[str, float | None]:
    """Time-weighted; time that the histogram does not hold, the queue was empty."""
    empty = max(whole - int(time.sum(dtype=np.uint64)), 0)
    values = np.append(packets.astype(np.uint64), np.uint64(0))
    weights = np.append(time.astype(np.uint64), np.uint64(empty))
    held = packets[time > 0]
    return {
        "mean": quantiles.weighted_mean(values, weights),
        "p50": quantiles.weighted(values, weights, 50.0),
        "p99": quantiles.weighted(values, weights, 99.0),
        "max": float(held.max()) if len(held) else 0.0,
    }


def arrivals_see(packets: np.ndarray, arrivals: np.ndarray) -> dict[str, float | None]:
    """Weighted by arrivals."""
    return {
        "arrival_mean": quantiles.weighted_mean(packets, arrivals),
        "arrival_p50": quantiles.weighted(packets, arrivals, 50.0),
        "arrival_p99": quantiles.weighted(packets, arrivals, 99.0),
    }


def packets(run: RunData) -> dict[str, Value]:
    """Delay, hops, and how many were detoured or bounced, of delivered data packets."""
    names = ("data", "metric", "low", "high", "count", "sum")
    data, metric, low, high, count, total = run.columns("packet_hist", *names)

    def histogram(which: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
        """Lows, highs and counts of the buckets, and the sum of all values."""
        keep = (data != 0) & (metric == which)
        some = keep & (count > 0)
        return low[some], high[some], count[some], float(total[keep].sum())

    lows, highs, counts, whole = histogram(DELAY)
    middles = (lows.astype(np.float64) + np.maximum(highs, lows + np.uint64(1)) - 1) / 2
    found = {
        "delay_mean": scale(whole / int(counts.sum()) if len(counts) else None),
        "delay_p50": scale(quantiles.weighted(middles, counts, 50.0)),
        "delay_p99": scale(quantiles.weighted(middles, counts, 99.0)),
    }
    lows, _, counts, whole = histogram(HOPS)
    found["hops_mean"] = whole / int(counts.sum()) if len(counts) else None
    found["hops_max"] = float(lows.max()) if len(lows) else None
    for name, which in (("detoured_share", DETOURS), ("bounced_share", BOUNCES)):
        lows, _, counts, _ = histogram(which)
        found[name] = quantiles.weighted_mean((lows > 0).astype(np.float64), counts)
    return present(found)


def scale(picoseconds: float | None) -> float | None:
    """Seconds."""
    return None if picoseconds is None else picoseconds * PS


def counters(run: RunData) -> dict[str, Value]:
    """Drops by reason and place, marks, detours, bounces, and what senders counted."""
    node, sent = run.columns("ports", "node", "sent")
    if len(node) == 0:
        return {}
    reasons = {reason: run.column("ports", f"drop_{reason}").astype(np.int64) for reason in REASONS}
    lost = sum(reasons.values(), np.zeros(len(node), np.int64))
    found: dict[str, float | None] = {"drops": int(lost.sum())}
    by_hosts = int(sent[run.is_host[node]].sum())
    found["drop_share"] = int(lost.sum()) / by_hosts if by_hosts else None
    for reason, column in reasons.items():
        found[f"drops[reason={reason}]"] = int(column.sum())
    for tier in dict.fromkeys(run.tiers):
        found[f"drops[tier={tier}]"] = int(lost[run.tiers[node] == tier].sum())
    for name, column_name in (("marks", "marked"), ("detours", "detoured"), ("bounces", "bounced")):
        found[name] = int(run.column("ports", column_name).sum())
    measured, raw = run.columns("flows", "measured", "raw")
    measured = (measured != 0) & (raw == 0)
    # Raw packets are never sent again.
    if not measured.any():
        return present(found)
    for name in ("retransmits", "fast_retransmits", "timeouts", "marked_acks"):
        found[name] = int(run.column("flows", name)[measured].sum())
    return present(found)
