"""How often a packet is detoured as in figure 1, and where to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from overspill.papers.dibs.detoured_drawn import draw_packet
from overspill.papers.dibs.journeys import DIBS, KINDS, SWEEP, journeys, often, shares
from overspill.papers.pabo.common import measured, quotient
from overspill.papers.spec import Figure, Measured, Runs

Sweeps = Mapping[str, Runs]

CASE = "packets detoured 15 times or more"
METRICS = {
    "aggregation_to_core_per_15_detours": "core",
    "aggregation_to_other_edges_per_15_detours": "edges",
    "edge_to_aggregation_per_15_detours": "aggregation",
    "elsewhere_per_15_detours": "elsewhere",
}


def figure_1(sweeps: Sweeps) -> Iterator[Measured]:
    """The share of such packets, and how their detours divide."""
    runs = sweeps[SWEEP]
    counted = [often(table) for table in runs.tables("packet_hist", DIBS)]
    share = [1e6 * quotient(many, total) for many, total in counted]
    every = [len(one) for one in journeys(runs)]
    told = f"{np.mean(every):.0f} of them in a run, those that were lost included"
    yield measured("default traffic", "data_packets_detoured_15_times_or_more", share, told)
    by_seed = np.array([shares(one) for one in journeys(runs)])
    of = {kind: by_seed[:, at] for at, kind in enumerate(KINDS)}
    for metric, kind in METRICS.items():
        yield measured(CASE, metric, of[kind])
    yield measured(CASE, "to_core_less_to_other_edges_per_15_detours", of["core"] - of["edges"])
    at_aggregation = of["core"] + of["edges"]
    yield measured(CASE, "at_aggregation_less_at_edge_per_15_detours", at_aggregation - of["aggregation"])


FIGURES: dict[str, Figure] = {"fig1": Figure(figure_1, draw_packet)}
