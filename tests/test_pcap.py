"""Tests of captures of links, read by Wireshark's dissectors (docs/howto/capture.md)."""

import gc
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import overspill
import tshark
from overspill import BadInput, Failed, Results, cli
from overspill.engine import core, pcap, simulate
from overspill.engine.task import Listener, Task
from overspill.errors import Unwritable
from overspill.results import metrics, results_folder
from overspill.results.rundata import RunData

Command = Callable[..., tuple[int, Any]]

SMALL = """
name = "small"
duration = "20ms"
[topology]
kind = "star"
n = 4
link = { rate = "1Gbps", delay = "1us" }
[transport]
kind = "sack"
connection = "handshake"
timestamps = true
receive_window = "60KB"
[measure]
packets = true
[[traffic]]
name = "in"
kind = "incast"
senders = 3
receiver = "h0"
size = "20KB"
start = "1ms"
interval = "3ms"
repeat = 3
[[traffic]]
name = "across"
kind = "permutation"
size = "30KB"
start = "0ms"
"""
CROWDED = """
name = "crowded"
duration = "40ms"
[topology]
kind = "fat_tree"
k = 4
link = { rate = "1Gbps", delay = "1us" }
[switch]
buffer = { kind = "per_port", size = "12pkt" }
marking = { kind = "ecn_threshold", k = "5pkt" }
[transport]
kind = "dctcp"
connection = "handshake"
timestamps = true
min_rto = "1ms"
[measure]
packets = true
[[traffic]]
name = "burst"
kind = "incast"
senders = 12
receiver = "h0"
size = "20KB"
start = "1ms"
jitter = "10us"
[variants.drop]
[variants.detour]
switch.overflow = { kind = "detour", policy = "random" }
[variants.bounce]
switch.buffer = { kind = "per_port", size = "10pkt" }
switch.overflow = { kind = "bounce", theta = 0.8, lambda = 50, bounce_size = "30pkt" }
"""


@pytest.fixture(autouse=True)
def compiled() -> None:
    core.use_backend(None)


@pytest.fixture
def command(capfd: pytest.CaptureFixture[str]) -> Command:
    """Returns a function that runs the command and returns its status and output."""

    def call(*arguments: object) -> tuple[int, Any]:
        with pytest.raises(SystemExit) as left:
            cli.main([str(argument) for argument in arguments])
        assert isinstance(left.value.code, int)
        return left.value.code, capfd.readouterr()

    return call


def write_scenario(folder: Path, text: str) -> Path:
    path = folder / "scenario.toml"
    path.write_text(text)
    return path


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Results:
    core.use_backend(None)
    folder = tmp_path_factory.mktemp("small")
    hosts = ["h0", "h1", "h2", "h3"]
    return overspill.run(write_scenario(folder, SMALL), out=folder / "out", pcap=hosts)


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Results:
    core.use_backend(None)
    folder = tmp_path_factory.mktemp("crowded")
    links = ["h0", "h15", "edge0:agg1"]
    return overspill.run(write_scenario(folder, CROWDED), out=folder / "out", pcap=links)


def count_sent_frames(results: Results, variant: str, ends: tuple[str, str]) -> int:
    """Returns the frames that one end of a link has sent to the other, by the ports' counters."""
    (run,) = results.runs_of(variant)
    names = [node["name"] for node in run.summary["nodes"]]
    node, peer, count = (run.column("ports", name) for name in ("node", "peer", "sent"))
    return int(count[(node == names.index(ends[0])) & (peer == names.index(ends[1]))].sum())


@pytest.mark.parametrize("host", ["h0", "h1", "h2", "h3"])
def test_a_clean_run_has_nothing_that_an_expert_would_complain_of(small: Results, host: str) -> None:
    capture = small.captures["default", 1][f"{host}:s0"]
    tshark.check_capture(capture)
    odd = "tcp.analysis.flags && !tcp.analysis.window_update && !tcp.analysis.window_full"
    assert tshark.read_fields(capture, ["frame.number", "_ws.expert.message"], odd) == []


@pytest.mark.parametrize("host", ["h0", "h1", "h2", "h3"])
def test_a_flow_is_one_stream_that_opens_and_ends(small: Results, host: str) -> None:
    capture = small.captures["default", 1][f"{host}:s0"]
    rows = tshark.read_fields(capture, ["tcp.stream", "tcp.flags.syn", "tcp.flags.push", "tcp.len"])
    streams = Counter(stream for stream, *_ in rows)
    number = int(host[1:])
    (run,) = small.runs
    of_host = (run.column("flows", "src") == number) | (run.column("flows", "dst") == number)
    assert len(streams) == of_host.sum() > 3
    opened = Counter(stream for stream, syn, *_ in rows if syn == "1")
    pushed = Counter(stream for stream, _, push, _ in rows if push == "1")
    assert opened == dict.fromkeys(streams, 2), "a SYN and its answer"
    assert pushed == dict.fromkeys(streams, 1), "the last segment"
    total = sum(int(length) for *_, length in rows)
    assert total == run.column("flows", "bytes")[of_host].sum()


def test_frames_in_a_capture_are_those_that_ports_count(small: Results, crowded: Results) -> None:
    for results in (small, crowded):
        for (variant, _), files in results.captures.items():
            for link, capture in files.items():
                a, b = link.split(":")
                found = Counter(name for (name,) in tshark.read_fields(capture, ["frame.interface_name"]))
                assert found == {
                    f"{a}>{b}": count_sent_frames(results, variant, (a, b)),
                    f"{b}>{a}": count_sent_frames(results, variant, (b, a)),
                }


def test_times_are_those_of_arrival_in_nanoseconds(small: Results) -> None:
    """Compares times of arrival and delivery, which are equal because hosts take no time."""
    capture = small.captures["default", 1]["h0:s0"]
    rows = tshark.read_fields(capture, ["frame.time_epoch"], 'frame.interface_name == "s0>h0"')
    found = [int(text.replace(".", "")) for (text,) in rows]
    (run,) = small.runs
    end, node, fate = (run.column("packets", name) for name in ("end_ps", "node", "fate"))
    assert found == sorted(int(at) // 1000 for at in end[(node == 0) & (fate == 0)])
    assert len(set(np.diff(found))) > 3


@pytest.mark.parametrize("variant", ["drop", "detour", "bounce"])
def test_every_frame_of_a_crowded_network_is_sound(crowded: Results, variant: str) -> None:
    for link, capture in crowded.captures[variant, 1].items():
        assert tshark.check_capture(capture) > 10, link


def test_options_and_marks_are_where_wireshark_looks_for_them(crowded: Results) -> None:
    capture = crowded.captures["drop", 1]["h0:edge0"]
    names = [
        "ip.dsfield.ecn",
        "tcp.flags.ece",
        "tcp.options.sack.count",
        "tcp.options.timestamp.tsval",
        "tcp.flags.syn",
    ]
    rows = tshark.read_fields(
        capture, [*names, "tcp.options.mss_val", "tcp.options.wscale.shift", "frame.len"]
    )
    assert {ecn for ecn, *_ in rows} == {"0", "2", "3"}, "not capable, ECT(0), CE"
    assert any(ece == "1" and syn == "0" for _, ece, _, _, syn, *_ in rows)
    assert any(count not in ("", "0") for _, _, count, *_ in rows)
    assert all(stamp for _, _, _, stamp, *_ in rows)
    for *_, syn, mss, shift, length in rows:
        assert (mss, bool(shift)) == (("1472", True) if syn == "1" else ("", False))
        assert 60 <= int(length) <= 1526


@pytest.mark.parametrize("variant", ["detour", "bounce"])
def test_comments_tell_of_detours_and_bounces(crowded: Results, variant: str) -> None:
    capture = crowded.captures[variant, 1]["h0:edge0"]
    rows = tshark.read_fields(capture, ["frame.comment"], 'frame.interface_name == "edge0>h0"')
    (run,) = crowded.runs_of(variant)
    named = ("detours", "bounces", "node", "fate")
    detours, bounces, node, fate = (run.column("packets", name) for name in named)
    at = (node == 0) & (fate == 0)

    def said(what: str, count: int) -> list[str]:
        return [f"{what} {count} time{'' if count == 1 else 's'}"] if count else []

    pairs = zip(bounces[at].tolist(), detours[at].tolist(), strict=True)
    expected = Counter(", ".join(said("bounced", b) + said("detoured", d)) for b, d in pairs)
    assert Counter(text for (text,) in rows) == expected
    assert len(expected) > 2


def test_what_is_lost_does_not_cross(crowded: Results) -> None:
    (run,) = crowded.runs_of("drop")
    assert run.column("ports", "drop_buffer_full").sum() > 0
    capture = crowded.captures["drop", 1]["h0:edge0"]
    gaps = tshark.read_fields(
        capture, ["frame.number"], "tcp.analysis.lost_segment || tcp.analysis.duplicate_ack"
    )
    assert len(gaps) > 0


RAW = """
name = "raw"
duration = "5ms"
[topology]
kind = "star"
n = 3
link = { rate = "1Gbps", delay = "1us" }
[[traffic]]
name = "bursts"
kind = "bursts"
sources = ["h0", "h1"]
destination = "h2"
payload = "1500B"
packets = 50
interval = "20us"
pause = "10ms"
"""


def test_raw_packets_are_datagrams(tmp_path: Path) -> None:
    results = overspill.run(write_scenario(tmp_path, RAW), pcap=["h2"])
    capture = results.captures["default", 1]["h2:s0"]
    count = tshark.check_capture(capture)
    assert count == count_sent_frames(results, "default", ("s0", "h2")) == 100
    rows = tshark.read_fields(capture, ["frame.len", "udp.length", "udp.stream"])
    assert {(length, datagram) for length, datagram, _ in rows} == {("1554", "1520")}
    assert len({stream for *_, stream in rows}) == 2


def test_a_cut_capture_keeps_headers_and_tells_lengths(tmp_path: Path) -> None:
    results = overspill.run(write_scenario(tmp_path, SMALL), pcap="h0", pcap_snaplen=94)
    capture = results.captures["default", 1]["h0:s0"]
    rows = tshark.read_fields(capture, ["frame.len", "frame.cap_len", "tcp.seq", "ip.checksum.status"])
    assert max(int(kept) for _, kept, *_ in rows) == 94 < max(int(length) for length, *_ in rows)
    assert all(sequence and checked == tshark.GOOD_CHECKSUM for *_, sequence, checked in rows)


def test_captures_are_the_same_bits_on_every_run_and_change_nothing(tmp_path: Path, crowded: Results) -> None:
    path = write_scenario(tmp_path, CROWDED)
    again = overspill.run(path, jobs=1, pcap=["edge0:agg1", "h15", "h0"])
    plain = overspill.run(path)
    for key, files in crowded.captures.items():
        for link, capture in files.items():
            assert again.captures[key][link].read_bytes() == capture.read_bytes()
    assert plain.captures == {}
    for name in ("flows", "ports", "packets"):
        assert plain.table(name).equals(crowded.table(name))


def test_chunks_of_any_size_make_the_same_file(
    tmp_path: Path, small: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(simulate, "EVENTS_BETWEEN_ROWS", 100)
    monkeypatch.setattr(pcap, "FRAMES_PER_WRITE", 7)
    again = overspill.run(write_scenario(tmp_path, SMALL), pcap=["h0"])
    here, there = (results.captures["default", 1]["h0:s0"] for results in (again, small))
    assert here.read_bytes() == there.read_bytes()


def test_every_variant_and_seed_has_files_of_its_own_which_the_manifest_lists(
    tmp_path: Path, command: Command
) -> None:
    path = write_scenario(tmp_path, CROWDED)
    chosen = ("--pcap", "h0", "--pcap", "edge0:h0", "--pcap", "core0:agg0")
    left, said = command("run", path, "--seeds", 2, "--out", tmp_path / "out", "--no-report", *chosen)
    assert (left, f"captures: {tmp_path / 'out' / 'runs'}" in said.out) == (0, True)
    found = {
        path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").glob("runs/**/*.pcapng*")
    }
    folders = [f"runs/{variant}/seed-{seed}" for variant in ("drop", "detour", "bounce") for seed in (1, 2)]
    assert found == {f"{folder}/{link}.pcapng" for folder in folders for link in ("h0~edge0", "agg0~core0")}
    manifest = results_folder.read_manifest(tmp_path / "out")
    assert found <= {name for entry in manifest["runs"] for name in entry["files"]}
    assert manifest["pcap"] == ["h0", "edge0:h0", "core0:agg0"]
    loaded = Results.load(tmp_path / "out")
    assert loaded.captures["detour", 2]["agg0:core0"] == tmp_path / "out/runs/detour/seed-2/agg0~core0.pcapng"
    loaded.captures["detour", 2]["agg0:core0"].write_bytes(b"")
    with pytest.raises(BadInput, match="agg0~core0"):
        Results.load(tmp_path / "out")


def test_new_results_take_the_captures_of_old_ones_away(tmp_path: Path) -> None:
    path, out = write_scenario(tmp_path, SMALL), tmp_path / "out"
    overspill.run(path, out=out, pcap=["h0", "h1"])
    overspill.run(path, out=out, pcap=["h1"])
    assert [file.name for file in out.glob("runs/**/*.pcapng")] == ["h1~s0.pcapng"]


def test_captures_in_memory_are_saved_with_the_rest(tmp_path: Path, small: Results) -> None:
    results = overspill.run(write_scenario(tmp_path, SMALL), pcap=["h0"])
    before = results.captures["default", 1]["h0:s0"]
    results.save(tmp_path / "out")
    after = Results.load(tmp_path / "out").captures["default", 1]["h0:s0"]
    assert (
        after == results.captures["default", 1]["h0:s0"] == tmp_path / "out/runs/default/seed-1/h0~s0.pcapng"
    )
    assert after.read_bytes() == small.captures["default", 1]["h0:s0"].read_bytes()
    del results
    gc.collect()
    assert not before.exists(), "the temporary folder is gone"


def test_a_run_that_breaks_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulate, "EVENTS_BETWEEN_ROWS", 100)
    seen: list[str] = []

    class Breaking(Listener):
        def advanced(self, task: Task, status: dict[str, Any]) -> None:
            seen.extend(path.name for path in (tmp_path / "out").rglob("*.pcapng*"))
            if status["events"] > 500:
                raise ValueError("no more")

    with pytest.raises(Failed, match="no more"):
        overspill.run(write_scenario(tmp_path, SMALL), out=tmp_path / "out", pcap=["h0"], listener=Breaking())
    assert set(seen) == {"h0~s0.pcapng.part"}
    assert not (tmp_path / "out").exists()


def test_a_run_that_cannot_be_kept_leaves_no_file_beside_those_that_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measure = metrics.measure

    def fails(run: RunData) -> Any:
        if run.seed == 2:
            raise ValueError("no metrics")
        return measure(run)

    monkeypatch.setattr(metrics, "measure", fails)
    results = overspill.run(write_scenario(tmp_path, SMALL), seeds=2, out=tmp_path / "out", pcap=["h0"])
    assert [run.seed for run in results.runs] == [1]
    assert len(list((tmp_path / "out").glob("runs/**/*.pcapng*"))) == 1
    assert len(list((tmp_path / "out").glob("store/**/*.pcapng*"))) == 1


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pcap, "partial_path", lambda place, file: place / "nowhere" / file)
    with pytest.raises(Unwritable, match="cannot be written: No such file"):
        overspill.run(write_scenario(tmp_path, SMALL), out=tmp_path / "out", pcap=["h0"])
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--pcap", "h9"), "--pcap: found `h9`; expected a host or a link `a:b`; the nodes are `h0`, `h1`"),
        (
            ("--pcap", "s0"),
            "--pcap: found `s0`; expected a host or a link; the links of `s0` are `h0:s0`, `h1:s0`",
        ),
        (("--pcap", "h0:h1"), "--pcap: found `h0:h1`; expected a link; the links of `h0` are `h0:s0`"),
        (("--pcap", "h0", "--pcap-snaplen", "0"), "--pcap-snaplen: found 0; expected 1 to 262144 bytes"),
        (("--pcap-snaplen", "94"), "--pcap-snaplen: found without --pcap; expected a link or a host"),
    ],
)
def test_what_cannot_be_captured_is_refused_before_anything_runs(
    tmp_path: Path, command: Command, options: tuple[str, ...], told: str
) -> None:
    left, said = command("run", write_scenario(tmp_path, SMALL), "--out", tmp_path / "out", *options)
    assert (left, told in said.err) == (2, True), said.err
    assert not (tmp_path / "out").exists()


def test_names_of_files_are_told_apart() -> None:
    names = ["a:b", "a-b", "a:b:1", "a~b", "ä:b", "a::b", "%:b", ".:b"]
    files = [pcap.capture_file_name(name) for name in names]
    assert len(set(files)) == len(names)
    assert files[:3] == ["a~b.pcapng", "a-b.pcapng", "a~b~1.pcapng"]
    assert all("/" not in file and not file.startswith(".") for file in files)


def test_where_tools_must_be_there_their_lack_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("OVERSPILL_REQUIRE_TOOLS", "1")
    with pytest.raises(pytest.fail.Exception, match="tshark is not installed"):
        tshark.skip_without_tshark()
    monkeypatch.delenv("OVERSPILL_REQUIRE_TOOLS")
    with pytest.raises(pytest.skip.Exception, match="tshark is not installed"):
        tshark.skip_without_tshark()
