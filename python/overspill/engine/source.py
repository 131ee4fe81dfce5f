"""Scenario file as read: its path and text."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from overspill.engine import toml_values
from overspill.errors import BadInput, check_text

MAX_FILE_BYTES = 16 << 20  # bytes; a scenario has some thousands


@dataclass(frozen=True)
class Source:
    """Text of a scenario and the path of its file."""

    path: str
    text: str

    @property
    def sha256(self) -> str:
        """SHA-256 of the text."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def read_scenario_file(path: str | Path) -> Source:
    """Reads a scenario file; raises `BadInput` if it does not exist or is not text."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        raise BadInput(f"{path}: no such file") from None
    except IsADirectoryError:
        raise BadInput(f"{path}: is a folder; expected a scenario file") from None
    except (OSError, ValueError) as error:
        raise BadInput(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(data) > MAX_FILE_BYTES:
        raise BadInput(f"{path}: found more than {MAX_FILE_BYTES >> 20} MiB; expected a scenario file")
    try:
        return Source(check_text("the scenario's path", str(path)), data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadInput(f"{path}:{line}: found bytes that are not UTF-8; expected a TOML text") from None


def parse_overrides(sets: Iterable[str] | Mapping[str, object]) -> list[str]:
    """Returns `path=value` texts, checked for their form; the core checks their meaning."""
    if isinstance(sets, Mapping):
        sets = [f"{path}={toml_values.format_setting(value)}" for path, value in sets.items()]
    pairs = list(sets)
    for pair in pairs:
        path, equals, value = check_text("--set", pair).partition("=")
        if not equals or not path.strip() or not value.strip():
            raise BadInput(f"--set: found {pair!r}; expected path=value, such as switch.buffer.size=50pkt")
    return pairs
