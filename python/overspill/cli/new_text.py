"""Text of a scenario that `overspill new` prints: sections with commented settings."""

import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from overspill.engine import toml_values

LINE_LENGTH = 110
MOST_NAMES = 8  # of further parameters in a comment
BARE_VALUE = re.compile(r"true|false|[+-]?\d[\d_.]*(e[+-]?\d+)?|\[.*\]")

Spec = dict[str, Any]


@dataclass(eq=False)
class Setting:
    """Line with a key and its value in TOML; an optional setting is commented out and has its default."""

    key: str
    value: str
    note: str = ""
    optional: bool = False


@dataclass
class Section:
    """Table of a scenario: heading, comment above it, settings, and names of further parameters."""

    heading: str
    comment: str = ""
    settings: list[Setting] = field(default_factory=list)
    further: list[str] = field(default_factory=list)
    order: list[str] = field(default_factory=list)  # all parameters, as in the catalogue
    entry: str = ""  # name for `overspill explain`


def first_sentence(doc: str) -> str:
    """Returns the first sentence of a description; a colon before a capital letter also ends a sentence."""
    ends = (one.start() + 1 for one in re.finditer(r"[.:](?=\s+[A-Z`])", doc))
    text = next((doc[:end] for end in ends if is_balanced(doc[:end])), doc)
    return text.rstrip(":.") + "."


def describe_parameter(parameter: Spec) -> str:
    """Returns the first sentence about a parameter, with the values that a choice allows."""
    doc = first_sentence(parameter["doc"])
    values = re.findall(r"`(\w+)`", parameter["allowed"] or "") if parameter["type"] == "choice" else []
    if not values or all(f"`{value}`" in doc for value in values):
        return doc
    return f"{re.split(r': | [(]', doc)[0].rstrip('.')} ({', '.join(values)})."


def is_balanced(text: str) -> bool:
    """Returns true if every parenthesis that a text opens is closed."""
    return text.count("(") == text.count(")")


def shorten_note(note: str, most: int) -> str:
    """Returns a note without its last clauses if it is longer than `most` characters; as it is if that fails.

    A colon begins a list of cases, of which none may be left out.
    """
    if len(note) <= most:
        return note
    colon = note.find(": ")
    if 0 < colon < most and is_balanced(note[:colon]):
        return note[:colon] + "."
    ends = [one.start() for one in re.finditer(r"[,;] | \(", note[:most])]
    return next((note[:end] + "." for end in reversed(ends) if is_balanced(note[:end])), note)


def format_default(default: str) -> str:
    """Formats a default of the catalogue as TOML: numbers, flags and lists are bare, all else is text."""
    return default if BARE_VALUE.fullmatch(default) else toml_values.format_toml(default)


def format_comment(text: str) -> list[str]:
    """Returns the lines of a comment; empty for an empty text."""
    return [f"# {line}" for line in textwrap.wrap(text, LINE_LENGTH - 2, break_on_hyphens=False)]


def format_setting(setting: Setting, column: int, opened: bool = False) -> list[str]:
    """Returns the line of a setting, with its note at a column, or above it if the line would be too long."""
    mark = "# " if setting.optional and not opened else ""
    line = f"{mark}{setting.key} = {setting.value}"
    if not setting.note:
        return [line]
    start = f"{line:{column}}  # "
    note = shorten_note(setting.note, LINE_LENGTH - len(start))
    fits = len(start) + len(note) <= LINE_LENGTH
    return [start + note] if fits else [*format_comment(setting.note), line]


def note_column(settings: Iterable[Setting]) -> int:
    """Returns the column of the notes of a table."""
    widths = [len(one.key) + len(one.value) + (5 if one.optional else 3) for one in settings if one.note]
    return max((one for one in widths if one <= 46), default=0)


def describe_further(section: Section) -> list[str]:
    """Returns the comment that names the parameters without a line; empty without any."""
    names = section.further
    if not names:
        return []
    where = f"`overspill explain {section.entry}`"
    if len(names) > MOST_NAMES:
        return format_comment(f"{len(names)} more parameters: {where}.")
    return format_comment(f"More parameters: {', '.join(names)} ({where}).")


def render(header: str, sections: Sequence[Section], opened: Setting | None = None) -> str:
    """Returns the text of a scenario; the optional setting `opened` is not commented out."""
    blocks = [header] if header else []
    for section in sections:
        column = note_column(section.settings)
        lines = format_comment(section.comment) + ([section.heading] if section.heading else [])
        for setting in section.settings:
            lines += format_setting(setting, column, setting is opened)
        blocks.append("\n".join([*lines, *describe_further(section)]))
    return "\n\n".join(blocks) + "\n"
