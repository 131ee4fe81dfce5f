"""Tests of captures of packets cut by switches, read by Wireshark's dissectors (docs/howto/capture.md)."""

from collections import Counter

import pytest

import overspill
import tshark
from overspill import Results
from overspill.engine import core

CUT = """
name = "cut"
duration = "40ms"
[topology]
kind = "leaf_spine"
leaves = 2
spines = 1
hosts_per_leaf = 6
link = { rate = "1Gbps", delay = "1us" }
[switch]
buffer = { kind = "per_port", size = "16KB" }
overflow = { kind = "trim" }
[transport]
kind = "dctcp"
pack = true
connection = "handshake"
timestamps = true
min_rto = "1ms"
[measure]
packets = true
[[traffic]]
name = "burst"
kind = "incast"
senders = 10
receiver = "h0"
size = "20KB"
jitter = "10us"
[variants.headers]
[variants.some_stays]
switch.overflow = { kind = "trim", trim_size = "128B" }
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    core.use_backend(None)
    folder = tmp_path_factory.mktemp("cut")
    path = folder / "cut.toml"
    path.write_text(CUT)
    return overspill.run(path, out=folder / "out", pcap=["h0", "leaf1:spine0"])


@pytest.mark.parametrize(("variant", "left"), [("headers", 70), ("some_stays", 128)])
def test_a_cut_packet_has_fewer_captured_bytes_than_it_had_before(
    results: Results, variant: str, left: int
) -> None:
    """Expects 14 + 20 + 20 B of headers and 12 B of timestamps, whatever payload is left behind them."""
    capture = results.captures[variant, 1]["h0:leaf0"]
    names = ["frame.len", "frame.cap_len", "frame.comment", "tcp.flags.res", "_ws.malformed"]
    rows = tshark.read_fields(capture, names, 'frame.interface_name == "leaf0>h0"')
    cut = [row for row in rows if row[2].startswith("cut from")]
    whole = [row for row in rows if not row[2].startswith("cut from")]
    assert len(cut) > 20 and len(whole) > 20
    for length, kept, told, *_ in cut:
        assert int(kept) == 66 < int(length)
        assert told == f"cut from {int(length) + 4} to {left} B"
    assert all(length == kept for length, kept, *_ in whole)
    assert not any(malformed for *_, malformed in rows)


def test_cut_packets_in_a_capture_are_those_that_ports_count(results: Results) -> None:
    """Expects packets cut on the way to the spine to arrive at h0 cut, and others cut by h0's own port."""
    for variant in ("headers", "some_stays"):
        (run,) = results.runs_of(variant)
        names = [node["name"] for node in run.summary["nodes"]]
        node, peer, cut = (run.column("ports", name) for name in ("node", "peer", "trimmed"))
        counted = {
            f"{names[one]}>{names[other]}": int(times)
            for one, other, times in zip(node, peer, cut, strict=True)
            if times
        }
        assert set(counted) == {"leaf0>h0", "leaf1>spine0"}
        assert not run.column("ports", "drop_buffer_full").any(), "no header is lost"
        found = Counter[str]()
        for capture in results.captures[variant, 1].values():
            rows = tshark.read_fields(capture, ["frame.interface_name", "frame.comment"])
            found.update(name for name, told in rows if told.startswith("cut from"))
        assert found == {"leaf1>spine0": counted["leaf1>spine0"], "leaf0>h0": sum(counted.values())}


@pytest.mark.parametrize("variant", ["headers", "some_stays"])
def test_checksums_of_ipv4_are_right_in_every_frame(results: Results, variant: str) -> None:
    for capture in results.captures[variant, 1].values():
        rows = tshark.read_fields(capture, ["ip.checksum.status", "_ws.malformed"])
        assert len(rows) > 100 and all(row == (tshark.GOOD_CHECKSUM, "") for row in map(tuple, rows))
