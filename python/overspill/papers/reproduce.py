"""Reproduction of a paper: selection of figures, runs of its sweeps, and judgement of its rows."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from overspill import BadInput, Failed, Line, Listener, version
from overspill.papers import execution, judge, paper_code, row_counting, row_sources
from overspill.papers.execution import PlannedSweep, SweepOutcome
from overspill.papers.paper_files import Paper, PaperFigure, WhatIf
from overspill.papers.paper_rows import CaseAndMetric
from overspill.papers.spec import Measure, Measured, Runs
from overspill.papers.verdicts import VERDICTS

RowDocuments = list[dict[str, Any]]
SETTING_PREFIX = "--set "  # beginning of a note on what a setting did


@dataclass(frozen=True)
class Selection:
    """Selected part of a paper, with the folder of results and the number of seeds."""

    paper: Paper
    figures: Sequence[PaperFigure]
    sweeps: Sequence[str]
    what_ifs: Sequence[WhatIf]
    out: Path
    seeds: int | None = None

    @property
    def is_whole_paper(self) -> bool:
        """True if all figures are selected, with the paper's own numbers of seeds."""
        return len(self.figures) == len(self.paper.figures) and self.seeds is None

    @property
    def results(self) -> Path:
        """Folder of rows, figures and page; a part does not replace the files of the whole paper."""
        return self.out if self.is_whole_paper else self.out / "part"

    @property
    def part_description(self) -> str:
        """Description of the part of the paper; empty for all of it."""
        told = []
        if len(self.figures) < len(self.paper.figures):
            told.append(f"{len(self.figures)} of {len(self.paper.figures)} figures")
        if self.seeds is not None:
            told.append(f"{self.seeds} seed{'s' * (self.seeds > 1)} a sweep, for a quick look")
        return "; ".join(told)

    @property
    def command(self) -> str:
        """Command line that repeats this reproduction."""
        some = [] if len(self.figures) == len(self.paper.figures) else [one.id for one in self.figures]
        seeds = [] if self.seeds is None else ["--seeds", str(self.seeds)]
        settings = ["--what-if"] if self.what_ifs else []
        return " ".join(
            ["overspill paper", self.paper.name, *some, *self.paper.folder_arguments, *seeds, *settings]
        )

    def affected_figures(self, what_if: WhatIf) -> list[PaperFigure]:
        """Returns the selected figures that use a sweep of the given sensitivity run."""
        return [figure for figure in self.figures if set(figure.sweeps) & set(what_if.sweeps)]

    @property
    def planned_sweeps(self) -> list[PlannedSweep]:
        """Sweeps to run: the paper's own, then those of sensitivity runs."""
        every = self.paper.sweeps
        made = [
            PlannedSweep(every[name], self.out / "sweeps" / name, self.seeds or every[name].seeds)
            for name in self.sweeps
        ]
        for one in self.what_ifs:
            for name in one.sweeps:
                if name in self.sweeps:
                    seeds = self.seeds or one.seeds or every[name].seeds
                    made.append(PlannedSweep(every[name], self.out / "what_if" / one.name / name, seeds, one))
        return made


@dataclass
class Reproduction:
    """Reproduction of a paper: rows of every figure with their results, also under sensitivity runs."""

    selection: Selection
    measures: Mapping[str, Measure]
    sweep_outcomes: list[SweepOutcome]
    rows: RowDocuments = field(default_factory=list)
    rows_under_what_ifs: dict[str, RowDocuments] = field(
        default_factory=dict
    )  # by setting: rows that depend on its runs
    rows_by_seeds: dict[int, RowDocuments] = field(
        default_factory=dict
    )  # the paper's own rows, by number of seeds
    left_out: list[str] = field(default_factory=list)  # figures whose sweeps the user stopped

    @property
    def paper(self) -> Paper:
        """Paper that is reproduced."""
        return self.selection.paper

    @property
    def interrupted(self) -> bool:
        """True if the user interrupted any sweep."""
        return any(one.interrupted for one in self.sweep_outcomes)

    @property
    def signal(self) -> int | None:
        """Signal that stopped the command, or came after the last run; `None` without one."""
        signals = (one.sweep.signal for one in self.sweep_outcomes if one.sweep is not None)
        return next((one for one in signals if one is not None), None)

    @property
    def failed(self) -> bool:
        """True if any run failed."""
        return any(
            one.errors or (one.sweep is not None and one.sweep.failures) for one in self.sweep_outcomes
        )

    @property
    def unfinished(self) -> bool:
        """True if the paper's own runs were cut short, or left flows unfinished that had to finish."""
        own = [
            one.sweep for one in self.sweep_outcomes if one.sweep is not None and one.planned.what_if is None
        ]
        return any(sweep.run_status.unfinished or sweep.run_status.partial for sweep in own)

    @property
    def warnings(self) -> list[Line]:
        """Warnings about incomplete runs."""
        found = [line for one in self.sweep_outcomes for line in one.warnings]
        if self.left_out:
            found.append(Line("INTERRUPTED", f"not computed: {', '.join(self.left_out)}", True))
        return found

    @property
    def notes(self) -> list[Line]:
        """Notes on settings that changed a scenario in own sweeps, and notes of sensitivity runs alone."""
        own = {name: one.notes for name, one in self.sweeps_by_name().items()}
        found = []
        for one in self.sweep_outcomes:
            known = own.get(one.planned.experiment.name, [])
            is_own = one.planned.what_if is None
            told = [note for note in one.notes if (SETTING_PREFIX in note if is_own else note not in known)]
            found += [Line("note", f"{one.planned.name}: {note}") for note in told]
        return found

    @property
    def score(self) -> dict[str, int]:
        """Number of rows with each verdict, of the rows that count."""
        return row_counting.count_verdicts(self.rows, VERDICTS)

    def rows_with_results(self, rows: RowDocuments) -> Iterable[tuple[Any, dict[str, Any]]]:
        """Returns the given results, each with its row of the paper."""
        by_key = {(row.figure, *row.key): row for row in self.paper.rows}
        return [(by_key[one["figure"], one["case"], one["metric"]], one) for one in rows]

    def sweeps_by_name(self, what_if: WhatIf | None = None) -> dict[str, SweepOutcome]:
        """Returns the outcomes of sweeps by name; sweeps of a sensitivity run replace the paper's own.

        If these have fewer seeds, so have the others, since figures pair their sweeps by seed.
        """
        own = self.sweeps_with_seeds(None if what_if is None else what_if.seeds)
        return own | {
            one.planned.experiment.name: one
            for one in self.sweep_outcomes
            if what_if is not None and one.planned.what_if == what_if
        }

    def sweeps_with_seeds(self, seeds: int | None) -> dict[str, SweepOutcome]:
        """Returns the paper's own sweeps by name, each with at most this many seeds."""
        own = {one.planned.experiment.name: one for one in self.sweep_outcomes if one.planned.what_if is None}
        if seeds is None:
            return own
        return {
            name: one if one.runs is None else replace(one, runs=one.runs.with_first_seeds(seeds))
            for name, one in own.items()
        }

    def reduced_seed_count(self, what_if: WhatIf) -> int | None:
        """Returns the seeds of a sensitivity run if a sweep of its figures has more; `None` otherwise."""
        names = {name for figure in self.selection.affected_figures(what_if) for name in figure.sweeps}
        most = max(
            (one.planned.seeds for name, one in self.sweeps_by_name().items() if name in names), default=0
        )
        return what_if.seeds if what_if.seeds is not None and what_if.seeds < most else None

    def own_rows_for(self, what_if: WhatIf) -> RowDocuments:
        """Returns the paper's own rows on as many seeds as a sensitivity run, to compare with its rows."""
        seeds = self.reduced_seed_count(what_if)
        return self.rows if seeds is None else self.rows_by_seeds[seeds]

    def document(self) -> dict[str, Any]:
        """Returns the document of `rows.json`, without clock or machine."""
        return {
            "paper": self.paper.name,
            "title": self.paper.title,
            "overspill": version(),
            "tolerances": self.paper.digest,
            "figures": [figure.id for figure in self.selection.figures if figure.id not in self.left_out],
            "score": self.score,
            "part": self.selection.part_description,
            "command": self.selection.command,
            "seeds": {
                one.planned.experiment.name: one.planned.seeds
                for one in self.sweep_outcomes
                if one.planned.what_if is None
            },
            "warnings": [f"{line.label}: {line.text}" for line in self.warnings],
            "rows": self.rows,
        }


def select_part(
    paper: Paper, wanted: Sequence[str], what_if: bool, into: tuple[Path, int | None]
) -> Selection:
    """Selects figures of a paper by id or by sweep; `into` is the folder and the number of seeds.

    A sweep selects all figures that depend on it. Raises `BadInput` for an unknown name.
    """
    known = [*paper.figures, *paper.sweeps]
    for one in wanted:
        if one not in known:
            raise BadInput(f"paper {paper.name}: found {one!r}; expected some of {', '.join(known)}")
    figures = [
        figure
        for figure in paper.figures.values()
        if not wanted or figure.id in wanted or set(figure.sweeps) & set(wanted)
    ]
    used = {name for figure in figures for name in figure.sweeps} | set(wanted)
    sweeps = [name for name in paper.sweeps if name in used]
    settings = [one for one in paper.what_ifs if what_if and set(one.sweeps) & set(sweeps)]
    return Selection(paper, figures, sweeps, settings, *into)


def reproduce_selection(asked: Selection, watch: Listener, jobs: int | None = None) -> Reproduction:
    """Runs those selected sweeps of a paper that the folder lacks, and judges every row."""
    measures = asked.paper.measures()
    paper_code.make_inputs(asked.paper.folder)
    made = Reproduction(asked, measures, execution.run_all_sweeps(asked.planned_sweeps, watch, jobs))
    own = made.sweeps_by_name()
    for figure in asked.figures:
        if any(was_stopped(own[name]) for name in figure.sweeps):
            made.left_out.append(figure.id)
        else:
            made.rows += judge_figure_rows(asked.paper, measures, figure, own)
    made.rows = row_counting.with_classification(made.rows, asked.paper.rows)
    for one in asked.what_ifs:
        made.rows_under_what_ifs[one.name] = rows_under_what_if(made, one)
    return made


def rows_under_what_if(made: Reproduction, what_if: WhatIf) -> RowDocuments:
    """Returns the rows that depend on the sweeps of a sensitivity run."""
    seeds = made.reduced_seed_count(what_if)
    found: RowDocuments = []
    own, changed = made.sweeps_with_seeds(seeds), made.sweeps_by_name(what_if)
    base = made.rows if seeds is None else made.rows_by_seeds.setdefault(seeds, [])
    for figure in made.selection.affected_figures(what_if):
        if any(was_stopped(ran[name]) for name in figure.sweeps for ran in (own, changed)):
            continue
        if not any(row["figure"] == figure.id for row in base):
            base += judge_figure_rows(made.paper, made.measures, figure, own)
        known = {row_key(row): row for row in base if row["figure"] == figure.id}
        rests: dict[CaseAndMetric, frozenset[str]] = {}
        for row in judge_figure_rows(made.paper, made.measures, figure, changed, rests):
            read = rests.get((row["case"], row["metric"]), frozenset(figure.sweeps))
            # Reads of a value that the code has cached are not recorded. So a row whose measured value
            # differs also counts as depending on the setting.
            if read & set(what_if.sweeps) or row["measured"] != known[row_key(row)]["measured"]:
                found.append(row)
    return found


def row_key(row: Mapping[str, Any]) -> tuple[str, str, str]:
    """Returns the key of a row: figure, case and metric."""
    return row["figure"], row["case"], row["metric"]


def was_stopped(ran: SweepOutcome) -> bool:
    """Returns true if the user's interrupt left runs of a sweep missing."""
    return ran.interrupted and not ran.is_complete


def judge_figure_rows(
    paper: Paper,
    measures: Mapping[str, Measure],
    figure: PaperFigure,
    ran: Mapping[str, SweepOutcome],
    rests: dict[CaseAndMetric, frozenset[str]] | None = None,
) -> RowDocuments:
    """Returns judged rows of a figure in the order of `rows.toml`; `rests` receives the sweeps of each."""
    found, missing = measure_figure(measures, figure, ran, {} if rests is None else rests)
    wanted = paper.rows_of(figure.id)
    if unknown := [name for name in found if name not in {row.key for row in wanted}]:
        text = f"{figure.id}: the code of this figure measures {unknown[0]}, which is in no row of rows.toml"
        raise Failed(text)
    seeds = max((len(one.seeds) for one in runs_of_figure(figure, ran).values()), default=0)
    return [
        judge.row_document(paper.name, row, judge.judge_row(row, found.get(row.key), missing, seeds))
        for row in wanted
    ]


def measure_figure(
    measures: Mapping[str, Measure],
    figure: PaperFigure,
    ran: Mapping[str, SweepOutcome],
    rests: dict[CaseAndMetric, frozenset[str]],
) -> tuple[dict[CaseAndMetric, Measured], str]:
    """Returns the measurements of a figure's code by case and metric, and the reason for missing ones."""
    broken = [name for name in figure.sweeps if not ran[name].is_complete]
    if broken:
        return {}, f"not measured: runs of {', '.join(broken)} failed"
    if figure.id not in measures:
        return {}, "not measured: no code computes this figure"
    found: dict[CaseAndMetric, Measured] = {}
    for one, read in run_measure(figure, measures[figure.id], ran):
        name = one.case, one.metric
        if name in found:
            raise Failed(f"{figure.id}: the code of this figure measures {name} twice")
        found[name], rests[name] = one, read
    return found, "not measured: the code of this figure gives no such value"


def run_measure(
    figure: PaperFigure, measure: Measure, ran: Mapping[str, SweepOutcome]
) -> list[tuple[Measured, frozenset[str]]]:
    """Returns the measurements of a figure's code, each with the sweeps that it was read from."""
    with name_figure_in_errors(figure):
        return list(row_sources.measure_with_sources(measure, runs_of_figure(figure, ran)))


@contextmanager
def name_figure_in_errors(figure: PaperFigure) -> Iterator[None]:
    """Names the figure in every error that its code raises in the block."""
    try:
        yield
    except Failed as error:
        raise Failed(f"{figure.id}: {line}" for line in error.lines) from error
    except Exception as error:
        if os.environ.get("OVERSPILL_TRACEBACK"):
            raise
        what = f"{type(error).__name__}: {' '.join(str(error).split()) or 'no message'}"
        hint = "set OVERSPILL_TRACEBACK=1 to see where"
        raise Failed(f"{figure.id}: the code of this figure failed: {what} ({hint})") from error


def runs_of_figure(figure: PaperFigure, ran: Mapping[str, SweepOutcome]) -> dict[str, Runs]:
    """Returns the runs of a figure's sweeps by name."""
    return {name: made for name in figure.sweeps if (made := ran[name].runs) is not None}
