"""Files of a published reproduction: rows, rows of sensitivity runs, and plotted data."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from overspill import BadInput
from overspill.results import store
from overspill.whole_files import write_text

ROWS, README, HISTORY = "rows.json", "README.md", "history.md"
WHAT_IF, PLOTTED = "what_if.json.gz", "plotted.json.gz"


@dataclass(frozen=True)
class Found:
    """Documents in `rows.json` and, after sensitivity runs, in `what_if.json.gz`."""

    document: dict[str, Any]
    changed: dict[str, Any] | None

    @staticmethod
    def read(folder: Path) -> Found:
        """Reads both from a folder."""
        return Found(read_json(folder / ROWS) or {}, read_json(folder / WHAT_IF))

    def write(self, folder: Path) -> None:
        """Writes both into a folder."""
        write_json(folder / ROWS, self.document, 2)
        if self.changed is not None:
            write_json(folder / WHAT_IF, self.changed, 2)


def write_json(path: Path, document: Mapping[str, Any], levels: int) -> None:
    """Writes a document with each entry of the outer levels on a line, compressed for a name in `.gz`."""
    text = store.dump_entries(document, levels) + "\n"
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode(), mtime=0))  # equal documents are equal files
    else:
        write_text(path, text)


def read_json(path: Path) -> dict[str, Any] | None:
    """Returns a document of `write_json`, or `None` without a file; raises `BadInput` if it is broken."""
    if not path.is_file():
        return None
    try:
        data = path.read_bytes()
        found = json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise BadInput(f"{path}: cannot be read: {error}") from error
    if not isinstance(found, dict):
        raise BadInput(f"{path}: found no table; expected a document of `overspill paper NAME --publish`")
    return found
