"""Measures of section 6.4: figures 15 and 16, queries with background flows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from overspill import columns
from overspill.papers.common import measured, quotients
from overspill.papers.spec import Measure, Measured, Point, Runs, Sweeps

from .schemes import BOTH, CP, DCTCP, NAMES, TCP, metric_of, point_with

AGGREGATION = "override.1st.switch.buffer.size"
BUFFER = "switch.buffer.size"
COMPARED = (TCP, CP, DCTCP, BOTH)
TAILS = ("p99", "p99.9")
SIZES = {"realistic": "", "realistic_web_search": ", web_search"}
BUFFERS = {"buffers_tenfold": "", "buffers": ", single traffic", "buffers_web_search": ", web_search"}


def tail(runs: Runs, variant: str, which: str, point: Point | None = None) -> np.ndarray:
    """A percentile of the queries' completion times in ms."""
    return 1e3 * runs.metric(metric_of(f"qct_{which}", "query"), variant, point)


def levels(runs: Runs, which: str, point: Point | None = None) -> str:
    """Formats the percentile of every scheme for a note."""
    return ", ".join(f"{NAMES[one]} {tail(runs, one, which, point).mean():.4g} ms" for one in COMPARED)


def reductions(
    case: tuple[str, str], runs: Runs, which: str, point: Point | None = None, of_: str = ""
) -> Measured:
    """Returns the reduction of the tail from the second scheme to the first, in %."""
    first, second = (tail(runs, one, which, point) for one in case)
    name = f"{NAMES[case[0]]} by {NAMES[case[1]]}{of_}"
    return measured(
        name, f"reduction_of_{which}_qct", 100 * (1 - quotients(first, second)), levels(runs, which, point)
    )


def figure_15a(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures tails with buffers of 128 KB everywhere."""
    for name, sizes in SIZES.items():
        runs = sweeps[name]
        point = point_with(runs, AGGREGATION, "128KiB")
        for which in TAILS:
            yield reductions((CP, TCP), runs, which, point, sizes)
            more = tail(runs, DCTCP, which, point) - tail(runs, BOTH, which, point)
            yield measured(f"DCTCP less CP&DCTCP{sizes}", f"{which}_qct", more)


def figure_15b(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures tails with a buffer of 384 KB at the aggregation switch."""
    for name, sizes in SIZES.items():
        runs = sweeps[name]
        point = point_with(runs, AGGREGATION, "384KiB")
        for which in TAILS:
            ratio = 100 * quotients(tail(runs, CP, which, point), tail(runs, TCP, which, point))
            yield measured(f"CP by TCP{sizes}", f"ratio_of_{which}_qct", ratio, levels(runs, which, point))
            more = tail(runs, DCTCP, which, point) - tail(runs, BOTH, which, point)
            yield measured(f"DCTCP less CP&DCTCP{sizes}", f"{which}_qct", more)


def timeouts(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures timeouts of requests and responses: the most of any scheme and buffer."""
    for name, sizes in SIZES.items():
        runs = sweeps[name]
        found = {
            one: np.max(
                [runs.metric(metric_of("timeouts", "query"), one, point) for point in runs.points], axis=0
            )
            for one in COMPARED
        }
        note = ", ".join(f"{NAMES[one]} {values.mean():.3g} a run" for one, values in found.items())
        yield measured(
            f"every scheme{sizes}", "timeouts_of_queries", np.max(list(found.values()), axis=0), note
        )


def counts(sweeps: Sweeps) -> Iterator[Measured]:
    """Counts queries and background flows of all seeds of a scheme."""
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
    """Measures tails under ten-fold traffic."""
    runs = sweeps["tenfold"]
    for which in TAILS:
        yield reductions((CP, TCP), runs, which)
        yield reductions((BOTH, DCTCP), runs, which)


def figure_16b(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures tails of CP with three buffer sizes."""
    for name, load in BUFFERS.items():
        runs = sweeps[name]
        found = {
            (size, which): tail(runs, CP, which, point_with(runs, BUFFER, f"{size}KiB"))
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


MEASURES: dict[str, Measure] = {
    "fig15a": figure_15a,
    "fig15b": figure_15b,
    "fig15": timeouts,
    "sec6.4n": counts,
    "fig16a": figure_16a,
    "fig16b": figure_16b,
}
