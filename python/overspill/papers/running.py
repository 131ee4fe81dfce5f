"""The sweeps of a paper, one after the other: all checked and counted first, each with a store of its own."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from overspill.cli import sweep_table as show
from overspill.engine import interrupts
from overspill.engine import sweep as run
from overspill.engine.runner import Job
from overspill.engine.simulate import Task
from overspill.engine.sweep import Options, Sweeping
from overspill.engine.watch import Watch
from overspill.errors import BadInput, OverspillError, Unwritable
from overspill.papers.data import Experiment, WhatIf
from overspill.papers.runs import SweepRuns
from overspill.results import cache
from overspill.results.cache import Cache
from overspill.results.labels import Line
from overspill.results.sweep import Sweep


@dataclass(frozen=True)
class Planned:
    """A sweep to be run: as the paper has it, or with an open parameter changed."""

    experiment: Experiment
    folder: Path
    seeds: int
    what_if: WhatIf | None = None

    @property
    def name(self) -> str:
        """What it is called in messages."""
        return f"{self.what_if.name}/{self.experiment.name}" if self.what_if else self.experiment.name

    @property
    def sets(self) -> list[str]:
        """What is set at every point; what is changed takes the place of the same path.

        It comes first, so that a whole table may be changed of which the sweep sets a part.
        """
        changed = list(self.what_if.sets) if self.what_if else []
        paths = {one.partition("=")[0].strip() for one in changed}
        kept = [one for one in self.experiment.sets if one.partition("=")[0].strip() not in paths]
        return changed + kept


@dataclass
class Ran:
    """What became of a sweep."""

    planned: Planned
    sweep: Sweep | None = None
    runs: SweepRuns | None = None
    errors: list[str] = field(default_factory=list)

    @property
    def whole(self) -> bool:
        """Whether every run of it is there."""
        return self.sweep is not None and not self.sweep.facts["missing"]

    @property
    def interrupted(self) -> bool:
        """Whether the user stopped it."""
        return self.sweep is not None and self.sweep.interrupted

    @property
    def warnings(self) -> list[Line]:
        """What makes it less than whole; of an open parameter changed, a line for all points."""
        found = [] if self.sweep is None else show.warnings(self.sweep)
        if self.planned.what_if is not None and len(found) > 1:
            labels = dict.fromkeys(one.label for one in found)
            found = [Line(one, f"at {sum(line.label == one for line in found)} points") for one in labels]
        lines = [Line("FAILED", one, True) for one in self.errors] + found
        return [Line(one.label, f"{self.planned.name}: {one.text}", one.loud) for one in lines]


class Part(Watch):
    """A sweep's own watch: its points are numbered on from those of the sweeps before it."""

    def __init__(self, watch: Watch, name: str) -> None:
        self.watch, self.name, self.first = watch, name, 0
        self.left: list[Task] = []
        self.stored: list[tuple[Task, int]] = []

    def moved(self, task: Task) -> Task:
        """A task as the common watch knows it."""
        return replace(task, point=self.first + task.point, label=f"{self.name} {task.label}".strip())

    def begin(self, left: Iterable[Task], stored: Iterable[tuple[Task, int]]) -> None:
        """Note what there is; the common watch begins once."""
        self.left = [self.moved(task) for task in left]
        self.stored = [(self.moved(task), hops) for task, hops in stored]

    def checking(self, done: int, count: int) -> None:
        """So many points are checked."""
        self.watch.checking(done, count)

    def advanced(self, job: Job, status: dict[str, Any]) -> None:
        """A run has come so far."""
        self.watch.advanced(self.moved(job) if isinstance(job, Task) else job, status)

    def kept(self, task: Task, hops: int) -> None:
        """A run is finished and kept."""
        self.watch.kept(self.moved(task), hops)

    def failed(self, task: Task) -> None:
        """A run has failed."""
        self.watch.failed(self.moved(task))

    def say(self, line: str) -> None:
        """Something that the user should read."""
        self.watch.say(f"{self.name}: {line}")


def everything(planned: Sequence[Planned], watch: Watch, jobs: int | None) -> list[Ran]:
    """Run all sweeps, as far as their stores do not have them; `BadInput` with all that is wrong with any."""
    parts = [Part(watch, one.name) for one in planned]
    made = prepared(planned, parts, jobs)
    first = 0
    for part, one in zip(parts, made, strict=True):
        part.first, first = first, first + len(one.checked.points)
    with ExitStack() as stack:
        stores = [stack.enter_context(cache.held(one.folder)) for one in planned]
        with interrupts.asked() as asked:
            left = [run.look(*one) for one in zip(made, stores, parts, strict=True)]
            tasks = [task for part in parts for task in part.left]
            if planned:
                watch.begin(tasks, [one for part in parts for one in part.stored])
            found = []
            for one, tasks_left, store, plan in zip(made, left, stores, planned, strict=True):
                found.append(one_sweep(plan, (one, tasks_left, store), asked))
    if asked.is_set() and not any(one.interrupted for one in found):
        raise KeyboardInterrupt
    return found


def prepared(planned: Sequence[Planned], parts: Sequence[Part], jobs: int | None) -> list[Sweeping]:
    """Every sweep with its points checked."""
    made, wrong = [], []
    for plan, part in zip(planned, parts, strict=True):
        one = plan.experiment
        options = Options(
            one.over,
            one.zips,
            plan.sets,
            None,
            plan.seeds,
            one.variants,
            None,
            one.tables,
            jobs,
            None,
            plan.folder,
            part,
            single=True,
        )
        try:
            run.check_options(options)
            made.append(run.prepare(one.scenario, options))
        except BadInput as error:
            wrong += [f"{plan.name}: {line}" for line in error.lines]
    if wrong:
        raise BadInput(wrong)
    return made


def one_sweep(plan: Planned, made: tuple[Sweeping, list[Task], Cache], asked: threading.Event) -> Ran:
    """Run what is left of one sweep; that all of it fails does not stop the others."""
    sweeping, left, store = made
    try:
        outcome = run.drive(sweeping, left, store, asked)
        sweep = run.finish(sweeping, outcome, store, plan.folder)
    except (BadInput, Unwritable):
        raise
    except OverspillError as error:
        return Ran(plan, errors=error.lines)
    return Ran(plan, sweep, SweepRuns(plan.name, sweep, sweeping))
