"""Python values as TOML, in one line."""

import json
import numbers
from collections.abc import Iterable, Mapping

from overspill.errors import BadInput


def written(value: object) -> str:
    """A value as `--set` and `--over` take it: texts as they are, all else as TOML."""
    return value if isinstance(value, str) else toml(value)


def toml(value: object) -> str:
    """A value as TOML; `BadInput` of what TOML has no form for."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{toml(str(key))} = {toml(each)}" for key, each in value.items()) + " }"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, numbers.Real):
        return str(value)
    if isinstance(value, Iterable):
        return "[" + ", ".join(toml(each) for each in value) + "]"
    raise BadInput(f"found {value!r}; expected texts, numbers, lists and tables")
