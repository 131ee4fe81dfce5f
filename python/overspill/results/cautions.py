"""Cautions about rough numbers: phase-locked packets, few seeds, few samples, load not steady."""

from collections.abc import Mapping, Sequence

from overspill import stats
from overspill.results import (
    formats,
    metric_rows,
    metrics,
    phase_findings,
    pooled_workloads,
    repeated_seeds,
    starved_flows,
    steady_state,
)
from overspill.results.finished_runs import FinishedRuns
from overspill.results.line_labels import Line
from overspill.results.metric_key import Key

MAX_METRICS_NAMED = 12  # groups of metrics that a line names


def caution_lines(results: FinishedRuns) -> list[Line]:
    """Returns every caution; those that limit what the numbers mean are `loud`."""
    return [
        *starved_and_repeated_warnings(results),
        *shared_memory_warnings(results),
        *lossless_loss_warnings(results),
        *pause_storm_warnings(results),
        *phase_findings.finding_lines(results.facts),
        *unsteady_warnings(results),
        *few_seeds_caution(results),
        *few_samples_caution(results),
    ]


def starved_and_repeated_warnings(results: FinishedRuns) -> list[Line]:
    """Returns warnings about starved flows, and about seeds whose results do not differ."""
    found = []
    for variant in results.variants:
        by_seed = {
            run.seed: starved_flows.starved_workloads_from_summary(run) for run in results.runs_of(variant)
        }
        hit = [seed for seed, every in by_seed.items() if every]
        if hit:
            where = f"{variant}, seed{'s' if len(hit) > 1 else ''} {formats.format_seeds(hit)}"
            found.append(
                Line("STARVED FLOWS", f"{where}: {starved_flows.starved_warning(by_seed.values())}", True)
            )
    return found + [
        Line("SEEDS ALIKE", text, True) for text in repeated_seeds.repeated_seed_lines(results.values)
    ]


def shared_memory_warnings(results: FinishedRuns) -> list[Line]:
    """Returns warnings about variants that lost packets at a port whose traffic classes share memory."""
    found: dict[str, list[str]] = {}
    for variant in results.variants:
        every = [run.shared_by_classes for run in results.runs_of(variant)]
        ports = [one for one in every if one]
        if ports:
            most = max(ports, key=lambda one: int(one["drops"]))
            classes = formats.join_with_and([str(one) for one in most["classes"]])
            text = (
                f"classes {classes} share the memory of port {most['port']}, where packets were lost. One "
                "class can fill it, so priorities and weights do not prevent losses. To give each class its "
                'own memory, use a `shared` buffer with per = "queue", or `pools`'
            )
            found.setdefault(text, []).append(variant)
    return [Line("SHARED MEMORY", f"{', '.join(names)}: {text}", True) for text, names in found.items()]


def lossless_loss_warnings(results: FinishedRuns) -> list[Line]:
    """Returns warnings about variants whose lossless priority groups lost packets."""
    found = []
    for variant in results.variants:
        hit = {run.seed: one for run in results.runs_of(variant) if (one := run.lossless_losses)}
        if not hit:
            continue
        packets, groups = ([int(one[what]) for one in hit.values()] for what in ("packets", "groups"))
        most = max((one["most"] for one in hit.values()), key=lambda one: int(one["packets"]))
        where = f"{variant}, seed{'s' if len(hit) > 1 else ''} {formats.format_seeds(hit)}"
        lost = f"{span(groups)} lossless group{'' if set(groups) == {1} else 's'} lost {span(packets)}"
        text = (
            f"{where}: {lost} packet{'' if set(packets) == {1} else 's'} for lack of memory. Group "
            f"{most['group']} of port {most['port']} lost most ({most['packets']}), the first at "
            f"{formats.format_time(most['at_ps'])}. Increase the headroom of the group, or the "
            "headroom that it shares, or the limit of the queue"
        )
        found.append(Line("LOSSLESS LOST", text, True))
    return found


def span(values: Sequence[int]) -> str:
    """Returns the range of counts of several seeds as text."""
    return str(min(values)) if min(values) == max(values) else f"{min(values)} to {max(values)}"


def pause_storm_warnings(results: FinishedRuns) -> list[Line]:
    """Returns warnings about variants in which PFC watchdogs detected pause storms."""
    found = []
    for variant in results.variants:
        every = {run.seed: run.pause_storms for run in results.runs_of(variant)}
        hit = {seed: one for seed, one in every.items() if one and one["count"]}
        if not hit:
            continue
        counts, dropped = ([one[what] for one in hit.values()] for what in ("count", "dropped"))
        first = min((one["first"] for one in hit.values()), key=lambda one: int(one["at_ps"]))
        where = f"{variant}, seed{'s' if len(hit) > 1 else ''} {formats.format_seeds(hit)}"
        storms = "1 pause storm" if set(counts) == {1} else f"{span(counts)} pause storms"
        lost = f" and dropped {span(dropped)} packets" if any(dropped) else ""
        text = (
            f"{where}: in the whole run, a PFC watchdog detected {storms}{lost}. The first was at port "
            f"{first['port']}, queue {first['queue']}, at {formats.format_time(first['at_ps'])}"
        )
        found.append(Line("PAUSE STORMS", text, True))
    return found


def few_seeds_caution(results: FinishedRuns) -> list[Line]:
    """Returns the caution about intervals of fewer than ten seeds; empty for a single seed."""
    counts = sorted({len(results.runs_of(variant)) for variant in results.variants} - {0, 1})
    if not counts or counts[0] >= stats.MIN_SEEDS_FOR_BOOTSTRAP or results.fairness.has_equal_seeds:
        return []
    return [rough_intervals_caution(counts[0])]


def rough_intervals_caution(seeds: int) -> Line:
    """Returns the caution about intervals over this number of seeds."""
    if seeds < stats.MIN_SEEDS_FOR_INTERVAL:
        text = (
            f"{seeds} seeds give ranges, not intervals. "
            f"Use {stats.MIN_SEEDS_FOR_BOOTSTRAP} or more for results that you quote"
        )
        return Line("FEW SEEDS", text, True)
    text = (
        f"intervals of {seeds} seeds are rough, above all those of percentiles and maxima. Use "
        f"{stats.MIN_SEEDS_FOR_BOOTSTRAP} or more for results that you quote"
    )
    return Line("FEW SEEDS", text, True)


def few_samples_caution(results: FinishedRuns) -> list[Line]:
    """Returns the caution about percentiles with fewer than five samples beyond them.

    It names the fewest samples that a seed has.
    """
    found: dict[Key, int] = {}
    every = metric_rows.all_metric_keys(results.values)
    hidden = pooled_workloads.hidden_metrics(every, results.kinds)
    for key in (one for one in every if one not in hidden):
        # Not from `results.rows`, which would also compute all intervals and is slow.
        cells = metric_rows.metric_cells(results.values, key) if metrics.samples_needed(key) else {}
        counts = [cell.few_samples for cell in cells.values() if cell.few_samples is not None]
        if counts:
            found[key] = min(counts)
    return fewest_samples_caution(found, "`few_samples` in results.json")


def fewest_samples_caution(fewest: Mapping[Key, int], place: str) -> list[Line]:
    """Returns the caution about percentiles of too few samples, if any; `fewest` are the fewest by metric.

    `place` names where all of them are listed.
    """
    of_metrics: dict[str, dict[str, int]] = {}
    for name, count in fewest.items():
        part = name.statistic
        of_metrics.setdefault(metrics.find_metric(name).title.replace(f" {part}", "", 1), {})[part] = count
    if not of_metrics:
        return []
    # Metrics with the same samples share an entry: FCT and slowdown are of the same flows.
    groups: dict[str, list[str]] = {}
    for title, parts in sorted(of_metrics.items(), key=lambda one: min(one[1].values())):
        groups.setdefault(f"{', '.join(parts)} ({min(parts.values())})", []).append(title)
    texts = [f"{formats.join_with_and(titles)} {parts}" for parts, titles in groups.items()]
    named, left = "; ".join(texts[:MAX_METRICS_NAMED]), len(texts) - MAX_METRICS_NAMED
    more = f"; and {left} more: {place}" if left > 0 else ""
    text = (
        "these percentiles are close to the maximum, since fewer than five samples of a seed are beyond "
        f"them (number of samples): {named}{more}"
    )
    return [Line("few samples", text)]


def unsteady_warnings(results: FinishedRuns) -> list[Line]:
    """Returns warnings about variants whose second half of the window differs from the first."""
    found = []
    for variant in results.variants:
        drifts = steady_state.find_drifts([results.halves(run) for run in results.runs_of(variant)])
        if drifts:
            hint = ". One seed gives only a hint" if drifts[0].seeds == 1 else ""
            text = (
                f"{variant}: {'; '.join(steady_state.describe_drift(one) for one in drifts)}. Means depend "
                "on the length "
                f"of the run{hint}"
            )
            found.append(Line("NOT STEADY", text, True))
    return found
