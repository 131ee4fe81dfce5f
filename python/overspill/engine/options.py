"""How a scenario is run: what a caller may ask for, checked for what needs no scenario."""

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from overspill.engine import cluster
from overspill.engine.grid import Over
from overspill.engine.task import Listener
from overspill.errors import BadInput
from overspill.results import names

SEED_MAX = 2**64 - 1
SEEDS_MOST = 100_000
EVENTS_MOST = 2**63 - 1
JOBS_MOST = 256  # threads


@dataclass(frozen=True)
class Options:
    """How a scenario is run; without `over`, at one point, of which all tables are kept."""

    over: Over = ()
    zips: Sequence[str | Sequence[str]] = ()
    sets: Iterable[str] | Mapping[str, object] = ()
    seed: int | None = None
    seeds: int = 1
    variants: Sequence[str] | None = None
    max_events: int | None = None
    tables: Sequence[str] = ()
    jobs: int | None = None
    on: str | None = None
    out: Callable[[str], Path] | str | Path | None = None
    listener: Listener = field(default_factory=Listener)
    pcap: str | Iterable[str] = ()
    pcap_snaplen: int | None = None
    # A NetworkX graph, a `[topology]` table or a GraphML file, in place of the scenario's.
    topology: Any = None
    sweep: bool = False  # of a grid: of each run, its metrics and `tables` are kept
    label: str = ""  # stands before its points in messages
    check_phase: bool = False  # run it again with all starts moved by less than a frame's time
    metrics: Sequence[str] = ()  # that a sweep is to print, checked before the first run
    baseline: str | None = None  # the variant from which a sweep takes differences; the first if none
    single: bool = False  # `over` of a sweep may be empty: one point

    @property
    def kept(self) -> tuple[str, ...]:
        """The tables that are kept."""
        return tuple(dict.fromkeys(self.tables)) if self.sweep else names.TABLES

    def __post_init__(self) -> None:
        """Lists of what may be given as any iterable, or as one text as on the command line."""
        for name in ("over", "sets"):
            given = getattr(self, name)
            if not isinstance(given, Mapping):
                object.__setattr__(self, name, listed(name, given, parted=False))
        for name, parted in (("zips", False), ("pcap", False), ("variants", True), ("tables", True)):
            given = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, listed(name, given, parted))
        together = [one if isinstance(one, str) else listed("zips", one, parted=False) for one in self.zips]
        object.__setattr__(self, "zips", together)
        for name in ("seed", "seeds", "max_events", "jobs", "pcap_snaplen"):
            given = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, whole(name, given))

    def check(self) -> None:
        """`BadInput` of what no run can have."""
        for name, number, most in (
            ("--max-events", self.max_events, EVENTS_MOST),
            ("--jobs", self.jobs, JOBS_MOST),
        ):
            if number is not None and not 1 <= number <= most:
                raise BadInput(f"{name}: found {number}; expected 1 to {most}")
        for table in self.tables:
            if table not in names.TABLES:
                raise BadInput(f"--tables: found {table}; expected some of {', '.join(names.TABLES)}")
        twice = [table for table in self.tables if list(self.tables).count(table) > 1]
        if twice:
            raise BadInput(f"--tables: found {twice[0]} twice; expected each table once")
        if self.check_phase and self.sweep:
            raise BadInput("--check-phase: found it with a sweep; expected a single point: `overspill run`")
        if self.tables and self.out is None:
            raise BadInput("tables are kept in a folder; give `out` as well")
        if self.on is not None:
            cluster.check(self.on)
            if self.jobs is not None:
                raise BadInput("--jobs is for runs in this process; with --on, the cluster's workers decide")


def listed(name: str, given: Any, parted: bool) -> list[Any]:
    """What was given, once and for all: a generator gives it once; a text is one, or those between commas."""
    if isinstance(given, str):
        return [one.strip() for one in given.split(",") if one.strip()] if parted else [given]
    try:
        return list(given)
    except TypeError:
        raise BadInput(f"{name}: found {given!r}; expected a list of texts") from None


def whole(name: str, given: Any) -> int:
    """A whole number, of whatever kind."""
    try:
        if not isinstance(given, bool):
            return operator.index(given)
    except TypeError:
        pass
    raise BadInput(f"{name}: found {given!r}; expected a whole number")


def seeds_from(first: int, count: int) -> list[int]:
    """`count` seeds from `first` on."""
    if count < 1:
        raise BadInput(f"--seeds: found {count}; expected 1 or more")
    if count > SEEDS_MOST:
        raise BadInput(f"--seeds: found {count}; expected {SEEDS_MOST} or fewer")
    if not 0 <= first <= SEED_MAX - (count - 1):
        raise BadInput(f"--seed: found {first}; expected seeds from 0 to {SEED_MAX}")
    return list(range(first, first + count))
