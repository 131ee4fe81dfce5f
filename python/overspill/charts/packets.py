"""Figures of packets that arrive out of order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from overspill.charts import common
from overspill.charts.spec import Axis, Chart, Line, Mark, Panel, Points
from overspill.results.names import REORDER

if TYPE_CHECKING:
    from overspill.results.results import Results

DISPLACEMENT, OCCUPANCY, EXTENT, RECEIVED = range(len(REORDER))
SUBJECTS = {
    DISPLACEMENT: ("displacement", "packets (negative if early)"),
    OCCUPANCY: ("reorder buffer", "packets in the buffer"),
    EXTENT: ("extent of reordered packets", "extent in packets"),
}


def reordering(results: Results) -> Chart | None:
    """Builds the figure of displacement, reorder buffer (RFC 5236) and extents (RFC 4737), or `None`."""
    variants = common.having(results, "reorder")
    panels = []
    for metric, (title, label) in SUBJECTS.items():
        marks: list[Mark] = []
        for variant in variants:
            values, share = density(results, variant, metric)
            if len(values):
                line = common.look(results, variant)
                marks.append(Line(values, share, line, variant))
                marks.append(Points(values, share, line, variant, size=3))
        if marks:
            x = Axis(label, scale="symlog" if metric == DISPLACEMENT else "linear", whole=True)
            panels.append(Panel(title, x, Axis("share of packets", "share", "log"), marks))
    if not panels:
        return None
    caption = (
        "Order of arrivals: displacement and reorder-buffer occupancy (RFC 5236) as a share of the "
        "packets for which they are known; extents of reordered packets (RFC 4737) as a share of all "
        f"received packets; {common.seeds_text(results)} and all traffic pooled."
    )
    entries = common.legend(results, variants)
    told = common.pooled_told(results, variants)
    return Chart("reorder", "Reordering", caption, panels, len(panels), 3.1, entries, share_y=True, told=told)


def density(results: Results, variant: str, metric: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns values, and the share of packets with each."""
    rows = [run.columns("reorder", "metric", "value", "count") for run in results.runs_of(variant)]
    received = sum(int(count[kinds == RECEIVED].sum()) for kinds, _, count in rows)
    found = common.summed((value[kinds == metric], count[kinds == metric]) for kinds, value, count in rows)
    values = np.array(sorted(one for one in found if found[one]), np.float64)
    counts = np.array([found[one] for one in values.tolist()])
    whole = received if metric == EXTENT and received else counts.sum()
    return values, counts / whole if whole else counts
