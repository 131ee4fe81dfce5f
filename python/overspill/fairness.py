"""Whether variants may be compared: the same traffic, everything finished, and seeds that matter."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from overspill.rundata import RunData

if TYPE_CHECKING:
    from overspill.results import Results

RAW = ("constant", "bursts")  # traffic without flows that end
# Tells how much was left undone, and so is compared even then.
OF_UNFINISHED = "unfinished_flows"


@dataclass(frozen=True)
class Fairness:
    """What stands against calling a variant best."""

    traffic: tuple[tuple[str, ...], ...]  # variants that carry the same traffic, together
    unfinished: int
    cut: bool
    idle_seeds: bool

    @property
    def different(self) -> bool:
        """Whether variants carry different traffic."""
        return len(self.traffic) > 1

    def allows(self, metric: str) -> bool:
        """Whether a variant may be called best in a metric."""
        if self.different or self.cut or self.idle_seeds:
            return False
        return not self.unfinished or metric == OF_UNFINISHED


def judge(results: Results) -> Fairness:
    """The same for every metric of the results."""
    return Fairness(
        tuple(same_traffic(results)),
        sum(run.unfinished for run in results.runs),
        any(run.cut for run in results.runs),
        idle_seeds(results),
    )


def same_traffic(results: Results) -> list[tuple[str, ...]]:
    """Variants in groups of those that meet the same traffic in every seed that all have."""
    ran = {variant: results.of(variant) for variant in results.variants if results.of(variant)}
    if len(ran) < 2:
        return [tuple(ran)]
    seeds = set.intersection(*({run.seed for run in runs} for runs in ran.values()))
    groups: dict[tuple[str, ...], list[str]] = {}
    for variant, runs in ran.items():
        spec = raw_entries(results, variant)
        # A run that was cut may not have come to all of its flows.
        prints = (flows_met(run) for run in runs if run.seed in seeds and not results.any_cut)
        groups.setdefault((spec, *prints), []).append(variant)
    return [tuple(group) for group in groups.values()]


def flows_met(run: RunData) -> str:
    """A hash of the flows that count and of raw sources, in whatever order."""
    names = ("traffic", "start_ps", "src", "dst", "bytes", "measured", "raw")
    *facts, measured, raw = run.columns("flows", *names)
    keep = (measured != 0) | (raw != 0)
    rows = np.stack([column[keep].astype(np.uint64) for column in facts], axis=1)
    return hashlib.sha256(rows[np.lexsort(rows.T)].tobytes()).hexdigest()


def raw_entries(results: Results, variant: str) -> str:
    """What a variant says of raw sources, whose packets are in no table."""
    entries = results.facts["resolved"].get(variant, {}).get("traffic", [])
    return json.dumps([one for one in entries if one.get("kind") in RAW], sort_keys=True)


def idle_seeds(results: Results) -> bool:
    """Whether several seeds gave the same numbers in every variant."""
    several = [list(by_seed.values()) for by_seed in results.values.values() if len(by_seed) > 1]
    return bool(several) and all(one == runs[0] for runs in several for one in runs)
