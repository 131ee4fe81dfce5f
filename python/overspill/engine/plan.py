"""What is to be run: the scenario at every point, checked, with its variants and seeds."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from overspill.engine import grid, keys, points, source, topology
from overspill.engine.grid import Grid
from overspill.engine.options import Options, seeds_from
from overspill.engine.pcap import Wanted
from overspill.engine.points import Base, Checked, Scene
from overspill.engine.task import Task
from overspill.errors import BadInput, readable
from overspill.results import cache, metric_names, pointwise

RUNS_MOST = 1_000_000


@dataclass(frozen=True)
class Plan:
    """Every point of a scenario, checked, and how its runs are done."""

    base: Base
    grid: Grid
    checked: Checked
    seeds: Sequence[int]
    options: Options
    pcap: Wanted
    first: int = 0  # the number of its first point, where several plans are run together

    def __reduce__(self) -> Any:
        """No plan leaves its process."""
        raise BadInput(
            "a plan cannot be pickled: it holds scenarios of the core; prepare it anew from its scenario"
        )

    @property
    def out(self) -> Path | None:
        """The folder of its results, if there is one."""
        given = self.options.out
        found = given(self.checked.name) if callable(given) else given
        return None if found is None else Path(readable("--out", str(found)))

    @property
    def baseline(self) -> str:
        """The variant from which a sweep takes differences: the one asked for, or the first."""
        return self.options.baseline or self.checked.variants[0]

    @property
    def whole(self) -> bool:
        """Whether all of a run is kept: at a single point."""
        return not self.options.sweep

    @property
    def count(self) -> int:
        """How many runs there are, equal ones counted as often as they appear."""
        return len(self.grid) * len(self.checked.variants) * len(self.seeds)

    def key(self, config: str, seed: int) -> str:
        """What a run is known by."""
        return cache.run_key(config, seed, self.options.max_events, self.pcap.asked)

    def scene(self, number: int) -> Scene:
        """The scenario at a point, by its number."""
        point, only = number - self.first, self.checked.only
        made = None if only is None else only.made
        return Scene(self.base, self.checked.points[point], self.checked.configs[point], made)

    @property
    def document(self) -> dict[str, Any]:
        """What the scenario of the first point means."""
        return points.read(self.base, self.checked.points[0])[1]

    @cached_property
    def nodes(self) -> dict[str, int]:
        """Numbers of nodes by name, as tables have them; of names with several numbers, none."""
        document = self.document
        numbered: dict[str, set[int]] = {}
        for at in sorted({document["network_of"][variant] for variant in self.checked.variants}):
            for number, node in enumerate(document["networks"][at]["nodes"]):
                numbered.setdefault(node["name"], set()).add(number)
        return {name: next(iter(found)) for name, found in numbered.items() if len(found) == 1}

    @property
    def tasks(self) -> Iterator[Task]:
        """Every run; of equal ones only the first.

        Point by point; at a single point seed by seed, so that what is interrupted leaves whole seeds.
        """
        if self.whole:
            for seed in self.seeds:
                yield from self.some([seed])
        else:
            yield from self.some(self.seeds)

    def some(self, seeds: Sequence[int]) -> Iterator[Task]:
        """The runs with these seeds."""
        seen: set[str] = set()
        for point, configs in zip(self.checked.points, self.checked.configs, strict=True):
            label = f"{self.options.label} {point}".strip()
            for variant, config in configs.items():
                if config in seen:
                    continue
                seen.add(config)
                for seed in seeds:
                    yield Task(variant, seed, self.first + point.index, label, self.key(config, seed), config)


def prepare(scenario: str | Path, options: Options) -> Plan:
    """Read the scenario and check every point; what paths stand for stays, wherever the program goes to."""
    return planned(Path(scenario).absolute(), replace(options, out=placed(options.out)))


def placed(out: Callable[[str], Path] | str | Path | None) -> Callable[[str], Path] | Path | None:
    """The folder asked for, which stays what it is where the program goes to another."""
    if callable(out):
        here = Path.cwd()
        return lambda name: here / out(name)
    return None if out is None else Path(out).absolute()


def planned(scenario: str | Path, options: Options) -> Plan:
    """Read the scenario and check every point, for a command that stays where it is."""
    options.check()
    pcap = Wanted.parse(options.pcap, options.pcap_snaplen)
    text = source.read(scenario)
    sets = source.overrides(options.sets)
    if options.topology is not None:
        sets.insert(0, topology.setting(options.topology, scenario))
    axes = grid.grid(options.over, options.zips, not options.sweep or options.single)
    both = {axis.path for axis in axes.axes} & {one.partition("=")[0].strip() for one in sets}
    if both:
        raise BadInput(f"--over: {min(both)}: found it in --set, too; expected one of them")
    base = Base(text, tuple(sets), keys.Files(text.path), keys.build())
    listener = options.listener
    checked = points.check(base, axes, options.variants, lambda done: listener.checking(done, len(axes)))
    if options.baseline is not None and options.baseline not in checked.variants:
        expected = ", ".join(checked.variants)
        raise BadInput(f"--baseline: found {options.baseline}; expected one of {expected}")
    workloads = pointwise.workloads(checked.settings)
    for name in options.metrics:
        metric_names.key_of(name, workloads, "--metric")
    seeds = seeds_from(checked.seed if options.seed is None else options.seed, options.seeds)
    plan = Plan(base, axes, checked, seeds, options, pcap)
    if plan.count > RUNS_MOST:
        raise BadInput(f"--over: found {plan.count} runs; expected {RUNS_MOST} or fewer")
    if pcap.texts:
        pcap.check(plan.scene(plan.first).get(), checked.variants)
    return plan
