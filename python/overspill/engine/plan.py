"""Plan of runs: the scenario at every point, checked, with variants and seeds."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from overspill.engine import grid, keys, point_checks, source, topology
from overspill.engine.grid import Grid
from overspill.engine.options import Options, seed_range
from overspill.engine.pcap import CaptureRequest
from overspill.engine.point_checks import CheckedPoints, CommonInputs, PointScenario
from overspill.engine.task import Task
from overspill.errors import BadInput, check_text
from overspill.results import cache, metric_names, pointwise_lines

MAX_RUNS = 1_000_000


@dataclass(frozen=True)
class Plan:
    """Plan of runs: the checked points of a scenario, with variants, seeds and options."""

    base: CommonInputs
    grid: Grid
    checked: CheckedPoints
    seeds: Sequence[int]
    options: Options
    pcap: CaptureRequest
    first: int = 0  # number of the first point, if several plans are run together

    def __reduce__(self) -> Any:
        """Raises `BadInput`, since a plan has scenarios of the core, which cannot be pickled."""
        raise BadInput(
            "a plan cannot be pickled, since it holds scenarios of the core; prepare it again from its "
            "scenario"
        )

    @property
    def out(self) -> Path | None:
        """Folder of the results, or `None` if they are in memory only."""
        given = self.options.out
        found = given(self.checked.name) if callable(given) else given
        return None if found is None else Path(check_text("--out", str(found)))

    @property
    def baseline(self) -> str:
        """Baseline variant of the differences in a sweep: the requested one, or the first."""
        return self.options.baseline or self.checked.variants[0]

    @property
    def is_single_point(self) -> bool:
        """True if the plan is not a sweep: it has a single point, whose runs keep all tables."""
        return not self.options.sweep

    @property
    def count(self) -> int:
        """Number of runs; identical runs are counted as often as they appear."""
        return len(self.grid) * len(self.checked.variants) * len(self.seeds)

    def key(self, config: str, seed: int) -> str:
        """Returns the key that identifies a run."""
        return cache.run_key(config, seed, self.options.max_events, self.pcap.key_part)

    def scene(self, number: int) -> PointScenario:
        """Returns the scenario at the point with this number."""
        point, only = number - self.first, self.checked.single_point
        made = None if only is None else only.scenario
        return PointScenario(self.base, self.checked.points[point], self.checked.configs[point], made)

    @property
    def document(self) -> dict[str, Any]:
        """Resolved scenario of the first point."""
        return point_checks.read_point(self.base, self.checked.points[0])[1]

    @cached_property
    def nodes(self) -> dict[str, int]:
        """Number of each node by name, as tables have it; ambiguous names are left out."""
        document = self.document
        numbered: dict[str, set[int]] = {}
        for at in sorted({document["network_of"][variant] for variant in self.checked.variants}):
            for number, node in enumerate(document["networks"][at]["nodes"]):
                numbered.setdefault(node["name"], set()).add(number)
        return {name: next(iter(found)) for name, found in numbered.items() if len(found) == 1}

    @property
    def tasks(self) -> Iterator[Task]:
        """Tasks of all runs, without duplicates.

        They are ordered point by point; at a single point seed by seed, so that an interruption leaves
        complete seeds.
        """
        if self.is_single_point:
            for seed in self.seeds:
                yield from self.tasks_of_seeds([seed])
        else:
            yield from self.tasks_of_seeds(self.seeds)

    def tasks_of_seeds(self, seeds: Sequence[int]) -> Iterator[Task]:
        """Yields the tasks of all runs with these seeds, without duplicates."""
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
    """Reads a scenario, checks every point, and returns the plan of its runs for `run_plans`.

    Paths become absolute, so that the program may change its working directory before the runs.

    Args:
        scenario: Path of the scenario file.
        options: Points, variants, seeds and output of the runs.

    Raises:
        BadInput: With everything that is wrong with any point or option.

    Examples:
        >>> import overspill
        >>> plan = overspill.prepare("incast.toml", overspill.Options(seeds=3))
        >>> plan.count  # two variants with three seeds each
        6
        >>> [str(task) for task in plan.tasks][:2]
        ['drop seed 1', 'mark seed 1']

    """
    return build_plan(Path(scenario).absolute(), replace(options, out=make_absolute(options.out)))


def make_absolute(out: Callable[[str], Path] | str | Path | None) -> Callable[[str], Path] | Path | None:
    """Returns the folder of the results with an absolute path."""
    if callable(out):
        here = Path.cwd()
        return lambda name: here / out(name)
    return None if out is None else Path(out).absolute()


def build_plan(scenario: str | Path, options: Options) -> Plan:
    """Checks a scenario with options and returns the plan of its runs; relative paths stay relative."""
    options.check()
    pcap = CaptureRequest.parse(options.pcap, options.pcap_snaplen)
    text = source.read_scenario_file(scenario)
    sets = source.parse_overrides(options.sets)
    if options.topology is not None:
        sets.insert(0, topology.topology_setting(options.topology, scenario))
    axes = grid.build_grid(options.over, options.zips, not options.sweep or options.single)
    both = {axis.path for axis in axes.axes} & {one.partition("=")[0].strip() for one in sets}
    if both:
        raise BadInput(f"--over: {min(both)}: found it in --set as well; expected it in one of them")
    base = CommonInputs(text, tuple(sets), keys.FileHashes(text.path), keys.current_build())
    listener = options.listener
    checked = point_checks.check_points(
        base, axes, options.variants, lambda done: listener.checking(done, len(axes))
    )
    if options.baseline is not None and options.baseline not in checked.variants:
        expected = ", ".join(checked.variants)
        raise BadInput(f"--baseline: found {options.baseline}; expected one of {expected}")
    workloads = pointwise_lines.workload_names(checked.settings)
    for name in options.metrics:
        metric_names.parse_metric(name, workloads, "--metric")
    seeds = seed_range(checked.seed if options.seed is None else options.seed, options.seeds)
    plan = Plan(base, axes, checked, seeds, options, pcap)
    if plan.count > MAX_RUNS:
        raise BadInput(f"--over: found {plan.count} runs; expected {MAX_RUNS} or fewer")
    if pcap.texts:
        pcap.check(plan.scene(plan.first).load(), checked.variants)
    return plan
