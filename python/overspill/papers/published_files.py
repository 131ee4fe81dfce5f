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
from overspill.atomic_files import write_text
from overspill.results import results_folder

ROWS_FILE, README_FILE, HISTORY_FILE = "rows.json", "README.md", "history.md"
WHAT_IF_FILE, PLOTTED_FILE = "what_if.json.gz", "plotted.json.gz"


@dataclass(frozen=True)
class PublishedDocuments:
    """Documents in `rows.json` and, after sensitivity runs, in `what_if.json.gz`."""

    rows_document: dict[str, Any]
    sensitivity_document: dict[str, Any] | None

    @staticmethod
    def read(folder: Path) -> PublishedDocuments:
        """Reads both documents of a published reproduction from a folder."""
        return PublishedDocuments(read_json(folder / ROWS_FILE) or {}, read_json(folder / WHAT_IF_FILE))

    def write(self, folder: Path) -> None:
        """Writes both documents of a published reproduction into a folder."""
        write_json(folder / ROWS_FILE, self.rows_document, 2)
        if self.sensitivity_document is not None:
            write_json(folder / WHAT_IF_FILE, self.sensitivity_document, 2)


def write_json(path: Path, document: Mapping[str, Any], levels: int) -> None:
    """Writes a document with each entry of the outer levels on a line, compressed for a name in `.gz`."""
    text = results_folder.dump_entries(document, levels) + "\n"
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
