"""Tests of `overspill demo` and of the files that are shipped with the package."""

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Ran

from overspill import BadInput, shipped_files

Command = Callable[..., Ran]
SCENARIOS = Path(__file__).parents[2] / "scenarios"


@pytest.mark.usefixtures("compiled")
def test_demo_prints_what_run_prints_for_its_scenario(command: Command) -> None:
    for options in ((), ("--all",)):
        demo = command("demo", "--seeds", 2, *options)
        run = command("run", SCENARIOS / "incast.toml", "--seeds", 2, *options)
        assert (demo.status, demo.out) == (run.status, run.out) == (0, run.out)
        assert "FCT mean" in demo.out and Path("out/incast/report.html").is_file()
        assert ("FCT p50" in demo.out) is bool(options)


def test_demo_prints_an_example_for_a_scenario_of_ones_own(command: Command) -> None:
    printed = command("demo", "qcn", "--print")
    assert (printed.status, printed.out) == (0, (SCENARIOS / "qcn.toml").read_text())


def test_unknown_example_is_refused_with_the_names(command: Command) -> None:
    ran = command("demo", "nothing")
    assert ran.status == 2
    assert ran.err.startswith("demo: found 'nothing'; expected one of abq, all_reduce, ")


def test_a_misspelt_example_has_a_hint(command: Command) -> None:
    ran = command("demo", "incats")
    assert (ran.status, ran.err.endswith("; did you mean incast?\n")) == (2, True)


@pytest.mark.parametrize(
    "words", [("run",), ("sweep", "--over", "seed=1"), ("trace", "--packet", "first_cnm")]
)
def test_a_missing_copy_of_an_example_says_how_to_get_it(command: Command, words: tuple[str, ...]) -> None:
    ran = command(words[0], "scenarios/qcn.toml", *words[1:])
    hint = "`overspill demo qcn --print > qcn.toml` writes the example scenario of this name"
    assert (ran.status, ran.err) == (2, f"scenarios/qcn.toml: no such file; {hint}\n")


def test_every_example_is_listed_with_its_description(command: Command) -> None:
    listed = command("list", "examples").out
    for path in SCENARIOS.glob("*.toml"):
        assert shipped_files.describe_example(path), path
        assert f"  {path.stem} " in listed


def test_an_installed_wheel_has_its_own_examples(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    package = tmp_path / "site-packages" / "overspill"
    monkeypatch.setattr(shipped_files, "__file__", str(package / "shipped_files.py"))
    with pytest.raises(BadInput, match=r"expected one of scenarios in .*, where there are none"):
        shipped_files.find_example("incast")
    shipped = package / "shipped" / "scenarios"
    shipped.mkdir(parents=True)
    (shipped / "mine.toml").write_text('description = "mine"\n')
    assert shipped_files.find_example("mine") == shipped / "mine.toml"
    assert shipped_files.describe_example(shipped / "mine.toml") == "mine"
