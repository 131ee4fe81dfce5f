"""Status of runs beside their metrics: missing, cut, unfinished, or in a deadlock."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from overspill import stats
from overspill.results import repeated_seeds, rundata, starved_flows, summary_tables
from overspill.results.axes import Point
from overspill.results.metric_key import Key
from overspill.results.summary_tables import ValuesBySeed
from overspill.stats.quantiles import Value

UNKNOWN_SAMPLES = 2**64  # more samples than any run has


@dataclass
class RunStatus:
    """Status of runs, gathered while they are read from the store."""

    finished: int = 0
    unfinished: list[dict[str, Any]] = field(default_factory=list)
    partial: list[dict[str, Any]] = field(default_factory=list)
    deadlocks: list[dict[str, Any]] = field(default_factory=list)
    missing: list[dict[str, Any]] = field(default_factory=list)
    seeds: set[int] = field(default_factory=set)  # numbers of seeds of points and variants that have several
    idle: bool = True  # true if all seeds gave the same values
    starved: list[dict[str, Any]] = field(default_factory=list)
    alike: list[dict[str, Any]] = field(default_factory=list)  # places where seeds repeat a run to the digit
    samples: dict[Key, int] = field(default_factory=dict)  # fewest samples of percentiles that need more

    @staticmethod
    def from_facts(facts: Mapping[str, Any]) -> "RunStatus":
        """Returns the status of a sweep's runs from its manifest."""
        return RunStatus(
            int(facts["runs"]["finished"]),
            list(facts["unfinished"]),
            list(facts["partial"]),
            list(facts.get("deadlocks", ())),
            list(facts["missing"]),
        )

    def add_values(self, point: Point, variant: str, by_seed: ValuesBySeed) -> None:
        """Adds the values of a point and variant."""
        found = repeated_seeds.find_equal_seeds(by_seed)
        if found is not None:
            where = {"point": list(point.values.values()), "variant": variant, "seeds": list(by_seed)}
            self.alike.append({**where, "metrics": list(found.metrics)})
        if len(by_seed) > 1:
            self.seeds.add(len(by_seed))
            several = list(by_seed.values())
            self.idle = self.idle and all(one == several[0] for one in several)
        for values in by_seed.values():
            for name, one in values.items():
                if one.samples is not None and one.samples < min(
                    summary_tables.samples_needed(name), self.samples.get(name, UNKNOWN_SAMPLES)
                ):
                    self.samples[name] = one.samples

    @property
    def too_few_counts(self) -> dict[str, Any]:
        """Number of seeds if there are too few, and of samples for each percentile that has too few."""
        few = min(self.seeds, default=stats.MIN_SEEDS_FOR_BOOTSTRAP)
        names = summary_tables.order_metrics({0: dict.fromkeys(self.samples, Value(0.0))})
        ordered = {name: self.samples[name] for name in names}
        return {
            "seeds": few if few < stats.MIN_SEEDS_FOR_BOOTSTRAP and not self.idle else None,
            "samples": ordered,
        }

    def add(self, point: Point, variant: str, by_seed: Mapping[int, Mapping[str, Any] | None]) -> None:
        """Adds the summaries of a point and variant."""
        where = {"point": list(point.values.values()), "variant": variant}
        there = {seed: summary for seed, summary in by_seed.items() if summary is not None}
        self.finished += len(there)
        absent = [seed for seed in by_seed if seed not in there]
        if absent:
            self.missing.append({**where, "seeds": absent})
        left = {seed: one for seed, one in there.items() if is_unfinished(one)}
        if left:
            counts = {
                key: sum(one["flows"][key] for one in left.values()) for key in ("unfinished", "measured")
            }
            self.unfinished.append({**where, "seeds": list(left), **counts})
        cut = {
            seed: rundata.CUT_REASONS[one["stop"]]
            for seed, one in there.items()
            if one["stop"] in rundata.CUT_REASONS
        }
        if cut:
            why = " and ".join(dict.fromkeys(cut.values()))
            self.partial.append({**where, "seeds": list(cut), "why": why})
        hit = {seed: one["starved"] for seed, one in there.items() if one.get("starved")}
        if hit:
            every = [[starved_flows.StarvedWorkload(**one) for one in some] for some in hit.values()]
            self.starved.append({**where, "seeds": list(hit), "why": starved_flows.starved_warning(every)})
        stuck: dict[tuple[str, ...], list[int]] = {}
        for seed, one in there.items():
            if one.get("deadlock"):
                key = (str(one["deadlock"]["class"]), *one["deadlock"]["cycle"])
                stuck.setdefault(key, []).append(seed)
        for seeds in stuck.values():
            first = min((there[seed]["deadlock"] for seed in seeds), key=lambda one: int(one["at_ps"]))
            allowed = all(there[seed]["allow_unfinished"] for seed in seeds)
            self.deadlocks.append({**where, "seeds": seeds, **first, "allowed": allowed})


def is_unfinished(summary: Mapping[str, Any]) -> bool:
    """Returns true if a run left measured flows unfinished although the scenario does not allow it."""
    return bool(summary["flows"].get("unfinished", 0)) and not summary["allow_unfinished"]
