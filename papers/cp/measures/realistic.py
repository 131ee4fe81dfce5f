"""Measures of CP's section 6.4: queries with background flows, figures 15 and 16."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from overspill import columns
from overspill.papers.common import build_measured, divide_by_seed
from overspill.papers.spec import Measure, Measured, Point, Runs, Sweeps

from .schemes import CP, CP_DCTCP, DCTCP, NAMES, TCP, metric_key, point_with

AGGREGATION_BUFFER_PATH = "override.1st.switch.buffer.size"
BUFFER_PATH = "switch.buffer.size"
COMPARED_SCHEMES = (TCP, CP, DCTCP, CP_DCTCP)
TAIL_PERCENTILES = ("p99", "p99.9")
SIZE_LABELS = {"realistic": "", "realistic_web_search": ", web_search"}
BUFFER_LABELS = {"buffers_tenfold": "", "buffers": ", single traffic", "buffers_web_search": ", web_search"}


def tail_completion(runs: Runs, variant: str, which: str, point: Point | None = None) -> np.ndarray:
    """Percentile of the queries' completion times in ms, by seed."""
    return 1e3 * runs.metric(metric_key(f"qct_{which}", "query"), variant, point)


def format_levels(runs: Runs, which: str, point: Point | None = None) -> str:
    """Formats the percentile of every scheme for a note."""
    return ", ".join(
        f"{NAMES[one]} {tail_completion(runs, one, which, point).mean():.4g} ms" for one in COMPARED_SCHEMES
    )


def tail_reduction(
    case: tuple[str, str], runs: Runs, which: str, point: Point | None = None, of_: str = ""
) -> Measured:
    """Returns by how many % one scheme reduces a tail percentile of query times relative to another."""
    first, second = (tail_completion(runs, one, which, point) for one in case)
    name = f"{NAMES[case[0]]} by {NAMES[case[1]]}{of_}"
    return build_measured(
        name,
        f"reduction_of_{which}_qct",
        100 * (1 - divide_by_seed(first, second)),
        format_levels(runs, which, point),
    )


def measure_figure_15a(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures tail query times with buffers of 128 KB everywhere."""
    for name, sizes in SIZE_LABELS.items():
        runs = sweeps[name]
        point = point_with(runs, AGGREGATION_BUFFER_PATH, "128KiB")
        for which in TAIL_PERCENTILES:
            yield tail_reduction((CP, TCP), runs, which, point, sizes)
            more = tail_completion(runs, DCTCP, which, point) - tail_completion(runs, CP_DCTCP, which, point)
            yield build_measured(f"DCTCP less CP&DCTCP{sizes}", f"{which}_qct", more)


def measure_figure_15b(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures tail query times with a buffer of 384 KB at the aggregation switch."""
    for name, sizes in SIZE_LABELS.items():
        runs = sweeps[name]
        point = point_with(runs, AGGREGATION_BUFFER_PATH, "384KiB")
        for which in TAIL_PERCENTILES:
            ratio = 100 * divide_by_seed(
                tail_completion(runs, CP, which, point), tail_completion(runs, TCP, which, point)
            )
            yield build_measured(
                f"CP by TCP{sizes}", f"ratio_of_{which}_qct", ratio, format_levels(runs, which, point)
            )
            more = tail_completion(runs, DCTCP, which, point) - tail_completion(runs, CP_DCTCP, which, point)
            yield build_measured(f"DCTCP less CP&DCTCP{sizes}", f"{which}_qct", more)


def measure_timeouts(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures timeouts of requests and responses: the most of any scheme and buffer."""
    for name, sizes in SIZE_LABELS.items():
        runs = sweeps[name]
        found = {
            one: np.max(
                [runs.metric(metric_key("timeouts", "query"), one, point) for point in runs.points], axis=0
            )
            for one in COMPARED_SCHEMES
        }
        note = ", ".join(f"{NAMES[one]} {values.mean():.3g} a run" for one, values in found.items())
        yield build_measured(
            f"every scheme{sizes}", "timeouts_of_queries", np.max(list(found.values()), axis=0), note
        )


def measure_flow_counts(sweeps: Sweeps) -> Iterator[Measured]:
    """Counts queries and background flows of all seeds of a scheme."""
    runs = sweeps["realistic"]
    queries = flows = 0
    for table in runs.tables("flows", TCP, runs.points[0]):
        query = columns.column_to_numpy(table, "query")
        asked = query != columns.U32_NONE
        queries += len(np.unique(query[asked]))
        flows += int((~asked).sum())
    yield build_measured("ten minutes", "queries", [queries])
    yield build_measured("ten minutes", "background_flows", [flows])


def measure_figure_16a(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures tail query times under ten-fold traffic."""
    runs = sweeps["tenfold"]
    for which in TAIL_PERCENTILES:
        yield tail_reduction((CP, TCP), runs, which)
        yield tail_reduction((CP_DCTCP, DCTCP), runs, which)


def measure_figure_16b(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures tail query times of CP with three buffer sizes."""
    for name, load in BUFFER_LABELS.items():
        runs = sweeps[name]
        found = {
            (size, which): tail_completion(runs, CP, which, point_with(runs, BUFFER_PATH, f"{size}KiB"))
            for size in (32, 128, 256)
            for which in TAIL_PERCENTILES
        }
        for size in (128, 256):
            case = f"32 KB by {size} KB{load}"
            ratio = {
                which: divide_by_seed(found[32, which], found[size, which]) for which in TAIL_PERCENTILES
            }
            note = f"{found[32, 'p99'].mean():.4g} and {found[size, 'p99'].mean():.4g} ms"
            yield build_measured(case, "reduction_of_p99_qct", 100 * (1 - ratio["p99"]), note)
            note = f"{found[32, 'p99.9'].mean():.4g} and {found[size, 'p99.9'].mean():.4g} ms"
            yield build_measured(case, "ratio_of_p99.9_qct", 100 * ratio["p99.9"], note)
        yield build_measured(f"32 KB{load}", "p99.9_qct", found[32, "p99.9"])


MEASURES: dict[str, Measure] = {
    "fig15a": measure_figure_15a,
    "fig15b": measure_figure_15b,
    "fig15": measure_timeouts,
    "sec6.4n": measure_flow_counts,
    "fig16a": measure_figure_16a,
    "fig16b": measure_figure_16b,
}
