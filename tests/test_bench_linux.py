"""Tests of the input, computations and verdicts of `make bench-linux`, and of one short case on a kernel."""

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
import host_delays  # noqa: E402
import kernel  # noqa: E402
import kernel_runs  # noqa: E402
import netns  # noqa: E402
import page  # noqa: E402
import placement  # noqa: E402
import replay  # noqa: E402
import verdict  # noqa: E402
import watch  # noqa: E402
from outcome import Flow, Outcome  # noqa: E402

SMALL = cases.Case(4, 30_000, 20, 100, 10, "reno")


def run_of(completions_ms: list[int], timeouts: int = 0, retransmissions: int = 0, drops: int = 0) -> Outcome:
    ends = [Flow(0, ms * 1_000_000, 0, 0) for ms in completions_ms]
    return Outcome([replace(ends[0], timeouts=timeouts, retransmissions=retransmissions), *ends[1:]], drops)


def test_the_cases_are_those_that_were_asked_for() -> None:
    plan = cases.read_plan()
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
    text = cases.CASES_FILE.read_text()
    file.write_text(text + text[text.index("[[grid]]") :])
    with pytest.raises(ValueError, match="a case occurs twice"):
        cases.read_plan(file)


def test_counters_are_read_by_their_names() -> None:
    text = "TcpExt: SyncookiesSent TCPTimeouts\nTcpExt: 1 27\nIpExt: InNoRoutes\nIpExt: 4\n"
    assert counters.parse_netstat(text) == {"SyncookiesSent": 1, "TCPTimeouts": 27}
    with pytest.raises(ValueError, match="no TcpExt"):
        counters.parse_netstat("IpExt: InNoRoutes\nIpExt: 4\n")


def test_packets_lost_between_namespaces_are_summed_over_processors() -> None:
    assert counters.count_backlog_drops("00ff 0000000a 3\n0001 00000001 0\n") == 11


def test_fields_of_a_connection_lie_where_the_header_says() -> None:
    raw = bytearray(300)
    for at, kind, value in ((68, "I", 5), (100, "I", 7), (216, "I", 3), (240, "H", 2)):
        struct.pack_into(kind, raw, at, value)

    class Connection:
        def getsockopt(self, *_: int) -> bytes:
            return bytes(raw)

    told = flows.read_tcp_info(Connection())  # type: ignore[arg-type]
    assert (told["srtt_us"], told["retransmissions"], told["dsacks"], told["timeouts"]) == (5, 7, 3, 2)


def test_logs_of_both_ends_are_joined_by_the_port() -> None:
    sent = {
        "flows": [
            {"port": 7, "start_ns": 1_000, "timeouts": 1, "retransmissions": 3},
            {"port": 9, "start_ns": 1_500, "timeouts": 0, "retransmissions": 0},
        ]
    }
    found = kernel.join_logs(sent, {"ends": {"9": 2_500, "7": 9_000}}, 4)
    assert found == Outcome([Flow(0, 8_000, 1, 3), Flow(500, 1_000, 0, 0)], 4)
    with pytest.raises(kernel.UnusableRun, match="not finished"):
        kernel.join_logs(sent, {"ends": {"9": None, "7": 9_000}}, 4)


@pytest.mark.parametrize(
    ("ours_ms", "holds"), [(109, True), (91, True), (112, False), (88, False)], ids=["+9", "-9", "+12", "-12"]
)
def test_a_median_farther_than_a_tenth_from_a_sure_kernel_does_not_hold(ours_ms: int, holds: bool) -> None:
    sure = [run_of([100, 100, 100])] * 3
    row = verdict.compare_case(SMALL, sure, [run_of([ours_ms] * 3)] * 3, cases.read_plan().tolerance)
    assert row.holds is holds


def test_a_count_within_the_interval_of_the_kernel_holds_however_far_it_is() -> None:
    chance = [run_of([10], timeouts=n) for n in (0, 2, 4)]
    row = verdict.compare_case(SMALL, chance, [run_of([10], timeouts=5)] * 3, cases.read_plan().tolerance)
    timeouts = row.differences["timeouts"]
    half = 4.303 * 2 / 3**0.5
    assert timeouts.interval == pytest.approx((2 - half, 2 + half), rel=1e-3)
    assert (timeouts.within_share, timeouts.within_interval, row.holds) == (False, True, True)


@pytest.mark.parametrize(("ours_of_40", "holds"), [(14, True), (15, False)])
def test_a_count_that_the_kernel_never_has_is_bounded_by_the_number_of_its_runs(
    ours_of_40: int, holds: bool
) -> None:
    # The kernel has none in ten runs: the mean is below 3.689 / 10 with 97.5 % (Poisson, exact).
    replayed = [run_of([10], timeouts=int(n < ours_of_40)) for n in range(40)]
    row = verdict.compare_case(SMALL, [run_of([10])] * 10, replayed, cases.read_plan().tolerance)
    assert row.differences["timeouts"].relative_difference == float("inf")
    assert row.differences["timeouts"].interval == pytest.approx((0, 0.36889), rel=1e-4)
    assert row.holds is holds


def test_a_case_that_is_missed_passes_by_further_runs_alone() -> None:
    def row(kernel: int, ours: int) -> verdict.Row:
        return verdict.compare_case(
            SMALL, [run_of([kernel])] * 3, [run_of([ours])] * 3, cases.read_plan().tolerance
        )

    missed, held = row(100, 120), row(100, 105)
    assert (missed.holds, missed.passes, held.passes) == (False, False, True)
    assert missed.missed_quantities == {"completion_median"}
    again = replace(missed, further=held, kernel_repeat=held)
    assert (again.holds, again.passes) == (False, True)
    assert verdict.row_document(again)["further"]["passes"]
    assert not replace(missed, further=missed, kernel_repeat=held).passes


def test_what_the_kernels_own_runs_disagree_on_decides_nothing_and_nothing_else_is_excused() -> None:
    def row(median: int, timeouts: int) -> verdict.Row:
        ours = [run_of([median], timeouts=timeouts)] * 3
        return verdict.compare_case(
            SMALL, [run_of([100], timeouts=10)] * 3, ours, cases.read_plan().tolerance
        )

    first, itself = row(120, 10), row(70, 10)
    assert replace(first, further=row(120, 10), kernel_repeat=itself).passes
    assert replace(first, further=row(120, 10), kernel_repeat=itself).is_undecided
    assert not replace(first, further=row(100, 10), kernel_repeat=row(100, 10)).is_undecided
    assert not row(100, 10).is_undecided
    assert not replace(first, further=row(120, 20), kernel_repeat=itself).passes
    assert not replace(first, further=row(100, 20), kernel_repeat=itself).passes
    assert verdict.row_document(replace(first, further=first, kernel_repeat=itself))["itself"] == [
        "completion_median"
    ]


def test_a_miss_hangs_on_what_moves_the_same_quantity_in_the_kernel() -> None:
    def row(median: int, timeouts: int) -> verdict.Row:
        ours = [run_of([median], timeouts=timeouts)] * 3
        return verdict.compare_case(
            SMALL, [run_of([100], timeouts=10)] * 3, ours, cases.read_plan().tolerance
        )

    off = {"tcp_frto": row(150, 10), "tcp_dsack": row(100, 20), "tcp_recovery": row(100, 10)}
    assert replace(row(120, 10), without=off).decisive_mechanisms == {"completion_median": ["tcp_frto"]}
    assert replace(row(120, 20), without=off).decisive_mechanisms == {
        "completion_median": ["tcp_frto"],
        "timeouts": ["tcp_dsack"],
    }
    assert replace(row(120, 10), without={"tcp_dsack": row(100, 20)}).decisive_mechanisms == {
        "completion_median": []
    }
    assert row(100, 10).decisive_mechanisms == {}


def test_drops_decide_nothing() -> None:
    row = verdict.compare_case(
        SMALL, [run_of([10])] * 3, [run_of([10], drops=50)] * 3, cases.read_plan().tolerance
    )
    assert row.holds


def test_percentiles_are_those_of_the_nearest_rank() -> None:
    assert verdict.percentiles([float(n) for n in range(1, 11)]) == [1, 3, 5, 8, 9, 10]


def test_what_was_measured_under_other_conditions_is_measured_again(tmp_path: Path) -> None:
    file, run = tmp_path / "0.json", run_of([3, 4], timeouts=1)
    kernel_runs.store_run(file, {"release": "6.1"}, run, {"TCPTimeouts": 1})
    assert kernel_runs.load_run(file, {"release": "6.1"}) == (run, {"TCPTimeouts": 1})
    assert kernel_runs.load_run(file, {"release": "6.2"}) is None
    assert kernel_runs.load_run(tmp_path / "1.json", {}) is None


def test_the_same_starts_are_replayed() -> None:
    like = Outcome([Flow(0, 1, 0, 0), Flow(1_000, 1, 0, 0), Flow(2_500, 1, 0, 0), Flow(900_000, 1, 0, 0)], 0)
    found = replay.replay_run(
        SMALL, like, replay.ReplayRandomness(host_delays.HostDelays(0, 0, 5_000, 1_211), 1)
    )
    assert [flow.start_ns for flow in found.flows] == [flow.start_ns for flow in like.flows]
    # Four flows of 21 segments of at most 1514 B cross a link of 100 Mb/s. The time is from the first start
    # to the last end. Frames have 66 B besides their payload, and two may leave simultaneously.
    last_ms = max(flow.start_ns + flow.completion_ns for flow in found.flows) / 1e6
    assert last_ms > (4 * (30_000 + 21 * 66) - 2 * 1514) * 8 / 100e3


def probe_of(receiver: list[int], sender: list[int], handshakes: list[int]) -> host_delays.ProbeObservations:
    return host_delays.ProbeObservations({"receiver": receiver, "sender": sender}, handshakes, [])


# 999 gaps of 2 us; the later frame does not count.
BURST = host_delays.ProbeObservations({}, [], [*range(0, 2_000_000, 2_000), 9_000_000])
# Times in ns: 2 us of links plus an ACK of 66 B at 100 Mb/s, or plus a frame of the sender.
ALONE = (7_280, 4_000)


def test_a_host_is_late_by_a_delay_and_by_a_scatter_as_large_as_the_deviation() -> None:
    receiver, sender = ([at + 20_000, at + 40_000] for at in ALONE)
    probes = [probe_of(receiver, sender, [60_000, 80_000]), probe_of(receiver, sender, [70_000])]
    assert host_delays.compute_host_delays(probes, [BURST, BURST]) == host_delays.HostDelays(
        20_000, 10_000, 70_000, 2_000
    )


def test_a_host_whose_deviation_is_above_its_mean_has_no_delay() -> None:
    receiver, sender = ([at, at + 100_000, *[at] * 8] for at in ALONE)
    assert host_delays.compute_host_delays(
        [probe_of(receiver, sender, [5_000])], [BURST]
    ) == host_delays.HostDelays(0, 10_000, 5_000, 2_000)


def test_the_stack_is_crossed_twice_in_an_answer() -> None:
    text = replay.scenario_text(SMALL, host_delays.HostDelays(20_000, 9_000, 60_000, 2_000))
    assert 'stack_delay = "10000ns"' in text and 'nic_jitter = "9000ns"' in text
    assert 'handshake_rtt = "60000ns"' in text
    assert 'rate = "6056000Kbps"' in text, "1514 B in 2 us"


@pytest.mark.parametrize(
    ("processor", "words"), [(0, "00000001"), (5, "00000020"), (33, "00000002,00000000")]
)
def test_a_processor_is_a_bit_of_a_mask(processor: int, words: str) -> None:
    assert placement.processor_mask(processor) == words


def test_frames_are_forwarded_on_another_processor_or_the_command_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {2, 7})
    found = placement.choose_placement(placement.PlacementKind.APART)
    assert (found.hosts, found.router) == (2, 7)
    assert placement.choose_placement(placement.PlacementKind.TOGETHER).router == 2
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {2})
    with pytest.raises(netns.Unavailable, match="--together"):
        placement.choose_placement(placement.PlacementKind.APART)


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
        (300 + watch.MAX_RESPONSE_NS, "r0", True, ack),
    ]
    assert watch.response_times(seen[::-1]) == {"receiver": [17], "sender": [13]}
    assert watch.data_arrival_times(seen[::-1]) == [100, 230, 240]


def test_tables_are_between_their_marks_and_nothing_else_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "linux.md"
    file.write_text(f"before\n{page.BEGIN}\nold\n{page.END}\nafter\n")
    monkeypatch.setattr(page, "PAGE", file)
    row = verdict.compare_case(SMALL, [run_of([10])] * 3, [run_of([20])] * 3, cases.read_plan().tolerance)
    held = verdict.compare_case(SMALL, [run_of([10])] * 3, [run_of([10])] * 3, cases.read_plan().tolerance)
    told = {
        "kernel": "6.1",
        "repeats": 3,
        "replays": 2,
        "placement": "apart",
        "further": 30,
        "late": {"delay_ns": 1_234, "jitter_ns": 9_876, "handshake_ns": 60_000, "frame_ns": 1_800},
        "congestion_controls_left_out": ["dctcp"],
        "rows": [
            verdict.row_document(replace(row, further=row, kernel_repeat=row)),
            verdict.row_document(replace(row, without={"tcp_frto": row, "tcp_dsack": held})),
        ],
    }
    page.publish(told)
    text = file.read_text()
    assert text.startswith(f"before\n{page.BEGIN}\n") and text.endswith(f"{page.END}\nafter\n")
    assert "old" not in text
    assert (
        "0 of 2 cases" in text
        and "takes 1.2 µs plus a random 9.9 µs on average; a handshake takes 60 µs" in text
        and "without it: dctcp" in text
    )
    assert text.count("| reno | 4 × 30 KB | 20 | 100 | 10 | 10 ± 0 / 20 (+100.0 %) **!** |") == 3
    assert "by their further runs alone" in text
    assert "of its own further runs: reno, 4 × 30 KB, 20, 100, 10: completion median." in text
    assert (
        "4 × 30 KB, 20, 100, 10: completion median. Mechanisms that change it in the kernel: `tcp_frto`."
        in text
    )
    assert "| `tcp_dsack` | 10 ± 0 |" in text


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
        netns.check_availability()
    except netns.Unavailable as error:
        pytest.skip(f"no network namespaces here: {error}")
    kind = (
        placement.PlacementKind.APART
        if len(os.sched_getaffinity(0)) > 1
        else placement.PlacementKind.TOGETHER
    )
    with netns.real_time_ksoftirqd():
        found, counted = kernel.run_case(
            SMALL, SMALL.starts_ns(0, 1000), {}, placement.choose_placement(kind)
        )
    assert len(found.flows) == SMALL.flows
    # Every drop causes a retransmission, and four initial windows do not fit into 20 packets.
    assert found.retransmissions >= found.drops > 0
    assert counted["segments_out"] == 4 * 21 + found.retransmissions
    # Frames have 66 B besides their payload. Two may leave simultaneously, and the kernel's token clock is
    # inexact.
    assert found.completions_ms[-1] > 0.95 * (4 * (30_000 + 21 * 66) - 2 * 1514) * 8 / 100e3
