"""Drawings of section 5.4: figures 7 to 10."""

from __future__ import annotations

from matplotlib.figure import Figure as Drawing

from overspill.papers.common import Published
from overspill.papers.dibs.drawn import Panel, two
from overspill.papers.dibs.mixed import DCTCP, DIBS, Sweeps


def draw_background(sweeps: Sweeps, published: Published) -> Drawing:
    """Figure 7."""
    label = "mean gap of a host's background flows (ms)"
    return two(sweeps["background"], Panel("traffic.background.interarrival", label, "Queries"))


def draw_queries(sweeps: Sweeps, published: Published) -> Drawing:
    """Figure 8."""
    return two(sweeps["queries"], Panel("traffic.query.qps", "queries a second", "Queries"))


def draw_responses(sweeps: Sweeps, published: Published) -> Drawing:
    """Figure 9, with the two levels of the text."""
    marks = {(one, 50.0): published.get((f"50 KB, {one}", "p99_qct")) for one in (DCTCP, DIBS)}
    return two(sweeps["responses"], Panel("traffic.query.size", "response (KB)", "Queries"), marks)


def draw_degrees(sweeps: Sweeps, published: Published) -> Drawing:
    """Figure 10, with the two levels of the text."""
    marks = {(one, 100.0): published.get((f"degree 100, {one}", "p99_qct")) for one in (DCTCP, DIBS)}
    return two(sweeps["degrees"], Panel("traffic.query.senders", "responders", "Queries"), marks)
