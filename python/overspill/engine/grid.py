"""Axes of a sweep, and the points of their grid."""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from overspill.engine import axis_values, toml_values
from overspill.errors import BadInput, check_text
from overspill.results.axes import Axis, Point

MAX_POINTS = 100_000
UNSWEEPABLE_KEYS = ("name", "description")
RESERVED_COLUMNS = (
    *("variant", "seed", "metric", "by", "of", "unit", "value", "censored"),
    *("n", "mean", "ci95", "low", "high"),
)

SweptValues = Mapping[str, object] | Iterable[str]


@dataclass(frozen=True)
class Grid:
    """Axes of a sweep, in groups: axes of one group vary together, and groups are crossed."""

    axes: list[Axis]
    given: list[list[str]]  # values of each axis, in the form that the core takes
    groups: list[list[int]]

    def __len__(self) -> int:
        return math.prod(len(self.given[group[0]]) for group in self.groups)

    def points(self) -> Iterator[Point]:
        """Yields every point; the last group of axes changes fastest."""
        ranges = (range(len(self.given[group[0]])) for group in self.groups)
        for index, chosen in enumerate(itertools.product(*ranges)):
            at = {axis: one for group, one in zip(self.groups, chosen, strict=True) for axis in group}
            order = range(len(self.axes))
            texts = {self.axes[axis].path: self.axes[axis].texts[at[axis]] for axis in order}
            sets = tuple(f"{self.axes[axis].path}={self.given[axis][at[axis]]}" for axis in order)
            yield Point(index, texts, sets)


def build_grid(over: SweptValues, zips: Iterable[str | Sequence[str]] = (), single: bool = False) -> Grid:
    """Returns the grid for `path=a,b,c` texts, or for values by path; axes in `zips` vary together.

    Without axes the grid has one point, which `single` must allow.
    """
    given = list(split_paths_and_values(over))
    if not given and not single:
        raise BadInput("--over: found nothing; expected path=a,b,c, such as switch.buffer.size=50pkt,100pkt")
    paths = [path for path, _ in given]
    for path in paths:
        if paths.count(path) > 1:
            raise BadInput(f"--over: {path}: found it twice; expected each path once")
        if path in UNSWEEPABLE_KEYS:
            raise BadInput(f"--over: {path}: found a field that changes no run; expected a setting")
        if path in RESERVED_COLUMNS:
            how = "expected --seed and --seeds" if path == "seed" else "expected a key of a scenario"
            raise BadInput(f"--over: {path}: {how}")
    axes = [build_axis(path, texts) for path, texts in given]
    groups = group_axes(axes, zips)
    made = Grid(axes, [texts for _, texts in given], groups)
    if len(made) > MAX_POINTS:
        raise BadInput(f"--over: found {len(made)} points; expected {MAX_POINTS} or fewer")
    return made


def split_paths_and_values(over: SweptValues) -> Iterator[tuple[str, list[str]]]:
    """Yields each swept field with its values."""
    if isinstance(over, Mapping):
        for path, given in over.items():
            if isinstance(given, str):
                yield path, axis_values.parse_values(path, given)
            elif isinstance(given, Iterable) and not isinstance(given, Mapping):
                yield path, check_list(path, [toml_values.format_setting(one) for one in given])
            else:
                yield path, [toml_values.format_setting(given)]
        return
    for text in over:
        path, equals, rest = check_text("--over", text).partition("=")
        if not equals or not path.strip() or not rest.strip():
            raise BadInput(
                f"--over: found {text!r}; expected path=a,b,c, such as traffic.burst.senders=20,40"
            )
        yield path.strip(), axis_values.parse_values(path.strip(), rest)


def check_list(path: str, texts: list[str]) -> list[str]:
    """Returns the values of a list; raises `BadInput` if it is empty or has an empty value."""
    if not texts or not all(text.strip() for text in texts):
        raise axis_values.value_error(path, "an empty value or none", "expected one value or more")
    return texts


def build_axis(path: str, given: Sequence[str]) -> Axis:
    """Returns an axis with these values; raises `BadInput` if two are equal."""
    texts = [axis_values.strip_quotes(text) for text in given]
    seen: set[str] = set()
    for text in texts:
        if text in seen:
            raise axis_values.value_error(path, f"{text} twice", "expected different values")
        seen.add(text)
    known = axis_values.numbers_in_one_unit(texts)
    return Axis(path, texts, None, "") if known is None else Axis(path, texts, *known)


def group_axes(axes: Sequence[Axis], zips: Iterable[str | Sequence[str]]) -> list[list[int]]:
    """Returns groups of axes that vary together, as indices, ordered by their first axis."""
    paths = [one.path for one in axes]
    of: dict[int, list[int]] = {at: [at] for at in range(len(axes))}
    for given in zips:
        names = [one.strip() for one in given.split(",")] if isinstance(given, str) else list(given)
        unknown = [name for name in names if name not in paths]
        if unknown or len(set(names)) < 2:
            found = unknown[0] if unknown else ",".join(names)
            raise BadInput(f"--zip: found {found}; expected two or more paths of --over: {', '.join(paths)}")
        group = sorted({at for name in names for at in of[paths.index(name)]})
        lengths = {len(axes[at].texts) for at in group}
        if len(lengths) > 1:
            counts = ", ".join(f"{paths[at]} {len(axes[at].texts)}" for at in group)
            raise BadInput(f"--zip: found different numbers of values ({counts}); expected equal numbers")
        of.update(dict.fromkeys(group, group))
    return [list(group) for group in dict.fromkeys(tuple(of[at]) for at in range(len(axes)))]
