"""Cautions about rough numbers: phase-locked packets, few seeds, few samples, load that was not steady."""

from collections.abc import Mapping

from overspill import stats
from overspill.results import formats, metrics, phase, pooled, repeated_seeds, rows, starved, steady
from overspill.results.finished_runs import Finished
from overspill.results.key import Key
from overspill.results.labels import Line

SHOWN = 12  # groups of metrics that a line names


def lines(results: Finished) -> list[Line]:
    """Returns every caution, loud ones first."""
    return [
        *in_step(results),
        *phase.lines(results.facts),
        *not_steady(results),
        *few_seeds(results),
        *few_samples(results),
    ]


def in_step(results: Finished) -> list[Line]:
    """Returns warnings about starved flows, and about seeds that repeat a run to the digit."""
    found = []
    for variant in results.variants:
        by_seed = {run.seed: starved.known(run) for run in results.runs_of(variant)}
        hit = [seed for seed, every in by_seed.items() if every]
        if hit:
            where = f"{variant}, seed{'s' if len(hit) > 1 else ''} {formats.seeds(hit)}"
            found.append(Line("STARVED FLOWS", f"{where}: {starved.sentence(by_seed.values())}", True))
    return found + [Line("SEEDS ALIKE", text, True) for text in repeated_seeds.lines(results.values)]


def few_seeds(results: Finished) -> list[Line]:
    """Returns the caution about intervals of fewer than ten seeds; the legend covers a single seed."""
    counts = sorted({len(results.runs_of(variant)) for variant in results.variants} - {0, 1})
    if not counts or counts[0] >= stats.ENOUGH or results.fairness.idle_seeds:
        return []
    return [rough(counts[0])]


def rough(seeds: int) -> Line:
    """Returns the caution about intervals over this number of seeds."""
    if seeds < stats.FEWEST:
        text = (
            f"{seeds} seeds give ranges, not intervals. Use {stats.ENOUGH} or more for results that you quote"
        )
        return Line("FEW SEEDS", text, True)
    text = (
        f"intervals of {seeds} seeds are rough, above all those of percentiles and maxima. Use "
        f"{stats.ENOUGH} or more for results that you quote"
    )
    return Line("FEW SEEDS", text, True)


def few_samples(results: Finished) -> list[Line]:
    """Returns the caution about percentiles with fewer than five samples beyond them.

    It names the fewest samples that a seed has.
    """
    found: dict[Key, int] = {}
    every = rows.every_key(results.values)
    hidden = pooled.hidden(every, results.kinds)
    for key in (one for one in every if one not in hidden):
        # `results.rows` would compute intervals, which takes time.
        cells = rows.cells_of(results.values, key) if metrics.needed(key) else {}
        counts = [cell.few_samples for cell in cells.values() if cell.few_samples is not None]
        if counts:
            found[key] = min(counts)
    return largest(found, "`few_samples` in results.json")


def largest(fewest: Mapping[Key, int], place: str) -> list[Line]:
    """Returns the caution about percentiles of too few samples, by metric the fewest; empty without any.

    `place` names where all of them are listed.
    """
    of_metrics: dict[str, dict[str, int]] = {}
    for name, count in fewest.items():
        part = name.statistic
        of_metrics.setdefault(metrics.find(name).title.replace(f" {part}", "", 1), {})[part] = count
    if not of_metrics:
        return []
    # Metrics of the same samples are named together: FCT and slowdown are of the same flows.
    groups: dict[str, list[str]] = {}
    for title, parts in sorted(of_metrics.items(), key=lambda one: min(one[1].values())):
        groups.setdefault(f"{', '.join(parts)} ({min(parts.values())})", []).append(title)
    texts = [f"{formats.joined(titles)} {parts}" for parts, titles in groups.items()]
    named, left = "; ".join(texts[:SHOWN]), len(texts) - SHOWN
    more = f"; and {left} more: {place}" if left > 0 else ""
    text = (
        "these percentiles are close to the maximum, since fewer than five samples of a seed are beyond "
        f"them (number of samples): {named}{more}"
    )
    return [Line("few samples", text)]


def not_steady(results: Finished) -> list[Line]:
    """Returns warnings about variants whose second half of the window differs from the first."""
    found = []
    for variant in results.variants:
        drifts = steady.drifts([results.halves(run) for run in results.runs_of(variant)])
        if drifts:
            hint = ". One seed gives only a hint" if drifts[0].seeds == 1 else ""
            text = (
                f"{variant}: {'; '.join(steady.text(one) for one in drifts)}. Means depend on the length "
                f"of the run{hint}"
            )
            found.append(Line("NOT STEADY", text, True))
    return found
