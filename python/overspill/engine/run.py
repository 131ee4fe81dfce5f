"""A scenario run, at one point or at every point of a grid: checked, scheduled, kept, and its results."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from overspill.engine import core, interrupts, keys, phase, schedule
from overspill.engine.grid import Over
from overspill.engine.options import Options
from overspill.engine.plan import Plan, placed, planned
from overspill.engine.schedule import Memory, Outcome
from overspill.engine.task import Listener, Task
from overspill.errors import BadInput, Failed, OverspillError, Unwritable
from overspill.results import cache, commit, gather, pending, store
from overspill.results.cache import Broken, Cache
from overspill.results.phase import compared
from overspill.results.results import Results
from overspill.results.rundata import RunData


def execute(scenario: str | Path, options: Options) -> Results:
    """Run what the store does not have; whatever ends it, what is finished is kept."""
    (results,) = run_plans([planned(scenario, options)], options.listener)
    if isinstance(results, OverspillError):
        raise results
    return results


def run_plans(plans: Sequence[Plan], listener: Listener) -> list[Results | OverspillError]:
    """Run several plans one after the other; of one of which no run succeeds, why.

    All are counted before the first run, and share what may be asked to stop them.
    """
    with ExitStack() as stack:
        every = [works(plan, stack) for plan in plans]
        first = 0
        for work in (work for one in every for work in one):
            work.plan = replace(work.plan, first=first)
            first += len(work.plan.checked.points)
        with interrupts.asked() as asked:
            looked = [work.look(listener) for one in every for work in one]
            listener.begin(
                [task for one in looked for task in one.left], [one for all in looked for one in all.stored]
            )
            results = [performed(one, asked) for one in every]
    stopped = any(isinstance(one, Results) and one.interrupted for one in results)
    for one in results:
        if asked.is_set() and not stopped and isinstance(one, Results):
            # It came after the last run: all is there, and shown.
            one.signal = asked.signal
    return results


@dataclass
class Work:
    """A plan, where its runs are kept, and which of them are to be done."""

    plan: Plan
    found: Cache | Memory
    left: Sequence[Task] = ()

    def look(self, listener: Listener) -> schedule.Looked:
        """What its store has."""
        looked = schedule.look(self.plan, self.found, listener)
        self.left = looked.left
        return looked

    def drive(self, asked: interrupts.Asked) -> Outcome:
        """Run what is left."""
        return schedule.drive(self.plan, self.left, self.found, asked)


@dataclass
class Works:
    """A plan, and the check that is made of it."""

    main: Work
    check: Work | None = None
    told: Mapping[str, Any] | None = None  # what the check moves

    def __iter__(self) -> Iterator[Work]:
        """In the order in which they are done."""
        yield self.main
        if self.check is not None:
            yield self.check


def works(plan: Plan, stack: ExitStack) -> Works:
    """A plan with its store, and a check of it where one is asked for, in the same store."""
    asked = phase.planned_check(plan)
    main = Work(plan, opened(plan, stack))
    if asked is None or asked.plan is None:
        return Works(main, told=None if asked is None else asked.told)
    found = main.found if isinstance(main.found, Cache) else opened(asked.plan, stack)
    return Works(main, Work(asked.plan, found), asked.told)


def performed(works: Works, asked: interrupts.Asked) -> Results | OverspillError:
    """Run what is left of a plan, and of its check; its results, or why there are none."""
    try:
        outcome = works.main.drive(asked)
        # Nothing is compared with runs that failed.
        failed = [] if works.check is None or outcome.errors else works.check.drive(asked).lines
        with asked.after_runs():
            results = finish(works, outcome, failed)
    except (BadInput, Unwritable):
        raise
    except OverspillError as error:
        return error
    results.signal = asked.signal if outcome.interrupted else None
    return results


def opened(plan: Plan, stack: ExitStack) -> Cache | Memory:
    """The store of a folder, which stays this command's; without a folder, memory or a temporary one."""
    out = plan.out
    if out is None:
        if plan.whole:
            return Memory()
        return Cache(Path(stack.enter_context(TemporaryDirectory(prefix="overspill-"))))
    found = stack.enter_context(cache.held(out))
    commit.refuse_others(out, sweep=not plan.whole)
    if not plan.whole:
        known = known_of(plan) | {"failures": [], "interrupted": True}
        pending.write(out, known, plan.checked.settings)
    return found


def finish(works: Works, outcome: Outcome, failed: Sequence[str]) -> Results:
    """The results of all that is finished, in their folder if there is one; `failed` tells of its check."""
    plan, found = works.main.plan, works.main.found
    out = plan.out
    made = of_point(plan, outcome, found) if plan.whole else of_grid(plan, outcome, found)
    errors = outcome.errors
    if errors and not made.finished:
        raise failure(errors, plan.checked.notes)
    if made.missing and not errors and not outcome.interrupted:
        left = f"{made.planned - made.finished} runs are not in the store any more"
        made.facts["failures"] = [f"{left}. Run the same command to continue"]
    if works.told is not None:
        made.facts["phase"] = checked(works, made, failed)
    if out is not None and made.finished:
        made.store = out / "store"
        try:
            commit.write(made, out)
        except Unwritable as error:
            # What is finished lies in the store, and is shown.
            made.facts["failures"] = list(dict.fromkeys([*made.failures, *error.lines]))
        except BadInput as error:
            # Nobody asked for that file: it was damaged while the command was at work.
            again = f"finished runs are kept in {made.store}. Run the same command to continue"
            raise Failed([*error.lines, again]) from error
    return made


def checked(works: Works, made: Results, failed: Sequence[str]) -> dict[str, Any]:
    """What the check of a plan has found."""
    after: dict[str, dict[int, Any]] = {}
    if works.check is not None:
        assert isinstance(works.check.found, Cache)
        for variant, seed, key in phase.keys(works.check.plan):
            try:
                entry = works.check.found.read(key)
            except Broken:
                entry = None
            if entry is not None:
                after.setdefault(variant, {})[seed] = entry.values
    return compared({**(works.told or {}), "failures": list(failed)}, made.values, after)


def failure(errors: Sequence[OverspillError], notes: Iterable[str]) -> OverspillError:
    """What is told where no run is left: of every run why, and the scenario's notes, which may say more."""
    lines = dict.fromkeys(line for error in errors for line in error.lines)
    return type(errors[0])([*(f"note: {note}" for note in notes), *lines])


def of_point(plan: Plan, outcome: Outcome, found: Cache | Memory) -> Results:
    """The results of a single point, with all tables."""
    return Results(point_facts(plan, outcome), list(runs(plan, found)))


def runs(plan: Plan, found: Cache | Memory) -> Iterator[RunData]:
    """Every finished run of a single point, seed by seed."""
    only = plan.checked.only
    assert only is not None and only.made is not None
    known = only.document["resolved"]
    resolved = {name: keys.whole(only.made, name, known[name]) for name in plan.checked.variants}
    for seed in plan.seeds:
        for variant, config in plan.checked.configs[0].items():
            run = read(found, plan.key(config, seed))
            if run is not None:
                told = {
                    "variant": variant,
                    "config_hash": config_hash(resolved[variant], seed),
                }
                yield run.known_as(told)


def read(found: Cache | Memory, key: str) -> RunData | None:
    """A finished run, if there is one."""
    if isinstance(found, Memory):
        return found.runs.get(key)
    return cache.stored(found, key)


def config_hash(resolved: Any, seed: int) -> str:
    """SHA-256 of what was run: the core's version, a variant with every default filled in, and the seed.

    Equal for equal configurations, wherever they come from. Of the files that a scenario names it covers
    the name only.
    """
    made_of = {"overspill": core.version(), "resolved": resolved, "seed": seed}
    text = json.dumps(made_of, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def point_facts(plan: Plan, outcome: Outcome) -> dict[str, Any]:
    """What made the results; nothing of the clock or the machine, so that they stay reproducible."""
    only, asked = plan.checked.only, plan.pcap
    assert only is not None
    loaded, variants = only.document, plan.checked.variants
    pcap = {"pcap": list(asked.texts), "pcap_snaplen": asked.snaplen} if asked.texts else {}
    return {
        "overspill": core.version(),
        "name": loaded["name"],
        "scenario": source_facts(plan),
        "files": plan.checked.named,
        "sets": list(plan.base.sets),
        "seeds": list(plan.seeds),
        "max_events": plan.options.max_events,
        **pcap,
        "duration_ps": loaded["duration_ps"],
        "variants": variants,
        **labels(plan),
        "notes": plan.checked.notes,
        "interrupted": outcome.interrupted,
        "failures": outcome.lines,
        "resolved": {name: loaded["resolved"][name] for name in variants},
        "memory": {name: one for name, one in loaded.get("memory", {}).items() if name in variants},
        "networks": loaded.get("networks", []),
        "network_of": {name: at for name, at in loaded.get("network_of", {}).items() if name in variants},
    }


def labels(plan: Plan) -> dict[str, dict[str, str]]:
    """The labels of variants as a part of the manifest; empty if no variant has one."""
    return {"labels": plan.checked.labels} if plan.checked.labels else {}


def source_facts(plan: Plan) -> dict[str, str]:
    """The scenario's file."""
    source = plan.base.source
    return {"file": Path(source.path).name, "sha256": source.sha256, "text": source.text}


def of_grid(plan: Plan, outcome: Outcome, found: Cache | Memory) -> Results:
    """The results of every point, read from the store one by one."""
    assert isinstance(found, Cache)
    known = known_of(plan) | {"failures": outcome.lines, "interrupted": outcome.interrupted}
    checked = plan.checked
    known_by = [
        {variant: [plan.key(config, seed) for seed in plan.seeds] for variant, config in configs.items()}
        for configs in checked.configs
    ]
    every = map(gather.Planned, checked.points, known_by, checked.settings)
    return gather.grid(known, plan.grid.axes, list(every), found)


def known_of(plan: Plan) -> dict[str, Any]:
    """Returns the facts of a sweep that are known before its first run."""
    return grid_facts(plan) | {
        "seeds": list(plan.seeds),
        "max_events": plan.options.max_events,
        "tables": list(plan.options.kept),
        "baseline": plan.baseline,
    }


def grid_facts(plan: Plan) -> dict[str, Any]:
    """What makes a sweep; nothing of the clock, the machine, or how it was interrupted."""
    checked, build = plan.checked, plan.base.build
    configs = [config for by_variant in checked.configs for config in by_variant.values()]
    equal = len(configs) - len(set(configs))
    notes = list(checked.notes)
    if equal:
        notes.append(
            f"{equal} of {len(configs)} configurations (a point, a variant) are equal to another: run once"
        )
    axes = plan.grid.axes
    return {
        "format": store.SWEEP_FORMAT,
        "overspill": build.version,
        "core": build.core,
        "metrics": build.metrics,
        "name": checked.name,
        "scenario": source_facts(plan),
        "files": checked.named,
        "sets": list(plan.base.sets),
        "axes": [asdict(axis) for axis in axes],
        "together": [[axes[at].path for at in group] for group in plan.grid.groups if len(group) > 1],
        "variants": checked.variants,
        **labels(plan),
        "notes": notes,
        "points": [
            {"values": list(point.values.values()), "configs": configs}
            for point, configs in zip(checked.points, checked.configs, strict=True)
        ],
    }


def unless_stopped(results: Results) -> Results:
    """The results; what stopped a program after the last run stops it now."""
    if results.signal is not None and not results.interrupted:
        interrupts.raised(results.signal)
    return results


def asked_for(scenario: str | Path, **asked: Any) -> Results:
    """What `run` and `sweep` do with all that they are given: the fields of `Options`."""
    asked |= {"out": placed(asked["out"]), "listener": asked["listener"] or Listener()}
    return unless_stopped(execute(scenario, Options(**asked)))


def run(
    scenario: str | Path,
    *,
    seeds: int = 1,
    seed: int | None = None,
    sets: Iterable[str] | Mapping[str, object] = (),
    variants: str | Iterable[str] | None = None,
    out: Callable[[str], Path] | str | Path | None = None,
    jobs: int | None = None,
    max_events: int | None = None,
    topology: Any = None,
    pcap: str | Iterable[str] = (),
    pcap_snaplen: int | None = None,
    check_phase: bool = False,
    listener: Listener | None = None,
) -> Results:
    """Run a scenario file, all variants or some, with `seeds` seeds from `seed` on, or the scenario's own.

    `sets` changes fields by their paths; `topology` puts a NetworkX graph, a `[topology]` table or a
    GraphML file in the place of the scenario's. With `out`, results are files there, and runs that are
    finished there are not repeated; without, they are in memory. `pcap` names links and hosts whose frames
    are captured. `jobs` are threads, all cores by default. `check_phase` runs all again with
    starts moved by less than a frame's time: `facts["phase"]` has the metrics that move. `BadInput` tells all
    that is wrong with a scenario; a run that fails is in `Results.failures`.
    """
    return asked_for(**locals())


def sweep(
    scenario: str | Path,
    over: Over,
    *,
    seeds: int = 10,
    seed: int | None = None,
    sets: Iterable[str] | Mapping[str, object] = (),
    variants: str | Iterable[str] | None = None,
    zips: Iterable[str | Sequence[str]] = (),
    jobs: int | None = None,
    on: str | None = None,
    out: Callable[[str], Path] | str | Path | None = None,
    tables: str | Iterable[str] = (),
    baseline: str | None = None,
    max_events: int | None = None,
    listener: Listener | None = None,
) -> Results:
    """Run a scenario at every point of a grid, with all variants and seeds.

    `over` maps fields to their values, or is a list of `path=a,b,c`. With `out`, finished runs are kept there
    and never repeated. `jobs` are threads (all cores by default); `on` names a Dask scheduler instead
    (`tcp://...`, or `local:N` for N processes here). `zips` has groups of paths that move together.
    `differences` of the results are from the variant `baseline`, the first if none is named. Runs that fail
    are in `Results.failures`; `BadInput` tells everything that is wrong with any point.
    """
    return asked_for(sweep=True, **locals())
