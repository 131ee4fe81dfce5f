"""Text of the results table: selection of the printed rows, format of cells, and legend."""

from collections.abc import Sequence

from overspill import stats
from overspill.results import formats, pooled_workloads
from overspill.results.finished_runs import FinishedRuns
from overspill.results.metric_key import parse_known_key
from overspill.results.metric_rows import MetricCell, MetricRow

Cells = dict[str, tuple[str, bool]]  # by variant: text of the cell, and true if the variant is best
MAX_METRICS = 16
# The first sixteen of these metrics that have a row are printed; files have every metric.
FIRST_METRICS = (
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
# Printed before `FIRST_METRICS` if no flow ends, since completion times have no values then.
METRICS_WITHOUT_FLOWS = ("goodput", "jain")
MAX_WORKLOADS = 6  # most workloads without ending flows whose goodput is printed, up to sixteen rows
RESOLUTION_NOTE = (
    "Percentiles of packet delays, and percentiles and maxima of waits, come from histograms with a "
    "resolution of 0.8% (1/128). No interval or range of them is shown narrower."
)


def select_rows(
    rows: Sequence[MetricRow], kinds: pooled_workloads.KindOfWorkload | None = None
) -> list[MetricRow]:
    """Returns the rows to print, of sixteen metrics at most; with goodput if no flow ends.

    Rows keep their order. Times of flows and queries are by workload; `kinds` are the kinds of workloads.
    """
    there = {row.metric.name for row in rows if row.is_visible} - redundant_metrics(rows)
    ended = "fct_mean" in there
    first = [
        name
        for name in (FIRST_METRICS if ended else (*METRICS_WITHOUT_FLOWS, *FIRST_METRICS))
        if name in there
    ][:MAX_METRICS]
    order = [row.metric.name for row in rows if row.is_visible]
    names: list[str] = []
    for name in first:
        some = pooled_workloads.shown_keys(name, order, kinds or {})
        names += some[: pooled_workloads.MAX_WORKLOADS_SHOWN + (not some[0].by)]
    names += goodput_by_workload(rows)[: max(0, min(MAX_WORKLOADS, MAX_METRICS - len(names)))]
    return [row for row in rows if row.metric.name in names]


def redundant_metrics(rows: Sequence[MetricRow]) -> set[str]:
    """Returns the metrics whose row another row makes superfluous.

    `data_drops` if every run lost the same number of packets in its window; queues in frames if buffers
    count bytes.
    """
    values = {row.metric.name: {name: cell.known_values for name, cell in row.cells.items()} for row in rows}
    found = {"data_drops"} if values.get("data_drops") == values.get("drops") else set()
    return found | ({"queue_busiest_max"} if "port_bytes_max" in values else set())


def without_mixed_workloads(
    rows: Sequence[MetricRow], kinds: pooled_workloads.KindOfWorkload
) -> list[MetricRow]:
    """Returns the rows without values over workloads that differ in kind."""
    hidden = pooled_workloads.hidden_metrics([row.metric.name for row in rows], kinds)
    return [row for row in rows if row.metric.name not in hidden]


def goodput_by_workload(rows: Sequence[MetricRow]) -> list[str]:
    """Returns the goodput of workloads without flows that end, which shows if one suffers from another."""
    keys = [parse_known_key(row.metric.name) for row in rows]
    ended = {key.of for key in keys if (key.metric, key.by) == ("fct_mean", "traffic")}
    return [key for key in keys if (key.metric, key.by) == ("goodput", "traffic") and key.of not in ended]


def format_row(row: MetricRow, seeds: int = 0) -> tuple[str, Cells]:
    """Returns a table row as text: the title with its unit, and the cell of each variant.

    `seeds` is the number of planned seeds, of which a failed or unfinished run has no value.
    """
    known = [number for one in row.cells.values() for number in one.known_values]
    factor, unit = formats.select_unit(row.metric.unit, known)
    title = formats.title_with_unit(row.metric.title, unit)
    return title, {name: (format_cell_text(one, factor, seeds), one.best) for name, one in row.cells.items()}


def format_cell_text(one: MetricCell, factor: float, seeds: int = 0) -> str:
    """Returns the text of a cell, with the number of its seeds if some seeds have no value."""
    known, planned = len(one.known_values), max(seeds, len(one.values))
    return formats.format_cell(one, factor) + format_seed_count(known, planned)


def format_seed_count(known: int, planned: int) -> str:
    """Formats how many of the planned seeds have a value, after a cell; empty if all or none have one."""
    return f" ({known} of {planned} seeds)" if 0 < known < planned else ""


def cells_legend(results: FinishedRuns) -> str:
    """Returns the legend that explains the cells of the printed table."""
    counts = [len(results.runs_of(variant)) for variant in results.variants]
    seeds, every = max(counts, default=0), [cell for row in results.rows for cell in row.cells.values()]
    parts = [build_legend(seeds, len(results.variants) > 1)]
    if seeds >= stats.MIN_SEEDS_FOR_INTERVAL and any(cell.span for cell in every):
        parts.append("(least to largest) if only two seeds have a value.")
    if any(cell.resolution for cell in every):
        parts.append(RESOLUTION_NOTE)
    return " ".join(parts)


def build_legend(seeds: int, compared: bool) -> str:
    """Returns the legend of cells over at most `seeds` seeds; `compared` if a variant may be best."""
    if seeds < 2:
        return "One seed: no intervals, and no variant is called best. Use --seeds N."
    parts = ["mean ± half-width of the 95% interval over seeds (Student's t)."]
    if seeds < stats.MIN_SEEDS_FOR_INTERVAL:
        parts = ["mean (least to largest) over seeds: too few for intervals."]
    if seeds >= stats.MIN_SEEDS_FOR_BOOTSTRAP:
        parts = [
            "mean ± half-width of the 95% interval over seeds, or mean [low, high] if the interval is "
            "asymmetric (Student's t; BCa bootstrap for percentiles, minima and maxima)."
        ]
    if compared and seeds >= stats.MIN_SEEDS_FOR_INTERVAL:
        parts.append(
            "* best: the Holm-corrected 95% intervals of its paired differences from every other variant, "
            "on the same seeds, exclude 0. No variant is best if all seeds gave the same value."
        )
    return " ".join(parts)
