"""What may go wrong, by whose fault it is."""

import re
from collections.abc import Iterable

LONGEST = 1000  # letters of a line
# What a terminal does not show as itself: control characters, those that turn the direction of writing, and
# bytes of an argument that are no text.
ODD = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def bounded(text: str, most: int = 200) -> str:
    """What a user gave, cut where it would hide what is wrong with it."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def plain(text: str) -> str:
    """A text on one line, whatever a user or a file has put into it."""
    return ODD.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


def shorten(text: str) -> str:
    """A line of a message: plain, and without its middle where it is too long; the rule stands at its end."""
    told = plain(text)
    if len(told) <= LONGEST:
        return told
    half = (LONGEST - 1) // 2
    return f"{told[:half]}…{told[-half:]}"


class OverspillError(Exception):
    """A failure with lines that a user can read."""

    status = 1

    def __init__(self, lines: str | Iterable[str]) -> None:
        every = [lines] if isinstance(lines, str) else [str(line) for line in lines]
        self.lines = [shorten(line) for line in every]
        super().__init__("\n".join(self.lines))

    def __reduce__(self) -> tuple[type["OverspillError"], tuple[list[str]]]:
        """Pickled with its lines: what they are joined to is one text."""
        return type(self), (self.lines,)


class BadInput(OverspillError):
    """The scenario, a file or an argument is wrong."""

    status = 2


class Failed(OverspillError):
    """A run broke, or its results cannot be written."""


class Unwritable(Failed):
    """Results cannot be written, this one or any other."""


def readable(what: str, given: object) -> str:
    """What a user gave; `BadInput` where it is no text, or has bytes that are none."""
    if not isinstance(given, str):
        raise BadInput(f"{what}: found {given!r}; expected a text")
    try:
        given.encode()
    except UnicodeEncodeError:
        raise BadInput(f"{what}: found {bounded(given)}, which is not UTF-8; expected a text") from None
    return given
