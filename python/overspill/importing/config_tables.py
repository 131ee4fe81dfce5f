"""Tables of a SONiC `config_db.json`: rows, checked fields, references and keys."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from overspill.errors import BadInput, cut_user_text

MAX_FILE_BYTES = 64 << 20
NUMBERS = 8  # priority groups, queues and traffic classes of the model
MOST_NUMBERS = 256  # in the range of a key
WHOLE_NUMBER = re.compile(r"[+-]?\d{1,18}")
# References have the form `[TABLE|name]` in files of older versions, and `name` in newer ones.
BRACKETED = re.compile(r"\[(\w+)\|([^\]|]+)\]")
RANGE = re.compile(r"(\d{1,4})(?:-(\d{1,4}))?")


def read_text_file(path: str | Path, expected: str) -> str:
    """Returns the text of a file; raises `BadInput` if it cannot be read."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror or error}; expected {expected}") from None
    if len(data) > MAX_FILE_BYTES:
        raise BadInput(f"{path}: found more than {MAX_FILE_BYTES >> 20} MiB; expected {expected}")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadInput(f"{path}: found bytes that are not UTF-8; expected {expected}") from None


def parse_whole_number(value: object) -> int | None:
    """Returns a whole number given as a JSON number or text; `None` for all else."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and WHOLE_NUMBER.fullmatch(value.strip()):
        return int(value)
    return None


def parse_reference(text: str, table: str) -> str | None:
    """Returns the name of a row of `table` in either form; `None` if the text names another table."""
    found = BRACKETED.fullmatch(text.strip())
    if found is None:
        return None if "[" in text or "]" in text else text.strip()
    return found[2].strip() if found[1] == table else None


@dataclass(frozen=True)
class Row:
    """Row of a table: its key, and its fields as JSON values."""

    file: str
    table: str
    key: str
    fields: Mapping[str, object]

    @property
    def path(self) -> str:
        """Table and key, as SONiC writes them."""
        return f"{self.table}|{self.key}"

    def error(self, field: str, found: object, expected: str) -> BadInput:
        """Returns the error about a field."""
        where = f"{self.path}: {field}" if field else self.path
        return BadInput(f"{self.file}: {where}: found {cut_user_text(str(found))}; expected {expected}")

    def text(self, field: str) -> str | None:
        """Returns the text of a field; `None` if the row does not have it."""
        value = self.fields.get(field)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise self.error(field, json.dumps(value), "a text")
        return str(value).strip()

    def whole_number(self, field: str, least: int = 0, most: int = 1 << 53) -> int | None:
        """Returns the whole number of a field; `None` if the row does not have it."""
        value = self.fields.get(field)
        if value is None:
            return None
        number = parse_whole_number(value)
        if number is None or not least <= number <= most:
            raise self.error(field, value, f"a whole number from {least} to {most}")
        return number

    def required_number(self, field: str, least: int = 0, most: int = 1 << 53) -> int:
        """Returns the whole number of a field that the row must have."""
        number = self.whole_number(field, least, most)
        if number is None:
            raise self.error(field, "nothing", f"a whole number from {least} to {most}")
        return number

    def choice(self, field: str, allowed: tuple[str, ...], default: str) -> str:
        """Returns the word of a field, which must be one of a list."""
        word = self.text(field)
        if word is not None and word not in allowed:
            raise self.error(field, word or "an empty text", f"one of {', '.join(allowed)}")
        return default if word is None else word

    def numbers(self, field: str) -> list[int] | None:
        """Returns a list of priorities such as `3,4`; `None` if the row does not have it."""
        text = self.text(field)
        if text is None:
            return None
        parts = [one.strip() for one in text.split(",") if one.strip()]
        found = [parse_whole_number(one) for one in parts]
        if any(one is None or not 0 <= one < NUMBERS for one in found):
            raise self.error(field, text, "numbers from 0 to 7, separated by commas")
        return sorted({one for one in found if one is not None})


class ConfigTables:
    """All tables of a configuration."""

    def __init__(self, file: str, tables: Mapping[str, Any]) -> None:
        self.file = file
        self.tables = tables

    @classmethod
    def read(cls, path: str | Path) -> "ConfigTables":
        """Reads a `config_db.json`; raises `BadInput` if it is no JSON object of tables."""
        text = read_text_file(path, "a SONiC config_db.json")
        try:
            tables = json.loads(text)
        except json.JSONDecodeError as error:
            where = f"{path}:{error.lineno}"
            raise BadInput(f"{where}: found no JSON: {error.msg}; expected a SONiC config_db.json") from None
        except RecursionError:
            raise BadInput(f"{path}: found JSON nested too deep; expected a SONiC config_db.json") from None
        if not isinstance(tables, dict):
            raise BadInput(f"{path}: found JSON without tables; expected an object of tables by name")
        return cls(str(path), tables)

    def rows(self, table: str) -> dict[str, Row]:
        """Returns the rows of a table by key; empty if the configuration does not have it."""
        given = self.tables.get(table)
        if given is None:
            return {}
        if not isinstance(given, dict):
            raise BadInput(f"{self.file}: {table}: found {type(given).__name__}; expected an object of rows")
        for key, fields in given.items():
            if not isinstance(fields, dict):
                found = cut_user_text(json.dumps(fields))
                raise BadInput(f"{self.file}: {table}|{key}: found {found}; expected an object of fields")
        return {key: Row(self.file, table, key, fields) for key, fields in given.items()}

    def only_row(self, table: str) -> Row | None:
        """Returns the only row of a table; `None` without any."""
        found = list(self.rows(table).values())
        if len(found) > 1:
            names = ", ".join(row.key for row in found)
            raise BadInput(f"{self.file}: {table}: found {cut_user_text(names)}; expected one row")
        return found[0] if found else None

    def reference(self, row: Row, field: str, table: str) -> Row | None:
        """Returns the row of `table` that a field refers to; `None` if the row does not have the field."""
        text = row.text(field)
        return None if text is None else self.find(row, field, text, table)

    def references(self, row: Row, field: str, table: str) -> list[Row]:
        """Returns the rows of `table` that a field with a list of references refers to."""
        parts = [one.strip() for one in (row.text(field) or "").split(",") if one.strip()]
        return [self.find(row, field, one, table) for one in parts]

    def find(self, row: Row, field: str, text: str, table: str) -> Row:
        """Returns the row of `table` that a reference names; raises `BadInput` if it does not exist."""
        name = parse_reference(text, table)
        known = self.rows(table)
        if name is None or name not in known:
            rule = f"a row of {table}" + (f": {', '.join(sorted(known))}" if known else ", which is absent")
            raise row.error(field, text or "an empty text", cut_user_text(rule, 400))
        return known[name]


@dataclass(frozen=True)
class PortNumbers:
    """Ports and numbers of groups or queues in a key such as `Ethernet0,Ethernet4|3-4`."""

    ports: tuple[str, ...]
    numbers: tuple[int, ...]

    def pairs(self) -> Iterator[tuple[str, int]]:
        """Yields each port with each number."""
        return ((port, number) for port in self.ports for number in self.numbers)


def parse_port_numbers(row: Row, known_ports: Mapping[str, object]) -> PortNumbers | None:
    """Returns the ports and numbers of a key; `None` for the CPU port, and for virtual output queues."""
    parts = row.key.split("|")
    if len(parts) > 2 or parts[0] == "CPU":
        return None
    expected = "ports and numbers such as Ethernet0,Ethernet4|3-4"
    if len(parts) != 2:
        raise row.error("", f"the key {row.key}", expected)
    found = RANGE.fullmatch(parts[1].strip())
    first = int(found[1]) if found else 0
    last = int(found[2] or found[1]) if found else -1
    if not first <= last < first + MOST_NUMBERS:
        raise row.error("", f"the numbers {parts[1]}", expected)
    ports = parse_ports(row, parts[0], known_ports)
    return PortNumbers(ports, tuple(range(first, last + 1)))


def parse_ports(row: Row, text: str, known_ports: Mapping[str, object]) -> tuple[str, ...]:
    """Returns the ports of a key, which are separated by commas."""
    ports = tuple(one.strip() for one in text.split(","))
    for port in ports:
        if port not in known_ports:
            raise row.error("", f"the port {port or '(no name)'}", "ports of the table PORT")
    return ports
