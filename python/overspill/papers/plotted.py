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

ROOT = "figure"
DIGITS = 5  # significant digits of numbers, more than a picture shows
LONG = 20  # length from which on a list is an array
PART = re.compile(r"\.(\w+)|\[(\w+)\]")
PLAIN = (str, bool, int, float, type(None))

# Objects that calls may get beside numbers and texts; `make` creates them.
KINDS: Mapping[str, Callable[..., Any]] = {
    "arrow": FancyArrowPatch,
    "log": LogLocator,
    "no labels": NullFormatter,
    "percent": PercentFormatter,
    "shades": lambda colours: LinearSegmentedColormap.from_list("shades", colours),
    "spaced": lambda: FuncFormatter(lambda value, _: f"{value:,g}".replace(",", " ")),
    "whole": lambda: MaxNLocator(integer=True),
}


class Noted:
    """Object of matplotlib whose method calls are recorded."""

    def __init__(self, real: Any, name: str, notes: Notes) -> None:
        self.real, self.name, self.notes = real, name, notes

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.real, name)
        if callable(found) and not isinstance(found, Artist):
            return lambda *given, **options: self.notes.call(self, name, given, options)
        return self.notes.wrapped(found, f"{self.name}.{name}")

    def __getitem__(self, key: str) -> Any:
        return self.notes.wrapped(self.real[key], f"{self.name}[{key}]")


class Notes:
    """Calls that draw a figure, in order, and the names of the objects that they made."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self.options, self.calls = options, list[list[Any]]()
        self.arrays: dict[str, list[Any]] = {}  # by their text
        self.known: dict[int, Any] = {}  # by identity: names of objects, or how `make` created them
        self.kept: list[Any] = []  # keeps objects alive, so that no identity is used twice

    def call(self, of: Noted, method: str, given: tuple[Any, ...], options: Mapping[str, Any]) -> Any:
        """Calls a method of an object and records it; getters with plain results are not recorded."""
        found = getattr(of.real, method)(*real(given), **real(options))
        if method.startswith("get_") and not isinstance(found, Artist):
            return found
        self.calls.append([of.name, method, self.data(given), self.data(options)])
        return self.wrapped(found, f"#{len(self.calls) - 1}")

    def wrapped(self, found: Any, name: str) -> Any:
        """Returns the result of a call or an attribute, wrapped so that its calls are recorded as well."""
        if isinstance(found, PLAIN):
            return found
        if id(found) in self.known and not isinstance(found, list | np.ndarray):
            return Noted(found, self.known[id(found)], self)
        if isinstance(found, list | np.ndarray):
            return [self.wrapped(one, f"{name}[{at}]") for at, one in enumerate(np.ravel(cast(Any, found)))]
        self.known[id(found)] = name
        self.kept.append(found)
        return found if isinstance(found, Container) else Noted(found, name, self)

    def data(self, given: Any) -> Any:
        """Returns a value in the form of JSON."""
        given = given.real if isinstance(given, Noted) else given
        if isinstance(given, np.ma.MaskedArray):
            given = np.ma.filled(given.astype(float), np.nan)  # masked values are not drawn, nor is NaN
        if isinstance(given, np.generic | np.ndarray | range):
            given = np.asarray(given).tolist()
        if isinstance(given, float):
            return float(f"{given:.{DIGITS}g}") if np.isfinite(given) else str(given)
        if isinstance(given, PLAIN):
            return given
        if isinstance(given, Mapping):
            return {name: self.data(one) for name, one in given.items()}
        if id(given) in self.known:
            return {"is": self.known[id(given)]}
        if isinstance(given, list | tuple):
            return self.array([self.data(one) for one in given])
        raise Failed(
            f"found {type(given).__name__} in a drawing; expected numbers, texts or objects of `make`"
        )

    def array(self, data: list[Any]) -> Any:
        """Returns a list, or, if it is long and plain, a reference to its array."""
        if len(data) < LONG or not all(isinstance(entry, PLAIN) for entry in data):
            return data
        text = repr(data)
        self.arrays.setdefault(text, data)
        return {"array": list(self.arrays).index(text)}

    @property
    def document(self) -> dict[str, Any]:
        """Options, arrays and calls for JSON."""
        return {"options": dict(self.options), "arrays": list(self.arrays.values()), "calls": self.calls}


def real(given: Any) -> Any:
    """Returns arguments with the wrapped objects of matplotlib themselves."""
    if isinstance(given, Noted):
        return given.real
    if isinstance(given, list | tuple):
        return type(given)(map(real, given)) if not isinstance(given, Container) else given
    if isinstance(given, dict):
        return {name: real(one) for name, one in given.items()}
    return given


NOTES: ContextVar[list[Notes] | None] = ContextVar("notes", default=None)


@contextmanager
def noting() -> Iterator[list[Notes]]:
    """Records the calls that draw figures in the block."""
    found: list[Notes] = []
    token = NOTES.set(found)
    try:
        yield found
    finally:
        NOTES.reset(token)


def figure(**options: Any) -> Drawing:
    """Returns an empty figure; call it within `plots.style()`."""
    made, notes = Drawing(**options), NOTES.get()
    if notes is None:
        return made
    notes.append(Notes(options))
    return cast(Drawing, notes[-1].wrapped(made, ROOT))


def make(kind: str, *given: Any, **options: Any) -> Any:
    """Returns an object of `KINDS`, for a call of the figure that was made last."""
    made = KINDS[kind](*given, **options)
    if notes := NOTES.get():
        notes[-1].known[id(made)] = {"kind": kind, "of": notes[-1].data([given, options])}
        notes[-1].kept.append(made)
    return made


def redraw(document: Mapping[str, Any]) -> Drawing:
    """Draws a figure from its plotted data; call it within `plots.style()`."""
    again = Again(figure(**document["options"]), document["arrays"], [])
    for name, method, given, options in document["calls"]:
        call = getattr(again.find(name), method)
        again.made.append(call(*again.value(given), **again.value(options)))
    return again.root


@dataclass(frozen=True)
class Again:
    """Figure that is drawn again, with its arrays and the results of the calls so far."""

    root: Drawing
    arrays: list[list[Any]]
    made: list[Any]

    def find(self, name: str) -> Any:
        """Returns an object by its name."""
        base = re.match(r"#?\w+", name)
        assert base is not None
        found: Any = self.root if base[0] == ROOT else self.made[int(base[0][1:])]
        for attribute, key in PART.findall(name[base.end() :]):
            if attribute:
                found = getattr(found, attribute)
            else:
                found = np.ravel(found)[int(key)] if key.isdigit() else found[key]
        return found

    def value(self, given: Any) -> Any:
        """Returns an argument from its JSON."""
        if isinstance(given, list):
            return tuple(map(self.value, given))
        if not isinstance(given, dict):
            return float(given) if given in ("nan", "inf", "-inf") else given
        if set(given) == {"array"}:
            return self.value(self.arrays[given["array"]])
        if set(given) != {"is"}:
            return {name: self.value(entry) for name, entry in given.items()}
        name = given["is"]
        if isinstance(name, str):
            return self.find(name)
        of, options = self.value(name["of"])
        return make(name["kind"], *of, **options)
