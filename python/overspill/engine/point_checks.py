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
from overspill.engine.interrupts import POLLING_INTERVAL
from overspill.engine.memory import MemoryNeed
from overspill.engine.source import Source
from overspill.errors import BadInput, Failed, cut_user_text
from overspill.grouping import group_by_key
from overspill.results import pointwise_lines, results_folder
from overspill.results.axes import Point

if TYPE_CHECKING:
    from overspill._core import Scenario

MAX_POINTS_AHEAD = 64  # points checked at a time
MAX_READS = 5  # attempts to read files that change while they are read
MAX_PATH_LENGTH = 300  # characters of a path in an error line of the core
MAX_ERRORS_SHOWN = 50  # error lines shown of all points
ADVICE_START = " (did you mean "  # beginning of the core's advice on a value


@dataclass(frozen=True)
class CommonInputs:
    """Common parts of all points: the scenario, settings of every point, files, and software."""

    source: Source
    sets: tuple[str, ...]
    files: keys.FileHashes
    build: keys.Build


@dataclass(frozen=True)
class CheckedPoints:
    """Result of the check of all points; `configs` has a hash by point and variant."""

    name: str
    seed: int
    variants: list[str]
    points: list[Point]
    configs: list[dict[str, str]]
    files_named: dict[str, str]  # hashes by file name
    notes: list[str]
    labels: dict[str, str]  # by variant, for those that have one
    need: MemoryNeed  # memory that the largest run takes, as far as it can be counted
    settings: list[str]  # by point, facts of its variants that warnings need
    single_point: PointFacts | None = None  # facts of the only point, if there is one


class PointScenario:
    """Scenario of a point, read when its first run begins and released after its last."""

    def __init__(
        self, base: CommonInputs, point: Point, configs: dict[str, str], made: Scenario | None = None
    ) -> None:
        self.base, self.point, self.configs, self.made = base, point, configs, made
        self.lock = threading.Lock()
        self.files: set[str] = set()

    def load(self) -> Scenario:
        """Returns the scenario; raises `Failed` if it is not the one that was checked."""
        with self.lock:
            if self.made is None:
                made, document, named = read_point(self.base, self.point)
                found = {}
                for name in self.configs:
                    resolved = document["resolved"][name]
                    files = named[name]
                    self.files |= set(files)
                    known = keys.with_network_hash(made, name, resolved)
                    found[name] = keys.config_digest(known, files, self.base.build)
                if found != self.configs:
                    raise Failed(
                        "a file named in the scenario has changed during the sweep; run the command again"
                    )
                self.made = made
            return self.made


def read_point(
    base: CommonInputs, point: Point
) -> tuple[Scenario, dict[str, Any], dict[str, dict[str, str]]]:
    """Returns a point's scenario, its resolved document, and the files named by each variant with hashes.

    The files are those that the scenario was read from: if one changes meanwhile, all is read again.
    """
    sets = [*base.sets, *point.sets]
    names = mentioned_texts(base.source, sets)
    for _ in range(MAX_READS):
        before = {name: base.files.stamp(name) for name in names}
        made = core.load_scenario(base.source.path, base.source.text, sets)
        document = core.document_of(made)
        files = {name: base.files.hashes_of_named_files(one) for name, one in document["resolved"].items()}
        if all(base.files.stamp(name) == known for name, known in before.items()):
            return made, document, files
    raise Failed("a file that the scenario names changes while it is read; run the command again")


def mentioned_texts(source: Source, sets: Sequence[str]) -> set[str]:
    """Returns every text of a scenario that may name a file."""
    try:
        found = set(keys.iterate_texts(core.parse_toml(source.path, source.text)))
    except TOMLDecodeError:
        found = set()  # the core reports the error
    return found | {one.partition("=")[2].strip().strip("\"'") for one in sets}


@dataclass
class PointFacts:
    """Facts of a point that its check keeps: values, document, hashes of variants and files, settings."""

    point: Point
    document: dict[str, Any]
    configs: dict[str, str]
    files: dict[str, str]
    settings: str
    scenario: Scenario | None = None


def check_point(base: CommonInputs, point: Point, only: bool = False) -> PointFacts | tuple[Point, list[str]]:
    """Checks a point; returns its facts or error lines. Facts of an `only` point include its scenario."""
    try:
        made, document, files = read_point(base, point)
    except BadInput as error:
        return point, error.lines
    configs = {
        name: keys.config_digest(keys.with_network_hash(made, name, one), files[name], base.build)
        for name, one in document["resolved"].items()
    }
    every = {name: found for one in files.values() for name, found in one.items()}
    # Most points of a grid have equal texts here. Interned texts share one object, which saves memory with
    # thousands of points.
    settings = sys.intern(pointwise_lines.settings_for_lines(document))
    if only:
        return PointFacts(point, document, configs, every, settings, made)
    few = {key: document.get(key) for key in ("name", "seed", "variants", "labels", "notes")}
    few["run_bytes"] = document.get("run_bytes", {})
    return PointFacts(point, few, configs, every, settings)


def check_points(
    base: CommonInputs, grid: Grid, wanted: Sequence[str] | None, seen: Callable[[int], None]
) -> CheckedPoints:
    """Checks the scenario at every point; raises `BadInput` with all errors of all points."""
    found: list[PointFacts] = []
    wrong: dict[str, list[Point]] = {}
    for one in iterate_checked_points(base, grid, seen):
        if isinstance(one, PointFacts):
            found.append(one)
        else:
            for line in one[1]:
                wrong.setdefault(line, []).append(one[0])
    if wrong:
        raise BadInput(first_error_lines(wrong, grid))
    first = found[0].document
    variants = select_variants(first["variants"], wanted)
    results_folder.refuse_equal_paths("--variants", variants)
    for one in found:
        if one.document["variants"] != first["variants"]:
            raise BadInput(f"--over: at {one.point}: found other variants; expected the same at every point")
    notes: dict[str, list[Point]] = {}
    others = tuple(f"{name}: " for name in first["variants"] if name not in variants)
    for one in found:
        for note in dict.fromkeys(generalise_note(str(note), grid) for note in one.document["notes"] or ()):
            if not note.startswith(others):
                notes.setdefault(note, []).append(one.point)
    return CheckedPoints(
        str(first["name"]),
        int(first["seed"]),
        variants,
        [one.point for one in found],
        [{name: one.configs[name] for name in variants} for one in found],
        dict(sorted({name: digest for one in found for name, digest in one.files.items()}.items())),
        [name_points(note, points, len(grid)) for note, points in notes.items()],
        {name: text for name, text in (first.get("labels") or {}).items() if name in variants},
        max(
            (
                MemoryNeed.from_core(one.document.get("run_bytes", {}).get(name))
                for one in found
                for name in variants
            ),
            key=lambda need: need.total,
        ),
        [one.settings for one in found],
        found[0] if len(found) == 1 else None,
    )


def generalise_note(note: str, grid: Grid) -> str:
    """Returns a note about one value of an axis, reworded as a note about the axis."""
    for axis, given in zip(grid.axes, grid.given, strict=True):
        for value in given:
            prefix = f"--set {axis.path}={value}: "
            if note.startswith(prefix):
                return f"--over {axis.path}: {note.removeprefix(prefix)}"
    return note


def iterate_checked_points(
    base: CommonInputs, grid: Grid, seen: Callable[[int], None]
) -> Iterator[PointFacts | tuple[Point, list[str]]]:
    """Yields the checked points in order, several checked in parallel, since the core releases the GIL."""
    points, count = grid.points(), 0
    pool = ThreadPoolExecutor(machine.count_cores())
    try:
        while some := list(islice(points, MAX_POINTS_AHEAD)):
            left = {pool.submit(check_point, base, point, len(grid) == 1): None for point in some}
            while (going := wait(left, timeout=POLLING_INTERVAL)).not_done:
                seen(count + len(going.done))
            yield from (future.result() for future in left)
            count += len(some)
            seen(count)
    except BaseException:
        # After Ctrl-C, the command must not wait for a point whose check takes long.
        machine.shut_down_pool(pool, at_once=True)
        raise
    machine.shut_down_pool(pool, at_once=False)


def select_variants(variants: Sequence[str], wanted: Sequence[str] | None) -> list[str]:
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


def first_error_lines(wrong: Mapping[str, Sequence[Point]], grid: Grid) -> list[str]:
    """Returns the first error lines with their points, and the number of further ones.

    Lines that differ only in the swept value are shown once, with the value and the advice of the first.
    """
    alike = group_by_key((drop_swept_value(line, points[0]), line) for line, points in wrong.items())
    shown = []
    for first, *others in islice(alike.values(), MAX_ERRORS_SHOWN):
        points = [point for line in (first, *others) for point in wrong[line]]
        shown.append(
            f"{name_option(first, grid)} {format_points(points, len(grid))}"
            if others
            else locate_error(first, points, grid)
        )
    return [*shown, f"and {len(alike) - MAX_ERRORS_SHOWN} more"] if len(alike) > MAX_ERRORS_SHOWN else shown


def drop_swept_value(line: str, point: Point) -> str:
    """Returns an error line without the point's value that it reports, and without advice on that value."""
    for path, text in point.values.items():
        start = f"--set: {path}: found "
        for shown in (f'{start}"{text}"', f"{start}{text}"):
            if line.startswith(shown):
                return start + line.removeprefix(shown).partition(ADVICE_START)[0]
    return line


def locate_error(line: str, points: Sequence[Point], grid: Grid) -> str:
    """Returns an error line with its points, and with the option that sets their values."""
    return name_points(name_option(line, grid), points, len(grid))


def name_option(line: str, grid: Grid) -> str:
    """Returns an error line with the option that sets the swept value."""
    for axis in grid.axes:
        # An error about a table names the part of the path that leads to it.
        path = cut_user_text(axis.path, MAX_PATH_LENGTH + 1)
        steps = path.split(".")
        leading = [".".join(steps[:count]) for count in range(1, len(steps))]
        named = next((one for one in (path, *leading) if line.startswith(f"--set: {one}: ")), None)
        if named is not None:
            shown = axis.path if named == path else named
            return f"--over: {shown}: {line.removeprefix(f'--set: {named}: ')}"
    return line


def name_points(line: str, points: Sequence[Point], count: int) -> str:
    """Returns a line with its points, of `count` in total; a line that concerns all points names none."""
    if len(points) == count:
        return line
    if len(points) == 1:
        return f"{line} (at {points[0]})"
    return f"{line} {format_points(points, count)}"


def format_points(points: Sequence[Point], count: int) -> str:
    """Formats the first of several points, and their number, of `count` in total."""
    return f"(at {len(points)} of {count} points, first {points[0]})"
