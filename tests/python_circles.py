"""Finds circles of modules in the Python sources, and imports against the order of packages: `make lint`.

Every import counts, including those inside functions and those only for type checkers.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from circles import ROOT, Graph, Name, Use, describe_circle, find_circles

PACKAGE = "overspill"
# Packages, each of which may import those before it only.
PACKAGE_ORDER = ("stats", "results", "engine", "importing", "charts", "report", "tracing", "papers", "cli")


def find_modules(root: Path) -> dict[str, Path]:
    """Returns every module by its full name."""
    found = {}
    for path in root.rglob("*.py"):
        parts = path.relative_to(root.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported_modules(path: Path, name: str, known: dict[str, Path]) -> Iterator[tuple[str, int]]:
    """Yields the modules that a file of this name imports, with the line numbers."""
    here = name.split(".") if path.stem == "__init__" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level + 1] if node.level else []
            module = ".".join([*base, *filter(None, [node.module])])
            whole = [f"{module}.{alias.name}" for alias in node.names]
            names = [one if one in known else module for one in whole]
        yield from ((name, node.lineno) for name in names if name in known)


def build_graph(root: Path) -> Graph:
    """Returns the uses of files by other files."""
    known, found = find_modules(root), Graph()
    for own, path in known.items():
        for name, line in imported_modules(path, own, known):
            if known[name] != path:
                use = Use(path, Name(tuple(name.split(".")), line, declared=True))
                found.setdefault(path, {}).setdefault(known[name], []).append(use)
    return found


def package_of(path: Path, root: Path) -> str:
    """Returns the package directly below the root; empty for the root's own modules."""
    parts = path.relative_to(root).parts
    return parts[0] if len(parts) > 1 else ""


def imports_against_order(uses: Graph, root: Path) -> Iterator[str]:
    """Yields a description of each use of a later package."""
    place = {name: at for at, name in enumerate(PACKAGE_ORDER)}
    for user in sorted(uses):
        for used in sorted(uses[user]):
            ours, theirs = package_of(user, root), package_of(used, root)
            if ours in place and theirs in place and place[theirs] > place[ours]:
                line = uses[user][used][0].path.line
                yield f"{user.relative_to(root.parent)}:{line}: {ours} uses {theirs}, which comes after it"


def main(roots: list[str]) -> int:
    """Prints the faults in these packages and returns their number.

    Without arguments, the packages of the command and of papers are checked.
    """
    found = 0
    ours = [ROOT / "python" / PACKAGE, *sorted(path.parent for path in ROOT.glob("papers/*/paper.toml"))]
    for root in [Path(root).resolve() for root in roots] or ours:
        uses = build_graph(root)
        for circle in find_circles(uses):
            found += 1
            print("\n".join(describe_circle(uses, circle, root.parent)))
        for text in imports_against_order(uses, root):
            found += 1
            print(text)
    return found


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 1))
