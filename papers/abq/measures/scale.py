"""Measures of ABQ's figure 5c and table 1: long and short flows among 1000 servers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import pyarrow as pa

from overspill import columns, quantiles
from overspill.papers.common import build_measured, divide_by_seed, dropped_packets_by_port
from overspill.papers.spec import Measure, Measured, Runs, Sweeps

from .schemes import ABQ, DROP_TAIL, ECN, NAMES, OTHER_SCHEMES, select_ports_to

DRAW_GROUPS = 4  # groups of draws, from whose medians the interval is computed
PERCENTILES = (50, 90, 99)
# Factor from Mb/s of payload to Mibit/s of IP packets, the unit of throughput in the output of the article's
# older public code.
MEBIBITS_FACTOR = 1486 / 1446 * 1e6 / 2**20


@dataclass(frozen=True)
class NetworkResult:
    """Results of one run with 1000 servers: throughput and share of long flows, FCTs of short ones, drops."""

    throughput: np.ndarray  # Mb/s of each long flow
    drops: np.ndarray  # drops at the port to each receiver
    drops_elsewhere: float  # drops at all other ports
    short_fcts: np.ndarray  # FCTs in ms, NaN for unfinished flows
    long_share: float  # share of long flows in all bytes, in %


def read_network(flows: pa.Table, ports: pa.Table) -> NetworkResult:
    """Reads the results of a run from `flows` and `ports`; long flows belong to no query."""
    start, end, size = (columns.column_to_numpy(flows, name) for name in ("start_ps", "end_ps", "bytes"))
    took = np.where(end == columns.U64_NONE, np.nan, end - start.astype(np.float64))
    long = columns.column_to_numpy(flows, "query") == columns.U32_NONE
    lost = dropped_packets_by_port(ports)
    receivers = columns.column_to_numpy(flows, "dst")[long]
    at_receivers = np.array([lost[select_ports_to(ports, one)].sum() for one in receivers], float)
    return NetworkResult(
        throughput=size[long] * 8e6 / took[long],
        drops=at_receivers,
        drops_elsewhere=float(lost.sum() - at_receivers.sum()),
        short_fcts=took[~long] * 1e-9,
        long_share=100 * float(size[long].sum()) / float(size.sum()),
    )


@cache
def read_networks(runs: Runs, variant: str) -> Sequence[Sequence[NetworkResult]]:
    """Returns the results of each seed, for each random draw of flows."""
    return [
        [
            read_network(*pair)
            for pair in zip(*(runs.tables(name, variant, point) for name in ("flows", "ports")), strict=True)
        ]
        for point in runs.points
    ]


def means_by_draw(runs: Runs, variant: str, of: Callable[[NetworkResult], float]) -> np.ndarray:
    """Returns the mean of a value over the seeds of each random draw of flows."""
    return np.array([np.mean([of(one) for one in seeds]) for seeds in read_networks(runs, variant)])


def group_medians(values: np.ndarray) -> np.ndarray:
    """Returns the median of each of up to `DRAW_GROUPS` groups of random draws of flows.

    Medians are used because the Pareto sizes have no finite variance.
    """
    return np.array([np.median(part) for part in np.array_split(values, min(DRAW_GROUPS, len(values)))])


def pooled_percentiles(runs: Runs, variant: str, percent: int) -> np.ndarray:
    """Returns a percentile of short FCTs in ms, pooled in each of up to `DRAW_GROUPS` groups of draws."""
    every = read_networks(runs, variant)
    parts = np.array_split(np.arange(len(every)), min(DRAW_GROUPS, len(every)))
    found = []
    for part in parts:
        took = np.concatenate([one.short_fcts for at in part for one in every[at]])
        value = quantiles.percentile(took, np.isnan(took), percent)
        found.append(float("nan") if value is None or value.censored else value.value)
    return np.array(found)


def measure_figure_5c(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures completion times of short flows."""
    runs = sweeps["waves"]
    fct = {(one, percent): pooled_percentiles(runs, one, percent) for one in NAMES for percent in PERCENTILES}
    for percent in PERCENTILES:
        note = ", ".join(f"{name} {fct[one, percent].mean():.4g} ms" for one, name in NAMES.items())
        ratio = divide_by_seed(fct[ABQ, percent], fct[ECN, percent])
        yield build_measured("ABQ by ECN", f"p{percent}_fct", ratio, note)
    yield build_measured("ECN by ABQ", "p99_fct", divide_by_seed(fct[ECN, 99], fct[ABQ, 99]))
    for one in (ECN, ABQ):
        yield build_measured(f"DropTail less {NAMES[one]}", "p99_fct", fct[DROP_TAIL, 99] - fct[one, 99])
    yield build_measured("DropTail", "p99_fct", fct[DROP_TAIL, 99])


def largest_throughput(one: NetworkResult) -> float:
    """Returns the throughput of the fastest of the five long flows, in Mb/s."""
    return float(one.throughput.max())


def largest_drops(one: NetworkResult) -> float:
    """Returns the most packets dropped at one of the ports to the five receivers."""
    return float(one.drops.max())


def measure_table_1(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures throughput of long flows, and drops."""
    runs = sweeps["waves"]
    yield from measure_maxima(runs, "")
    yield from measure_maxima(sweeps["apart"], ", apart")
    for one in (ECN, ABQ):
        smallest = group_medians(means_by_draw(runs, one, lambda made: float(made.drops.min())))
        yield build_measured(NAMES[one], "smallest_drops", smallest)
        mean_drops = group_medians(means_by_draw(runs, one, lambda made: float(made.drops.mean())))
        yield build_measured(NAMES[one], "mean_drops", mean_drops)
    other = "read scheme by scheme"
    for one in (ECN, ABQ):
        found = group_medians(means_by_draw(runs, one, largest_throughput))
        yield build_measured(f"{NAMES[one]}, {other}", "largest_throughput", found)
    for one in OTHER_SCHEMES:
        yield build_measured(
            f"{NAMES[one]}, {other}", "largest_drops", group_medians(means_by_draw(runs, one, largest_drops))
        )
    found = group_medians(means_by_draw(runs, ABQ, lambda made: float(made.throughput.min())))
    yield build_measured(f"ABQ, {other}", "smallest_throughput", found)
    mean = {one: means_by_draw(runs, one, lambda made: float(made.throughput.mean())) for one in NAMES}
    note = ", ".join(f"{name} {np.median(mean[one]):.4g}" for one, name in NAMES.items())
    yield build_measured(
        "ECN less DropTail", "mean_throughput", group_medians(mean[ECN] - mean[DROP_TAIL]), note
    )
    yield build_measured("ABQ less ECN", "mean_throughput", group_medians(mean[ABQ] - mean[ECN]), note)
    lost = {one: means_by_draw(runs, one, lambda made: float(made.drops.sum())) for one in NAMES}
    note = ", ".join(f"{name} {np.median(lost[one]):.4g}" for one, name in NAMES.items())
    for one in OTHER_SCHEMES:
        yield build_measured(f"{NAMES[one]} less ABQ", "drops", group_medians(lost[one] - lost[ABQ]), note)
    yield build_measured(
        "long flows", "share_of_bytes", group_medians(means_by_draw(runs, ABQ, lambda made: made.long_share))
    )


def measure_maxima(runs: Runs, which: str) -> Iterator[Measured]:
    """Measures the largest throughput and drops of every scheme."""
    for one, name in NAMES.items():
        found = group_medians(means_by_draw(runs, one, largest_throughput))
        note = f"{found.mean() * MEBIBITS_FACTOR:.4g} Mibit/s of IP packets"
        yield build_measured(f"{name}{which}", "largest_throughput", found, note)
        elsewhere = np.median(means_by_draw(runs, one, lambda made: made.drops_elsewhere))
        note = f"and {elsewhere:.4g} at other ports in all"
        yield build_measured(
            f"{name}{which}", "largest_drops", group_medians(means_by_draw(runs, one, largest_drops)), note
        )


MEASURES: dict[str, Measure] = {
    "fig5c": measure_figure_5c,
    "tab1": measure_table_1,
}
