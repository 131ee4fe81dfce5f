"""The hotspot that an output makes: which of two congestion points has its queue back first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from matplotlib.figure import Figure as Drawing

from overspill import columns, plots
from overspill.papers.common import Published, measured, sheet
from overspill.papers.qcn_os.drawn import EQUILIBRIUM, TIME, colour
from overspill.papers.qcn_os.schemes import (
    END,
    F2,
    NAMES,
    ONSET,
    OS,
    OUT,
    STEPS,
    SWITCH,
    Flows,
    Ports,
    Sweeps,
    by_ms,
    last_pause,
    of,
    seen,
    steps,
    trace,
)
from overspill.papers.qcn_os.subflows import schemes_compared
from overspill.papers.spec import Figure, Measured, Runs

FRAME = 1.522  # KB
NEAR = 15.0  # KB from the equilibrium
STAYS = 5  # ms


def watched(runs: Runs, variant: str) -> Sequence[np.ndarray]:
    """What the congestion point of f2 watches, KB by step: its input, or its output."""
    return _outputs(runs) if variant == OUT else [one.stored.sum(axis=0) for one in seen(runs, variant)]


@lru_cache(maxsize=4)
def _outputs(runs: Runs) -> Sequence[np.ndarray]:
    """The buffer of the output: what waits for it, less what waits for it at inputs."""
    found = []
    names = ("flows", "ports", "queue_trace", "input_trace")
    switch = runs.node(SWITCH)
    for flows, ports, queue, stored in zip(*(runs.tables(name, OUT) for name in names), strict=True):
        peers, end = Ports(ports, switch), Flows(flows).ends[F2]
        here = columns.numbers(queue, "node") == switch
        rows = np.where(here & (peers.peers(columns.numbers(queue, "port") * here) == end), 0, -1)
        whole = FRAME * trace(queue, rows, "mean_packets", (1, STEPS))[0]
        rows = np.where(peers.peers(columns.numbers(stored, "output")) == end, 0, -1)
        found.append(whole - trace(stored, rows, "mean_bytes", (1, STEPS))[0] / 1e3)
    return found


def back(queue: np.ndarray) -> float:
    """When, after the onset, a queue begins to stay near the equilibrium, ms; NaN where it never does."""
    near = np.abs(by_ms(queue[steps((ONSET, END))]) - EQUILIBRIUM) <= NEAR
    whole = np.convolve(near, np.ones(STAYS), mode="valid") >= STAYS
    return float(whole.argmax()) if whole.any() else float("nan")


def measure(sweeps: Sweeps) -> Iterator[Measured]:
    """Both by the time."""
    runs = sweeps["output"]
    here, there = (np.array([back(one) for one in watched(runs, variant)]) for variant in (OS, OUT))
    note = f"{here.mean():.3g} and {there.mean():.3g} ms"
    yield measured("QCN-OS less outputs", "time_until_the_queue_is_back", here - there, note)
    here, there = (of(runs, variant, last_pause) for variant in (OS, OUT))
    note = f"{here.mean():.3g} and {there.mean():.3g} ms"
    yield measured("QCN-OS less outputs", "last_pause_after_onset", here - there, note)
    yield from schemes_compared(sweeps)


def draw(sweeps: Sweeps, _: Published) -> Drawing:
    """What is watched, and the throughput of f1, of the first seed."""
    runs = sweeps["output"]
    time = np.arange(0.5, END)
    with plots.style():
        made, [left, right] = sheet(2)
        for variant in (OS, OUT):
            left.plot(time, by_ms(watched(runs, variant)[0]), color=colour(variant), label=NAMES[variant])
            right.plot(time, by_ms(seen(runs, variant)[0].sent[0]), color=colour(variant))
        left.axhline(EQUILIBRIUM, color="black", linewidth=0.8, linestyle=":")
        style: dict[str, Any] = {"fontsize": 8, "va": "center", "textcoords": "offset points"}
        left.annotate("Q_eq", (END, EQUILIBRIUM), xytext=(3, 0), **style)
        left.set_ylabel("KB")
        left.set_title("What the congestion point of f2 watches")
        left.legend()
        right.set_ylabel("Gb/s")
        right.set_title("Throughput of f1")
        for axes in (left, right):
            axes.set_ylim(bottom=0)
            axes.set_xlim(0, END)
            axes.set_xlabel(TIME)
    return made


FIGURES: dict[str, Figure] = {"og": Figure(measure, draw)}
