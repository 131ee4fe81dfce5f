"""Tests that text nested too deep is an input error with file, line and key, wherever it is given."""

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Ran

import overspill
from overspill import BadInput
from overspill.engine import toml_values
from overspill.papers import toml_fields

Command = Callable[..., Ran]
pytestmark = pytest.mark.usefixtures("compiled")
HEAD = 'name = "deep"\nduration = "1ms"\n'
DOTTED, LISTS = ".".join(["a"] * 1000), "[" * 500 + "]" * 500
FOUND = "found tables and lists nested more than 32 levels deep; expected at most 32 levels"


@pytest.mark.parametrize(
    ("line", "key"),
    [
        (f"extra = {LISTS}", "extra"),
        (f"extra = {'{a = ' * 500}1{'}' * 500}", "extra"),
        (f"{DOTTED} = 1", "a.a.a"),
        (f"[{DOTTED}]", "a.a.a"),
        (f"[[{DOTTED}]]", "a.a.a"),
        (f"{'a.' * 200_000}a = 1", "a.a.a"),
    ],
    ids=["lists", "inline tables", "dotted key", "header", "list of tables", "endless key"],
)
def test_a_scenario_that_is_nested_too_deep_exits_2(
    command: Command, tmp_path: Path, line: str, key: str
) -> None:
    path = tmp_path / "deep.toml"
    path.write_text(f"{HEAD}{line}\n")
    ran = command("run", path)
    assert ran.status == 2 and "RecursionError" not in ran.err
    assert f"deep.toml:3: {key}" in ran.err and "nested more than 32 levels deep" in ran.err


@pytest.mark.parametrize("given", [f"{DOTTED}=1", f"switch.{DOTTED}=1", f"extra={LISTS}"])
def test_a_setting_that_is_nested_too_deep_exits_2(command: Command, tmp_path: Path, given: str) -> None:
    path = tmp_path / "small.toml"
    path.write_text(HEAD)
    for verb, option in (("run", "--set"), ("sweep", "--over")):
        ran = command(verb, path, option, given)
        assert ran.status == 2 and f"{option}: {given[:5]}" in ran.err, ran.err
        assert "nested more than 32 levels deep" in ran.err


def test_a_value_of_a_curve_that_is_nested_too_deep_exits_2(command: Command) -> None:
    ran = command("explain", "red", "--set", f"min={LISTS}")
    assert ran.status == 2 and "nested more than 32 levels deep" in ran.err


def test_a_file_of_a_paper_that_is_nested_too_deep_has_its_line(tmp_path: Path) -> None:
    path = tmp_path / "rows.toml"
    path.write_text(f"# rows\n[[row]]\nnote = {LISTS}\n")
    with pytest.raises(BadInput) as error:
        toml_fields.read_toml(path)
    assert error.value.lines[0].startswith(f"{path}:3: row.note: {FOUND}")


def test_python_values_nested_too_deep_are_bad_input(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(HEAD)
    endless: list[object] = []
    endless.append(endless)
    for value in (endless, {"a": endless}):
        with pytest.raises(BadInput, match="nested more than 32 levels deep"):
            toml_values.format_setting(value)
        with pytest.raises(BadInput, match="nested more than 32 levels deep"):
            overspill.run(tmp_path / "small.toml", sets={"switch": value})
