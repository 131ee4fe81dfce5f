"""The flows of ABQ's network of 1000 hosts: files that scenarios read.

Figure 5c and table 1 do not say who sends to whom. The article's older public code shuffles the hosts into
five groups; in each there is one receiver, one sender of a long flow, and 198 others, each of which sends
one short flow: all at the same instant (`wave`), or each in its own time (`apart`). Uniform numbers alone are
drawn, so that another version of a library draws the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

HOSTS = 1000
MEANS = (300, 400, 500, 600, 700)  # ms, of the exponential time at which the short flows of a group start
START = 10_000_000  # ns
LONG = 30_000_000  # bytes
SHAPE, MEAN = 1.2, 50_000  # of the short flows' sizes, in bytes
DRAWS = {"wave": 20, "apart": 10}
COLUMNS = "start,source,destination,bytes,query"


def rows(kind: str, draw: int) -> Iterator[str]:
    """A line a flow: when it starts in ns, who sends to whom, how much, and the group of a short flow."""
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
    """The file of a draw."""
    return "\n".join((COLUMNS, *rows(kind, draw), ""))


INPUTS = {
    f"waves/{kind}_{draw}.csv": partial(text, kind, draw)
    for kind, count in DRAWS.items()
    for draw in range(1, count + 1)
}
# SHA-256 of all of them, one after the other: logarithms of another machine may differ in the last bit.
DIGEST = "9692942b28e601f13330f75b451e4d7eb1506c94297fc52c8c246c6def69a238"
