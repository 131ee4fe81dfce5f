"""Tests of results in Python, saved and loaded, and of the report."""

import hashlib
import json
import re
from pathlib import Path

import pytest

from overspill import BadInput, Results, plots, report, run
from overspill.charts import activity, common, figure_files
from overspill.engine.run import config_hash
from overspill.report.page import plotly_script
from overspill.results import formats, header, results_folder
from overspill.results.header import format_total_memory
from overspill.results.metric_rows import MetricCell
from overspill.stats.quantiles import Value


def test_a_table_of_a_wrong_name_is_refused_with_similar_names(three_seeds: Results) -> None:
    with pytest.raises(BadInput, match=r"flow: found no table of this name; .* did you mean flows\?"):
        three_seeds.table("flow")


def test_tables_carry_variant_and_seed(three_seeds: Results) -> None:
    flows = three_seeds.flows
    assert flows.column_names[:3] == ["variant", "seed", "flow"]
    assert flows.num_rows == 9 * 1500
    assert set(flows["variant"].to_pylist()) == {"drop", "detour", "bounce"}
    assert set(flows["seed"].to_pylist()) == {1, 2, 3}
    assert three_seeds.queues.num_rows and three_seeds.queue_trace.num_rows and three_seeds.activity.num_rows
    assert three_seeds.packets.num_rows == 0


def test_results_come_back_from_disk_as_they_were(scenario: Path, tmp_path: Path) -> None:
    memory = run(scenario, seeds=2)
    memory.save(tmp_path / "kept")
    loaded = Results.load(tmp_path / "kept")
    assert loaded.document() == memory.document()
    assert loaded.flows.equals(run(scenario, seeds=2).flows)
    assert loaded.facts == memory.facts


def test_the_manifest_has_the_hash_of_every_file(three_seeds: Results) -> None:
    assert three_seeds.folder is not None
    manifest = json.loads((three_seeds.folder / "manifest.json").read_text())
    named = {name: digest for entry in manifest["runs"] for name, digest in entry["files"].items()}
    assert len(named) == 9 * 6
    for name, digest in named.items():
        assert hashlib.sha256((three_seeds.folder / name).read_bytes()).hexdigest() == digest
    assert manifest["scenario"]["sha256"] == hashlib.sha256(manifest["scenario"]["text"].encode()).hexdigest()
    assert manifest["resolved"]["drop"]["measure"]["drain"] == "20ms"
    assert manifest["seeds"] == [1, 2, 3]


def test_a_configuration_has_one_hash_and_every_change_another(three_seeds: Results, scenario: Path) -> None:
    first = {(one.variant, one.seed): one.summary["config_hash"] for one in three_seeds.runs}
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in first.values())
    assert len(set(first.values())) == 9
    again = {one.variant: one.summary["config_hash"] for one in run(scenario, seed=2).runs}
    assert again == {name: first[name, 2] for name in ("drop", "detour", "bounce")}
    other = config_hash({"duration": "61ms"}, 1)
    assert other != config_hash({"duration": "60ms"}, 1) != config_hash({"duration": "60ms"}, 2)
    assert config_hash({"a": 1, "b": 2}, 1) == config_hash({"b": 2, "a": 1}, 1)


def test_memory_in_two_units_is_shown_in_both() -> None:
    assert format_total_memory({"packets": 400}) == "400 pkt"
    assert format_total_memory({"packets": 400, "bytes": 50_000}) == "400 pkt + 50,000 B"
    assert format_total_memory(None) == "unlimited"


def read_files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_same_run_twice_gives_the_same_bytes_whatever_the_threads(scenario: Path, tmp_path: Path) -> None:
    scenario.write_text('name = "twice"\n[variants.drop]\n[variants.detour]\n')
    for name, jobs in (("one", 1), ("two", 4)):
        made = run(scenario, jobs=jobs, out=tmp_path / name)
        report.write(made, tmp_path / name, figure_files.FIGURE_FORMATS)
    one, two = read_files(tmp_path / "one"), read_files(tmp_path / "two")
    assert one.keys() == two.keys()
    assert [name for name in one if one[name] != two[name]] == []


def test_a_second_run_leaves_nothing_of_the_first(scenario: Path, tmp_path: Path) -> None:
    run(scenario, seeds=3, out=tmp_path / "o")
    again = run(scenario, seeds=1, out=tmp_path / "o")
    assert again.folder is not None
    assert not (tmp_path / "o/runs/drop/seed-2").exists()
    assert len(Results.load(tmp_path / "o").runs) == 3


def test_a_changed_or_missing_file_is_refused(three_seeds: Results) -> None:
    assert three_seeds.folder is not None
    victim = three_seeds.folder / "runs/drop/seed-2/flows.parquet"
    victim.write_bytes(victim.read_bytes()[:-1])
    with pytest.raises(BadInput, match="as in the manifest"):
        Results.load(three_seeds.folder)
    victim.unlink()
    with pytest.raises(BadInput, match="missing"):
        Results.load(three_seeds.folder)


@pytest.mark.parametrize("content", [None, "", "[]", '{"format": 99}', '{"format": 1, "runs": [{}]}', "\x00"])
def test_what_is_no_manifest_is_refused(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(BadInput):
        Results.load(tmp_path)


def test_names_become_paths_that_stay_inside_and_apart() -> None:
    names = ["a/b", "a b", "..", ".", "", "a%2Fb", "ä", "plain-1.5_x"]
    slugs = [results_folder.path_component(name) for name in names]
    assert len(set(slugs)) == len(names)
    assert results_folder.path_component("plain-1.5_x") == "plain-1.5_x"
    assert not [slug for slug in slugs if "/" in slug or slug.startswith(".") or not slug]


def test_the_report_needs_nothing_from_elsewhere(reported: Path) -> None:
    page = reported.read_text()
    assert page.count(plotly_script()) == 1
    page = page.replace(plotly_script(), "")
    body = re.sub(r'xmlns(:\w+)?="[^"]*"', "", page)
    assert not re.findall(r'(?:src|href|action)="(?:https?:)?//', body)
    assert "http" not in re.sub(r"<pre>.*?</pre>", "", body, flags=re.DOTALL)
    assert not re.findall(r"<iframe\b|<script[^>]* src|@import|url\((?!#)", body)
    assert re.findall(r"<link\b[^>]*>", body) == ['<link rel="icon" href="data:,">']
    for target in re.findall(r'src="([^"]*)"', body):
        assert (reported.parent / target).is_file(), target
    for target in re.findall(r'href="([^#"][^"]*)"', body):
        assert target.startswith("data:") or (reported.parent / target).is_file(), target
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    for reference in re.findall(r'(?:xlink:href="#|url\(#)([^")]+)', page):
        assert reference in ids


def test_the_report_shows_table_memory_and_figures(reported: Path) -> None:
    page = reported.read_text()
    for name in ("fct", "queue", "drops", "detours", "bounces", "marks", "qct"):
        assert f'<figure id="{name}"' in page
        for kind in ("png", "svg", "pdf"):
            assert (reported.parent / f"figures/{name}.{kind}").stat().st_size > 1000
    assert "FCT p99 [" in page and "bounce queue per port" in page
    assert len(set(re.findall("<code>([0-9a-f]{12})</code>", page))) == 6


def test_a_hostile_name_stays_text(tmp_path: Path) -> None:
    path = tmp_path / "h.toml"
    path.write_text('name = "<script>alert(1)</script>"\n[variants."<b>$x$"]\n')
    results = run(path, out=tmp_path / "h")
    page = report.write(results, tmp_path / "h").read_text()
    assert "<script>alert" not in page
    assert "<b>$x$" not in page.replace(plotly_script(), "")


def test_a_figure_is_only_made_where_there_is_something_to_draw(scenario: Path) -> None:
    results = run(scenario)
    assert plots.activity_over_time(results, 2) is not None
    only = Results(results.facts, [one for one in results.runs if one.variant == "drop"])
    assert plots.activity_over_time(only, 2) is None
    empty = Results(results.facts, [])
    assert plots.figures(empty) == {}


def test_busy_switches_are_named_and_the_others_put_together(scenario: Path) -> None:
    results = run(scenario)
    first = results.runs_of("drop")[0]
    rows = activity.select_heat_map_rows([first], 0, activity.MAX_SWITCHES_SHOWN)
    assert len(rows.switches) == activity.MAX_SWITCHES_SHOWN
    drawn = activity.build_event_map(first, (0, rows), common.period_of(results))
    assert drawn.names[-1] == f"{32 - activity.MAX_SWITCHES_SHOWN} others"
    assert drawn.counts.sum() == activity.count_all_events(first, 0)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], "-"),
        ([Value(0.00123)], "1.230"),
        ([Value(0.0012, True)], "> 1.200"),
        ([Value(0.001), Value(0.001)], "1"),
        ([Value(0.001), Value(0.002)], "1.5 (1 to 2)"),
        ([Value(0.0011), Value(0.0024)], "1.75 (1.10 to 2.40)"),
        ([Value(0.001)] * 3, "1 ± 0"),
        ([Value(0.0)] * 3, "0"),
        ([Value(0.0)] * 2, "0"),
        ([Value(0.001), Value(0.001), Value(0.002)], "1.3 ± 1.4"),
        ([Value(0.001), Value(0.002, True)], "> 1.500"),
        ([Value(1234.0)], "1,234,000"),
    ],
)
def test_a_cell_shows_digits_that_mean_something(values: list[Value], expected: str) -> None:
    assert formats.format_cell(MetricCell(list(range(len(values))), values), 1e-3) == expected


def test_a_row_has_one_unit() -> None:
    assert formats.select_unit("s", [2e-6, 3e-3]) == (1e-3, "ms")
    assert formats.select_unit("s", [0.0]) == (1e-3, "ms")
    assert formats.select_unit("bit/s", [5e9]) == (1e9, "Gbit/s")
    assert formats.select_unit("1", [5e9]) == (1.0, "")
    assert formats.format_time(1_500_000) == "1.5 us"
    assert formats.format_time(0) == "0 s"


SHUFFLES = """
name = "shuffles"
duration = "8ms"
[topology]
kind = "star"
n = 5
[[traffic]]
name = "all"
kind = "all_to_all"
load = { fraction = 0.4 }
repeat = 2
size = "20KB"
"""


@pytest.mark.usefixtures("compiled")
def test_the_header_says_when_shuffles_at_a_load_are_sent(tmp_path: Path) -> None:
    path = tmp_path / "shuffles.toml"
    path.write_text(SHUFFLES)
    (line,) = [line.text for line in header.header_lines(run(path)) if line.label == "offered load"]
    # Twenty pairs of 20 KB over five links of 1 Gb/s at 40 % take 1.6 ms per repetition.
    assert line == "all 0.16 of all hosts' links in payload bytes (0.4 while it sends, 0 s to 3.2 ms)"


MIXED = """
name = "mixed"
duration = "2ms"
[topology]
kind = "star"
n = 3
[[traffic]]
name = "few"
kind = "incast"
senders = 2
receiver = "h2"
size = "20KB"
[variants.old]
transport.kind = "newreno"
[variants.new]
transport.kind = "linux"
"""


@pytest.mark.usefixtures("compiled")
def test_flows_of_hosts_without_probes_and_with_them_are_one_table(tmp_path: Path) -> None:
    path = tmp_path / "mixed.toml"
    path.write_text(MIXED)
    flows = run(path).flows
    probes = dict(zip(flows["variant"].to_pylist(), flows["tlp_probes"].to_pylist(), strict=True))
    assert flows.num_rows == 4 and probes == {"old": None, "new": 0}
