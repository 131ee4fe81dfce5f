"""Common code of papers' figures: statistics over seeds, curves over sweeps, styles of drawings."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from overspill import Failed, columns, plots, stats
from overspill.papers.plotted_data import make_object, new_figure
from overspill.papers.spec import Measured, Point, Runs

PublishedValues = Mapping[tuple[str, str], float]
SeedCurve = np.ndarray  # seeds by positions

# Statistics.


def jackknife_values(statistic: Callable[[np.ndarray], float], by_seed: np.ndarray) -> list[float]:
    """Returns jackknife pseudo-values n T(all) - (n - 1) T(all but seed i) of a statistic T of means.

    `statistic` takes means over seeds, the first axis. For statistics that the noise of single seeds
    inflates, such as a range: the mean of the pseudo-values is T less its bias of order 1/n, and their
    scatter is that of T (Quenouille 1956, Tukey 1958). With one seed the result is T itself.
    """
    count = len(by_seed)
    whole = statistic(by_seed.mean(axis=0))
    if count < 2:
        return [whole]
    without = [statistic(np.delete(by_seed, seed, axis=0).mean(axis=0)) for seed in range(count)]
    return [count * whole - (count - 1) * one for one in without]


def value_range(curve: np.ndarray) -> float:
    """Returns the largest value minus the smallest; NaN if any value is NaN."""
    return float(np.max(curve) - np.min(curve))


def relative_range(curve: np.ndarray) -> float:
    """Returns the relative range (max - min) / mean of some values."""
    return divide_or_nan(value_range(curve), float(np.mean(curve)))


def divide_or_nan(above: float, below: float) -> float:
    """Divides two numbers; NaN if the denominator is 0."""
    return above / below if below else float("nan")


def divide_by_seed(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """Divides two arrays seed by seed; NaN where a denominator is 0."""
    return np.array(
        [divide_or_nan(float(one), float(other)) for one, other in zip(above, below, strict=True)]
    )


def rank_correlation(places: Sequence[float], curve: np.ndarray) -> float:
    """Returns Spearman's rank correlation of a curve with its positions; 0 if flat, NaN if not finite."""
    from scipy import stats as scipy_stats  # slow to load

    return correlate(np.asarray(places, np.float64), curve, scipy_stats.spearmanr)


def linear_correlation(one: np.ndarray, other: np.ndarray) -> float:
    """Returns Pearson's correlation; 0 if either side is constant, NaN if a value is not finite."""
    from scipy import stats as scipy_stats

    return correlate(one, other, scipy_stats.pearsonr)


def correlate(one: np.ndarray, other: np.ndarray, of: Callable[..., Any]) -> float:
    """Returns a correlation; 0 if either side is constant, NaN if a value is not finite."""
    if not (np.isfinite(one).all() and np.isfinite(other).all()):
        return float("nan")
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        return 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(of(one, other).statistic)


def build_measured(case: str, metric: str, values: Sequence[float] | np.ndarray, note: str = "") -> Measured:
    """Returns a measured row: case, metric, and one number for each seed."""
    return Measured(case, metric, [float(one) for one in values], note)


# Runs.


def metric_along_points(runs: Runs, name: str, variant: str, points: Sequence[Point]) -> SeedCurve:
    """Returns a metric as a matrix with a row for each seed and a column for each point."""
    return np.array([runs.metric(name, variant, point) for point in points]).T


def points_along_path(
    runs: Runs, path: str, fixed: Mapping[str, float] | None = None
) -> tuple[list[float], list[Point]]:
    """Returns the values of a field and their points in order, where other fields have the values `fixed`.

    Raises `Failed` if there are none, or several points with one value.
    """
    held = fixed or {}
    kept = [point for point in runs.points if all(float(point[one]) == held[one] for one in held)]
    kept.sort(key=lambda point: float(point[path]))
    values = [float(point[path]) for point in kept]
    if not kept or len(set(values)) < len(values):
        raise Failed(f"{path}: found {values} where {dict(held)}; expected at least one value, and each once")
    return values, kept


def dropped_packets_by_port(table: pa.Table) -> np.ndarray:
    """Returns the number of packets dropped at each port in the table `ports`, for any reason."""
    reasons = [name for name in table.column_names if name.startswith("drop_")]
    return np.asarray(np.sum([columns.column_to_numpy(table, name) for name in reasons], axis=0))


def names_with_counts(counts: Mapping[str, float]) -> str:
    """Returns the names that have a count above 0, in order: `S4 S7`; `none` if no count is."""
    return " ".join(name for name, count in counts.items() if count) or "none"


def losses_note(runs: Runs, variant: str, points: Sequence[Point]) -> str:
    """Returns a note on the seeds that lost packets at any of the points; empty without losses."""
    lost = metric_along_points(runs, "drops", variant, points).sum(axis=1)
    found = [f"{seed} ({count:.0f})" for seed, count in zip(runs.seeds, lost, strict=True) if count]
    return f"packets lost with seed {', '.join(found)}" if found else ""


# Drawings.


def new_panels(columns: int, rows: int = 1, height: float = 3.4) -> tuple[Drawing, list[Axes]]:
    """Returns a figure with panels row by row, `height` inches each; call it within `plots.style()`."""
    made = new_figure(figsize=(plots.WIDTH, rows * height), layout="constrained")
    return made, [made.add_subplot(rows, columns, at + 1) for at in range(rows * columns)]


def interval_half_widths(by_seed: np.ndarray) -> np.ndarray:
    """Returns half of the 95% interval of the mean at each position (the last axis); 0 with one seed."""
    return np.array([stats.half_width(list(map(float, one))) or 0.0 for one in by_seed.T])


def draw_mean_line(
    axes: Axes, x: Sequence[float] | np.ndarray, by_seed: SeedCurve, colour: str, **style: Any
) -> None:
    """Draws a line through the means over seeds, and the band of their 95% intervals."""
    centre, reach = by_seed.mean(axis=0), interval_half_widths(by_seed)
    axes.plot(x, centre, color=colour, **style)
    step: Any = style.get("drawstyle", "").removeprefix("steps-") or None
    axes.fill_between(x, centre - reach, centre + reach, facecolor=colour, alpha=0.18, linewidth=0, step=step)


def draw_published_values(
    axes: Axes, values: Sequence[tuple[float, float | None]], label: str = "published"
) -> None:
    """Draws published values, if there are any, as hollow black diamonds that do not hide measured ones."""
    known = [(x, y) for x, y in values if y is not None]
    style: dict[str, Any] = {"markerfacecolor": "none", "markeredgecolor": "black", "markersize": 9}
    if known:
        places, heights = [x for x, _ in known], [y for _, y in known]
        axes.plot(places, heights, "D", linestyle="none", zorder=5, label=label, **style)


def set_log_scale(axes: Axes) -> None:
    """Makes the y axis logarithmic with plain numbers, more of them if it spans less than two decades."""
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    axes.yaxis.set_major_locator(make_object("log", subs=(1, 2, 5) if high < 100 * low else (1,)))
    axes.yaxis.set_major_formatter(make_object("thousands"))
    axes.yaxis.set_minor_formatter(make_object("no labels"))


def draw_legend(axes: Axes, **place: Any) -> None:
    """Draws the legend, with published values last."""
    handles, labels = axes.get_legend_handles_labels()
    order = sorted(range(len(handles)), key=lambda at: getattr(handles[at], "get_marker", str)() == "D")
    axes.legend([handles[at] for at in order], [labels[at] for at in order], **place)
