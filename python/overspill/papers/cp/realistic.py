"""Section 6.4: figures 15 and 16, queries over background flows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from overspill import columns, plots
from overspill.papers.common import Published, halves, legend, measured, quotients, sheet
from overspill.papers.cp.schemes import BOTH, CP, DCTCP, NAMES, TCP, Sweeps, of
from overspill.papers.spec import Figure, Measured, Point, Runs
from overspill.plots import COLOURS

AGGREGATION = "override.1st.switch.buffer.size"
BUFFER = "switch.buffer.size"
FOUR = (TCP, CP, DCTCP, BOTH)
TAILS = ("p99", "p99.9")
SIZES = {"realistic": "", "realistic_web_search": ", web_search"}
BUFFERS = {"buffers_tenfold": "", "buffers": ", single traffic", "buffers_web_search": ", web_search"}


def place(runs: Runs, path: str, value: str) -> Point:
    """The point with a buffer."""
    return next(point for point in runs.points if point[path] == value)


def tail(runs: Runs, variant: str, which: str, point: Point | None = None) -> np.ndarray:
    """A percentile of the queries' completion times, ms."""
    return 1e3 * runs.metric(of(f"qct_{which}", "query"), variant, point)


def told(runs: Runs, which: str, point: Point | None = None) -> str:
    """The level of every scheme, for a note."""
    return ", ".join(f"{NAMES[one]} {tail(runs, one, which, point).mean():.4g} ms" for one in FOUR)


def reductions(
    case: tuple[str, str], runs: Runs, which: str, point: Point | None = None, of_: str = ""
) -> Measured:
    """By how much the first scheme's tail is below the second's, %."""
    first, second = (tail(runs, one, which, point) for one in case)
    name = f"{NAMES[case[0]]} by {NAMES[case[1]]}{of_}"
    return measured(
        name, f"reduction_of_{which}_qct", 100 * (1 - quotients(first, second)), told(runs, which, point)
    )


def figure_15a(sweeps: Sweeps) -> Iterator[Measured]:
    """128 KB everywhere."""
    for name, sizes in SIZES.items():
        runs = sweeps[name]
        point = place(runs, AGGREGATION, "128KiB")
        for which in TAILS:
            yield reductions((CP, TCP), runs, which, point, sizes)
            more = tail(runs, DCTCP, which, point) - tail(runs, BOTH, which, point)
            yield measured(f"DCTCP less CP&DCTCP{sizes}", f"{which}_qct", more)


def figure_15b(sweeps: Sweeps) -> Iterator[Measured]:
    """384 KB at the aggregation switch."""
    for name, sizes in SIZES.items():
        runs = sweeps[name]
        point = place(runs, AGGREGATION, "384KiB")
        for which in TAILS:
            ratio = 100 * quotients(tail(runs, CP, which, point), tail(runs, TCP, which, point))
            yield measured(f"CP by TCP{sizes}", f"ratio_of_{which}_qct", ratio, told(runs, which, point))
            more = tail(runs, DCTCP, which, point) - tail(runs, BOTH, which, point)
            yield measured(f"DCTCP less CP&DCTCP{sizes}", f"{which}_qct", more)


def timeouts(sweeps: Sweeps) -> Iterator[Measured]:
    """Timeouts of requests and responses, the most of any scheme and buffer."""
    for name, sizes in SIZES.items():
        runs = sweeps[name]
        found = {
            one: np.max([runs.metric(of("timeouts", "query"), one, point) for point in runs.points], axis=0)
            for one in FOUR
        }
        note = ", ".join(f"{NAMES[one]} {values.mean():.3g} a run" for one, values in found.items())
        yield measured(
            f"every scheme{sizes}", "timeouts_of_queries", np.max(list(found.values()), axis=0), note
        )


def counts(sweeps: Sweeps) -> Iterator[Measured]:
    """Queries and background flows of all seeds of a scheme."""
    runs = sweeps["realistic"]
    queries = flows = 0
    for table in runs.tables("flows", TCP, runs.points[0]):
        query = columns.numbers(table, "query")
        asked = query != columns.U32_NONE
        queries += len(np.unique(query[asked]))
        flows += int((~asked).sum())
    yield measured("ten minutes", "queries", [queries])
    yield measured("ten minutes", "background_flows", [flows])


def figure_16a(sweeps: Sweeps) -> Iterator[Measured]:
    """Ten-fold traffic."""
    runs = sweeps["tenfold"]
    for which in TAILS:
        yield reductions((CP, TCP), runs, which)
        yield reductions((BOTH, DCTCP), runs, which)


def figure_16b(sweeps: Sweeps) -> Iterator[Measured]:
    """CP with buffers of three sizes."""
    for name, load in BUFFERS.items():
        runs = sweeps[name]
        found = {
            (size, which): tail(runs, CP, which, place(runs, BUFFER, f"{size}KiB"))
            for size in (32, 128, 256)
            for which in TAILS
        }
        for size in (128, 256):
            case = f"32 KB by {size} KB{load}"
            ratio = {which: quotients(found[32, which], found[size, which]) for which in TAILS}
            note = f"{found[32, 'p99'].mean():.4g} and {found[size, 'p99'].mean():.4g} ms"
            yield measured(case, "reduction_of_p99_qct", 100 * (1 - ratio["p99"]), note)
            note = f"{found[32, 'p99.9'].mean():.4g} and {found[size, 'p99.9'].mean():.4g} ms"
            yield measured(case, "ratio_of_p99.9_qct", 100 * ratio["p99.9"], note)
        yield measured(f"32 KB{load}", "p99.9_qct", found[32, "p99.9"])


def bars(axes: Axes, values: Mapping[str, Mapping[str, np.ndarray]]) -> None:
    """Both percentiles, beside each other for each name; a scheme has its colour of all figures."""
    every = list(NAMES.values())
    for at_, (name, tails) in enumerate(values.items()):
        colour = COLOURS[(every.index(name) if name in every else at_) % len(COLOURS)]
        heights = [tails[which].mean() for which in TAILS]
        reach = [float(halves(tails[which][:, None])[0]) for which in TAILS]
        places = np.arange(len(TAILS)) + 0.8 / len(values) * (at_ - (len(values) - 1) / 2)
        axes.bar(places, heights, 0.75 / len(values), yerr=reach, color=colour, label=name)
    axes.set_xticks(range(len(TAILS)), ["99th percentile", "99.9th percentile"])
    axes.set_ylim(bottom=0)


def draw_15(size: str, sweeps: Sweeps) -> Drawing:
    """Both distributions of background flows, at one buffer of the aggregation switch."""
    with plots.style():
        made, panels = sheet(2)
        for axes, (name, sizes) in zip(panels, SIZES.items(), strict=True):
            runs = sweeps[name]
            point = place(runs, AGGREGATION, size)
            bars(
                axes, {NAMES[one]: {which: tail(runs, one, which, point) for which in TAILS} for one in FOUR}
            )
            axes.set_title(sizes.removeprefix(", ") or "imc10")
        panels[0].set_ylabel("query completion time (ms)")
        legend(panels[-1], loc="center left", bbox_to_anchor=(1.0, 0.5))
    return made


def draw_15a(sweeps: Sweeps, published: Published) -> Drawing:
    """Figure 15a."""
    return draw_15("128KiB", sweeps)


def draw_15b(sweeps: Sweeps, published: Published) -> Drawing:
    """Figure 15b."""
    return draw_15("384KiB", sweeps)


def draw_16a(sweeps: Sweeps, published: Published) -> Drawing:
    """Figure 16a."""
    runs = sweeps["tenfold"]
    with plots.style():
        made, [axes] = sheet(1)
        bars(axes, {NAMES[one]: {which: tail(runs, one, which) for which in TAILS} for one in FOUR})
        axes.set_ylabel("query completion time (ms)")
        axes.set_title("Ten-fold traffic")
        legend(axes, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return made


def draw_16b(sweeps: Sweeps, published: Published) -> Drawing:
    """Figure 16b."""
    with plots.style():
        made, panels = sheet(2)
        for axes, (name, title) in zip(
            panels, (("buffers_tenfold", "ten-fold traffic"), ("buffers", "single traffic")), strict=True
        ):
            runs = sweeps[name]
            sizes = {size: place(runs, BUFFER, f"{size}KiB") for size in (32, 128, 256)}
            found = {
                f"{size} KB": {which: tail(runs, CP, which, point) for which in TAILS}
                for size, point in sizes.items()
            }
            bars(axes, found)
            axes.set_title(title)
        panels[0].set_ylabel("query completion time (ms)")
        legend(panels[-1], loc="center left", bbox_to_anchor=(1.0, 0.5))
    return made


FIGURES: dict[str, Figure] = {
    "fig15a": Figure(figure_15a, draw_15a),
    "fig15b": Figure(figure_15b, draw_15b),
    "fig15": Figure(timeouts),
    "sec6.4n": Figure(counts),
    "fig16a": Figure(figure_16a, draw_16a),
    "fig16b": Figure(figure_16b, draw_16b),
}
