"""Tests that results replaced by a second command are named, with the command that shows them again."""

import shlex
from pathlib import Path

from sweep_folders import Command

from overspill.results.replaced_results import ReplacedResults

AGAIN = "shows them again"


def parse_command(text: str) -> list[str]:
    """Returns the command between backquotes in a sentence, without its first word."""
    return shlex.split(text.partition("`")[2].partition("`")[0])[1:]


def test_replaced_runs_are_shown_again_by_the_named_command(command: Command, scenario: Path) -> None:
    first = command("run", scenario, "--seeds", 3, "--out", "o", "--no-report")
    assert first.status == 0 and AGAIN not in first.err
    second = command("run", scenario, "--seeds", 1, "--set", "switch.x=2", "--out", "o", "--no-report")
    assert second.status == 0
    told = next(line for line in second.err.splitlines() if AGAIN in line)
    assert "earlier results (3 seeds of drop, detour, bounce) were replaced" in told
    third = command(*parse_command(told), "--no-report")
    assert third.out.splitlines()[3:] == first.out.splitlines()[3:]
    assert f"--set switch.x=2 --seed 1 --seeds 1 --out o` {AGAIN}" in third.err


def test_replaced_sweep_is_shown_again_by_the_named_command(command: Command, scenario: Path) -> None:
    args = ("sweep", scenario, "--seeds", 2, "--out", "o", "--no-report")
    assert AGAIN not in command(*args, "--over", "switch.x=1,2").err
    second = command(*args, "--over", "switch.x=3")
    told = next(line for line in second.err.splitlines() if AGAIN in line)
    assert parse_command(told)[:3] == ["sweep", str(scenario), "--over"] and "switch.x=1,2" in parse_command(
        told
    )


def test_command_that_shows_again_names_its_variants(command: Command, scenario: Path) -> None:
    args = ("run", scenario, "--seeds", 1, "--variants", "drop", "--out", "o", "--no-report")
    command(*args)
    told = command(*args, "--set", "switch.x=2").err
    assert "--variants drop" in next(line for line in told.splitlines() if AGAIN in line)


def test_replaced_results_of_a_changed_file_name_no_command(tmp_path: Path) -> None:
    manifest = {"scenario": {"text": "a = 1"}, "sets": [], "seeds": [1], "variants": ["v"]}
    before = manifest | {"files": {"f.csv": "1", "g.csv": "7"}}
    after = manifest | {"files": {"f.csv": "2", "g.csv": "7"}}
    text = ReplacedResults(before, after, tmp_path).describe("s.toml")
    assert text.endswith("Files of the scenario have changed since: f.csv") and AGAIN not in text


def test_more_seeds_of_the_same_results_replace_nothing(command: Command, scenario: Path) -> None:
    assert command("run", scenario, "--seeds", 1, "--out", "o", "--no-report").status == 0
    assert "replaced" not in command("run", scenario, "--seeds", 2, "--out", "o", "--no-report").err


def test_replaced_results_of_another_text_name_no_command(command: Command, scenario: Path) -> None:
    command("run", scenario, "--seeds", 2, "--out", "o", "--no-report")
    scenario.write_text(scenario.read_text() + "\n# changed\n[host]\nx = 3\n")
    told = command("run", scenario, "--seeds", 1, "--out", "o", "--no-report").err
    assert AGAIN not in told and "The scenario file has changed since" in told
