"""Figure 3: queries of which one flow is slow."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure as Drawing

from overspill import columns, plots
from overspill.papers.common import Published, legend, measured, quotient, sheet
from overspill.papers.cp.schemes import DCTCP, NAMES, Sweeps
from overspill.papers.spec import Figure, Measured, Runs
from overspill.plots import COLOURS

LATE = 15.0  # ms
SENDERS = 20


def durations(runs: Runs, variant: str, column: str = "") -> list[np.ndarray]:
    """How long flows took, ms, or another column, run by run: queries by flows."""
    found = []
    for table in runs.tables("flows", variant):
        order = np.argsort(columns.numbers(table, "query"), kind="stable")
        if column:
            values = columns.numbers(table, column).astype(np.float64)
        else:
            end = columns.numbers(table, "end_ps").astype(np.float64)
            values = (end - columns.numbers(table, "start_ps")) / 1e9
        found.append(values[order].reshape(-1, SENDERS))
    return found


def figure_3(sweeps: Sweeps) -> Iterator[Measured]:
    """How many queries have a slow flow, and how slow it is."""
    runs = sweeps["slow_flow"]
    times, again = durations(runs, DCTCP), durations(runs, DCTCP, "fast_retransmits")
    expired = durations(runs, DCTCP, "timeouts")
    shares, slowest, with_again, with_timeout = [], [], [], []
    for taken, fast, timer in zip(times, again, expired, strict=True):
        late = taken.max(axis=1) > LATE
        shares.append(100 * float(late.mean()))
        who = taken.argmax(axis=1)
        rows = np.flatnonzero(late)
        ratio = taken.max(axis=1)[late] / np.median(taken, axis=1)[late]
        slowest.append(float(ratio.mean()) if len(ratio) else float("nan"))
        with_again.append(100 * quotient(float((fast[rows, who[rows]] > 0).sum()), len(rows)))
        with_timeout.append(100 * quotient(float((timer[rows, who[rows]] > 0).sum()), len(rows)))
    late_case = "queries with a flow over 15 ms"
    told = f"with a timeout {np.nanmean(with_timeout):.3g} % of the slowest" if any(shares) else ""
    yield measured("20 flows of 50 KB, DCTCP", "queries_with_a_flow_over_15_ms", shares, told)
    yield measured(late_case, "slowest_by_median", slowest)
    yield measured(late_case, "slowest_flow_with_fast_retransmits", with_again)


def draw(sweeps: Sweeps, published: Published) -> Drawing:
    """The slowest flow of each query, scheme by scheme."""
    runs = sweeps["slow_flow"]
    with plots.style():
        made, [axes] = sheet(1)
        latest = LATE
        for variant in runs.variants:
            slowest = np.sort(np.concatenate([one.max(axis=1) for one in durations(runs, variant)]))
            latest = max(latest, float(slowest[-1]))
            colour = COLOURS[list(NAMES).index(variant) % len(COLOURS)]
            shares = np.arange(1, len(slowest) + 1) / len(slowest)
            axes.step(slowest, shares, where="post", color=colour, label=NAMES[variant])
        axes.axvline(LATE, color="black", linewidth=0.8, linestyle=":")
        axes.set_xlim(8, latest + 1)
        axes.set_xlabel("slowest flow of a query (ms); dotted: 15 ms")
        axes.set_ylabel("share of queries")
        axes.set_title("20 flows of 50 KB, starts within 1 ms")
        legend(axes, loc="lower right")
    return made


FIGURES: dict[str, Figure] = {"fig3": Figure(figure_3, draw)}
