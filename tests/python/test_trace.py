"""Tests of packet traces: output, files and refused input of the command, with the compiled core."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from conftest import Ran
from traced_runs import SCENARIO

import overspill
from overspill import BadInput
from overspill.charts import mpl, plotly_figure
from overspill.charts.chart_spec import Graph, HeatMap, Line, Points
from overspill.tracing import PacketTrace, trace_layout
from overspill.tracing import trace_figures as charts
from overspill.tracing.packet_choice import PacketChoice, parse_instants
from overspill.tracing.packet_trace import ARRIVED, DETOURED, format_path

pytestmark = pytest.mark.usefixtures("compiled")

Command = Callable[..., Ran]


@pytest.fixture
def few(tmp_path: Path) -> Path:
    path = tmp_path / "few.toml"
    path.write_text(SCENARIO)
    return path


@pytest.fixture
def traced(few: Path) -> PacketTrace:
    return overspill.trace(few, "most_detoured")


def test_the_command_prints_every_stay_and_what_became_of_the_packet(command: Command, few: Path) -> None:
    ran = command("trace", few, "--packet", "most_detoured", "--no-report")
    assert ran.status == 0
    lines = ran.out.splitlines()
    found = re.fullmatch(r"few, detour, seed 1: flow (\d+), (?:reverse )?packet (\d+)", lines[0])
    assert found is not None
    assert lines[2].split() == [
        "time",
        "(us)",
        "node",
        "events",
        "next",
        "hop",
        "queue",
        "waited",
        "(us)",
    ]
    assert "emitted" in lines[3]
    detours = sum("detoured, not to" in line for line in lines)
    assert detours >= 2
    assert re.fullmatch(
        rf"delivered to h0 after [0-9.]+ ms: \d+ hops, {detours} detours(, 1 mark)?", lines[-2]
    )
    assert lines[-1].startswith("path: h") and lines[-1].endswith("edge0 h0")
    for text in ("[1/3] finding the packet: detour seed 1", "[2/3] following the packet", "[3/3] recording"):
        assert text in ran.err


def test_json_is_one_document_and_agrees_with_the_table_of_packets(command: Command, few: Path) -> None:
    ran = command("trace", few, "--packet", "most_detoured", "--json", "--no-report")
    document = json.loads(ran.out)
    packet = document["packet"]
    packets = overspill.run(few).packets.to_pylist()
    mine = [row for row in packets if row["variant"] == "detour"]
    key = (packet["flow"], int(packet["reverse"]), packet["n"])
    row = next(row for row in mine if (row["flow"], row["reverse"], row["emission"]) == key)
    assert row["detours"] == max(one["detours"] for one in mine) == document["detours"]
    assert (row["hops"], row["sent_ps"], row["end_ps"]) == (
        document["hops"],
        document["sent_ps"],
        document["end_ps"],
    )
    assert len(document["path"]) == document["hops"] + 1
    assert sum(arc["count"] for arc in document["arcs"]) == document["hops"]
    turned = [arc for arc in document["arcs"] if arc["turned"] == "detour"]
    assert sum(arc["count"] for arc in turned) == document["detours"]
    assert document["pod"] == ["edge0", "edge1", "agg0", "agg1"]
    own = [step["time_ps"] for step in document["steps"] if step["what"] == "detoured"]
    assert document["instants_ps"] == [own[0], own[0] + (own[-1] - own[0]) // 2, own[-1]]
    full = [one for one in document["occupancy"] if one["at_ps"] == own[0] and one["to"] == "h0"]
    assert [one["packets"] for one in full] == [20], "what is detoured finds a full queue"


def test_detour_steps_of_a_run_are_those_of_the_trace(few: Path, traced: PacketTrace) -> None:
    rows = overspill.run(few).detour_steps.to_pylist()
    facts = traced.facts
    assert {row["variant"] for row in rows} == {"detour"}
    mine = [row for row in rows if (row["flow"], row["n"], row["reverse"]) == key_of(facts)]
    steps = [step for step in traced.steps if step["what"] == DETOURED]
    assert [(row["time_ps"], row["node"], row["wanted"], row["taken"]) for row in mine] == [
        (step["time_ps"], step["node"], step["port"], step["taken"]) for step in steps
    ]
    assert [row["step"] for row in mine] == list(range(len(steps)))


def key_of(facts: dict[str, int]) -> tuple[int, int, int]:
    return facts["flow"], facts["n"], int(facts["reverse"])


@pytest.mark.parametrize(
    ("packet", "said"),
    [
        (
            "most",
            "--packet: found 'most'; "
            "expected most_detoured, most_bounced, first_trimmed, first_held, first_cnm or "
            "flow=F,n=N[,reverse]",
        ),
        ("flow=1", "--packet: found 'flow=1'; expected"),
        ("flow=9999999999,n=1", "expected numbers from 0 to 4294967295"),
        ("flow=15,n=0", "--packet: found flow=15,n=0; expected a flow from 0 to 14"),
        (
            "flow=1,n=999",
            "--packet: found flow=1,n=999; expected n from 0 to 13: the sender of flow 1 sent 14 packets",
        ),
        ("flow=1,n=999,reverse", "expected n from 0 to 13: the receiver of flow 1 sent 14 packets"),
    ],
)
def test_a_packet_that_is_not_there_is_refused_with_what_there_is(
    command: Command, few: Path, packet: str, said: str
) -> None:
    ran = command("trace", few, "--packet", packet, "--variant", "detour")
    assert ran.status == 2
    assert said in ran.err
    assert ran.out == "" and not Path("out").exists()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--variants", "drop,detour"], "--variants: found drop, detour; expected one variant"),
        (["--variant", "detours"], "--variants: found 'detours'; expected one of drop, bounce, detour"),
        (["--variant", "drop"], "--variants: found 'drop', which has no overflow detour; for most_detoured"),
        (["--at", "1ms,2ms"], "--at: found '1ms,2ms'; expected three times, such as 1.2ms,1.5ms,2ms"),
        (["--at", "1,2,3"], "--at: found '1,2,3'"),
        (["--at", "1ms,3ms,2ms"], "--at: found '1ms,3ms,2ms'; expected times in ascending order"),
        (["--at", "1ms,2ms,9s"], "--at: found 9 s; expected times up to the end of the run and"),
        (["--set", "switch.x=1"], "switch.x"),
    ],
)
def test_wrong_options_are_refused(command: Command, few: Path, more: list[str], said: str) -> None:
    ran = command("trace", few, "--packet", "most_detoured", *more)
    assert (ran.status, ran.out) == (2, "")
    assert said in ran.err


def test_without_a_variant_it_is_the_first_that_detours_or_bounces(few: Path) -> None:
    chosen = {
        packet: overspill.trace(few, packet).facts["variant"]
        for packet in ("most_detoured", "most_bounced", "flow=3,n=0")
    }
    assert chosen == {"most_detoured": "detour", "most_bounced": "bounce", "flow=3,n=0": "detour"}
    few.write_text(SCENARIO.split("[variants.bounce]")[0])
    assert overspill.trace(few, "flow=3,n=0").facts["variant"] == "drop"
    with pytest.raises(BadInput, match="a variant that has overflow bounce"):
        overspill.trace(few, "most_bounced")


def test_the_files_are_written_and_a_folder_of_others_is_left_alone(command: Command, few: Path) -> None:
    first = command("trace", few, "--packet", "most_detoured", "--figures", "svg,png")
    assert first.out.splitlines()[-1] == "report: out/few-trace/trace.html"
    folder = Path("out/few-trace")
    kept = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    figures = {
        f"figures/{name}.{kind}" for name in ("path", "detours", "occupancy") for kind in ("png", "svg")
    }
    assert kept == {"trace.json", "trace.html"} | figures
    written = (folder / "trace.html").read_text()
    assert "detoured, not to h0" in written and 'src="http' not in written
    before = {name: (folder / name).read_bytes() for name in kept}
    assert command("trace", few, "--packet", "most_detoured").status == 0
    assert {name: (folder / name).read_bytes() for name in kept} == before, "identical files again"
    Path("mine").mkdir()
    Path("mine/notes.txt").write_text("mine")
    refused = command("trace", few, "--packet", "most_detoured", "--out", "mine")
    assert refused.status == 2 and "mine holds other files" in refused.err
    assert command("run", few, "--no-report").status == 0, "the folder of results is another one"


@pytest.mark.parametrize(("number", "left"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_stops_it_and_leaves_nothing(few: Path, tmp_path: Path, number: int, left: int) -> None:
    few.write_text(SCENARIO.replace('duration = "5ms"', 'duration = "400s"') + ENDLESS)
    line = [sys.executable, "-m", "overspill", "trace", str(few), "--packet", "most_detoured"]
    going = subprocess.Popen(line, cwd=tmp_path, stderr=subprocess.PIPE, text=True, env={**os.environ})
    assert going.stderr is not None
    assert "finding the packet" in going.stderr.readline()
    going.send_signal(number)
    said = going.communicate(timeout=60)[1]
    assert going.returncode == left and said.rstrip().endswith("interrupted")
    assert not (tmp_path / "out").exists()


ENDLESS = """
[[traffic]]
name = "more"
kind = "incast"
senders = 15
receiver = "random"
size = "20KB"
qps = 3000
"""


def test_the_figure_has_an_arc_for_every_way_of_leaving_and_its_numbers_add_up(traced: PacketTrace) -> None:
    made = charts.build_figures(traced)
    assert list(made) == ["path", "detours", "occupancy"]
    graph = made["path"].panels[0].marks[0]
    assert isinstance(graph, Graph)
    assert sum(int(arc.label) for arc in graph.arcs) == traced.count(ARRIVED)
    dashed = [arc for arc in graph.arcs if arc.look.dash]
    assert sum(int(arc.label) for arc in dashed) == traced.count(DETOURED)
    widths = {int(arc.label): arc.look.width for arc in graph.arcs}
    assert sorted(widths.values()) == [widths[count] for count in sorted(widths)]
    names = {label for nodes in graph.nodes for label in nodes.labels}
    assert names == set(traced.path)
    for chart in made.values():
        assert mpl.draw_figure(chart).axes
        assert plotly_figure.build_plotly_figure(chart)["data"]


def test_the_figures_around_show_the_pod_and_all_its_detours(traced: PacketTrace) -> None:
    made = charts.build_figures(traced)
    points = [mark for mark in made["detours"].panels[0].marks if isinstance(mark, Points)]
    nodes, times = traced.numbers("detours", "node", "time_ps")
    assert len(points[0].x) == sum(node in traced.pod for node in nodes.tolist())
    assert len(points[1].x) == traced.count(DETOURED)
    assert times.min() >= traced.facts["window_ps"][0]
    panel = made["detours"].panels[0]
    marks = np.concatenate([np.asarray(mark.x) for mark in panel.marks if isinstance(mark, Points | Line)])
    assert panel.x.range is not None
    left, right = panel.x.range
    assert left < marks.min() and marks.max() < right
    assert np.ptp(marks) > 0.9 * (right - left), "the axis reaches far beyond what there is"
    assert [entry.symbol for entry in made["detours"].legend] == ["circle", "ring", "line"]
    maps = [mark for panel in made["occupancy"].panels for mark in panel.marks if isinstance(mark, HeatMap)]
    assert [one.values.shape for one in maps] == [(4, 4)] * 3
    total = sum(int(row["packets"]) for row in traced.waiting())
    assert sum(one.values.sum() for one in maps) == total > 0


def test_many_switches_that_met_the_same_nodes_are_one_box(tmp_path: Path) -> None:
    path = tmp_path / "many.toml"
    text = (
        SCENARIO.replace("k = 4", "k = 8").replace("senders = 15", "senders = 120").replace("20pkt", "5pkt")
    )
    path.write_text(text)
    found = overspill.trace(path, "most_detoured", variant="detour")
    visited = {visit.node for visit in found.visits}
    cores = [node for node in visited if found.tier(node) == "core"]
    assert len(cores) > trace_layout.MAX_NODES_PER_GROUP, "so many that some are merged"
    drawn = trace_layout.place_nodes(found)
    assert len(drawn.positions) < len(visited) == len(drawn.drawn_as)
    shown = [drawn.drawn_as[node] for node in cores]
    merged = max(shown, key=shown.count)
    assert drawn.names[merged] == f"{shown.count(merged)} x core"
    graph = charts.build_figures(found)["path"].panels[0].marks[0]
    assert isinstance(graph, Graph)
    assert sum(int(arc.label) for arc in graph.arcs) == found.count(ARRIVED)


def test_switches_that_are_all_next_to_hosts_stand_around_the_middle(tmp_path: Path) -> None:
    path = tmp_path / "ring.toml"
    path.write_text(RING)
    found = overspill.trace(path, "flow=0,n=0")
    assert found.path == ["h0", "s0", "s1", "s2", "s3", "h3"]
    assert [found.names[node] for node in found.pod] == ["s3", "s2", "s4"]
    places = {found.names[node]: place for node, place in trace_layout.place_nodes(found).positions.items()}
    around = {
        ((x - 0.5) / 0.36) ** 2 + ((y - 2) / 1.5) ** 2 for x, y in (places[f"s{at}"] for at in range(4))
    }
    assert all(abs(one - 1) < 1e-9 for one in around), "on an ellipse"
    outside = [
        ((places[name][0] - 0.5) / 0.36) ** 2 + ((places[name][1] - 2) / 1.5) ** 2 for name in ("h0", "h3")
    ]
    assert min(outside) > 1
    assert mpl.draw_figure(charts.build_figures(found)["path"]).axes


RING = (
    """
name = "ring"
duration = "1ms"
[host]
nic_jitter = "0us"
[topology]
kind = "custom"
"""
    + "".join(f'[[topology.node]]\nname = "h{at}"\nkind = "host"\n' for at in range(7))
    + "".join(f'[[topology.node]]\nname = "s{at}"\nkind = "switch"\n' for at in range(7))
    + "".join(
        f'[[topology.link]]\na = "{a}{at}"\nb = "s{(at + step) % 7}"\nrate = "1Gbps"\ndelay = "1us"\n'
        for a, step in (("h", 0), ("s", 1))
        for at in range(7)
    )
    + """
[[traffic]]
name = "one"
kind = "constant"
source = "h0"
destination = "h3"
payload = "1000B"
rate = "100Mbps"
stop = "0.5ms"
[variants.drop]
"""
)


def test_a_path_tells_loops_once_with_their_count() -> None:
    assert format_path(list("abcbcbcd")) == "a (b c) x3 d"
    assert format_path(list("ababc")) == "(a b) x2 c"
    assert format_path(list("abc")) == "a b c"
    assert format_path(list("abcdabcda")) == "(a b c d) x2 a"


def test_packets_and_instants_are_read_as_they_are_written() -> None:
    assert PacketChoice.parse("flow=3, n=4, reverse") == PacketChoice("", 3, 4, True)
    assert str(PacketChoice.parse("flow=3,n=4,reverse")) == "flow=3,n=4,reverse"
    assert (
        str(PacketChoice.parse("first_trimmed")) == "first_trimmed"
        and PacketChoice.parse("first_trimmed").core_argument == "trimmed"
    )
    assert PacketChoice.parse("most_bounced").core_argument == "bounced" and PacketChoice.parse(
        "flow=3,n=4"
    ).core_argument == (
        3,
        False,
        4,
    )
    assert parse_instants("1.5us, 2 ms,3s") == (1_500_000, 2_000_000_000, 3_000_000_000_000)
