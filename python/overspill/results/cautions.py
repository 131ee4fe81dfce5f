"""What makes numbers rough: packets in step, few seeds, few samples, load that was not steady."""

from collections.abc import Mapping

from overspill import stats
from overspill.results import formats, metrics, phase, pooled, repeated_seeds, rows, starved, steady
from overspill.results.finished_runs import Finished
from overspill.results.key import Key
from overspill.results.labels import Line

SHOWN = 12  # groups of metrics that a line names


def lines(results: Finished) -> list[Line]:
    """Every caution, the loud ones first."""
    return [
        *in_step(results),
        *phase.lines(results.facts),
        *not_steady(results),
        *few_seeds(results),
        *few_samples(results),
    ]


def in_step(results: Finished) -> list[Line]:
    """Flows that starve while others like them do not, and seeds that repeat a run to the digit."""
    found = []
    for variant in results.variants:
        by_seed = {run.seed: starved.known(run) for run in results.runs_of(variant)}
        hit = [seed for seed, every in by_seed.items() if every]
        if hit:
            where = f"{variant}, seed{'s' if len(hit) > 1 else ''} {formats.seeds(hit)}"
            found.append(Line("STARVED FLOWS", f"{where}: {starved.sentence(by_seed.values())}", True))
    return found + [Line("SEEDS ALIKE", text, True) for text in repeated_seeds.lines(results.values)]


def few_seeds(results: Finished) -> list[Line]:
    """Intervals of fewer than 10 seeds are rough; of one there are none, which the legend says."""
    counts = sorted({len(results.runs_of(variant)) for variant in results.variants} - {0, 1})
    if not counts or counts[0] >= stats.ENOUGH or results.fairness.idle_seeds:
        return []
    return [rough(counts[0])]


def rough(seeds: int) -> Line:
    """What is said of intervals of so few seeds."""
    if seeds < stats.FEWEST:
        text = (
            f"of {seeds} seeds there are ranges, no intervals: use {stats.ENOUGH} or more for what you quote"
        )
        return Line("FEW SEEDS", text, True)
    text = (
        f"intervals of {seeds} seeds are rough, those of percentiles and maxima most of all: "
        f"use {stats.ENOUGH} or more for what you quote"
    )
    return Line("FEW SEEDS", text, True)


def few_samples(results: Finished) -> list[Line]:
    """Percentiles that rest on fewer than five samples, by group, with the fewest samples that a seed has."""
    found: dict[Key, int] = {}
    every = rows.every_key(results.values)
    hidden = pooled.hidden(every, results.kinds)
    for key in (one for one in every if one not in hidden):
        # Not by rows, whose intervals take time.
        cells = rows.cells_of(results.values, key) if metrics.needed(key) else {}
        counts = [cell.few_samples for cell in cells.values() if cell.few_samples is not None]
        if counts:
            found[key] = min(counts)
    return largest(found, "`few_samples` in results.json")


def largest(fewest: Mapping[Key, int], place: str) -> list[Line]:
    """What is said of percentiles, by name, of too few samples; nothing where there are none.

    `place` is where all of them are.
    """
    of_metrics: dict[str, dict[str, int]] = {}
    for name, count in fewest.items():
        part = name.statistic
        of_metrics.setdefault(metrics.find(name).title.replace(f" {part}", "", 1), {})[part] = count
    if not of_metrics:
        return []
    # What rests on the same samples stands together: FCT and slowdown are of the same flows.
    groups: dict[str, list[str]] = {}
    for title, parts in sorted(of_metrics.items(), key=lambda one: min(one[1].values())):
        groups.setdefault(f"{', '.join(parts)} ({min(parts.values())})", []).append(title)
    texts = [f"{formats.joined(titles)} {parts}" for parts, titles in groups.items()]
    named, left = "; ".join(texts[:SHOWN]), len(texts) - SHOWN
    more = f"; and {left} more: {place}" if left > 0 else ""
    text = f"less than five of a seed's samples lie beyond these percentiles (samples): {named}{more}"
    return [Line("few samples", text)]


def not_steady(results: Finished) -> list[Line]:
    """Variants whose second half of the window differs from the first."""
    found = []
    for variant in results.variants:
        drifts = steady.drifts([results.halves(run) for run in results.runs_of(variant)])
        if drifts:
            hint = "; of one seed this is a hint" if drifts[0].seeds == 1 else ""
            text = f"{variant}: {'; '.join(steady.text(one) for one in drifts)}{hint}"
            found.append(Line("NOT STEADY", text, True))
    return found
