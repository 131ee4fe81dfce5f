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

HOST_COUNT = 1000
MEAN_STARTS_MS = (
    300,
    400,
    500,
    600,
    700,
)  # ms, means of the exponential start times of the short flows of each group
START_NS = 10_000_000  # ns
LONG_FLOW_BYTES = 30_000_000  # bytes
PARETO_SHAPE, MEAN_BYTES = 1.2, 50_000  # of the Pareto sizes of short flows, in bytes
DRAW_COUNTS = {"wave": 20, "apart": 10}
COLUMNS = "start,source,destination,bytes,query"


def flow_lines(kind: str, draw: int) -> Iterator[str]:
    """Yields a line for each flow: start in ns, source, destination, bytes, and group if it is short."""
    random = np.random.Generator(np.random.Philox(key=draw))
    hosts = np.argsort(random.random(HOST_COUNT), kind="stable").reshape(len(MEAN_STARTS_MS), -1)
    for group, (mean, members) in enumerate(zip(MEAN_STARTS_MS, hosts, strict=True)):
        receiver, long, *others = members.tolist()
        yield f"{START_NS},{long},{receiver},{LONG_FLOW_BYTES},"
        times, sizes = 1 - random.random(len(others)), 1 - random.random(len(others))
        waits = -1e6 * mean * np.log(times if kind == "apart" else times[:1].repeat(len(others)))
        smallest = MEAN_BYTES * (PARETO_SHAPE - 1) / PARETO_SHAPE
        for sender, wait, size in zip(others, waits, smallest * sizes ** (-1 / PARETO_SHAPE), strict=True):
            yield f"{START_NS + round(wait)},{sender},{receiver},{round(size)},{group}"


def trace_text(kind: str, draw: int) -> str:
    """Returns the text of the flow file for one random draw of flows."""
    return "\n".join((COLUMNS, *flow_lines(kind, draw), ""))


INPUTS = {
    f"waves/{kind}_{draw}.csv": partial(trace_text, kind, draw)
    for kind, count in DRAW_COUNTS.items()
    for draw in range(1, count + 1)
}
# SHA-256 of all files in this order. It differs if the last bit of a machine's logarithms differs and changes
# a flow.
DIGEST = "9692942b28e601f13330f75b451e4d7eb1506c94297fc52c8c246c6def69a238"
