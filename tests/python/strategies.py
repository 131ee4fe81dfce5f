"""Strategies that several files of property tests share."""

import string
from fractions import Fraction

from hypothesis import strategies as st

# Not all of Unicode: Hypothesis would spend seconds on a table of its characters.
LETTERS = string.printable + "\0\x7fµé²①\u2028\u202e😀"
TEXTS = st.text(LETTERS)
SCALARS = TEXTS | st.integers(-(2**63), 2**63 - 1) | st.booleans() | st.floats(allow_nan=False)
# Values of TOML, without dates, times and NaN.
TOML_VALUES = st.recursive(
    SCALARS, lambda one: st.lists(one, max_size=3) | st.dictionaries(TEXTS, one, max_size=3)
)


def decimal_text(number: Fraction) -> str:
    """Returns all digits of a decimal fraction of at most 40 decimals."""
    digits = str(number.numerator * 10**40 // number.denominator).rjust(41, "0")
    return f"{digits[:-40]}.{digits[-40:]}".rstrip("0").rstrip(".")
