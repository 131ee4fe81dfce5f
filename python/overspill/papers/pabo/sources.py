"""Frames that come back to their sources, and sources that lower their rate by them: section II-G."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from overspill import columns
from overspill.papers.pabo.common import load, measured, names
from overspill.papers.pabo.fat_tree import PABO, Sweeps
from overspill.papers.spec import Figure, Measured, Point, Runs

WINDOW = "transport.receive_window"
SILENT, INFORMED = "silent", "informed"
# Of `chain_tree`: the first port of an edge switch leads to its host, the second to the root.
EDGES = {"H1": "s0", "H2": "s1", "H3": "s2"}
TO_HOST, TO_ROOT = 0, 1


def returned(runs: Runs, table: pa.Table) -> dict[str, int]:
    """Frames that a source's switch bounced back to it, by source, from `ports`."""
    node, port = columns.numbers(table, "node"), columns.numbers(table, "port")
    found = {}
    for host, switch in EDGES.items():
        here = node == runs.node(switch)
        bounced = columns.numbers(table, "bounced")[here & (port == TO_ROOT)].sum()
        lost = columns.numbers(table, "drop_bounce_queue_full")[here & (port == TO_HOST)].sum()
        found[host] = int(bounced) - int(lost)
    return found


def persistent(sweeps: Sweeps) -> Iterator[Measured]:
    """Which sources get frames back, and how many fewer where these inform them."""
    raw = sweeps["severity"]
    for name in ("mild", "severe"):
        tables = raw.tables("ports", PABO, load(raw, name))
        yield Measured(name, "sources_with_returned_frames", [names(returned(raw, one)) for one in tables])
    runs = sweeps["persistent"]
    found = {
        (window(point), variant): [returned(runs, one) for one in runs.tables("ports", variant, point)]
        for point in runs.points
        for variant in (SILENT, INFORMED)
    }
    sources = [names(one) for one in found["600 KB", SILENT]]
    yield Measured("600 KB, not informed", "sources_with_returned_frames", sources)
    spared = {}
    for point in runs.points:
        name = window(point)
        for variant, told in ((SILENT, "not informed"), (INFORMED, "informed")):
            yield measured(f"{name}, {told}", "drops", runs.metric("drops", variant, point))
        silent, informed = (
            np.array([sum(one.values()) for one in found[name, variant]]) for variant in (SILENT, INFORMED)
        )
        spared[name] = silent - informed
        told = f"{silent.mean():.0f} frames, {informed.mean():.0f} where sources are informed"
        yield measured(name, "returned_frames_informed_less_not", informed - silent, told)
    yield measured("600 KB less 300 KB", "frames_spared", spared["600 KB"] - spared["300 KB"])


def window(point: Point) -> str:
    """The window of a point as rows name it: `300 KB`."""
    return f"{point[WINDOW].removesuffix('KB')} KB"


FIGURES: dict[str, Figure] = {"claim-persistent": Figure(persistent)}
