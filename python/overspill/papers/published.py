"""Files that hold a published reproduction: rows, rows by settings of open parameters, and plotted data."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from overspill.results import store
from overspill.whole_files import write_text

ROWS, README, HISTORY = "rows.json", "README.md", "history.md"
WHAT_IF, PLOTTED = "what_if.json.gz", "plotted.json.gz"


@dataclass(frozen=True)
class Found:
    """What `rows.json` and, where open parameters were changed, `what_if.json.gz` hold."""

    document: dict[str, Any]
    changed: dict[str, Any] | None

    @staticmethod
    def read(folder: Path) -> Found:
        """Both from a folder."""
        return Found(read_json(folder / ROWS) or {}, read_json(folder / WHAT_IF))

    def write(self, folder: Path) -> None:
        """Both into a folder."""
        write_json(folder / ROWS, self.document, 2)
        if self.changed is not None:
            write_json(folder / WHAT_IF, self.changed, 2)


def write_json(path: Path, document: Mapping[str, Any], levels: int) -> None:
    """Write a document, an entry of the outer levels on a line; compressed where its name says so."""
    text = store.dump_entries(document, levels) + "\n"
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode(), mtime=0))  # the same bits whenever
    else:
        write_text(path, text)


def read_json(path: Path) -> dict[str, Any] | None:
    """A document that `write_json` wrote, or `None` where there is none."""
    if not path.is_file():
        return None
    data = path.read_bytes()
    found: dict[str, Any] = json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
    return found
