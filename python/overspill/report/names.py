"""Generator of the module `results/names.py`, from the tables and columns of a small run (`make docs`)."""

from collections.abc import Iterable

from overspill.engine import core

RUN = """
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
MODULE = '''"""Names of tables, reasons and numbered kinds in the core; made by `make docs`."""

TABLES = (
{tables}
)
REASONS = (
{reasons}
)
'''
NUMBERED = """{what} = (
{names}
)
"""
DROP = "drop_"


def module() -> str:
    """Returns the text of the whole module."""
    run = core.scenario("names.toml", RUN, []).run("default", 1)
    while not run.advance(1 << 20)["done"]:
        pass
    tables = run.results()["tables"]
    reasons = (name.removeprefix(DROP) for name in tables["ports"] if name.startswith(DROP))
    numbered = core.numbered().items()
    more = (NUMBERED.format(what=what.upper(), names=lines(names)) for what, names in numbered)
    return MODULE.format(tables=lines(tables), reasons=lines(reasons)) + "".join(more)


def lines(names: Iterable[str]) -> str:
    """Returns strings as the lines of a tuple."""
    return "\n".join(f'    "{name}",' for name in names)


if __name__ == "__main__":
    print(module(), end="")
