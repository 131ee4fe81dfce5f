"""Tests of `overspill paper` over the fake core: its runs, files and messages."""

import json
import os
import signal
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import fake_core
import pyarrow.parquet as pq
import pytest
import small_paper
from conftest import Ran
from small_paper import MEASURES, PAPER, Paper, read_files

from overspill.engine import core
from overspill.engine.task import Listener, Task
from overspill.papers import execution, paper_files, reproduce, sensitivity
from overspill.papers.published_files import read_json
from overspill.papers.spec import Measured


def rows(ran: Ran) -> dict[tuple[str, str], dict[str, Any]]:
    return {(row["case"], row["metric"]): row for row in json.loads(ran.out)}


def count_stored_runs(folder: str) -> int:
    return len(list(Path("out/papers/small", folder, "store").glob("??/*.parquet")))


@pytest.mark.usefixtures("quick")
def test_rows_are_published_beside_measured(paper: Paper) -> None:
    ran = paper("--json")
    assert ran.status == 0
    assert list(json.loads(ran.out)[0]) == [
        "paper", "figure", "case", "metric", "unit", "published", "measured", "ci95", "seeds",
        "platform", "basis", "kind", "tolerance", "verdict", "ok", "note", "prediction", "counts",
    ]  # fmt: skip
    found = rows(ran)
    fct = found["x 1", "fct"]
    assert (fct["verdict"], fct["ok"], fct["seeds"], fct["note"]) == ("holds", True, 3, "read off a plot")
    assert fct["ci95"] > 0 and fct["prediction"]["inside"] is False and fct["tolerance"] == {"max": 100}
    assert found["x 2", "dropped"]["measured"] == 0 == found["x 2", "dropped"]["ci95"]
    assert found["x 2", "dropped"]["note"] == "counted at all ports"
    assert (found["all", "switch"]["measured"], found["all", "switch"]["verdict"]) == ("leaf0", "holds")
    later = found["hardware", "rate"]
    assert (later["measured"], later["verdict"], later["ok"]) == (None, "inconclusive", False)
    assert [row["figure"] for row in found.values()] == ["fig1", "fig1", "fig2", "fig2", "fig3", "fig3"]
    assert (count_stored_runs("sweeps/grid"), count_stored_runs("sweeps/single")) == (12, 2)
    document = json.loads(Path("out/papers/small/rows.json").read_text())
    assert document["rows"] == json.loads(ran.out) and len(document["tolerances"]) == 64
    assert document["score"] == {"of": 4, "holds": 4, "fails": 0, "inconclusive": 0}
    table = pq.read_table("out/papers/small/rows.parquet").to_pylist()
    assert (
        table[2]["published"] is None and table[2]["published_text"] == "leaf0" == table[2]["measured_text"]
    )
    assert [row["verdict"] for row in table] == [row["verdict"] for row in found.values()]


def test_the_same_command_again_gives_the_same_bits(paper: Paper) -> None:
    assert paper("--what-if").status == 0
    first = read_files(Path("out/papers/small"))
    again = paper("--what-if", "--jobs", 1)
    assert "16/16 runs, 16 from the store" in again.err
    assert paper("--what-if", "--out", "other").status == 0
    assert read_files(Path("out/papers/small")) == first == read_files(Path("other"))
    assert {"rows.json", "rows.parquet", "page.html", "README.md", "what_if.json.gz"} < set(first)
    assert {f"figures/fig1.{kind}" for kind in ("png", "svg")} < set(first)
    assert "figures/fig1.pdf" not in first
    assert paper("--what-if", "--figures", "pdf").status == 0
    assert set(read_files(Path("out/papers/small"))) - set(first) == {"figures/fig1.pdf"}


def test_revised_rows_are_in_every_file(command: Paper, tmp_path: Path) -> None:
    rows = small_paper.ROWS.replace("one_run = true", 'revised = { verdict = "fails", why = "x is 2 | now" }')
    papers = small_paper.write_paper_folder(tmp_path, rows=rows)
    small_paper.write_code(tmp_path, MEASURES)
    ran = command("paper", "small", "--papers", papers)
    assert (
        "reproduced, before revision: not reproduced" in ran.out and "3 rows count: 3 reproduced" in ran.out
    )
    folder = Path("out/papers/small")
    document = json.loads((folder / "rows.json").read_text())
    assert document["score"]["of"] == 3 and document["rows"][0]["counts"] == "revised"
    assert document["rows"][0]["revised"] == {"verdict": "fails", "why": "x is 2 | now", "of": "measure"}
    table = pq.read_table(folder / "rows.parquet").to_pylist()
    assert [row["revised_verdict"] for row in table] == ["fails", *[None] * 5]
    assert (table[0]["revised_why"], table[0]["revised_of"]) == ("x is 2 | now", "measure")
    readme = (folder / "README.md").read_text()
    assert "[Revisions](history.md)" in readme
    assert "- [A \\[study] found more.](../../studies/bounce/README.md)\n" in readme
    history = (folder / "history.md").read_text()
    assert "- x is 2 \\| now: 1 row, 1 reproduced, 0 before" in history
    assert "| not reproduced | ✓ reproduced | x is 2 \\| now |" in history
    assert "✓ reproduced, before revision: not reproduced" in (folder / "page.html").read_text()


@pytest.mark.usefixtures("quick")
def test_figures_and_sweeps_are_chosen_by_name(paper: Paper) -> None:
    assert {row["figure"] for row in json.loads(paper("fig3", "--json").out)} == {"fig3"}
    assert not Path("out/papers/small/sweeps").exists()
    ran = paper("fig2")
    assert "fig2  Places" in ran.out and "fig1" not in ran.out and "fig3" not in ran.out
    assert (count_stored_runs("sweeps/single"), count_stored_runs("sweeps/grid")) == (2, 0)
    assert {row["figure"] for row in json.loads(paper("grid", "fig3", "--json").out)} == {"fig1", "fig3"}
    ran = paper("fig7")
    assert ran.status == 2 and "found 'fig7'; expected some of fig1, fig2, fig3, grid, single" in ran.err


@pytest.mark.usefixtures("quick")
def test_a_paper_goes_on_where_it_was_stopped(paper: Paper) -> None:
    fake_core.behaviour.interrupt_after = 5
    ran = paper("--jobs", 1)
    assert ran.status == 130
    assert "fig3  A function" in ran.out and "fig1  Flows" not in ran.out
    assert "INTERRUPTED: grid: stopped by the user: 5 of 12 runs" in ran.out
    assert "INTERRUPTED: not computed: fig1, fig2" in ran.out
    assert not Path("out/papers/small/rows.json").exists()
    fake_core.reset()
    ran = paper()
    assert ran.status == 0 and "5/14 runs, 5 from the store" in ran.err
    whole = Path("out/papers/small/rows.json").read_bytes()
    assert paper("--out", "never_stopped").status == 0
    assert Path("never_stopped/rows.json").read_bytes() == whole


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(("number", "left"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
@pytest.mark.parametrize("runs", [5, 14])
def test_a_paper_ends_with_the_status_of_its_signal(
    paper: Paper, monkeypatch: pytest.MonkeyPatch, number: signal.Signals, left: int, runs: int
) -> None:
    """Stops the command after some runs, or after the last one."""
    original, done = fake_core.FakeResults.summary, []

    def summary(made: fake_core.FakeResults) -> dict[str, Any]:
        done.append(made)
        if len(done) == runs:
            os.kill(os.getpid(), number)
        return original(made)

    monkeypatch.setattr(fake_core.FakeResults, "summary", summary)
    ran = paper("--jobs", 1)
    assert ran.status == left and "no files were written, since the command was interrupted" in ran.err
    assert not Path("out/papers/small/rows.json").exists()


def test_progress_counts_all_sweeps_at_once_and_keeps_their_points_apart(tmp_path: Path) -> None:
    class Seen(Listener):
        tasks: list[Task]
        kept_ones: list[Task]

        def begin(self, left: Iterable[Task], stored: Iterable[tuple[Task, int]]) -> None:
            self.tasks, self.kept_ones = list(left), []
            assert not list(stored)

        def kept(self, task: Task, hops: int) -> None:
            self.kept_ones.append(task)

    small, seen = paper_files.load_paper("small", small_paper.write_paper_folder(tmp_path)), Seen()
    execution.run_all_sweeps(
        reproduce.select_part(small, (), True, (tmp_path / "out", None)).planned_sweeps, seen, 1
    )
    assert len(seen.tasks) == 16 and set(seen.tasks) == set(seen.kept_ones)
    points = {(task.point, task.label) for task in seen.tasks}
    assert points == {(0, "grid switch.x=1"), (1, "grid switch.x=2"), (2, "single"), (3, "y/single")}


@pytest.mark.usefixtures("quick")
def test_runs_that_fail_are_told_and_their_rows_fail(paper: Paper) -> None:
    fake_core.behaviour.crash_seed = 3
    ran = paper("--json")
    assert ran.status == 1 and "FAILED: grid: switch.x=1: drop seed 3: the run failed" in ran.err
    found = rows(ran)
    assert found["x 1", "fct"]["note"] == "read off a plot (not measured: runs of grid failed)"
    assert found["x 1", "fct"]["verdict"] == "fails" and found["all", "switch"]["verdict"] == "holds"
    fake_core.behaviour.crash = True
    ran = paper("--out", "all", "--publish")
    assert ran.status == 1 and "FAILED" in ran.out and not Path("papers/small/rows.json").exists()


@pytest.mark.usefixtures("quick")
def test_unfinished_flows_are_loud_and_have_status_3(paper: Paper, tmp_path: Path) -> None:
    small_paper.write_paper_folder(tmp_path, PAPER.replace('["switch.y=4"]', '["fake.unfinished=60"]'))
    ran = paper("--json")
    assert ran.status == 3 and "UNFINISHED FLOWS: single: bounce, seeds 1, 2" in ran.err
    assert "UNFINISHED FLOWS" in Path("out/papers/small/page.html").read_text()
    assert "- **UNFINISHED FLOWS**: Measured flows" in Path("out/papers/small/README.md").read_text()


@pytest.mark.usefixtures("quick")
def test_a_value_that_is_only_a_bound_is_no_value(paper: Paper, tmp_path: Path) -> None:
    small_paper.write_paper_folder(
        tmp_path, PAPER.replace("seeds = 3", 'seeds = 3\nset = ["fake.unfinished=60"]')
    )
    found = rows(paper("fig1", "--json"))["x 1", "fct"]
    assert found["verdict"] == "fails" and "not finite: 3 of 3 values" in found["note"]


@pytest.mark.usefixtures("quick")
def test_what_code_and_rows_do_not_share_is_told(paper: Paper, tmp_path: Path) -> None:
    def more(runs: Any) -> list[Measured]:
        return [Measured("u = 1", "P", [1.0]), Measured("u = 2", "P", [1.0])]

    small_paper.write_code(tmp_path, MEASURES | {"fig3": more})
    ran = paper("fig3")
    assert (
        ran.status == 1
        and "fig3: the code of this figure measures ('u = 2', 'P'), which is in no row" in ran.err
    )
    small_paper.write_code(tmp_path, {"fig1": MEASURES["fig1"]})
    note = rows(paper("fig3", "--json"))["u = 1", "P"]["note"]
    assert note == "not measured: no code computes this figure"
    small_paper.write_code(tmp_path, MEASURES | {"fig9": more})
    assert "MEASURES has 'fig9'" in paper("fig3").err


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda runs: runs["single"].metric("nonsense", "bounce"), "found metric 'nonsense'"),
        (lambda runs: runs["single"].metric("drops", "drop"), "found variant 'drop'; expected bounce"),
        (lambda runs: runs["single"].metric("drops", "bounce", {"switch.x": "1"}), "found point"),
        (
            lambda runs: runs["single"].tables("ports", "bounce"),
            "found table 'ports'; expected one of `tables`",
        ),
    ],
)
@pytest.mark.usefixtures("quick")
def test_code_that_asks_for_what_is_not_there_is_told_so(
    paper: Paper, tmp_path: Path, ask: Callable[[Any], Any], said: str
) -> None:
    small_paper.write_code(tmp_path, {"fig2": lambda runs: [Measured("all", "bounces", ask(runs))]})
    ran = paper("fig2")
    assert ran.status == 1 and "fig2: sweep single: " in ran.err and said in ran.err


@pytest.mark.usefixtures("quick")
def test_code_that_breaks_is_told_by_its_figure(
    paper: Paper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OVERSPILL_TRACEBACK", raising=False)
    small_paper.write_code(tmp_path, {"fig3": lambda runs: [1 / len(runs)]})  # type: ignore[list-item]
    ran = paper("fig3")
    assert ran.status == 1 and "fig3: the code of this figure failed: ZeroDivisionError" in ran.err
    broken: Any = {"fig3": lambda runs, published: {}["no"]}
    small_paper.write_code(tmp_path, {"fig3": MEASURES["fig3"]}, broken)
    ran = paper("fig3")
    assert ran.status == 1 and "fig3: the code of this figure failed: KeyError" in ran.err


@pytest.mark.usefixtures("quick")
def test_a_paper_without_code_is_told(command: Paper, tmp_path: Path) -> None:
    ran = command("paper", "small", "--papers", small_paper.write_paper_folder(tmp_path))
    assert ran.status == 1 and "expected measures.py, or a folder measures, with MEASURES" in ran.err


def test_what_is_in_a_paper_is_listed(command: Paper, paper: Paper, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = paper("--list")
    assert ran.status == 0 and not Path("out").exists()
    for text in ("Nobody, 2020", "fig1", "2 rows", "depends on single", "no runs", "3 seeds", "switch.y=9"):
        assert text in ran.out
    # One row of the function has no run because it needs hardware; a figure with only such rows has no runs
    # at all.
    assert "depends on no runs; 1 row has no run" in " ".join(ran.out.split())
    told = json.loads(paper("--list", "--json").out)
    assert (told["name"], told["cite"][:6], told["figures"][0]["rows"]) == ("small", "Nobody", 2)
    assert {one["name"] for one in told["sweeps"]} >= {"single"} and told["what_ifs"][0]["sets"]
    written = Path("papers/small/rows.toml")
    rows = written.read_text().replace('kind = "order"\n', 'kind = "order"\nlater = true\nnote = "z"\n')
    written.write_text(rows.replace('published = "leaf0"\n', 'later = true\nnote = "z"\n'))
    listed = " ".join(paper("--list").out.split())
    assert "fig2 2 rows Places no run" in listed and "fig1 2 rows Flows depends on grid fig2" in listed
    monkeypatch.setenv("OVERSPILL_PAPERS", str(Path("papers").absolute()))
    assert command("list", "papers").out.split() == ["papers", "small", "A", "small", "paper"]
    assert "expected one of small" in command("paper", "large").err
    Path("empty").mkdir()
    monkeypatch.setenv("OVERSPILL_PAPERS", "empty")
    none = command("list", "papers")
    assert (
        none.status == 2
        and "list: no papers found in empty; set OVERSPILL_PAPERS to their folder" in none.err
    )


@pytest.mark.usefixtures("quick")
def test_an_open_parameter_is_changed_alone(paper: Paper, tmp_path: Path) -> None:
    def places(runs: Any) -> list[Measured]:
        other = "switch.y=9" in runs["single"].sweep.facts["sets"]
        assert ("switch.y=4" in runs["single"].sweep.facts["sets"]) is not other
        return [
            Measured("all", "switch", ["leaf1" if other else "leaf0"]),
            Measured("all", "bounces", [2.0 - 2 * other]),
        ]

    small_paper.write_code(tmp_path, MEASURES | {"fig2": places})
    ran = paper("--what-if")
    assert ran.status == 0 and "sensitivity run: another y (switch.y=9): 2 of 2 verdicts change" in ran.out
    assert count_stored_runs("what_if/y/single") == 2 and not Path("out/papers/small/what_if/y/grid").exists()
    made = read_json(Path("out/papers/small/what_if.json.gz"))
    assert [row["metric"] for row in made["rows"]] == ["switch", "bounces"]
    assert made["rows"][1]["settings"]["y"] | {"note": ""} == {
        "measured": 0.0, "ci95": None, "seeds": 1, "verdict": "fails", "note": "", "changes": True,
    }  # fmt: skip
    assert "<code>y</code>: another y" in Path("out/papers/small/page.html").read_text()
    assert "it changes. `y`: another y.\n" in Path("out/papers/small/README.md").read_text()
    page = Path("out/papers/small/page.html").read_text()
    assert '<td class="holds">✓ 2</td><td class="fails changes">✗ 0</td>' in page
    assert paper().status == 0 and not Path("out/papers/small/what_if.json.gz").exists()


@pytest.mark.usefixtures("quick")
def test_each_table_of_open_parameters_has_those_that_touch_its_rows(command: Paper, tmp_path: Path) -> None:
    def places(runs: Any) -> list[Measured]:
        other = "switch.y=9" in runs["single"].sweep.facts["sets"]
        return [Measured("all", "switch", ["leaf0"]), Measured("all", "bounces", [2.0 - 2 * other])]

    small_paper.write_code(tmp_path, MEASURES | {"fig2": places})
    more = '[[what_if]]\nname = "w"\ntitle = "another w"\nsweeps = ["grid"]\nset = ["switch.w=9"]\n'
    papers = small_paper.write_paper_folder(tmp_path, small_paper.PAPER + more)
    assert command("paper", "small", "--papers", papers, "--what-if").status == 0
    found = sensitivity.sensitivity_tables(read_json(Path("out/papers/small/what_if.json.gz")))["groups"]
    assert [group["heads"] for group in found] == [[sensitivity.OWN_TITLE, "w"], [sensitivity.OWN_TITLE, "y"]]
    assert [group["figures"] for group in found] == ["fig1", "fig2"]
    page = Path("out/papers/small/page.html").read_text()
    assert "<h3>fig1</h3>" in page and "<h3>fig2</h3>" in page


@pytest.mark.usefixtures("quick")
def test_what_settings_took_from_a_scenario_is_told(command: Paper, tmp_path: Path) -> None:
    own = "--set switch: kind replaces the whole table"
    small_paper.write_code(tmp_path, MEASURES)
    text = small_paper.PAPER.replace('"switch.y=4"', f'"switch.y=4", "fake.note={own}"')
    papers = small_paper.write_paper_folder(
        tmp_path, text.replace('"switch.y=9"', '"fake.note=y has no effect"')
    )
    ran = command("paper", "small", "--papers", papers, "--what-if")
    told = [line for line in ran.out.splitlines() if line.startswith("note: ")]
    assert ran.status == 0 and told == [f"note: single: {own}", "note: y/single: y has no effect"]
    quiet = command("paper", "small", "--papers", papers, "--json")
    assert f"note: single: {own}" in quiet.err and json.loads(quiet.out)


TREE = """
name = "tree"
duration = "1ms"
[topology]
kind = "star"
n = 3
link = { rate = "1Gbps", delay = "1us" }
[[traffic]]
name = "b"
kind = "incast"
senders = 2
receiver = "h2"
size = "2KB"
start = "10us"
[variants.drop]
"""
TREE_PAPER = """
name = "small"
title = "t"
cite = "c"
[[sweep]]
name = "tree"
scenario = "tree.toml"
seeds = 1
tables = ["ports"]
[[figure]]
id = "f"
title = "t"
claim = "c"
sweeps = ["tree"]
"""
TREE_ROWS = """
[[row]]
figure = "f"
case = "c"
metric = "sent"
published = 4
basis = "text"
kind = "exact"
tolerance = { abs = 0 }
"""


def test_nodes_have_the_numbers_of_their_network_and_settings_are_whole(
    command: Paper, tmp_path: Path
) -> None:
    core.use_backend(None)
    papers = small_paper.write_paper_folder(tmp_path, TREE_PAPER, TREE_ROWS)
    (papers / "small/tree.toml").write_text(TREE)

    def sent(runs: Any) -> list[Measured]:
        one = runs["tree"]
        assert (one.node("h0"), one.node("h2")) == (0, 2) and len(one.nodes) == 4
        settings = one.settings("drop")
        assert settings["name"] == "tree" and settings["switches"][0]["buffer"]["kind"] == "per_port"
        [table] = one.tables("ports", "drop")
        switch, last = one.node(next(reversed(one.nodes))), one.node("h2")
        ports = [row for row in table.to_pylist() if (row["node"], row["peer"]) == (switch, last)]
        return [Measured("c", "sent", [float(ports[0]["sent"])])]

    small_paper.write_code(tmp_path, {"f": sent})
    ran = command("paper", "small", "--papers", papers, "--json", "--no-report")
    assert ran.status == 0, ran.err
    assert rows(ran)["c", "sent"]["measured"] == 4
