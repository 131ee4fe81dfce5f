"""Tests that pages of mechanisms state the catalogue's defaults, and leave no parameter out."""

import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from overspill.engine import core
from overspill.engine.axis_values import QUANTITY_PATTERN, UNIT_DIMENSIONS

PAGES = Path(__file__).parents[1] / "docs/mechanisms"
# Catalogue entries of each page. A stated default must match one of those that have its key.
ENTRIES = {
    "abq": ("switch.ack_hold.abq",),
    "bounce": ("switch.overflow.bounce", "host.bounce_signal.window_cut", "host"),
    "cioq": ("switch",),
    "dcqcn": ("host.reaction.dcqcn",),
    "detour": ("switch.overflow.detour", "transport.linux"),
    "ecn_threshold": ("switch.marking.ecn_threshold",),
    "buffer": ("switch.buffer.shared", "switch.buffer.per_port"),
    "fib": ("switch.fib.learning",),
    "memory": ("switch.buffer.pools",),
    "hosts": ("transport.linux",),
    "hosts_2011": ("transport.linux_2_6_38", "transport.linux_2_6_38_dctcp"),
    "pack": ("transport.linux",),
    "pause": ("switch.pause.pfc",),
    "pfabric": ("transport.pfabric",),
    "qcn": ("host.reaction.qcn", "switch.notify.qcn"),
    "red": ("switch.marking.red",),
    "roce": ("transport.roce", "framing.ethernet"),
    "scheduler": ("switch.scheduler.round_robin",),
    "trim": ("switch.overflow.trim",),
}
# Keys whose default is described in words without a number: page and key, with the reason for not comparing.
WORDS = {
    ("bounce", "host.bounce_signal"): "a slot: the kind that fills it",
    ("cioq", "arbiter"): "a slot: the kind that fills it",
    ("roce", "header"): "a key of `framing` that a note proposes",
    ("dcqcn", "r_ai"): "a share of the rate of the link",
    ("dcqcn", "r_hai"): "a share of the rate of the link",
    ("dcqcn", "min_rate"): "a share of the rate of the link",
    ("memory", "class_to_group"): "a list: the number of the class",
    ("memory", "class_to_queue"): "a list: the number of the class",
    ("memory", "pipes"): "an empty list: pipe 0",
    ("memory", "slice_of"): "an empty list: the only slice",
}
# Pages that list every parameter of these entries.
WHOLE = {
    page: entries[:1]
    for page, entries in ENTRIES.items()
    if page not in ("cioq", "hosts", "hosts_2011", "pack", "pfabric", "roce", "buffer", "qcn")
} | {"qcn": ENTRIES["qcn"], "buffer": ENTRIES["buffer"]}


def catalogue() -> dict[str, dict[str, Any]]:
    """Returns the parameters by entry and name."""
    specs = core.catalogue()
    return {
        f"{spec['slot']}.{spec['kind']}".strip("."): {one["name"]: one for one in spec["params"]}
        for spec in specs
    }


def table_cells(line: str) -> list[str]:
    """Returns the cells of a table row."""
    return [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]


def read_tables(text: str) -> Iterator[tuple[list[str], list[list[str]]]]:
    """Yields the tables of a page: the head, and the rows."""
    for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        head, _, *rows = block.splitlines()
        yield table_cells(head), [table_cells(row) for row in rows]


def stated_defaults(page: str) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yields the keys with the defaults that a page states, and the entries that may have them."""
    text = (PAGES / f"{page}.md").read_text()
    entries = ENTRIES[page]
    for head, rows in read_tables(text):
        if not any(cell == "default" for cell in head):
            continue
        at = head.index("default")
        slot = re.findall(r"`([\w.]+)`", head[0])
        of = tuple(one for one in entries if one.startswith(slot[0])) if slot else entries
        for row in rows:
            written = row[at] if at < len(row) else ""
            if pairs := re.findall(r"`(\w+) = ([^`]+)`", written):
                yield from ((key, value.strip('"'), of) for key, value in pairs)
                continue
            keys = re.findall(r"`([\w.]+)`", row[0] if page != "pfabric" else row[1])
            yield from (
                (key, value, of) for key, value in zip(keys, split_values(written, len(keys)), strict=True)
            )
    for key, value in re.findall(r"`(\w+)` \([^()]*default `?(\w+)`?\)", text):
        yield key, value, entries
    for key, value in re.findall(r"`(\w+)` \([^()]*\), default `(\w+)`", text):
        yield key, value, entries


def split_values(written: str, count: int) -> list[str]:
    """Returns the defaults of the keys that share a row; one default may apply to all."""
    whole = written.partition(":")[0].partition(" (")[0]
    parts = [part.strip(" `") for part in re.split(r",\s|;\s", whole)]
    if count == 1:
        return [parts[0]]
    if len(parts) == count:
        unit = re.search(r"[ ]?[A-Za-z/]+$", parts[-1])
        return [part if not unit or not re.fullmatch(r"[\d.]+", part) else part + unit[0] for part in parts]
    return parts * count


def parse_quantity(text: str) -> tuple[Fraction, int] | str:
    """Returns a number with the family of its unit, so that `15 ms` and `15ms` are equal.

    Other texts are returned unchanged.
    """
    plain = text.replace("b/s", "bps").replace(",", "").strip()
    found = QUANTITY_PATTERN.fullmatch(plain)
    if found is None:
        return text
    number = Fraction(found[1].replace("_", "")) / int(found[2] or 1)
    at = next((at for at, family in enumerate(UNIT_DIMENSIONS) if found[3] in family), None)
    return text if at is None else (number * UNIT_DIMENSIONS[at][found[3]], at)


STATED_DEFAULTS = [(page, *one) for page in ENTRIES for one in stated_defaults(page)]


@pytest.mark.parametrize(
    ("page", "key", "written", "entries"), STATED_DEFAULTS, ids=lambda one: str(one)[:40]
)
def test_stated_defaults_are_those_of_the_catalogue(
    page: str, key: str, written: str, entries: tuple[str, ...]
) -> None:
    if (page, key) in WORDS:
        return
    known = catalogue()
    found = [known[entry][key] for entry in entries if key in known[entry]]
    assert found, f"{page}: `{key}` is no key of {', '.join(entries)}"
    defaults = [one["default"] for one in found]
    same = [
        written in ("none", "") if default is None else parse_quantity(written) == parse_quantity(default)
        for default in defaults
    ]
    # Both buffers of a page have a `size`.
    assert any(same), f"{page}: the default of `{key}` is {defaults[0]!r}, not {written!r}"


def test_every_page_of_a_mechanism_is_compared_or_has_no_defaults() -> None:
    others = {path.stem for path in PAGES.glob("*.md")} - set(ENTRIES)
    told = {
        page
        for page in others
        if re.search(r"^\|.*\bdefault\b.*\|$", (PAGES / f"{page}.md").read_text(), re.M)
    }
    assert told == set()
    assert len(STATED_DEFAULTS) > 90
    assert {(page, key) for page, key, *_ in STATED_DEFAULTS} >= set(WORDS)


@pytest.mark.parametrize("page", WHOLE)
def test_a_page_names_every_parameter_of_its_mechanism(page: str) -> None:
    text, known = (PAGES / f"{page}.md").read_text(), catalogue()
    for entry in WHOLE[page]:
        missing = [
            name for name in known[entry] if not re.search(rf"`(?:[\w.]+\.)?{re.escape(name)}\b", text)
        ]
        assert missing == [], entry
