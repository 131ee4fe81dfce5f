"""Papers and studies use what any user may: the package's own names, `plots`, and what papers share."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import overspill

ROOT = Path(__file__).parents[2]
PAPERS = ROOT / "python/overspill/papers"
# What reads papers and writes their pages is part of the command.
OWN = {
    "reader.py": {"overspill.engine.source"},
    "write.py": {"overspill.charts", "overspill.report", "overspill.results"},
    "report.py": {"overspill.charts", "overspill.report", "overspill.results"},
}


def imported(path: Path) -> Iterator[tuple[str, list[str]]]:
    """The modules that a file imports from, with the names."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module, [one.name for one in node.names]
        elif isinstance(node, ast.Import):
            yield from ((one.name, []) for one in node.names)


@pytest.mark.parametrize(
    "path",
    [*sorted(PAPERS.rglob("*.py")), *sorted((ROOT / "studies").glob("*.py"))],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_papers_and_studies_use_the_public_interface(path: Path) -> None:
    allowed = {"overspill", "overspill.plots"} | (
        OWN.get(path.name, set()) if path.parent == PAPERS else set()
    )
    for module, names in imported(path):
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
