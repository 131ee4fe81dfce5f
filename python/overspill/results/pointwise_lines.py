"""Facts and warnings of a sweep's points, as `run` prints them for one point, collected and merged."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from overspill.results import fairness, header, run_facts
from overspill.results.axes import Point
from overspill.results.finished_runs import FinishedRuns
from overspill.results.line_labels import LABEL_MEANINGS, Line

# Labels that are merged over all points elsewhere, since their texts name points and metrics themselves.
LABELS_MERGED_ELSEWHERE = (
    *("PARTIAL RESULT", "INTERRUPTED", "FAILED", "UNFINISHED FLOWS", "DEADLOCK", "STARVED FLOWS"),
    *("SEEDS ALIKE", "SAME RUN", "FEW SEEDS", "few samples", "scenario", "note"),
)
MAX_TEXTS_STORED = 200  # texts of a label in a manifest: a grid may have 100,000 points
MAX_LOUD_TEXTS, MAX_QUIET_TEXTS = 6, 1  # texts of a label that a terminal shows
UNKNOWN_LABEL = "NOT KNOWN"
OLD_VERSION_TEXT = (
    "an older version of Overspill stored these runs without the data for loads, events and the warnings NOT "
    "STEADY, NOT COMPARED and UNEQUAL MEMORY. Run the same command again to see whether these warnings apply"
)
# Keys of a workload that facts and warnings read. Others are stored only for raw sources, to save space.
KEPT_WORKLOAD_KEYS = ("name", "kind", "start", "stop", "repeat", "interval", "transport")


def settings_for_lines(document: Mapping[str, Any]) -> str:
    """Returns the settings that facts and warnings need, as JSON: measurement, memory, traffic, transport."""
    resolved, memory = document["resolved"], document.get("memory") or {}
    kept = {
        name: {
            "measure": one.get("measure"),
            "traffic": [workload_settings(keys) for keys in one.get("traffic") or []],
            "transport": one.get("transport"),
            "override": [{"transport": True} for keys in one.get("override") or [] if "transport" in keys],
        }
        for name, one in resolved.items()
    }
    return json.dumps({"resolved": kept, "memory": memory}, sort_keys=True)


def workload_settings(keys: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the keys of a workload that facts and warnings need; all keys of raw sources."""
    whole = keys.get("kind") in fairness.RAW_KINDS
    return {name: one for name, one in keys.items() if whole or name in KEPT_WORKLOAD_KEYS}


def workload_names(settings: Iterable[str]) -> list[str]:
    """Returns the names of all workloads, of any variant at any point."""
    found: dict[str, None] = {}
    for text in dict.fromkeys(settings):
        for one in json.loads(text)["resolved"].values():
            found |= dict.fromkeys(keys["name"] for keys in one["traffic"] if "name" in keys)
    return list(found)


@dataclass
class CollectedLines:
    """Collector of facts and warnings of all points; equal lines of several points are one entry."""

    points: int = 0
    points_by_text: dict[str, dict[tuple[str, bool], list[int]]] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)

    def add(self, point: Point, results: FinishedRuns) -> None:
        """Adds the facts and warnings of one point."""
        self.points += 1
        for line in lines_of_point(results):
            texts = self.points_by_text.setdefault(line.label, {})
            key = (line.text, line.loud)
            if key not in texts and len(texts) >= MAX_TEXTS_STORED:
                self.left_out[line.label] = self.left_out.get(line.label, 0) + 1
                continue
            texts.setdefault(key, []).append(point.index)

    @property
    def facts(self) -> list[dict[str, Any]]:
        """Facts and warnings for the manifest: an entry for each label, in the order of `LABEL_MEANINGS`."""
        order = {label: at for at, label in enumerate(LABEL_MEANINGS)}
        return [
            {
                "label": label,
                "left_out": self.left_out.get(label, 0),
                "texts": [
                    {"text": text, "loud": loud, "points": points if len(points) < self.points else "all"}
                    for (text, loud), points in self.points_by_text[label].items()
                ],
            }
            for label in sorted(self.points_by_text, key=lambda label: order[label])
        ]


def lines_of_point(results: FinishedRuns) -> list[Line]:
    """Returns the facts and warnings of one point of a sweep, except those that are merged elsewhere."""
    if not all(run_facts.has_all_facts(run.summary) for run in results.runs):
        return [Line(UNKNOWN_LABEL, OLD_VERSION_TEXT, True)]
    return [line for line in header.header_lines(results) if line.label not in LABELS_MERGED_ELSEWHERE]


def merged_lines(
    facts: Mapping[str, Any], loud: int = MAX_LOUD_TEXTS, quiet: int = MAX_QUIET_TEXTS
) -> list[Line]:
    """Returns the merged facts and warnings of all points: at most `loud` or `quiet` texts for each label."""
    if "lines" not in facts:
        return [Line(UNKNOWN_LABEL, OLD_VERSION_TEXT, True)] if facts.get("points") else []
    return [line for entry in facts["lines"] for line in merge_lines(entry, facts, (loud, quiet))]


def merge_lines(entry: Mapping[str, Any], facts: Mapping[str, Any], most: tuple[int, int]) -> Iterable[Line]:
    """Yields the merged lines of one label: texts that hold at every point first."""
    every = sorted(entry["texts"], key=lambda one: one["points"] != "all")
    shown = [one for one in every if one["points"] == "all"]
    limit = max(most[0 if any(one["loud"] for one in every) else 1], len(shown))
    shown += every[len(shown) : limit]
    left = len(every) - len(shown) + entry["left_out"]
    for at, one in enumerate(shown):
        more = f" (and {left} more: `lines` in manifest.json)" if left and at == len(shown) - 1 else ""
        where = "" if one["points"] == "all" else f"{format_points(facts, one['points'])}: "
        yield Line(entry["label"], f"{where}{one['text']}{more}", one["loud"])


def format_points(facts: Mapping[str, Any], points: Sequence[int]) -> str:
    """Formats points by their values: `switch.buffer.size=50pkt and 3 more points`."""
    values = facts["points"][points[0]]["values"]
    first = ", ".join(f"{axis['path']}={text}" for axis, text in zip(facts["axes"], values, strict=True))
    left = len(points) - 1
    return f"{first} and {left} more point{'s' if left > 1 else ''}" if left else first
