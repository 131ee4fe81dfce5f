"""Tests of the examples in docstrings, on the scenario of the page on Python, and of Rust traits."""

import doctest
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "python/overspill"
PAGE = ROOT / "docs/python.md"
# Names on the page whose own docstring must have an example, beside the functions of modules.
ENTRY_POINTS = [
    "overspill.run",
    "overspill.sweep",
    "overspill.prepare",
    "overspill.run_plans",
    "overspill.engine.task.Listener",
    "overspill.trace",
    "overspill.results.results.Results",
    "overspill.results.axes.Axis",
    "overspill.plots",
    "overspill.engine.topology.from_networkx",
    "overspill.engine.topology.to_networkx",
    "overspill.results.export.write",
]


def documented_examples() -> Iterator[doctest.DocTest]:
    """Yields the examples of each docstring, by module."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    for path in sorted(PACKAGE.rglob("*.py")):
        if ">>> " in path.read_text(encoding="utf-8"):
            parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
            module = importlib.import_module(".".join(parts).removesuffix(".__init__"))
            yield from (one for one in finder.find(module, globs={}) if one.examples)


def resolve_name(name: str) -> object:
    """Returns the object of a dotted name on the page."""
    owner, _, last = name.rpartition(".")
    try:
        return getattr(importlib.import_module(owner), last)
    except AttributeError:
        return importlib.import_module(name)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns a working directory with the scenario of the page."""
    shown = re.search(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert shown is not None
    (tmp_path / "incast.toml").write_text(shown[1], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_examples_in_docstrings_print_what_they_show(folder: Path) -> None:
    failures: list[str] = []
    tested = list(documented_examples())
    for one in tested:
        printed: list[str] = []
        doctest.DocTestRunner(optionflags=doctest.REPORT_NDIFF).run(one, out=printed.append)
        failures.extend(printed)
    assert failures == [], "".join(failures)
    assert len(tested) >= len(ENTRY_POINTS)


@pytest.mark.parametrize("name", ENTRY_POINTS)
def test_entry_point_has_an_example(name: str) -> None:
    assert ">>> " in (resolve_name(name).__doc__ or "")


def test_public_rust_traits_have_an_example_and_are_on_the_page() -> None:
    page = (ROOT / "docs/rust.md").read_text(encoding="utf-8")
    traits = []
    for path in sorted(ROOT.glob("crates/*/src/**/*.rs")):
        text = path.read_text(encoding="utf-8")
        for found in re.finditer(r"((?:^(?:///|#\[).*\n)*)^pub trait (\w+)", text, re.MULTILINE):
            traits.append(found[2])
            assert "/// ```\n" in found[1] and "assert" in found[1], f"{path}: {found[2]}"
    assert sorted(set(re.findall(r"`([A-Z]\w+)`", page))) == sorted(traits)
