"""Tests of captures of RoCEv2 beside TCP, read by Wireshark's dissectors (docs/howto/capture.md)."""

import struct
import zlib
from collections import Counter
from pathlib import Path

import pytest

import overspill
import tshark
from overspill import Results

MIXED = """
name = "mixed"
duration = "5ms"
[topology]
kind = "star"
n = 4
link = { rate = "10Gbps", delay = "1us" }
[host]
nic = { kind = "round_robin" }
reaction = { kind = "dcqcn" }
[switch]
buffer = { kind = "per_port", size = "30KB" }
marking = { kind = "red", min = "5KB", max = "20KB", weight = 1, gaps = "geometric", not_ect = "pass" }
[transport]
kind = "linux_dctcp"
[measure]
packets = true
drain = "1s"
[[traffic]]
name = "storage"
kind = "incast"
senders = 3
receiver = "h0"
size = "60101B"
start = "100us"
class = 3
transport = { kind = "roce", rto = "500us" }
[[traffic]]
name = "web"
kind = "permutation"
size = "30KB"
"""
FIRST, MIDDLE, LAST, ACK, CNP = "0", "1", "2", "17", "129"
ROCE = ("infiniband.bth.opcode", "infiniband.bth.psn", "infiniband.aeth.syndrome")


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Results:
    folder = tmp_path_factory.mktemp("mixed")
    path = folder / "scenario.toml"
    path.write_text(MIXED)
    return overspill.run(path, out=folder / "out", pcap=["h0", "h1"])


def capture(results: Results, host: str) -> Path:
    return results.captures["default", 1][f"{host}:s0"]


def test_wireshark_knows_every_packet_of_a_reliable_connection(mixed: Results) -> None:
    path = capture(mixed, "h0")
    assert (
        tshark.read_fields(path, ["frame.number", "_ws.expert.message"], "_ws.malformed || _ws.short") == []
    )
    rows = tshark.read_fields(path, ["_ws.col.Protocol", *ROCE, "frame.len"])
    assert {protocol for protocol, *_ in rows} == {"TCP", "RRoCE"}
    roce = [row for row in rows if row[0] == "RRoCE"]
    opcodes = Counter(opcode for _, opcode, *_ in roce)
    (run,) = mixed.runs
    retransmits = run.column("flows", "retransmits")[run.column("flows", "traffic") == 0].sum()
    assert retransmits > 0 and run.column("ports", "drop_buffer_full").sum() > 0
    assert set(opcodes) == {FIRST, MIDDLE, LAST, ACK, CNP}
    assert opcodes[FIRST] >= 3 and opcodes[LAST] >= 3
    assert opcodes[CNP] == run.column("congestion_points", "cnps").sum()
    # 101 bytes, and three bytes of padding to a multiple of four.
    assert {int(psn) for _, opcode, psn, *_ in roce if opcode == LAST} == {60}
    assert {length for _, opcode, _, _, length in roce if opcode == ACK} == {"62"}
    syndromes = {int(syndrome, 0) for _, opcode, _, syndrome, _ in roce if opcode == ACK}
    assert syndromes == {0x1F, 0x60}, "ACKs, and NAKs for a gap"


def test_frames_of_both_are_those_that_ports_count(mixed: Results) -> None:
    (run,) = mixed.runs
    node, sent = run.column("ports", "node"), run.column("ports", "sent")
    found = Counter(name for (name,) in tshark.read_fields(capture(mixed, "h1"), ["frame.interface_name"]))
    assert found["h1>s0"] == int(sent[node == 1].sum())


def test_the_invariant_crc_is_that_of_every_frame(mixed: Results) -> None:
    frames = [frame for frame in blocks(capture(mixed, "h0")) if frame[23] == 17]
    assert len(frames) > 100
    for frame in frames:
        packet = bytearray(frame[14 : 14 + int.from_bytes(frame[16:18], "big")])
        found = int.from_bytes(packet[-4:], "little")
        for at in (1, 8, 10, 11, 26, 27, 32):  # fields that switches change
            packet[at] = 0xFF
        assert found == zlib.crc32(b"\xff" * 8 + bytes(packet[:-4]))


def blocks(path: Path) -> list[bytes]:
    """Returns the frames of a pcapng file."""
    data, at, found = path.read_bytes(), 0, []
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == 6:
            captured = struct.unpack_from("<I", data, at + 20)[0]
            found.append(data[at + 28 : at + 28 + captured])
        at += length
    return found
