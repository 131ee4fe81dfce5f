"""Memory that this process may still take: no more runs go on at a time than fit into it."""

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
LEAST = 64 * MIB  # what a run takes however small it is
ADDRESSES = 1_500_000 << 10  # of address space, what the libraries of a command take at least
PROC, GROUPS = Path("/proc"), Path("/sys/fs/cgroup")
WAIT = 0.2  # seconds between two looks at what is left


@dataclass(frozen=True)
class Limit:
    """What limits memory.

    `each` is what a run takes of it beside its own, `rest` what is left for what comes after the runs.
    """

    what: str
    left: int
    each: int
    rest: int

    def __str__(self) -> str:
        left, rest = (max(0, size) >> 20 for size in (self.left, self.rest))
        return f"{self.what} has {left} MiB left, {rest} of which are for results"

    def runs(self, need: int) -> int:
        """How many runs of so many bytes fit."""
        return (self.left - self.rest) // (need + self.each)


# What a run takes memory for, and the setting that it comes from.
PARTS = {"ports": "`topology`", "flows": "`traffic`", "packets": "`transport.initial_window`"}


@dataclass(frozen=True)
class Need:
    """Memory that a run takes in bytes, and what of it can be counted before it begins, by cause."""

    all: int = LEAST
    parts: Mapping[str, int] = field_of(default_factory=dict)

    @classmethod
    def read(cls, found: Mapping[str, int] | None) -> Need:
        """Returns the need that the core counted for a run."""
        return cls() if not found else cls(found["all"], {part: found[part] for part in PARTS})

    def check(self) -> None:
        """`BadInput` where the counted part exceeds what is left: the run would be aborted."""
        counted = sum(self.parts.values())
        short = next((limit for limit in limits() if counted > limit.left), None)
        if short is not None:
            part, size = max(self.parts.items(), key=lambda item: item[1])
            raise BadInput(
                f"found a run that takes about {counted >> 20} MiB, {size >> 20} of them for {part} of "
                f"{PARTS[part]}; expected one that fits: {short}"
            )


def limits() -> list[Limit]:
    """Every limit that is known of this process."""
    # Of address space a thread takes more than of memory: its stack, and what allocators set aside for it.
    kinds = (
        ("address space (`ulimit -v`)", addresses, 192 * MIB, 512 * MIB),
        ("memory of the control group", group, 8 * MIB, 128 * MIB),
        ("physical memory", physical, 8 * MIB, 128 * MIB),
    )
    found = ((what, left(), each, rest) for what, left, each, rest in kinds)
    return [Limit(what, left, each, rest) for what, left, each, rest in found if left is not None]


def tightest(need: int) -> Limit | None:
    """The limit into which the fewest runs of so many bytes fit."""
    return min(limits(), key=lambda limit: limit.runs(need), default=None)


def bounded() -> int | None:
    """The bytes of address space that this process may have; `None` where there is no bound."""
    try:
        import resource
    except ImportError:
        return None
    soft = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if soft == resource.RLIM_INFINITY else soft


def enough_addresses() -> None:
    """`BadInput` where address space is bounded so that libraries cannot be loaded.

    They abort without it, or wait for ever for what does not come, deaf to any signal.
    """
    most = bounded()
    if most is not None and most < ADDRESSES:
        found, least = most >> 10, ADDRESSES >> 10
        raise BadInput(
            f"`ulimit -v`: found {found} KiB of address space; expected {least} or more, or no bound"
        )


def spare_addresses() -> None:
    """Where address space is bounded, let allocators that are loaded from now on take it bit by bit.

    They would set aside a GiB each, which counts as taken.
    """
    if bounded() is not None:
        os.environ.setdefault("MIMALLOC_ARENA_RESERVE", str(64 << 10))  # KiB


def addresses() -> int | None:
    """What is left of the address space, where it is bounded."""
    most, pages = bounded(), first_number(PROC / "self" / "statm")
    return None if most is None or pages is None else most - pages * os.sysconf("SC_PAGE_SIZE")


def group() -> int | None:
    """What the control groups of this process leave, whether of the first or of the second version."""
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
                # Copies of files that nobody uses are given back.
                found.append(limit - now + field(place / "memory.stat", spare))
            if place == root:
                break
    return min(found, default=None)


def physical() -> int | None:
    """What the machine has left."""
    free = field(PROC / "meminfo", "MemAvailable:") * 1024
    if free:
        return free
    with suppress(OSError, ValueError, AttributeError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def lines(path: Path) -> list[str]:
    """The lines of a file of the system; none where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def first_number(path: Path) -> int | None:
    """The number that a file of the system begins with; `None` where there is none."""
    words = " ".join(lines(path)).split()
    return int(words[0]) if words and words[0].isdigit() else None


def field(path: Path, name: str) -> int:
    """The number behind a name in such a file; 0 where there is none."""
    found = (line.split() for line in lines(path))
    return next((int(words[1]) for words in found if words[:1] == [name] and words[1].isdigit()), 0)


class Gate:
    """Lets a run begin where one more fits, by what those before have taken, or where none goes on."""

    def __init__(self, need: int, stopped: Callable[[], bool]) -> None:
        self.need, self.stopped = need, stopped
        self.before = {limit.what: limit.left for limit in limits()}
        self.going, self.most = 0, 1
        self.short: Limit | None = None  # what a run has waited for
        self.changed = threading.Condition()

    @contextmanager
    def passed(self) -> Iterator[None]:
        """As long as a run goes on."""
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
        """What has no room for one more run, if anything."""
        for limit in limits():
            taken = (self.before.get(limit.what, limit.left) - limit.left) // self.most
            if limit.left - limit.rest < max(self.need, taken):
                return limit
        return None
