"""Tests that starved raw sources and queue pairs are named, with a remedy, and that fair ones are not."""

from pathlib import Path
from typing import Any

import pytest
from test_metrics import MS, NONE32, NONE64, US, column, sample_run

from overspill import run
from overspill.results import header, lockout, queue_pairs, starved_flows
from overspill.results.columns import build_table
from overspill.results.rundata import RunData

RAW = """
name = "raw"
duration = "20ms"
[topology]
kind = "star"
n = 3
link = { rate = "10Gbps", delay = "1us" }
[switch]
buffer = { kind = "per_port", size = "100pkt" }
ties = "port"
[host]
nic_jitter = "0us"
[[traffic]]
name = "two"
kind = "constant"
sources = ["h0", "h1"]
destinations = ["h2", "h2"]
rate = "10Gbps"
[variants.locked]
[variants.slower]
traffic.two.rate = "9.9Gbps"
host.nic_jitter = "tenth_frame"
[variants.clocks]
host.nic_jitter = "tenth_frame"
host.clock_ppm = 100
switch.clock_ppm = 100
switch.ties = "random"
"""

PAIRS = """
name = "pairs"
duration = "4ms"
[topology]
kind = "star"
n = 3
link = { rate = "100Gbps", delay = "515ns" }
[host]
nic = { kind = "round_robin" }
[switch]
buffer = { kind = "per_port", size = "1MB" }
[transport]
kind = "roce"
rto = "1ms"
[measure]
drain = "6ms"
[[traffic]]
name = "two"
kind = "incast"
senders = 2
pick = "first"
receiver = "h2"
size = "32MB"
[variants.exact]
host.nic_jitter = "0us"
[variants.lossless]
switch.pause = { kind = "pfc", xoff = "200KB", xon = "150KB" }
"""


def warnings_by_label(folder: Path, text: str) -> dict[str, str]:
    """Returns the texts of warnings about starved flows, by variant."""
    (folder / "scenario.toml").write_text(text)
    lines = [
        one.text for one in header.header_lines(run(folder / "scenario.toml")) if one.label == "STARVED FLOWS"
    ]
    return {line.partition(",")[0]: line for line in lines}


@pytest.mark.usefixtures("compiled")
def test_locked_out_raw_source_is_named_and_cured(tmp_path: Path) -> None:
    found = warnings_by_label(tmp_path, RAW)
    assert list(found) == ["locked"], "a lower rate or clocks that differ end it, as the warning says"
    assert "1 of 2 raw sources of two [h1 -> h2 (flow 1), 1.2%]" in found["locked"]
    assert "host.clock_ppm" in found["locked"] and "99%" in found["locked"]


@pytest.mark.usefixtures("compiled")
def test_unfinished_queue_pair_is_reported_and_cured(tmp_path: Path) -> None:
    found = warnings_by_label(tmp_path, PAIRS)
    assert list(found) == ["exact"], "PFC ends it, as the warning says"
    assert "2 of 2 queue pairs of two [h" in found["exact"] and "never finished" in found["exact"]
    assert "packets again" in found["exact"] and "switch.pause.kind" in found["exact"]


def raw_run(**changed: Any) -> RunData:
    """Returns a run with three raw sources to host 2, through the only port that drops.

    Entries of `changed` are columns or tables.
    """
    n = len(changed.get("received", [0] * 3))
    facts: dict[str, tuple[str, list[int]]] = {
        "flow": ("u32", list(range(n))),
        "traffic": ("u16", [0] * n),
        "src": ("u32", [0, 1, 1][:n]),
        "dst": ("u32", [2] * n),
        "start_ps": ("u64", [0] * n),
        "end_ps": ("u64", [NONE64] * n),
        "received": ("u64", [30_000_000, 40_000_000, 4_000_000]),
        "raw": ("u8", [1] * n),
        "measured": ("u8", [0] * n),
        "bytes": ("u64", [0] * n),
        "ideal_ps": ("u64", [0] * n),
        "retransmits": ("u32", [0] * n),
        "timeouts": ("u32", [0] * n),
    }
    ports: dict[str, tuple[str, list[int]]] = {
        "node": ("u32", [0, 1, 2, 3, 3, 3]),
        "port": ("u16", [0, 0, 0, 0, 1, 2]),
        "peer": ("u32", [3, 3, 3, 0, 1, 2]),
        "drop_buffer_full": ("u64", changed.pop("drops", [0, 0, 0, 0, 0, 9])),
    }
    rates = column("f64", *changed.pop("rates", [1e10] * 6))
    flows = {name: column(kind, *changed.pop(name, values)) for name, (kind, values) in facts.items()}
    ends = {name: column(kind, *values) for name, (kind, values) in ports.items()} | {"rate_bps": rates}
    workloads = [{"name": "two"}, {"name": "other"}]
    summary = {"traffic": workloads, "end_ps": 100 * MS, "changes": []} | changed
    return sample_run(flows=build_table("flows", flows), ports=build_table("ports", ends), summary=summary)


def test_raw_source_far_below_its_peers_is_starved() -> None:
    (found,) = starved_flows.starved_workloads(raw_run())
    assert (found.kind, found.starved, found.flows) == ("raw", 1, 3)
    # The mean is 24.67 MB.
    assert found.share == pytest.approx(4 / (74 / 3)) and found.worst == "h1 -> h2 (flow 2), 16%"


@pytest.mark.parametrize(
    "changed",
    [
        {"received": [30_000_000, 40_000_000, 12_000_000]},
        {"received": [300_000, 400_000, 4_000]},
        {"drops": [0, 0, 0, 0, 9, 9], "dst": [1, 1, 2]},
        {"drops": [9, 0, 0, 0, 0, 9]},
        {"drops": [0] * 6},
        {"start_ps": [0, 0, 50 * MS]},
        {"traffic": [0, 0, 1]},
        {"rates": [1e10, 1e9, 1e10, 1e10, 1e10, 1e10], "received": [60_000_000, 4_000_000]},
        {"raw": [1, 1, 0]},
        {"changes": [{"at_ps": 5, "link": "h0", "what": "down", "loses": True}]},
    ],
    ids=[
        "it got a third of the mean",
        "hardly anything was sent yet",
        "its port is another",
        "a NIC lost packets, too",
        "nothing was lost",
        "it began later",
        "it is of another workload",
        "its link is slower",
        "it has a transport",
        "links went down",
    ],
)
def test_raw_source_is_no_victim_where(changed: dict[str, Any]) -> None:
    assert [one for one in starved_flows.starved_workloads(raw_run(**changed)) if one.kind == "raw"] == []
    assert lockout.workloads_with_locked_out_sources(raw_run()), "the same run without the change has one"


def pairs_run(**changed: Any) -> RunData:
    """Returns a run with two queue pairs.

    The second pair makes 9,000 retransmissions for its 10,000 packets, and has three timeouts.
    """
    facts: dict[str, tuple[str, list[int]]] = {
        "flow": ("u32", [0, 1]),
        "traffic": ("u16", [0, 0]),
        "query": ("u32", [NONE32] * 2),
        "src": ("u32", [0, 1]),
        "dst": ("u32", [2, 2]),
        "bytes": ("u64", [10_000_000] * 2),
        "start_ps": ("u64", [0, 0]),
        "end_ps": ("u64", [4 * MS, 5 * MS]),
        "ideal_ps": ("u64", [1 * MS] * 2),
        "received": ("u64", [10_000_000] * 2),
        "measured": ("u8", [1, 1]),
        "role": ("u8", [0, 0]),
        "raw": ("u8", [0, 0]),
        "retransmits": ("u32", [3, 9_000]),
        "fast_retransmits": ("u32", [1, 2]),
        "timeouts": ("u32", [0, 3]),
    }
    if "data_drops" in changed:
        facts["data_drops"] = ("u32", [])
    flows = {name: column(kind, *changed.pop(name, values)) for name, (kind, values) in facts.items()}
    workload = {"name": "two", "go_back": {"timeout_ps": 1000 * US, "mss": 1000}} | changed
    summary = {"traffic": [workload], "end_ps": 10 * MS, "changes": []}
    return sample_run(flows=build_table("flows", flows), summary=summary)


def test_stalled_queue_pair_is_named_with_its_waits() -> None:
    (found,) = starved_flows.starved_workloads(pairs_run())
    assert (found.kind, found.starved, found.flows) == ("stalled", 1, 2)
    assert found.worst == (
        "h1 -> h2 (flow 1): went back 5 times (2 NAKs, 3 timeouts) and retransmitted 9,000 packets "
        "for 10,000 data packets; it waited for timeouts during 60% of 5 ms"
    )
    assert 'switch.pause.kind = "pfc"' in starved_flows.starved_warning([[found]])


def test_stalled_queue_pair_without_losses_needs_a_longer_timeout() -> None:
    (found,) = starved_flows.starved_workloads(pairs_run(data_drops=[0, 90]))
    assert found.kind == "early"
    assert "transport.rto" in starved_flows.starved_warning(
        [[found]]
    ) and "pfc" not in starved_flows.starved_warning([[found]])
    (found,) = starved_flows.starved_workloads(pairs_run(data_drops=[0, 91]))
    assert found.kind == "stalled"


def test_unfinished_queue_pair_is_named_beside_links_that_lose() -> None:
    losing = [{"at_ps": 0, "link": "h0", "what": "corruption", "loses": True}]
    late = pairs_run(end_ps=[4 * MS, NONE64], received=[10_000_000, 2_000_000])
    late.summary["changes"] = losing
    assert [one.kind for one in starved_flows.starved_workloads(late)] == ["unfinished"]
    stalled = pairs_run()
    stalled.summary["changes"] = losing
    assert starved_flows.starved_workloads(stalled) == []


def test_unfinished_queue_pair_is_told_from_a_late_one() -> None:
    (found,) = queue_pairs.workloads_with_stalled_queue_pairs(
        pairs_run(end_ps=[4 * MS, NONE64], received=[10_000_000, 2_000_000])
    )
    assert found.kind == "unfinished" and found.worst.endswith("20% of its 10,000,000 B arrived in 10 ms")
    late = {"end_ps": [4 * MS, NONE64], "timeouts": [0, 0], "fast_retransmits": [0, 0]}
    assert queue_pairs.workloads_with_stalled_queue_pairs(pairs_run(**late)) == []


@pytest.mark.parametrize(
    "changed",
    [
        {"timeouts": [0, 1]},
        {"retransmits": [3, 4_999]},
        {"measured": [1, 0]},
        {"go_back": None},
    ],
    ids=["it waited less", "it sent little again", "it does not count", "it is TCP"],
)
def test_queue_pair_is_no_victim_where(changed: dict[str, Any]) -> None:
    assert queue_pairs.workloads_with_stalled_queue_pairs(pairs_run(**changed)) == []
