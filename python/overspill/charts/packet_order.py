"""Figures of packets that arrive out of order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from overspill.charts import common
from overspill.charts.chart_spec import Axis, Chart, Line, Mark, Panel, Points
from overspill.results.names import REORDER

if TYPE_CHECKING:
    from overspill.results.results import Results

DISPLACEMENT_KIND, OCCUPANCY_KIND, EXTENT_KIND, RECEIVED_KIND = range(len(REORDER))
METRIC_LABELS = {
    DISPLACEMENT_KIND: ("displacement", "packets (negative if early)"),
    OCCUPANCY_KIND: ("reorder buffer", "packets in the buffer"),
    EXTENT_KIND: ("extent of reordered packets", "extent in packets"),
}


def chart_reordering(results: Results) -> Chart | None:
    """Builds the figure of displacement and reorder buffer (RFC 5236), and extents (RFC 4737); or `None`."""
    variants = common.variants_with_table(results, "reorder")
    panels = []
    for metric, (title, label) in METRIC_LABELS.items():
        marks: list[Mark] = []
        for variant in variants:
            values, share = packet_share_by_value(results, variant, metric)
            if len(values):
                line = common.line_style_of_variant(results, variant)
                marks.append(Line(values, share, line, variant))
                marks.append(Points(values, share, line, variant, size=3))
        if marks:
            x = Axis(label, scale="symlog" if metric == DISPLACEMENT_KIND else "linear", whole_numbers=True)
            panels.append(Panel(title, x, Axis("share of packets", "share", "log"), marks))
    if not panels:
        return None
    caption = (
        "Order of arrivals: displacement and reorder-buffer occupancy (RFC 5236) as a share of the "
        "packets for which they are known; extents of reordered packets (RFC 4737) as a share of all "
        f"received packets; {common.format_seed_count(results)} and all traffic pooled."
    )
    entries = common.variant_legend(results, variants)
    told = common.pooled_seeds_note(results, variants)
    return Chart(
        "reorder", "Reordering", caption, panels, len(panels), 3.1, entries, share_y=True, file_note=told
    )


def packet_share_by_value(results: Results, variant: str, metric: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns the values of one reordering metric, and the share of packets with each."""
    rows = [run.columns("reorder", "metric", "value", "count") for run in results.runs_of(variant)]
    received = sum(int(count[kinds == RECEIVED_KIND].sum()) for kinds, _, count in rows)
    found = common.sum_by_key(
        (value[kinds == metric], count[kinds == metric]) for kinds, value, count in rows
    )
    values = np.array(sorted(one for one in found if found[one]), np.float64)
    counts = np.array([found[one] for one in values.tolist()])
    whole = received if metric == EXTENT_KIND and received else counts.sum()
    return values, counts / whole if whole else counts
