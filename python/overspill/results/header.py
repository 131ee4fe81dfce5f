"""Facts and warnings above every table: window, warm-up, drain, censored flows, load, memory."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from overspill.grouping import group_by_key
from overspill.results import (
    active_interval,
    cautions,
    failed_runs,
    formats,
    identical_variants,
    measurement_window,
    network_changes,
    transports,
    unequal_variants,
)
from overspill.results.deadlocks import no_deadlock_lines
from overspill.results.finished_runs import FinishedRuns
from overspill.results.line_labels import Line
from overspill.results.measures import rates
from overspill.results.metric_key import Key
from overspill.results.rundata import RunData

DROPS_KEY, DATA_DROPS_KEY = Key("drops"), Key("data_drops")
# Optional memory of a switch beside `buffer`, by key; `held` has two values and is formatted elsewhere.
EXTRA_MEMORY_TEXTS = {
    "bounce": "bounce queues {} a port",
    "headers": "{} more a port for headers",
    "input": "input buffers {} a port",
    "inside": "internal buffers {}",
}


def header_lines(results: FinishedRuns) -> list[Line]:
    """Returns every line above the table of a run, with warnings that limit its meaning first."""
    rough = cautions.caution_lines(results)
    found = [
        *incomplete_warnings(results),
        *(line for line in rough if line.loud),
        scenario_line(results),
        *variant_names_line(results),
        *window_lines(results),
        *end_times_line(results),
        flows_line(results),
    ]
    found += [*load_lines(results), *transports.transport_lines(results), *memory_lines(results)]
    found += [*network_changes.change_lines(results), *no_deadlock_lines(results), work_line(results)]
    found += [line for line in rough if not line.loud]
    return found + [Line("note", text) for text in merge_notes(results)]


def variant_names_line(results: FinishedRuns) -> list[Line]:
    """Returns the line with the names of labelled variants, since other lines and commands use names."""
    found = [f"{name} = {label}" for name, label in results.labels.items()]
    return [Line("labels", "; ".join(found))] if found else []


def merge_notes(results: FinishedRuns) -> list[str]:
    """Returns the notes, with equal notes of several variants in one."""
    by_text: dict[str, list[str]] = {}
    for note in map(str, results.facts["notes"]):
        variant, colon, text = note.partition(": ")
        named = bool(colon) and variant in results.variants
        by_text.setdefault(text if named else note, []).extend([variant] if named else [])
    return [f"{', '.join(variants)}: {text}" if variants else text for text, variants in by_text.items()]


def incomplete_warnings(results: FinishedRuns) -> list[Line]:
    """Returns warnings about incomplete results: cut, missing, failed or unfinished runs, and deadlocks."""
    found = []
    for variant in results.variants:
        cut = [run for run in results.runs_of(variant) if run.cut]
        if cut:
            where = f"at {format_end_times([run.end_ps for run in cut])}"
            planned = formats.format_time(cut[0].summary["window_ps"][1])
            why = " and ".join(dict.fromkeys(run.cut_by for run in cut))
            text = f"{name_runs(cut)} {why} {where}; the window ends at {planned}"
            found.append(Line("PARTIAL RESULT", text, True))
    if results.interrupted:
        whole = len(results.variants) * len(results.facts["seeds"])
        text = f"stopped by the user: {len(results.runs)} of {whole} runs are finished and shown"
        found.append(Line("INTERRUPTED", f"{text}. Run the same command to continue", True))
    found += failed_runs.failed_run_lines(results)
    for variant in results.variants:
        left = [run for run in results.unfinished if run.variant == variant]
        if left:
            count = sum(run.unfinished for run in left)
            measured = sum(run.summary["flows"]["measured"] for run in left)
            text = f"{name_runs(left)}: {count} of {measured} measured flows did not finish"
            text += "; values that depend on these flows are lower bounds"
            endless = sorted({one.text for run in left for one in run.changes if one.is_endless_storm})
            if endless:
                text += (
                    f". No drain ends the {' and the '.join(endless)}: set its `until`, or use a `watchdog`"
                )
            # A longer drain does not help a run that was cut or ended in a deadlock.
            elif not any(run.cut or run.deadlock for run in left):
                text += ". Increase `measure.drain`, or set `measure.allow_unfinished = true`"
            found.append(Line("UNFINISHED FLOWS", text, True))
        found += [Line("DEADLOCK", text, True) for text in deadlock_sentences(results.runs_of(variant))]
    return [*found, *doubtful_number_warnings(results)]


def deadlock_sentences(runs: list[RunData]) -> Iterator[str]:
    """Yields a sentence for each cycle of ports that wait for each other forever, with its runs."""
    locked = (((str(run.deadlock["class"]), *run.deadlock["cycle"]), run) for run in runs if run.deadlock)
    by_cycle = group_by_key(locked)
    for stuck in by_cycle.values():
        found = [run.deadlock for run in stuck if run.deadlock]
        first = min(found, key=lambda one: int(one["at_ps"]))
        yield f"{name_runs(stuck)}: {describe_deadlock(first, len(found))}"


def describe_deadlock(deadlock: Mapping[str, Any], runs: int) -> str:
    """Describes a deadlock: its ports, the class that they cannot send, and since when.

    With several runs the time is the earliest.
    """
    cycle = deadlock["cycle"]
    way, since = " -> ".join([*cycle, cycle[0]]), formats.format_time(deadlock["at_ps"])
    first = " at the earliest" if runs > 1 else ""
    waits = f"wait for each other and send no frame of class {deadlock['class']}"
    return f"the ports {way} {waits}, since {since}{first}"


def doubtful_number_warnings(results: FinishedRuns) -> list[Line]:
    """Returns warnings about numbers that measure nothing or cannot be compared."""
    found = []
    idle = [
        run for run in results.runs if not run.summary["flows"]["measured"] and not has_endless_traffic(run)
    ]
    for variant in dict.fromkeys(run.variant for run in idle):
        those = [run for run in idle if run.variant == variant]
        text = f"{name_runs(those)}: no flow starts in the measurement window"
        if not any(run.cut for run in those):
            text += ". Change `measure.from` or `measure.to`"
        found.append(Line("NOTHING MEASURED", text, True))
    if results.fairness.has_different_traffic:
        groups = " | ".join(formats.format_listing(group) for group in results.fairness.traffic)
        text = f"variants {groups} carry different traffic: no variant is called best"
        found.append(Line("NOT COMPARED", text, True))
    if not results.fairness.measured_alike:
        text = (
            "variants differ in `[measure]`, so that their numbers are not comparable and no variant is "
            "called best. Use one `[measure]` for all variants"
        )
        found.append(Line("NOT COMPARED", text, True))
    return [
        *found,
        *lost_outside_window_warnings(results),
        *(
            Line("SAME RUN", text, True)
            for text in identical_variants.describe_groups(results.compared_runs, results.groups)
        ),
    ]


def lost_outside_window_warnings(results: FinishedRuns) -> Iterator[Line]:
    """Yields a warning for each variant that lost data, but none in the measurement window.

    `drops` counts the window, and `data_drops` the whole run.
    """
    for variant in results.variants:
        lost = {}
        for run in results.runs_of(variant):
            values = results.values[variant][run.seed]
            drops, lost_data = values.get(DROPS_KEY), values.get(DATA_DROPS_KEY)
            if drops and lost_data and not drops.value and lost_data.value:
                lost[run.seed] = (run, lost_data.value)
        if lost:
            counts = [count for _, count in lost.values()]
            least, most = formats.format_number(min(counts)), formats.format_number(max(counts))
            count = least if least == most else f"{least} to {most}"
            text = (
                f"{name_runs([run for run, _ in lost.values()])}: `drops` is 0, because it counts the "
                f"measurement window only. Outside of it, {count} data packets of measured flows were lost "
                "(`data_drops`). A longer window (`duration`, `measure.from`, `measure.to`) counts them"
            )
            yield Line("LOST OUTSIDE WINDOW", text, True)


def has_endless_traffic(run: RunData) -> bool:
    """Returns true if a run has traffic without completion times: raw sources or endless flows."""
    endless = any(workload.get("endless") for workload in run.summary["traffic"])
    return endless or int(run.summary["flows"].get("raw", 0)) > 0


def name_runs(runs: Sequence[RunData]) -> str:
    """Formats the variant and the seeds of some of its runs: `drop, seeds 1-3`."""
    seeds = formats.format_seeds(run.seed for run in runs)
    return f"{runs[0].variant}, seed{'s' if len(runs) > 1 else ''} {seeds}"


def scenario_line(results: FinishedRuns) -> Line:
    """Returns the line with the scenario's name, seeds and settings."""
    done = {variant: [run.seed for run in results.runs_of(variant)] for variant in results.variants}
    if len({tuple(seeds) for seeds in done.values()}) == 1:
        ran = next(iter(done.values()))
        text = f"seed{'s' if len(ran) != 1 else ''} {formats.format_seeds(ran) or 'none'} (n = {len(ran)})"
    else:
        each = (f"{variant} {formats.format_seeds(seeds) or 'none'}" for variant, seeds in done.items())
        text = "finished seeds: " + "; ".join(each)
    given = [one if len(one) <= 200 else f"{one[:200]}…" for one in results.facts["sets"]]
    sets = f"; set {', '.join(given)}" if given else ""
    if results.fairness.has_equal_seeds:
        text += "; all seeds gave the same values, so they count as one run"
    return Line("scenario", f"{results.scenario}, {text}{sets}")


def end_times_line(results: FinishedRuns) -> Iterable[Line]:
    """Yields the line with the times at which each variant's runs ended."""
    parts = []
    for variant in results.variants:
        ends = sorted({round_time(run.end_ps) for run in results.runs_of(variant)}, key=lambda one: one[1])
        if ends:
            last = f" to {ends[-1][0]}" if len(ends) > 1 else ""
            parts.append(f"{variant} {ends[0][0]}{last}")
    if parts:
        note = "simulated time until the last event, including timers that no flow needs"
        yield Line("ended", f"{'; '.join(parts)} ({note})")


def format_end_times(ends: Sequence[int]) -> str:
    """Formats the ends of runs: `48.8 ms to 89.2 ms`, or the exact time if all are equal."""
    first, last = min(ends), max(ends)
    if first == last:
        return formats.format_time(first)
    return " to ".join(dict.fromkeys(round_time(one)[0] for one in (first, last)))


def round_time(picoseconds: int) -> tuple[str, float]:
    """Rounds a time to three digits; returns it as text and as a number."""
    rounded = float(f"{picoseconds:.3g}")
    return formats.format_time(rounded), rounded


def window_lines(results: FinishedRuns) -> Iterable[Line]:
    """Yields lines with the measurement window, warm-up and drain."""
    if not results.runs:
        return
    groups = group_by_text(results, lambda variant: measurement_window.describe_window(results, variant))
    for variants, text in groups:
        yield Line("measured", variants + text)


def group_by_text(results: FinishedRuns, text: Any) -> list[tuple[str, str]]:
    """Returns each distinct text with a prefix of the variants that share it, empty if all variants do."""
    texts = ((text(variant), variant) for variant in results.variants)
    by_text = group_by_key((one, variant) for one, variant in texts if one is not None)
    if len(by_text) == 1:
        return [("", next(iter(by_text)))]
    return [(f"{', '.join(variants)}: ", one) for one, variants in by_text.items()]


def flows_line(results: FinishedRuns) -> Line:
    """Returns the line with the number of measured flows, and of those that are censored."""
    parts = []
    for variant in results.variants:
        runs = results.runs_of(variant)
        if runs:
            measured = sum(run.summary["flows"]["measured"] for run in runs)
            parts.append(f"{variant} {sum(run.unfinished for run in runs)} of {measured}")
    total = sum(run.unfinished for run in results.runs)
    note = "; values that depend on them are lower bounds (>), and no variant is called best"
    note = note if total else ""
    return Line("censored flows", f"{'; '.join(parts) or 'no run is finished'}{note}")


def load_lines(results: FinishedRuns) -> list[Line]:
    """Returns lines with the offered load, the achieved load in the same terms, and the carried load."""
    asked: dict[str, None] = {}
    for run in results.runs:
        for workload in rates.workloads_with_load(run):
            when = active_interval.find_active_interval(run, results.facts, str(workload["name"]))
            asked[f"{workload['name']} {format_offered_load(workload['offered'], when)}"] = None
    found = [Line("offered load", "; ".join(asked))] if asked else []
    for label, text in (("achieved load", format_achieved_load), ("carried load", format_carried_load)):
        groups = group_by_text(results, lambda variant, text=text: text(results, variant))
        found += [Line(label, variants + one) for variants, one in groups]
    return found


def format_offered_load(asked: Mapping[str, Any], when: active_interval.ActiveInterval | None) -> str:
    """Formats an offered load over the window, and while it is sent if that is a part of the window."""
    fraction, of = asked["fraction"], describe_load_terms(asked)
    if when is None:
        return f"{format_load(fraction)} {of} while it sends"
    if when.share == 1:
        return f"{format_load(fraction)} {of}"
    if when.share == 0:
        return f"0 {of} ({format_load(fraction)} while it sends, outside the window)"
    return f"{format_load(fraction * when.share)} {of} ({format_load(fraction)} while it sends, {when.text})"


def format_load(value: float) -> str:
    """Formats a load with three digits."""
    return formats.format_trimmed(float(f"{value:.3g}"))


def describe_load_terms(offered: Mapping[str, Any]) -> str:
    """Describes a load's reference: the links whose capacity it is a share of, and the bytes counted."""
    return f"of {rates.LINK_LEVELS[offered['of']]} in {offered['bytes']} bytes"


def format_achieved_load(results: FinishedRuns, variant: str) -> str | None:
    """Returns the achieved load of each workload, and the load started, as means over seeds."""
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for run in results.runs_of(variant):
        for workload, got, started in rates.achieved_and_started_loads(run):
            place = str(workload["name"]), describe_load_terms(workload["offered"])
            found.setdefault(place, []).append((got, started))
    told = []
    for (name, of), seeds in found.items():
        got, started = (sum(column) / len(seeds) for column in zip(*seeds, strict=True))
        told.append(f"{name} {format_load(got)} {of} ({format_load(started)} started in the window)")
    return "; ".join(told) or None


def format_carried_load(results: FinishedRuns, variant: str) -> str | None:
    """Returns the load that a variant's links carried in total, as means over seeds."""
    by_seed = list(results.values[variant].values())
    told = []
    for name, kind in (("load_payload", "payload"), ("load_wire", "wire")):
        parts = []
        for level, links in rates.LINK_LEVELS.items():
            known = [values[key].value for values in by_seed if (key := Key(name, of=level)) in values]
            if known:
                parts.append(f"{format_load(sum(known) / len(known))} of {links}")
        if parts:
            told.append(f"{', '.join(parts)} in {kind} bytes")
    return "; ".join(told) or None


def memory_lines(results: FinishedRuns) -> list[Line]:
    """Returns lines with each variant's switch memory, and a warning if it is unequal."""
    known = results.facts["memory"]
    totals = {
        variant: unequal_variants.format_total_memory(known[variant])
        for variant in results.variants
        if variant in known
    }
    differ = len(set(totals.values())) > 1
    groups = group_by_text(results, lambda variant: describe_memory(known.get(variant)))
    found = [Line("switch memory", variants + text) for variants, text in groups]
    if differ:
        text = (
            "the switches of the variants have unequal memory in total, so that a variant may be better only "
            "because it has more memory"
        )
        found.append(Line("UNEQUAL MEMORY", text, True))
    return found


def describe_memory(memory: dict[str, Any] | None) -> str | None:
    """Describes the switch memory of a variant."""
    if memory is None:
        return None
    return "; ".join(describe_switch_memory(one) for one in memory["switches"]) or "no switches"


def describe_switch_memory(one: dict[str, Any]) -> str:
    """Describes the memory of the switches of one tier."""
    parts = f"{one['ports']} ports, buffer {one['buffer'] or 'unlimited'}"
    parts += "".join(f", {text.format(one[key])}" for key, text in EXTRA_MEMORY_TEXTS.items() if one.get(key))
    if one.get("held"):
        amount, ports = one["held"]
        parts += f", {amount} for held ACKs at {ports} ports"
    return f"{one['count']} {one['tier']} x {format_total_memory(one['total'])} ({parts})"


def format_total_memory(total: dict[str, int] | None) -> str:
    """Formats the total memory of a switch, as `400 pkt + 50 000 B` if its parts count differently."""
    if not total:
        return "unlimited"
    units = {"packets": "pkt", "bytes": "B"}
    return " + ".join(f"{formats.format_number(amount)} {units[unit]}" for unit, amount in total.items())


def work_line(results: FinishedRuns) -> Line:
    """Returns the line with the number of simulated packet-hops and events.

    The speed depends on the machine, and is shown during the run.
    """
    events = sum(run.summary["events"] for run in results.runs)
    hops = sum(run.summary["hops"] for run in results.runs)
    return Line(
        "simulated", f"{formats.format_count(hops)} packet-hops, {formats.format_count(events)} events"
    )
