"""Check of every point of a grid before the first run, and hashes that identify its variants."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import islice
from tomllib import TOMLDecodeError
from typing import TYPE_CHECKING, Any

from overspill.engine import core, keys, machine
from overspill.engine.grid import Grid
from overspill.engine.interrupts import WAIT
from overspill.engine.memory import Need
from overspill.engine.source import Source
from overspill.errors import BadInput, Failed, bounded
from overspill.results import pointwise
from overspill.results.axes import Point

if TYPE_CHECKING:
    from overspill._core import Scenario

AHEAD = 64  # points checked at a time
TRIES = 5  # attempts to read files that change while they are read
LONGEST_PATH = 300  # characters of a path in an error line of the core
SHOWN = 50  # error lines shown of all points


@dataclass(frozen=True)
class Base:
    """Common parts of all points: the scenario, settings of every point, files, and software."""

    source: Source
    sets: tuple[str, ...]
    files: keys.Files
    build: keys.Build


@dataclass(frozen=True)
class Checked:
    """Result of the check of all points; `configs` has a hash by point and variant."""

    name: str
    seed: int
    variants: list[str]
    points: list[Point]
    configs: list[dict[str, str]]
    named: dict[str, str]  # hashes by file name
    notes: list[str]
    labels: dict[str, str]  # by variant, for those that have one
    need: Need  # memory that the largest run takes, as far as it can be counted
    settings: list[str]  # by point, facts of its variants that warnings need
    only: Facts | None = None  # facts of the only point, if there is one


class Scene:
    """Scenario of a point, read when its first run begins and released after its last."""

    def __init__(
        self, base: Base, point: Point, configs: dict[str, str], made: Scenario | None = None
    ) -> None:
        self.base, self.point, self.configs, self.made = base, point, configs, made
        self.lock = threading.Lock()
        self.files: set[str] = set()

    def get(self) -> Scenario:
        """Returns the scenario; raises `Failed` if it is not the one that was checked."""
        with self.lock:
            if self.made is None:
                made, document, named = read(self.base, self.point)
                found = {}
                for name in self.configs:
                    resolved = document["resolved"][name]
                    files = named[name]
                    self.files |= set(files)
                    known = keys.whole(made, name, resolved)
                    found[name] = keys.config(known, files, self.base.build)
                if found != self.configs:
                    raise Failed("a file that the scenario names changed during the sweep")
                self.made = made
            return self.made


def read(base: Base, point: Point) -> tuple[Scenario, dict[str, Any], dict[str, dict[str, str]]]:
    """Returns a point's scenario, its resolved document, and the files named by each variant with hashes.

    The files are those that the scenario was read from: if one changes meanwhile, all is read again.
    """
    sets = [*base.sets, *point.sets]
    names = mentioned(base.source, sets)
    for _ in range(TRIES):
        before = {name: base.files.stamp(name) for name in names}
        made = core.scenario(base.source.path, base.source.text, sets)
        document = core.document(made)
        files = {name: base.files.named(one) for name, one in document["resolved"].items()}
        if all(base.files.stamp(name) == known for name, known in before.items()):
            return made, document, files
    raise Failed("a file that the scenario names changes while it is read")


def mentioned(source: Source, sets: Sequence[str]) -> set[str]:
    """Returns every text of a scenario that may name a file."""
    try:
        found = set(keys.texts(core.parsed(source.path, source.text)))
    except TOMLDecodeError:
        found = set()  # the core reports the error
    return found | {one.partition("=")[2].strip().strip("\"'") for one in sets}


@dataclass
class Facts:
    """Facts of a point that its check keeps."""

    point: Point
    document: dict[str, Any]
    configs: dict[str, str]
    files: dict[str, str]
    settings: str
    made: Scenario | None = None


def examine(base: Base, point: Point, only: bool = False) -> Facts | tuple[Point, list[str]]:
    """Returns the facts of a point, or its error lines; only a single point keeps its scenario."""
    try:
        made, document, files = read(base, point)
    except BadInput as error:
        return point, error.lines
    configs = {
        name: keys.config(keys.whole(made, name, one), files[name], base.build)
        for name, one in document["resolved"].items()
    }
    every = {name: found for one in files.values() for name, found in one.items()}
    # Thousands of points differ in one value: most of these texts are equal, and share one object.
    settings = sys.intern(pointwise.settings(document))
    if only:
        return Facts(point, document, configs, every, settings, made)
    few = {key: document.get(key) for key in ("name", "seed", "variants", "labels", "notes")}
    few["run_bytes"] = document.get("run_bytes", {})
    return Facts(point, few, configs, every, settings)


def check(base: Base, grid: Grid, wanted: Sequence[str] | None, seen: Callable[[int], None]) -> Checked:
    """Checks every point; raises `BadInput` with all errors of all points."""
    found: list[Facts] = []
    wrong: dict[str, list[Point]] = {}
    for one in examined(base, grid, seen):
        if isinstance(one, Facts):
            found.append(one)
        else:
            for line in one[1]:
                wrong.setdefault(line, []).append(one[0])
    if wrong:
        raise BadInput(first_lines(wrong, grid))
    first = found[0].document
    variants = chosen(first["variants"], wanted)
    for one in found:
        if one.document["variants"] != first["variants"]:
            raise BadInput(f"--over: at {one.point}: found other variants; expected the same at every point")
    notes: dict[str, int] = {}
    others = tuple(f"{name}: " for name in first["variants"] if name not in variants)
    for one in found:
        for note in dict.fromkeys(general(str(note), grid) for note in one.document["notes"] or ()):
            if not note.startswith(others):
                notes[note] = notes.get(note, 0) + 1
    return Checked(
        str(first["name"]),
        int(first["seed"]),
        variants,
        [one.point for one in found],
        [{name: one.configs[name] for name in variants} for one in found],
        dict(sorted({name: digest for one in found for name, digest in one.files.items()}.items())),
        [
            note if count == len(found) else f"{note} (at {count} of {len(found)} points)"
            for note, count in notes.items()
        ],
        {name: text for name, text in (first.get("labels") or {}).items() if name in variants},
        max(
            (Need.read(one.document.get("run_bytes", {}).get(name)) for one in found for name in variants),
            key=lambda need: need.all,
        ),
        [one.settings for one in found],
        found[0] if len(found) == 1 else None,
    )


def general(note: str, grid: Grid) -> str:
    """Returns a note about one value of an axis as a note about the axis."""
    for axis, given in zip(grid.axes, grid.given, strict=True):
        for value in given:
            prefix = f"--set {axis.path}={value}: "
            if note.startswith(prefix):
                return f"--over {axis.path}: {note.removeprefix(prefix)}"
    return note


def examined(
    base: Base, grid: Grid, seen: Callable[[int], None]
) -> Iterator[Facts | tuple[Point, list[str]]]:
    """Yields the checked points in order, several checked in parallel, since the core releases the GIL."""
    points, count = grid.points(), 0
    pool = ThreadPoolExecutor(machine.cores())
    try:
        while some := list(islice(points, AHEAD)):
            left = {pool.submit(examine, base, point, len(grid) == 1): None for point in some}
            while (going := wait(left, timeout=WAIT)).not_done:
                seen(count + len(going.done))
            yield from (future.result() for future in left)
            count += len(some)
            seen(count)
    except BaseException:
        # Ctrl-C does not wait for a point that takes long.
        machine.leave(pool, at_once=True)
        raise
    machine.leave(pool, at_once=False)


def chosen(variants: Sequence[str], wanted: Sequence[str] | None) -> list[str]:
    """Returns the requested variants in the order of the file; raises `BadInput` if one is unknown."""
    if wanted is None:
        return list(variants)
    unknown = [name for name in wanted if name not in variants]
    if unknown or not wanted:
        found = unknown[0] if unknown else "nothing"
        raise BadInput(f"--variants: found {found}; expected some of {', '.join(variants)}")
    twice = [name for name in wanted if wanted.count(name) > 1]
    if twice:
        raise BadInput(f"--variants: found {twice[0]} twice; expected each variant once")
    return [name for name in variants if name in wanted]


def first_lines(wrong: Mapping[str, Sequence[Point]], grid: Grid) -> list[str]:
    """Returns the first error lines with their points, and the number of further ones."""
    shown = [locate_error(line, points, grid) for line, points in islice(wrong.items(), SHOWN)]
    return [*shown, f"and {len(wrong) - SHOWN} more"] if len(wrong) > SHOWN else shown


def locate_error(line: str, points: Sequence[Point], grid: Grid) -> str:
    """Returns an error line with its place: the values of its point, or the number of points."""
    for axis in grid.axes:
        prefix = f"--set: {bounded(axis.path, LONGEST_PATH + 1)}: "
        if line.startswith(prefix):
            line = f"--over: {axis.path}: {line.removeprefix(prefix)}"
            break
    if len(points) == len(grid):
        return line
    if len(points) == 1:
        return f"{line} (at {points[0]})"
    return f"{line} (at {len(points)} of {len(grid)} points, first {points[0]})"
