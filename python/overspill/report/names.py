"""Generator of `results/names.py`, the names of tables and columns, from a small run (`make docs`)."""

from collections.abc import Iterable

from overspill.engine import core

SCENARIO = """
name = "names"
duration = "1us"
[topology]
kind = "star"
n = 2
[[traffic]]
name = "one"
kind = "permutation"
size = "1B"
"""
MODULE_TEMPLATE = '''"""Names of tables, drop reasons and numbered kinds in the core; made by `make docs`."""

TABLES = (
{tables}
)
DROP_REASONS = (
{reasons}
)
'''
TUPLE_TEMPLATE = """{what} = (
{names}
)
"""
DROP_PREFIX = "drop_"
# The core's names of these lists would be unclear as constants; other constants are named like their list.
CONSTANT_NAMES = {"doing": "PACKET_EVENTS", "fates": "FRAME_OUTCOMES"}


def format_module() -> str:
    """Returns the source text of `results/names.py`."""
    run = core.load_scenario("names.toml", SCENARIO, []).run("default", 1)
    while not run.advance(1 << 20)["done"]:
        pass
    tables = run.results()["tables"]
    reasons = (name.removeprefix(DROP_PREFIX) for name in tables["ports"] if name.startswith(DROP_PREFIX))
    numbered = core.list_numbered_kinds().items()
    more = (
        TUPLE_TEMPLATE.format(what=CONSTANT_NAMES.get(what, what.upper()), names=format_tuple_lines(names))
        for what, names in numbered
    )
    first = MODULE_TEMPLATE.format(tables=format_tuple_lines(tables), reasons=format_tuple_lines(reasons))
    return first + "".join(more)


def format_tuple_lines(names: Iterable[str]) -> str:
    """Returns names as the lines of a tuple in Python source."""
    return "\n".join(f'    "{name}",' for name in names)


if __name__ == "__main__":
    print(format_module(), end="")
