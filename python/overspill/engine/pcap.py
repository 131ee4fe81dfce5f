"""Captures: what crossed a link, as a pcapng file for each run and link, written while the run goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overspill.engine import core
from overspill.errors import BadInput, readable
from overspill.results import store
from overspill.results.stream import Spill
from overspill.whole_files import writing

if TYPE_CHECKING:
    from overspill._core import Run, Scenario

FRAMES = 1 << 12  # of each link, made in memory before they are written
SNAPLEN_MOST = 262_144  # bytes; more than any frame


@dataclass(frozen=True)
class Wanted:
    """What is to be captured: links as the user named them, and at most how much of each frame."""

    texts: Sequence[str] = ()
    snaplen: int | None = None

    @property
    def asked(self) -> list[Any]:
        """What was asked for; empty where nothing was."""
        return [list(self.texts), self.snaplen] if self.texts else []

    @staticmethod
    def parse(texts: Iterable[str], snaplen: int | None) -> Wanted:
        """Checked for what needs no scenario."""
        found = [readable("--pcap", one) for one in texts]
        if snaplen is not None and not found:
            raise BadInput("--pcap-snaplen: found without --pcap; expected a link or a host to capture")
        if snaplen is not None and not 1 <= snaplen <= SNAPLEN_MOST:
            raise BadInput(f"--pcap-snaplen: found {snaplen}; expected 1 to {SNAPLEN_MOST} bytes")
        return Wanted(found, snaplen)

    def check(self, scene: Scenario, variants: Iterable[str]) -> None:
        """`BadInput` where a variant has no such link."""
        for variant in variants if self.texts else ():
            self.links(scene, variant)

    def links(self, scene: Scenario, variant: str) -> list[str]:
        """The names of a variant's captured links, each once."""
        if not self.texts:
            return []
        names = core.links(scene, variant, list(self.texts))
        if len(set(names)) < len(names):
            raise BadInput(f"--pcap: found two links that are called {names[0]!r}; expected one of them")
        return names


def file_name(link: str) -> str:
    """The file of a link: `h0~edge0.pcapng` for `h0:edge0`; different links have different ones."""
    return "~".join(store.slug(part) if part else "%" for part in link.split(":")) + ".pcapng"


class Captures:
    """The captures of one run, under other names until they are whole.

    `where` gives the folder and who keeps it there; it is asked when the first bytes come.
    """

    def __init__(
        self, run: Run, links: Sequence[str], where: Callable[[], tuple[Path, Spill | None]]
    ) -> None:
        self.run, self.where = run, where
        self.files = {link: file_name(link) for link in links}
        self.place: Path | None = None
        self.owner: Spill | None = None

    def __enter__(self) -> Captures:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if self.place is None:
            return
        for file in self.files.values():
            # It may not have been begun, or be whole.
            with suppress(OSError):
                part(self.place, file).unlink(missing_ok=True)
                if error is not None:
                    (self.place / file).unlink(missing_ok=True)

    def write(self) -> None:
        """Write what has crossed the links since the last time."""
        while self.files and any(chunks := self.run.captured(FRAMES)):
            first = self.place is None
            if self.place is None:
                self.place, self.owner = self.where()
            with writing(self.place):
                self.place.mkdir(parents=True, exist_ok=True)
                for file, chunk in zip(self.files.values(), chunks, strict=True):
                    # Opened each time: there may be more links than a process may have files open.
                    with part(self.place, file).open("wb" if first else "ab") as capture:
                        capture.write(chunk)

    def close(self) -> dict[str, Path]:
        """Write the rest; the whole files by link."""
        self.write()
        found = {}
        with writing(self.place):
            for link, file in self.files.items():
                assert self.place is not None
                found[link] = part(self.place, file).replace(self.place / file)
        return found


def part(place: Path, file: str) -> Path:
    """A file that is not whole."""
    return place / f"{file}.part"
