"""A sweep from its axes to its tables: what the store has is taken from there, the rest is run."""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from overspill.engine import cluster, execution, interrupts, keys, points, source
from overspill.engine import watch as progress
from overspill.engine.grid import Grid, Over, grid
from overspill.engine.points import Base, Checked, Scene
from overspill.engine.pool import Pool, Result, Threads
from overspill.engine.simulate import How, Task
from overspill.engine.watch import Watch
from overspill.errors import BadInput, OverspillError, Unwritable
from overspill.results import cache, columns
from overspill.results.cache import Broken, Cache, Entry
from overspill.results.sweep import Sweep, facts, gather

RUNS_MOST = 1_000_000
GOLDEN = 0x9E37_79B9_7F4A_7C15  # 2^64 times the fractional part of the golden ratio, rounded down


@dataclass(frozen=True)
class Options:
    """How a sweep is run."""

    over: Over
    zips: Sequence[str | Sequence[str]] = ()
    sets: Iterable[str] | Mapping[str, object] = ()
    seed: int | None = None
    seeds: int = 10
    variants: Sequence[str] | None = None
    max_events: int | None = None
    tables: Sequence[str] = ()
    jobs: int | None = None
    on: str | None = None
    out: Callable[[str], Path] | str | Path | None = None
    watch: Watch = field(default_factory=Watch)
    single: bool = False  # `over` may be empty: one point


@dataclass
class Outcome:
    """What became of the runs that were not in the store."""

    failures: dict[Task, OverspillError] = field(default_factory=dict)
    interrupted: bool = False
    broken: OverspillError | None = None


@dataclass(frozen=True)
class Sweeping:
    """A sweep whose points are checked."""

    base: Base
    grid: Grid
    checked: Checked
    seeds: Sequence[int]
    options: Options

    @property
    def tasks(self) -> Iterator[Task]:
        """Every run, point by point; of equal ones only the first."""
        seen: set[str] = set()
        for point, configs in zip(self.checked.points, self.checked.configs, strict=True):
            label = str(point)
            for variant, config in configs.items():
                if config in seen:
                    continue
                seen.add(config)
                for seed in self.seeds:
                    key = keys.run(config, seed, self.options.max_events)
                    yield Task(variant, seed, point.index, label, key, config)


def execute(scenario: str | Path, options: Options) -> Sweep:
    """Run what the store does not have, and make the tables."""
    check_options(options)
    made = prepare(scenario, options)
    out = options.out(made.checked.name) if callable(options.out) else options.out
    with ExitStack() as stack:
        if out is None:
            found = Cache(Path(stack.enter_context(TemporaryDirectory(prefix="overspill-"))))
        else:
            found = stack.enter_context(cache.held(Path(out)))
        with interrupts.asked() as asked:
            left = look(made, found, options.watch)
            outcome = drive(made, left, found, asked)
            sweep = finish(made, outcome, found, None if out is None else Path(out))
    if asked.is_set() and not outcome.interrupted:
        raise KeyboardInterrupt
    return sweep


def check_options(options: Options) -> None:
    """Refuse what no sweep can have."""
    for name, number in (("--max-events", options.max_events), ("--jobs", options.jobs)):
        if number is not None and number < 1:
            raise BadInput(f"{name}: found {number}; expected 1 or more")
    for table in options.tables:
        if table not in columns.TABLES:
            raise BadInput(f"--tables: found {table}; expected some of {', '.join(columns.TABLES)}")
    if options.tables and options.out is None:
        raise BadInput("tables are kept in a folder; give `out` as well")
    if options.on is not None:
        cluster.check(options.on)
        if options.jobs is not None:
            raise BadInput("--jobs is for runs in this process; with --on, the cluster's workers decide")


def prepare(scenario: str | Path, options: Options) -> Sweeping:
    """Read the scenario and check every point."""
    text = source.read(scenario)
    sets = source.overrides(options.sets)
    axes = grid(options.over, options.zips, options.single)
    both = {axis.path for axis in axes.axes} & {one.partition("=")[0].strip() for one in sets}
    if both:
        raise BadInput(f"--over: {min(both)}: found it in --set, too; expected one of them")
    base = Base(text, tuple(sets), keys.Files(text.path), keys.build())
    watch = options.watch
    checked = points.check(base, axes, options.variants, lambda done: watch.checking(done, len(axes)))
    seeds = execution.seeds_from(checked.seed if options.seed is None else options.seed, options.seeds)
    count = len(axes) * len(checked.variants) * len(seeds)
    if count > RUNS_MOST:
        raise BadInput(f"--over: found {count} runs; expected {RUNS_MOST} or fewer")
    return Sweeping(base, axes, checked, seeds, options)


def look(made: Sweeping, found: Cache, watch: Watch) -> list[Task]:
    """What the store does not have; what is damaged there is taken away."""
    left: list[Task] = []
    stored: list[tuple[Task, int]] = []
    for task in made.tasks:
        try:
            entry = found.find(task.key, made.options.tables)
        except Broken as error:
            watch.say(f"{task}: run again, its file in the store is damaged ({error})")
            found.remove(task.key)
            entry = None
        if entry is None:
            left.append(task)
        else:
            stored.append((task, progress.hops(entry.summary)))
    watch.begin(left, stored)
    return left


def drive(made: Sweeping, left: Sequence[Task], found: Cache, asked: threading.Event) -> Outcome:
    """Run what is left; whatever finishes is kept at once."""
    options, outcome = made.options, Outcome()
    if not left:
        return outcome
    how = How(
        made.base.source,
        options.max_events,
        tuple(options.tables),
        options.watch,
        asked,
        threading.Event(),
    )
    pool: Pool
    if options.on is None:
        threads = max(1, min(options.jobs or execution.cores(), len(left)))
        pool = Threads(threads, how, found.staging)
    else:
        options.watch.say(f"connecting to {options.on}")
        pool = cluster.Cluster(options.on, how, made.base)
    done = 0
    with pool:
        for result in loop(made, left, pool, how):
            done += keep(result, found, options, outcome)
            if outcome.broken is not None:
                how.broken.set()
    if outcome.broken is not None:
        raise outcome.broken
    outcome.interrupted = asked.is_set() and done + len(outcome.failures) < len(left)
    return outcome


def loop(made: Sweeping, left: Sequence[Task], pool: Pool, how: How) -> Iterator[Result]:
    """Hand out tasks, a few ahead, until all are done or nothing more is to be run."""
    tasks = iter(scattered(left))
    scene: Scene | None = None
    while True:
        while pool.pending < pool.room and not how.stopped and (task := next(tasks, None)) is not None:
            if scene is None or scene.point.index != task.point:
                scene = Scene(made.base, made.checked.points[task.point], made.checked.configs[task.point])
            pool.submit(task, scene)
        if not pool.pending:
            return
        yield from pool.results(0.2)


def scattered(tasks: Sequence[Task]) -> list[Task]:
    """Points in the order of the fractional parts of their number times the golden ratio.

    Any first part of that order lies evenly over the grid, so that its cost tells that of the rest.
    """
    return sorted(tasks, key=lambda task: task.point * GOLDEN % 2**64)


def keep(result: Result, found: Cache, options: Options, outcome: Outcome) -> bool:
    """Put what has finished into the store; whether it has."""
    task, finished = result.task, result.finished
    if result.error is not None:
        outcome.failures[task] = result.error
        options.watch.failed(task)
        if isinstance(result.error, Unwritable):
            outcome.broken = result.error
        return False
    if finished is None:
        return False
    try:
        before = found.read(task.key)
    except Broken:
        before = None
    tables: dict[str, str | None] = {} if before is None else dict(before.tables)
    tables.update(dict.fromkeys(finished.absent))
    found.write(task.key, Entry(finished.values, finished.summary, tables), finished.tables)
    options.watch.kept(task, progress.hops(finished.summary))
    return True


def finish(made: Sweeping, outcome: Outcome, found: Cache, out: Path | None) -> Sweep:
    """The tables of all that the store has now, in their folder if there is one."""
    order = sorted(outcome.failures, key=lambda task: (task.point, task.variant, task.seed))
    lines = [line for task in order for line in outcome.failures[task].lines]
    known = facts(made.base, made.grid, made.checked)
    known |= {
        "seeds": list(made.seeds),
        "max_events": made.options.max_events,
        "tables": list(dict.fromkeys(made.options.tables)),
        "failures": lines,
        "interrupted": outcome.interrupted,
    }
    sweep = gather(known, made.grid.axes, made.checked.points, found)
    if not sweep.table.num_rows and lines:
        raise type(outcome.failures[order[0]])(lines)
    if out is not None and sweep.finished:
        sweep.save(out)
    return sweep


def sweep(
    scenario: str | Path,
    over: Over,
    *,
    seeds: int = 10,
    seed: int | None = None,
    sets: Iterable[str] | Mapping[str, object] = (),
    variants: Sequence[str] | None = None,
    zips: Sequence[str | Sequence[str]] = (),
    jobs: int | None = None,
    on: str | None = None,
    out: str | Path | None = None,
    tables: Sequence[str] = (),
    max_events: int | None = None,
) -> Sweep:
    """Run a scenario at every point of a grid, with all variants and seeds.

    `over` maps fields to their values, or is a list of `path=a,b,c`. With `out`, finished runs are kept there
    and never repeated. `jobs` are threads (all cores by default); `on` names a Dask scheduler instead
    (`tcp://...`, or `local:N` for N processes here). `zips` has groups of paths that move together. Runs that
    fail are in `Sweep.failures`; `BadInput` tells everything that is wrong with any point.
    """
    options = Options(over, zips, sets, seed, seeds, variants, max_events, tables, jobs, on, out)
    return execute(scenario, options)
