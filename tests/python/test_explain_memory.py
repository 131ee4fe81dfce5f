"""Tests of `overspill explain memory`: closed form by hand, the dataplane beside it, output, errors."""

import json
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from conftest import Ran
from memory_scenarios import (
    CHIP,
    EGRESS,
    compare,
    compare_chip,
    nearest,
    open_switch,
    write_scenario,
)

from overspill.engine import (
    memory_comparison,
    memory_reasons,
    switch_memory,
)
from overspill.engine.memory_limits import fill_until
from overspill.engine.memory_reasons import FAULT

pytestmark = pytest.mark.usefixtures("compiled")

Command = Callable[..., Ran]

HEADROOMS = {100: 1292, 50: 682, 40: 520}  # cells of headroom at 300 m, by Gb/s


def test_one_lossless_group_of_the_chip_is_paused_at_half_of_the_pool() -> None:
    case = compare_chip(3, 1)
    cells = 10_875_072 // 4 // 208
    assert (cells, case.closed.pause) == (13_071, Fraction(cells, 2) + 6)
    assert (nearest(case.closed.pause), case.measured["pause"]) == (6542, 6542)
    assert (case.closed.resume, case.measured["resume"]) == (7, 7)
    assert case.differences == []


@pytest.mark.parametrize(("groups", "packets"), [(4, 2620), (8, 1458), (10, 1194)])
def test_more_groups_of_the_chip_are_paused_earlier(groups: int, packets: int) -> None:
    case = compare_chip(3, groups)
    assert case.closed.pause == Fraction(13_071, 1 + groups) + 6
    assert nearest(case.closed.pause) == packets
    assert case.measured["pause"] == packets + 1  # the last whole frame goes beyond the fluid


@pytest.mark.parametrize(("rate", "packets"), [(40, 7063), (50, 7225), (100, 7835)])
def test_ingress_of_the_chip_loses_a_packet_after_its_headroom(rate: int, packets: int) -> None:
    case = compare_chip(3, 1, HEADROOMS[rate])
    assert nearest(case.closed.ingress_loss) == packets == case.measured["ingress_loss"]
    assert (case.closed.headroom, case.differences) == (HEADROOMS[rate], [])


@pytest.mark.parametrize(("groups", "rate", "left"), [(4, 100, 1165), (8, 50, 267), (10, 40, 361)])
def test_last_group_of_the_chip_gets_the_rest_of_the_shared_headroom(
    groups: int, rate: int, left: int
) -> None:
    case = compare_chip(3, groups, HEADROOMS[rate])
    assert 5041 - (groups - 1) * HEADROOMS[rate] == left
    assert case.closed.headroom == left
    # The frame that finds the limit lowered by other groups is in headroom already when the pause begins.
    assert case.measured["headroom"] == (left if groups == 4 else left - 1)


def test_a_lossy_queue_of_the_chip_holds_eight_ninths_of_its_pool() -> None:
    case = compare_chip(0, 1)
    stored = Fraction(8, 9) * 11_110 + 8
    assert round(float(stored), 1) == 9883.6
    assert case.closed.egress_loss == stored + 1
    assert case.measured["egress_loss"] == 9885
    assert abs(nearest(case.closed.egress_loss) - 9887) <= 4  # a device loses this packet


def test_shares_rise_together_over_their_reserves() -> None:
    one = Fraction(1)
    assert fill_until([(one, 1, 6)], Fraction(10)) == 16
    # Two streams fill the first account, so that it leaves its reserve of 10 bytes after 5.
    assert fill_until([(one, 2, 10), (one, 1, 20)], Fraction(30)) == 20
    assert fill_until([(one, 2, 10), (one, 1, 20)], Fraction(33)) == 21
    assert fill_until([], Fraction(1)) is None


def test_computed_headroom_is_the_window_in_the_worst_frames() -> None:
    # 100 Gb/s, 1.5 us each way: (1058 + 64 + 2 x 20) B and 3 us are 38,662 B on the wire, of which frames of
    # 64 B take 84 B: 461 cells. The largest frame, 6 cells, begins at the end.
    link = switch_memory.Link("h0", Fraction(10**11), Fraction(10**11), 3_000_000, 0, 1058, 20)
    assert link.headroom(208, 64) == (461 + 6) * 208
    # With frames from 600 B on, a frame of 625 B takes 4 cells of 645 B on the wire: 240 cells.
    assert link.headroom(208, 600) == (240 + 6) * 208
    slow = switch_memory.Link("h0", Fraction(10**11), Fraction(10**10), 3_000_000, 0, 1058, 20)
    assert slow.headroom(208, 64) == (47 + 6) * 208


SLICES = "slices = 2\npipes = [0, 0, 0, 0, 1, 1, 1, 1]\nslice_of = [0, 1, 1, 0]"


CASES: dict[str, tuple[dict[str, Any], int, int]] = {
    "bytes": ({"cell": 1, "alpha": "0.125"}, 1518, 3),
    "small_cells": ({"cell": 80, "alpha": "0.5", "reserve": 5000}, 209, 2),
    "large_cells": ({"cell": 256, "alpha": "2.0", "offset": 9000}, 64, 5),
    "large_alpha": ({"alpha": "8.0", "reserve": 1248, "offset": 20_000}, 64, 6),
    "large_frames": ({"cell": 256, "alpha": "4.0", "offset": 2288}, 1518, 4),
    "static": ({"limit": "100KB", "reserve": 1248, "offset": 3000}, 209, 3),
    "zero_limit": ({"limit": "0B", "reserve": 12_480}, 64, 2),
    "shared_headroom": ({"headroom": 'headroom = "150KB"'}, 64, 4),
    "ratio": ({"headroom": "over_subscribe_ratio = 16.0", "alpha": "0.25"}, 209, 5),
    "computed_headroom": ({"xoff": None, "cell": 80}, 64, 3),
    "computed_worst_frame": ({"xoff": None, "more": 'worst_frame = "500B"'}, 1518, 2),
    "reserves_included": ({"reserve": 4160, "more": 'size_includes = "reserves"'}, 64, 3),
    "all_included": ({"pool": 9_000_000, "more": 'size_includes = "reserves_and_headroom"'}, 209, 4),
    "slices": ({"more": SLICES, "alpha": "2.0"}, 64, 4),
    "egress_first": ({"queue": 'threshold = { kind = "static", limit = "90KB" }'}, 64, 1),
    "egress_after_pause": ({"queue": 'threshold = { kind = "static", limit = "520KB" }'}, 64, 1),
    "lossy_queues": (
        {"lossless": False, "pool": 9_000_000, "queue": 'threshold = { kind = "dynamic" }'},
        209,
        4,
    ),
    "lossy_group": ({"lossless": False, "alpha": "0.5"}, 1518, 1),
    "mark_packets": ({"marking": 'kind = "ecn_threshold", k = "65pkt"'}, 209, 2),
    "mark_bytes": ({"marking": 'kind = "ecn_threshold", k = "100KB"'}, 1518, 1),
}


@pytest.mark.parametrize("name", CASES)
def test_closed_form_and_dataplane_agree_or_the_difference_is_explained(name: str, tmp_path: Path) -> None:
    settings, size, groups = CASES[name]
    found = compare(write_scenario(tmp_path / "pools.toml", **settings), size, groups)
    assert len(found.cases) == (1 if groups == 1 else 2)
    for case in found.cases:
        events = [case.closed.ingress_loss, case.closed.egress_loss]
        assert sum(count is not None for count in events) == 1
        assert not any(FAULT in text for text in case.differences)
        # Frames that come in turn explain a few frames, and nothing explains more here.
        for measure in memory_reasons.MEASURES:
            closed, measured = getattr(case.closed, measure), case.measured[measure]
            assert (closed is None) == (measured is None), measure
            assert closed is None or abs(closed - measured) <= (1 if case.congested == 1 else 2), measure


def test_alone_every_setting_agrees_within_a_frame(tmp_path: Path) -> None:
    for alpha in ("0.125", "0.3", "1.0", "2.5", "8.0"):
        for cell, size in ((1, 1518), (80, 64), (256, 209), (256, 1518)):
            path = write_scenario(tmp_path / "pools.toml", alpha=alpha, cell=cell, reserve=2000, offset=4000)
            (case,) = compare(path, size, 1).cases
            assert case.differences == [], (alpha, cell, size)
            assert case.closed.pause is not None
            assert case.measured["resume"] is not None


def test_profiles_by_port_and_rate_select_the_accounts(tmp_path: Path) -> None:
    path = write_scenario(tmp_path / "pools.toml")
    entry = (
        '[[switch.buffer.groups]]\ngroup = [3]\nprofile = "pg2"\nports = [1]\nrate = "100Gbps"\n[[traffic]]'
    )
    other = (
        '[switch.buffer.profiles.pg2]\npool = "in"\nlossless = true\nxoff = "1KB"\n[switch.buffer.profiles.q]'
    )
    text = path.read_text().replace("[[traffic]]", entry).replace("[switch.buffer.profiles.q]", other)
    path.write_text(text)
    memory = open_switch(path, [], (0, EGRESS), 64).memory
    assert memory is not None
    assert {at for at, name in memory.groups.items() if name == "pg2"} == {(1, 3)}
    assert (memory.headrooms[1, 3], memory.headrooms[0, 3]) == (4 * 208, 288 * 208)


@pytest.mark.parametrize(
    ("buffer", "size", "loss"),
    [
        ('kind = "per_port", size = "100pkt"', 1518, 101),
        ('kind = "per_port", size = "100KB"', 1518, 66),
        ('kind = "shared", size = "1MB", alpha = 1', 1518, 330),
        ('kind = "shared", size = "1MB", alpha = 0.5, reserved = "20KB"', 209, 1436),
        # 1 MB without 64 reserves of 2 KB, a third of it, and the reserve.
        ('kind = "shared", size = "1MB", alpha = 0.5, reserved = "2KB", per = "queue"', 209, 1401),
    ],
)
def test_buffers_without_pools_have_the_same_table(buffer: str, size: int, loss: int, tmp_path: Path) -> None:
    text = write_scenario(tmp_path / "pools.toml", lossless=False).read_text()
    head, rest = text.split("[switch.buffer]")
    traffic = rest[rest.index("[[traffic]]") :]
    path = tmp_path / "plain.toml"
    path.write_text(f"{head}buffer = {{ {buffer} }}\n{traffic}")
    switch = open_switch(path, [], (0, EGRESS), size)
    found = memory_comparison.compare_class(switch, 3, None)
    (case,) = found.cases
    assert found.congests == ("queues" if "per = " in buffer else "ports")
    assert case.closed.egress_loss is not None
    assert int(case.closed.egress_loss) == loss
    assert (case.differences, case.measured["ingress_loss"]) == ([], None)
    paused = open_switch(
        path, ['switch.pause={kind="pfc",xoff="9KB",xon="3KB",lossless=false}'], (0, 5), size
    )
    (case,) = memory_comparison.compare_class(paused, 3, None).cases
    assert case.measured["pause"] == -(-9000 // size) == case.closed.pause
    assert case.differences == []


def test_the_table_has_both_methods_side_by_side(command: Command) -> None:
    ran = command("explain", "memory", CHIP, "--egress", EGRESS)
    assert (ran.status, ran.err) == (0, "")
    rows = [re.split(r" {2,}", line.strip()) for line in ran.out.splitlines()]
    assert ["packets until a pause", "2,620.2", "2,621"] in [row[-3:] for row in rows]
    assert ["3", "1 group", "packets until a pause", "6,541.5", "6,542"] in rows
    assert ["departures until the resume", "7", "7"] in rows
    assert ["0", "1 queue", "packets until a loss at egress", "9,884.6", "9,885"] in rows
    assert ran.out.splitlines()[-1] == "Both methods agree within one packet."


def test_the_document_has_both_methods(command: Command) -> None:
    ran = command("explain", "memory", CHIP, "--class", 3, "--groups", 8, "--size", "64B", "--json")
    document = json.loads(ran.out)
    assert (document["buffer"], document["cell"], document["slice"]) == ("pools", 208, 0)
    alone, eight = document["classes"][0]["cases"]
    assert alone["closed_form"]["pause"] == 6541.5
    assert alone["closed_form_packets"]["pause"] == alone["dataplane"]["pause"] == 6542
    assert (eight["congested"], eight["closed_form_packets"]["pause"]) == (8, 1458)
    assert eight["dataplane"]["resume"] is None
    assert len(eight["differences"]) == 1


SIZES = "expected a frame size from 64B (`framing.min_frame`) to 65535B"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--port", 32), "--port: found 32; expected a port of s0, from 0 to 31"),
        (("--egress", 0), "--egress: found 0, the input port; expected another port"),
        (("--size", "0B"), f"--size: found 0B; {SIZES}"),
        (("--size", "10B"), f"--size: found 10B; {SIZES}"),
        (("--size", 63), f"--size: found 63; {SIZES}"),
        (("--size", "65536B"), f"--size: found 65536B; {SIZES}"),
        (("--size", "64.5B"), f"--size: found 64.5B; {SIZES}"),
        (("--size", "1us"), f"--size: found 1us; {SIZES}"),
        (("--groups", 31, "--class", 3), "--groups: found 31; expected at most 30, the groups in the slice"),
        (("--switch", "s9"), "--switch: found 's9'; expected one of s0"),
        (("--variant", "x"), "--variant: found 'x'; expected one of alpha_1, alpha_eighth, lossy"),
        (("--out", "x.png"), "explain memory: found --out; expected it only for a mechanism with a curve"),
    ],
)
def test_wrong_arguments_are_refused(arguments: tuple[object, ...], told: str, command: Command) -> None:
    ran = command("explain", "memory", CHIP, *arguments)
    assert (ran.status, ran.out) == (2, "")
    assert told in ran.err


def test_the_framing_sets_the_smallest_size(command: Command) -> None:
    arguments = ("explain", "memory", CHIP, "--class", 3, "--groups", 1, "--json", "--set")
    ran = command(*arguments, "framing.kind='mtu'", "--size", "40B")
    assert (ran.status, json.loads(ran.out)["size"]) == (0, 40)
    ran = command(*arguments, "framing.min_frame='300B'")
    assert (ran.status, json.loads(ran.out)["size"]) == (0, 300)
    ran = command(*arguments, "framing.min_frame='300B'", "--size", "299B")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err == "--size: found 299B; expected a frame size from 300B (`framing.min_frame`) to 65535B\n"


@pytest.mark.parametrize("buffer", ["kind='per_port',size='10KB'", "kind='shared',size='50KB',alpha=0.5"])
def test_a_frame_above_the_whole_memory_is_lost(buffer: str, command: Command) -> None:
    scenario = CHIP.parent / "incast.toml"
    arguments = ("--set", f"switch.buffer={{{buffer}}}", "--size", 65_535, "--json")
    (case,) = json.loads(command("explain", "memory", scenario, *arguments).out)["classes"][0]["cases"]
    assert (case["dataplane"]["egress_loss"], case["differences"]) == (1, [])


def test_the_largest_frame_has_its_cells(command: Command) -> None:
    ran = command("explain", "memory", CHIP, "--size", 65_535, "--class", 3)
    assert ran.status == 0
    assert "Frames of 65,535 B take 316 cells of 208 B" in ran.out
    assert FAULT not in ran.out


def test_the_word_memory_alone_says_how_to_use_the_command(command: Command) -> None:
    ran = command("explain", "memory")
    assert ran.status == 0
    assert "overspill explain memory SCENARIO" in ran.out
    assert command("explain", "detour", CHIP).err.startswith(
        "explain: found a scenario for 'detour'; expected"
    )
    assert command("explain", "memory", "--port", 1).err.startswith("explain memory: found --port and no")
    assert command("explain", "memory", "--size", "64B").err.startswith("explain memory: found --size and no")
    assert command("explain", "red", "--groups", 2).status == 2
    assert command("explain", "red", "--size", "x").err == (
        "--size: found x; expected a number of frames from 1\n"
    )


def test_switches_that_differ_are_named(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "two.toml"
    text = (CHIP.parent / "incast.toml").read_text()
    path.write_text(
        text
        + '\n[[override]]\nwhere = { node = "edge1" }\nswitch.buffer = { kind = "per_port", size = "10KB" }\n'
    )
    ran = command("explain", "memory", path)
    assert ran.status == 2
    assert re.search(
        r"--switch: found none; expected one, as settings differ: \w+ \(per_port\), \w+", ran.err
    )
    ran = command("explain", "memory", path, "--switch", "edge1", "--class", 0, "--json")
    assert json.loads(ran.out)["classes"][0]["cases"][0]["dataplane"]["egress_loss"] == 10_000 // 64 + 1


def test_pause_of_whole_ports_beside_pools_is_refused(command: Command, tmp_path: Path) -> None:
    pause = "switch.pause={kind='pause',xoff='50KB',xon='20KB',lossless=false}"
    ran = command("explain", "memory", CHIP, "--set", pause, "--class", 3)
    assert (ran.status, ran.out) == (2, "")
    assert "found `pause` beside `pools` with priority groups; expected `pfc`" in ran.err
    profile = "profiles={q={pool='out'}},queues=[{queue=[0,1,2,3,4,5,6,7],profile='q'}]"
    egress = f"switch.buffer={{kind='pools',pools={{out={{side='egress',size='4MB'}}}},{profile}}}"
    path = write_scenario(tmp_path / "pools.toml")
    ran = command("explain", "memory", path, "--set", pause, "--set", egress, "--class", 3)
    assert (ran.status, ran.out) == (2, "")
    told = "found {} with `xoff` beside pools without priority groups in switch s0; expected pfc with"
    assert told.format("pause") in ran.err
    ran = command("explain", "memory", path, "--set", pause.replace("'pause'", "'pfc'"), "--set", egress)
    assert (ran.status, ran.out) == (2, "")
    assert told.format("pfc") in ran.err


def test_a_lossless_group_without_a_limit_is_paused_when_it_takes_headroom(tmp_path: Path) -> None:
    path = write_scenario(tmp_path / "pools.toml")
    path.write_text(path.read_text().replace('threshold = { kind = "dynamic", alpha = 1.0 }', ""))
    for case in compare(path, 64, 3).cases:
        # 4807 cells of the pool and 288 of headroom for the first, and a third of the pool for each of three.
        assert case.measured["pause"] == 4807 // case.congested + 1
        assert case.measured["ingress_loss"] == (-(-4807 // case.congested) + 288 + 1)
        assert case.differences == []


def test_memory_without_a_closed_form_is_refused(command: Command) -> None:
    ran = command(
        "explain", "memory", CHIP.parent / "incast.toml", "--set", "switch.buffer={kind='unlimited'}"
    )
    assert ran.status == 2
    assert ran.err.startswith(
        "explain memory: found unlimited in switch edge0; expected an output-queued switch"
    )
    ran = command("explain", "memory", CHIP.parent / "cioq.toml", "--variant", "cioq")
    assert ran.status == 2
    assert "found model = cioq in switch" in ran.err


def test_names_of_switch_chips_are_explained_with_the_keys_of_pools(command: Command) -> None:
    told = command("explain", "dynamic_th").out
    assert "`alpha` of `switch.buffer.shared`" in told
    assert "\ndynamic_th, of switch.buffer.profiles.NAME.threshold dynamic (" in told
    assert "`slices` of `switch.buffer.pools`" in command("explain", "slice").out
    told = command("explain", "headroom").out
    assert (
        "`xoff` of `switch.buffer.profiles.NAME`" in told
        and "\nheadroom, of switch.buffer.pools.NAME (" in told
    )
    told = command("explain", "memory").out
    assert "docs/mechanisms/memory.md" in told and "docs/howto/switch_memory.md" in told
