"""Plotted data of figures: calls of matplotlib with their numbers, recorded while a figure is drawn.

The same calls draw the figure again, without the runs. Each is a list in JSON, `[name, method, arguments,
options]`, where `name` is the figure, or the number of the call that made an object: `#3.yaxis`. Long lists
of numbers are kept once each, as `arrays`: several curves have the same times.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from matplotlib.artist import Artist
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.container import Container
from matplotlib.figure import Figure as Drawing
from matplotlib.patches import FancyArrowPatch
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, PercentFormatter

from overspill.errors import Failed

ROOT_NAME = "figure"
SIGNIFICANT_DIGITS = 5  # significant digits of numbers, more than a picture shows
MIN_ARRAY_LENGTH = 20  # length from which on a list is an array
PATH_PART = re.compile(r"\.(\w+)|\[(\w+)\]")
PLAIN_TYPES = (str, bool, int, float, type(None))

# JSON cannot store objects of matplotlib, so drawings create them by these names, with `make_object`.
OBJECT_CONSTRUCTORS: Mapping[str, Callable[..., Any]] = {
    "arrow": FancyArrowPatch,
    "log": LogLocator,
    "no labels": NullFormatter,
    "percent": PercentFormatter,
    "shades": lambda colours: LinearSegmentedColormap.from_list("shades", colours),
    "thousands": lambda: FuncFormatter(lambda value, _: f"{value:,g}"),
    "whole": lambda: MaxNLocator(integer=True),
}


class RecordedObject:
    """Object of matplotlib whose method calls are recorded."""

    def __init__(self, real: Any, name: str, notes: DrawingRecord) -> None:
        self.real, self.name, self.notes = real, name, notes

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.real, name)
        if callable(found) and not isinstance(found, Artist):
            return lambda *given, **options: self.notes.record_call(self, name, given, options)
        return self.notes.wrap_result(found, f"{self.name}.{name}")

    def __getitem__(self, key: str) -> Any:
        return self.notes.wrap_result(self.real[key], f"{self.name}[{key}]")


class DrawingRecord:
    """Recorder of the calls that draw one figure, in order, and of the names of the objects they made."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self.options, self.calls = options, list[list[Any]]()
        self.arrays: dict[str, list[Any]] = {}  # by their text
        self.known: dict[int, Any] = {}  # by identity: names of objects, or how `make_object` created them
        self.kept: list[Any] = []  # keeps objects alive, so that no identity is used twice

    def record_call(
        self, of: RecordedObject, method: str, given: tuple[Any, ...], options: Mapping[str, Any]
    ) -> Any:
        """Calls a method of an object and records it; getters with plain results are not recorded."""
        found = getattr(of.real, method)(*unwrap_arguments(given), **unwrap_arguments(options))
        if method.startswith("get_") and not isinstance(found, Artist):
            return found
        self.calls.append([of.name, method, self.to_json(given), self.to_json(options)])
        return self.wrap_result(found, f"#{len(self.calls) - 1}")

    def wrap_result(self, found: Any, name: str) -> Any:
        """Returns the result of a recorded call or attribute, wrapped so that its calls are recorded, too."""
        if isinstance(found, PLAIN_TYPES):
            return found
        if id(found) in self.known and not isinstance(found, list | np.ndarray):
            return RecordedObject(found, self.known[id(found)], self)
        if isinstance(found, list | np.ndarray):
            return [
                self.wrap_result(one, f"{name}[{at}]") for at, one in enumerate(np.ravel(cast(Any, found)))
            ]
        self.known[id(found)] = name
        self.kept.append(found)
        return found if isinstance(found, Container) else RecordedObject(found, name, self)

    def to_json(self, given: Any) -> Any:
        """Converts an argument of a drawing call to JSON."""
        given = given.real if isinstance(given, RecordedObject) else given
        if isinstance(given, np.ma.MaskedArray):
            given = np.ma.filled(given.astype(float), np.nan)  # masked values are not drawn, nor is NaN
        if isinstance(given, np.generic | np.ndarray | range):
            given = np.asarray(given).tolist()
        if isinstance(given, float):
            return float(f"{given:.{SIGNIFICANT_DIGITS}g}") if np.isfinite(given) else str(given)
        if isinstance(given, PLAIN_TYPES):
            return given
        if isinstance(given, Mapping):
            return {name: self.to_json(one) for name, one in given.items()}
        if id(given) in self.known:
            return {"is": self.known[id(given)]}
        if isinstance(given, list | tuple):
            return self.store_array([self.to_json(one) for one in given])
        raise Failed(
            f"found {type(given).__name__} in a drawing; expected numbers, texts or objects of `make_object`"
        )

    def store_array(self, data: list[Any]) -> Any:
        """Returns a list unchanged, or a reference to a stored array if it is long and plain."""
        if len(data) < MIN_ARRAY_LENGTH or not all(isinstance(entry, PLAIN_TYPES) for entry in data):
            return data
        text = repr(data)
        self.arrays.setdefault(text, data)
        return {"array": list(self.arrays).index(text)}

    @property
    def document(self) -> dict[str, Any]:
        """Figure options, arrays and recorded calls, ready to be written as JSON."""
        return {"options": dict(self.options), "arrays": list(self.arrays.values()), "calls": self.calls}


def unwrap_arguments(given: Any) -> Any:
    """Replaces recorded objects in arguments by the objects of matplotlib that they wrap."""
    if isinstance(given, RecordedObject):
        return given.real
    if isinstance(given, list | tuple):
        return type(given)(map(unwrap_arguments, given)) if not isinstance(given, Container) else given
    if isinstance(given, dict):
        return {name: unwrap_arguments(one) for name, one in given.items()}
    return given


RECORDING: ContextVar[list[DrawingRecord] | None] = ContextVar("notes", default=None)


@contextmanager
def record_drawings() -> Iterator[list[DrawingRecord]]:
    """Records the drawing calls of all figures that are made in the block."""
    found: list[DrawingRecord] = []
    token = RECORDING.set(found)
    try:
        yield found
    finally:
        RECORDING.reset(token)


def new_figure(**options: Any) -> Drawing:
    """Returns an empty figure whose calls are recorded; call it within `plots.style()`."""
    made, notes = Drawing(**options), RECORDING.get()
    if notes is None:
        return made
    notes.append(DrawingRecord(options))
    return cast(Drawing, notes[-1].wrap_result(made, ROOT_NAME))


def make_object(kind: str, *given: Any, **options: Any) -> Any:
    """Creates an object of matplotlib, such as a formatter, for a call of the figure that was made last."""
    made = OBJECT_CONSTRUCTORS[kind](*given, **options)
    if notes := RECORDING.get():
        notes[-1].known[id(made)] = {"kind": kind, "of": notes[-1].to_json([given, options])}
        notes[-1].kept.append(made)
    return made


def redraw_figure(document: Mapping[str, Any]) -> Drawing:
    """Draws a figure again from its plotted data; call it within `plots.style()`."""
    again = RedrawnFigure(new_figure(**document["options"]), document["arrays"], [])
    for name, method, given, options in document["calls"]:
        call = getattr(again.find_object(name), method)
        again.made.append(call(*again.parse_argument(given), **again.parse_argument(options)))
    return again.root


@dataclass(frozen=True)
class RedrawnFigure:
    """Figure that is drawn again, with its arrays and the results of the calls so far."""

    root: Drawing
    arrays: list[list[Any]]
    made: list[Any]

    def find_object(self, name: str) -> Any:
        """Returns an object that was drawn earlier, by its name."""
        base = re.match(r"#?\w+", name)
        assert base is not None
        found: Any = self.root if base[0] == ROOT_NAME else self.made[int(base[0][1:])]
        for attribute, key in PATH_PART.findall(name[base.end() :]):
            if attribute:
                found = getattr(found, attribute)
            else:
                found = np.ravel(found)[int(key)] if key.isdigit() else found[key]
        return found

    def parse_argument(self, given: Any) -> Any:
        """Converts an argument of a drawing call back from JSON."""
        if isinstance(given, list):
            return tuple(map(self.parse_argument, given))
        if not isinstance(given, dict):
            return float(given) if given in ("nan", "inf", "-inf") else given
        if set(given) == {"array"}:
            return self.parse_argument(self.arrays[given["array"]])
        if set(given) != {"is"}:
            return {name: self.parse_argument(entry) for name, entry in given.items()}
        name = given["is"]
        if isinstance(name, str):
            return self.find_object(name)
        of, options = self.parse_argument(name["of"])
        return make_object(name["kind"], *of, **options)
