"""Execution of a paper's sweeps one after the other, each with its own store; all are checked first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from overspill import (
    BadInput,
    Line,
    Listener,
    Options,
    OverspillError,
    Plan,
    Results,
    prepare,
    run_plans,
    warnings,
)
from overspill.papers.paper_files import PaperSweep, WhatIf
from overspill.papers.sweep_runs import SweepRuns


@dataclass(frozen=True)
class PlannedSweep:
    """Sweep of a paper to run, with the paper's own settings or those of a sensitivity run."""

    experiment: PaperSweep
    folder: Path
    seeds: int
    what_if: WhatIf | None = None

    @property
    def name(self) -> str:
        """Name of the sweep in messages."""
        return f"{self.what_if.name}/{self.experiment.name}" if self.what_if else self.experiment.name

    @property
    def sets(self) -> list[str]:
        """Settings at every point; a changed parameter replaces the paper's setting of the same path.

        It comes first, so that it may change a whole table of which the sweep sets a part.
        """
        changed = list(self.what_if.sets) if self.what_if else []
        paths = {one.partition("=")[0].strip() for one in changed}
        kept = [one for one in self.experiment.sets if one.partition("=")[0].strip() not in paths]
        return changed + kept


@dataclass
class SweepOutcome:
    """Outcome of a paper's sweep: its results or errors."""

    planned: PlannedSweep
    sweep: Results | None = None
    runs: SweepRuns | None = None
    errors: list[str] = field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        """True if no run of the sweep is missing."""
        return self.sweep is not None and not self.sweep.facts["missing"]

    @property
    def interrupted(self) -> bool:
        """True if the user stopped the sweep."""
        return self.sweep is not None and self.sweep.interrupted

    @property
    def notes(self) -> list[str]:
        """Notes on the scenario that are not errors."""
        return [] if self.sweep is None else self.sweep.notes

    @property
    def warnings(self) -> list[Line]:
        """Warnings about the sweep; for a sensitivity run, only one line per label for all points."""
        found = [] if self.sweep is None else warnings(self.sweep)
        if self.planned.what_if is not None:
            found = [
                these[0] if len(these) == 1 else Line(label, f"at {len(these)} points")
                for label in dict.fromkeys(one.label for one in found)
                if (these := [line for line in found if line.label == label])
            ]
        lines = [Line("FAILED", one, True) for one in self.errors] + found
        name = self.planned.name
        # Lines of failed runs already begin with the name of the sweep, which must not appear twice.
        texts = (one.text.removeprefix(f"{name} ").removeprefix(f"{name}: ") for one in lines)
        return [Line(one.label, f"{name}: {text}", one.loud) for one, text in zip(lines, texts, strict=True)]


def run_all_sweeps(
    planned: Sequence[PlannedSweep], listener: Listener, jobs: int | None
) -> list[SweepOutcome]:
    """Does all runs that the stores of the sweeps lack; raises `BadInput` with the errors of all sweeps."""
    plans = prepare_sweeps(planned, listener, jobs)
    found = []
    for one, plan, made in zip(planned, plans, run_plans(plans, listener), strict=True):
        if isinstance(made, OverspillError):
            found.append(SweepOutcome(one, errors=made.lines))
        else:
            found.append(SweepOutcome(one, made, SweepRuns(one.name, made, plan)))
    return found


def prepare_sweeps(planned: Sequence[PlannedSweep], listener: Listener, jobs: int | None) -> list[Plan]:
    """Returns the plan of every sweep, with its points checked."""
    made, wrong = [], []
    for plan in planned:
        one = plan.experiment
        options = Options(
            over=one.over,
            zips=one.zips,
            sets=plan.sets,
            seeds=plan.seeds,
            variants=one.variants,
            tables=one.tables,
            jobs=jobs,
            out=plan.folder,
            listener=listener,
            sweep=True,
            single=True,
            label=plan.name,
        )
        try:
            made.append(prepare(one.scenario, options))
        except BadInput as error:
            wrong += [f"{plan.name}: {line}" for line in error.lines]
    if wrong:
        raise BadInput(wrong)
    return made
