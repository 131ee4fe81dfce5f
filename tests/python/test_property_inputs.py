"""Tests that property tests draw the same inputs whichever modules are loaded."""

import importlib.util
import sys
from pathlib import Path

import pytest
from conftest import PROFILE
from hypothesis import given, settings
from hypothesis import strategies as st


def drawn_numbers() -> list[int]:
    found: list[int] = []

    @settings(max_examples=300)
    @given(st.integers())
    def draw(number: int) -> None:
        found.append(number)

    draw()
    return found


@pytest.mark.skipif(PROFILE != "ci", reason="other profiles draw other inputs each time")
def test_inputs_do_not_depend_on_loaded_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = drawn_numbers()
    path = tmp_path / "many_constants.py"
    path.write_text(f"NUMBERS = {list(range(777_000, 778_000))}\n")
    spec = importlib.util.spec_from_file_location("many_constants", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setitem(sys.modules, "many_constants", module)
    assert drawn_numbers() == before and len(before) == 300
