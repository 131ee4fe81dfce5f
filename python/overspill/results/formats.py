"""Numbers as people read them."""

import math
from collections.abc import Iterable, Sequence
from typing import Protocol

TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
RATES = ((1e12, "Tbit/s"), (1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s"))
SHORT = {"1": "", "packets": "pkt", "events": "", "flows": ""}
ROUNDING = 1e-9  # an interval this narrow, as a share of its mean, is none
UNEVEN = 0.1  # sides of an interval differ by more than this share of its width: 0.55 to 0.45
FAMILIES = {"s": TIMES, "bit/s": RATES}


class Averaged(Protocol):
    """A metric over seeds, as a cell of a table shows it."""

    @property
    def mean(self) -> float | None:
        """The mean; a lower bound where `censored`."""

    @property
    def censored(self) -> bool:
        """Whether the true mean is only known to be at least this."""

    @property
    def resolution(self) -> float:
        """By how much the mean may be off since its values are middles of buckets; 0 where they are exact."""

    @property
    def span(self) -> tuple[float, float] | None:
        """Its least and largest value, where there are too few for an interval."""

    @property
    def interval(self) -> tuple[float, float] | None:
        """Its 95% interval, if it has one."""

    @property
    def ci95(self) -> float | None:
        """Half of that."""


def scale(unit: str, values: Iterable[float]) -> tuple[float, str]:
    """One unit for a row: the largest in which its largest value is at least 1."""
    if unit not in FAMILIES:
        return 1.0, SHORT.get(unit, unit)
    largest = max((abs(value) for value in values), default=0.0)
    for factor, name in FAMILIES[unit]:
        if largest >= factor:
            return factor, name
    factor, name = FAMILIES[unit][-1] if largest else FAMILIES[unit][1]
    return factor, name


def headed(title: str, unit: str) -> str:
    """A title with its unit behind it, unless it says it itself: `drops (pkt)`, but `saturation trees`."""
    return f"{title} ({unit})" if unit and title.split()[-1:] != [unit] else title


def decimals(value: float, significant: int = 4) -> int:
    """Digits after the point that show so many significant ones."""
    if value == 0 or not math.isfinite(value):
        return 0
    return max(0, significant - 1 - math.floor(math.log10(abs(value))))


def number(value: float, digits: int | None = None) -> str:
    """A number with spaces between thousands, never in exponent form."""
    if not math.isfinite(value):
        return str(value)
    if digits is None:
        digits = 0 if value == int(value) and abs(value) < 1e15 else min(decimals(value), 9)
    return f"{value:,.{digits}f}".replace(",", " ")


def cell(one: Averaged, factor: float) -> str:
    """`mean ± ci95`, `mean [low, high]` where that is not even, `> bound` where censored, `-` for nothing.

    Of two seeds `mean (least to largest)`. Neither is narrower than what the mean may be off by, and a mean
    alone has no more digits than that leaves it.
    """
    if one.mean is None:
        return "-"
    value = one.mean / factor
    if one.censored:
        return f"> {number(value)}"
    coarse = one.resolution / factor
    if one.span is not None:
        low, high = (bound / factor for bound in one.span)
        return ranged(value, (min(low, value - coarse), max(high, value + coarse)))
    if one.interval is None or one.ci95 is None:
        return number(value, decimals(coarse, 1)) if coarse else number(value)
    if one.ci95 / factor < coarse:
        return spread(value, coarse)
    low, high = (bound / factor for bound in one.interval)
    wide = high - low > 2 * ROUNDING * abs(value)
    if wide and abs(low + high - 2 * value) > UNEVEN * (high - low):
        digits = spread_digits(value, (high - low) / 2)
        return f"{number(value, digits)} [{number(low, digits)}, {number(high, digits)}]"
    return spread(value, one.ci95 / factor)


def ranged(value: float, span: tuple[float, float]) -> str:
    """`value (least to largest)`."""
    low, high = span
    if high - low <= 2 * ROUNDING * abs(value):
        return number(value)
    digits = spread_digits(value, (high - low) / 2)
    if low and abs(low) < 10.0**-digits:
        digits = decimals(low, 1)  # where else it would be 0
    if low == int(low) and high == int(high):
        return f"{number(value, 0 if value == int(value) else 1)} ({number(low, 0)} to {number(high, 0)})"
    return f"{number(value, digits)} ({number(low, digits)} to {number(high, digits)})"


def spread(value: float, half: float) -> str:
    """`value ± half`, two digits of the half-width, four of the value at most where it is wide."""
    if half <= ROUNDING * abs(value):
        return f"{number(value)} ± 0" if value else "0"
    digits = spread_digits(value, half)
    if half < 10.0**-digits / 2:
        digits = decimals(half, 1)  # where else it would be ± 0
    return f"{number(value, digits)} ± {number(half, digits)}"


def spread_digits(value: float, half: float) -> int:
    """Digits after the point that show two of the half-width, and five of the value at most."""
    return min(decimals(half, 2), max(decimals(value, 5), 0)) if value else decimals(half, 2)


def time(picoseconds: float) -> str:
    """A time with its unit."""
    seconds = picoseconds * 1e-12
    if picoseconds == 0:
        return "0 s"
    factor, name = scale("s", [seconds])
    return f"{trimmed(seconds / factor)} {name}"


def trimmed(value: float) -> str:
    """Up to six significant digits, no trailing zeros."""
    text = number(value, min(decimals(value, 6), 9))
    return text.rstrip("0").rstrip(".") if "." in text else text


def count(value: float) -> str:
    """A large count, shortened: 12.3 M."""
    for factor, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= factor:
            return f"{value / factor:.3g} {name}"
    return f"{value:.0f}"


def listing(names: Iterable[str], limit: int = 8) -> str:
    """Names with commas, a long list cut with how many are left."""
    every = list(names)
    if len(every) <= limit:
        return ", ".join(every)
    return f"{', '.join(every[:limit])} and {len(every) - limit} more"


def joined(names: Sequence[str]) -> str:
    """All names: `a, b and c`."""
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


def seeds(values: Iterable[int]) -> str:
    """`1-5` for a run of seeds, a list otherwise."""
    every = sorted(values)
    if len(every) > 2 and every[-1] - every[0] == len(every) - 1:
        return f"{every[0]}-{every[-1]}"
    return listing([str(one) for one in every])
