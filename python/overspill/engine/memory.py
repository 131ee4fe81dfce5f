"""Free memory of this process, and a gate that admits only as many simultaneous runs as fit into it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from dataclasses import field as field_of
from pathlib import Path

from overspill.errors import BadInput

MIB = 1 << 20
MIN_RUN_BYTES = 64 * MIB  # bytes that even the smallest run takes
MIN_ADDRESS_SPACE = 1_500_000 << 10  # bytes of address space that the libraries of a command take at least
PROC_FOLDER, CGROUP_FOLDER = Path("/proc"), Path("/sys/fs/cgroup")
POLLING_INTERVAL = 0.2  # seconds between two checks of free memory


@dataclass(frozen=True)
class MemoryLimit:
    """Limit of memory, in bytes.

    `extra_per_run` is the overhead of a run beside its own need. `reserved_bytes` are for the work after the
    runs.
    """

    name: str
    free_bytes: int
    extra_per_run: int
    reserved_bytes: int

    def __str__(self) -> str:
        left, rest = (max(0, size) >> 20 for size in (self.free_bytes, self.reserved_bytes))
        return f"{self.name} has {left} MiB left, of which {rest} MiB are reserved for results"

    def count_runs(self, need: int) -> int:
        """Returns the number of runs of `need` bytes that fit."""
        return (self.free_bytes - self.reserved_bytes) // (need + self.extra_per_run)


# Errors about too little memory name the setting that a user can reduce.
SETTING_OF_CAUSE = {"ports": "`topology`", "flows": "`traffic`", "packets": "`transport.initial_window`"}


@dataclass(frozen=True)
class MemoryNeed:
    """Memory that a run takes in bytes, and the parts of it that can be counted before it begins."""

    total: int = MIN_RUN_BYTES
    parts: Mapping[str, int] = field_of(default_factory=dict)

    @classmethod
    def from_core(cls, found: Mapping[str, int] | None) -> MemoryNeed:
        """Returns the memory that a run needs, as counted by the core."""
        return cls() if not found else cls(found["all"], {part: found[part] for part in SETTING_OF_CAUSE})

    def check(self) -> None:
        """Raises `BadInput` if the counted parts exceed the free memory, since the run would be aborted."""
        counted = sum(self.parts.values())
        short = next((limit for limit in memory_limits() if counted > limit.free_bytes), None)
        if short is not None:
            part, size = max(self.parts.items(), key=lambda item: item[1])
            raise BadInput(
                f"found a run that needs about {counted >> 20} MiB, {size >> 20} MiB of them for {part} of "
                f"{SETTING_OF_CAUSE[part]}; expected a run that fits: {short}"
            )


def memory_limits() -> list[MemoryLimit]:
    """Returns every memory limit that is known for this process."""
    # The last two numbers are bytes of overhead of a run, and bytes reserved for results. A thread takes more
    # address space than memory: its stack, and the reserves of allocators.
    kinds = (
        ("address space (`ulimit -v`)", free_address_space, 192 * MIB, 512 * MIB),
        ("memory of the control group", free_cgroup_memory, 8 * MIB, 128 * MIB),
        ("physical memory", free_physical_memory, 8 * MIB, 128 * MIB),
    )
    found = ((what, left(), each, rest) for what, left, each, rest in kinds)
    return [MemoryLimit(what, left, each, rest) for what, left, each, rest in found if left is not None]


def tightest_limit(need: int) -> MemoryLimit | None:
    """Returns the limit that the fewest runs of `need` bytes fit into; `None` if none is known."""
    return min(memory_limits(), key=lambda limit: limit.count_runs(need), default=None)


def address_space_limit() -> int | None:
    """Returns the bound on the address space of this process in bytes; `None` if there is none."""
    try:
        # `psutil` has this bound as well, but takes longer to load, and every command reads the bound.
        import resource

        soft = resource.getrlimit(resource.RLIMIT_AS)[0]
    except (ImportError, AttributeError):  # not on Windows; some systems do not bound address space
        return None
    return None if soft == resource.RLIM_INFINITY else soft


def check_address_space() -> None:
    """Raises `BadInput` if the address space is bounded below what the libraries need.

    Without enough of it they abort, or wait forever and ignore signals.
    """
    most = address_space_limit()
    if most is not None and most < MIN_ADDRESS_SPACE:
        found, least = most >> 10, MIN_ADDRESS_SPACE >> 10
        raise BadInput(
            f"`ulimit -v`: found {found} KiB of address space; expected {least} or more, or no bound"
        )


def limit_allocator_reservations() -> None:
    """Makes allocators reserve address space in small steps if it is bounded.

    Allocators loaded later would otherwise reserve 1 GiB each, which counts as used.
    """
    if address_space_limit() is not None:
        os.environ.setdefault("MIMALLOC_ARENA_RESERVE", str(64 << 10))  # KiB


def free_address_space() -> int | None:
    """Returns the free address space in bytes; `None` if it is not bounded."""
    most = address_space_limit()
    if most is None:
        return None
    import psutil

    return most - int(psutil.Process().memory_info().vms)


def free_cgroup_memory() -> int | None:
    """Returns the free memory in bytes of the control groups of this process, version 1 or 2.

    `None` if there is no limit.
    """
    found = []
    for line in read_lines(PROC_FOLDER / "self" / "cgroup"):
        _, kinds, path = line.split(":", 2)
        if not kinds:
            names = (CGROUP_FOLDER, "memory.max", "memory.current", "inactive_file")
        elif "memory" in kinds.split(","):
            names = (
                CGROUP_FOLDER / "memory",
                "memory.limit_in_bytes",
                "memory.usage_in_bytes",
                "total_inactive_file",
            )
        else:
            continue
        root, most, used, spare = names
        below = root / path.strip("/")
        for place in (below, *below.parents):
            limit, now = read_first_number(place / most), read_first_number(place / used)
            if limit is not None and now is not None:
                # The kernel gives back inactive page cache, so it counts as free.
                found.append(limit - now + read_field(place / "memory.stat", spare))
            if place == root:
                break
    return min(found, default=None)


def free_physical_memory() -> int | None:
    """Returns the free physical memory in bytes; `None` if it is unknown.

    Memory of caches that the system can free counts as free.
    """
    import psutil  # takes milliseconds to load, and is needed for runs only

    try:
        return int(psutil.virtual_memory().available)
    except (OSError, ValueError, psutil.Error):
        return None


def read_lines(path: Path) -> list[str]:
    """Returns the lines of a system file; empty if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def read_first_number(path: Path) -> int | None:
    """Returns the number at the beginning of a system file; `None` if there is none."""
    words = " ".join(read_lines(path)).split()
    return int(words[0]) if words and words[0].isdigit() else None


def read_field(path: Path, name: str) -> int:
    """Returns the number after a name in a system file; 0 if there is none."""
    found = (line.split() for line in read_lines(path))
    return next((int(words[1]) for words in found if words[:1] == [name] and words[1].isdigit()), 0)


class MemoryGate:
    """Gate that admits a run if one more fits into memory, or if no other run is in progress.

    The memory that earlier runs took counts if it is more than a run's need.
    """

    def __init__(self, need: int, stopped: Callable[[], bool]) -> None:
        self.need, self.stopped = need, stopped
        self.before = {limit.name: limit.free_bytes for limit in memory_limits()}
        self.going, self.most = 0, 1
        self.short: MemoryLimit | None = None  # limit that a run has waited for
        self.changed = threading.Condition()

    @contextmanager
    def admit(self) -> Iterator[None]:
        """Waits until a run fits, and counts it as running for the duration of the block."""
        with self.changed:
            while self.going and not self.stopped() and (short := self.limit_reached()) is not None:
                self.short = short
                self.changed.wait(POLLING_INTERVAL)
            self.going += 1
            self.most = max(self.most, self.going)
        try:
            yield
        finally:
            with self.changed:
                self.going -= 1
                self.changed.notify_all()

    def limit_reached(self) -> MemoryLimit | None:
        """Returns a limit that is too low for one more run; `None` if the run fits."""
        for limit in memory_limits():
            taken = (self.before.get(limit.name, limit.free_bytes) - limit.free_bytes) // self.most
            if limit.free_bytes - limit.reserved_bytes < max(self.need, taken):
                return limit
        return None
