"""Ticks and number labels of axes, equal in every figure."""

from __future__ import annotations

import html
import math
import re
from functools import partial

import numpy as np

from overspill.charts.chart_spec import Axis, Colours, EventLine, HeatMap, Panel, QuantityKind
from overspill.results import formats

MAX_LOG_TICKS = 7.5  # most ticks of a scale of colours; there are at least three
escape_html = partial(html.escape, quote=False)  # text without tags for the page and for plotly
BYTE_UNITS = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "KB"), (1.0, "B"))


def format_quantity(value: float, kind: QuantityKind) -> str:
    """Formats a number with its unit: `100 us`, `20 KB`, `1 Gbit/s`, `0.1%`."""
    if not math.isfinite(value):
        return "-"
    if kind == "time":
        return ("-" if value < 0 else "") + formats.format_time(abs(value) * 1e12)
    if kind == "share":
        return f"{formats.format_trimmed(value * 100)}%"
    if kind == "number":
        return formats.format_trimmed(value)
    if not value:
        return "0"
    factor, unit = select_axis_unit(kind, value)
    return f"{formats.format_trimmed(value / factor)} {unit}"


def select_axis_unit(kind: QuantityKind, largest: float) -> tuple[float, str]:
    """Returns factor and name of the unit for an axis whose largest number is `largest`."""
    if kind == "bytes":
        return next((one for one in BYTE_UNITS if abs(largest) >= one[0]), BYTE_UNITS[-1])
    if kind == "rate":
        return formats.select_unit("bit/s", [largest])
    if kind == "time":
        return formats.select_unit("s", [largest])
    return 1.0, ""


def axis_title(axis: Axis, unit: str = "") -> str:
    """Returns the title of an axis: label, unit and scale."""
    parts = [part for part in (unit, "log scale" if axis.scale in ("log", "symlog") else "") if part]
    if not axis.label:
        return ""
    return f"{axis.label} ({', '.join(parts)})" if unit else ", ".join([axis.label, *parts])


def time_scale(low: float, high: float) -> tuple[str, tuple[float, float] | None]:
    """Returns scale and range of a time axis: logarithmic if its ends differ by a factor of 3 or more."""
    if low > 0 and high / low >= 3:
        return "log", None
    margin = max((high - low) * 0.05, high * 0.005)
    return "linear", (low - margin, high + margin)


def log_tick_multiples(ratio: float) -> tuple[float, ...]:
    """Returns the multiples of powers of ten at which a logarithmic axis has ticks; `ratio` is high / low."""
    return (1.0,) if ratio > 200 else (1.0, 3.0) if ratio > 20 else (1.0, 2.0, 5.0)


def colour_ticks(colours: Colours) -> list[tuple[float, str]]:
    """Returns ticks of a colour scale, positions and labels: powers of ten, or even steps in one unit.

    A logarithmic scale with a white part for 0 has no tick at its lowest value, which would be too close to
    it.
    """
    low, high = colours.low, colours.high
    factor, unit = (1.0, "") if colours.log else select_axis_unit(colours.kind, high)
    if colours.log:
        values = [10.0**power for power in range(math.ceil(np.log10(low)), math.floor(np.log10(high)) + 1)]
    else:
        step = round_up_step((high - low) / MAX_LOG_TICKS, colours.whole_numbers)
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        values = [number * step for number in range(first, last + 1)]
    values = [0.0, *(one for one in values if one > low)] if colours.white_zero else values
    places = colours.positions_of(np.array(values)).tolist()
    texts = [
        f"{formats.format_trimmed(one / factor)} {unit}"
        if unit and one
        else format_quantity(one, colours.kind)
        for one in values
    ]
    return list(zip(places, texts, strict=True))


def log_scale_note(colours: Colours) -> str:
    """Returns the note that a colour scale is logarithmic; empty for a linear scale."""
    return ("logarithmic scale from 1" if colours.white_zero else "log scale") if colours.log else ""


def round_up_step(least: float, whole: bool) -> float:
    """Returns the smallest of 1, 2 and 5 times a power of ten that is at least `least`."""
    power = 10.0 ** math.floor(math.log10(least))
    step = next(many * power for many in (1, 2, 5, 10) if many * power >= least * (1 - 1e-9))
    return max(1.0, step) if whole else step


MAX_LABEL_ROWS = 3  # lines of text that labels of instants may fill


def place_event_labels(panel: Panel, letters: int) -> list[tuple[EventLine, int, bool]]:
    """Returns the events whose labels fit into a panel `letters` characters wide; none for a heat map.

    Each has the line of text of its label, 0 for the highest, and true if the label is left of the instant.
    """
    if panel.x.range is None or any(isinstance(mark, HeatMap) for mark in panel.marks):
        return []
    (start, end), room = panel.x.range, [-math.inf] * MAX_LABEL_ROWS
    found = []
    for mark in sorted((one for one in panel.marks if isinstance(one, EventLine)), key=lambda one: one.time):
        at, long = letters * (mark.time - start) / (end - start), len(mark.label) + 2
        left = at + long > letters
        begin = at - long if left else at
        row = next((row for row in range(MAX_LABEL_ROWS) if room[row] <= begin), None)
        if row is not None and begin >= 0:
            room[row] = begin + long
            found.append((mark, row, left))
    return found


def wrap_and_shorten(text: str, letters: int, lines: int) -> list[str]:
    """Returns a text wrapped to at most `lines` lines; the rest is replaced by an ellipsis after a word.

    A number stays together with the word after it: its unit, or its next thousands.
    """
    parts = re.findall(r"(?:\S*\d\S*(?<![,;:)]) )*\S+", text)
    parts = [one if len(one) <= letters else shorten_word(one, letters) for one in parts]
    found = [""]
    for at, part in enumerate(parts):
        longer = f"{found[-1]} {part}".lstrip()
        room = letters if at == len(parts) - 1 or len(found) < lines else letters - 2
        if len(longer) <= room or not found[-1]:
            found[-1] = longer
        elif len(found) < lines:
            found.append(part)
        else:
            found[-1] = f"{found[-1].rstrip(',;:… ')} …"
            break
    return found


def shorten_word(word: str, letters: int) -> str:
    """Returns a word cut to fit into a line, or only an ellipsis for a number with its unit."""
    return "…" if " " in word else f"{word[: letters - 1].rstrip('0123456789.')}…"
