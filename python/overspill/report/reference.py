"""Reference of scenario files and metrics as Markdown, made from the catalogue (`make docs`)."""

from collections.abc import Iterator, Sequence
from typing import Any

from overspill.engine import core
from overspill.results import metrics

PAGE_HEAD = """# Reference

`make docs` generates this page from the declarations that check scenarios; do not edit it.
`overspill explain NAME` prints any of these entries. [scenarios.md](scenarios.md) describes their use.
"""
# Titles of sections, in the order of a scenario file. Tables of the catalogue without an entry come last.
TABLE_ORDER = (
    ("", "The file"),
    ("topology", "[topology]"),
    ("topology.node", "[[topology.node]]"),
    ("topology.link", "[[topology.link]]"),
    ("framing", "[framing]"),
    ("host", "[host]"),
    ("switch", "[switch]"),
    ("switch.routing", "switch.routing"),
    ("switch.buffer", "switch.buffer"),
    ("switch.overflow", "switch.overflow"),
    ("switch.marking", "switch.marking"),
    ("switch.scheduler", "switch.scheduler"),
    ("override.where", "[[override]] where"),
    ("transport", "[transport]"),
    ("measure", "[measure]"),
    ("traffic", "[[traffic]]"),
    ("traffic.sizes", "Flow sizes"),
    ("event", "[[event]]"),
)

EntrySpec = dict[str, Any]


def build_page() -> str:
    """Returns the text of the reference page."""
    return "\n".join([PAGE_HEAD, *table_sections(core.catalogue()), *metrics_section()]) + "\n"


def table_sections(specs: Sequence[EntrySpec]) -> Iterator[str]:
    """Yields a section for every table of a scenario file, in `TABLE_ORDER`, and then for the rest."""
    known = dict(TABLE_ORDER)
    slots = [*known, *dict.fromkeys(spec["slot"] for spec in specs if spec["slot"] not in known)]
    for slot in slots:
        found = [spec for spec in specs if spec["slot"] == slot]
        if found:
            yield f"## {known.get(slot, slot)}\n"
        for spec in found:
            yield from entry_lines(spec)


def entry_lines(spec: EntrySpec) -> Iterator[str]:
    """Yields the Markdown lines for one kind of a slot, or for one table without kinds."""
    if spec["kind"]:
        yield f"### {spec['slot']}: `{spec['kind']}`\n"
    cite = f" ({spec['cite']})" if spec["cite"] else ""
    yield f"{escape_cell(spec['doc'])}{cite}\n"
    if not spec["params"]:
        if spec["kind"]:
            yield "No parameters.\n"
        return
    yield "| key | meaning | values | default |\n| --- | --- | --- | --- |"
    for param in spec["params"]:
        allowed = param.get("allowed") or param["type"]
        doc = escape_cell(param["doc"])
        yield f"| `{param['name']}` | {doc} | {escape_cell(allowed)} | {format_default(param)} |"
    yield ""


def format_default(param: EntrySpec) -> str:
    """Returns the default of a key as text."""
    if param.get("required", param["default"] is None):
        return "required"
    return f"`{param['default']}`" if param["default"] not in (None, "") else "none"


def metrics_section() -> Iterator[str]:
    """Yields the section of all metrics."""
    yield "## Metrics\n"
    yield "Their computation: [metrics.md](metrics.md).\n"
    yield "| name | unit | meaning | better |\n| --- | --- | --- | --- |"
    for one in metrics.ALL_METRICS:
        better = "" if one.better == "none" else one.better
        yield f"| `{one.name}` | {one.unit} | {escape_cell(one.doc)} | {better} |"


def escape_cell(text: str) -> str:
    """Returns a text in a form that a table cell can hold."""
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    print(build_page(), end="")
