"""Options of runs, and their checks that need no scenario."""

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from overspill.engine import cluster
from overspill.engine.grid import SweptValues
from overspill.engine.task import Listener
from overspill.errors import BadInput
from overspill.results import names

MAX_SEED = 2**64 - 1
MAX_SEEDS = 100_000
MAX_EVENTS = 2**63 - 1
MAX_JOBS = 256  # number of threads


@dataclass(frozen=True)
class Options:
    """Options of runs at a single point, or at every point of a grid if `sweep` is set.

    Attributes:
        over: Swept fields with their values, as a mapping by path or as a list of `path=a,b,c`.
        zips: Groups of swept paths that move together instead of being crossed.
        sets: Settings that override fields of the scenario, as `path=value` texts or as a mapping by path.
        seed: First seed. Default: the scenario's own.
        seeds: Number of seeds.
        variants: Names of the variants to run. Default: all.
        max_events: Number of events after which each run is cut.
        tables: Names of tables that a sweep keeps of each run, beside its metrics; needs `out`.
        jobs: Number of threads. Default: all cores.
        on: Dask scheduler to use instead of threads (`tcp://...`), or `local:N` for N local processes.
        out: Folder of the results, or a function from the scenario's name to it.
        listener: Object that is notified of progress.
        pcap: Names of links and hosts whose frames are captured as pcapng.
        pcap_snaplen: Largest number of bytes kept of each captured frame. Default: all.
        topology: NetworkX graph, `[topology]` table or GraphML file that replaces the scenario's.
        sweep: True for a grid, of whose runs only metrics and `tables` are kept.
        label: Text before the points of these runs in messages.
        check_phase: True to repeat all runs with starts moved by less than a frame's transmission time.
        metrics: Metrics that a sweep is to print, checked before the first run.
        baseline: Variant that a sweep subtracts in differences. Default: the first.
        single: True to allow a sweep without `over`, at one point.

    """

    over: SweptValues = ()
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
    topology: Any = None
    sweep: bool = False
    label: str = ""
    check_phase: bool = False
    metrics: Sequence[str] = ()
    baseline: str | None = None
    single: bool = False

    @property
    def kept_tables(self) -> tuple[str, ...]:
        """Names of the tables that are kept of each run."""
        return tuple(dict.fromkeys(self.tables)) if self.sweep else names.TABLES

    def __post_init__(self) -> None:
        """Converts arguments to lists; each may be any iterable, or one text as on the command line."""
        for name in ("over", "sets"):
            given = getattr(self, name)
            if not isinstance(given, Mapping):
                object.__setattr__(self, name, parse_list(name, given, parted=False))
        for name, parted in (("zips", False), ("pcap", False), ("variants", True), ("tables", True)):
            given = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, parse_list(name, given, parted))
        together = [
            one if isinstance(one, str) else parse_list("zips", one, parted=False) for one in self.zips
        ]
        object.__setattr__(self, "zips", together)
        for name in ("seed", "seeds", "max_events", "jobs", "pcap_snaplen"):
            given = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, parse_whole_number(name, given))

    def check(self) -> None:
        """Raises `BadInput` for options that no run can have."""
        for name, number, most in (
            ("--max-events", self.max_events, MAX_EVENTS),
            ("--jobs", self.jobs, MAX_JOBS),
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
            raise BadInput("tables: found without `out`; expected `out`, the folder that keeps them")
        if self.on is not None:
            cluster.check_address(self.on)
            if self.jobs is not None:
                raise BadInput(
                    "--jobs: found with --on; expected only one of them, since the workers of the "
                    "cluster set the number of runs at a time"
                )


def parse_list(name: str, given: Any, parted: bool) -> list[Any]:
    """Returns an argument as a list: a text is one item, or with `parted` several between commas.

    The conversion is done once, since a generator can be read only once.
    """
    if isinstance(given, str):
        return [one.strip() for one in given.split(",") if one.strip()] if parted else [given]
    try:
        return list(given)
    except TypeError:
        raise BadInput(f"{name}: found {given!r}; expected a list of texts") from None


def parse_whole_number(name: str, given: Any) -> int:
    """Returns a whole number of any integer type; raises `BadInput` for anything else."""
    try:
        if not isinstance(given, bool):
            return operator.index(given)
    except TypeError:
        pass
    raise BadInput(f"{name}: found {given!r}; expected a whole number")


def seed_range(first: int, count: int) -> list[int]:
    """Returns `count` seeds from `first` on; raises `BadInput` if they are out of range."""
    if count < 1:
        raise BadInput(f"--seeds: found {count}; expected 1 or more")
    if count > MAX_SEEDS:
        raise BadInput(f"--seeds: found {count}; expected {MAX_SEEDS} or fewer")
    if not 0 <= first <= MAX_SEED - (count - 1):
        raise BadInput(f"--seed: found {first}; expected seeds from 0 to {MAX_SEED}")
    return list(range(first, first + count))
