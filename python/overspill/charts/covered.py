"""Lines that lie on each other, of which a reader sees the last alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from overspill.charts.spec import Chart, Line, Panel
from overspill.results import formats

GROUPS_SHOWN = 4


def with_covered_lines(chart: Chart) -> Chart:
    """A chart that says in its caption, and in its file, which lines lie on each other, where any do."""
    labels = {entry.key: entry.label for entry in chart.legend}
    found: dict[str, list[str]] = {}
    for panel in chart.panels:
        for keys in groups(panel):
            found.setdefault(formats.joined([labels.get(key, key) for key in keys]), []).append(panel.title)
    if not found:
        return chart
    every = [f"{names}{place(titles, chart)}" for names, titles in found.items()]
    text = f"Lines that lie on each other: {'; '.join(every[:GROUPS_SHOWN])}"
    text += f"; and {len(every) - GROUPS_SHOWN} more." if len(every) > GROUPS_SHOWN else "."
    return replace(chart, caption=f"{chart.caption} {text}", told=f"{chart.told} {text}".strip())


def groups(panel: Panel) -> Iterator[list[str]]:
    """What lines stand for that are equal to the bit; those that are 0 throughout lie on the axis."""
    same: dict[tuple[bytes, bytes, str], dict[str, None]] = {}
    for mark in panel.marks:
        if isinstance(mark, Line) and mark.entry and np.nan_to_num(mark.y).any():
            same.setdefault((mark.x.tobytes(), mark.y.tobytes(), mark.step), {})[mark.entry] = None
    yield from (list(keys) for keys in same.values() if len(keys) > 1)


def place(titles: list[str], chart: Chart) -> str:
    """The panels in which they do, where it is not in all."""
    named = [title for title in titles if title]
    return f" ({formats.listing(named, 2)})" if named and len(titles) < len(chart.panels) else ""
