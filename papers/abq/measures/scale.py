"""Measures of figure 5c and table 1: long and short flows among 1000 servers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import pyarrow as pa

from overspill import columns, quantiles
from overspill.papers.common import dropped, measured, quotients
from overspill.papers.spec import Measure, Measured, Runs, Sweeps

from .schemes import ABQ, DROP_TAIL, ECN, NAMES, OTHERS, port_to

GROUPS = 4  # groups of draws, from whose medians the interval is computed
PERCENTILES = (50, 90, 99)
# Factor from Mb/s of payload to Mibit/s of IP packets, the unit of the older code's output.
MEBIBITS = 1486 / 1446 * 1e6 / 2**20


@dataclass(frozen=True)
class Network:
    """Results of one run."""

    throughput: np.ndarray  # Mb/s of each long flow
    drops: np.ndarray  # drops at the port to each receiver
    elsewhere: float  # drops at all other ports
    short: np.ndarray  # FCTs in ms, NaN for unfinished flows
    share: float  # share of long flows in all bytes, in %


def network(flows: pa.Table, ports: pa.Table) -> Network:
    """Reads the results of a run from `flows` and `ports`; long flows belong to no query."""
    start, end, size = (columns.numbers(flows, name) for name in ("start_ps", "end_ps", "bytes"))
    took = np.where(end == columns.U64_NONE, np.nan, end - start.astype(np.float64))
    long = columns.numbers(flows, "query") == columns.U32_NONE
    lost = dropped(ports)
    receivers = columns.numbers(flows, "dst")[long]
    at_receivers = np.array([lost[port_to(ports, one)].sum() for one in receivers], float)
    return Network(
        throughput=size[long] * 8e6 / took[long],
        drops=at_receivers,
        elsewhere=float(lost.sum() - at_receivers.sum()),
        short=took[~long] * 1e-9,
        share=100 * float(size[long].sum()) / float(size.sum()),
    )


@cache
def networks(runs: Runs, variant: str) -> Sequence[Sequence[Network]]:
    """Returns the results of each seed of each draw of flows."""
    return [
        [
            network(*pair)
            for pair in zip(*(runs.tables(name, variant, point) for name in ("flows", "ports")), strict=True)
        ]
        for point in runs.points
    ]


def by_draw(runs: Runs, variant: str, of: Callable[[Network], float]) -> np.ndarray:
    """Returns the mean of a value over the seeds of each draw."""
    return np.array([np.mean([of(one) for one in seeds]) for seeds in networks(runs, variant)])


def medians(values: np.ndarray) -> np.ndarray:
    """Returns the median of each of up to `GROUPS` groups of draws.

    Medians are used because the Pareto sizes have no finite variance.
    """
    return np.array([np.median(part) for part in np.array_split(values, min(GROUPS, len(values)))])


def pooled(runs: Runs, variant: str, percent: int) -> np.ndarray:
    """Returns a percentile of short flows' FCTs in ms, pooled in each of up to `GROUPS` groups of draws."""
    every = networks(runs, variant)
    parts = np.array_split(np.arange(len(every)), min(GROUPS, len(every)))
    found = []
    for part in parts:
        took = np.concatenate([one.short for at in part for one in every[at]])
        value = quantiles.percentile(took, np.isnan(took), percent)
        found.append(float("nan") if value is None or value.censored else value.value)
    return np.array(found)


def figure_5c(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures completion times of short flows."""
    runs = sweeps["waves"]
    fct = {(one, percent): pooled(runs, one, percent) for one in NAMES for percent in PERCENTILES}
    for percent in PERCENTILES:
        note = ", ".join(f"{name} {fct[one, percent].mean():.4g} ms" for one, name in NAMES.items())
        ratio = quotients(fct[ABQ, percent], fct[ECN, percent])
        yield measured("ABQ by ECN", f"p{percent}_fct", ratio, note)
    yield measured("ECN by ABQ", "p99_fct", quotients(fct[ECN, 99], fct[ABQ, 99]))
    for one in (ECN, ABQ):
        yield measured(f"DropTail less {NAMES[one]}", "p99_fct", fct[DROP_TAIL, 99] - fct[one, 99])
    yield measured("DropTail", "p99_fct", fct[DROP_TAIL, 99])


def largest_throughput(one: Network) -> float:
    """Returns the largest throughput of the five long flows in Mb/s."""
    return float(one.throughput.max())


def largest_drops(one: Network) -> float:
    """Returns the most packets dropped at one of the ports to the five receivers."""
    return float(one.drops.max())


def table_1(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures throughput of long flows, and drops."""
    runs = sweeps["waves"]
    yield from largest(runs, "")
    yield from largest(sweeps["apart"], ", apart")
    for one in (ECN, ABQ):
        smallest = medians(by_draw(runs, one, lambda made: float(made.drops.min())))
        yield measured(NAMES[one], "smallest_drops", smallest)
        mean_drops = medians(by_draw(runs, one, lambda made: float(made.drops.mean())))
        yield measured(NAMES[one], "mean_drops", mean_drops)
    other = "read scheme by scheme"
    for one in (ECN, ABQ):
        found = medians(by_draw(runs, one, largest_throughput))
        yield measured(f"{NAMES[one]}, {other}", "largest_throughput", found)
    for one in OTHERS:
        yield measured(f"{NAMES[one]}, {other}", "largest_drops", medians(by_draw(runs, one, largest_drops)))
    found = medians(by_draw(runs, ABQ, lambda made: float(made.throughput.min())))
    yield measured(f"ABQ, {other}", "smallest_throughput", found)
    mean = {one: by_draw(runs, one, lambda made: float(made.throughput.mean())) for one in NAMES}
    note = ", ".join(f"{name} {np.median(mean[one]):.4g}" for one, name in NAMES.items())
    yield measured("ECN less DropTail", "mean_throughput", medians(mean[ECN] - mean[DROP_TAIL]), note)
    yield measured("ABQ less ECN", "mean_throughput", medians(mean[ABQ] - mean[ECN]), note)
    lost = {one: by_draw(runs, one, lambda made: float(made.drops.sum())) for one in NAMES}
    note = ", ".join(f"{name} {np.median(lost[one]):.4g}" for one, name in NAMES.items())
    for one in OTHERS:
        yield measured(f"{NAMES[one]} less ABQ", "drops", medians(lost[one] - lost[ABQ]), note)
    yield measured("long flows", "share_of_bytes", medians(by_draw(runs, ABQ, lambda made: made.share)))


def largest(runs: Runs, which: str) -> Iterator[Measured]:
    """Measures the largest throughput and drops of every scheme."""
    for one, name in NAMES.items():
        found = medians(by_draw(runs, one, largest_throughput))
        note = f"{found.mean() * MEBIBITS:.4g} Mibit/s of IP packets"
        yield measured(f"{name}{which}", "largest_throughput", found, note)
        elsewhere = np.median(by_draw(runs, one, lambda made: made.elsewhere))
        note = f"and {elsewhere:.4g} at other ports in all"
        yield measured(f"{name}{which}", "largest_drops", medians(by_draw(runs, one, largest_drops)), note)


MEASURES: dict[str, Measure] = {
    "fig5c": figure_5c,
    "tab1": table_1,
}
