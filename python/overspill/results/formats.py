"""Formats of numbers, times and lists for readers."""

import math
from collections.abc import Iterable, Sequence
from typing import Protocol

TIME_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
RATE_UNITS = ((1e12, "Tbit/s"), (1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s"))
SHORT_UNITS = {"1": "", "packets": "pkt", "events": "", "flows": ""}
ROUNDING_ERROR = 1e-9  # relative width up to which an interval counts as rounding
MAX_ASYMMETRY = (
    0.1  # an interval is uneven if its sides differ by more than this share of its width: 0.55 to 0.45
)
UNIT_FAMILIES = {"s": TIME_UNITS, "bit/s": RATE_UNITS}


class AveragedMetric(Protocol):
    """Metric over seeds, as the cell of a table prints it."""

    @property
    def mean(self) -> float | None:
        """Mean over seeds; a lower bound if `censored`."""

    @property
    def censored(self) -> bool:
        """True if the true mean is only known to be at least `mean`."""

    @property
    def resolution(self) -> float:
        """Possible error of a mean that is computed from midpoints of buckets; 0 for exact values."""

    @property
    def span(self) -> tuple[float, float] | None:
        """Least and largest value of two seeds, for which no interval is computed."""

    @property
    def interval(self) -> tuple[float, float] | None:
        """95% interval of the mean, if there is one."""

    @property
    def ci95(self) -> float | None:
        """Half-width of the mean's 95% interval, if there is one."""


def select_unit(unit: str, values: Iterable[float]) -> tuple[float, str]:
    """Returns factor and name of the unit for a table row: the largest in which some value is at least 1."""
    if unit not in UNIT_FAMILIES:
        return 1.0, SHORT_UNITS.get(unit, unit)
    largest = max((abs(value) for value in values), default=0.0)
    for factor, name in UNIT_FAMILIES[unit]:
        if largest >= factor:
            return factor, name
    factor, name = UNIT_FAMILIES[unit][-1] if largest else UNIT_FAMILIES[unit][1]
    return factor, name


def title_with_unit(title: str, unit: str) -> str:
    """Returns a title with its unit, unless its last word is the unit: `drops (pkt)`, `saturation trees`."""
    return f"{title} ({unit})" if unit and title.split()[-1:] != [unit] else title


def count_decimals(value: float, significant: int = 4) -> int:
    """Returns the number of decimals that show this many significant digits."""
    if value == 0 or not math.isfinite(value):
        return 0
    return max(0, significant - 1 - math.floor(math.log10(abs(value))))


def format_number(value: float, digits: int | None = None) -> str:
    """Formats a number with commas between thousands, never with an exponent."""
    if not math.isfinite(value):
        return str(value)
    if digits is None:
        digits = 0 if value == int(value) and abs(value) < 1e15 else min(count_decimals(value), 9)
    return f"{value:,.{digits}f}"


def format_cell(one: AveragedMetric, factor: float) -> str:
    """Formats a mean with its interval: `4 ± 1`, or `4 [3, 6]` if uneven; `> 4` for a bound, `-` for none.

    Two seeds give `mean (least to largest)`. Neither is narrower than the resolution of the mean, and a mean
    alone has no more digits than its resolution allows.
    """
    if one.mean is None:
        return "-"
    value = one.mean / factor
    if one.censored:
        return f"> {format_number(value)}"
    coarse = one.resolution / factor
    if one.span is not None:
        low, high = (bound / factor for bound in one.span)
        return format_range(value, (min(low, value - coarse), max(high, value + coarse)))
    if one.interval is None or one.ci95 is None:
        return format_number(value, count_decimals(coarse, 1)) if coarse else format_number(value)
    if one.ci95 / factor < coarse:
        return format_plus_minus(value, coarse)
    low, high = (bound / factor for bound in one.interval)
    wide = high - low > 2 * ROUNDING_ERROR * abs(value)
    if wide and abs(low + high - 2 * value) > MAX_ASYMMETRY * (high - low):
        digits = spread_digits(value, (high - low) / 2)
        return f"{format_number(value, digits)} [{format_number(low, digits)}, {format_number(high, digits)}]"
    return format_plus_minus(value, one.ci95 / factor)


def format_range(value: float, span: tuple[float, float]) -> str:
    """Formats a value with its range: `value (least to largest)`."""
    low, high = span
    if high - low <= 2 * ROUNDING_ERROR * abs(value):
        return format_number(value)
    digits = spread_digits(value, (high - low) / 2)
    if low and abs(low) < 10.0**-digits:
        digits = count_decimals(low, 1)  # the bound would be printed as 0 otherwise
    if low == int(low) and high == int(high):
        shown = format_number(value, 0 if value == int(value) else 1)
        return f"{shown} ({format_number(low, 0)} to {format_number(high, 0)})"
    return f"{format_number(value, digits)} ({format_number(low, digits)} to {format_number(high, digits)})"


def format_plus_minus(value: float, half: float) -> str:
    """Formats `value ± half` with two digits of the half-width, and at most five of the value."""
    if half <= ROUNDING_ERROR * abs(value):
        return f"{format_number(value)} ± 0" if value else "0"
    digits = spread_digits(value, half)
    if half < 10.0**-digits / 2:
        digits = count_decimals(half, 1)  # the half-width would be printed as 0 otherwise
    return f"{format_number(value, digits)} ± {format_number(half, digits)}"


def spread_digits(value: float, half: float) -> int:
    """Returns the decimals of `value ± half`: two digits of the half-width, but at most five of the value."""
    return (
        min(count_decimals(half, 2), max(count_decimals(value, 5), 0)) if value else count_decimals(half, 2)
    )


def format_time(picoseconds: float) -> str:
    """Formats a time in picoseconds with the unit that suits it: `48.8 ms`."""
    seconds = picoseconds * 1e-12
    if picoseconds == 0:
        return "0 s"
    factor, name = select_unit("s", [seconds])
    return f"{format_trimmed(seconds / factor)} {name}"


def format_trimmed(value: float) -> str:
    """Formats a number with at most six significant digits and without trailing zeros."""
    text = format_number(value, min(count_decimals(value, 6), 9))
    return text.rstrip("0").rstrip(".") if "." in text else text


def format_count(value: float) -> str:
    """Formats a large count in short form: 12.3 M."""
    for factor, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= factor:
            return f"{value / factor:.3g} {name}"
    return f"{value:.0f}"


def format_listing(names: Iterable[str], limit: int = 8) -> str:
    """Joins names with commas; a long list is cut and ends with the number of those left."""
    every = list(names)
    if len(every) <= limit:
        return ", ".join(every)
    return f"{', '.join(every[:limit])} and {len(every) - limit} more"


def join_with_and(names: Sequence[str]) -> str:
    """Joins all names: `a, b and c`."""
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


def format_seeds(values: Iterable[int]) -> str:
    """Formats consecutive seeds as `1-5`, and others as a list."""
    every = sorted(values)
    if len(every) > 2 and every[-1] - every[0] == len(every) - 1:
        return f"{every[0]}-{every[-1]}"
    return format_listing([str(one) for one in every])
