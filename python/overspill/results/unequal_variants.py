"""Differences between variants beside the compared metric: samples, load and memory.

A star beside a number means that this variant is better. A note beside the star says if the variants were
measured on other samples, carried another load, or had switches with other memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from overspill import stats
from overspill.results import formats, metrics
from overspill.results.metric_key import Key, parse_known_key
from overspill.results.metrics import Metric
from overspill.results.rundata import RunData
from overspill.stats.quantiles import Value

MAX_LOAD_DIFFERENCE = 0.05  # of the largest: larger differences of achieved loads are stated
# For these metrics, the number of measured flows replaces a number of samples that the values lack.
METRICS_OF_FLOWS = frozenset(one.name for part in ("flows", "senders") for one in metrics.SECTIONS[part])

Values = Mapping[str, Mapping[int, Mapping[Key, Value]]]  # variant -> seed -> metric


@dataclass(frozen=True)
class UnequalVariants:
    """Measured flows, achieved loads by workload, and switch memory of each compared variant."""

    measured: Mapping[str, int] = field(default_factory=dict)
    loads: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    memory: Mapping[str, str] = field(default_factory=dict)

    def describe_differences(self, metric: Metric, samples: Mapping[str, int | None]) -> str:
        """Describes other differences between compared variants: samples, load, memory; empty without any."""
        parts = [format_samples(self.list_sample_counts(metric, samples))]
        for workload, known in self.loads.items():
            loads = [known[variant] for variant in samples if variant in known]
            if loads and max(loads) - min(loads) > MAX_LOAD_DIFFERENCE * max(loads):
                parts.append(f"achieved load [{workload}] {min(loads):.3g} to {max(loads):.3g}")
        if len({self.memory[variant] for variant in samples if variant in self.memory}) > 1:
            parts.append("unequal memory")
        return "; ".join(part for part in parts if part)

    def list_sample_counts(self, metric: Metric, samples: Mapping[str, int | None]) -> list[int]:
        """Returns the number of samples of each variant; for metrics of senders that of measured flows."""
        known = [count for count in samples.values() if count is not None]
        if not known and parse_known_key(metric.name).registered in METRICS_OF_FLOWS:
            known = [self.measured[variant] for variant in samples if variant in self.measured]
        return known


def format_samples(counts: Iterable[int]) -> str:
    """Formats numbers of samples that differ: `samples 312 to 396`; empty if all are equal."""
    known = sorted(set(counts))
    return (
        f"samples {formats.format_number(known[0])} to {formats.format_number(known[-1])}"
        if len(known) > 1
        else ""
    )


def compare_runs(runs: Iterable[RunData], values: Values, memory: Mapping[str, Any]) -> UnequalVariants:
    """Returns measured flows, achieved loads and memory of the variants, to find differences."""
    measured: dict[str, int] = {}
    for run in runs:
        measured[run.variant] = measured.get(run.variant, 0) + int(run.summary["flows"]["measured"])
    loads: dict[str, dict[str, list[float]]] = {}
    for variant, by_seed in values.items():
        for found in by_seed.values():
            for key, one in found.items():
                if key.metric == "achieved_load":
                    loads.setdefault(key.of, {}).setdefault(variant, []).append(one.value)
    means = {
        workload: {variant: stats.mean(known) for variant, known in by_variant.items()}
        for workload, by_variant in loads.items()
    }
    return UnequalVariants(
        measured, means, {variant: format_total_memory(one) for variant, one in memory.items()}
    )


def format_total_memory(memory: Mapping[str, Any]) -> str:
    """Returns the memory of a variant's switches as a text that is equal for equal memory."""
    return repr(sorted((one["tier"], one["count"], repr(one["total"])) for one in memory["switches"]))
