"""What `make bench-linux` reads, computes and decides; and one short case on a kernel, where there is one."""

import os
import struct
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "benches" / "linux"))

import cases  # noqa: E402
import counters  # noqa: E402
import flows  # noqa: E402
import kernel  # noqa: E402
import measured  # noqa: E402
import netns  # noqa: E402
import ours  # noqa: E402
import page  # noqa: E402
import verdict  # noqa: E402
import watch  # noqa: E402
from outcome import Flow, Outcome  # noqa: E402

SMALL = cases.Case(4, 30_000, 20, 100, 10, "reno")


def run_of(completions_ms: list[int], timeouts: int = 0, retransmissions: int = 0, drops: int = 0) -> Outcome:
    ends = [Flow(0, ms * 1_000_000, 0, 0) for ms in completions_ms]
    return Outcome([replace(ends[0], timeouts=timeouts, retransmissions=retransmissions), *ends[1:]], drops)


def test_the_cases_are_those_that_were_asked_for() -> None:
    plan = cases.read()
    asked = {
        "flows": {20, 40, 100},
        "buffer_packets": {20, 100, 1000},
        "rate_mbps": {100, 200},
        "rto_min_ms": {10, 200},
        "congestion_control": {"reno", "cubic"},
    }
    assert {name: {getattr(case, name) for case in plan.cases} for name in asked} == asked
    assert len(plan.cases) == 72, "every combination"
    assert plan.repeats >= 10
    assert plan.tolerance == cases.Tolerance(0.10, 0.15, 0.25)


def test_starts_are_sorted_within_the_spread_and_differ_from_run_to_run() -> None:
    starts = SMALL.starts_ns(0, 1000)
    assert starts == sorted(starts) == SMALL.starts_ns(0, 1000)
    assert starts[0] >= 0 and starts[-1] < 1_000_000
    assert starts != SMALL.starts_ns(1, 1000)


def test_a_case_that_occurs_twice_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "cases.toml"
    text = cases.FILE.read_text()
    file.write_text(text + text[text.index("[[grid]]") :])
    with pytest.raises(ValueError, match="a case occurs twice"):
        cases.read(file)


def test_counters_are_read_by_their_names() -> None:
    text = "TcpExt: SyncookiesSent TCPTimeouts\nTcpExt: 1 27\nIpExt: InNoRoutes\nIpExt: 4\n"
    assert counters.netstat(text) == {"SyncookiesSent": 1, "TCPTimeouts": 27}
    with pytest.raises(ValueError, match="no TcpExt"):
        counters.netstat("IpExt: InNoRoutes\nIpExt: 4\n")


def test_packets_lost_between_namespaces_are_summed_over_processors() -> None:
    assert counters.lost_between_namespaces("00ff 0000000a 3\n0001 00000001 0\n") == 11


def test_fields_of_a_connection_lie_where_the_header_says() -> None:
    raw = bytearray(300)
    for at, kind, value in ((68, "I", 5), (100, "I", 7), (216, "I", 3), (240, "H", 2)):
        struct.pack_into(kind, raw, at, value)

    class Connection:
        def getsockopt(self, *_: int) -> bytes:
            return bytes(raw)

    told = flows.info(Connection())  # type: ignore[arg-type]
    assert (told["srtt_us"], told["retransmissions"], told["dsacks"], told["timeouts"]) == (5, 7, 3, 2)


def test_logs_of_both_ends_are_joined_by_the_port() -> None:
    sent = {
        "flows": [
            {"port": 7, "start_ns": 1_000, "timeouts": 1, "retransmissions": 3},
            {"port": 9, "start_ns": 1_500, "timeouts": 0, "retransmissions": 0},
        ]
    }
    found = kernel.outcome(sent, {"ends": {"9": 2_500, "7": 9_000}}, 4)
    assert found == Outcome([Flow(0, 8_000, 1, 3), Flow(500, 1_000, 0, 0)], 4)
    with pytest.raises(kernel.Broken, match="not finished"):
        kernel.outcome(sent, {"ends": {"9": None, "7": 9_000}}, 4)


@pytest.mark.parametrize(
    ("ours_ms", "holds"), [(109, True), (91, True), (112, False), (88, False)], ids=["+9", "-9", "+12", "-12"]
)
def test_a_median_farther_than_a_tenth_from_a_sure_kernel_does_not_hold(ours_ms: int, holds: bool) -> None:
    sure = [run_of([100, 100, 100])] * 3
    row = verdict.compare(SMALL, sure, [run_of([ours_ms] * 3)] * 3, cases.read().tolerance)
    assert row.holds is holds


def test_a_count_within_the_interval_of_the_kernel_holds_however_far_it_is() -> None:
    chance = [run_of([10], timeouts=n) for n in (0, 2, 4)]
    row = verdict.compare(SMALL, chance, [run_of([10], timeouts=5)] * 3, cases.read().tolerance)
    timeouts = row.differences["timeouts"]
    assert timeouts.half_width == pytest.approx(4.303 * 2 / 3**0.5, rel=1e-3)
    assert (timeouts.within_share, timeouts.within_interval, row.holds) == (False, True, True)


def test_a_count_that_the_kernel_never_has_is_without_bound() -> None:
    row = verdict.compare(SMALL, [run_of([10])] * 3, [run_of([10], timeouts=1)] * 3, cases.read().tolerance)
    assert row.differences["timeouts"].apart == float("inf")
    assert not row.holds


def test_drops_decide_nothing() -> None:
    row = verdict.compare(SMALL, [run_of([10])] * 3, [run_of([10], drops=50)] * 3, cases.read().tolerance)
    assert row.holds


def test_percentiles_are_those_of_the_nearest_rank() -> None:
    assert verdict.percentiles([float(n) for n in range(1, 11)]) == [1, 3, 5, 8, 9, 10]


def test_what_was_measured_under_other_conditions_is_measured_again(tmp_path: Path) -> None:
    file, run = tmp_path / "0.json", run_of([3, 4], timeouts=1)
    measured.store(file, {"release": "6.1"}, run, {"TCPTimeouts": 1})
    assert measured.load(file, {"release": "6.1"}) == (run, {"TCPTimeouts": 1})
    assert measured.load(file, {"release": "6.2"}) is None
    assert measured.load(tmp_path / "1.json", {}) is None


def test_the_same_starts_are_replayed() -> None:
    like = Outcome([Flow(0, 1, 0, 0), Flow(1_000, 1, 0, 0), Flow(2_500, 1, 0, 0), Flow(900_000, 1, 0, 0)], 0)
    found = ours.replay(SMALL, like, ours.Chance(0, 1))
    assert [flow.start_ns for flow in found.flows] == [flow.start_ns for flow in like.flows]
    # 4 flows of 21 segments of at most 1514 B over 100 Mb/s.
    # From the first start to the last end; frames of 66 B beside their payload, of which two may go at once.
    last_ms = max(flow.start_ns + flow.completion_ns for flow in found.flows) / 1e6
    assert last_ms > (4 * (30_000 + 21 * 66) - 2 * 1514) * 8 / 100e3


def test_answers_are_between_a_frame_and_its_ack_and_an_ack_and_the_next_data() -> None:
    def frame(source: int, destination: int, payload: int) -> bytes:
        ip = struct.pack("!BBHHHBBH8x", 0x45, 0, 40 + payload, 0, 0, 64, 6, 0)
        return b"\0" * 12 + b"\x08\x00" + ip + struct.pack("!HHIIB", source, destination, 0, 0, 5 << 4)

    data, ack = frame(7, watch.PORT, 1000), frame(watch.PORT, 7, 0)
    seen = [
        (100, "r0", False, data),
        (200, "r1", True, data),
        (215, "r1", False, ack),
        (217, "r0", True, ack),
        (230, "r0", False, data),
        (240, "r0", False, data),
        (300, "r1", True, data),
        (300 + watch.LONGEST_NS, "r0", True, ack),
    ]
    assert watch.answers(seen[::-1]) == {"receiver": [17], "sender": [13]}


def test_tables_are_between_their_marks_and_nothing_else_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "linux.md"
    file.write_text(f"before\n{page.BEGIN}\nold\n{page.END}\nafter\n")
    monkeypatch.setattr(page, "PAGE", file)
    row = verdict.compare(SMALL, [run_of([10])] * 3, [run_of([20])] * 3, cases.read().tolerance)
    told = {
        "kernel": "6.1",
        "repeats": 3,
        "replays": 2,
        "scatter": {"scatter_ns": 9_876},
        "congestion_controls_left_out": ["dctcp"],
        "rows": [verdict.document(row)],
    }
    page.publish(told)
    text = file.read_text()
    assert text.startswith(f"before\n{page.BEGIN}\n") and text.endswith(f"{page.END}\nafter\n")
    assert "old" not in text
    assert "0 of 1 cases" in text and "late by 9.9 µs" in text and "without: dctcp" in text
    assert "| reno | 4 × 30 KB | 20 | 100 | 10 | 10 ± 0 / 20 (+100.0 %) **!** |" in text


def test_without_namespaces_the_command_says_so_and_ends_with_2(tmp_path: Path) -> None:
    tool = tmp_path / "ip"
    tool.write_text(
        "#!/bin/sh\necho 'mount --make-shared /run/netns failed: Operation not permitted' >&2\nexit 1\n"
    )
    tool.chmod(0o755)
    done = subprocess.run(
        [sys.executable, str(ROOT / "benches/linux/bench.py"), "--only", "reno-n20-*"],
        env=os.environ | {"PATH": str(tmp_path), "PYTHONPATH": str(ROOT / "python")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "network namespaces cannot be had here" in done.stdout
    assert "Operation not permitted" in done.stdout
    assert done.stderr == "", "no traceback"


def test_a_short_case_runs_on_the_kernel() -> None:
    try:
        netns.check()
    except netns.Unavailable as error:
        pytest.skip(f"no network namespaces here: {error}")
    with netns.prompt_interrupts():
        found, counted = kernel.run(SMALL, SMALL.starts_ns(0, 1000), {})
    assert len(found.flows) == SMALL.flows
    # Every drop is repaired by a retransmission, and four initial windows do not fit into 20 packets.
    assert found.retransmissions >= found.drops > 0
    assert counted["segments_out"] == 4 * 21 + found.retransmissions
    # Frames of 66 B beside their payload; two may go at once, and the kernel's clock of tokens is not exact.
    assert found.completions_ms[-1] > 0.95 * (4 * (30_000 + 21 * 66) - 2 * 1514) * 8 / 100e3
