"""PABO's figure 8: what waits at the outputs of S4 to S7 over time, in the mild load."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from overspill import Failed, columns, plots
from overspill.papers.pabo import common
from overspill.papers.pabo.common import Published, measured
from overspill.papers.spec import Measured, Runs
from overspill.plots import look

Sweeps = Mapping[str, Runs]
Series = Mapping[tuple[str, int], np.ndarray]  # by switch, and 0 for the normal queue, 1 for the bounce queue

STEP = 50.0  # us, as the sweep sets `measure.bin`
THRESHOLD = 0.8  # theta of section V
NORMAL, BOUNCE = 0, 1
# Of `chain_tree`: the second port of a chain's switch leads to the root, the root's last to the receiver.
OUTPUTS = {"S4": ("s3", 1), "S5": ("s4", 1), "S6": ("s5", 1), "S7": ("s6", 3)}
UPSTREAM = ("S4", "S5", "S6")
GROUPS = {
    "S4 S5 S6": [(switch, kind) for switch in UPSTREAM for kind in (NORMAL, BOUNCE)],
    "S7 bounce": [("S7", BOUNCE)],
    "S7 normal": [("S7", NORMAL)],
}


@dataclass(frozen=True)
class Queues:
    """The eight queues of the four outputs in one run, by step: the most frames, their mean, and limits."""

    longest: Series
    mean: Series
    limit: Mapping[tuple[str, int], int]

    @property
    def busy(self) -> np.ndarray:
        """In which steps there was a frame in any of them."""
        return np.asarray(np.any([one > 0 for one in self.longest.values()], axis=0))

    def peaks(self) -> list[tuple[int, int]]:
        """First step and end of every stretch in which some queue is not empty."""
        edges = np.diff(np.concatenate(([0], self.busy.astype(np.int8), [0])))
        return list(
            zip(np.flatnonzero(edges == 1).tolist(), np.flatnonzero(edges == -1).tolist(), strict=True)
        )

    def share(self, switch: str, kind: int) -> np.ndarray:
        """Utilisation of a queue in each step."""
        return np.asarray(self.mean[switch, kind] / self.limit[switch, kind])

    def utilisation(self, switch: str) -> np.ndarray:
        """Mean of both queues' utilisations in each step."""
        return np.asarray((self.share(switch, NORMAL) + self.share(switch, BOUNCE)) / 2)


def read(runs: Runs) -> list[Queues]:
    """The queues of every seed."""
    traces, limits = (runs.tables(name, "pabo") for name in ("sub_queue_trace", "sub_queues"))
    steps = max((int(columns.numbers(one, "bin").max()) + 1 for one in traces if one.num_rows), default=0)
    return [one_run(runs, pair, steps) for pair in zip(traces, limits, strict=True)]


def one_run(runs: Runs, tables: tuple[pa.Table, pa.Table], steps: int) -> Queues:
    """The queues of one seed; a queue without a row in a step is empty there."""
    trace, limits = tables
    longest: dict[tuple[str, int], np.ndarray] = {}
    mean: dict[tuple[str, int], np.ndarray] = {}
    limit: dict[tuple[str, int], int] = {}
    for switch in OUTPUTS:
        for kind in (NORMAL, BOUNCE):
            of, rows = at(runs, limits, (switch, kind)), at(runs, trace, (switch, kind))
            if len(of) != 1 or columns.numbers(limits, "limit")[of[0]] == 0:
                raise Failed(
                    f"sub_queues: found {len(of)} queues of {switch}; expected one, with a limit in packets"
                )
            limit[switch, kind] = int(columns.numbers(limits, "limit")[of[0]])
            step = columns.numbers(trace, "bin")[rows]
            for found, name in ((longest, "max_packets"), (mean, "mean_packets")):
                found[switch, kind] = np.zeros(steps)
                found[switch, kind][step] = columns.numbers(trace, name)[rows]
    return Queues(longest, mean, limit)


def at(runs: Runs, table: pa.Table, which: tuple[str, int]) -> np.ndarray:
    """Rows of a queue at an output; raw packets are of class 0, so its number says its kind."""
    node, port = OUTPUTS[which[0]]
    keep = columns.numbers(table, "node") == runs.node(node)
    keep &= (columns.numbers(table, "port") == port) & (columns.numbers(table, "queue") == which[1])
    return np.flatnonzero(keep)


# What is told of them.


def peaks(sweeps: Sweeps) -> Iterator[Measured]:
    """Figure 8a: how many congestions there are."""
    yield measured("whole second", "separate_peaks", [len(one.peaks()) for one in read(sweeps["peaks"])])


def first_peak(sweeps: Sweeps) -> Iterator[Measured]:
    """Figure 8b: what fills after what, what is used at all, and what is empty before what."""
    seeds = read(sweeps["peaks"])
    case = "first peak"
    yield measured(case, "bounce_queues_used_after_theta", [used_after(one) for one in seeds])
    yield Measured(case, "bounce_queues_in_use", [in_use(one) for one in seeds], lengths(seeds))
    yield Measured(case, "order_of_clearing", [clearing(one) for one in seeds])
    yield measured(case, "spread_of_peaks_of_S4_to_S6", [unlike(one) for one in seeds])


def first(queues: Queues) -> slice:
    """The steps of the first peak; none where there is no peak."""
    found = queues.peaks()
    return slice(*found[0]) if found else slice(0, 0)


def used_after(queues: Queues) -> float:
    """Time in us from S7's normal queue above theta to a frame in a bounce queue; NaN without these."""
    peak = first(queues)
    limit = THRESHOLD * queues.limit["S7", NORMAL]
    above = np.flatnonzero(queues.longest["S7", NORMAL][peak] > limit)
    used = np.any([queues.longest[switch, BOUNCE][peak] > 0 for switch in OUTPUTS], axis=0)
    bounced = np.flatnonzero(used)
    return STEP * float(bounced[0] - above[0]) if len(above) and len(bounced) else float("nan")


def in_use(queues: Queues) -> str:
    """The switches whose bounce queue has a frame in it."""
    peak = first(queues)
    return common.names({one: queues.longest[one, BOUNCE][peak].max(initial=0) for one in OUTPUTS})


def lengths(seeds: Sequence[Queues]) -> str:
    """The most frames in each bounce queue and in each normal queue, over all seeds."""
    told = []
    for kind, name in ((BOUNCE, "bounce"), (NORMAL, "normal")):
        most = {one: max(int(run.longest[one, kind].max(initial=0)) for run in seeds) for one in OUTPUTS}
        told.append(f"{name} {', '.join(f'{one} {count}' for one, count in most.items())}")
    return f"longest queues in frames: {'; '.join(told)}"


def clearing(queues: Queues) -> str:
    """Groups of queues by when they are empty for good, those of one step together."""
    peak = first(queues)
    ends: dict[int, list[str]] = {}
    for name, group in GROUPS.items():
        busy = np.flatnonzero(np.any([queues.longest[one][peak] > 0 for one in group], axis=0))
        if len(busy):
            ends.setdefault(int(busy[-1]) + 1, []).append(name)
    return ", ".join(" and ".join(ends[end]) for end in sorted(ends)) or "none"


def unlike(queues: Queues) -> float:
    """Spread of the highest utilisations of S4 to S6."""
    peak = first(queues)
    return common.spread(np.array([queues.utilisation(one)[peak].max(initial=0) for one in UPSTREAM]))


# Drawings.


@dataclass(frozen=True)
class Shown:
    """How far a time axis goes, in steps, and how much of its unit a step is."""

    until: int
    step: float
    every: int = 1  # steps that are one point, their mean


def curves(axes: Axes, seeds: list[Queues], shown: Shown, of: Callable[[Queues, str], np.ndarray]) -> None:
    """A curve for each output, the mean over seeds and its band; dashes show those that coincide."""
    count = shown.until // shown.every
    time = (np.arange(count) + 0.5) * shown.step * shown.every
    for at, switch in enumerate(OUTPUTS):
        fine = np.array([of(one, switch)[: count * shown.every] for one in seeds])
        by_seed = fine.reshape(len(seeds), count, shown.every).mean(axis=2)
        style = plots.line(look(at))
        common.mean_line(axes, time, by_seed, style.pop("color"), label=switch, **style)
    axes.set_xlim(0, shown.until * shown.step)
    axes.set_ylim(0)


def draw_whole(sweeps: Sweeps, _: Published) -> Drawing:
    """Figure 8a: utilisation over the whole second."""
    seeds = read(sweeps["peaks"])
    with plots.style():
        made, [axes] = common.sheet(1)
        curves(axes, seeds, Shown(len(seeds[0].busy), STEP * 1e-6, 10), Queues.utilisation)
        axes.set_xlim(0, 1)
        axes.set_xlabel("time (s)")
        axes.set_ylabel("utilisation of both queues")
        made.legend(loc="outside upper center", ncols=4)
    return made


def draw_first(sweeps: Sweeps, _: Published) -> Drawing:
    """Figure 8b: utilisation in the first peak, as the mean of both queues and of each."""
    seeds = read(sweeps["peaks"])
    last = max(first(one).stop for one in seeds)
    shown = Shown(min(last + last // 10 + 1, len(seeds[0].busy)), STEP * 1e-3)
    panels: dict[str, Callable[[Queues, str], np.ndarray]] = {
        "Mean of both queues": Queues.utilisation,
        "Normal queue": lambda run, switch: run.share(switch, NORMAL),
        "Bounce queue": lambda run, switch: run.share(switch, BOUNCE),
    }
    with plots.style():
        made, every = common.sheet(3)
        for axes, (title, of) in zip(every, panels.items(), strict=True):
            curves(axes, seeds, shown, of)
            axes.set_ylim(0, 1)
            axes.set_title(title)
            axes.set_xlabel("time (ms)")
        every[1].axhline(THRESHOLD, color="#666666", linewidth=0.8, linestyle=":")
        every[1].annotate("θ", (1, THRESHOLD), xycoords=("axes fraction", "data"), ha="right", va="bottom")
        every[0].set_ylabel("utilisation")
        made.legend(*every[0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
    return made
