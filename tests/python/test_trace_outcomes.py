"""Tests of outcomes of traced packets: lost, cut, returned, held, deadlocked, of a failed run, or a CNM."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import test_pausing as pausing
from conftest import Ran
from traced_runs import SCENARIO

import overspill
from overspill import BadInput
from overspill.results import formats
from overspill.tracing import trace_figures as charts
from overspill.tracing.packet_trace import ARRIVED
from overspill.tracing.text import summary_lines, visit_cells

pytestmark = pytest.mark.usefixtures("compiled")

Command = Callable[..., Ran]


@pytest.fixture
def few(tmp_path: Path) -> Path:
    path = tmp_path / "few.toml"
    path.write_text(SCENARIO)
    return path


def test_a_lost_packet_says_where_and_why(few: Path) -> None:
    packets = overspill.run(few).packets.to_pylist()
    lost = next(row for row in packets if row["variant"] == "drop" and row["fate"])
    packet = f"flow={lost['flow']},n={lost['emission']}"
    found = overspill.trace(few, packet, variant="drop")
    assert found.fate == "buffer_full"
    assert found.visits[-1].events == [f"lost: buffer_full, on the way to {'h0'}"]
    assert found.document()["steps"][-1]["reason"] == "buffer_full"
    assert {"path"} <= set(charts.build_figures(found)) and "detours" not in charts.build_figures(found)


CUT = """[variants.trim]
switch.buffer = { kind = "per_port", size = "30KB" }
switch.overflow = { kind = "trim" }
transport.pack = true
"""


def test_a_packet_that_was_cut_says_where_and_how_much_is_left(command: Command, few: Path) -> None:
    few.write_text(SCENARIO + CUT)
    ran = command("trace", few, "--packet", "first_trimmed", "--no-report")
    lines = ran.out.splitlines()
    assert re.fullmatch(r"few, trim, seed 1: flow \d+, packet \d+", lines[0])
    (cut,) = [line for line in lines if "trimmed to 64 B" in line]
    assert " edge0 " in cut and " h0 " in cut, "it is cut at the last switch, and its header goes on"
    assert re.fullmatch(r"delivered to h0 after [0-9.]+ us: \d+ hops, 1 cut", lines[-2])
    found = overspill.trace(few, "first_trimmed")
    sizes = [(step["what"], step["size"]) for step in found.document()["steps"]]
    at = next(at for at, (what, _) in enumerate(sizes) if what == "trimmed")
    assert {size for _, size in sizes[:at]} == {1518} and {size for _, size in sizes[at:]} == {64}
    assert found.document()["trims"] == 1 and found.fate == "delivered"
    whole = overspill.trace(few, "flow=3,n=0", variant="trim").document()
    assert whole["trims"] == 0 and {step["size"] for step in whole["steps"]} == {1518}
    few.write_text(SCENARIO)
    with pytest.raises(BadInput, match="a variant that has overflow trim"):
        overspill.trace(few, "first_trimmed")


def test_a_header_that_came_back_is_found_and_is_not_under_way(command: Command, few: Path) -> None:
    back = CUT.replace('kind = "trim"', 'kind = "trim", extra = "0B", no_room = "return"')
    few.write_text(SCENARIO + back)
    ran = command("trace", few, "--packet", "first_trimmed", "--no-report")
    assert ran.status == 0, ran.err
    told = ran.out.splitlines()[-2]
    assert re.fullmatch(r"returned to its source h\d+ after [0-9.]+ us: \d+ hops, 1 cut", told)
    found = overspill.trace(few, "first_trimmed")
    assert found.fate == "came_back" and found.path[0] == found.path[-1]
    assert found.document()["steps"][-1]["what"] == "came back" and found.facts.get("run_end") is None


def test_a_packet_that_a_deadlock_holds_waits_to_the_end_of_the_run_and_says_why(tmp_path: Path) -> None:
    (tmp_path / "flows.csv").write_text(
        "\n".join(["start,source,destination,bytes", *(f"0ms,h{i},h{(i + 2) % 5},500KB" for i in range(5))])
    )
    path = tmp_path / "ring.toml"
    path.write_text(pausing.ring())
    stuck = next(
        traced
        for traced in (overspill.trace(path, f"flow=0,n={n}") for n in range(10, 300, 10))
        if traced.fate == "under_way" and traced.count(ARRIVED)
    )
    deadlock = overspill.run(path).runs[0].deadlock
    end = stuck.facts["run_end"]
    assert end["deadlock"] == deadlock and end["failed"] is None and deadlock is not None
    assert stuck.document()["end_ps"] == end["at_ps"] > deadlock["at_ps"]
    under_way, _, said = summary_lines(stuck)
    assert under_way.startswith("in flight when the run ended at ")
    assert said.startswith("DEADLOCK: the ports ") and " -> ".join(deadlock["cycle"]) in said
    assert visit_cells(stuck, stuck.visits[-1])[-1].startswith("> ")


def test_a_trace_in_a_run_that_failed_says_how(tmp_path: Path) -> None:
    path = tmp_path / "slow.toml"
    path.write_text(pausing.SLOW.replace('size = "100KB"', 'size = "5KB"'))
    lost, held = (overspill.trace(path, f"flow=0,n={n}", variant="pfc") for n in (4, 5))
    assert (lost.fate, held.fate) == ("buffer_full", "under_way")
    said = "a packet of a lossless class was lost, because no memory was free"
    assert all(said in summary_lines(one)[-1] for one in (lost, held))
    assert lost.times_ps[1] == lost.steps[-1]["time_ps"]
    with pytest.raises(
        BadInput, match=r"expected n from 0 to \d+.*; the run failed: a packet of a lossless class"
    ):
        overspill.trace(path, "flow=0,n=5000", variant="pfc")


HOLD = """[variants.hold]
switch.ack_hold = { kind = "abq", k = "6KB" }
"""


def test_an_ack_that_was_held_says_where_and_for_how_long(command: Command, few: Path) -> None:
    few.write_text(SCENARIO + HOLD)
    ran = command("trace", few, "--packet", "first_held", "--no-report")
    lines = ran.out.splitlines()
    assert re.fullmatch(r"few, hold, seed 1: flow \d+, reverse packet \d+", lines[0])
    (held,) = [line for line in lines if "held; released after" in line]
    assert " edge0 " in held, "at the switch of the host that has sent it"
    assert lines[-2].endswith(", 1 hold")
    document = overspill.trace(few, "first_held").document()
    steps = [(step["what"], step["time_ps"]) for step in document["steps"]]
    whats = [what for what, _ in steps]
    at = whats.index("held")
    assert whats[at - 1 : at + 3] == ["arrived", "held", "released", "stored"]
    assert steps[at][1] < steps[at + 1][1] == steps[at + 2][1], "it goes on as it is released"
    assert document["holds"] == 1 and document["fate"] == "delivered"
    assert document["steps"][at]["from"] == document["src"]
    few.write_text(SCENARIO)
    with pytest.raises(BadInput, match="a variant that has ack_hold abq"):
        overspill.trace(few, "first_held")


TELLS = """[variants.tells]
switch.notify = { kind = "qcn", q_eq = "6KB", interval = "9KB" }
"""


def test_a_message_about_congestion_says_what_it_tells_its_source(command: Command, few: Path) -> None:
    few.write_text(SCENARIO + TELLS)
    traced = overspill.trace(few, "first_cnm")
    message = traced.document()["message"]
    # The queue length at the previous sample is at least 0, and lengths are whole units of 64 B.
    assert 1 <= message["feedback"] <= 63 and message["q_delta"] <= message["q_off"] + 6000 + 64
    assert message["q_off"] % 64 == message["q_delta"] % 64 == 0
    ran = command("trace", few, "--packet", "first_cnm", "--no-report")
    lines = ran.out.splitlines()
    assert re.fullmatch(r"few, tells, seed 1: CNM 0 of \w+ about flow \d+", lines[0])
    above, more = (formats.format_number(abs(message[name])) for name in ("q_off", "q_delta"))
    side = "above" if message["q_off"] >= 0 else "below"
    feedback = f"message: feedback {message['feedback']} of 63 at the port to {message['to']}"
    assert f"{feedback}: {above} B {side} the set point, {more} B more than at the last sample" in lines[-1]
    few.write_text(SCENARIO)
    assert overspill.trace(few, "most_detoured").document()["message"] is None
