"""Rows of results as text: selection of the printed rows, format of cells, and legend."""

from collections.abc import Sequence

from overspill import stats
from overspill.results import formats, pooled
from overspill.results.finished_runs import Finished
from overspill.results.key import parsed
from overspill.results.rows import Cell, Row

Cells = dict[str, tuple[str, bool]]  # by variant: text of the cell, and true if the variant is best
MOST = 16
# The first sixteen of these metrics that have a row are printed; files have every metric.
FIRST = (
    *("unfinished_flows", "fct_mean", "fct_p99", "qct_mean", "qct_p99", "flow_goodput_mean", "goodput_last"),
    *("drops", "trims", "detours", "bounces", "held_acks", "pauses", "cnms", "cnps", "marks"),
    *("data_drops", "retransmits", "timeouts"),
    *(
        "delay_p99",
        "port_bytes_max",
        "queue_busiest_max",
        "internal_link_utilisation_max",
        "stage_buffer_bytes_max",
    ),
    *("slowdown_p99", "hops_mean", "hot_link_share", "reordered_share"),
)
# Printed before the others if no flow ends.
WITHOUT_FLOWS = ("goodput", "jain")
WORKLOADS = 6  # most workloads without ending flows whose goodput is printed, up to sixteen rows
COARSE = (
    "Percentiles of packet delays, and percentiles and maxima of waits, come from histograms with a "
    "resolution of 0.8% (1/128). No interval or range of them is shown narrower."
)


def printed(rows: Sequence[Row], kinds: pooled.Kinds | None = None) -> list[Row]:
    """Returns the rows to print, of sixteen metrics at most; with goodput if no flow ends.

    Rows keep their order. Times of flows and queries are by workload; `kinds` are the kinds of workloads.
    """
    there = {row.metric.name for row in rows if row.visible} - repeated(rows)
    ended = "fct_mean" in there
    first = [name for name in (FIRST if ended else (*WITHOUT_FLOWS, *FIRST)) if name in there][:MOST]
    order = [row.metric.name for row in rows if row.visible]
    names: list[str] = []
    for name in first:
        some = pooled.shown(name, order, kinds or {})
        names += some[: pooled.MOST + (not some[0].by)]
    names += by_workload(rows)[: max(0, min(WORKLOADS, MOST - len(names)))]
    return [row for row in rows if row.metric.name in names]


def repeated(rows: Sequence[Row]) -> set[str]:
    """Returns metrics that another row makes superfluous.

    `data_drops` if every run lost the same number of packets in its window; queues in frames if buffers
    count bytes.
    """
    values = {row.metric.name: {name: cell.known for name, cell in row.cells.items()} for row in rows}
    found = {"data_drops"} if values.get("data_drops") == values.get("drops") else set()
    return found | ({"queue_busiest_max"} if "port_bytes_max" in values else set())


def without_pooled(rows: Sequence[Row], kinds: pooled.Kinds) -> list[Row]:
    """Returns the rows without values over workloads that differ in kind."""
    hidden = pooled.hidden([row.metric.name for row in rows], kinds)
    return [row for row in rows if row.metric.name not in hidden]


def by_workload(rows: Sequence[Row]) -> list[str]:
    """Returns the goodput of each workload without ending flows, in which a victim is visible."""
    keys = [parsed(row.metric.name) for row in rows]
    ended = {key.of for key in keys if (key.metric, key.by) == ("fct_mean", "traffic")}
    return [key for key in keys if (key.metric, key.by) == ("goodput", "traffic") and key.of not in ended]


def cells(row: Row) -> tuple[str, Cells]:
    """Returns a row as text: the title with its unit, and the cell of each variant."""
    known = [number for one in row.cells.values() for number in one.known]
    factor, unit = formats.scale(row.metric.unit, known)
    title = formats.headed(row.metric.title, unit)
    return title, {name: (text(one, factor), one.best) for name, one in row.cells.items()}


def text(one: Cell, factor: float) -> str:
    """Returns the text of a cell, with the number of its seeds if some seeds have no value."""
    few = f" (n = {len(one.known)})" if 0 < len(one.known) < len(one.values) else ""
    return formats.cell(one, factor) + few


def legend(results: Finished) -> str:
    """Returns the legend of the cells."""
    counts = [len(results.runs_of(variant)) for variant in results.variants]
    seeds, every = max(counts, default=0), [cell for row in results.rows for cell in row.cells.values()]
    parts = [explained(seeds, len(results.variants) > 1)]
    if seeds >= stats.FEWEST and any(cell.span for cell in every):
        parts.append("(least to largest) if only two seeds have a value.")
    if any(cell.resolution for cell in every):
        parts.append(COARSE)
    return " ".join(parts)


def explained(seeds: int, compared: bool) -> str:
    """Returns the legend of cells over at most `seeds` seeds; `compared` if a variant may be best."""
    if seeds < 2:
        return "One seed: no intervals, and no variant is called best. Use --seeds N."
    parts = ["mean ± half-width of the 95% interval over seeds (Student's t)."]
    if seeds < stats.FEWEST:
        parts = ["mean (least to largest) over seeds: too few for intervals."]
    if seeds >= stats.ENOUGH:
        parts = [
            "mean ± half-width of the 95% interval over seeds, or mean [low, high] if the interval is "
            "asymmetric (Student's t; BCa bootstrap for percentiles, minima and maxima)."
        ]
    if compared and seeds >= stats.FEWEST:
        parts.append(
            "* best: the Holm-corrected 95% intervals of its paired differences from every other variant, "
            "on the same seeds, exclude 0. No variant is best if all seeds gave the same value."
        )
    return " ".join(parts)
