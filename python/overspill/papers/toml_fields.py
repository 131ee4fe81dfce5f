"""Tables of a paper's TOML files, read field by field; errors name file, place and field."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from tomllib import TOMLDecodeError
from typing import Any

from overspill import BadInput
from overspill.engine import core
from overspill.engine.source import read

REQUIRED: Any = object()


def document(path: Path) -> tuple[dict[str, Any], str]:
    """Returns a TOML file and the SHA-256 of its text; raises `BadInput` if it is not TOML."""
    text = read(path).text
    try:
        return core.parsed(str(path), text), hashlib.sha256(text.encode()).hexdigest()
    except TOMLDecodeError as error:
        raise BadInput(f"{path}: found {error}; expected TOML") from None


class Fields:
    """Fields of one table, each read once; `done` refuses fields that were not read."""

    def __init__(self, file: Path, where: str, given: Any) -> None:
        self.file, self.where = file, where
        if not isinstance(given, Mapping):
            raise BadInput(f"{file}: {where}: found {given!r}; expected a table")
        self.given, self.taken = given, list[str]()

    def wrong(self, field: str, found: str, expected: str) -> BadInput:
        """Returns the error for a field."""
        place = f"{self.where}: {field}" if self.where else field
        return BadInput(f"{self.file}: {place}: found {found}; expected {expected}")

    def take(self, field: str, default: Any = REQUIRED) -> Any:
        """Returns a field of any type."""
        self.taken.append(field)
        if field in self.given:
            return self.given[field]
        if default is REQUIRED:
            raise self.wrong(field, "nothing", "it to be given")
        return default

    def text(self, field: str, default: str | Any = REQUIRED) -> str:
        """Returns a text, which may be empty only by default."""
        found = self.take(field, default)
        if not isinstance(found, str) or (not found.strip() and default is REQUIRED):
            raise self.wrong(field, repr(found), "a text")
        return found

    def word(self, field: str, allowed: Iterable[str]) -> str:
        """Returns one of the allowed words."""
        found = self.take(field)
        if found not in (known := list(allowed)):
            raise self.wrong(field, repr(found), f"one of {', '.join(known)}")
        return str(found)

    def texts(self, field: str, default: list[str] | Any = REQUIRED) -> list[str]:
        """Returns a list of different texts."""
        found = self.take(field, default)
        if not isinstance(found, list) or not all(isinstance(one, str) and one.strip() for one in found):
            raise self.wrong(field, repr(found), 'a list of texts, such as ["a", "b"]')
        if twice := [one for one in found if found.count(one) > 1]:
            raise self.wrong(field, f"{twice[0]!r} twice", "different ones")
        return list(found)

    def known(self, field: str, names: Iterable[str], default: list[str] | Any = REQUIRED) -> list[str]:
        """Returns texts that are all known names."""
        found, there = self.texts(field, default), list(names)
        for one in found:
            if one not in there:
                raise self.wrong(
                    field, repr(one), f"some of {', '.join(there) or 'none, since there are none'}"
                )
        return found

    def whole(self, field: str, default: Any = REQUIRED) -> int:
        """Returns a whole number of at least 1."""
        found = self.take(field, default)
        if not isinstance(found, int) or isinstance(found, bool) or found < 1:
            raise self.wrong(field, repr(found), "a whole number, 1 or more")
        return found

    def flag(self, field: str) -> bool:
        """Returns a Boolean, false by default."""
        found = self.take(field, False)
        if not isinstance(found, bool):
            raise self.wrong(field, repr(found), "true or false")
        return found

    def tables(self, field: str) -> list[Any]:
        """Returns the tables `[[field]]`, none by default."""
        found = self.take(field, [])
        if not isinstance(found, list):
            raise self.wrong(field, repr(found), f"tables [[{field}]]")
        return found

    def done(self) -> None:
        """Raises `BadInput` for fields that were not read."""
        if unknown := [field for field in self.given if field not in self.taken]:
            raise self.wrong(unknown[0], "an unknown key", f"one of {', '.join(self.taken)}")


def number(given: Any) -> bool:
    """Returns true if a value is a finite number."""
    return isinstance(given, int | float) and not isinstance(given, bool) and math.isfinite(given)
