"""Tests of the presentation of network events: rows, lines of the summary, marks in figures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from overspill import charts
from overspill.charts import axes, common, mpl, plotly_figure
from overspill.charts.chart_spec import Axis, Chart, EventLine, HeatMap, Line, LineStyle, Mark, Panel
from overspill.report import settings_card
from overspill.results import header, network_changes
from overspill.results.results import Results
from overspill.results.rundata import RunData

MS = 1_000_000_000
DOWN = {"at_ps": 5 * MS, "link": "leaf0:spine1", "what": "down", "loses": True}
UP = {"at_ps": 8 * MS, "link": "leaf0:spine1", "what": "up", "loses": False}


def run(variant: str, seed: int, events: list[dict[str, Any]], costs: list[tuple[int, int]]) -> RunData:
    """Returns a run without data except its events; the first of them have happened, with these costs."""
    summary = {"variant": variant, "seed": seed, "changes": events, "end_ps": 9 * MS}
    columns = {
        "event": pa.array(range(len(costs)), pa.uint32()),
        "lost": pa.array([lost for lost, _ in costs], pa.uint64()),
        "dropped": pa.array([dropped for _, dropped in costs], pa.uint64()),
    }
    return RunData(summary, {"events": pa.table(columns)})


def results(*runs: RunData) -> Results:
    """Returns these runs as results."""
    variants = list(dict.fromkeys(one.variant for one in runs))
    return Results({"name": "t", "variants": variants, "notes": [], "resolved": {}}, list(runs))


def test_an_event_is_a_row_with_what_it_cost_each_variant() -> None:
    found = results(
        run("none", 1, [], []),
        run("slow", 1, [DOWN, UP], [(300, 0), (0, 0)]),
        run("slow", 2, [DOWN, UP], [(301, 9), (0, 0)]),
        run("fast", 1, [DOWN, UP], [(12, 0), (0, 0)]),
    )
    first, second = network_changes.network_event_rows(found)
    assert [first.format_lost_frames(one) for one in ("none", "slow", "fast")] == [
        "-",
        "300 on the link, 4.5 at its ports or without a route",
        "12 on the link",
    ]
    assert [second.format_lost_frames(one) for one in ("none", "slow", "fast")] == ["-", "", ""]
    assert [line.text for line in network_changes.change_lines(found)] == [
        "5 ms: leaf0:spine1 down; frames lost: slow 300 on the link, 4.5 at its ports or without a route; "
        "fast 12 on the link",
        "8 ms: leaf0:spine1 up (slow, fast)",
    ]


def test_the_document_has_every_event_of_every_seed() -> None:
    found = network_changes.changes_document(run("slow", 2, [DOWN, UP], [(301, 9)]))
    cost = {"lost": 301, "dropped": 9}
    assert found == [{"seed": 2, "at_ps": 5 * MS, "link": "leaf0:spine1", "what": "down", **cost}]


def test_what_had_not_happened_when_a_run_ended_has_no_row() -> None:
    found = network_changes.network_event_rows(results(run("a", 1, [DOWN, UP], [(3, 0)])))
    assert [row.change.what for row in found] == ["down"]
    older = RunData({"variant": "a", "seed": 1}, {})
    assert network_changes.network_event_rows(results(older)) == []


def test_many_events_are_cut_in_the_summary_alone() -> None:
    events = [DOWN | {"at_ps": at * MS // 10} for at in range(20)]
    found = results(run("a", 1, events, [(at, 0) for at in range(20)]))
    assert len(network_changes.network_event_rows(found)) == 20
    lines = [line.text for line in network_changes.change_lines(found)]
    assert len(lines) == network_changes.MAX_LINES + 1 and lines[-1] == "8 more are in the report"


def test_notes_that_say_the_same_of_several_variants_are_one_line() -> None:
    found = Results({"variants": ["a", "b", "c"], "notes": ["a: x: y", "plain", "c: x: y", "d: x: y"]})
    assert header.merge_notes(found) == ["a, c: x: y", "plain", "d: x: y"]


def test_the_card_has_events_and_what_nodes_do_about_them() -> None:
    events = [{"kind": "link_down", "at": "5ms", "link": "h1"}] * 7
    events.append({"kind": "rate", "at": "6ms", "link": "a>b", "rate": "1Gbps"})
    facts = dict(
        settings_card.variant_settings({"event": events[-2:], "reroute_delay": "1ms", "dead_port": "look_up"})
    )
    assert facts == {
        "events": "5ms h1 link down; 6ms a>b rate 1Gbps",
        "events: reroute delay": "1ms",
        "events: dead port": "look_up",
    }
    assert dict(settings_card.variant_settings({"event": events}))["events"].endswith("; 2 more")


def test_instants_of_a_run_are_those_that_it_reached_and_that_a_figure_shows() -> None:
    late = DOWN | {"at_ps": 9 * MS, "link": "h1"}
    one = run("a", 1, [DOWN, DOWN | {"link": "h7"}, UP, late], [])
    whole = common.Period(0, 12 * MS)
    assert common.change_marks(one, whole) == [
        EventLine(5e-3, "leaf0:spine1 down, h7 down"),
        EventLine(8e-3, "leaf0:spine1 up"),
    ]
    assert [mark.time for mark in common.change_marks(one, common.Period(6 * MS, 12 * MS))] == [8e-3]
    many = [DOWN | {"at_ps": at * MS // 10} for at in range(common.MAX_CHANGES_MARKED + 1)]
    assert common.change_marks(run("a", 1, many, []), whole) == []


def panel(*labels: tuple[float, str]) -> Panel:
    """Returns a panel of 10 s with these events."""
    line = Line(np.array([0.0, 10.0]), np.array([0.0, 1.0]), LineStyle())
    marks: list[Mark] = [line, *(EventLine(at, label) for at, label in labels)]
    return Panel("", Axis("time", "time", range=(0.0, 10.0)), Axis("y"), marks)


def test_labels_stand_below_each_other_and_left_where_there_is_no_room() -> None:
    shown = panel(
        (1.0, "abcdefgh"), (1.1, "abcdefgh"), (1.2, "abc"), (1.3, "abc"), (5.0, "abc"), (9.5, "abcdefgh")
    )
    found = [(mark.time, row, left) for mark, row, left in axes.place_event_labels(shown, 100)]
    assert found == [(1.0, 0, False), (1.1, 1, False), (1.2, 2, False), (5.0, 0, False), (9.5, 0, True)]
    covered = Panel("", shown.x, shown.y, [*shown.marks, HeatMap(np.ones((1, 1)), np.ones(2), ["a"])])
    assert axes.place_event_labels(covered, 100) == []


def test_both_renderers_draw_the_line_and_the_text_and_the_caption_says_what_it_is() -> None:
    chart = charts.with_changes_in_caption(
        Chart("c", "t", "What.", [panel((2.0, "h1 down"), (4.0, "h1 up"))])
    )
    assert chart.caption == "What. Dashed: changes of the network (2 s h1 down, 4 s h1 up)."
    drawn = mpl.draw_figure(chart).axes[0]
    assert [text.get_text() for text in drawn.texts] == ["h1 down", "h1 up"]
    upright = [line.get_xdata() for line in drawn.lines]
    assert [list(one) for one in upright[1:]] == [[2, 2], [2, 2], [4, 4], [4, 4]]  # type: ignore[arg-type]
    layout = plotly_figure.build_plotly_figure(chart)["layout"]
    assert [(one["x0"], one["x1"]) for one in layout["shapes"][::2]] == [(2.0, 2.0), (4.0, 4.0)]
    assert [one["text"] for one in layout["annotations"]] == ["h1 down", "h1 up"]
    plain = Chart("c", "t", "What.", [panel()])
    assert charts.with_changes_in_caption(plain) is plain


@pytest.mark.parametrize("value, text", [(0.0, "0"), (1 / 3, "0.333"), (999.4, "999"), (12345.6, "12,346")])
def test_means_of_counts_have_three_digits(value: float, text: str) -> None:
    assert network_changes.format_mean(value) == text


def test_the_card_names_the_values_of_a_host_that_pauses() -> None:
    storm = {"kind": "pause_storm", "at": "1ms", "host": "h3", "until": "2ms", "classes": [3, 4]}
    slow = {
        "kind": "slow_receiver",
        "at": "5ms",
        "host": "h0",
        "rate": "2Gbps",
        "xoff": "256KB",
        "xon": "128KB",
    }
    text = dict(settings_card.variant_settings({"event": [storm, slow]}))["events"]
    assert text == (
        "1ms h3 pause storm until 2ms classes 3, 4; 5ms h0 slow receiver 2Gbps xoff 256KB xon 128KB"
    )
