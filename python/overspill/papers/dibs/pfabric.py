"""Section 5.8: DIBS beside pFabric."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from matplotlib.figure import Figure as Drawing

from overspill import Value, plots
from overspill.papers.common import Published, measured, quotients, sheet
from overspill.papers.dibs.compare import at, less, mean
from overspill.papers.dibs.drawn import Panel, lines
from overspill.papers.dibs.loads import QPS
from overspill.papers.dibs.mixed import DIBS, Of, Sweeps, Times, exact, flows_of, p99_qct
from overspill.papers.spec import Figure, Measured

PFABRIC = "pfabric"
RATES = (300, 500, 1000, 1500, 2000)
# Whose runs those of a variant are.
SWEEP = {DIBS: "queries", PFABRIC: "pfabric"}


def large_fct(one: Times) -> Value:
    """The 99th percentile of FCT of background flows of 1 MB or more."""
    return one.large


def of_rate(sweeps: Sweeps, variant: str, rate: int) -> list[Times]:
    """What became of the flows at a rate, by seed."""
    runs = sweeps[SWEEP[variant]]
    return list(flows_of(runs, variant, at(runs, QPS, rate)))


def levels(sweeps: Sweeps, rate: int, of: Of) -> str:
    """Means of both."""
    found = {variant: mean(of(one).value for one in of_rate(sweeps, variant, rate)) for variant in SWEEP}
    return ", ".join(f"{variant} {value:.3g} ms" for variant, value in found.items())


def figure_15a(sweeps: Sweeps) -> Iterable[Measured]:
    """Large background flows."""
    theirs, ours = (of_rate(sweeps, variant, RATES[-1]) for variant in (PFABRIC, DIBS))
    note = levels(sweeps, RATES[-1], large_fct)
    yield measured("2000 qps", "p99_fct_of_large_pfabric_less_dibs", less(theirs, ours, large_fct), note)
    for variant in (PFABRIC, DIBS):
        high, low = (exact(of_rate(sweeps, variant, rate), large_fct) for rate in (RATES[-1], RATES[0]))
        yield measured(f"2000 qps by 300 qps, {variant}", "p99_fct_of_large", quotients(high, low))


def figure_15b(sweeps: Sweeps) -> Iterable[Measured]:
    """Queries, and what pFabric drops and sends again."""
    for rate in RATES:
        ours, theirs = (of_rate(sweeps, variant, rate) for variant in (DIBS, PFABRIC))
        note = levels(sweeps, rate, p99_qct)
        if rate < RATES[-1]:
            ratio = quotients(exact(ours, p99_qct), exact(theirs, p99_qct))
            yield measured(f"{rate} qps", "p99_qct_dibs_by_pfabric", ratio, note)
            continue
        yield measured(f"{rate} qps", "p99_qct_pfabric_less_dibs", less(theirs, ours, p99_qct), note)
        again = [np.array([one.retransmitted for one in side]) for side in (theirs, ours)]
        note = f"pfabric {mean(again[0]):.3g} %, dibs {mean(again[1]):.3g} %"
        yield measured(f"{rate} qps", "retransmitted_segments_pfabric_less_dibs", again[0] - again[1], note)
    dropped = {
        variant: sweeps[name].metric("drops", variant, at(sweeps[name], QPS, RATES[-1]))
        for variant, name in SWEEP.items()
    }
    yield measured("2000 qps, pfabric", "drops", dropped[PFABRIC])
    yield measured("2000 qps", "drops_pfabric_less_dibs", dropped[PFABRIC] - dropped[DIBS])


def drawn(sweeps: Sweeps, panel: Panel) -> Drawing:
    """Both over the rate of queries."""
    with plots.style():
        made, [axes] = sheet(1)
        names = {"DCTCP with DIBS": DIBS, "pFabric": PFABRIC}
        lines(axes, panel, {name: (sweeps[SWEEP[one]], one) for name, one in names.items()})
    return made


def draw_15a(sweeps: Sweeps, published: Published) -> Drawing:
    """Figure 15 (a)."""
    y = "99th percentile of FCT (ms)"
    return drawn(sweeps, Panel(QPS, "queries a second", "Background flows of 1 MB or more", large_fct, y))


def draw_15b(sweeps: Sweeps, published: Published) -> Drawing:
    """Figure 15 (b)."""
    return drawn(sweeps, Panel(QPS, "queries a second", "Queries"))


FIGURES: dict[str, Figure] = {
    "fig15a": Figure(figure_15a, draw_15a),
    "fig15b": Figure(figure_15b, draw_15b),
}
