"""The JSON document: every metric of every variant over its seeds, and who is best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from overspill import metrics, stats
from overspill.metrics import Metric
from overspill.quantiles import Value

if TYPE_CHECKING:
    from overspill.results import Results


@dataclass(frozen=True)
class Cell:
    """A metric of one variant: a value per seed (`None` where a seed has none)."""

    seeds: Sequence[int]
    values: Sequence[Value | None]
    best: bool = False

    @property
    def known(self) -> list[float]:
        """The values that there are."""
        return [one.value for one in self.values if one is not None]

    @property
    def censored(self) -> bool:
        """Whether any value is only a lower bound."""
        return any(one is not None and one.censored for one in self.values)

    @property
    def mean(self) -> float | None:
        """The mean over seeds; a lower bound where `censored`."""
        return stats.mean(self.known) if self.known else None

    @property
    def ci95(self) -> float | None:
        """Half-width of its 95 % interval; none with one seed or where `censored`."""
        return None if self.censored or not self.known else stats.half_width(self.known)

    @property
    def exact(self) -> dict[int, float] | None:
        """Value by seed, if every seed has one that is not censored."""
        if self.censored or len(self.known) < len(self.values) or not self.values:
            return None
        return dict(zip(self.seeds, self.known, strict=True))


@dataclass(frozen=True)
class Row:
    """A metric of all variants."""

    metric: Metric
    cells: dict[str, Cell]
    comparison: stats.Comparison | None

    @property
    def visible(self) -> bool:
        """Whether it goes to the table."""
        known = [number for cell in self.cells.values() for number in cell.known]
        return self.metric.shown and bool(known) and (self.metric.zero_shown or any(known))


def rows(results: Results) -> list[Row]:
    """Every metric that any run has, in the order of the registry."""
    keys: dict[str, None] = {}
    for by_seed in results.values.values():
        for values in by_seed.values():
            keys.update(dict.fromkeys(values))
    order = {name: index for index, name in enumerate(metrics.REGISTRY)}
    return [row(results, key) for key in sorted(keys, key=lambda key: order[metrics.base(key)])]


def row(results: Results, key: str) -> Row:
    """One metric of all variants, compared on their common seeds."""
    metric = metrics.find(key)
    cells = {}
    for variant, by_seed in results.values.items():
        seeds = sorted(by_seed)
        cells[variant] = Cell(seeds, [by_seed[seed].get(key) for seed in seeds])
    exact = {variant: cell.exact for variant, cell in cells.items()}
    complete = {variant: values for variant, values in exact.items() if values is not None}
    comparison = stats.compare(complete, metric.better) if len(complete) == len(cells) else None
    if comparison is not None and not (results.fairness.allows(key) and varies(cells)):
        comparison = replace(comparison, fair=False)
    if comparison is not None and comparison.marked:
        best = cells[comparison.best]
        cells[comparison.best] = Cell(best.seeds, best.values, True)
    return Row(metric, cells, comparison)


def varies(cells: Mapping[str, Cell]) -> bool:
    """Whether any variant's values differ between seeds; otherwise nothing tells how sure they are."""
    return any(len(set(cell.known)) > 1 for cell in cells.values())


def entry(cell: Cell, unit: str) -> dict[str, Any]:
    """A metric of a variant; a censored value is `{"value", "censored": true}`."""
    values = [
        None if one is None else {"value": one.value, "censored": True} if one.censored else one.value
        for one in cell.values
    ]
    found: dict[str, Any] = {"mean": cell.mean, "ci95": cell.ci95, "unit": unit, "values": values}
    if cell.censored:
        found["censored"] = True
    if cell.best:
        found["best"] = True
    return found


def build(results: Results) -> dict[str, Any]:
    """The document of `--json` and `results.json`."""
    table = rows(results)
    variants = []
    for variant in results.variants:
        runs = results.of(variant)
        flows = [run.summary["flows"] for run in runs]
        variants.append(
            {
                "name": variant,
                "seeds": [run.seed for run in runs],
                "metrics": {
                    row.metric.name: entry(row.cells[variant], row.metric.unit)
                    for row in table
                    if row.cells[variant].known
                },
                "flows": {key: sum(one[key] for one in flows) for key in ("started", "completed")},
                "conserved": bool(runs) and all(run.summary["conserved"] for run in runs),
                "partial": [run.seed for run in runs if run.cut],
                "unfinished": sum(run.unfinished for run in runs),
            }
        )
    return {
        "scenario": results.scenario,
        "variants": variants,
        "partial": results.partial,
        "interrupted": results.interrupted,
        "notes": results.facts["notes"],
        "comparisons": comparisons(table),
    }


def comparisons(table: Sequence[Row]) -> dict[str, Any]:
    """By metric: the best variant, how many seeds, and its Holm-corrected difference from the others."""
    return {
        row.metric.name: {
            "best": row.comparison.best,
            "marked": row.comparison.marked,
            "seeds": row.comparison.n,
            "against": [
                {"variant": one.variant, "difference": one.mean, "ci": [one.low, one.high]}
                for one in row.comparison.against
            ],
        }
        for row in table
        if row.comparison is not None
    }
