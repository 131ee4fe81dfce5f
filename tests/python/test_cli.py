"""Tests of the command: its output, where it goes, and its exit status."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import fake_core
import pytest
from conftest import Ran

from overspill import cli
from overspill.engine import machine
from overspill.results import header

Command = Callable[..., Ran]


def test_a_run_prints_the_table_and_says_where_the_report_is(command: Command, scenario: Path) -> None:
    ran = command("run", scenario, "--seeds", 3)
    assert ran.status == 0
    lines = ran.out.splitlines()
    head = next(line for line in lines if line.split() == ["drop", "detour", "bounce"])
    assert lines.index(head) > 0
    row = next(line for line in lines if line.startswith("FCT p99 [background] (ms)"))
    assert row.count("±") == 3
    assert lines[-1] == "report: out/incast/report.html"
    assert Path("out/incast/report.html").is_file()
    assert "packet-hops in" in ran.err and "packet-hops in" not in ran.out


def test_the_table_states_what_limits_its_numbers(command: Command, scenario: Path) -> None:
    whole = command("run", scenario, "--no-report", "--seeds", 2, "--set", "switch.x=1").out
    assert not [line for line in whole.splitlines() if line != line.rstrip() or len(line) > 160]
    out = " ".join(whole.split())
    for text in (
        "seeds 1, 2 (n = 2); set switch.x=1",
        "flows that start from 5 ms to 55 ms; warm-up of 5 ms excluded; drain of up to 20 ms",
        "drop 0 of ",
        "background 0.3 of all hosts' links in payload bytes",
        "links in wire bytes",
        "ended drop 80 ms; detour 80 ms; bounce 80 ms (simulated time until the last event, including",
        "24 leaf x 1,200 pkt (12 ports, buffer 600pkt, bounce queues 50pkt a port)",
        "web_search.csv: read as 0-1",
        "mean (least to largest) over seeds",
    ):
        assert text in out
    assert "UNEQUAL MEMORY" not in out


def test_unequal_memory_is_flagged(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "slim.toml"
    path.write_text('name = "s"\n[variants.drop]\n[variants.slim]\n')
    assert "UNEQUAL MEMORY" in command("run", path, "--no-report").out


def test_the_memory_of_inputs_is_told_with_that_of_outputs() -> None:
    total = {"bytes": 1_200_000}
    one = {
        "tier": "leaf",
        "count": 2,
        "ports": 4,
        "buffer": "600KB",
        "bounce": None,
        "input": "150KB",
        "total": total,
    }
    said = "2 leaf x 1,200,000 B (4 ports, buffer 600KB, input buffers 150KB a port)"
    assert header.describe_switch_memory(one) == said


def test_a_narrow_terminal_cuts_no_number(
    command: Command, scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    ran = command("run", scenario, "--no-report", "--seeds", 3)
    out = re.sub(r"\x1b\[[0-9;]*m", "", ran.out)
    assert "100%" in ran.err
    assert "…" not in out
    assert out.count("FCT p99 [background] (ms)") == 3
    drops = [line for line in out.splitlines() if "drops (pkt)" in line]
    assert sorted(line.count("±") for line in drops) == [0, 1, 1], "one variant drops nothing: 0 alone"


def test_json_has_the_promised_shape_and_nothing_else_on_stdout(command: Command, scenario: Path) -> None:
    ran = command("run", scenario, "--json", "--seeds", 2, "--seed", 7, "--no-report")
    assert ran.status == 0
    document = json.loads(ran.out)
    assert next(iter(document)) == "overspill"
    assert document["scenario"] == "incast"
    assert document["partial"] is False and document["interrupted"] is False
    assert [variant["name"] for variant in document["variants"]] == ["drop", "detour", "bounce"]
    for variant in document["variants"]:
        assert variant["seeds"] == [7, 8]
        assert variant["conserved"] is True
        assert set(variant["flows"]) == {"started", "completed"}
        for metric in variant["metrics"].values():
            assert (
                {"mean", "ci95", "interval", "unit", "values"}
                <= set(metric)
                <= {
                    "mean",
                    "ci95",
                    "interval",
                    "range",
                    "resolution",
                    "unit",
                    "values",
                    "few_samples",
                    "note",
                }
            )
            assert len(metric["values"]) == 2
            assert metric["mean"] == pytest.approx(sum(metric["values"]) / 2)
    assert document["comparisons"]["fct_mean"]["seeds"] == 2
    for one in document["comparisons"]["fct_mean"]["against"]:
        assert set(one) == {"variant", "difference", "range"}
        assert one["range"][0] <= one["difference"] <= one["range"][1]
    assert json.loads(Path("out/incast/results.json").read_text()) == document
    manifest = json.loads(Path("out/incast/manifest.json").read_text())
    assert document["overspill"] == manifest["overspill"] == fake_core.version()
    three = json.loads(command("run", scenario, "--json", "--no-report", "--seeds", 3).out)
    for one in three["comparisons"]["fct_mean"]["against"]:
        assert set(one) == {"variant", "difference", "ci"}


def test_one_seed_has_no_interval(command: Command, scenario: Path) -> None:
    document = json.loads(command("run", scenario, "--json", "--no-report").out)
    assert document["variants"][0]["metrics"]["fct_p99"]["ci95"] is None
    assert document["comparisons"] == {}


def test_unfinished_flows_are_loud_and_give_status_3(command: Command, scenario: Path) -> None:
    ran = command("run", scenario, "--set", "fake.unfinished=60", "--no-report")
    assert ran.status == 3
    assert "UNFINISHED FLOWS" in ran.out and "UNFINISHED FLOWS" in ran.err
    row = next(line for line in ran.out.splitlines() if line.startswith("FCT p99 [background] (ms)"))
    assert row.count("> ") == 3
    ran = command("run", scenario, "--set", "fake.unfinished=60", "--no-report", "--json")
    assert ran.status == 3 and "UNFINISHED FLOWS" in ran.err
    metric = json.loads(ran.out)["variants"][0]["metrics"]["fct_p99"]
    assert metric["censored"] is True and metric["ci95"] is None
    assert metric["values"] == [{"value": metric["mean"], "censored": True}]


def test_unfinished_flows_may_be_allowed(command: Command, scenario: Path) -> None:
    sets = ("--set", "fake.unfinished=60", "--set", "measure.allow_unfinished=true")
    ran = command("run", scenario, *sets, "--no-report")
    assert ran.status == 0
    assert "values that depend on them are lower bounds" in ran.out


def test_a_run_cut_by_max_events_is_partial_everywhere(command: Command, scenario: Path) -> None:
    ran = command("run", scenario, "--max-events", 1000, "--no-report")
    assert ran.status == 3
    assert "PARTIAL RESULT" in ran.out and "PARTIAL RESULT" in ran.err
    ran = command("run", scenario, "--max-events", 1000, "--no-report", "--json")
    assert ran.status == 3
    document = json.loads(ran.out)
    assert document["partial"] is True
    assert document["variants"][0]["partial"] == [1]


def test_a_partial_run_is_not_excused_by_allowed_unfinished_flows(command: Command, scenario: Path) -> None:
    sets = ("--set", "measure.allow_unfinished=true", "--max-events", 1000)
    assert command("run", scenario, *sets, "--no-report").status == 3


def test_ctrl_c_keeps_what_is_finished(command: Command, scenario: Path) -> None:
    fake_core.behaviour.interrupt_after = 4
    ran = command("run", scenario, "--seeds", 5, "--jobs", 1)
    assert ran.status == 130
    assert "4 of 15 runs are finished" in ran.out
    assert "FCT p99 [background] (ms)" in ran.out
    assert ran.out.splitlines()[-1] == "results: out/incast"
    manifest = json.loads(Path("out/incast/manifest.json").read_text())
    assert manifest["interrupted"] is True and len(manifest["runs"]) == 4
    assert "Traceback" not in ran.err


def test_ctrl_c_before_anything_is_finished_says_so(command: Command, scenario: Path) -> None:
    fake_core.behaviour.interrupt_after = 0
    ran = command("run", scenario)
    assert ran.status == 130
    assert "no results are kept" in ran.err and "Traceback" not in ran.err
    assert not Path("out/incast/manifest.json").exists()


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        (None, [], "no such file"),
        (b"\xff\xfe\x00", [], "bad.toml:1: found bytes that are not UTF-8"),
        (b'name = "x"\n\xe9', [], "bad.toml:2: found bytes that are not UTF-8"),
        (b"name = ", [], "bad.toml:1: file: found"),
        (b"", [], "bad.toml:1: name: found nothing; expected a name\nbad.toml:1: second line"),
        (b'name = "x"', ["--set", "nothing"], "--set: found 'nothing'; expected path=value"),
        (b'name = "x"', ["--set", "=5"], "--set: found '=5'"),
        (b'name = "x"', ["--set", "odd.key=5"], "--set: odd.key: found an unknown key"),
        (b'name = "x"', ["--seeds", "0"], "--seeds"),
        (b'name = "x"', ["--seeds", "two"], "--seeds"),
        (b'name = "x"', ["--seed", "-1"], "--seed"),
        (b'name = "x"', ["--seed", str(2**64)], "--seed: found 18446744073709551616"),
        (b'name = "x"', ["--max-events", "0"], "--max-events"),
        (b'name = "x"', ["--jobs", "0"], "--jobs"),
        (b'name = "x"', ["--out", "bad.toml"], "--out: bad.toml is a file"),
        (b'name = "x"', ["--nonsense"], "--nonsense"),
    ],
)
def test_bad_input_is_told_on_stderr_with_status_2(
    command: Command, tmp_path: Path, content: bytes | None, arguments: list[str], message: str
) -> None:
    path = tmp_path / "bad.toml"
    if content is not None:
        path.write_bytes(content)
    ran = command("run", "bad.toml", *arguments)
    assert ran.status == 2
    assert message in ran.err
    assert ran.out == "" and "Traceback" not in ran.err


def test_a_folder_is_no_scenario(command: Command, tmp_path: Path) -> None:
    ran = command("run", tmp_path)
    assert ran.status == 2 and "is a folder" in ran.err


def test_what_is_not_built_is_unknown(command: Command) -> None:
    ran = command("nonsense", "x")
    assert ran.status == 2 and "No such command" in ran.err


def test_a_run_that_breaks_has_status_1(command: Command, scenario: Path) -> None:
    fake_core.behaviour.crash = True
    ran = command("run", scenario)
    assert ran.status == 1
    assert "queue 3 lost a packet" in ran.err and "Traceback" not in ran.err
    assert "note: web_search.csv" in ran.err, "what the scenario's reading had to say may be why"


def test_runs_that_failed_are_in_the_document(command: Command, scenario: Path) -> None:
    fake_core.behaviour.crash_seed = 2
    ran = command("run", scenario, "--seeds", "2", "--json")
    document = json.loads(ran.out)
    assert ran.status == 1 and any("queue 3 lost a packet" in line for line in document["failures"])
    assert all(variant["seeds"] == [1] and variant["conserved"] for variant in document["variants"])


def test_packets_that_are_not_conserved_fail_the_run(command: Command, scenario: Path) -> None:
    fake_core.behaviour.unconserved = True
    ran = command("run", scenario)
    assert ran.status == 1 and "not conserved" in ran.err


def test_list_and_explain_know_the_catalogue_and_the_metrics(command: Command) -> None:
    everything = command("list").out
    for name in ("tail_drop", "leaf_spine", "dctcp", "incast", "fct_p99.9"):
        assert name in everything
    assert "leaf_spine" not in command("list", "mechanisms").out
    assert "default 100pkt" in command("explain", "per_port").out
    assert "; required)" in command("explain", "measure").out
    assert "Lower is better" in command("explain", "fct_p99").out
    assert command("explain", "pauses").out.startswith("pauses\n")
    assert command("explain", "saturation_trees").out.startswith("saturation_trees: saturation trees\n")
    assert "RFC 8257" in command("explain", "dctcp").out


def test_list_json_has_what_the_lists_have(command: Command) -> None:
    told = json.loads(command("list", "--json").out)
    names = ["mechanisms", "topologies", "transports", "traffic", "sizes", "metrics", "papers", "examples"]
    assert list(told) == names
    assert ("switch.overflow", "tail_drop") in {(one["group"], one["name"]) for one in told["mechanisms"]}
    alone = json.loads(command("list", "metrics", "--json").out)
    assert list(alone) == ["metrics"] and "fct_p99.9" in {one["name"] for one in alone["metrics"]}
    assert command("list", "metric", "--json").status == 2


@pytest.mark.parametrize("spelling", ["--variants", "--variant"])
def test_variants_are_chosen_by_either_spelling(command: Command, scenario: Path, spelling: str) -> None:
    ran = command("run", scenario, spelling, "drop", spelling, "bounce", "--json")
    assert [one["name"] for one in json.loads(ran.out)["variants"]] == ["drop", "bounce"]
    help_text = command("trace", "--help").out
    assert "--variants" in help_text and "--variant" in help_text


def test_a_parameter_is_explained_with_the_entries_that_have_it(command: Command) -> None:
    told = command("explain", "size").out
    assert "switch.buffer per_port (" in told and "default 100pkt" in told
    alone = command("explain", "switch.buffer.per_port.size").out
    assert "default 100pkt" in alone and "flow" not in alone
    assert command("explain", "per_port.size").out == alone


def test_a_value_of_a_parameter_is_explained_by_that_parameter(command: Command) -> None:
    told = command("explain", "output_queued").out
    assert told.startswith("output_queued, a value of model of switch (choice")
    assert "Where frames wait." in told
    # A term of the field is explained first.
    told = command("explain", "CIOQ").out
    assert told.startswith("CIOQ: ") and "\ncioq, a value of model of switch (choice" in told


def test_flow_sizes_are_listed_and_explained(command: Command) -> None:
    listed = [line.split() for line in command("list", "sizes").out.splitlines()]
    assert ["imc10", "Benson", "et", "al.,", "196", "KB"] in listed and len(listed) == 3
    assert "mean 1.71 MB" in command("explain", "web_search").out


def test_an_unknown_name_is_bad_input_with_a_hint(command: Command) -> None:
    ran = command("explain", "detuor")
    assert ran.status == 2 and "did you mean detour or" in ran.err
    assert command("list", "nothing").status == 2


def test_schema_and_version_are_the_core_s(command: Command) -> None:
    assert json.loads(command("schema").out)["type"] == "object"
    assert command("--version").out == "overspill 0.2.0\n"
    assert command("--help").status == 0


def test_a_command_that_left_threads_behind_waits_for_none(
    command: Command, scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[int] = []

    def at_once(status: int) -> None:
        left.append(status)
        raise SystemExit(status)

    monkeypatch.setattr(cli, "exit_immediately", at_once)
    assert command("run", scenario, "--no-report").status == 0 and left == []
    monkeypatch.setattr(machine.AbandonedThreads, "exist", True)
    assert command("run", scenario, "--no-report").status == 0 and left == [0]
