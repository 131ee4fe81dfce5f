"""A scenario file run: every variant with every seed, and what becomes of the runs."""

import hashlib
import json
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from overspill.engine import core, interrupts, source, topology
from overspill.engine.pcap import Wanted
from overspill.engine.runner import Job, Listener, Outcome, Plan, Runner
from overspill.errors import BadInput, OverspillError
from overspill.results import metrics, steady, store
from overspill.results.results import Results
from overspill.results.rundata import RunData
from overspill.results.stream import Spill

SEED_MAX = 2**64 - 1
SEEDS_MOST = 100_000


@dataclass(frozen=True)
class Options:
    """How a scenario is run."""

    sets: Iterable[str] | Mapping[str, object] = ()
    seed: int | None = None
    seeds: int = 1
    max_events: int | None = None
    jobs: int | None = None
    out: Callable[[str], Path] | str | Path | None = None
    listener: Listener = field(default_factory=Listener)
    pcap: str | Iterable[str] = ()
    pcap_snaplen: int | None = None
    # A NetworkX graph, a `[topology]` table or a GraphML file, in place of the scenario's.
    topology: Any = None


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def seeds_from(first: int, count: int) -> list[int]:
    """`count` seeds from `first` on."""
    if count < 1:
        raise BadInput(f"--seeds: found {count}; expected 1 or more")
    if count > SEEDS_MOST:
        raise BadInput(f"--seeds: found {count}; expected {SEEDS_MOST} or fewer")
    if not 0 <= first <= SEED_MAX - (count - 1):
        raise BadInput(f"--seed: found {first}; expected seeds from 0 to {SEED_MAX}")
    return list(range(first, first + count))


def execute(scenario: str | Path, options: Options) -> Results:
    """Run every variant with every seed; files are written as runs finish, where `out` is given."""
    if options.max_events is not None and options.max_events < 1:
        raise BadInput(f"--max-events: found {options.max_events}; expected 1 or more")
    wanted = Wanted.of(options.pcap, options.pcap_snaplen)
    text = source.read(scenario)
    sets = source.overrides(options.sets)
    if options.topology is not None:
        sets.insert(0, topology.setting(options.topology, scenario))
    scene = core.scenario(text.path, text.text, sets)
    loaded = core.document(scene)
    seeds = seeds_from(loaded["seed"] if options.seed is None else options.seed, options.seeds)
    wanted.check(scene, loaded["variants"])
    plan = Plan(scene, text, sets, loaded["variants"], seeds, options.max_events, wanted)
    out = options.out(loaded["name"]) if callable(options.out) else options.out
    out = None if out is None else Path(out)
    staging = None if out is None else store.Staging(out)
    try:
        with interrupts.asked() as asked:
            results = collect(plan, loaded, options, (staging, asked))
    finally:
        if staging is not None:
            staging.discard()
    if asked.is_set() and not results.interrupted:
        raise KeyboardInterrupt
    return results


class Storage:
    """Where runs go: into the staging folder, or memory; there, what is too large to a temporary folder."""

    def __init__(self, resolved: dict[str, Any], staging: store.Staging | None) -> None:
        self.resolved, self.staging, self.spill = resolved, staging, Spill()

    def place(self, job: Job) -> tuple[Path, Spill | None]:
        """Where a run's tables lie while it goes on, and who keeps them there."""
        if self.staging is not None:
            return store.folder(self.staging.folder, job), None
        return store.folder(self.spill.folder, job), self.spill

    def keep(self, run: RunData) -> RunData:
        """The run with its metrics and the hash of its configuration, on disk where there is a folder for it.

        Done here, in the thread of the run, so that other threads go on meanwhile.
        """
        run.summary["config_hash"] = config_hash(self.resolved[run.variant], run.seed)
        run.values, run.halves = metrics.measure(run), steady.halves(run)
        return run if self.staging is None else store.write_run(self.staging.folder, run)


Place = tuple[store.Staging | None, threading.Event]


def collect(plan: Plan, loaded: dict[str, Any], options: Options, place: Place) -> Results:
    """Run a plan and save what has finished, even where the user stopped or a run failed."""
    staging, asked = place

    storage = Storage(loaded["resolved"], staging)
    outcome = Runner(plan, options.listener, storage, asked).execute(options.jobs or cores())
    if outcome.failures and not outcome.runs:
        raise whole_failure(outcome.failures, loaded)
    results = Results(facts(plan, loaded, outcome), outcome.runs)
    if staging is not None and results.runs:
        results.commit(staging)
    return results


def whole_failure(failures: Sequence[OverspillError], loaded: dict[str, Any]) -> OverspillError:
    """What is told where no run is left: of every run why, and the scenario's notes, which may say more."""
    notes = [f"note: {note}" for note in loaded.get("notes", [])]
    lines = dict.fromkeys(line for error in failures for line in error.lines)
    return type(failures[0])([*notes, *lines])


def config_hash(resolved: Any, seed: int) -> str:
    """SHA-256 of what was run: the core's version, a variant with every default filled in, and the seed.

    Equal for equal configurations, wherever they come from. Of the files that a scenario names it covers
    the name only.
    """
    made_of = {"overspill": core.version(), "resolved": resolved, "seed": seed}
    text = json.dumps(made_of, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def facts(plan: Plan, loaded: dict[str, Any], outcome: Outcome) -> dict[str, Any]:
    """What made the results; nothing of the clock or the machine, so that they stay reproducible."""
    pcap = {"pcap": list(plan.pcap.texts), "pcap_snaplen": plan.pcap.snaplen} if plan.pcap.texts else {}
    return {
        "overspill": core.version(),
        "name": loaded["name"],
        "scenario": {
            "file": Path(plan.source.path).name,
            "sha256": plan.source.sha256,
            "text": plan.source.text,
        },
        "sets": list(plan.sets),
        "seeds": list(plan.seeds),
        "max_events": plan.max_events,
        **pcap,
        "duration_ps": loaded["duration_ps"],
        "variants": list(plan.variants),
        "notes": list(loaded.get("notes", [])),
        "interrupted": outcome.interrupted,
        "failures": [line for error in outcome.failures for line in error.lines],
        "resolved": loaded["resolved"],
        "memory": loaded.get("memory", {}),
        "networks": loaded.get("networks", []),
        "network_of": loaded.get("network_of", {}),
    }


def run(
    scenario: str | Path,
    *,
    seeds: int = 1,
    seed: int | None = None,
    sets: Iterable[str] | Mapping[str, object] = (),
    out: Callable[[str], Path] | str | Path | None = None,
    jobs: int | None = None,
    max_events: int | None = None,
    topology: Any = None,
    pcap: str | Iterable[str] = (),
    pcap_snaplen: int | None = None,
    listener: Listener | None = None,
) -> Results:
    """Run every variant of a scenario file with `seeds` seeds from `seed` on, or the scenario's own.

    `sets` changes fields by their paths; `topology` puts a NetworkX graph, a `[topology]` table or a
    GraphML file in the place of the scenario's. With `out`, results are files there; without, they are in
    memory. `pcap` names links and hosts whose frames are captured. `jobs` are threads, all cores by default.
    `BadInput` tells all that is wrong with a scenario; a run that fails is in `Results.failures`.
    """
    options = Options(
        sets, seed, seeds, max_events, jobs, out, listener or Listener(), pcap, pcap_snaplen, topology
    )
    return execute(scenario, options)
