"""Tests that messages are lines safe for a terminal, whatever a user has typed."""

import os
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Ran

from overspill import BadInput
from overspill.errors import MAX_LINE_LENGTH, escape_unprintable

Command = Callable[..., Ran]

ODD = "\x1b[31m\n\x07\u202e"
SHOWN = r"\x1b[31m\n\x07\u202e"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--set", f"a{ODD}"],
        ["--set", f"a{ODD}=1"],
        ["--variants", f"drop,a{ODD}b"],
        ["--out", f"file{ODD}"],
    ],
)
def test_what_is_typed_is_told_escaped_and_on_one_line(
    command: Command, scenario: Path, arguments: list[str]
) -> None:
    Path(f"file{ODD}").touch()
    ran = command("run", scenario, *arguments)
    assert ran.status == 2 and ran.err.count("\n") == 1
    assert escape_unprintable(ran.err[:-1]) == ran.err[:-1], "no control characters"
    assert r"\x1b[31m" in ran.err and "; expected" in ran.err, ran.err


def test_paths_are_told_escaped_in_messages_and_with_results(command: Command, scenario: Path) -> None:
    ran = command("run", f"none{ODD}.toml")
    assert ran.status == 2 and ran.err == f"none{SHOWN}.toml: no such file\n"
    ran = command("run", scenario, "--no-report", "--out", f"o{ODD}")
    assert ran.status == 0 and f"results: o{SHOWN}\n" in ran.out
    ran = command("export", f"o{ODD}", "--format", "csv")
    assert ran.status == 0 and f"written: o{SHOWN}/export" in ran.out and "\x1b" not in ran.err
    ran = command("export", scenario, "--format", "csv")
    assert ran.status == 2


@pytest.mark.parametrize(
    "arguments",
    [["--set", "a" * 100_000], ["--variants", "b" * 100_000], ["--set", "nope" + ".c" * 50_000 + "=1"]],
)
def test_a_long_message_keeps_its_beginning_and_what_is_expected(
    command: Command, scenario: Path, arguments: list[str]
) -> None:
    ran = command("run", scenario, *arguments)
    assert ran.status == 2 and len(ran.err) <= MAX_LINE_LENGTH + 1
    assert ran.err.startswith(f"{arguments[0]}: ") and "; expected" in ran.err


def test_arguments_that_are_no_text_are_bad_input(command: Command, scenario: Path) -> None:
    odd = os.fsdecode(b"\xff")
    for arguments in (
        ["--set", f"switch.x={odd}"],
        ["--set", f"{odd}=1"],
        ["--variants", odd],
        ["--out", odd],
    ):
        ran = command("run", scenario, "--no-report", *arguments)
        assert ran.status in (0, 2) and "unexpected" not in ran.err, ran.err
    ran = command("run", f"{odd}.toml")
    assert ran.status == 2 and ran.err == "\\udcff.toml: no such file\n"


def test_an_error_from_another_process_has_its_lines() -> None:
    error = pickle.loads(pickle.dumps(BadInput(["one", "two\nthree"])))
    assert type(error) is BadInput and error.lines == ["one", r"two\nthree"]


def test_a_variant_or_a_table_named_twice_is_refused(command: Command, scenario: Path) -> None:
    ran = command("run", scenario, "--variants", "bounce,drop,drop")
    assert ran.status == 2 and "--variants: found drop twice; expected each variant once" in ran.err
    ran = command("sweep", scenario, "--over", "switch.x=1", "--tables", "flows,flows")
    assert ran.status == 2 and "--tables: found flows twice; expected each table once" in ran.err


@pytest.mark.parametrize("command_line", [["run"], ["sweep", "--over", "switch.buffer.size=50pkt"]])
def test_what_was_set_is_told_escaped_by_the_terminal_and_the_page(
    command: Command, compiled: None, command_line: list[str]
) -> None:
    linear = Path(__file__).parents[2] / "scenarios/linear.toml"
    ran = command(
        *command_line,
        linear,
        "--variants",
        "drop",
        "--seeds",
        1,
        "--set",
        f"description=a{ODD}",
        "--out",
        "o",
    )
    assert ran.status == 0, ran.err
    assert f"set description=a{SHOWN}\n" in ran.out
    page = Path("o/report.html").read_text()
    assert not [one for one in ("\x1b", "\x07", "\u202e") if one in ran.out or one in page]
    if command_line == ["run"]:
        assert f"set <code>description=a{SHOWN}</code>" in page and f"set description=a{SHOWN}<" in page
