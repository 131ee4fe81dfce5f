"""Changes of the network during a run: one row per event, with the frames lost because of it."""

from dataclasses import dataclass, field
from typing import Any

from overspill.results import formats
from overspill.results.finished_runs import FinishedRuns
from overspill.results.line_labels import Line
from overspill.results.rundata import NetworkChange, RunData

COSTS_KEY = "event_costs"  # entry of a kept summary: costs of the events of a run whose tables are not kept
MAX_LINES = 12  # events that are printed; the report has all


@dataclass
class ChangeRow:
    """Network event, with the frames that each variant lost on its link, and at its ports or without a route.

    `costs` has both numbers by variant, for each seed.
    """

    change: NetworkChange
    costs: dict[str, list[tuple[int, int]]] = field(default_factory=dict)

    def format_lost_frames(self, variant: str) -> str:
        """Returns the frames that the event cost a variant, as means over seeds.

        `340 on the link, 12 at its ports or without a route`
        """
        if variant not in self.costs:
            return "-"
        if not self.change.loses:
            return ""
        found = self.costs[variant]
        lost, dropped = (sum(one[at] for one in found) / len(found) for at in (0, 1))
        on_link = f"{format_mean(lost)} on the link"
        return f"{on_link}, {format_mean(dropped)} at its ports or without a route" if dropped else on_link


def format_mean(value: float) -> str:
    """Formats a mean of counts with three digits at least."""
    return (
        formats.format_number(round(value))
        if value >= 1000
        else formats.format_trimmed(float(f"{value:.3g}"))
    )


def network_event_rows(results: FinishedRuns) -> list[ChangeRow]:
    """Returns every event that happened in a run, in order of time."""
    found: dict[NetworkChange, ChangeRow] = {}
    for variant in results.variants:
        for run in results.runs_of(variant):
            for change, cost in changes_with_costs(run):
                row = found.setdefault(change, ChangeRow(change))
                row.costs.setdefault(variant, []).append(cost)
    return sorted(found.values(), key=lambda row: row.change.at_ps)


def changes_with_costs(run: RunData) -> list[tuple[NetworkChange, tuple[int, int]]]:
    """Returns the events of a run, each with frames lost on the link, and at its ports or without a route."""
    kept = run.summary.get(COSTS_KEY)
    every = count_frames_lost_by_event(run) if kept is None else kept
    return [(run.changes[at], (on_link, at_ports)) for at, on_link, at_ports in every]


def count_frames_lost_by_event(run: RunData) -> list[tuple[int, int, int]]:
    """Returns for each event its number, frames lost on the link, and at its ports or without a route."""
    number, lost, dropped = run.columns("events", "event", "lost", "dropped")
    known = zip(number.tolist(), lost.tolist(), dropped.tolist(), strict=True)
    return [(int(at), int(on_link), int(at_ports)) for at, on_link, at_ports in known]


def changes_document(run: RunData) -> list[dict[str, Any]]:
    """Returns the events of a run, for `results.json`."""
    return [
        {
            "seed": run.seed,
            "at_ps": one.at_ps,
            "link": one.link,
            "what": one.what,
            "lost": lost,
            "dropped": dropped,
        }
        for one, (lost, dropped) in changes_with_costs(run)
    ]


def change_lines(results: FinishedRuns) -> list[Line]:
    """Returns a line for each of the first events, in order of time."""
    every = network_event_rows(results)
    found = [Line("event", describe_event(row, results)) for row in every[:MAX_LINES]]
    left = len(every) - len(found)
    return [*found, Line("event", f"{left} more are in the report")] if left else found


def describe_event(row: ChangeRow, results: FinishedRuns) -> str:
    """Returns an event as a sentence: time, link, change, and the frames that it cost each variant."""
    having = [variant for variant in results.variants if variant in row.costs]
    head = f"{formats.format_time(row.change.at_ps)}: {row.change.text}"
    if not row.change.loses:
        alone = f" ({', '.join(having)})" if len(having) < len(results.variants) else ""
        return head + alone
    lost = "; ".join(f"{variant} {row.format_lost_frames(variant)}" for variant in having)
    return f"{head}; frames lost: {lost}"
