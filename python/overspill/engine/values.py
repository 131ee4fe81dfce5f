"""Values of an axis as users write them: lists, ranges, even and logarithmic spacing; their numbers."""

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction

from overspill.errors import BadInput, bounded

MOST = 100_000  # most values of one axis
LARGEST = 10**30  # bound on the magnitude of a quantity
NUMBER = r"[-+]?[0-9][0-9_]*(?:\.[0-9_]+)?(?:[eE][-+]?[0-9]+)?"
QUANTITY = re.compile(rf"({NUMBER})(?:\s*/\s*([1-9][0-9]*))?\s*([A-Za-z]*)")
RANGE = re.compile(rf"({NUMBER})\s*([A-Za-z]*)\.\.({NUMBER})\s*([A-Za-z]*):({NUMBER})\s*([A-Za-z]*)")
SPACED = re.compile(r"(lin|log)\((.*)\)")
OPENING, CLOSING = "([{", ")]}"
FORMS = "expected values such as 10,20,40 or 10KB..50KB:10KB or lin(1,5,9) or log(1KB,1MB,4)"
# Value of each unit, by dimension; numbers without a unit and packets are dimensions of their own.
UNITS: tuple[Mapping[str, Fraction], ...] = (
    {"ps": Fraction(1), "ns": Fraction(10**3), "us": Fraction(10**6), "ms": Fraction(10**9)}
    | {"s": Fraction(10**12)},
    {"bps": Fraction(1), "Kbps": Fraction(10**3), "Mbps": Fraction(10**6), "Gbps": Fraction(10**9)}
    | {"Tbps": Fraction(10**12)},
    {"B": Fraction(1), "KB": Fraction(10**3), "MB": Fraction(10**6), "GB": Fraction(10**9)}
    | {"KiB": Fraction(2**10), "MiB": Fraction(2**20), "GiB": Fraction(2**30)},
    {"": Fraction(1)},
    {"pkt": Fraction(1)},
)


def values(path: str, text: str) -> list[str]:
    """Returns the values of `a,b,c`, with ranges and spacings expanded."""
    found: list[str] = []
    for item in split(path, text):
        found += expand(path, item)
        if len(found) > MOST:
            raise refused(path, f"more than {MOST} values", f"expected {MOST} or fewer")
    return found


def split(path: str, text: str) -> list[str]:
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
        elif letter in OPENING:
            depth.append(CLOSING[OPENING.index(letter)])
        elif letter in CLOSING and (not depth or depth.pop() != letter):
            raise refused(path, f"{letter!r} that closes nothing", FORMS)
        if letter == "," and not depth and not quote:
            parts.append("")
        else:
            parts[-1] += letter
    if depth or quote:
        raise refused(path, f"no closing {quote or depth[-1]}", FORMS)
    parts = [part.strip() for part in parts]
    if not all(parts):
        raise refused(path, "an empty value", FORMS)
    return parts


def expand(path: str, item: str) -> list[str]:
    """Returns the values of one part: itself, or those of `a..b:step`, `lin(a,b,n)` or `log(a,b,n)`."""
    if match := RANGE.fullmatch(item):
        return stepped(path, item, match)
    if match := SPACED.fullmatch(item):
        return spaced(path, item, match[1] == "log", split(path, match[2]))
    return [item]


def stepped(path: str, item: str, match: re.Match[str]) -> list[str]:
    """Returns the values of `a..b:step`, with `b` included if a step reaches it."""
    unit = match[2]
    if (match[4], match[6]) != (unit, unit):
        raise refused(path, item, "expected both ends and the step in the same unit, such as 10KB..50KB:10KB")
    first, last, step = (end(path, item, match[at]) for at in (1, 3, 5))
    if step == 0 or (last - first) / step < 0:
        raise refused(path, item, "expected a step that leads from the first to the last")
    count = int((last - first) / step) + 1
    if count > MOST:
        raise refused(path, f"{item}, {count} values", f"expected {MOST} or fewer")
    return [f"{shown(first + at * step)}{unit}" for at in range(count)]


def spaced(path: str, item: str, logarithmic: bool, parts: list[str]) -> list[str]:
    """Returns `n` values from `a` to `b`, as whole numbers if both ends are written so."""
    rule = "expected two ends in the same unit and how many values, such as log(1KB,1000KB,4)"
    ends = [QUANTITY.fullmatch(part) for part in parts[:2]]
    if len(parts) != 3 or not parts[2].isdigit() or not 2 <= int(parts[2]) <= MOST:
        raise refused(path, item, rule)
    low, high = ends
    if low is None or high is None or low[2] or high[2] or low[3] != high[3]:
        raise refused(path, item, rule)
    first, last = end(path, item, low[1]), end(path, item, high[1])
    if logarithmic and (first <= 0 or last <= 0):
        raise refused(path, item, "expected two ends above 0 for log")
    made = [between(first, last, Fraction(at, int(parts[2]) - 1), logarithmic) for at in range(int(parts[2]))]
    made[0], made[-1] = first, last
    if low[1].lstrip("+-").isdigit() and high[1].lstrip("+-").isdigit():
        made = [Fraction(round(one)) for one in made]
    else:
        made = [Fraction(f"{float(one):.6g}") for one in made]
    return [f"{shown(one)}{low[3]}" for one in dict.fromkeys(made)]


def between(first: Fraction, last: Fraction, part: Fraction, logarithmic: bool) -> Fraction:
    """Returns the value at a share `part` of the distance from `first` to `last`."""
    if not logarithmic:
        return first + (last - first) * part
    # Rounded to 12 digits, so that the result does not depend on the machine's `pow`.
    return Fraction(f"{float(first) * (float(last) / float(first)) ** float(part):.12g}")


def exact(text: str) -> Fraction:
    """Returns a written number exactly."""
    return Fraction(text.replace("_", ""))


def end(path: str, item: str, text: str) -> Fraction:
    """Returns a written number; raises `BadInput` if its magnitude is too large or too small."""
    if endless(text) or abs(found := exact(text)) > LARGEST or 0 < abs(found) < 1 / LARGEST:
        raise refused(path, item, "expected numbers up to 1e30, and from 1e-30 on where they are not 0")
    return found


def endless(text: str) -> bool:
    """Returns true if a number has too many digits, or too large an exponent, to be written out."""
    return len(text) > 60 or len(text.lower().partition("e")[2]) > 4


def shown(number: Fraction) -> str:
    """Formats a number as whole, or with as many decimals as it needs."""
    if number.denominator == 1:
        return str(number.numerator)
    return (
        f"{float(number):.15g}" if "e" not in f"{float(number):.15g}" else f"{float(number):.18f}".rstrip("0")
    )


def bare(text: str) -> str:
    """Returns a value without the quotes around it, if it has no other quotes or escapes."""
    inside = text[1:-1]
    plain = len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'" and not set(inside) & set("\"'\\")
    return inside if plain and inside else text


def numbers(texts: Iterable[str]) -> tuple[list[float], str] | None:
    """Returns values as numbers in the unit of the first; `None` if their dimensions differ."""
    matches = [QUANTITY.fullmatch(text.strip()) for text in texts]
    found: list[tuple[Fraction, str]] = []
    for match in matches:
        if match is None or endless(match[1]):
            return None
        found.append((exact(match[1]) / int(match[2] or 1), match[3]))
    unit = found[0][1]
    family = next((family for family in UNITS if unit in family), None)
    if family is None or any(one not in family for _, one in found):
        return None
    worth = [number * family[one] / family[unit] for number, one in found]
    return ([float(one) for one in worth], unit) if all(abs(one) <= LARGEST for one in worth) else None


def refused(path: str, found: str, rule: str) -> BadInput:
    """Returns the error for a wrong value of an axis."""
    return BadInput(f"--over: {bounded(path)}: found {bounded(found)}; {rule}")
