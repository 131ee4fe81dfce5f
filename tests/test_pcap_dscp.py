"""Tests of DSCPs and ECN bits in captures, read by Wireshark's dissectors (docs/howto/capture.md)."""

import pytest

import overspill
import tshark
from overspill import Results

NAMED = """
name = "named"
duration = "5ms"
[topology]
kind = "star"
n = 4
link = { rate = "10Gbps", delay = "1us" }
[dscp_to_class]
46 = 3
10 = 1
[host]
nic = { kind = "round_robin" }
reaction = { kind = "dcqcn" }
[switch]
buffer = { kind = "per_port", size = "60KB" }
marking = { kind = "red", min = "5KB", max = "20KB", weight = 1, gaps = "geometric", not_ect = "pass" }
[transport]
kind = "linux_dctcp"
[measure]
drain = "1s"
[[traffic]]
name = "storage"
kind = "incast"
senders = 3
receiver = "h0"
size = "60101B"
dscp = 26
transport = { kind = "roce", rto = "500us" }
[[traffic]]
name = "web"
kind = "incast"
senders = 3
receiver = "h0"
size = "60KB"
dscp = 46
[[traffic]]
name = "calls"
kind = "request_reply"
clients = ["h1"]
servers = ["h0"]
request = "2KB"
reply = "9KB"
requests = 2
dscp = 10
"""
CNP = "129"
NOT_ECT, ECT0, CE = "0", "2", "3"


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Results:
    folder = tmp_path_factory.mktemp("named")
    path = folder / "scenario.toml"
    path.write_text(NAMED)
    return overspill.run(path, out=folder / "out", pcap=["h0", "h1"])


def dscps_and_ecn(
    results: Results, host: str, only: str, fields: tuple[str, ...] = ()
) -> set[tuple[str, ...]]:
    """Returns DSCP, ECN codepoint and further fields of the frames that a display filter selects."""
    path = results.captures["default", 1][f"{host}:s0"]
    names = ["ip.dsfield.dscp", "ip.dsfield.ecn", *fields]
    return {tuple(row) for row in tshark.read_fields(path, names, only)}


def test_roce_data_and_acks_have_the_named_dscp(named: Results) -> None:
    data = dscps_and_ecn(named, "h0", "infiniband.bth.opcode < 17")
    assert data == {("26", ECT0), ("26", CE)}
    back = dscps_and_ecn(named, "h0", "infiniband.bth.opcode >= 17", ("infiniband.bth.opcode",))
    assert {row[0] for row in back if row[2] != CNP} == {"26"}
    assert {row[0] for row in back if row[2] == CNP} == {"56"}, "CNPs have the default DSCP of class 7"


def test_tcp_data_acks_and_replies_have_the_named_dscp(named: Results) -> None:
    marked = dscps_and_ecn(named, "h0", 'tcp.len > 0 && frame.interface_name == "s0>h0"')
    assert {("46", ECT0), ("46", CE)} <= marked and {dscp for dscp, _ in marked} == {"46", "10"}
    acks = dscps_and_ecn(named, "h0", 'tcp.len == 0 && frame.interface_name == "h0>s0"')
    assert {dscp for dscp, _ in acks} == {"46", "10"}
    replies = dscps_and_ecn(named, "h1", 'tcp.len > 0 && frame.interface_name == "s0>h1"')
    assert {dscp for dscp, _ in replies} == {"10"}


def test_the_table_sets_the_classes_of_workloads(named: Results) -> None:
    resolved = named.facts["resolved"]["default"]
    assert resolved["dscp_to_class"] == {"10": 1, "46": 3}
    assert [workload["class"] for workload in resolved["traffic"]] == [3, 3, 1]
