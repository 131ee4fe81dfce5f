"""Python values as TOML on one line."""

import json
import numbers
from collections.abc import Iterable, Mapping

from overspill.errors import BadInput

MAX_LEVELS = 32  # as in the core; here the bound also ends a list that contains itself


def format_setting(value: object) -> str:
    """Formats a value as `--set` and `--over` take it: text unchanged, all else as TOML."""
    return value if isinstance(value, str) else format_toml(value)


def format_toml(value: object, levels: int = 0) -> str:
    """Formats a value as TOML, at a nesting depth of `levels`.

    Raises `BadInput` for a value without a form in TOML, or one that is nested too deep.
    """
    if levels > MAX_LEVELS:
        found = f"tables and lists nested more than {MAX_LEVELS} levels deep"
        raise BadInput(f"found {found}; expected at most {MAX_LEVELS}")
    if isinstance(value, Mapping):
        pairs = (f"{format_toml(str(key))} = {format_toml(each, levels + 1)}" for key, each in value.items())
        return "{ " + ", ".join(pairs) + " }"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, numbers.Real):
        return str(value)
    if isinstance(value, Iterable):
        return "[" + ", ".join(format_toml(each, levels + 1) for each in value) + "]"
    raise BadInput(f"found {value!r}; expected texts, numbers, lists and tables")
