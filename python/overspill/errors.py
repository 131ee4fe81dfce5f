"""What may go wrong, by whose fault it is."""

from collections.abc import Iterable

LONGEST = 1000  # letters of a line


def bounded(text: str, most: int = 200) -> str:
    """What a user gave, cut where it would hide what is wrong with it."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


class OverspillError(Exception):
    """A failure with lines that a user can read."""

    status = 1

    def __init__(self, lines: str | Iterable[str]) -> None:
        every = [lines] if isinstance(lines, str) else [str(line) for line in lines]
        self.lines = [bounded(line, LONGEST) for line in every]
        super().__init__("\n".join(self.lines))


class BadInput(OverspillError):
    """The scenario, a file or an argument is wrong."""

    status = 2


class Failed(OverspillError):
    """A run broke, or its results cannot be written."""


class Unwritable(Failed):
    """Results cannot be written, this one or any other."""
