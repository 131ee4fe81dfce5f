"""Runs of a scenario at one point or at every point of a grid: check, schedule, store, results."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from overspill.engine import core, interrupts, keys, phase_check, schedule
from overspill.engine.grid import SweptValues
from overspill.engine.options import Options
from overspill.engine.plan import Plan, build_plan, make_absolute
from overspill.engine.schedule import MemoryStore, RunsOutcome
from overspill.engine.task import Listener, Task
from overspill.errors import BadInput, Failed, OverspillError, Unwritable
from overspill.results import cache, failed_runs, gather_sweep, pending_sweep, results_folder, write_results
from overspill.results.cache import BrokenFile, RunStore
from overspill.results.phase_findings import compare_starts
from overspill.results.results import Results
from overspill.results.rundata import RunData


def execute(scenario: str | Path, options: Options) -> Results:
    """Returns the results of a scenario, and runs only what its store does not have.

    Finished runs are kept, whatever ends the command.
    """
    (results,) = run_plans([build_plan(scenario, options)], options.listener)
    if isinstance(results, OverspillError):
        raise results
    return results


def run_plans(plans: Sequence[Plan], listener: Listener) -> list[Results | OverspillError]:
    """Runs several plans and returns for each its results, or the error if none of its runs succeeds.

    `listener` is notified of the runs to do, those of all plans before the first begins; progress of a run
    goes to the listener of its plan. One signal stops all plans. Raises `BadInput` if a folder of results
    holds something else, and `Unwritable` if results cannot be written.

    Examples:
        >>> import overspill
        >>> options = [overspill.Options(sets={"traffic.burst.senders": count}) for count in (2, 8)]
        >>> plans = [overspill.prepare("incast.toml", one) for one in options]
        >>> few, many = overspill.run_plans(plans, overspill.Listener())
        >>> few.flows.num_rows, many.flows.num_rows  # of two variants
        (4, 16)

    """
    with ExitStack() as stack:
        every = [open_plan_work(plan, stack) for plan in plans]
        first = 0
        for work in (work for one in every for work in one):
            work.plan = replace(work.plan, first=first)
            first += len(work.plan.checked.points)
        with interrupts.stop_on_signal() as asked:
            looked = [work.look_up(listener) for one in every for work in one]
            listener.begin(
                [task for one in looked for task in one.left], [one for all in looked for one in all.stored]
            )
            results = [perform_work(one, asked) for one in every]
    stopped = any(isinstance(one, Results) and one.interrupted for one in results)
    for one in results:
        if asked.is_set() and not stopped and isinstance(one, Results):
            # The signal came after the last run: all results exist and are shown. It is recorded for the exit
            # status.
            one.signal = asked.signal
    return results


@dataclass
class PlanWork:
    """Plan with its store, and the runs that are left to do."""

    plan: Plan
    store: RunStore | MemoryStore
    tasks_left: Sequence[Task] = ()

    def look_up(self, listener: Listener) -> schedule.StoreLookup:
        """Looks up the runs of the plan in its store, and returns those found and those left."""
        looked = schedule.look_up_runs(self.plan, self.store, listener)
        self.tasks_left = looked.left
        return looked

    def do_runs(self, asked: interrupts.StopRequest) -> RunsOutcome:
        """Does the runs that the store lacks."""
        return schedule.do_runs(self.plan, self.tasks_left, self.store, asked)


@dataclass
class WorkWithCheck:
    """Work of a plan, and of its phase check if one is requested."""

    main: PlanWork
    check: PlanWork | None = None
    check_facts: Mapping[str, Any] | None = None  # facts of the check, known before its runs

    def __iter__(self) -> Iterator[PlanWork]:
        """Yields the work of the plan, then that of its phase check."""
        yield self.main
        if self.check is not None:
            yield self.check


def open_plan_work(plan: Plan, stack: ExitStack) -> WorkWithCheck:
    """Returns a plan with its store, and its phase check, in the same store, if one is requested."""
    asked = phase_check.plan_phase_check(plan)
    main = PlanWork(plan, open_store(plan, stack))
    if asked is None or asked.plan is None:
        return WorkWithCheck(main, check_facts=None if asked is None else asked.facts)
    found = main.store if isinstance(main.store, RunStore) else open_store(asked.plan, stack)
    return WorkWithCheck(main, PlanWork(asked.plan, found), asked.facts)


def perform_work(works: WorkWithCheck, asked: interrupts.StopRequest) -> Results | OverspillError:
    """Does the remaining runs of a plan and of its phase check; returns the results or the error."""
    try:
        outcome = works.main.do_runs(asked)
        # The check is skipped if a run failed: there is nothing to compare it with.
        failed = [] if works.check is None or outcome.errors else works.check.do_runs(asked).error_lines
        with asked.limit_remaining_work():
            results = collect_results(works, outcome, failed)
    except (BadInput, Unwritable):
        raise
    except OverspillError as error:
        return error
    results.signal = asked.signal if outcome.interrupted else None
    return results


def open_store(plan: Plan, stack: ExitStack) -> RunStore | MemoryStore:
    """Opens the store of a plan: in its folder and locked, or in memory, or in a temporary folder."""
    out = plan.out
    if out is None:
        if plan.is_single_point:
            return MemoryStore()
        return RunStore(Path(stack.enter_context(TemporaryDirectory(prefix="overspill-"))))
    found = stack.enter_context(cache.lock_store(out))
    write_results.refuse_other_command(out, sweep=not plan.is_single_point)
    if not plan.is_single_point:
        known = sweep_facts_before_runs(plan) | {"failures": [], "interrupted": True}
        pending_sweep.keep_plan(out, known, plan.checked.settings)
    return found


def collect_results(works: WorkWithCheck, outcome: RunsOutcome, failed: Sequence[str]) -> Results:
    """Returns the results of all finished runs, and writes them into their folder if there is one.

    `failed` has the error lines of the phase check.
    """
    plan, found = works.main.plan, works.main.store
    out = plan.out
    made = (
        results_of_point(plan, outcome, found)
        if plan.is_single_point
        else results_of_grid(plan, outcome, found)
    )
    errors = outcome.errors
    if errors and not made.finished:
        raise combine_errors(outcome, plan.checked.notes)
    if made.missing and not errors and not outcome.interrupted:
        left = f"{made.planned - made.finished} runs are no longer in the store"
        made.facts["failures"] = [f"{left}. Run the same command to continue"]
    if works.check_facts is not None:
        made.facts["phase"] = compare_phase_check(works, made, failed)
    if out is not None and made.finished:
        made.store = out / "store"
        try:
            write_results.write_unless_fewer_runs(made, out)
        except Unwritable as error:
            # Finished runs are safe in the store, so their results are shown, with the error as a failure.
            made.facts["failures"] = list(dict.fromkeys([*made.failures, *error.lines]))
        except BadInput as error:
            # A damaged file of the results is no input of the user, so the exit status is that of a failure.
            again = f"finished runs are kept in {made.store}. Run the same command to continue"
            raise Failed([*error.lines, again]) from error
    return made


def compare_phase_check(works: WorkWithCheck, made: Results, failed: Sequence[str]) -> dict[str, Any]:
    """Returns the findings of the phase check of a plan."""
    after: dict[str, dict[int, Any]] = {}
    if works.check is not None:
        assert isinstance(works.check.store, RunStore)
        for variant, seed, key in phase_check.run_keys(works.check.plan):
            try:
                entry = works.check.store.read_run(key)
            except BrokenFile:
                entry = None
            if entry is not None:
                after.setdefault(variant, {})[seed] = entry.values
    return compare_starts({**(works.check_facts or {}), "failures": list(failed)}, made.values, after)


def combine_errors(outcome: RunsOutcome, notes: Iterable[str]) -> OverspillError:
    """Returns the error for a plan without finished runs: every cause, and the notes of the scenario.

    The notes may explain the causes.
    """
    places = [failed_runs.RunPlace(task.label, task.variant, task.seed) for task in outcome.failures]
    failures = failed_runs.parse_failures(list(dict.fromkeys(outcome.error_lines)), places)
    lines = failed_runs.describe_causes(failures, "; the others differ in details")
    return type(outcome.errors[0])([*(f"note: {note}" for note in notes), *lines])


def results_of_point(plan: Plan, outcome: RunsOutcome, found: RunStore | MemoryStore) -> Results:
    """Returns the results of a plan with a single point, with all tables."""
    return Results(point_facts(plan, outcome), list(read_runs(plan, found)))


def read_runs(plan: Plan, found: RunStore | MemoryStore) -> Iterator[RunData]:
    """Yields every finished run of a single point, seed by seed."""
    only = plan.checked.single_point
    assert only is not None and only.scenario is not None
    known = only.document["resolved"]
    resolved = {
        name: keys.with_network_hash(only.scenario, name, known[name]) for name in plan.checked.variants
    }
    for seed in plan.seeds:
        for variant, config in plan.checked.configs[0].items():
            run = read_run(found, plan.key(config, seed))
            if run is not None:
                told = {
                    "variant": variant,
                    "config_hash": config_hash(resolved[variant], seed),
                }
                yield run.with_summary_entries(told)


def read_run(found: RunStore | MemoryStore, key: str) -> RunData | None:
    """Returns a finished run, or `None` if the store does not have it."""
    if isinstance(found, MemoryStore):
        return found.runs.get(key)
    return cache.read_stored_run(found, key)


def config_hash(resolved: Any, seed: int) -> str:
    """Returns the SHA-256 of what a run depends on: core version, variant with all defaults, and seed.

    Equal configurations have equal hashes, whichever files they come from. Of the files that a scenario
    names, only the names are covered.
    """
    made_of = {"overspill": core.version(), "resolved": resolved, "seed": seed}
    text = json.dumps(made_of, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def point_facts(plan: Plan, outcome: RunsOutcome) -> dict[str, Any]:
    """Returns the manifest of a single point.

    It has nothing of the clock or the machine, so that results are reproducible.
    """
    only, asked = plan.checked.single_point, plan.pcap
    assert only is not None
    loaded, variants = only.document, plan.checked.variants
    pcap = {"pcap": list(asked.texts), "pcap_snaplen": asked.snaplen} if asked.texts else {}
    return {
        "overspill": core.version(),
        "name": loaded["name"],
        "scenario": source_facts(plan),
        "files": plan.checked.files_named,
        "sets": list(plan.base.sets),
        "seeds": list(plan.seeds),
        "max_events": plan.options.max_events,
        **pcap,
        "duration_ps": loaded["duration_ps"],
        "variants": variants,
        **label_facts(plan),
        "notes": plan.checked.notes,
        "interrupted": outcome.interrupted,
        "failures": outcome.error_lines,
        "resolved": {name: loaded["resolved"][name] for name in variants},
        "memory": {name: one for name, one in loaded.get("memory", {}).items() if name in variants},
        "networks": loaded.get("networks", []),
        "network_of": {name: at for name, at in loaded.get("network_of", {}).items() if name in variants},
    }


def label_facts(plan: Plan) -> dict[str, dict[str, str]]:
    """Returns the labels of variants as a part of the manifest; empty if no variant has one."""
    return {"labels": plan.checked.labels} if plan.checked.labels else {}


def source_facts(plan: Plan) -> dict[str, str]:
    """Returns name, SHA-256 and text of the scenario file."""
    source = plan.base.source
    return {"file": Path(source.path).name, "sha256": source.sha256, "text": source.text}


def results_of_grid(plan: Plan, outcome: RunsOutcome, found: RunStore | MemoryStore) -> Results:
    """Returns the results of every point of a grid, read from the store one by one."""
    assert isinstance(found, RunStore)
    known = sweep_facts_before_runs(plan) | {
        "failures": outcome.error_lines,
        "interrupted": outcome.interrupted,
    }
    checked = plan.checked
    known_by = [
        {variant: [plan.key(config, seed) for seed in plan.seeds] for variant, config in configs.items()}
        for configs in checked.configs
    ]
    every = map(gather_sweep.PlannedPoint, checked.points, known_by, checked.settings)
    return gather_sweep.gather_grid(known, plan.grid.axes, list(every), found)


def sweep_facts_before_runs(plan: Plan) -> dict[str, Any]:
    """Returns the facts of a sweep that are known before its first run."""
    return grid_facts(plan) | {
        "seeds": list(plan.seeds),
        "max_events": plan.options.max_events,
        "tables": list(plan.options.kept_tables),
        "baseline": plan.baseline,
    }


def grid_facts(plan: Plan) -> dict[str, Any]:
    """Returns the definition of a sweep.

    It has nothing of the clock, the machine, or interruptions, so that results are reproducible.
    """
    checked, build = plan.checked, plan.base.build
    configs = [config for by_variant in checked.configs for config in by_variant.values()]
    equal = len(configs) - len(set(configs))
    notes = list(checked.notes)
    if equal:
        notes.append(
            f"{equal} of {len(configs)} configurations (point and variant) equal another one and are run once"
        )
    axes = plan.grid.axes
    return {
        "format": results_folder.SWEEP_FORMAT,
        "overspill": build.version,
        "core": build.core,
        "metrics": build.metrics,
        "name": checked.name,
        "scenario": source_facts(plan),
        "files": checked.files_named,
        "sets": list(plan.base.sets),
        "axes": [asdict(axis) for axis in axes],
        "together": [[axes[at].path for at in group] for group in plan.grid.groups if len(group) > 1],
        "variants": checked.variants,
        **label_facts(plan),
        "notes": notes,
        "points": [
            {"values": list(point.values.values()), "configs": configs}
            for point, configs in zip(checked.points, checked.configs, strict=True)
        ],
    }


def raise_if_stopped(results: Results) -> Results:
    """Returns the results; raises the signal again if one came after the last run."""
    if results.signal is not None and not results.interrupted:
        interrupts.raise_signal(results.signal)
    return results


def run_with_arguments(scenario: str | Path, **asked: Any) -> Results:
    """Runs a scenario with the arguments of `run` or `sweep`, which are fields of `Options`."""
    asked |= {"out": make_absolute(asked["out"]), "listener": asked["listener"] or Listener()}
    return raise_if_stopped(execute(scenario, Options(**asked)))


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
    """Runs a scenario file, with all or some of its variants and one or more seeds.

    Args:
        scenario: Path of the scenario file.
        seeds: Number of seeds.
        seed: First seed. Default: the scenario's own.
        sets: Settings that override fields of the scenario, as `path=value` texts or as a mapping by path.
        variants: Names of the variants to run. Default: all.
        out: Folder of the results, or a function from the scenario's name to it. Finished runs in it are not
            repeated. Default: results are in memory only.
        jobs: Number of threads. Default: all cores.
        max_events: Number of events after which each run is cut, so that its results are partial.
        topology: NetworkX graph, `[topology]` table or path of a GraphML file that replaces the scenario's.
        pcap: Names of links and hosts whose frames are captured as pcapng.
        pcap_snaplen: Largest number of bytes kept of each captured frame. Default: all.
        check_phase: Repeats all runs with starts moved by less than a frame's transmission time.
            `facts["phase"]` of the results then has the metrics that change.
        listener: Object that is notified of progress.

    Returns:
        The results; runs that failed are in `Results.failures`.

    Raises:
        BadInput: With everything that is wrong with the scenario or an argument.
        Failed: If no run succeeds, or results cannot be written.

    Examples:
        >>> import overspill
        >>> results = overspill.run("incast.toml", seeds=2, sets={"traffic.burst.senders": 6})
        >>> results.variants, results.facts["seeds"]
        (['drop', 'mark'], [1, 2])
        >>> drops = {variant: results.values[variant][1]["drops"].value for variant in results.variants}
        >>> drops["mark"] < drops["drop"]
        True

    """
    return run_with_arguments(**locals())


def sweep(
    scenario: str | Path,
    over: SweptValues,
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
    """Runs a scenario at every point of a grid, with all or some of its variants.

    Args:
        scenario: Path of the scenario file.
        over: Swept fields with their values, as a mapping by path or as a list of `path=a,b,c`.
        seeds: Number of seeds at each point.
        seed: First seed. Default: the scenario's own.
        sets: Settings for all points, as `path=value` texts or as a mapping by path.
        variants: Names of the variants to run. Default: all.
        zips: Groups of swept paths that move together instead of being crossed.
        jobs: Number of threads. Default: all cores.
        on: Dask scheduler to use instead of threads (`tcp://...`), or `local:N` for N local processes.
        out: Folder of the results, or a function from the scenario's name to it. Finished runs in it are not
            repeated. Default: results are in memory only.
        tables: Names of tables to keep of each run, beside its metrics; needs `out`.
        baseline: Variant that is subtracted in `differences` of the results. Default: the first.
        max_events: Number of events after which each run is cut, so that its results are partial.
        listener: Object that is notified of progress.

    Returns:
        The results; runs that failed are in `Results.failures`.

    Raises:
        BadInput: With everything that is wrong with any point or argument.
        Failed: If no run succeeds, or results cannot be written.

    Examples:
        >>> import overspill
        >>> results = overspill.sweep("incast.toml", {"traffic.burst.senders": [2, 8]}, seeds=2)
        >>> results.points
        [{'traffic.burst.senders': '2'}, {'traffic.burst.senders': '8'}]
        >>> rows = [row for row in results.summary.to_pylist() if row["metric"] == "qct_mean"]
        >>> few, many = [row["mean"] for row in rows if row["variant"] == "drop"]
        >>> few < many
        True

    """
    return run_with_arguments(sweep=True, **locals())
