"""Errors of the package by cause: bad input, a failed run, output that cannot be written."""

import re
from collections.abc import Iterable

MAX_LINE_LENGTH = 1000  # characters of a line
# Characters that a terminal does not print as themselves: control characters, those that change the direction
# of writing, and bytes of an argument that are not text.
UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def cut_user_text(text: str, most: int = 200) -> str:
    """Returns user input cut to `most` characters, so that long input does not hide the error."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def escape_unprintable(text: str) -> str:
    """Returns a text on one line, with unprintable characters escaped."""
    return UNPRINTABLE.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


def shorten_line(text: str) -> str:
    """Returns an error line without control characters, cut in the middle if it is too long."""
    told = escape_unprintable(text)
    if len(told) <= MAX_LINE_LENGTH:
        return told
    half = (MAX_LINE_LENGTH - 1) // 2
    return f"{told[:half]}…{told[-half:]}"


class OverspillError(Exception):
    """Base class of the package's errors, with `lines` that users can read.

    `status` is the exit status of the command.
    """

    status = 1

    def __init__(self, lines: str | Iterable[str]) -> None:
        every = [lines] if isinstance(lines, str) else [str(line) for line in lines]
        self.lines = [shorten_line(line) for line in every]
        super().__init__("\n".join(self.lines))

    def __reduce__(self) -> tuple[type["OverspillError"], tuple[list[str]]]:
        """Pickles the error with its lines, since `args` has them joined to one text."""
        return type(self), (self.lines,)


class BadInput(OverspillError):
    """Error in the scenario, in a file or in an argument; exit status 2."""

    status = 2


class Failed(OverspillError):
    """Failed run, or results that cannot be written; exit status 1."""


class Unwritable(Failed):
    """Error for output that cannot be written, now or by any later run."""


def check_text(what: str, given: object) -> str:
    """Returns a text that a user gave; raises `BadInput` if it is not a text, or not valid UTF-8."""
    if not isinstance(given, str):
        raise BadInput(f"{what}: found {given!r}; expected a text")
    try:
        given.encode()
    except UnicodeEncodeError:
        raise BadInput(f"{what}: found {cut_user_text(given)}, which is not UTF-8; expected a text") from None
    return given
