"""Results: runs side by side, their tables as Arrow, their metrics, on disk and back."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from overspill.errors import BadInput
from overspill.results import columns, document, metrics, same, steady, store
from overspill.results.fairness import Fairness, judge
from overspill.results.measures import saturation
from overspill.results.rundata import RunData
from overspill.stats.quantiles import Value

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
    def groups(self) -> list[tuple[str, ...]]:
        """The variants that have runs; those that are one and the same run together."""
        return same.classes(self.values, same.equal)

    @cached_property
    def trees(self) -> dict[str, dict[int, list[saturation.Tree]]]:
        """Every saturation tree by its begin: variant -> seed -> trees; none where nobody is paused."""
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

        By workload, where it says `measure.reordering`.
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
        """Delays, hops, detours, bounces and distances of delivered packets, as histograms, by workload."""
        return self.table("packet_hist")

    @property
    def fates(self) -> pa.Table:
        """Drops (0), marks (1), detours (2) and bounces (3) in the window, by workload."""
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
        """How often and how long each port was paused by its far end in each class, in the window."""
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
