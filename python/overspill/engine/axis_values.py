"""Values of an axis as users write them (lists, ranges, even or logarithmic spacing), and their numbers."""

import itertools
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction

from overspill.errors import BadInput, cut_user_text

MAX_VALUES = 100_000  # most values of one axis
MAX_MAGNITUDE = 10**30  # bound on the magnitude of a quantity
NUMBER_PATTERN = r"[-+]?[0-9][0-9_]*(?:\.[0-9_]+)?(?:[eE][-+]?[0-9]+)?"
QUANTITY_PATTERN = re.compile(rf"({NUMBER_PATTERN})(?:\s*/\s*([1-9][0-9]*))?\s*([A-Za-z]*)")
RANGE_PATTERN = re.compile(
    rf"({NUMBER_PATTERN})\s*([A-Za-z]*)\.\.({NUMBER_PATTERN})\s*([A-Za-z]*):({NUMBER_PATTERN})\s*([A-Za-z]*)"
)
SPACING_PATTERN = re.compile(r"(lin|log)\((.*)\)")
OPENING_BRACKETS, CLOSING_BRACKETS = "([{", ")]}"
EXPECTED_FORMS = "expected values such as 10,20,40 or 10KB..50KB:10KB or lin(1,5,9) or log(1KB,1MB,4)"
# Units of one dimension convert into each other and so share an axis of numbers. Packets, and numbers without
# a unit, convert into nothing else: each is a dimension of its own.
UNIT_DIMENSIONS: tuple[Mapping[str, Fraction], ...] = (
    {"ps": Fraction(1), "ns": Fraction(10**3), "us": Fraction(10**6), "ms": Fraction(10**9)}
    | {"s": Fraction(10**12)},
    {"bps": Fraction(1), "Kbps": Fraction(10**3), "Mbps": Fraction(10**6), "Gbps": Fraction(10**9)}
    | {"Tbps": Fraction(10**12)},
    {"B": Fraction(1), "KB": Fraction(10**3), "MB": Fraction(10**6), "GB": Fraction(10**9)}
    | {"KiB": Fraction(2**10), "MiB": Fraction(2**20), "GiB": Fraction(2**30)},
    {"": Fraction(1)},
    {"pkt": Fraction(1)},
)


def parse_values(path: str, text: str) -> list[str]:
    """Returns the values of `a,b,c`, with ranges and spacings expanded."""
    found: list[str] = []
    for item in split_at_commas(path, text):
        found += expand_item(path, item)
        if len(found) > MAX_VALUES:
            raise value_error(path, f"more than {MAX_VALUES} values", f"expected {MAX_VALUES} or fewer")
    return found


def split_at_commas(path: str, text: str) -> list[str]:
    """Splits a text at commas outside of quotes and brackets."""
    parts, depth, quote, escaped = [""], list[str](), "", False
    for letter in text:
        if quote:
            escaped, quote = (
                letter == "\\" and quote == '"' and not escaped,
                "" if letter == quote and not escaped else quote,
            )
        elif letter in "\"'":
            quote = letter
        elif letter in OPENING_BRACKETS:
            depth.append(CLOSING_BRACKETS[OPENING_BRACKETS.index(letter)])
        elif letter in CLOSING_BRACKETS and (not depth or depth.pop() != letter):
            raise value_error(path, f"{letter!r} that closes nothing", EXPECTED_FORMS)
        if letter == "," and not depth and not quote:
            parts.append("")
        else:
            parts[-1] += letter
    if depth or quote:
        raise value_error(path, f"no closing {quote or depth[-1]}", EXPECTED_FORMS)
    parts = [part.strip() for part in parts]
    if not all(parts):
        raise value_error(path, "an empty value", EXPECTED_FORMS)
    return parts


def expand_item(path: str, item: str) -> list[str]:
    """Returns the values of one item: itself, or those of `a..b:step`, `lin(a,b,n)` or `log(a,b,n)`."""
    if match := RANGE_PATTERN.fullmatch(item):
        return expand_range(path, item, match)
    if match := SPACING_PATTERN.fullmatch(item):
        return expand_spacing(path, item, match[1] == "log", split_at_commas(path, match[2]))
    return [item]


def expand_range(path: str, item: str, match: re.Match[str]) -> list[str]:
    """Returns the values of `a..b:step`, with `b` included if a step reaches it."""
    unit = match[2]
    if (match[4], match[6]) != (unit, unit):
        raise value_error(
            path, item, "expected both ends and the step in the same unit, such as 10KB..50KB:10KB"
        )
    first, last, step = (parse_end(path, item, match[at]) for at in (1, 3, 5))
    if step == 0 or (last - first) / step < 0:
        raise value_error(path, item, "expected a step that leads from the first to the last")
    count = int((last - first) / step) + 1
    if count > MAX_VALUES:
        raise value_error(path, f"{item}, {count} values", f"expected {MAX_VALUES} or fewer")
    return [f"{format_fraction(first + at * step)}{unit}" for at in range(count)]


def expand_spacing(path: str, item: str, logarithmic: bool, parts: list[str]) -> list[str]:
    """Expands `lin(a,b,n)` or `log(a,b,n)` to at most `n` different values, both ends exactly included.

    Values are whole numbers if both ends are written as whole numbers. Otherwise, those between the ends are
    rounded to six significant digits; one that rounds to an end, or past it, is left out.
    """
    rule = "expected both ends in the same unit and the number of values, such as log(1KB,1000KB,4)"
    ends = [QUANTITY_PATTERN.fullmatch(part) for part in parts[:2]]
    if len(parts) != 3 or not parts[2].isdigit() or not 2 <= int(parts[2]) <= MAX_VALUES:
        raise value_error(path, item, rule)
    low, high = ends
    if low is None or high is None or low[2] or high[2] or low[3] != high[3]:
        raise value_error(path, item, rule)
    first, last = parse_end(path, item, low[1]), parse_end(path, item, high[1])
    if logarithmic and (first <= 0 or last <= 0):
        raise value_error(path, item, "expected two ends above 0 for log")
    count = int(parts[2]) - 1
    inner = [interpolate(first, last, Fraction(at, count), logarithmic) for at in range(1, count)]
    if low[1].lstrip("+-").isdigit() and high[1].lstrip("+-").isdigit():
        inner = [Fraction(round(one)) for one in inner]
    else:
        inner = [Fraction(f"{float(one):.6g}") for one in inner]
    # If the ends differ only after the sixth digit, rounding may move a value to an end or past it.
    between = [one for one in inner if min(first, last) < one < max(first, last)]
    return [f"{format_fraction(one)}{low[3]}" for one in dict.fromkeys([first, *between, last])]


def interpolate(first: Fraction, last: Fraction, part: Fraction, logarithmic: bool) -> Fraction:
    """Returns the value at the share `part` of the way from `first` to `last`, linear or logarithmic."""
    if not logarithmic:
        return first + (last - first) * part
    # Rounded to 12 digits, so that the result does not depend on the machine's `pow`.
    return Fraction(f"{float(first) * (float(last) / float(first)) ** float(part):.12g}")


def parse_exact(text: str) -> Fraction:
    """Parses a number into an exact fraction."""
    return Fraction(text.replace("_", ""))


def parse_end(path: str, item: str, text: str) -> Fraction:
    """Parses a number exactly; raises `BadInput` if its magnitude is too large or too small."""
    if (
        is_too_long(text)
        or abs(found := parse_exact(text)) > MAX_MAGNITUDE
        or 0 < abs(found) < 1 / MAX_MAGNITUDE
    ):
        raise value_error(path, item, "expected numbers whose absolute value is 0, or from 1e-30 to 1e30")
    return found


def is_too_long(text: str) -> bool:
    """Returns true if a number has too many digits, or too large an exponent, to be written out."""
    return len(text) > 60 or len(text.lower().partition("e")[2]) > 4


def format_fraction(number: Fraction) -> str:
    """Formats a number that has finitely many decimals, with all of them and without an exponent."""
    places = next(count for count in itertools.count() if 10**count % number.denominator == 0)
    return f"{Decimal(f'{number * 10**places}e-{places}'):f}"


def strip_quotes(text: str) -> str:
    """Returns a value without the quotes around it, if it has no other quotes or escapes."""
    inside = text[1:-1]
    plain = len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'" and not set(inside) & set("\"'\\")
    return inside if plain and inside else text


def numbers_in_one_unit(texts: Iterable[str]) -> tuple[list[float], str] | None:
    """Parses values as numbers in the unit of the first one; `None` if their dimensions differ."""
    matches = [QUANTITY_PATTERN.fullmatch(text.strip()) for text in texts]
    found: list[tuple[Fraction, str]] = []
    for match in matches:
        if match is None or is_too_long(match[1]):
            return None
        found.append((parse_exact(match[1]) / int(match[2] or 1), match[3]))
    unit = found[0][1]
    family = next((family for family in UNIT_DIMENSIONS if unit in family), None)
    if family is None or any(one not in family for _, one in found):
        return None
    worth = [number * family[one] / family[unit] for number, one in found]
    return ([float(one) for one in worth], unit) if all(abs(one) <= MAX_MAGNITUDE for one in worth) else None


def in_base_unit(text: str) -> tuple[Fraction, str] | None:
    """Parses a quantity into ps, bps, B, pkt or a plain number, with that unit; `None` if it is none."""
    match = QUANTITY_PATTERN.fullmatch(text.strip())
    if match is None or is_too_long(match[1]):
        return None
    family = next((family for family in UNIT_DIMENSIONS if match[3] in family), None)
    if family is None:
        return None
    return parse_exact(match[1]) / int(match[2] or 1) * family[match[3]], next(iter(family))


def value_error(path: str, found: str, rule: str) -> BadInput:
    """Returns the error for a wrong value of an axis."""
    return BadInput(f"--over: {cut_user_text(path)}: found {cut_user_text(found)}; {rule}")
