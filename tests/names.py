"""Finds modules that differ by one inflection, and functions with meaningless names: `make lint`."""

import ast
import re
import sys
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

from circles import ROOT

# English endings that do not distinguish names.
ENDING = re.compile(r"(?<=...)(ing|ed|er|es|s|e|t|n)$")
SAYS_NOTHING = ("told", "of", "one")
RUST = re.compile(r"\bfn (\w+)")


def stem(name: str) -> str:
    """Returns the word without its ending; a doubled letter before it counts once."""
    for _ in range(2):
        name = ENDING.sub("", name)
    return re.sub(r"(.)\1$", r"\1", name)


def modules(folder: Path) -> Iterator[tuple[str, list[Path]]]:
    """Yields folders of sources with the modules of each; a folder of modules is one module."""
    places = {path.parent for path in folder.rglob("*") if path.suffix in (".py", ".rs")}
    for place in sorted(places):
        found = [path for path in place.iterdir() if path.suffix in (".py", ".rs") or path in places]
        yield place.relative_to(ROOT).as_posix(), sorted(found)


def alike(paths: list[Path]) -> Iterator[str]:
    """Yields pairs of modules of a folder whose names have the same stem."""
    for one, other in combinations(paths, 2):
        if one.stem != other.stem and stem(one.stem) == stem(other.stem):
            yield f"{one.name} and {other.name} are one inflection apart"


def functions(path: Path) -> list[tuple[str, int]]:
    """Returns the names of functions in a file, and their lines."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".rs":
        return [(found[1], text.count("\n", 0, found.start()) + 1) for found in RUST.finditer(text)]
    nodes = [
        node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return [(node.name, node.lineno) for node in nodes if not is_former(node)]


def is_former(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Returns true if a function is an alias from the last release, which warns."""
    return (ast.get_docstring(node) or "").startswith("The former name of")


def main(folders: list[str]) -> int:
    """Prints the faults in these folders, or in all sources, and returns their number."""
    found = 0
    ours = [*ROOT.glob("crates/*/src"), ROOT / "python/overspill", ROOT / "papers", ROOT / "studies"]
    for folder in [Path(one).resolve() for one in folders] or ours:
        for place, paths in modules(folder):
            lines = [f"{place}: {text}" for text in alike(paths)]
            for path in filter(Path.is_file, paths):
                lines += [
                    f"{path.relative_to(ROOT)}:{line}: a function named {name} does not say what it does"
                    for name, line in functions(path)
                    if name in SAYS_NOTHING
                ]
            found += len(lines)
            print("\n".join(lines), end="\n" if lines else "")
    return found


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 1))
