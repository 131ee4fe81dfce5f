"""Finds modules that differ by one inflection, and meaningless names of functions and types: `make lint`."""

import ast
import re
import sys
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

from circles import ROOT

# English endings that do not distinguish names.
ENDING_PATTERN = re.compile(r"(?<=...)(ing|ed|er|es|s|e|t|n)$")
MEANINGLESS_NAMES = re.compile(
    "told|tells|same|of|one|lay|laid|brought|meant|noted|unasked|lying|chosen|spaced|shaken|heard|farthest|ahead|"
    "alike|best|sides|wanted|hear|mend|asks|these|it|beside|anew|twins|deaf|hush|around|"
    "Brought|Wrong|Given|Lying|Said|Least|Way|What|Who|Tried|Uncut|Filled|Alone|Wanted|"
    "Told|Heard|Stays|Reach|Spot|Wants|Deaf|Says|Before|"
    "compared|asked|left|others|spots|watched|performed|listed|found|everything|swept|beyond|apart|hanging|"
    "Asked|Works|Looked|How|Noted|Again|Moved|Shown|Found|Ran|Decided|Judged|Planned|Forgiving|Spoken"
)
RUST_DEFINITION = re.compile(
    r"^\s*(?:pub(?:\(.*?\))? )?(?:(?:const|async|unsafe) )*(?:fn|struct|enum|trait|type) (\w+)", re.M
)


def stem(name: str) -> str:
    """Returns the word without its ending; a doubled letter before it counts once."""
    for _ in range(2):
        name = ENDING_PATTERN.sub("", name)
    return re.sub(r"(.)\1$", r"\1", name)


def iterate_folders(folder: Path) -> Iterator[tuple[str, list[Path]]]:
    """Yields folders of sources with the modules of each; a folder of modules is one module."""
    places = {path.parent for path in folder.rglob("*") if path.suffix in (".py", ".rs")}
    for place in sorted(places):
        found = [path for path in place.iterdir() if path.suffix in (".py", ".rs") or path in places]
        yield place.relative_to(ROOT).as_posix(), sorted(found)


def similar_modules(paths: list[Path]) -> Iterator[str]:
    """Yields pairs of modules of a folder whose names have the same stem."""
    for one, other in combinations(paths, 2):
        if one.stem != other.stem and stem(one.stem) == stem(other.stem):
            yield f"{one.name} and {other.name} are one inflection apart"


def functions_and_types(path: Path) -> list[tuple[str, int]]:
    """Returns the names of functions and types in a file, and their lines."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".rs":
        return [
            (found[1], text.count("\n", 0, found.start(1)) + 1) for found in RUST_DEFINITION.finditer(text)
        ]
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, kinds)]
    return [(node.name, node.lineno) for node in nodes if not is_former(node)]


def is_former(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    """Returns true if a function is an alias from the last release, which warns."""
    return (ast.get_docstring(node) or "").startswith("Deprecated name of")


def main(folders: list[str]) -> int:
    """Prints the faults in these folders, or in all sources, and returns their number."""
    found = 0
    ours = [*ROOT.glob("crates/*/src"), ROOT / "python/overspill", ROOT / "papers", ROOT / "studies"]
    for folder in [Path(one).resolve() for one in folders] or ours:
        for place, paths in iterate_folders(folder):
            lines = [f"{place}: {text}" for text in similar_modules(paths)]
            for path in filter(Path.is_file, paths):
                lines += [
                    f"{path.relative_to(ROOT)}:{line}: the name {name} does not say what it names"
                    for name, line in functions_and_types(path)
                    if MEANINGLESS_NAMES.fullmatch(name)
                ]
            found += len(lines)
            print("\n".join(lines), end="\n" if lines else "")
    return found


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 1))
