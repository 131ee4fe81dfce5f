"""Times at which a workload sends: the part of the measurement window in which it offers load."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from overspill.results import formats
from overspill.results.rundata import RunData

PS_PER_UNIT = {"ps": 1.0, "ns": 1e3, "us": 1e6, "ms": 1e9, "s": 1e12}
TIME_PATTERN = re.compile(rf"([0-9]+(?:\.[0-9]+)?)({'|'.join(PS_PER_UNIT)})")


@dataclass(frozen=True)
class ActiveInterval:
    """Interval in ps in which a workload starts flows or packets, and its share of the measurement window."""

    start: float
    end: float
    share: float

    @property
    def text(self) -> str:
        """Text of the interval: `0 s to 15 ms`."""
        return f"{formats.format_time(self.start)} to {formats.format_time(self.end)}"


def find_active_interval(run: RunData, facts: Mapping[str, Any], name: str) -> ActiveInterval | None:
    """Returns the interval in which a workload sends; `None` if the scenario's keys do not determine it."""
    resolved = (facts.get("resolved") or {}).get(run.variant) or {}
    keys = next((one for one in resolved.get("traffic") or [] if one.get("name") == name), None)
    first, last = run.window_ps
    if keys is None or last <= first:
        return None
    start, end = (
        parse_time(keys.get("start", "0ps")),
        parse_time(keys["stop"]) if "stop" in keys else float(last),
    )
    if start is None or end is None:
        return None
    if "repeat" in keys:
        gap = parse_time(keys["interval"]) if "interval" in keys else shuffle_interval(run, name)
        if gap is None:
            return None
        end = min(end, start + int(keys["repeat"]) * gap)
    start, end = max(start, float(first)), min(end, float(last))
    return ActiveInterval(start, end, max(end - start, 0.0) / (last - first))


def shuffle_interval(run: RunData, name: str) -> float | None:
    """Returns the time in ps between shuffles that gives the offered load; `None` without a load."""
    gaps = (one.get("paced_ps") for one in run.summary["traffic"] if one["name"] == name)
    return next((float(gap) for gap in gaps if gap is not None), None)


def parse_time(text: object) -> float | None:
    """Returns a time of a resolved scenario in ps; `None` if it is not a time."""
    parts = TIME_PATTERN.fullmatch(str(text))
    return float(parts[1]) * PS_PER_UNIT[parts[2]] if parts else None
