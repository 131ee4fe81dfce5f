"""Tests that papers and studies use only public names: the package's, `plots`, and those papers share."""

import ast
import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import overspill
from overspill.errors import BadInput

ROOT = Path(__file__).parents[2]
ENGINE = ROOT / "python/overspill/papers"
# The code that reads papers and writes their pages is part of the command.
OWN = {
    "paper_files.py": {"overspill.results.names", "overspill.shipped_files"},
    "toml_fields.py": {"overspill.engine", "overspill.engine.source"},
    "write_paper.py": {"overspill.charts", "overspill.report", "overspill.results", "overspill.atomic_files"},
    "published_files.py": {"overspill.results", "overspill.atomic_files"},
    "paper_page.py": {"overspill.results.line_labels"},
    "paper_report.py": {"overspill.charts", "overspill.report", "overspill.results"},
    "paper_code.py": {"overspill.atomic_files"},
    "plotted_data.py": {"overspill.errors"},
}


def imported_names(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Yields the modules from which a file imports, with the names."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module, [one.name for one in node.names]
        elif isinstance(node, ast.Import):
            yield from ((one.name, []) for one in node.names)


@pytest.mark.parametrize(
    "path",
    [
        *sorted(ENGINE.rglob("*.py")),
        *sorted((ROOT / "papers").rglob("*.py")),
        *sorted((ROOT / "studies").rglob("*.py")),
    ],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_papers_and_studies_use_the_public_interface(path: Path) -> None:
    allowed = {"overspill", "overspill.plots"} | (
        OWN.get(path.name, set()) if path.parent == ENGINE else set()
    )
    for module, names in imported_names(path):
        if not module.startswith("overspill") or module.startswith("overspill.papers"):
            continue
        assert module in allowed, f"{module} is no public module"
        if module == "overspill":
            public = {*overspill.__all__, "papers", "plots", "stats"}
            assert set(names) <= public, f"not public: {sorted(set(names) - public)}"


def test_every_public_name_is_there() -> None:
    assert [name for name in overspill.__all__ if getattr(overspill, name, None) is None] == []
    from overspill import plots

    assert [name for name in plots.__all__ if not hasattr(plots, name)] == []


def argument_names(of: object) -> list[str]:
    """Returns the names of a function's arguments, from the core or from a file."""
    if isinstance(of, ast.FunctionDef):
        return [one.arg for one in of.args.args]
    return list(inspect.signature(of).parameters)  # type: ignore[arg-type]


def test_what_is_said_of_the_core_is_what_it_has() -> None:
    core = importlib.import_module("overspill._core")
    said = ast.parse(Path(overspill.__file__).with_name("_core.pyi").read_text(encoding="utf-8")).body
    functions = {one.name: one for one in said if isinstance(one, ast.FunctionDef)}
    classes = {one.name: one for one in said if isinstance(one, ast.ClassDef) and one.name != "Status"}
    there = {name: value for name, value in vars(core).items() if not name.startswith("_")}
    assert set(functions) | set(classes) == set(there)
    for name, function in functions.items():
        assert argument_names(function) == argument_names(there[name]), name
    for name, one in classes.items():
        methods = {part.name: part for part in one.body if isinstance(part, ast.FunctionDef)}
        public = {part for part in vars(there[name]) if not part.startswith("_")}
        assert set(methods) - {"__init__"} == public, name
        for method, function in methods.items():
            own = there[name] if method == "__init__" else getattr(there[name], method)
            expected = argument_names(function)[1:] if method == "__init__" else argument_names(function)
            assert expected == argument_names(own), f"{name}.{method}"


def test_a_metric_is_asked_for_by_name_and_label(scenario: Path) -> None:
    results = overspill.run(scenario, seeds=2)
    names = results.metric_names
    assert {"size", "traffic", "reason"} <= {key.by for key in names}
    for key in names:
        label = {key.by: key.of} if key.by else {}
        rows = results.metric(key.metric, **label)
        assert rows.num_rows > 0 and set(rows.column("of").to_pylist()) == {key.of}
        assert rows.equals(results.metric(key)) and rows.equals(results.metric(str(key))), (
            "or by the whole name"
        )
        assert results.means(key.metric, **label).equals(results.means(key))
        assert key == overspill.Key(key.metric, **label) == overspill.metrics.key_of_row(rows.to_pylist()[0])
    value = results.values["drop"][1][overspill.Key("fct_p99", size="0-100KB")].value
    first = results.metric("fct_p99", size="0-100KB").to_pylist()[0]
    assert (first["variant"], first["seed"], first["value"]) == ("drop", 1, value)
    assert results.metric("fct_p99", size="none of these").num_rows == 0


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("fct_p9", {}),
        ("nonsense", {}),
        ("", {}),
        ("a[b", {}),
        (None, {}),
        ("fct_p99", {"sise": "0-100KB"}),
        ("fct_p99", {"traffic": 3}),
        ("fct_p99", {"traffic": "a", "size": "b"}),
    ],
)
def test_a_metric_or_a_label_that_there_is_not_is_bad_input(
    name: Any, label: dict[str, Any], scenario: Path
) -> None:
    results = overspill.run(scenario)
    for rows in (results.metric, results.means):
        with pytest.raises(BadInput, match=r"^metric: "):
            rows(name, **label)
