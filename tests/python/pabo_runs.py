"""Artificial runs of PABO's sweeps with known results."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from overspill_papers.pabo.measures import parameters, raw_packets

from overspill.papers.spec import Measured, Point, Runs

NODES = [*(f"h{at}" for at in range(4)), *(f"s{at}" for at in range(7))]
EXAMPLE = ["H1", "H2", "H3", "S1", "S2", "S3", "S4"]
RAW_LAMBDA = f"variants.pabo.{raw_packets.LAMBDA_PATH}"
RAW_THETA = f"variants.pabo.{raw_packets.THETA_PATH}"
LAMBDAS = [0, 1, 5, 10, 20, 40, 60, 80, 100, 120, 140, 160]
THETAS = [at / 10 for at in range(10)]
SEEDS = (1, 2)


class FakeRuns:
    """Artificial runs: metrics as functions of point and seed, tables as functions of variant and point."""

    def __init__(
        self,
        points: Sequence[Point] = ({},),
        metrics: Mapping[str, Any] | None = None,
        tables: Mapping[str, Any] | None = None,
        variants: Sequence[str] = ("pabo",),
        nodes: Sequence[str] = NODES,
    ) -> None:
        self.points, self.variants, self.nodes = points, variants, list(nodes)
        self.seeds = SEEDS
        self.metrics, self.kept = metrics or {}, tables or {}

    def metric(self, name: str, variant: str, point: Point | None = None) -> np.ndarray:
        assert variant in self.variants
        at = {path: float(value) for path, value in (point or self.points[0]).items()}
        return np.array([self.metrics[name](at, seed) for seed in self.seeds], np.float64)

    def tables(self, name: str, variant: str, point: Point | None = None) -> list[pa.Table]:
        assert variant in self.variants
        return [self.kept[name](variant, point or self.points[0], seed) for seed in self.seeds]

    def node(self, name: str) -> int:
        return self.nodes.index(name)


def table(rows: Iterable[Sequence[float]], *names: str) -> pa.Table:
    every = list(rows)
    return pa.table({name: [row[at] for row in every] for at, name in enumerate(names)})


def rows_by_key(found: Iterable[Measured]) -> dict[tuple[str, str], Sequence[Any]]:
    every = list(found)
    answered = {(one.case, one.metric): one.values for one in every}
    assert len(answered) == len(every), "a row is measured twice"
    return answered


def points(path: str, values: Iterable[float]) -> list[Point]:
    return [{path: f"{value:g}"} for value in values]


LOSSES = {501: 2, 1501: 20, 2501: 40}  # drops of 90 packets


def ports(variant: str, point: Point, _: int) -> pa.Table:
    """Returns ports of senders with 30 packets each; one drops under severe load, and S7 drops or bounces."""
    packets = int(point[raw_packets.PACKETS_PATH])
    lost = LOSSES[packets] if variant == "without" else 0
    at_sender = int(variant == "without" and packets == 2501)
    bounced = {501: [10], 1501: [20, 5, 6, 7], 2501: [30, 8, 9, 10, 1, 2, 3]}[packets]
    rows = [(at, 30 - (at_sender if at == 0 else 0), at_sender if at == 0 else 0, 0, 0) for at in range(3)]
    rows += [(3, 7, 0, 0, 0), (10, 50, lost - 1 if lost else 0, int(lost > 0), 0)]
    rows += [(10 - at, 0, 0, 0, count) for at, count in enumerate(bounced)]
    return table(rows, "node", "enqueued", "drop_buffer_full", "drop_bounce_queue_full", "bounced")


def hist(variant: str, point: Point, seed: int) -> pa.Table:
    """Returns links crossed and distances, which grow with the load; ACKs have other values."""
    columns = ("data", "metric", "low", "high", "count")
    if variant == "without":
        return table([(1, 1, 4, 5, 90), (0, 1, 9, 10, 7)], *columns)
    far = {501: [45, 55, 0], 1501: [15, 85, 0], 2501: [9, 84, 7]}[int(point[raw_packets.PACKETS_PATH])]
    crossed = [(1, 1, 4, 5, 40), (1, 1, 6, 7, 40 + seed), (1, 1, 12, 13, 10), (1, 1, 13, 14, 10 - seed)]
    rows = [*crossed, *((1, 4, at, at + 1, count) for at, count in enumerate(far))]
    return table([*rows, (0, 4, 0, 1, 500), (0, 1, 4, 5, 500)], *columns)


def severity_sweeps() -> dict[str, Runs]:
    """Returns runs of three loads, without and with bounces."""
    loads = points(raw_packets.PACKETS_PATH, raw_packets.LOAD_PACKETS.values())
    metrics = {"drops": lambda *_: 0}
    return {"severity": FakeRuns(loads, metrics, {"ports": ports, "packet_hist": hist}, ("without", "pabo"))}


Fills = Mapping[tuple[str, int], Mapping[int, int]]
# S7's normal queue fills, then the bounce queues; those of S4 to S6 become empty first.
GOOD: Fills = {
    ("S7", 0): {1: 300, 2: 401, 3: 490, 4: 400, 5: 100, 6: 5, 20: 3},
    ("S7", 1): {3: 4, 4: 30, 5: 9},
    ("S4", 0): {1: 1},
    ("S4", 1): {2: 2, 3: 100, 4: 10},
    ("S5", 1): {3: 105, 4: 1},
    ("S6", 1): {3: 95},
}


def runs_with_trace(fills: Fills) -> Runs:
    def trace(*_: Any) -> pa.Table:
        rows = [
            (
                step,
                NODES.index(raw_packets.OUTPUT_PORTS[switch][0]),
                raw_packets.OUTPUT_PORTS[switch][1],
                kind,
                frames,
                frames,
            )
            for (switch, kind), steps in fills.items()
            for step, frames in steps.items()
        ]
        # Rows of other ports must not count.
        rows += [(step, NODES.index("s6"), 0, 1, 400, 400.0) for step in range(30)]
        return table(rows, "bin", "node", "port", "queue", "max_packets", "mean_packets")

    def limits(*_: Any) -> pa.Table:
        rows = [(node, port, kind, 500) for node in range(4, 11) for port in range(4) for kind in range(2)]
        return table(rows, "node", "port", "queue", "limit")

    return FakeRuns(tables={"sub_queue_trace": trace, "sub_queues": limits})


GRID_THETAS = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99]
GRID_LAMBDAS = [0.5, 1, 2, 5, 10, 20, 50, 100, 160]
GRID = [
    {raw_packets.THETA_PATH: str(theta), raw_packets.LAMBDA_PATH: str(each)}
    for theta in GRID_THETAS
    for each in GRID_LAMBDAS
]


def tree_sweeps(**metrics: Any) -> dict[str, Runs]:
    """Returns the sweep of the tree, with metrics as functions of theta, lambda and seed."""
    metrics = {"drops": lambda *_: 0} | metrics
    asked = {
        name: (lambda at, seed, of=of: of(at[raw_packets.THETA_PATH], at[raw_packets.LAMBDA_PATH], seed))
        for name, of in metrics.items()
    }
    return {"tree": FakeRuns(GRID, asked)}


def probabilities(bounces: int, decay: float) -> np.ndarray:
    """Returns equation 4 at the places for which the core is called."""
    places = parameters.UTILISATIONS
    rate = decay / (bounces + 1)
    return np.where(places <= 0.5, 0, np.expm1(rate * (0.5 - places)) / np.expm1(rate * (0.5 - 1)))


def both_panels() -> tuple[parameters.ProbabilityCurves, parameters.ProbabilityCurves]:
    places = parameters.UTILISATIONS
    left = [probabilities(bounces, 5) for bounces in parameters.BOUNCE_COUNTS]
    right = [probabilities(0, decay) for decay in parameters.DECAYS_OF_PANEL_B]
    return (places, np.array(left)), (places, np.array(right))
