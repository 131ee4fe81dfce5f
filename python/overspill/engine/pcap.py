"""Captures: frames that cross a link, as one pcapng file per run and link, written during the run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overspill.atomic_files import report_write_errors
from overspill.engine import core
from overspill.errors import BadInput, check_text
from overspill.results import results_folder
from overspill.results.table_streams import SpillFolder

if TYPE_CHECKING:
    from overspill._core import Run, Scenario

FRAMES_PER_WRITE = 1 << 12  # frames of each link that are formatted in memory before they are written
MAX_SNAPLEN = 262_144  # bytes; more than any frame


@dataclass(frozen=True)
class CaptureRequest:
    """Requested captures: links as the user named them, and the most bytes kept of each frame."""

    texts: Sequence[str] = ()
    snaplen: int | None = None

    @property
    def key_part(self) -> list[Any]:
        """Capture request as a part of a run's key; empty if nothing is captured."""
        return [list(self.texts), self.snaplen] if self.texts else []

    @staticmethod
    def parse(texts: Iterable[str], snaplen: int | None) -> CaptureRequest:
        """Returns the capture request after checks that need no scenario; raises `BadInput` if one fails."""
        found = [check_text("--pcap", one) for one in texts]
        if snaplen is not None and not found:
            raise BadInput("--pcap-snaplen: found without --pcap; expected a link or a host to capture")
        if snaplen is not None and not 1 <= snaplen <= MAX_SNAPLEN:
            raise BadInput(f"--pcap-snaplen: found {snaplen}; expected 1 to {MAX_SNAPLEN} bytes")
        return CaptureRequest(found, snaplen)

    def check(self, scene: Scenario, variants: Iterable[str]) -> None:
        """Raises `BadInput` if a variant does not have one of the links."""
        for variant in variants if self.texts else ():
            self.links(scene, variant)

    def links(self, scene: Scenario, variant: str) -> list[str]:
        """Returns the names of a variant's captured links; raises `BadInput` if two have the same file."""
        if not self.texts:
            return []
        names = core.captured_links(scene, variant, list(self.texts))
        if len(set(names)) < len(names):
            raise BadInput(f"--pcap: found two links that are called {names[0]!r}; expected one of them")
        results_folder.refuse_equal_paths("--pcap", names)
        return names


def capture_file_name(link: str) -> str:
    """Returns the file name of a link's capture, unique to it: `h0~edge0.pcapng` for `h0:edge0`."""
    return (
        "~".join(results_folder.path_component(part) if part else "%" for part in link.split(":")) + ".pcapng"
    )


class Captures:
    """Captures of one run, written under temporary names until they are complete.

    `where` returns the folder and the owner that keeps it; it is called when the first bytes arrive.
    """

    def __init__(
        self, run: Run, links: Sequence[str], where: Callable[[], tuple[Path, SpillFolder | None]]
    ) -> None:
        self.run, self.where = run, where
        self.files = {link: capture_file_name(link) for link in links}
        self.place: Path | None = None
        self.owner: SpillFolder | None = None

    def __enter__(self) -> Captures:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if self.place is None:
            return
        for file in self.files.values():
            # The temporary file may not exist yet, or no longer, if the capture is complete.
            with suppress(OSError):
                partial_path(self.place, file).unlink(missing_ok=True)
                if error is not None:
                    (self.place / file).unlink(missing_ok=True)

    def write(self) -> None:
        """Writes the frames captured since the last call."""
        while self.files and any(chunks := self.run.captured(FRAMES_PER_WRITE)):
            first = self.place is None
            if self.place is None:
                self.place, self.owner = self.where()
            with report_write_errors(self.place):
                self.place.mkdir(parents=True, exist_ok=True)
                for file, chunk in zip(self.files.values(), chunks, strict=True):
                    # Opened each time: a run may have more links than a process may have open files.
                    with partial_path(self.place, file).open("wb" if first else "ab") as capture:
                        capture.write(chunk)

    def close(self) -> dict[str, Path]:
        """Writes the remaining frames, and returns the complete files by link."""
        self.write()
        found = {}
        with report_write_errors(self.place):
            for link, file in self.files.items():
                assert self.place is not None
                found[link] = partial_path(self.place, file).replace(self.place / file)
        return found


def partial_path(place: Path, file: str) -> Path:
    """Returns the temporary path of an incomplete file."""
    return place / f"{file}.part"
