"""Results: runs side by side, their tables as Arrow, their metrics, on disk and back."""

import hashlib
import json
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from overspill import columns, core, document, interrupts, metrics, source, steady, store, topology
from overspill.errors import BadInput, OverspillError
from overspill.fairness import Fairness, judge
from overspill.measures import saturation
from overspill.pcap import Wanted
from overspill.quantiles import Value
from overspill.rundata import RunData
from overspill.runner import Job, Listener, Outcome, Plan, Runner
from overspill.stream import Spill

SEED_MAX = 2**64 - 1
SEEDS_MOST = 100_000
FACTS = ("name", "variants", "seeds", "sets", "notes", "interrupted", "resolved", "memory", "scenario")


@dataclass
class Results:
    """The finished runs of a scenario; `facts` is what the manifest says beside them."""

    facts: dict[str, Any]
    runs: list[RunData] = field(default_factory=list)
    folder: Path | None = None

    @property
    def scenario(self) -> str:
        """The scenario's name."""
        return str(self.facts["name"])

    @property
    def variants(self) -> list[str]:
        """Variants in the order of the file."""
        return list(self.facts["variants"])

    @property
    def interrupted(self) -> bool:
        """Whether runs were left out because the user stopped."""
        return bool(self.facts["interrupted"])

    @property
    def failures(self) -> list[str]:
        """What was said of runs that failed."""
        return list(self.facts.get("failures", []))

    @property
    def partial(self) -> bool:
        """Whether a run was cut, or runs are missing."""
        return self.interrupted or bool(self.failures) or any(run.cut for run in self.runs)

    @property
    def any_cut(self) -> bool:
        """Whether a run stopped before its time."""
        return any(run.cut for run in self.runs)

    @cached_property
    def fairness(self) -> Fairness:
        """What stands against calling a variant best."""
        return judge(self)

    def of(self, variant: str) -> list[RunData]:
        """A variant's runs, by seed."""
        return sorted((run for run in self.runs if run.variant == variant), key=lambda run: run.seed)

    @cached_property
    def values(self) -> dict[str, dict[int, dict[str, Value]]]:
        """Every metric's value: variant -> seed -> metric."""
        found: dict[str, dict[int, dict[str, Value]]] = {variant: {} for variant in self.variants}
        for run in self.runs:
            known = run.values
            found[run.variant][run.seed] = metrics.measure(run) if known is None else known
        return found

    @cached_property
    def trees(self) -> dict[str, dict[int, list[saturation.Tree]]]:
        """Every saturation tree by its begin: variant -> seed -> trees; none where nobody is stopped."""
        found: dict[str, dict[int, list[saturation.Tree]]] = {variant: {} for variant in self.variants}
        for run in self.runs:
            found[run.variant][run.seed] = saturation.trees(run)
        return found

    def halves(self, run: RunData) -> dict[str, tuple[float, float]]:
        """What the halves of a run's window are compared by; taken once."""
        if run.halves is None:
            run.halves = steady.halves(run)
        return run.halves

    @cached_property
    def rows(self) -> list[document.Row]:
        """Every metric of all variants, with intervals and who is best."""
        return document.build_rows(self)

    @property
    def unfinished(self) -> list[RunData]:
        """Runs that left measured flows unfinished although the scenario does not allow it."""
        return [run for run in self.runs if run.unfinished and not run.summary["allow_unfinished"]]

    @property
    def stuck(self) -> bool:
        """Whether links wait for each other for ever, flows without end too, where flows have to finish."""
        return any(run.deadlock and not run.summary["allow_unfinished"] for run in self.runs)

    def table(self, name: str) -> pa.Table:
        """A table of all runs, with the columns `variant` and `seed`; empty where no run wrote it."""
        parts = []
        for run in self.runs:
            part = run.table(name)
            if part is not None:
                parts.append(columns.identified(part, run.variant, run.seed))
        return pa.concat_tables(parts).unify_dictionaries() if parts else pa.table({})

    def batches(self, name: str, names: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """A table of all runs as `table` has it, or some columns of it, bit by bit.

        Of what lies on disk, which is everything where there is a folder and long traces in any case, only
        some ten thousand rows are in memory at a time.
        """
        for run in self.runs:
            for batch in run.batches(name, names):
                part = pa.Table.from_batches([batch])
                yield from columns.identified(part, run.variant, run.seed).to_batches()

    @property
    def flows(self) -> pa.Table:
        """Every flow; `end_ps` is null where it did not finish."""
        return self.table("flows")

    @property
    def ports(self) -> pa.Table:
        """Every port's counters."""
        return self.table("ports")

    @property
    def queues(self) -> pa.Table:
        """How long each queue held how many frames, and how many arrivals found so many."""
        return self.table("queue_hist")

    @property
    def queue_sojourn(self) -> pa.Table:
        """How long frames waited in each queue until their transmission began, ps, as histograms."""
        return self.table("queue_sojourn")

    @property
    def host_goodput(self) -> pa.Table:
        """Payload bytes that each host got in order, by bin; empty bins are left out."""
        return self.table("host_goodput")

    @property
    def flow_goodput(self) -> pa.Table:
        """The same for each flow, where the scenario says `measure.goodput = "flows"`."""
        return self.table("flow_goodput")

    @property
    def links(self) -> pa.Table:
        """Wire bits of frames that began to leave by each port, by bin, where the scenario says so."""
        return self.table("links")

    @property
    def reorder(self) -> pa.Table:
        """Displacement (0), buffer occupancy (1), extent (2), number (3) of data packets received, as counts.

        By entry of the scenario's traffic, where it says `measure.reordering`.
        """
        return self.table("reorder")

    @property
    def queue_trace(self) -> pa.Table:
        """Each queue over time, by bin; empty bins are left out."""
        return self.table("queue_trace")

    @property
    def sub_queues(self) -> pa.Table:
        """The queues of every switch port and their limits in packets, 0 for none.

        Class c has queue 2·c and, for what was bounced, 2·c + 1; with `measure.sub_queues`.
        """
        return self.table("sub_queues")

    @property
    def sub_queue_hist(self) -> pa.Table:
        """How long each of them held how many frames; arrivals and decisions that found so many."""
        return self.table("sub_queue_hist")

    @property
    def sub_queue_trace(self) -> pa.Table:
        """Each of them over time, by bin; empty bins are left out."""
        return self.table("sub_queue_trace")

    @property
    def activity(self) -> pa.Table:
        """Drops (0), marks (1), detours (2) and bounces (3) by bin and node."""
        return self.table("activity")

    @property
    def packet_hist(self) -> pa.Table:
        """Delays, hops, detours, bounces and distances of delivered packets, as histograms, by entry."""
        return self.table("packet_hist")

    @property
    def fates(self) -> pa.Table:
        """Drops (0), marks (1), detours (2) and bounces (3) in the window, by entry of the traffic."""
        return self.table("fates")

    @property
    def packets(self) -> pa.Table:
        """Every packet, where the scenario says `measure.packets`; read anew each time, and see `batches`."""
        return self.table("packets")

    @property
    def detour_steps(self) -> pa.Table:
        """Every detour of packets with at least so many as the scenario's `measure.detours` says."""
        return self.table("detour_steps")

    @property
    def pauses(self) -> pa.Table:
        """How often and how long each port was stopped by its far end in each class, in the window."""
        return self.table("pauses")

    @property
    def pause_trace(self) -> pa.Table:
        """Every time in which a class could not leave by a port, in the order of their ends."""
        return self.table("pause_trace")

    @property
    def captures(self) -> dict[tuple[str, int], dict[str, Path]]:
        """The pcapng files of captured links: (variant, seed) -> link -> file."""
        return {(run.variant, run.seed): run.captures for run in self.runs if run.captures}

    def document(self) -> dict[str, Any]:
        """What `--json` prints."""
        return document.build(self)

    def save(self, folder: str | Path) -> None:
        """Write Parquet, `manifest.json` and `results.json`."""
        out = Path(folder)
        if self.folder is None:
            staging = store.Staging(out)
            try:
                self.runs = [store.write_run(staging.folder, run) for run in self.runs]
                self.commit(staging)
            except BaseException:
                staging.discard()
                raise
        elif self.folder.resolve() != out.resolve():
            raise BadInput(f"{out}: these results already lie in {self.folder}; copy that folder")

    def commit(self, staging: store.Staging) -> None:
        """Complete what lies in a staging folder, and put it in the place of earlier results."""
        store.write_json(staging.folder / store.RESULTS, self.document())
        store.write_manifest(staging.folder, self.facts, self.runs)
        staging.commit()
        self.folder = staging.out
        self.runs = [run.stored(store.folder(staging.out, run)) for run in self.runs]

    @staticmethod
    def load(folder: str | Path) -> "Results":
        """Results that `save` or `overspill run` wrote; `BadInput` where they are not whole."""
        out = Path(folder)
        manifest = store.read_manifest(out)
        runs = store.read_runs(out, manifest)
        missing = [name for name in FACTS if name not in manifest]
        if missing:
            raise BadInput(f"{out / store.MANIFEST}: not a whole manifest: no {', '.join(missing)}")
        facts = {key: value for key, value in manifest.items() if key not in ("format", "runs", "report")}
        return Results(facts, runs, out)


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


class Shelf:
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

    shelf = Shelf(loaded["resolved"], staging)
    outcome = Runner(plan, options.listener, shelf, asked).execute(options.jobs or cores())
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
