"""Chart lines that cover each other exactly, so that a reader sees only the last one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from overspill.charts.chart_spec import Chart, Line, Panel
from overspill.results import formats

MAX_GROUPS_LISTED = 4


def with_coinciding_lines_noted(chart: Chart) -> Chart:
    """Returns a chart whose caption and note name the lines that cover each other, if any do."""
    labels = {entry.key: entry.label for entry in chart.legend}
    found: dict[str, list[str]] = {}
    for panel in chart.panels:
        for keys in find_identical_lines(panel):
            found.setdefault(formats.join_with_and([labels.get(key, key) for key in keys]), []).append(
                panel.title
            )
    if not found:
        return chart
    every = [f"{names}{panels_with_identical_lines(titles, chart)}" for names, titles in found.items()]
    text = f"Lines that coincide: {'; '.join(every[:MAX_GROUPS_LISTED])}"
    text += f"; and {len(every) - MAX_GROUPS_LISTED} more." if len(every) > MAX_GROUPS_LISTED else "."
    return replace(chart, caption=f"{chart.caption} {text}", file_note=f"{chart.file_note} {text}".strip())


def find_identical_lines(panel: Panel) -> Iterator[list[str]]:
    """Yields the keys of lines that are bit-identical; lines that are 0 throughout are left out."""
    same: dict[tuple[bytes, bytes, str], dict[str, None]] = {}
    for mark in panel.marks:
        if isinstance(mark, Line) and mark.entry and np.nan_to_num(mark.y).any():
            same.setdefault((mark.x.tobytes(), mark.y.tobytes(), mark.step), {})[mark.entry] = None
    yield from (list(keys) for keys in same.values() if len(keys) > 1)


def panels_with_identical_lines(titles: list[str], chart: Chart) -> str:
    """Returns the titles of the panels in which lines cover each other; empty if they do so in all panels."""
    named = [title for title in titles if title]
    return f" ({formats.format_listing(named, 2)})" if named and len(titles) < len(chart.panels) else ""
