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
from overspill.engine.source import read_scenario_file

REQUIRED: Any = object()


def read_toml(path: Path) -> tuple[dict[str, Any], str]:
    """Returns a TOML file and the SHA-256 of its text; raises `BadInput` if it is not TOML."""
    text = read_scenario_file(path).text
    try:
        return core.parse_toml(str(path), text), hashlib.sha256(text.encode()).hexdigest()
    except TOMLDecodeError as error:
        raise BadInput(f"{path}: found {error}; expected TOML") from None


class TableFields:
    """Fields of one table, each read once; `refuse_unread` refuses fields that were not read."""

    def __init__(self, file: Path, where: str, given: Any) -> None:
        self.file, self.where = file, where
        if not isinstance(given, Mapping):
            raise BadInput(f"{file}: {where}: found {given!r}; expected a table")
        self.given, self.taken = given, list[str]()

    def field_error(self, field: str, found: str, expected: str) -> BadInput:
        """Returns the error for a wrong value of a field in a paper's TOML file."""
        place = f"{self.where}: {field}" if self.where else field
        return BadInput(f"{self.file}: {place}: found {found}; expected {expected}")

    def take_any(self, field: str, default: Any = REQUIRED) -> Any:
        """Returns the value of a field, of any type."""
        self.taken.append(field)
        if field in self.given:
            return self.given[field]
        if default is REQUIRED:
            raise self.field_error(field, "nothing", "a value for this key")
        return default

    def take_text(self, field: str, default: str | Any = REQUIRED) -> str:
        """Returns the text of a field; only a default may be empty."""
        found = self.take_any(field, default)
        if not isinstance(found, str) or (not found.strip() and default is REQUIRED):
            raise self.field_error(field, repr(found), "a text")
        return found

    def take_word(self, field: str, allowed: Iterable[str]) -> str:
        """Returns the value of a field that must be one of the allowed words."""
        found = self.take_any(field)
        if found not in (known := list(allowed)):
            raise self.field_error(field, repr(found), f"one of {', '.join(known)}")
        return str(found)

    def take_texts(self, field: str, default: list[str] | Any = REQUIRED) -> list[str]:
        """Returns the value of a field that must be a list of different texts."""
        found = self.take_any(field, default)
        if not isinstance(found, list) or not all(isinstance(one, str) and one.strip() for one in found):
            raise self.field_error(field, repr(found), 'a list of texts, such as ["a", "b"]')
        if twice := [one for one in found if found.count(one) > 1]:
            raise self.field_error(field, f"{twice[0]!r} twice", "different ones")
        return list(found)

    def take_known_names(
        self, field: str, names: Iterable[str], default: list[str] | Any = REQUIRED
    ) -> list[str]:
        """Returns the value of a field that must be a list of known names."""
        found, there = self.take_texts(field, default), list(names)
        for one in found:
            if one not in there:
                allowed = f"some of {', '.join(there)}" if there else "an empty list, since no name is known"
                raise self.field_error(field, repr(one), allowed)
        return found

    def take_whole_number(self, field: str, default: Any = REQUIRED) -> int:
        """Returns the value of a field that must be a whole number of at least 1."""
        found = self.take_any(field, default)
        if not isinstance(found, int) or isinstance(found, bool) or found < 1:
            raise self.field_error(field, repr(found), "a whole number, 1 or more")
        return found

    def take_flag(self, field: str) -> bool:
        """Returns the value of a Boolean field, false by default."""
        found = self.take_any(field, False)
        if not isinstance(found, bool):
            raise self.field_error(field, repr(found), "true or false")
        return found

    def take_tables(self, field: str) -> list[Any]:
        """Returns the tables `[[field]]` of a TOML file, none by default."""
        found = self.take_any(field, [])
        if not isinstance(found, list):
            raise self.field_error(field, repr(found), f"tables [[{field}]]")
        return found

    def refuse_unread(self) -> None:
        """Raises `BadInput` if the table has fields that were never read."""
        if unknown := [field for field in self.given if field not in self.taken]:
            raise self.field_error(unknown[0], "an unknown key", f"one of {', '.join(self.taken)}")


def is_finite_number(given: Any) -> bool:
    """Returns true if a value is a finite number."""
    return isinstance(given, int | float) and not isinstance(given, bool) and math.isfinite(given)
