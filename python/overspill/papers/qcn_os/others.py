"""Keep-alive, and two samples where one flow fills the buffer: what the text says of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pyarrow as pa

from overspill import columns
from overspill.papers.common import measured
from overspill.papers.qcn_os.sampling import share
from overspill.papers.qcn_os.schemes import KEEP_ALIVE, OS, TWO, Seen, Sweeps, of, paused
from overspill.papers.spec import Figure, Measured

COMPARED = ("time_ps", "node", "port", "flow", "feedback", "q_off", "q_delta")


def everywhere(run: Seen) -> float:
    """How long adapters are paused after the onset, all added up, ms."""
    return sum(paused(one) for one in run.all_pauses.values())


def keep_alive(sweeps: Sweeps) -> Iterator[Measured]:
    """Section III and footnote 8."""
    runs = sweeps["hotspot"]
    on, off = (of(runs, one, everywhere) for one in (KEEP_ALIVE, OS))
    note = f"{on.mean():.4g} and {off.mean():.4g} ms"
    yield measured("QCN-OS with keep-alive less QCN-OS", "pause_time", on - off, note)


def differ(one: pa.Table, other: pa.Table) -> int:
    """How many CNMs of either are none of the other."""
    first, second = (
        Counter(zip(*(columns.numbers(table, name).tolist() for name in COMPARED), strict=True))
        for table in (one, other)
    )
    return ((first - second) + (second - first)).total()


def two_samples(sweeps: Sweeps) -> Iterator[Measured]:
    """Section V-A."""
    runs = sweeps["one_flow"]
    ones, others = (runs.tables("notices", variant) for variant in (OS, TWO))
    found = [float(differ(*pair)) for pair in zip(ones, others, strict=True)]
    note = f"of {sum(one.num_rows for one in ones) / len(ones):.5g} in each run"
    yield measured("one flow at each input", "cnms_that_differ", found, note)
    hotspot = sweeps["hotspot"]
    two, one = (of(hotspot, variant, share) for variant in (TWO, OS))
    note = f"{two.mean():.3g} and {one.mean():.3g} %"
    yield measured("two samples less QCN-OS, figure 6", "share_of_cnms_to_f1", two - one, note)


FIGURES: dict[str, Figure] = {"secIII": Figure(keep_alive), "secV-A": Figure(two_samples)}
