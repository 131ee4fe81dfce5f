"""A small paper and the code of its figures, shared by tests of papers."""

import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure as Drawing

from overspill import plots
from overspill.papers import paper_code
from overspill.papers.common import new_panels
from overspill.papers.spec import Draw, Measure, Measured, Runs

Paper = Callable[..., Any]

SCENARIO = """
name = "small"
[variants.drop]
z = "tail_drop"
[variants.bounce]
z = "bounce"
"""
PAPER = """
name = "small"
title = "A small paper"
cite = "Nobody, 2020"
on_page = ["fig1"]
[[sweep]]
name = "grid"
scenario = "small.toml"
over = { "switch.x" = [1, 2] }
seeds = 3
tables = ["ports"]
[[sweep]]
name = "single"
scenario = "small.toml"
set = ["switch.y=4"]
seeds = 2
variants = ["bounce"]
[[figure]]
id = "fig1"
title = "Flows"
sweeps = ["grid"]
claim = "Bouncing is quick."
[[figure]]
id = "fig2"
title = "Places"
sweeps = ["single"]
claim = "It bounces | everywhere."
[[figure]]
id = "fig3"
title = "A function"
claim = "It is 1."
[[study]]
page = "bounce"
says = "A [study] found more."
[[what_if]]
name = "y"
title = "another y"
sweeps = ["single"]
set = ["switch.y=9"]
seeds = 2
"""
ROWS = """
[[row]]
figure = "fig1"
case = "x 1"
metric = "fct"
unit = "s"
published = 1
basis = "text"
kind = "value"
tolerance = { max = 100 }
one_run = true
note = "read off a plot"
[[row]]
figure = "fig1"
case = "x 2"
metric = "dropped"
unit = "pkt"
published = 0
basis = "table"
kind = "exact"
tolerance = { abs = 0 }
[[row]]
figure = "fig2"
case = "all"
metric = "switch"
published = "leaf0"
basis = "text"
kind = "exact"
[[row]]
figure = "fig2"
case = "all"
metric = "bounces"
basis = "derived"
kind = "order"
tolerance = { min = 1 }
[[row]]
figure = "fig3"
case = "u = 1"
metric = "P"
published = 1
basis = "text"
kind = "exact"
tolerance = { abs = 1e-12 }
[[row]]
figure = "fig3"
case = "hardware"
metric = "rate"
basis = "text"
kind = "value"
later = true
note = "once there is hardware"
"""


def measure_flows(runs: Mapping[str, Runs]) -> Iterable[Measured]:
    one, other = runs["grid"].points
    yield Measured("x 1", "fct", list(runs["grid"].metric("fct_p99", "bounce", one)))
    lost = [
        sum(table.column("drop_buffer_full").to_pylist())
        for table in runs["grid"].tables("ports", "bounce", other)
    ]
    yield Measured("x 2", "dropped", lost, "counted at all ports")


def measure_places(runs: Mapping[str, Runs]) -> Iterable[Measured]:
    found = runs["single"].metric("bounces", "bounce")
    yield Measured("all", "switch", ["leaf0"] * len(found))
    yield Measured("all", "bounces", list(found))


def measure_with_function(runs: Mapping[str, Runs]) -> Iterable[Measured]:
    assert not runs
    yield Measured("u = 1", "P", [1.0])


def draw_figure(runs: Mapping[str, Runs], published: Mapping[tuple[str, str], float]) -> Drawing:
    made, [axes] = new_panels(1)
    axes.plot(runs["grid"].metric("fct_p99", "drop", runs["grid"].points[0]))
    axes.axhline(published["x 1", "fct"])
    return made


MEASURES: dict[str, Measure] = {"fig1": measure_flows, "fig2": measure_places, "fig3": measure_with_function}
DRAWINGS: dict[str, Draw] = {"fig1": draw_figure}
CODE = """import small_paper

{table} = small_paper.GIVEN["{table}"]
"""
GIVEN: dict[str, Any] = {}


def write_paper_folder(folder: Path, paper: str = PAPER, rows: str = ROWS) -> Path:
    """Writes a folder of papers with the small one, and returns it."""
    place = folder / "papers" / "small"
    place.mkdir(parents=True, exist_ok=True)
    (place / "small.toml").write_text(SCENARIO)
    (place / "paper.toml").write_text(paper)
    (place / "rows.toml").write_text(rows)
    return folder / "papers"


def write_code(
    folder: Path, measures: Mapping[str, Measure], drawings: Mapping[str, Draw] = DRAWINGS
) -> None:
    """Writes the code of the figures into the small paper's folder, replacing earlier code."""
    GIVEN.update(MEASURES=measures, DRAWINGS=drawings)
    for module, table in (paper_code.MEASURES_TABLE, paper_code.DRAWINGS_TABLE):
        (folder / "papers" / "small").mkdir(parents=True, exist_ok=True)
        (folder / "papers" / "small" / f"{module}.py").write_text(CODE.format(table=table))
        sys.modules.pop(f"{paper_code.PACKAGE_NAME}.small.{module}", None)


def measures_exactly(name: str, measure: Measure, runs: Any, rows: Iterable[Mapping[str, Any]]) -> None:
    """Asserts that a figure's code yields each of its rows once, with values, and no others."""
    found = list(measure(runs))
    keys = [(one.case, one.metric) for one in found]
    assert sorted(keys) == sorted((row["case"], row["metric"]) for row in rows if row["figure"] == name)
    assert all(len(one.values) for one in found)


def has_code_for(measures: Iterable[str], figures: Iterable[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Asserts that figures with rows have code, and that all figures have rows."""
    rows = list(rows)
    assert sorted(measures) == sorted({row["figure"] for row in rows if not row.get("later")})
    assert {row["figure"] for row in rows} == set(figures)


def count_marked_points(name: str, draw: Draw, runs: Any, rows: Iterable[Mapping[str, Any]]) -> list[int]:
    """Returns the number of marked published values, without any and with those of the figure's rows."""
    published = {
        (row["case"], row["metric"]): row["published"]
        for row in rows
        if row["figure"] == name and isinstance(row.get("published"), int | float)
    }
    with plots.style():
        return [count_marks(draw(runs, given)) for given in ({}, published)]


def count_marks(drawn: Drawing) -> int:
    """Returns the number of values marked in a drawing."""
    lines = [line for axes in drawn.axes for line in axes.lines if line.get_marker() == "D"]
    return sum(len(line.get_xdata()) for line in lines)


def read_files(folder: Path) -> dict[str, bytes]:
    """Returns the contents of all files in a folder except those of runs."""
    skipped = ("sweeps", "what_if")
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.relative_to(folder).parts[0] not in skipped
    }
