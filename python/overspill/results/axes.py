"""What a sweep varies: its axes and points."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Axis:
    """One swept field: its values as text and, where all are quantities alike, as numbers of `unit`."""

    path: str
    texts: list[str]
    numbers: list[float] | None = None
    unit: str = ""


@dataclass(frozen=True)
class Point:
    """One combination of values: its place in the grid, its values by path, and what it sets."""

    index: int
    values: dict[str, str]
    sets: tuple[str, ...]

    def __str__(self) -> str:
        return ", ".join(f"{path}={text}" for path, text in self.values.items())
