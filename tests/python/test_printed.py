"""Tests of the printed table: at most sixteen rows, all on request, and cells without false precision."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from conftest import Ran

from overspill import Key, run, sweep
from overspill.cli import table
from overspill.results import formats, metrics, table_cells
from overspill.results.fairness import Fairness
from overspill.results.measures import occupancy
from overspill.results.measures.declare import HALF_BUCKET
from overspill.results.metric_rows import ComparisonRules, MetricCell, MetricRow, build_rows
from overspill.results.sweep_document import summaries_of_metric
from overspill.results.unequal_variants import UnequalVariants
from overspill.stats.quantiles import Value

Command = Callable[..., Ran]


def row(name: str, *values: float) -> MetricRow:
    metric = metrics.find_metric(name)
    cell = MetricCell(range(len(values)), [Value(one) for one in values], resolution_share=metric.resolution)
    return MetricRow(metric, {"v": cell}, None)


def every_row(value: float) -> list[MetricRow]:
    return [row(name, value) for name in metrics.REGISTRY]


def test_at_most_sixteen_rows_are_printed_whatever_there_is() -> None:
    assert len(table_cells.select_rows(every_row(1.0))) == table_cells.MAX_METRICS == 16
    nothing = [one for one in every_row(1.0) if one.metric.name != "fct_mean"]
    assert len(table_cells.select_rows(nothing)) == 16


def test_what_mechanisms_count_is_printed_where_they_did_something() -> None:
    named = [
        one.metric.name
        for one in table_cells.select_rows([row("detours", 3), row("bounces", 0), row("marks", 0)])
    ]
    assert named == ["detours"]
    assert [one.metric.name for one in table_cells.select_rows([row("drops", 0), row("retransmits", 0)])] == [
        "drops",
        "retransmits",
    ]


def test_lost_data_is_printed_where_it_differs_from_drops_in_the_window() -> None:
    def names(*rows: MetricRow) -> list[str]:
        return [one.metric.name for one in table_cells.select_rows(rows)]

    assert names(row("drops", 79), row("data_drops", 93)) == ["drops", "data_drops"]
    assert names(row("drops", 79, 4), row("data_drops", 79, 4)) == ["drops"]


def test_cell_of_fewer_seeds_says_how_many() -> None:
    metric = metrics.find_metric("fct_mean")
    some = MetricCell(range(3), [Value(2.0), None, Value(4.0)])
    _, found = table_cells.format_row(
        MetricRow(metric, {"some": some, "all": MetricCell(range(2), [Value(2.0)] * 2)}, None)
    )
    assert found["some"][0] == "3 (2 to 4) (2 of 3 seeds)" and found["all"][0] == "2"
    # A failed run has no value at all, so only the number of planned seeds shows that it is missing.
    row = MetricRow(metric, {"v": MetricCell([1], [Value(2.0)])}, None)
    assert table_cells.format_row(row, 3)[1]["v"][0] == "2 (1 of 3 seeds)"
    assert table_cells.format_row(row, 1)[1]["v"][0] == "2"


def test_range_whose_least_value_is_not_0_prints_none() -> None:
    assert formats.format_range(17.1, (0.466, 33.8)) == "17.1 (0.5 to 33.8)"
    assert formats.format_range(17.0, (0.0, 34.0)) == "17 (0 to 34)"


def test_fullest_port_is_printed_in_place_of_queues_in_frames() -> None:
    rows = [row("port_bytes_max", 1.0), row("queue_busiest_max", 1.0)]
    assert [one.metric.name for one in table_cells.select_rows(rows)] == ["port_bytes_max"]


def test_unfinished_flows_are_printed_if_there_are_any() -> None:
    assert table_cells.select_rows([row("unfinished_flows", 0)]) == []
    assert len(table_cells.select_rows([row("unfinished_flows", 0, 1)])) == 1


def test_without_flows_that_end_goodput_is_printed() -> None:
    rows = [row("goodput", 1e9), row("jain", 1), row("drops", 0)]
    assert [one.metric.name for one in table_cells.select_rows(rows)] == ["goodput", "jain", "drops"]
    with_flows = [row("fct_mean", 1), *rows]
    assert [one.metric.name for one in table_cells.select_rows(with_flows)] == ["fct_mean", "drops"]


def test_without_flows_that_end_goodput_is_printed_by_workload() -> None:
    def named(*names: str) -> list[str]:
        return [str(one.metric.name) for one in table_cells.select_rows([row(name, 1) for name in names])]

    parts = [Key("goodput", traffic=f"w{at}") for at in range(8)]
    assert named("goodput", *parts[:2], "drops") == ["goodput", *parts[:2], "drops"]
    assert named("goodput", *parts, "jain") == ["goodput", *parts[:6], "jain"], "six, the first"
    ends = Key("fct_mean", traffic="w0")
    assert named("fct_mean", "goodput", ends, *parts[:2]) == ["fct_mean", parts[1]], "of w0 flows end"
    others = [Key("delay_p99", traffic="w0"), Key("load_wire", of="host")]
    assert named("goodput", *others) == ["goodput"], "of nothing else"
    starved = [row("goodput", 1), row(parts[0], 0), row(parts[1], 1)]
    assert table_cells.select_rows(starved) == starved, "one that gets nothing is there"


def test_nothing_else_is_left_out_for_goodput_by_workload() -> None:
    names = ["goodput", "jain", *(one for one in table_cells.FIRST_METRICS if one != "fct_mean")]
    parts = [row(Key("goodput", traffic=f"w{at}"), 1) for at in range(6)]
    for others, room in ((9, 6), (14, 2), (20, 0)):
        rows = [row(name, 1) for name in names[:others]]
        assert table_cells.select_rows([*rows, *parts]) == [*rows[: table_cells.MAX_METRICS], *parts[:room]]


def test_a_sweep_has_the_range_of_two_seeds_and_no_interval(scenario: Path, tmp_path: Path) -> None:
    for seeds in (1, 2, 3):
        made = sweep(scenario, over={"switch.x": ["1us", "2us"]}, seeds=seeds, out=tmp_path / str(seeds))
        low = made.means("fct_mean").column("low").to_pylist()
        assert (low == [None] * len(low)) == (seeds < 3)
        assert bool(made.ranges) == (seeds == 2)
        known = made.metric("fct_mean").to_pylist()[:2]
        for cell in summaries_of_metric(made, "fct_mean").values():
            assert (cell.span is None) == (seeds != 2)
        if seeds == 2:
            first = next(iter(summaries_of_metric(made, "fct_mean").values()))
            assert first.span == tuple(sorted(one["value"] for one in known))


def test_files_tell_two_seeds_as_the_table_does(scenario: Path) -> None:
    two = run(scenario, seeds=2)
    for variant in two.document()["variants"]:
        for entry in variant["metrics"].values():
            values = [one for one in entry["values"] if isinstance(one, float)]
            assert entry["ci95"] is None and entry["interval"] is None
            assert entry.get("range") == ([min(values), max(values)] if len(values) == 2 else None)
    point, _ = sweep(scenario, over={"switch.x": ["1us", "2us"]}, seeds=2).document()["points"]
    entry = point["variants"][0]["metrics"]["fct_mean"]
    assert entry["interval"] is None and entry["range"] == sorted(entry["values"])


def delays(*values: float) -> MetricRow:
    return row("delay_p99", *values)


def format_shown(one: MetricRow) -> str:
    return table_cells.format_row(one)[1]["v"][0]


def test_nothing_is_shown_narrower_than_a_bucket() -> None:
    # Half a bucket is at most 1/128 of the value: 0.0703 of 9.
    assert format_shown(delays(9e-3, 9e-3, 9e-3)) == "9.000 ± 0.070"
    assert formats.format_plus_minus(12345.6, 0.004) == "12,345.600 ± 0.004", "never with an exponent"
    assert format_shown(delays(9e-3, 9.003e-3, 9e-3)) == "9.001 ± 0.070"
    assert format_shown(delays(9e-3, 9e-3)) == "9.000 (8.930 to 9.070)"
    assert format_shown(delays(9e-3)) == "9.00"
    assert format_shown(delays(8e-3, 9e-3, 10e-3)) == "9.0 ± 2.5", "a wide one stays as it is"
    assert format_shown(delays(0, 0, 0)) == "0", "no wait at all is exact"
    assert format_shown(row("fct_p99", 8e-3, 8e-3, 8e-3)) == "8 ± 0", "of samples, not of buckets"


def test_half_a_bucket_of_a_histogram_is_no_more_than_said() -> None:
    values = np.unique(np.geomspace(128, 1e15, 3000).astype(np.uint64))
    shift = np.array([int(one).bit_length() - 7 for one in values], np.uint64)
    low = (values >> shift) << shift
    high = low + (np.uint64(1) << shift)
    middles = occupancy.bucket_midpoints(low, high)
    assert ((middles - low <= HALF_BUCKET * middles) & (high - 1 - middles <= HALF_BUCKET * middles)).all()


def test_metrics_of_histograms_say_how_exact_they_are(scenario: Path) -> None:
    results = run(scenario, seeds=3)
    coarse = {one.name for one in metrics.ALL_METRICS if one.resolution}
    assert coarse == {
        *("delay_p50", "delay_p99"),
        *(f"sojourn_{place}_{part}" for place in ("all", "busiest") for part in ("p50", "p99", "max")),
    }
    assert coarse == {one.name for one in metrics.ALL_METRICS if "midpoint of its bucket" in one.doc}
    for variant in results.document()["variants"]:
        for name, entry in variant["metrics"].items():
            expected = entry["mean"] / 128 if metrics.registered_name(name) in coarse else 0
            assert entry.get("resolution", 0) == expected
    assert "a resolution of 0.8%" in table_cells.cells_legend(results)


def is_best_of_two(name: str, one: list[float], other: list[float], lost: tuple[float, float]) -> bool:
    """Returns true if the first of two variants is called best."""
    values = {
        variant: {
            seed: {Key(name): Value(value), Key("drops"): Value(drops)} for seed, value in enumerate(known)
        }
        for variant, known, drops in (("first", one, lost[0]), ("second", other, lost[1]))
    }
    rules = ComparisonRules.from_values(
        values, Fairness((("first", "second"),), 0, False, False), UnequalVariants()
    )
    (found,) = (row for row in build_rows(values, rules) if row.metric.name == name)
    return found.cells["first"].best


def test_a_difference_within_a_bucket_makes_nobody_best() -> None:
    exact, apart = [1.0, 1.0, 1.001], [1.01, 1.01, 1.011]
    assert is_best_of_two("fct_p99", exact, apart, (0, 0))
    assert not is_best_of_two("delay_p99", exact, apart, (0, 0))
    assert is_best_of_two("delay_p99", exact, [1.1, 1.1, 1.101], (0, 0))


def test_who_loses_more_is_not_best_in_what_the_rest_waits() -> None:
    for name in ("delay_mean", "delay_p99", "sojourn_all_p99", "delay_std"):
        assert not is_best_of_two(name, [1.0, 1.0, 1.01], [2.0, 2.0, 2.01], (5, 4)), name
        assert is_best_of_two(name, [1.0, 1.0, 1.01], [2.0, 2.0, 2.01], (4, 5)), name
    assert is_best_of_two("fct_p99", [1.0, 1.0, 1.01], [2.0, 2.0, 2.01], (5, 4)), "of all flows"


def test_the_way_of_a_packet_is_neither_good_nor_bad() -> None:
    for name in ("total_hop_mean", "hops_mean", "bounces_per_bounced", "max_bounced_distance_max", "detours"):
        assert metrics.REGISTRY[name].better == "none"


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        (
            (15, 79, 97),
            "15 of 97 metrics; --all prints all but 18 that are 0 in every run",
        ),
        ((15, 79, 79), "15 of 79 metrics; --all prints all"),
        ((79, 79, 97), "79 of 97 metrics; not shown: 18 that are 0 in every run"),
        ((78, 78, 79), "78 of 79 metrics; not shown: 1 that is 0 in every run"),
        ((9, 9, 9), "9 of 9 metrics"),
    ],
)
def test_rows_are_counted_of_all_that_files_have(counts: tuple[int, int, int], said: str) -> None:
    every = "; results.json has all" if counts[0] < counts[2] else ""
    assert table.describe_metric_counts(*counts) == said + every


def printed_rows(out: str) -> list[str]:
    """Returns the lines between the column heads and the legend."""
    return re.findall(r"^(\S.*?) {2,}[-\d>]", out.split("\n\n", 1)[1], re.MULTILINE)


def test_the_command_prints_the_main_rows_and_all_on_request(command: Command, scenario: Path) -> None:
    short, whole = (
        command("run", scenario, "--no-report", "--seeds", 3, *more).out for more in ((), ("--all",))
    )
    some, every = printed_rows(short), printed_rows(whole)
    assert 8 <= len(some) <= 20 < len(every) and set(some) < set(every)
    written = json.loads((Path("out/incast/results.json")).read_text())["variants"][0]["metrics"]
    known = len([one for one in written.values() if "note" not in one])
    assert f"{len(some)} of {known} metrics; --all prints all but {known - len(every)} that are 0" in short
    assert f"{len(every)} of {known} metrics; not shown: {known - len(every)} that are 0" in whole
    assert not re.search(r"[^\d.]0 ± 0", whole)


def test_two_seeds_have_ranges_and_no_intervals(command: Command, scenario: Path) -> None:
    out = command("run", scenario, "--no-report", "--seeds", 2).out
    assert "±" not in out and "* best" not in out
    assert re.search(r"FCT mean \[burst\] \(\w+\) +[\d.]+ \([\d.]+ to [\d.]+\)", out)
    assert "mean (least to largest) over seeds" in out
    swept = command(
        "sweep", scenario, "--no-report", "--over", "switch.x=1us,2us", "--seeds", 2, "--metric", "fct_mean"
    ).out
    assert "±" not in swept and re.search(r"1us +[\d.]+ \([\d.]+ to [\d.]+\)", swept)


def test_a_sweep_prints_a_table_of_every_metric_on_request(command: Command, scenario: Path) -> None:
    out = command("sweep", scenario, "--no-report", "--over", "switch.x=1us,2us", "--seeds", 2, "--all").out
    assert out.count("switch.x") > 30
