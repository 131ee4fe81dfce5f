"""Artificial runs of QCN-OS's sweeps: constant rates, with known CNMs, limits and pauses."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import sample_runs
from sample_runs import Told

PAPER = Path(__file__).parents[2] / "papers" / "qcn-os"
MS = 10**9
SWITCH = 7  # after the hosts h0 to h6, each at the port of its number
F1_TO, HOT_TO = 5, 6
STEP = 12_500  # bytes of 1 Gb/s in a step of 0.1 ms


@dataclass(eq=False)
class FakeRuns(sample_runs.FakeRuns):
    """Runs of a star of seven hosts, or of fewer."""

    resolved: Mapping[str, Any] | None = None

    def node(self, name: str) -> int:
        return SWITCH if name == "s0" else int(name.removeprefix("h"))

    def settings(self, variant: str) -> Mapping[str, Any]:
        assert self.resolved is not None and variant in self.variants
        return self.resolved


def table(**columns: Sequence[float]) -> pa.Table:
    """Returns a table with columns of numbers; the columns in `floats` are floats."""
    floats = ("mean_bytes", "rate_bps", "mean_packets")
    return pa.table({
        name: pa.array(list(values), pa.float64() if name in floats else pa.uint64())
        for name, values in columns.items()
    })  # fmt: skip


def flows(*ends: int) -> pa.Table:
    """Returns `flows`: one for each workload, numbered in reverse order to catch confusions of the two."""
    count = len(ends)
    return table(flow=range(count), traffic=reversed(range(count)), dst=list(reversed(ends)))


def ports() -> pa.Table:
    """Returns `ports` of hosts, which are ignored, and of the switch."""
    return table(node=[0, *[SWITCH] * 7], port=[0, *range(7)], peer=[SWITCH, *range(7)])


def sent_table(rates: Sequence[Sequence[tuple[int, int, float]]]) -> pa.Table:
    """Returns `sent_trace` from the rates of each flow (a workload) in Gb/s, from one step to another."""
    rows = [
        (step, len(rates) - 1 - place, rate * STEP)
        for place, parts in enumerate(rates)
        for first, end, rate in parts
        for step in range(first, end)
    ]
    step, flow, size = zip(*rows, strict=True)
    return table(bin=step, host=[0] * len(rows), flow=flow, wire_bytes=[round(one) for one in size])


def inputs(*parts: tuple[int, int, int, float], source: int = 0) -> pa.Table:
    """Returns `input_trace` from the KB in an input for an output, from step to step, and another input."""
    rows = [(step, source, out, 1e3 * kb) for first, end, out, kb in parts for step in range(first, end)]
    rows += [(step, 1, HOT_TO, 99e3) for step in range(3)]
    step, port, out, mean = zip(*rows, strict=True)
    node = [SWITCH] * len(rows)
    return table(
        bin=step, node=node, input=port, output=out, mean_bytes=mean, max_bytes=[round(m) for m in mean]
    )


def pauses(*rows: tuple[float, float, int]) -> pa.Table:
    """Returns `pause_trace` from start and end in ms, and host."""
    begin, end, node = zip(*rows, strict=True) if rows else ((), (), ())
    times = {"from_ps": [round(one * MS) for one in begin], "to_ps": [round(one * MS) for one in end]}
    return table(**times, node=node)


def notices(*rows: tuple[float, int, int, int], of: int = 6) -> pa.Table:
    """Returns `notices` from time in ms, port, flow (a workload of `of`), and feedback."""
    time, port, flow, feedback = zip(*rows, strict=True) if rows else ((), (), (), ())
    count = len(rows)
    return table(
        time_ps=[round(one * MS) for one in time], node=[SWITCH] * count, port=port,
        flow=[of - 1 - one for one in flow], feedback=feedback, q_off=[5] * count, q_delta=[0] * count,
    )  # fmt: skip


def rate_limits(*rows: tuple[float, int, float], of: int = 6) -> pa.Table:
    """Returns `rate_limits` from time in ms, flow (a workload), and limit in Gb/s; below 0 means none."""
    time, flow, rate = zip(*rows, strict=True) if rows else ((), (), ())
    return table(
        time_ps=[round(one * MS) for one in time], host=[0] * len(rows),
        flow=[of - 1 - one for one in flow], rate_bps=[1e9 * one for one in rate],
    )  # fmt: skip


STORED = (10, 20, 30, 1, 1, 1)  # KB of the flows of the laws
HOTSPOT = ("pfc", "as_in", "os_in", "as_out", "two_samples", "os_keep_alive")


def hotspot_tables(count: int = 6, offer: float = 5) -> Mapping[str, Told]:
    """Returns the tables of a hotspot of `count` flows, whose numbers depend on variant and seed."""

    def level(variant: str, seed: int) -> float:
        return 0.01 * (HOTSPOT.index(variant) + seed)

    def rates(variant: str, seed: int) -> list[list[tuple[int, int, float]]]:
        own = level(variant, seed)
        steady = [2.0 + own * flow for flow in range(count)]
        early = [[(0, 100, offer)], [(0, 100, offer)], *([] for _ in range(count - 2))]
        return [[*early[flow], (100, 140, 1.0), (140, 2000, steady[flow])] for flow in range(count)]

    return {
        "flows": lambda *_: flows(F1_TO, *[HOT_TO] * (count - 1)),
        "ports": lambda *_: ports(),
        "sent_trace": lambda one, _, seed: sent_table(rates(one, seed)),
        "input_trace": lambda one, _, seed: inputs(
            (0, 2000, F1_TO, 1 + level(one, seed)),
            *((step, step + 1, HOT_TO, 55 + (step % 7) * (1 + level(one, seed))) for step in range(2000)),
        ),
        "pause_trace": lambda one, _, seed: pauses(
            (11, 11.3 + level(one, seed), 0), (12, 12.3, 0), (13, 13.3, 0), (14, 14.3, 1)
        ),
        "notices": lambda one, _, seed: notices(
            *((10.5 + at, 0, at % 2, 8) for at in range(100 + seed)), (11.2, 0, 1, 9)
        ),
        "rate_limits": lambda one, _, seed: rate_limits(
            (10.6, 0, 8), (20, 0, 3 + level(one, seed)), (11, 1, 2.5), (190, 1, -1)
        ),
    }  # fmt: skip


def laws(frames: Sequence[int]) -> Mapping[str, Told]:
    """Returns tables of the laws' six flows, each with an output: arrivals 1 : 2 : 5, occupancy 1 : 2 : 3."""
    ends = (1, 2, 3, 4, 5, 6)

    def step_bytes(place: int) -> int:
        return 0 if place < 3 else (1000, 2000, 5000)[place - 3] * (frames[place] + 20)

    def notices_of_run(variant: str, _: object, seed: int) -> pa.Table:
        counts = (0, 0, 0, 10, 20, 50) if variant == "arrival" else (10 + seed, 20, 30, 1, 0, 1)
        rows = [(2 + 0.01 * at, 0, place, 4) for place, count in enumerate(counts) for at in range(count)]
        return notices(*rows, (0.5, 0, 0, 4), of=6)

    steps = [(step, place) for step in range(10) for place in range(6)]
    return {
        "flows": lambda *_: flows(*ends),
        "ports": lambda *_: ports(),
        "sent_trace": lambda *_: table(
            bin=[step for step, _ in steps], host=[0] * 60,
            flow=[5 - place for _, place in steps], wire_bytes=[step_bytes(place) for _, place in steps],
        ),
        "input_trace": lambda *_: inputs(*((0, 10, end, STORED[end - 1]) for end in ends)),
        "notices": notices_of_run,
    }  # fmt: skip


def example(variant: str, _: object, seed: int) -> pa.Table:
    """Returns the CNMs of the example: evenly to all flows, or almost all to the third."""
    counts = (30, 30, 30 + seed) if variant == "arrival" else (1, 2, 80 + seed)
    rows = [(1 + 0.1 * at, 0, place, 4) for place, count in enumerate(counts) for at in range(count)]
    return notices(*rows, of=3)


def queue(*parts: tuple[int, int, float]) -> pa.Table:
    """Returns `queue_trace` of the hot output of `output.toml`, and of another port with a longer queue."""
    rows = [(step, SWITCH, 3, mean) for first, end, mean in parts for step in range(first, end)]
    rows += [(step, SWITCH, 2, 500.0) for step in range(3)] + [(step, 0, 0, 500.0) for step in range(3)]
    step, node, port, mean = zip(*rows, strict=True)
    return table(bin=step, node=node, port=port, mean_packets=mean)


def output() -> Mapping[str, Told]:
    """Returns the tables of a hotspot caused by an output."""
    three = dict(hotspot_tables(3))
    return three | {
        "flows": lambda *_: flows(2, 3, 3),
        "notices": lambda *_: notices((10.5, 0, 1, 8), of=3),
        "rate_limits": lambda *_: rate_limits((10.6, 1, 8), of=3),
        "input_trace": lambda *told: (
            inputs((100, 400, 3, 137), source=1)
            if told[0] == "as_out"
            else inputs((100, 150 + told[2], 3, 140), (150 + told[2], 2000, 3, 61))
        ),
        "queue_trace": lambda *told: queue((100, 400 + told[2], 180.0), (400 + told[2], 2000, 40.0)),
    }  # fmt: skip


FABRIC = ("pfc", "as_out", "as_in", "os_in", "two_samples", "os_acks", "two_samples_acks")


def fabric() -> Mapping[str, Told]:
    """Returns tables of the two flows that meet inside the fabric; numbers depend on variant and seed."""

    def level(variant: str, seed: int) -> float:
        return 0.01 * (FABRIC.index(variant) + seed)

    return {
        "flows": lambda *_: flows(1, 2),
        "ports": lambda *_: ports(),
        "sent_trace": lambda one, _, seed: sent_table([
            [(0, 500, 5.0), (500, 1500, 2.5 + level(one, seed)), (1500, 2000, 5.0)],
            [(500, 1500, 2.5 - level(one, seed))],
        ]),
        "input_trace": lambda one, _, seed: inputs(
            (500, 1000, 1, 20 + level(one, seed)), (500, 1000, 2, 20),
            (1000, 1500, 1, 25), (1000, 1500, 2, 36),
        ),
        "pause_trace": lambda one, _, seed: pauses((55, 56, 0), (70 + seed, 71, 0), (160, 161, 0)),
        "notices": lambda one, _, seed: notices(
            *((51 + at, 0, int(at % 3 > 0), 8) for at in range(98 if one != "as_out" else 0)),
            (151, 0, 0, 9), of=2,
        ),
        "rate_limits": lambda one, _, seed: rate_limits((52, 0, 4), (53, 1, 5), (80 + seed, 1, 2.4), of=2),
    }  # fmt: skip


def subflows() -> Mapping[str, Told]:
    """Returns tables of one subflow each; the recovery time of the victim depends on variant and seed."""

    def back(variant: str, seed: int) -> int:
        return 1500 + 10 * seed + 300 * (variant == "os_acks")

    return {
        "flows": lambda *_: flows(1, 2),
        "sent_trace": lambda one, _, seed: sent_table([
            [(0, 500, 5.0), (500, back(one, seed), 2.5), (back(one, seed), 3500, 5.0)],
            [(500, 3500, 2.5)],
        ]),
        "rate_limits": lambda one, _, seed: rate_limits((60, 1, 4), (100 + seed, 1, 2), of=2),
    }  # fmt: skip


def one_flow_each() -> Mapping[str, Told]:
    """Returns the tables of `subflows` with recovery 40 ms sooner."""
    return dict(subflows()) | {
        "sent_trace": lambda *_: sent_table([
            [(0, 500, 5.0), (500, 1100, 2.5), (1100, 3500, 5.0)],
            [(500, 3500, 2.5)],
        ]),
        "rate_limits": lambda *_: rate_limits((60, 1, 2), of=2),
    }  # fmt: skip


def crowd_table(*workloads: int) -> pa.Table:
    """Returns `flows` of workloads with these numbers of flows, numbered in their order."""
    traffic = [place for place, count in enumerate(workloads) for _ in range(count)]
    return table(flow=range(len(traffic)), traffic=traffic, dst=[0] * len(traffic))


def spread_table(*rates: Sequence[tuple[int, int, float]]) -> pa.Table:
    """Returns `sent_trace` of flows by their numbers."""
    rows = [
        (step, flow, round(rate * STEP))
        for flow, parts in enumerate(rates)
        for first, end, rate in parts
        for step in range(first, end)
    ]
    step, flow, size = zip(*rows, strict=True)
    return table(bin=step, host=[0] * len(rows), flow=flow, wire_bytes=size)


def about_table(*rows: tuple[float, int]) -> pa.Table:
    """Returns `notices` of flows by their numbers, from time in ms and flow."""
    time, flow = zip(*rows, strict=True) if rows else ((), ())
    return table(time_ps=[round(one * MS) for one in time], flow=flow)


def mixed() -> Mapping[str, Told]:
    """Returns tables of two victims, two culprits and one other flow; CNMs depend on the seed."""
    return {
        "flows": lambda *_: crowd_table(2, 2, 1),
        "sent_trace": lambda one, *_: spread_table(*[[(0, 2000, 1.0 + (one == "os_in"))]] * 5),
        "notices": lambda one, _, seed: about_table(
            (9, 0), (11, 0), *((20 + at, 1 + at % 4) for at in range(9 if one == "as_in" else 20 + seed))
        ),
    }  # fmt: skip


def many() -> Mapping[str, Told]:
    """Returns tables of two victims and two culprits; recovery times depend on variant and seed."""
    slow = {"os_in": 300, "as_in": 2000, "as_out": 250, "os_acks": 200}

    def victim(variant: str, seed: int) -> list[tuple[int, int, float]]:
        back = min(2000, slow[variant] + 10 * seed)
        return [(0, 100, 25.0), (100, back, 10.0), (back, 2000, 25.0)]

    return {
        "flows": lambda *_: crowd_table(2, 2),
        "sent_trace": lambda one, _, seed: spread_table(*[victim(one, seed)] * 2, *[[(100, 2000, 9.5)]] * 2),
        "notices": lambda one, _, seed: about_table(
            (11, 0), (12, 2), (13, 3), *((20 + at, 2) for at in range(seed))
        ),
        "rate_limits": lambda one, *_: limited_table(
            (11 + late_value(one), 0, 9), *((12 + at + late_value(one), 2, 9 - at) for at in range(9))
        ),
    }  # fmt: skip


def late_value(variant: str) -> float:
    """Returns the delay of CNMs in `many` in ms."""
    return 0.003 if variant == "as_out" else 0.001


def limited_table(*rows: tuple[float, int, float]) -> pa.Table:
    """Returns `rate_limits` of flows by their numbers, from time in ms, flow, and limit in Gb/s."""
    time, flow, rate = zip(*rows, strict=True)
    return table(time_ps=[round(one * MS) for one in time], flow=flow, rate_bps=[1e9 * one for one in rate])


SETTINGS: Mapping[str, Any] = {
    "topology": {"link": {"rate": "10Gbps"}},
    "switches": [
        {
            "input_buffer": "150KB",
            "buffer": {"size": "149KB"},
            "fabric": {"link_rate": "2500Mbps", "link_buffer": "31KB"},
            "pause": {"xoff": "110KB", "xon": "44KB"},
            "notify": {"q_eq": "60KB", "w": 2, "interval": "150000B"},
        }
    ],
}


def all_sweeps() -> dict[str, FakeRuns]:
    """Returns every sweep of the paper."""
    kept = {
        "baseline": hotspot_tables(5),
        "hotspot": hotspot_tables(),
        "one_flow": {
            "notices": lambda one, _, seed: notices((11, 0, 1, 3), (12, 1, 2, 3 + (one == "two_samples")))
        },
        "output": output(),
        "laws": laws([1522] * 6),
        "laws_sizes": laws([64, 1522, 1522, 1522, 64, 1522]),
        "example": {"flows": lambda *_: flows(1, 2, 3), "notices": example},
        "fast": hotspot_tables(offer=50),
        "fabric": fabric(),
        "subflows": subflows(),
        "one_each": one_flow_each(),
        "hotspot_subflows": hotspot_tables(),
        "mixed": mixed(),
        "many": many(),
    }  # fmt: skip
    found = {}
    for sweep in tomllib.loads((PAPER / "paper.toml").read_text())["sweep"]:
        scenario = tomllib.loads((PAPER / sweep["scenario"]).read_text())
        variants = sweep.get("variants", list(scenario["variants"]))
        tables: Mapping[str, Told] = kept[sweep["name"]]
        found[sweep["name"]] = FakeRuns(({},), variants, {}, tables, resolved=SETTINGS)
    return found
