"""Tests that the name checker finds modules that differ by one inflection, and meaningless function names."""

from pathlib import Path

import pytest

import names


@pytest.mark.parametrize(
    ("one", "other"),
    [("pace", "pacing"), ("read", "reads"), ("hold", "holding"), ("sweep", "sweeps"), ("cut", "cutting")],
)
def test_names_that_differ_by_an_ending_are_alike(one: str, other: str) -> None:
    assert list(names.similar_modules([Path(f"{one}.py"), Path(f"{other}.rs")]))


@pytest.mark.parametrize(
    ("one", "other"), [("port", "packet"), ("pace", "pacing_rate"), ("rows", "row_sources")]
)
def test_other_names_are_not(one: str, other: str) -> None:
    assert not list(names.similar_modules([Path(f"{one}.py"), Path(f"{other}.py")]))


def test_functions_that_say_nothing_are_found_in_both_languages(tmp_path: Path) -> None:
    (tmp_path / "a.rs").write_text("impl A {\n    pub fn of(x: u8) -> A {}\n    fn port_of() {}\n}\n")
    (tmp_path / "b.py").write_text(
        'def told():\n    pass\n\n\ndef of():\n    """Deprecated name of `x`."""\n'
    )
    assert names.functions_and_types(tmp_path / "a.rs") == [("of", 2), ("port_of", 3)]
    assert names.functions_and_types(tmp_path / "b.py") == [("told", 1)]


def test_our_own_names_pass() -> None:
    assert names.main([]) == 0
