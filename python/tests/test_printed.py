"""The printed table: sixteen rows at most, all on request, and cells that say no more than they know."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Ran

from overspill.results import cells, metrics
from overspill.results.rows import Cell, Row
from overspill.results.tables import Summary, summarise
from overspill.stats import interval
from overspill.stats.quantiles import Value

Command = Callable[..., Ran]


def row(name: str, *values: float) -> Row:
    return Row(metrics.find(name), {"v": Cell(range(len(values)), [Value(one) for one in values])}, None)


def every_row(value: float) -> list[Row]:
    return [row(name, value) for name in metrics.REGISTRY]


def test_at_most_sixteen_rows_are_printed_whatever_there_is() -> None:
    assert len(cells.printed(every_row(1.0))) == cells.MOST == 16
    nothing = [one for one in every_row(1.0) if one.metric.name != "fct_mean"]
    assert len(cells.printed(nothing)) == 16


def test_what_mechanisms_count_is_printed_where_they_did_something() -> None:
    named = [
        one.metric.name for one in cells.printed([row("detours", 3), row("bounces", 0), row("marks", 0)])
    ]
    assert named == ["detours"]
    assert [one.metric.name for one in cells.printed([row("drops", 0), row("retransmits", 0)])] == [
        "drops",
        "retransmits",
    ]


def test_unfinished_flows_are_printed_if_there_are_any() -> None:
    assert cells.printed([row("unfinished_flows", 0)]) == []
    assert len(cells.printed([row("unfinished_flows", 0, 1)])) == 1


def test_without_flows_that_end_goodput_is_printed() -> None:
    rows = [row("goodput", 1e9), row("jain", 1), row("drops", 0)]
    assert [one.metric.name for one in cells.printed(rows)] == ["goodput", "jain", "drops"]
    with_flows = [row("fct_mean", 1), *rows]
    assert [one.metric.name for one in cells.printed(with_flows)] == ["fct_mean", "drops"]


def test_a_sweep_knows_the_range_of_two_seeds_from_their_interval() -> None:
    two = [Value(3.0), Value(8.0)]
    made = summarise(two, interval([one.value for one in two]))
    assert made.span == pytest.approx((3.0, 8.0))
    assert summarise([*two, Value(4.0)], interval([3.0, 8.0, 4.0])).span is None
    assert summarise([Value(3.0)], None).span is None
    assert isinstance(made, Summary)


def printed_rows(out: str) -> list[str]:
    """The lines between the heads of the columns and the legend."""
    return re.findall(r"^(\S.*?) {2,}[-\d>]", out.split("\n\n", 1)[1], re.MULTILINE)


def test_the_command_prints_the_main_rows_and_all_on_request(command: Command, scenario: Path) -> None:
    short, whole = (
        command("run", scenario, "--no-report", "--seeds", 3, *more).out for more in ((), ("--all",))
    )
    some, every = printed_rows(short), printed_rows(whole)
    assert 8 <= len(some) <= 16 < len(every) and set(some) < set(every)
    assert f"{len(some)} of {len(every)} rows; all of them with --all" in short
    assert "with --all" not in whole
    assert not re.search(r"[^\d.]0 ± 0", whole)


def test_two_seeds_have_ranges_and_no_intervals(command: Command, scenario: Path) -> None:
    out = command("run", scenario, "--no-report", "--seeds", 2).out
    assert "±" not in out and re.search(r"FCT mean \(\w+\) +[\d.]+ \([\d.]+ to [\d.]+\)", out)
    assert "mean (least to largest) over seeds" in out
    swept = command(
        "sweep", scenario, "--no-report", "--over", "switch.x=1us,2us", "--seeds", 2, "--metric", "fct_mean"
    ).out
    assert "±" not in swept and re.search(r"1us +[\d.]+ \([\d.]+ to [\d.]+\)", swept)


def test_a_sweep_prints_a_table_of_every_metric_on_request(command: Command, scenario: Path) -> None:
    out = command("sweep", scenario, "--no-report", "--over", "switch.x=1us,2us", "--seeds", 2, "--all").out
    assert out.count("switch.x") > 30
