"""How often a packet is detoured as in figure 1, and where to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from overspill.papers.common import measured, quotient
from overspill.papers.dibs.detour_paths import (
    DEFAULT,
    DIBS,
    HEAVY,
    SWEEP,
    DetourPath,
    detour_paths,
    divided,
    often,
    point,
)
from overspill.papers.dibs.detoured_drawn import draw_packet
from overspill.papers.spec import Figure, Measured, Runs

Sweeps = Mapping[str, Runs]

CASE = "packets detoured 15 times"
METRICS = {
    "aggregation_to_core": "core",
    "aggregation_to_other_edges": "edges",
    "edge_to_aggregation": "aggregation",
    "elsewhere": "elsewhere",
}


def figure_1(sweeps: Sweeps) -> Iterator[Measured]:
    """The share of such packets, and how their detours divide."""
    runs = sweeps[SWEEP]
    found, heavy = detour_paths(runs), detour_paths(runs, HEAVY)
    note = f"{most(found)}; at {HEAVY} qps {np.mean(per_million(runs, HEAVY)):.0f} per million, {most(heavy)}"
    share = per_million(runs, DEFAULT)
    yield measured("default traffic", "data_packets_detoured_15_times_or_more", share, note)
    of, of_heavy = divided(found), divided(heavy)
    seeds = len(found)
    for metric, kind in METRICS.items():
        yield packets(metric, of[kind], seeds, f"; at {HEAVY} qps {of_heavy[kind].mean():.1f} in the mean")
    yield packets("to_core_less_to_other_edges", of["core"] - of["edges"], seeds)
    at_aggregation = of["core"] + of["edges"]
    yield packets("at_aggregation_less_at_edge", at_aggregation - of["aggregation"], seeds)


def packets(metric: str, values: np.ndarray, seeds: int, more: str = "") -> Measured:
    """A value for each packet that is detoured as often as the paper's."""
    return Measured(CASE, metric, [float(one) for one in values], f"of {len(values)} packets{more}", seeds)


def per_million(runs: Runs, load: int) -> list[float]:
    """Delivered data packets that were detoured 15 times or more, of a million, seed by seed."""
    counted = [often(table) for table in runs.tables("packet_hist", DIBS, point(load))]
    return [1e6 * quotient(many, total) for many, total in counted]


def most(found: Sequence[Sequence[DetourPath]]) -> str:
    """How many such packets there are, and of how many most detours are at aggregation switches."""
    every = [one.counts for by_seed in found for one in by_seed]
    there = sum(counts[0] + counts[1] > counts[2] for counts in every)
    return (
        f"{len(every) / len(found):.0f} in a run, those that were lost included, and "
        f"{100 * quotient(there, len(every)):.0f} % of them mostly detoured at aggregation switches"
    )


FIGURES: dict[str, Figure] = {"fig1": Figure(figure_1, draw_packet)}
