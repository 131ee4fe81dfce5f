"""Section 6: Ethernet flow control beside DIBS, its thresholds, and deadlock."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from overspill import columns
from overspill.papers.common import jackknife, measured, quotient
from overspill.papers.dibs.beside import DEFAULT, HEAVY, RATES, levels, reasons
from overspill.papers.dibs.compare import at, less, mean
from overspill.papers.dibs.detour_paths import KINDS, kinds, receivers
from overspill.papers.dibs.fabric import Fabric
from overspill.papers.dibs.loads import QPS
from overspill.papers.dibs.mixed import DCTCP, DIBS, Sweeps, Times, exact, flows_of, least, p99_fct, p99_qct
from overspill.papers.spec import Figure, Measured, Runs

PAUSING = {"PAUSE": "pause", "PAUSE in a pool": "pool_pause", "PFC in a pool": "pool_pfc"}
# Variants that pause too late, or for too short a time.
LOSING = {
    "PAUSE, XOFF 60 KB": "pause_late",
    "PAUSE in a pool, XOFF 150 KB": "pool_pause_late",
    "PAUSE, one frame long": "pause_short",
}
# The variant that pauses too early and its case, by the usual one; and one that pauses too late.
EARLY = {
    "PAUSE": ("pause_early", "XOFF 3 KB less 15 KB"),
    "PAUSE in a pool": ("pool_pause_early", "XOFF 15 KB less 120 KB"),
}
LATE = {"PAUSE": "pause_late", "PAUSE in a pool": "pool_pause_late"}
FOREVER = 10**12  # ps: longer than a refreshed pause of a link that ever goes on


def section_6(sweeps: Sweeps) -> Iterator[Measured]:
    """Losses, thresholds and tails with Ethernet flow control, and which neighbours DIBS uses."""
    runs = sweeps["beside"]
    yield from lossless(runs)
    heavy = at(runs, QPS, HEAVY)
    lost = {name: runs.metric("drops", name, heavy) for name in (DCTCP, DIBS)}
    note = f"dctcp {mean(lost[DCTCP]):.4g}, dibs {mean(lost[DIBS]):.4g} a run{reasons(runs, heavy, DIBS)}"
    yield measured(f"{HEAVY} qps, dctcp less dibs", "drops", lost[DCTCP] - lost[DIBS], note)
    yield from thresholds(runs, sweeps["thresholds"])
    yield downstream(sweeps["every_detour"])
    for rate in RATES:
        point = at(runs, QPS, rate)
        for name, variant in PAUSING.items():
            pauses, dibs = (flows_of(runs, one, point) for one in (variant, DIBS))
            for metric, of in (("p99_qct", p99_qct), ("p99_fct", p99_fct)):
                note = levels(runs, point, (variant, DIBS, "pool", DCTCP), of)
                yield measured(f"{rate} qps, {name} less dibs", metric, less(pauses, dibs, of), note)


def lossless(runs: Runs) -> Iterator[Measured]:
    """Losses with flow control at both rates together, and how often ports were paused."""
    for name, variant in PAUSING.items():
        lost = np.sum([runs.metric("drops", variant, point) for point in runs.points], axis=0)
        often = [mean(runs.metric("pauses", variant, at(runs, QPS, rate))) for rate in RATES]
        note = f"{often[0]:.4g} pauses a run at {DEFAULT} qps, {often[1]:.4g} at {HEAVY}"
        yield measured(f"both rates, {name}", "drops", lost, note)


def thresholds(usual: Runs, others: Runs) -> Iterator[Measured]:
    """Losses and query tails with thresholds that are too late, too early, or the worst of all."""
    heavy = at(usual, QPS, HEAVY)
    for case, variant in LOSING.items():
        note = levels(others, None, (variant,))
        yield measured(f"{HEAVY} qps, {case}", "drops", others.metric("drops", variant), note)
    for name, (variant, case) in EARLY.items():
        early, tuned = flows_of(others, variant), flows_of(usual, PAUSING[name], heavy)
        note = f"{levels(others, None, (variant,))}, {levels(usual, heavy, (PAUSING[name],))}"
        yield measured(f"{HEAVY} qps, {name}, {case}", "p99_qct", less(early, tuned, p99_qct), note)
    dibs = flows_of(usual, DIBS, heavy)
    for name, late in LATE.items():
        tried = (EARLY[name][0], late)
        every = [*(flows_of(others, one) for one in tried), flows_of(usual, PAUSING[name], heavy)]
        note = f"{levels(others, None, tried)}, {levels(usual, heavy, (PAUSING[name], DIBS))}"
        yield measured(f"{HEAVY} qps, {name}, worst XOFF less dibs", "p99_qct", worst(every, dibs), note)


def worst(every: Sequence[Sequence[Times]], dibs: Sequence[Times]) -> list[float]:
    """Longest query tail of several settings less that of DIBS, without what noise of single seeds adds."""
    longer = [least(one, p99_qct) - exact(dibs, p99_qct) for one in every]
    return jackknife(lambda tails: float(np.max(tails)), np.array(longer).T)


def downstream(runs: Runs) -> Measured:
    """Share of detours at aggregation switches of the receiver's pod that lead to other edge switches."""
    fabric = Fabric.of(runs, runs.tables("ports", DIBS)[0])
    tables = zip(runs.tables("detour_steps", DIBS), runs.tables("flows", DIBS), strict=True)
    found = [share_to_edges(fabric, steps, flows) for steps, flows in tables]
    case = f"{DEFAULT} qps, aggregation switches of the receiver's pod"
    return measured(case, "detours_to_other_edges", found)


def share_to_edges(fabric: Fabric, steps: pa.Table, flows: pa.Table) -> float:
    """The share of `downstream` in one run, in %."""
    steps = steps.filter(pa.array(columns.numbers(steps, "reverse") == 0))
    where = kinds(fabric, steps, receivers(flows, columns.numbers(steps, "flow").astype(np.int64)))
    counts = np.bincount(where, minlength=len(KINDS))
    up, down = (int(counts[KINDS.index(name)]) for name in ("core", "edges"))
    return 100 * quotient(down, up + down)


def section_6_deadlock(sweeps: Sweeps) -> Iterator[Measured]:
    """Flows of a ring of switches that never finish, with PAUSE and with DIBS."""
    runs = sweeps["ring"]
    stuck = [paused_to_the_end(table) for table in runs.tables("pause_trace", "pause")]
    note = f"ports paused to the end, by seed: {', '.join(map(str, stuck))}"
    yield measured("ring, PAUSE", "unfinished_flows", runs.metric("unfinished_flows", "pause"), note)
    yield measured("ring, PAUSE", "drops", runs.metric("drops", "pause"))
    lost = runs.metric("drops", DIBS)
    note = f"{mean(runs.metric('detours', DIBS)):.4g} detours and {mean(lost):.3g} drops a run"
    yield measured("ring, dibs", "unfinished_flows", runs.metric("unfinished_flows", DIBS), note)


def paused_to_the_end(table: pa.Table) -> int:
    """Number of ports whose pause lasts to the end of the run, from `pause_trace`."""
    begin, end = (columns.numbers(table, name).astype(np.int64) for name in ("from_ps", "to_ps"))
    return int(((end == end.max(initial=0)) & (end - begin > FOREVER)).sum())


FIGURES: dict[str, Figure] = {"sec6a": Figure(section_6), "sec6b": Figure(section_6_deadlock)}
