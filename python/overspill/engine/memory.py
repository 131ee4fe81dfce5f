"""Free memory of this process, and a gate that admits only as many simultaneous runs as fit."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from dataclasses import field as field_of
from pathlib import Path

from overspill.errors import BadInput

MIB = 1 << 20
LEAST = 64 * MIB  # bytes that even the smallest run takes
ADDRESSES = 1_500_000 << 10  # bytes of address space that the libraries of a command take at least
PROC, GROUPS = Path("/proc"), Path("/sys/fs/cgroup")
WAIT = 0.2  # seconds between two checks of free memory


@dataclass(frozen=True)
class Limit:
    """Limit of memory, in bytes.

    `left` is free, `each` is the overhead of a run beside its own need, and `rest` is reserved for the work
    after the runs.
    """

    what: str
    left: int
    each: int
    rest: int

    def __str__(self) -> str:
        left, rest = (max(0, size) >> 20 for size in (self.left, self.rest))
        return f"{self.what} has {left} MiB left, of which {rest} MiB are reserved for results"

    def runs(self, need: int) -> int:
        """Returns the number of runs of `need` bytes that fit."""
        return (self.left - self.rest) // (need + self.each)


# Causes of a run's memory, with the setting that each comes from.
PARTS = {"ports": "`topology`", "flows": "`traffic`", "packets": "`transport.initial_window`"}


@dataclass(frozen=True)
class Need:
    """Memory that a run takes in bytes, and the parts of it that can be counted before it begins."""

    all: int = LEAST
    parts: Mapping[str, int] = field_of(default_factory=dict)

    @classmethod
    def read(cls, found: Mapping[str, int] | None) -> Need:
        """Returns the need that the core counted for a run."""
        return cls() if not found else cls(found["all"], {part: found[part] for part in PARTS})

    def check(self) -> None:
        """Raises `BadInput` if the counted parts exceed the free memory, since the run would be aborted."""
        counted = sum(self.parts.values())
        short = next((limit for limit in limits() if counted > limit.left), None)
        if short is not None:
            part, size = max(self.parts.items(), key=lambda item: item[1])
            raise BadInput(
                f"found a run that takes about {counted >> 20} MiB, {size >> 20} MiB of them for {part} "
                f"of {PARTS[part]}; expected a run that fits: {short}"
            )


def limits() -> list[Limit]:
    """Returns every memory limit that is known for this process."""
    # A thread takes more address space than memory: its stack, and the reserves of allocators.
    kinds = (
        ("address space (`ulimit -v`)", addresses, 192 * MIB, 512 * MIB),
        ("memory of the control group", group, 8 * MIB, 128 * MIB),
        ("physical memory", physical, 8 * MIB, 128 * MIB),
    )
    found = ((what, left(), each, rest) for what, left, each, rest in kinds)
    return [Limit(what, left, each, rest) for what, left, each, rest in found if left is not None]


def tightest(need: int) -> Limit | None:
    """Returns the limit that the fewest runs of `need` bytes fit into; `None` if none is known."""
    return min(limits(), key=lambda limit: limit.runs(need), default=None)


def bounded() -> int | None:
    """Returns the bound on the address space of this process in bytes; `None` if there is none."""
    try:
        import resource
    except ImportError:
        return None
    soft = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if soft == resource.RLIM_INFINITY else soft


def enough_addresses() -> None:
    """Raises `BadInput` if the address space is bounded below what the libraries need.

    Without enough of it they abort, or wait forever and ignore signals.
    """
    most = bounded()
    if most is not None and most < ADDRESSES:
        found, least = most >> 10, ADDRESSES >> 10
        raise BadInput(
            f"`ulimit -v`: found {found} KiB of address space; expected {least} or more, or no bound"
        )


def spare_addresses() -> None:
    """Makes allocators reserve address space in small steps if it is bounded.

    Allocators loaded later would otherwise reserve 1 GiB each, which counts as used.
    """
    if bounded() is not None:
        os.environ.setdefault("MIMALLOC_ARENA_RESERVE", str(64 << 10))  # KiB


def addresses() -> int | None:
    """Returns the free address space in bytes; `None` if it is not bounded."""
    most, pages = bounded(), first_number(PROC / "self" / "statm")
    return None if most is None or pages is None else most - pages * os.sysconf("SC_PAGE_SIZE")


def group() -> int | None:
    """Returns the free memory in bytes of the control groups of this process, version 1 or 2.

    `None` if there is no limit.
    """
    found = []
    for line in lines(PROC / "self" / "cgroup"):
        _, kinds, path = line.split(":", 2)
        if not kinds:
            names = (GROUPS, "memory.max", "memory.current", "inactive_file")
        elif "memory" in kinds.split(","):
            names = (
                GROUPS / "memory",
                "memory.limit_in_bytes",
                "memory.usage_in_bytes",
                "total_inactive_file",
            )
        else:
            continue
        root, most, used, spare = names
        below = root / path.strip("/")
        for place in (below, *below.parents):
            limit, now = first_number(place / most), first_number(place / used)
            if limit is not None and now is not None:
                # The kernel gives back inactive page cache, so it counts as free.
                found.append(limit - now + field(place / "memory.stat", spare))
            if place == root:
                break
    return min(found, default=None)


def physical() -> int | None:
    """Returns the free physical memory in bytes, or all of it if the free part is not known."""
    free = field(PROC / "meminfo", "MemAvailable:") * 1024
    if free:
        return free
    with suppress(OSError, ValueError, AttributeError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def lines(path: Path) -> list[str]:
    """Returns the lines of a system file; empty if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def first_number(path: Path) -> int | None:
    """Returns the number at the beginning of a system file; `None` if there is none."""
    words = " ".join(lines(path)).split()
    return int(words[0]) if words and words[0].isdigit() else None


def field(path: Path, name: str) -> int:
    """Returns the number after a name in a system file; 0 if there is none."""
    found = (line.split() for line in lines(path))
    return next((int(words[1]) for words in found if words[:1] == [name] and words[1].isdigit()), 0)


class Gate:
    """Gate that admits a run if one more fits into memory, or if no other run is in progress.

    The memory that earlier runs took counts if it is more than a run's need.
    """

    def __init__(self, need: int, stopped: Callable[[], bool]) -> None:
        self.need, self.stopped = need, stopped
        self.before = {limit.what: limit.left for limit in limits()}
        self.going, self.most = 0, 1
        self.short: Limit | None = None  # limit that a run has waited for
        self.changed = threading.Condition()

    @contextmanager
    def passed(self) -> Iterator[None]:
        """Waits until a run fits, and counts it as running for the duration of the block."""
        with self.changed:
            while self.going and not self.stopped() and (short := self.lacking()) is not None:
                self.short = short
                self.changed.wait(WAIT)
            self.going += 1
            self.most = max(self.most, self.going)
        try:
            yield
        finally:
            with self.changed:
                self.going -= 1
                self.changed.notify_all()

    def lacking(self) -> Limit | None:
        """Returns a limit that is too low for one more run; `None` if the run fits."""
        for limit in limits():
            taken = (self.before.get(limit.what, limit.left) - limit.left) // self.most
            if limit.left - limit.rest < max(self.need, taken):
                return limit
        return None
