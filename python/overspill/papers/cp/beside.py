"""Sections 3.1 and 4.5: senders whose whole windows are lost, and CP beside flows without it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from overspill import columns
from overspill.papers.common import measured, quotients
from overspill.papers.cp.incast_curves import DEGREE
from overspill.papers.cp.schemes import Sweeps, at, numbers, of, timeouts_of_queries
from overspill.papers.spec import Figure, Measured, Point, Runs

SENDERS = {"standard": "standard TCP", "rfc3042": "RFC 3042", "linux": "Linux", "tlp": "TLP", "cp": "CP"}
FLOWS = "traffic.first.flows"  # of each of three hosts; the second group has as many
HOSTS = 6
FIRST, SECOND = "first", "second"


def figure_stall(sweeps: Sweeps) -> Iterator[Measured]:
    """Timeouts of a query by sender, and completion times beside CP's."""
    runs = sweeps["stall"]
    for degree in numbers(runs, DEGREE):
        point = at(runs, DEGREE, degree)
        for variant, name in SENDERS.items():
            yield measured(f"{name}, {degree:.0f} senders", "timeouts", per_query(runs, variant, point))
        own = runs.metric("qct_mean", "cp", point)
        for variant in ("rfc3042", "linux", "tlp"):
            case = f"CP by {SENDERS[variant]}, {degree:.0f} senders"
            ratio = quotients(own, runs.metric("qct_mean", variant, point))
            yield measured(case, "query_completion_time", ratio)
    runs = sweeps["stall_tail"]
    [point] = runs.points
    probed, plain = (per_query(runs, one, point) for one in ("tlp", "standard"))
    note = f"{probed.mean():.3g} by {plain.mean():.3g} timeouts a query"
    case = "TLP by standard TCP, flows of one window"
    yield measured(case, "timeouts", quotients(probed, plain), note)


def per_query(runs: Runs, variant: str, point: Point) -> np.ndarray:
    """Timeouts of responses, mean over a run's queries, run by run."""
    return np.array([one.mean() for one in timeouts_of_queries(runs, variant, point)])


def figure_beside(sweeps: Sweeps) -> Iterator[Measured]:
    """Goodput, timeouts and cut packets of flows without CP beside flows with it."""
    runs = sweeps["beside"]
    for point in runs.points:
        size = f"{HOSTS * float(point[FLOWS]):.0f} flows"
        alone, beside = (runs.metric(of("goodput", FIRST), one, point) for one in ("tcp", "mixed"))
        case = f"TCP beside CP by TCP alone, {size}"
        yield measured(case, "goodput", quotients(beside, alone))
        own = runs.metric(of("goodput", SECOND), "mixed", point)
        yield measured(f"CP by TCP beside it, {size}", "goodput", quotients(own, beside))
        expired = [expiries(runs, one, point)[0] for one in ("tcp", "mixed")]
        note = f"{expired[1].mean():.4g} by {expired[0].mean():.4g} timeouts a run"
        yield measured(case, "timeouts", quotients(expired[1], expired[0]), note)
        cut = runs.metric(of("trims", FIRST), "mixed", point)
        yield measured(f"TCP beside CP, {size}", "packets_cut", cut)
        case = f"CP by TCP, switches without CP, {size}"
        with_cp, without, there = (both(runs, one, point) for one in ("plain_switches", "plain", "tcp"))
        yield measured(case, "goodput", quotients(with_cp, without))
        here, elsewhere = (np.sum(expiries(runs, one, point), axis=0) for one in ("plain_switches", "plain"))
        yield measured(case, "timeouts", quotients(here, elsewhere))
        case = f"TCP, switches with CP by without, {size}"
        yield measured(case, "goodput", quotients(there, without))


def both(runs: Runs, variant: str, point: Point) -> np.ndarray:
    """Goodput of both groups together."""
    return np.asarray(sum(runs.metric(of("goodput", one), variant, point) for one in (FIRST, SECOND)))


def expiries(runs: Runs, variant: str, point: Point) -> list[np.ndarray]:
    """Timeouts of each group in the whole run: flows begin before the window of measurement."""
    found = []
    for table in runs.tables("flows", variant, point):
        expired = columns.numbers(table, "timeouts")
        found.append(np.bincount(columns.numbers(table, "traffic"), weights=expired, minlength=2))
    return list(np.array(found).T)


FIGURES: dict[str, Figure] = {"sec3.1": Figure(figure_stall), "sec4.5": Figure(figure_beside)}
