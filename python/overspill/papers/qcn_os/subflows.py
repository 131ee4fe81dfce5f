"""f1 and f2 as ten subflows each, beside f1 and f2 as one flow each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from overspill.papers.common import measured
from overspill.papers.qcn_os import workloads
from overspill.papers.qcn_os.fabric import ACKS, TWO_ACKS
from overspill.papers.qcn_os.limits import LINE, Limits, limits
from overspill.papers.qcn_os.schemes import END, F1, F2, OFFER, ONSET, OS, STEP, Sweeps, by_ms, steps
from overspill.papers.spec import Figure, Measured, Runs

MANY = (50.0, 350.0)  # ms, while f2 is there
HOTSPOT = (ONSET, END)
INSIDE = 2.5  # Gb/s of the internal link
RECOVERED = 0.9  # of what is offered


def recovery(sent: np.ndarray, window: workloads.Window = MANY, offer: float = OFFER) -> float:
    """Time from a window's start until victims stay at nine tenths of their offer, ms; NaN where never."""
    low = np.flatnonzero(by_ms(sent[steps(window)]) < RECOVERED * offer)
    if not len(low):
        return 0.0
    return float("nan") if low[-1] == window[1] - window[0] - 1 else float(low[-1] + 1)


def recovered(runs: Runs, variant: str, window: workloads.Window = MANY) -> np.ndarray:
    """Time until f1 is back, ms, by seed."""
    count = round(window[1] / STEP)
    return np.array([recovery(one[F1], window) for one in workloads.sent(runs, variant, count)])


def schemes_compared(sweeps: Sweeps) -> Iterator[Measured]:
    """Two samples and QCN-OS, both with acknowledgements, on ten subflows each."""
    runs = sweeps["subflows"]
    two, one = (recovered(runs, variant) for variant in (TWO_ACKS, ACKS))
    note = f"{two.mean():.3g} and {one.mean():.3g} ms"
    case = "subflows, two samples less QCN-OS, both with end-to-end ACKs"
    yield measured(case, "time_to_recover", two - one, note)


def allowed(found: Sequence[Limits], times: np.ndarray) -> np.ndarray:
    """Throughput that limits let through of flows with equal offers at these times, Gb/s."""
    offer = OFFER / len(found)
    rates = [
        np.concatenate(([LINE], one.rates))[np.searchsorted(one.times, times, side="right")] for one in found
    ]
    return np.asarray(np.minimum(rates, offer).sum(axis=0))


def down(found: Sequence[Limits]) -> float:
    """Time until limits first let through no more than the internal link, ms after f2 begins; else NaN."""
    times = np.unique(np.concatenate([one.times for one in found]))
    times = times[(times >= MANY[0]) & (times < MANY[1])]
    low = times[allowed(found, times) <= INSIDE + 1e-9]
    return float(low[0]) - MANY[0] if len(low) else float("nan")


def limits_down(runs: Runs, variant: str) -> np.ndarray:
    """Time until the limits of f2 are down, ms, by seed."""
    every = zip(runs.tables("flows", variant), runs.tables("rate_limits", variant), strict=True)
    return np.array([down(limits(table, workloads.Workloads(flows).numbers(F2))) for flows, table in every])


def later(case: str, metric: str, found: tuple[np.ndarray, np.ndarray], longest: float) -> Measured:
    """Row of subflows less one flow each; subflows that never are there count as there after `longest` ms."""
    many, one = found
    never = int(np.isnan(many).sum())
    capped = np.where(np.isnan(many), longest, many)
    note = f"{capped.mean():.4g} and {one.mean():.4g} ms"
    if never:
        note += f"; subflows not within {longest:.0f} ms in {never} of {len(many)} seeds"
    return measured(case, metric, capped - one, note)


def beside(sweeps: Sweeps) -> Iterator[Measured]:
    """The fabric without and with acknowledgements, and the switch of figure 6."""
    fabric = sweeps["subflows"], sweeps["one_each"]
    length = MANY[1] - MANY[0]
    for variant, name in ((OS, "QCN-OS"), (ACKS, "QCN-OS with ACKs")):
        many, one = (limits_down(runs, variant) for runs in fabric)
        case = f"{name}, subflows less one flow each, f2"
        yield later(case, "time_until_limits_are_down", (many, one), length)
    many, one = (recovered(runs, ACKS) for runs in fabric)
    yield later("QCN-OS with ACKs, subflows less one flow each", "time_to_recover", (many, one), length)
    hotspot = sweeps["hotspot_subflows"], sweeps["hotspot"]
    many, one = (recovered(runs, OS, HOTSPOT) for runs in hotspot)
    case = "QCN-OS, six flows, subflows less one flow each"
    yield later(case, "time_to_recover", (many, one), END - ONSET)


FIGURES: dict[str, Figure] = {"claim-subflows": Figure(beside)}
