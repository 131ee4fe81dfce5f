"""Lines that cover each other, so that a reader sees only the last one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from overspill.charts.spec import Chart, Line, Panel
from overspill.results import formats

GROUPS_SHOWN = 4


def with_covered_lines(chart: Chart) -> Chart:
    """Returns a chart whose caption and note name the lines that cover each other, if any do."""
    labels = {entry.key: entry.label for entry in chart.legend}
    found: dict[str, list[str]] = {}
    for panel in chart.panels:
        for keys in groups(panel):
            found.setdefault(formats.joined([labels.get(key, key) for key in keys]), []).append(panel.title)
    if not found:
        return chart
    every = [f"{names}{place(titles, chart)}" for names, titles in found.items()]
    text = f"Coinciding lines: {'; '.join(every[:GROUPS_SHOWN])}"
    text += f"; and {len(every) - GROUPS_SHOWN} more." if len(every) > GROUPS_SHOWN else "."
    return replace(chart, caption=f"{chart.caption} {text}", told=f"{chart.told} {text}".strip())


def groups(panel: Panel) -> Iterator[list[str]]:
    """Yields the keys of lines that are bit-identical; lines that are 0 throughout are left out."""
    same: dict[tuple[bytes, bytes, str], dict[str, None]] = {}
    for mark in panel.marks:
        if isinstance(mark, Line) and mark.entry and np.nan_to_num(mark.y).any():
            same.setdefault((mark.x.tobytes(), mark.y.tobytes(), mark.step), {})[mark.entry] = None
    yield from (list(keys) for keys in same.values() if len(keys) > 1)


def place(titles: list[str], chart: Chart) -> str:
    """Returns the titles of the panels in which lines cover each other; empty if it is all panels."""
    named = [title for title in titles if title]
    return f" ({formats.listing(named, 2)})" if named and len(titles) < len(chart.panels) else ""
