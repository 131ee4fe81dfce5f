"""Axes and points of a sweep."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Axis:
    """Swept field with its values.

    Attributes:
        path: Path of the field, such as `switch.buffer.size`.
        texts: Values as text.
        numbers: Values as numbers of `unit`; `None` if they are not quantities of one dimension.
        unit: Unit of `numbers`.

    Examples:
        >>> import overspill
        >>> over = {"switch.buffer.size": ["20pkt", "40pkt"]}
        >>> results = overspill.sweep("incast.toml", over, seeds=1)
        >>> axis = results.axes[0]
        >>> axis.path, axis.texts, axis.numbers, axis.unit
        ('switch.buffer.size', ['20pkt', '40pkt'], [20.0, 40.0], 'pkt')

    """

    path: str
    texts: list[str]
    numbers: list[float] | None = None
    unit: str = ""


@dataclass(frozen=True)
class Point:
    """Combination of one value for each axis of a sweep: index in the grid, values by path, and settings."""

    index: int
    values: dict[str, str]
    sets: tuple[str, ...]

    def __str__(self) -> str:
        return ", ".join(f"{path}={text}" for path, text in self.values.items())
