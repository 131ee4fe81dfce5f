"""Section 5.7: whether DIBS breaks, by many queries or by large responses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure as Drawing

from overspill.papers.common import Published, measured
from overspill.papers.dibs.compare import above, below, curve, less, mean, told
from overspill.papers.dibs.drawn import Panel, two
from overspill.papers.dibs.loads import QPS, SIZE
from overspill.papers.dibs.mixed import DCTCP, DIBS, Sweeps, flows_of, p99_fct
from overspill.papers.spec import Figure, Measured, Point, Runs

HOLDS_UP_TO = 10_000  # queries a second, in the words of the paper


def figure_13(sweeps: Sweeps) -> Iterable[Measured]:
    """Many queries."""
    runs = sweeps["extreme"]
    yield measured("breaking point", "least_qps_with_dibs_above_dctcp", breaking(runs))
    for point in runs.points:
        rate = int(point[QPS])
        case = f"{rate // 1000}k qps"
        if rate <= HOLDS_UP_TO:
            yield noted(below(case, runs, point), halves(runs, point))
            continue
        yield noted(above(case, runs, point), halves(runs, point))
        found = less(flows_of(runs, DIBS, point), flows_of(runs, DCTCP, point), p99_fct)
        yield measured(case, "rise_of_p99_fct", found, told(runs, point, p99_fct))


def noted(row: Measured, note: str) -> Measured:
    """The same with one more note."""
    return replace(row, note=f"{row.note}; {note}")


def halves(runs: Runs, point: Point) -> str:
    """Whether it goes on as it began: 99th percentiles of QCT in both halves of the window."""
    found = []
    for variant in (DCTCP, DIBS):
        first, second = (mean(one.halves[half] for one in flows_of(runs, variant, point)) for half in (0, 1))
        found.append(f"{variant} {first:.3g} and {second:.3g} ms")
    return f"by halves of the window {', '.join(found)}"


def breaking(runs: Runs) -> list[float]:
    """The least rate from which on queries take longer with detours, by seed; NaN where there is none."""
    points = sorted(runs.points, key=lambda point: int(point[QPS]))
    with_it, without = (curve(runs, variant, points) for variant in (DIBS, DCTCP))
    rates = np.array([float(point[QPS]) for point in points])
    worse = with_it > without
    return [float(rates[np.argmax(one)]) if one.any() else float("nan") for one in worse]


def figure_14(sweeps: Sweeps) -> Iterable[Measured]:
    """Large responses."""
    runs = sweeps["large"]
    for point in runs.points:
        yield noted(below(point[SIZE].replace("KB", " KB"), runs, point), halves(runs, point))


def draw_13(sweeps: Sweeps, published: Published) -> Drawing:
    """Figure 13."""
    return two(sweeps["extreme"], Panel(QPS, "queries a second (thousands)", "Queries", per=1000))


def draw_14(sweeps: Sweeps, published: Published) -> Drawing:
    """Figure 14."""
    return two(sweeps["large"], Panel(SIZE, "response (KB)", "Queries"))


FIGURES: dict[str, Figure] = {
    "fig13": Figure(figure_13, draw_13),
    "fig14": Figure(figure_14, draw_14),
}
