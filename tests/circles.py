"""Finds circles of files in the Rust crates; part of `make lint`.

A module uses another if a path in its code leads to an item that the other defines. A path is a `use`, or any
path from `crate`, `super`, `self` or a module's name. A re-export is followed to the definition. Code under
`#[cfg(test)]` does not count.

A file and everything under it is one unit. Modules are compared level by level: a use between two modules is
one between the two units that contain them beneath their nearest common parent. So uses between a parent and
its own submodules never count. A circle is a set of units beneath one parent that all reach each other.
Methods and macros are not seen: a path must name a module, or an item in it.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
TOKEN_PATTERN = re.compile(
    r"""(?P<space>\s+|//[^\n]*)
    | (?P<comment>/\*)
    | (?P<string>b?r(?P<hash>\#*)"(?s:.*?)"(?P=hash)
               | [bc]?"(?:[^"\\]|\\(?s:.))*" | b?'(?:[^'\\\n]|\\[^\n]+?)')
    | (?P<name>(?:r\#)?[A-Za-z_]\w*)
    | (?P<mark>'[A-Za-z_]\w* | :: | [0-9][\w.]* | .)""",
    re.VERBOSE,
)
DEFINING_KEYWORDS = {"fn", "struct", "enum", "trait", "type", "const", "static", "union"}
ITEM_KEYWORDS = DEFINING_KEYWORDS | {"mod", "use", "impl", "pub", "macro_rules", "unsafe", "async", "extern"}


class Token(NamedTuple):
    text: str
    line: int


class Name(NamedTuple):
    """A path as written: its segments, and the line of the first one."""

    segments: tuple[str, ...]
    line: int
    declared: bool = False  # true if the path is in a `use`


@dataclass
class Module:
    """A module, in a file of its own or inside its parent's."""

    file: Path
    parent: "Module | None" = None
    children: dict[str, "Module"] = field(default_factory=dict)
    defined: set[str] = field(default_factory=set)
    imported: dict[str, Name] = field(default_factory=dict)
    globs: list[Name] = field(default_factory=list)
    paths: list[Name] = field(default_factory=list)

    def lineage(self) -> list["Module"]:
        """Modules from the crate's root to this one; a module inside its parent's file is no unit."""
        above = self.parent.lineage() if self.parent else []
        return above if self.parent and self.parent.file == self.file else [*above, self]


class Use(NamedTuple):
    """Use of one unit by another: the file and the path in it."""

    file: Path
    path: Name


def tokenise(source: str) -> list[Token]:
    """Returns names and marks of a source; comments and blanks are removed, and a string is one mark."""
    found, at, line = [], 0, 1
    while at < len(source):
        match = TOKEN_PATTERN.match(source, at)
        assert match is not None
        end = find_comment_end(source, at) if match["comment"] else match.end()
        if match["name"] or match["mark"]:
            found.append(Token(match[0].removeprefix("r#"), line))
        elif match["string"]:
            found.append(Token('"', line))
        line += source.count("\n", at, end)
        at = end
    return found


def find_comment_end(source: str, at: int) -> int:
    """Returns the end of a block comment; block comments nest."""
    depth = 0
    for mark in re.finditer(r"/\*|\*/", source[at:]):
        depth += 1 if mark[0] == "/*" else -1
        if not depth:
            return at + mark.end()
    return len(source)


class Reader:
    """Reads a file's tokens into its module, and the files that it declares."""

    def __init__(self, module: Module, folder: Path) -> None:
        self.module, self.folder = module, folder
        self.tokens = tokenise(module.file.read_text())
        self.at = 0

    def read(self) -> Module:
        while self.at < len(self.tokens):
            self.step()
        return self.module

    def text(self, ahead: int = 0) -> str:
        at = self.at + ahead
        return self.tokens[at].text if at < len(self.tokens) else ""

    def step(self) -> None:
        word = self.text()
        if word == "#" and self.text(1) == "[":
            self.attribute()
        elif word == "mod" and self.text(2) in (";", "{"):
            self.submodule()
        elif word == "use" and self.text(1) != "<":  # `use<'a>` bounds a type
            self.at += 1
            self.tree(())
        elif word in DEFINING_KEYWORDS and self.text(1).isidentifier():
            self.module.defined.add(self.text(1))
            self.at += 2
        elif word.isidentifier() and self.text(1) == "::":
            self.module.paths.append(self.path())
        else:
            self.at += 1

    def attribute(self) -> None:
        start = self.at
        self.at += 1
        self.group()
        if [token.text for token in self.tokens[start : self.at]] == ["#", "[", "cfg", "(", "test", ")", "]"]:
            while self.text() == "#":
                self.at += 1
                self.group()
            self.skip_item()

    def group(self) -> None:
        """Skips a bracket and all its contents."""
        depth = 0
        while self.at < len(self.tokens):
            depth += (self.text() in "([{") - (self.text() in ")]}")
            self.at += 1
            if not depth:
                return

    def skip_item(self) -> None:
        """Skips an item, a field, an arm or a statement."""
        item = self.text() in ITEM_KEYWORDS
        braces_end = item and self.text() != "use"
        while self.at < len(self.tokens) and self.text() not in ")]}":
            word = self.text()
            if word in ("(", "[", "{"):
                self.group()
                if word == "{" and braces_end:
                    return
            else:
                self.at += 1
                if word == ";" or (word == "," and not item):
                    return

    def submodule(self) -> None:
        name, inline = self.text(1), self.text(2) == "{"
        self.at += 3
        if inline:
            outer, folder, depth = self.module, self.folder, 1
            self.module = outer.children.setdefault(name, Module(outer.file, outer))
            self.folder = folder / name
            while depth and self.at < len(self.tokens):
                depth += (self.text() == "{") - (self.text() == "}")
                if depth:
                    self.step()
            self.module, self.folder = outer, folder
            self.at += 1
            return
        file = self.folder / f"{name}.rs"
        if not file.exists():
            file = self.folder / name / "mod.rs"
        self.module.children[name] = Reader(Module(file, self.module), self.folder / name).read()

    def path(self) -> Name:
        line, segments = self.tokens[self.at].line, [self.text()]
        while self.text(1) == "::" and self.text(2).isidentifier():
            self.at += 2
            segments.append(self.text())
        self.at += 1
        return Name(tuple(segments), line)

    def tree(self, prefix: tuple[str, ...]) -> None:
        """Reads the paths that a `use` names: a path, `path as name`, `path::*`, `path::{...}`."""
        if self.text() == "::":
            self.at += 1
        line = self.tokens[self.at].line
        segments = list(prefix)
        while self.text().isidentifier():
            segments.append(self.text())
            self.at += 1
            if self.text() != "::":
                break
            self.at += 1
        if self.text() == "{":
            self.at += 1
            while self.text() != "}":
                self.tree(tuple(segments))
                self.at += self.text() == ","
            self.at += 1
            return
        if self.text() == "*":
            self.at += 1
            self.module.globs.append(Name(tuple(segments), line, declared=True))
            return
        if segments[-1] == "self" and len(segments) > 1:
            segments.pop()
        name = segments[-1]
        if self.text() == "as":
            name = self.text(1)
            self.at += 2
        whole = Name(tuple(segments), line, declared=True)
        self.module.imported[name] = whole
        self.module.paths.append(whole)


def resolve_path(
    module: Module, segments: tuple[str, ...], seen: frozenset[tuple[int, str]] = frozenset()
) -> Module | None:
    """Returns the module that defines the item at a path; `None` if it is in another crate, or no module."""
    first, rest = segments[0], segments[1:]
    at: Module | None
    if first == "crate":
        at = root_module(module)
    elif first == "self":
        at = module
    elif first == "super":
        at = module.parent
    else:
        return resolve_inside(module, segments, seen)
    return resolve_inside(at, rest, seen) if at and rest else at


def resolve_inside(
    module: Module, segments: tuple[str, ...], seen: frozenset[tuple[int, str]]
) -> Module | None:
    """Resolves a path inside a module: its own items, its imports, and items of globs."""
    first, rest = segments[0], segments[1:]
    if first == "super":
        return resolve_inside(module.parent, rest, seen) if module.parent and rest else module.parent
    if first in module.children:
        child = module.children[first]
        return resolve_inside(child, rest, seen) or child if rest else child
    if first in module.defined:
        return module
    if (id(module), first) in seen:
        return None
    seen = seen | {(id(module), first)}
    if first in module.imported:
        return resolve_path(module, module.imported[first].segments + rest, seen)
    for glob in module.globs:
        target = resolve_path(module, glob.segments, seen)
        found = resolve_inside(target, segments, seen) if target else None
        if found:
            return found
    return None


def root_module(module: Module) -> Module:
    return root_module(module.parent) if module.parent else module


def iterate_modules(module: Module) -> Iterator[Module]:
    yield module
    for child in module.children.values():
        yield from iterate_modules(child)


Graph = dict[Path, dict[Path, list[Use]]]


def build_graph(crate: Module) -> Graph:
    """Returns the units that use each other, by their files, with the uses."""
    found: Graph = {}
    for module in iterate_modules(crate):
        for path in module.paths:
            target = resolve_path(module, path.segments)
            pair = separate_files(module, target) if target else None
            if pair:
                found.setdefault(pair[0], {}).setdefault(pair[1], []).append(Use(module.file, path))
    return found


def separate_files(user: Module, used: Module) -> tuple[Path, Path] | None:
    """Returns the two units beneath the nearest common parent.

    The result is `None` if one is above the other, or if both are one unit.
    """
    for one, other in zip(user.lineage(), used.lineage(), strict=False):
        if one is not other:
            return one.file, other.file
    return None


def find_circles(uses: Graph) -> list[list[Path]]:
    """Returns sets of units that all reach each other, with the shortest cycle first in each."""
    left, found = set(uses), []
    while left:
        start = min(left)
        around = {unit for unit in reachable_files(uses, [start]) if start in reachable_files(uses, [unit])}
        if around:
            found.append(sorted(around))
        left -= around | {start}
    return found


def reachable_files(uses: Graph, starts: Iterable[Path]) -> set[Path]:
    """Returns the units that some of these use, directly or indirectly."""
    todo, found = list(starts), set()
    while todo:
        for unit in uses.get(todo.pop(), {}):
            if unit not in found:
                found.add(unit)
                todo.append(unit)
    return found


def shortest_circle(uses: Graph, circle: list[Path]) -> list[Path]:
    """Returns the shortest cycle within a circle; its first unit is its last."""
    ways = []
    for start in circle:
        queue: list[list[Path]] = [[start]]
        seen: set[Path] = set()
        while queue:
            way = queue.pop(0)
            for unit in sorted(uses.get(way[-1], {})):
                if unit == start:
                    ways.append([*way, unit])
                    queue.clear()
                    break
                if unit in circle and unit not in seen:
                    seen.add(unit)
                    queue.append([*way, unit])
    return min(ways, key=len)


def describe_circle(uses: Graph, circle: list[Path], base: Path) -> Iterator[str]:
    """Describes a circle: its files, then each step of the shortest cycle with the lines that cause it."""
    names = ", ".join(str(path.relative_to(base)) for path in circle)
    yield f"{len(circle)} files use each other in a circle: {names}"
    way = shortest_circle(uses, circle)
    for user, used in pairwise(way):
        yield f"  {user.relative_to(base)} uses {used.relative_to(base)}:"
        found = uses[user][used]
        for use in [use for use in found if use.path.declared] or found:
            yield f"    {use.file.relative_to(base)}:{use.path.line}: {'::'.join(use.path.segments)}"


def parse_crate(file: Path) -> Module:
    return Reader(Module(file), file.parent).read()


def main(files: list[str]) -> int:
    """Prints the circles of these crates, or of all in `crates`, and returns their number."""
    found = 0
    for file in [Path(file).resolve() for file in files] or sorted(ROOT.glob("crates/*/src/lib.rs")):
        uses = build_graph(parse_crate(file))
        for circle in find_circles(uses):
            found += 1
            print("\n".join(describe_circle(uses, circle, file.parents[2])))
    return found


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 1))
