"""Flow files of ABQ's network of 1000 hosts, which the scenarios read.

Figure 5c and table 1 do not say which hosts send to which. The article's older public code shuffles the hosts
into five groups. Each group has one receiver, one sender of a long flow, and 198 senders of one short flow
each. The short flows of a group start together (`wave`), or each at its own time (`apart`). All draws use
uniform numbers only, so that every version of the library draws the same flows.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

HOSTS = 1000
MEANS = (300, 400, 500, 600, 700)  # ms, means of the exponential start times of the short flows of each group
START = 10_000_000  # ns
LONG = 30_000_000  # bytes
SHAPE, MEAN = 1.2, 50_000  # of the Pareto sizes of short flows, in bytes
DRAWS = {"wave": 20, "apart": 10}
COLUMNS = "start,source,destination,bytes,query"


def rows(kind: str, draw: int) -> Iterator[str]:
    """Yields a line for each flow: start in ns, source, destination, bytes, and the group of a short flow."""
    random = np.random.Generator(np.random.Philox(key=draw))
    hosts = np.argsort(random.random(HOSTS), kind="stable").reshape(len(MEANS), -1)
    for group, (mean, members) in enumerate(zip(MEANS, hosts, strict=True)):
        receiver, long, *others = members.tolist()
        yield f"{START},{long},{receiver},{LONG},"
        times, sizes = 1 - random.random(len(others)), 1 - random.random(len(others))
        waits = -1e6 * mean * np.log(times if kind == "apart" else times[:1].repeat(len(others)))
        smallest = MEAN * (SHAPE - 1) / SHAPE
        for sender, wait, size in zip(others, waits, smallest * sizes ** (-1 / SHAPE), strict=True):
            yield f"{START + round(wait)},{sender},{receiver},{round(size)},{group}"


def text(kind: str, draw: int) -> str:
    """Returns the file of a draw."""
    return "\n".join((COLUMNS, *rows(kind, draw), ""))


INPUTS = {
    f"waves/{kind}_{draw}.csv": partial(text, kind, draw)
    for kind, count in DRAWS.items()
    for draw in range(1, count + 1)
}
# SHA-256 of all files in this order. Logarithms of another machine may differ in the last bit.
DIGEST = "9692942b28e601f13330f75b451e4d7eb1506c94297fc52c8c246c6def69a238"
