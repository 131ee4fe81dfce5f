"""What may go wrong, by whose fault it is."""

from collections.abc import Iterable


class OverspillError(Exception):
    """A failure with lines that a user can read."""

    status = 1

    def __init__(self, lines: str | Iterable[str]) -> None:
        self.lines = [lines] if isinstance(lines, str) else [str(line) for line in lines]
        super().__init__("\n".join(self.lines))


class BadInput(OverspillError):
    """The scenario, a file or an argument is wrong."""

    status = 2


class Failed(OverspillError):
    """A run broke, or its results cannot be written."""


class Unwritable(Failed):
    """Results cannot be written, this one or any other."""
