"""Tests of the streams, the reasons and the notes of `overspill explain memory`."""

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from conftest import Ran
from memory_scenarios import (
    EGRESS,
    compare,
    compare_chip,
    fake_counts,
    memory_case,
    open_switch,
    write_scenario,
)

from overspill.engine import (
    congestion,
    memory_comparison,
    memory_limits,
    memory_reasons,
    switch_memory,
)
from overspill.engine.memory_reasons import FAULT
from overspill.errors import BadInput

pytestmark = pytest.mark.usefixtures("compiled")

Command = Callable[..., Ran]


def test_groups_that_fill_in_turn_are_a_reason(tmp_path: Path) -> None:
    path = write_scenario(tmp_path / "pools.toml", headroom='headroom = "0B"', pool=1_000_000)
    case = compare(path, 64, 6).cases[1]
    assert case.closed.headroom == 0
    assert all("fill in turn" in text for text in case.differences)
    case = compare_chip(3, 8)
    (text,) = case.differences
    assert text.startswith(
        "until a loss at ingress: closed form 1,459.3, dataplane 1,461. The groups or queues"
    )


def test_memory_that_is_free_at_the_end_is_a_reason(tmp_path: Path) -> None:
    settings = {"cell": 1, "offset": 1518, "more": 'release = "end"'}
    (case,) = compare(write_scenario(tmp_path / "pools.toml", **settings), 1518, 1).cases
    measured, closed = case.measured["resume"], case.closed.resume
    assert measured is not None
    assert closed is not None
    assert measured - closed in (0, 1)


def test_an_unexplained_difference_is_an_alarm(tmp_path: Path) -> None:
    path = write_scenario(tmp_path / "pools.toml")
    memory = open_switch(path, [], (0, EGRESS), 64).memory
    assert memory is not None
    case = memory_limits.Case(memory, 64, congestion.congested_streams(memory, (0, EGRESS, 3), 1))
    limits = memory_limits.compute_limits(case)
    measured = dict.fromkeys(memory_reasons.MEASURES, 0) | {"mark": None, "egress_loss": None}
    text = memory_reasons.explain_difference("pause", case, limits, measured)
    assert text is not None
    assert text.endswith(f"dataplane 0. {FAULT}")


def test_the_first_mark_may_come_in_headroom(tmp_path: Path) -> None:
    path = write_scenario(tmp_path / "pools.toml", marking='kind = "ecn_threshold", k = "2500pkt"')
    (case,) = compare(path, 64, 1).cases
    assert (case.closed.mark, case.measured["mark"], case.differences) == (2501, 2501, [])
    assert case.measured["pause"] == 2404
    # Two groups fill one queue: 1603 frames each until the pause, and the second fills its headroom first.
    sets = ["switch.marking.k='3300pkt'"]
    (_, case) = compare(path, 64, 2, sets).cases
    assert (case.closed.mark, case.measured["mark"], case.measured["pause"]) == (1698, 1698, 1603)
    # A group that stores 64 frames in the pool is paused by the first one in headroom.
    small = {"alpha": "16.0", "pool": 64 * 208, "marking": 'kind = "ecn_threshold", k = "100pkt"'}
    (case,) = compare(write_scenario(path, **small), 64, 1).cases
    assert (case.closed.mark, case.measured["mark"], case.differences) == (101, 101, [])


def test_red_marks_at_random_unless_its_profile_is_a_step(tmp_path: Path) -> None:
    path = tmp_path / "pools.toml"
    red = 'kind = "red", min = "50pkt", max = "500pkt", weight = 1.0'
    (case,) = compare(write_scenario(path, marking=red), 64, 1).cases
    assert case.closed.mark == 51
    assert "at random" in case.differences[0]
    wred = 'kind = "wred", queues = [{{ queue = [3], min = "9KB", max = "{}", weight = {} }}]'
    (step,) = compare(write_scenario(path, marking=wred.format("9KB", 1)), 64, 1).cases
    assert (step.closed.mark, step.measured["mark"], step.differences) == (142, 142, [])
    (slow,) = compare(write_scenario(path, marking=wred.format("9KB", 0.01)), 64, 1).cases
    assert "With a weight below 1, an average queue decides on marks" in slow.differences[0]
    # A difference of a step is an alarm, and a mark before the minimum is one for all profiles.
    for marking, mark in ((wred.format("9KB", 1), 150), (wred.format("900KB", 1), 100)):
        case = memory_case(write_scenario(path, marking=marking))
        limits = memory_limits.compute_limits(case)
        text = memory_reasons.explain_difference("mark", case, limits, fake_counts(limits, mark=mark))
        assert text is not None
        assert text.endswith(FAULT)


def test_other_groups_have_the_profile_of_the_measured_one(tmp_path: Path) -> None:
    path = write_scenario(tmp_path / "pools.toml")
    entry = '[[switch.buffer.groups]]\ngroup = [4]\nprofile = "pg2"\n[[traffic]]'
    other = "[switch.buffer.profiles.pg2]\n" + (
        'pool = "in"\nlossless = true\nxoff = "60KB"\nthreshold = { kind = "dynamic", alpha = 0.125 }\n'
    )
    text = path.read_text().replace("[[traffic]]", entry)
    path.write_text(text.replace("[switch.buffer.profiles.q]", f"{other}[switch.buffer.profiles.q]"))
    switch = open_switch(path, [], (0, EGRESS), 64)
    found = memory_comparison.compare_class(switch, 4, 6)
    alone, six = found.cases
    assert (alone.filled, six.filled) == ("port 0, class 4", "ports 0 to 4 and 6, class 4")
    # B / 8 / (1 + 6 / 8) for each of six groups.
    assert (six.closed.pause, six.measured["pause"]) == (Fraction(4807, 14), 344)
    assert six.differences == []
    with pytest.raises(BadInput, match="found 8; expected at most 7, the groups in the slice of class 4"):
        memory_comparison.compare_class(switch, 4, 8)
    # Class 3 has the profile of six more classes: first come those of its own class.
    found = memory_comparison.compare_class(switch, 3, 9)
    assert found.cases[1].filled == "ports 0 to 4, 6 and 7, class 3; ports 0 and 1, class 0"


def test_ports_without_pauses_have_no_paused_groups(tmp_path: Path) -> None:
    path = write_scenario(tmp_path / "pools.toml")
    memory = open_switch(path, [], (0, EGRESS), 64).memory
    assert memory is not None
    own = (0, EGRESS, 3)
    some = replace(memory, pausing=frozenset({0, 2}))
    streams = congestion.congested_streams(some, own, 99)
    assert {port for port, _, _ in streams} == {0, 2}
    assert len(streams) == 16
    # Queues with other marks are of another kind.
    marks = {(EGRESS, 2): switch_memory.Marking(9000, False)}
    assert (2, EGRESS, 2) in congestion.congested_streams(memory, own, 99)
    assert (2, EGRESS, 2) not in congestion.congested_streams(replace(memory, marking=marks), own, 99)


def test_lossy_queues_fill_from_other_ports_if_ingress_is_the_limit(tmp_path: Path) -> None:
    settings = {"lossless": False, "limit": "100KB", "pool": 9_000_000}
    found = compare(path := write_scenario(tmp_path / "pools.toml", **settings), 64, 4)
    alone, four = found.cases
    assert (found.congests, four.filled) == ("queues", "ports 0 to 2 and 5, class 3; from ports 0 to 3")
    # Each group has its own limit, as the one of the measured stream alone.
    assert alone.measured["ingress_loss"] == four.measured["ingress_loss"] == 482
    assert (alone.differences, four.differences) == ([], [])
    found = compare(path, 64, 4, ["switch.buffer.profiles.q.threshold={kind='static',limit='20KB'}"])
    assert found.cases[1].filled == "ports 1 to 3 and 5, class 3; from port 0"
    assert found.cases[1].measured["egress_loss"] == 98


@pytest.mark.parametrize(
    ("xoff", "offset", "departures"), [("60KB", 0, 1), ("0B", 0, 1), ("60KB", 59_500_000, 2405)]
)
def test_resume_of_a_group_that_fills_its_pool_first(
    xoff: str, offset: int, departures: int, tmp_path: Path
) -> None:
    path = write_scenario(tmp_path / "pools.toml", limit="60MB", xoff=xoff, offset=offset)
    (case,) = compare(path, 64, 1).cases
    assert (case.measured["pause"], case.measured["resume"]) == (4808, departures)
    assert (case.closed.resume, case.differences) == (departures, [])


def test_group_that_refuses_its_first_frame_is_never_resumed(tmp_path: Path) -> None:
    path = tmp_path / "pools.toml"
    (case,) = compare(write_scenario(path, limit="0B", xoff="0B"), 64, 1).cases
    assert (case.measured["pause"], case.measured["ingress_loss"]) == (1, 1)
    assert (case.closed.resume, case.measured["resume"], case.differences) == (None, None, [])
    # Two frames in the reserve can depart.
    (case,) = compare(write_scenario(path, limit="0B", xoff="0B", reserve=416), 64, 1).cases
    assert (case.closed.resume, case.measured["resume"], case.differences) == (1, 1, [])


def test_release_at_the_end_explains_a_single_frame(tmp_path: Path) -> None:
    case = memory_case(write_scenario(tmp_path / "pools.toml", more='release = "end"', offset=9000))
    limits = memory_limits.compute_limits(case)
    assert limits.resume is not None
    for more, told in ((1, None), (2, "when the next one has begun already."), (3, FAULT), (-2, FAULT)):
        measured = fake_counts(limits, resume=int(limits.resume) + more)
        text = memory_reasons.explain_difference("resume", case, limits, measured)
        assert text is None if told is None else text is not None and text.endswith(told)


def test_rounding_alone_is_no_difference() -> None:
    assert not memory_reasons.differs("pause", Fraction("447.97"), 449)
    assert memory_reasons.differs("pause", Fraction("447.4"), 449)
    assert not memory_reasons.differs("pause", Fraction("447.97"), 447)
    assert memory_reasons.differs("pause", Fraction("447.5"), 446)


def test_every_row_names_the_end_of_the_measurement(tmp_path: Path) -> None:
    path = write_scenario(tmp_path / "pools.toml", pool=3_000_000_000)
    path.write_text(path.read_text().replace('size = "4MB"', 'size = "4GB"'))
    case = memory_case(path)
    limits = memory_limits.compute_limits(case)
    assert limits.pause is not None
    assert limits.pause > memory_reasons.MOST_FRAMES
    told = memory_reasons.explain_case(case, limits, dict.fromkeys(memory_reasons.MEASURES))
    assert len(told) == 4
    assert all(text.endswith("A measurement sends 5,000,000 frames at most.") for text in told)
    # A group that does not reach 5,000,000 frames must be paused.
    case = memory_case(write_scenario(tmp_path / "pools.toml"))
    told = memory_reasons.explain_case(
        case, memory_limits.compute_limits(case), dict.fromkeys(memory_reasons.MEASURES)
    )
    assert len(told) == 4
    assert all("frames at most" not in text for text in told)


def test_what_both_methods_leave_out_is_told(command: Command, tmp_path: Path) -> None:
    marking = 'kind = "wred", queues = [{ queue = [3], min = "9KB", max = "9KB", ecn = "none" }]'
    path = write_scenario(tmp_path / "pools.toml", marking=marking)
    drops = "WRED drops packets of this queue from packet 142 on. Both methods leave these drops out."
    ran = command("explain", "memory", path, "--groups", 1)
    assert (ran.status, f"Class 3: {drops}" in ran.out) == (0, True)
    document = json.loads(command("explain", "memory", path, "--groups", 1, "--json").out)
    assert document["classes"][0]["notes"] == [drops]
    assert document["classes"][0]["cases"][0]["dataplane"]["mark"] is None
    assert "WRED" not in command("explain", "memory", path, "--groups", 1, "--class", 2).out
    path = write_scenario(path, xoff=None)
    ran = command("explain", "memory", path, "--groups", 1, "--size", "9000B")
    assert "Computed headroom covers frames up to 1,058 B, the largest of the scenario." in ran.out
    assert "Computed headroom" not in command("explain", "memory", path, "--groups", 1, "--size", 1058).out
    path = write_scenario(path)
    assert "Computed headroom" not in command("explain", "memory", path, "--groups", 1, "--size", 9000).out


def test_two_groups_of_a_port_count_by_their_map(tmp_path: Path) -> None:
    path = write_scenario(tmp_path / "pools.toml", more="class_to_group = [3, 3, 3, 3, 3, 3, 3, 3]")
    memory = open_switch(path, [], (0, EGRESS), 64).memory
    assert memory is not None
    streams = congestion.congested_streams(memory, (0, EGRESS, 3), 9)
    # A single group at each of the seven other ports: the output port sends no frames to itself.
    assert [port for port, _, _ in streams] == [0, 1, 2, 3, 4, 6, 7]


def test_headroom_of_links_that_change_is_explained(command: Command, tmp_path: Path) -> None:
    path = write_scenario(tmp_path / "pools.toml", xoff=None)
    event = '[[event]]\nat = "100us"\nlink = "h0"\nkind = "delay"\ndelay = "20us"\n[[traffic]]'
    path.write_text(path.read_text().replace("[[traffic]]", event))
    ran = command("explain", "memory", path, "--groups", 1)
    assert ran.status == 0
    assert "covers all rates and delays that events give a link" in ran.out
    assert FAULT not in ran.out
