"""Drawings of figures 9, 10 and 11: the first seed, as the report shows one run."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from overspill import plots
from overspill.papers.common import Published, legend, marked, sheet
from overspill.papers.qcn_os.drawn import TIME, occupancies, places, rate_limits, throughputs
from overspill.papers.qcn_os.schemes import AS, OS, OUT, PFC, STEP, TWO, Seen, Sweeps, seen

ACKS, TWO_ACKS = "os_acks", "two_samples_acks"
END = 130.0  # ms, the middle of the window of steady values


def rates(axes: Axes, run: Seen, published: list[tuple[float, float | None]], title: str) -> None:
    """Throughputs, and what is published of them."""
    throughputs(axes, run)
    marked(axes, published)
    axes.set_title(title, fontsize=9)


def steady(
    published: Published, name: str, when: str, flows: tuple[int, ...] = (1, 2)
) -> list[tuple[float, float | None]]:
    """Published values of a scheme at the end."""
    return places(published, [(END, f"{name}, f{flow}, {when}", "throughput") for flow in flows])


def row_of_three(
    panels: list[Axes], run: Seen, published: list[tuple[float, float | None]], named: tuple[str, str]
) -> None:
    """A scheme's throughputs, rate limits, and what the input holds; `named` is it and the letters."""
    name, letters = named
    rates(panels[0], run, published, f"({letters[0]}) {name}: throughput")
    rate_limits(panels[1], run)
    panels[1].set_title(f"({letters[1]}) {name}: rate limits", fontsize=9)
    occupancies(panels[2], run)
    panels[2].set_title(f"({letters[2]}) {name}: input by flow", fontsize=9)


def finish(made: Drawing, panels: list[Axes], last: int) -> None:
    """The names of lines below all panels, and times at the last so many."""
    for axes in panels[-last:]:
        axes.set_xlabel(TIME)
    handles, labels = panels[0].get_legend_handles_labels()
    more = [one for one in zip(*panels[-1].get_legend_handles_labels(), strict=True) if one[1] not in labels]
    handles += [one for one, _ in more]
    labels += [text for _, text in more]
    made.legend(handles, labels, loc="outside lower center", ncols=len(labels))


def draw_9(sweeps: Sweeps, published: Published) -> Drawing:
    """Figure 9: three schemes by throughput, and occupancy sampling in all."""
    runs = sweeps["fabric"]
    with plots.style():
        made, panels = sheet(3, rows=2, height=3.0)
        before = steady(published, "PFC alone", "60 to 150 ms")
        rates(panels[0], seen(runs, PFC)[0], before, "(a) PFC alone")
        before = steady(published, "QCN-AS at outputs", "60 to 150 ms", (1,))
        rates(panels[1], seen(runs, OUT)[0], before, "(b) QCN-AS at outputs")
        rates(
            panels[2], seen(runs, AS)[0], steady(published, "QCN-AS", "110 to 150 ms"), "(c) QCN-AS at inputs"
        )
        row_of_three(
            panels[3:], seen(runs, OS)[0], steady(published, "QCN-OS", "110 to 150 ms"), ("QCN-OS", "def")
        )
        stored = seen(runs, OS)[0].stored.sum(axis=0)
        time = (np.arange(len(stored)) + 0.5) * STEP
        panels[5].plot(time, stored, color="black", linewidth=0.5, zorder=1.5, label="f1 + f2")
        level = places(published, [(125.0, "QCN-OS, both flows, from 100 ms on", "backlog")])
        marked(panels[5], level, "published, f1 + f2")
        finish(made, panels, 3)
    return made


def draw_10(sweeps: Sweeps, published: Published) -> Drawing:
    """Figure 10: a row for each scheme."""
    runs = sweeps["fabric"]
    with plots.style():
        made, panels = sheet(3, rows=2, height=3.0)
        when = "110 to 150 ms"
        row_of_three(
            panels[:3], seen(runs, TWO)[0], steady(published, "two samples", when), ("two samples", "abc")
        )
        row_of_three(
            panels[3:], seen(runs, ACKS)[0], steady(published, "ACKs", when), ("QCN-OS, ACKs", "def")
        )
        finish(made, panels, 3)
    return made


def draw_11(sweeps: Sweeps, published: Published) -> Drawing:
    """Figure 11."""
    with plots.style():
        made, [axes] = sheet(1, height=3.6)
        found = places(published, [(END, f"f{flow}, 110 to 150 ms", "throughput") for flow in (1, 2)])
        rates(axes, seen(sweeps["fabric"], TWO_ACKS)[0], found, "Two samples with end-to-end ACKs")
        axes.set_xlabel(TIME)
        legend(axes, loc="upper right", ncols=2)
    return made
