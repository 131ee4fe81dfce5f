"""Figure 1c: the output queue of 80 senders over time, and what waits at the input of a plain switch."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from matplotlib.figure import Figure as Drawing

from overspill import columns, plots
from overspill.papers.abq.incast_drawn import colour
from overspill.papers.abq.schemes import (
    CAPACITY,
    DROP_TAIL,
    ECN,
    FRAME,
    NAMES,
    OTHERS,
    Sweeps,
    lengths,
    port_to,
)
from overspill.papers.common import Published, dropped, measured, quotient, sheet
from overspill.papers.spec import Figure, Measured, Runs

ACK_TIME = 672_000  # ps that an ACK takes on the wire, 84 B
STEP = 0.02  # ms, as the sweep sets `measure.bin`
DELIVERED = 0


def bottleneck(runs: Runs, table: pa.Table) -> tuple[int, int, int]:
    """Node, port and row of the port to the receiver."""
    [row] = np.flatnonzero(port_to(table, runs.node("h0")))
    return int(columns.numbers(table, "node")[row]), int(columns.numbers(table, "port")[row]), int(row)


def deviation(hist: pa.Table, port: tuple[int, int]) -> float:
    """Standard deviation of the length over the time in which anything waits, packets."""
    packets, time = lengths(hist, port, 0)
    busy = packets > 0
    packets, time = packets[busy].astype(np.float64), time[busy]
    mean = quotient(float((packets * time).sum()), float(time.sum()))
    return float(np.sqrt(quotient(float(((packets - mean) ** 2 * time).sum()), float(time.sum()))))


def at_input(table: pa.Table) -> int:
    """The most ACKs that pass the switch within the time of one on the wire.

    Ports to senders send nothing else, so ACKs reach their hosts as far apart as they crossed the switch.
    """
    kept = (columns.numbers(table, "reverse") == 1) & (columns.numbers(table, "fate") == DELIVERED)
    ends = np.sort(columns.numbers(table, "end_ps")[kept]).astype(np.int64)
    first = np.searchsorted(ends, ends - ACK_TIME, side="right")
    return int((np.arange(1, len(ends) + 1) - first).max(initial=0))


def measure(sweeps: Sweeps) -> Iterator[Measured]:
    """Peaks, drops and scatter of the output queue; ACKs at the input."""
    runs = sweeps["oscillation"]
    scatter, passing = {}, []
    for variant in OTHERS:
        ports = runs.tables("ports", variant)
        places = [bottleneck(runs, table) for table in ports]
        every = list(zip(ports, places, strict=True))
        longest = [columns.numbers(table, "max_packets")[row] for table, (*_, row) in every]
        full = np.mean([columns.numbers(table, "max_bytes")[row] for table, (*_, row) in every])
        note = f"{full:.6g} B on average, of {CAPACITY * FRAME * 1e3:.6g}"
        yield measured(NAMES[variant], "longest_queue", [float(one) for one in longest], note)
        lost = [float(dropped(table)[row]) for table, (*_, row) in every]
        yield measured(NAMES[variant], "drops", lost)
        hists = runs.tables("queue_hist", variant)
        pairs = zip(hists, places, strict=True)
        scatter[variant] = np.array([deviation(hist, place[:2]) for hist, place in pairs])
        passing.append([at_input(table) for table in runs.tables("packets", variant)])
    told = ", ".join(f"{NAMES[one]} {values.mean():.3g}" for one, values in scatter.items())
    calmer = scatter[DROP_TAIL] - scatter[ECN]
    yield measured("DropTail less ECN", "deviation_of_the_queue", calmer, told)
    yield measured("plain switch", "acks_at_the_input", np.max(passing, axis=0))


def draw(sweeps: Sweeps, _: Published) -> Drawing:
    """The queue of the first seed, a panel for each scheme."""
    runs = sweeps["oscillation"]
    with plots.style():
        made, panels = sheet(1, rows=len(NAMES), height=1.9)
        for axes, (variant, name) in zip(panels, NAMES.items(), strict=True):
            node, port, _row = bottleneck(runs, runs.tables("ports", variant)[0])
            trace = runs.tables("queue_trace", variant)[0]
            here = (columns.numbers(trace, "node") == node) & (columns.numbers(trace, "port") == port)
            step = columns.numbers(trace, "bin")[here].astype(np.int64)
            longest = np.zeros(int(step.max(initial=0)) + 2)
            longest[step] = columns.numbers(trace, "max_packets")[here]
            time = np.arange(len(longest)) * STEP
            axes.plot(time, longest, color=colour(variant), drawstyle="steps-post", linewidth=1)
            axes.axhline(CAPACITY, color="black", linewidth=0.8, linestyle=":")
            axes.set_ylim(0, CAPACITY * 1.1)
            axes.set_ylabel("packets")
            axes.set_title(name)
        widest = max(axes.get_xlim()[1] for axes in panels)
        for axes in panels:
            axes.set_xlim(9, widest)
        panels[-1].set_xlabel("time (ms); dotted: the buffer")
    return made


FIGURES: dict[str, Figure] = {"fig1c": Figure(measure, draw)}
