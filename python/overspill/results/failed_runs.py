"""Lines about failed runs: those with the same cause share a line, which names their points and seeds."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from overspill.grouping import group_by_key
from overspill.results import formats
from overspill.results.line_labels import Line, limit_lines

if TYPE_CHECKING:
    from overspill.results.finished_runs import FinishedRuns

MAX_CAUSES, MAX_CAUSES_ON_PAGE = 6, 12  # lines about failed runs, without the line with their number
MAX_PLACES = 6  # points, and combinations of variants and seeds, that a line names
RUN_FAILED = "the run failed: "
WHERE_LISTED = "`failures` in manifest.json"


@dataclass(frozen=True)
class RunPlace:
    """Point, variant and seed of a run; the point is empty if nothing was swept."""

    point: str
    variant: str
    seed: int

    @property
    def prefix(self) -> str:
        """Text before the error of the run: `switch.x=2: drop seed 1`."""
        return (
            f"{self.point}: {self.variant} seed {self.seed}"
            if self.point
            else f"{self.variant} seed {self.seed}"
        )


@dataclass(frozen=True)
class Failure:
    """Error line of a run without its place; `place` is `None` if the line names no known run."""

    place: RunPlace | None
    text: str

    @property
    def cause(self) -> str:
        """Text before the first detail, without numbers; failures with the same cause share a line."""
        head, _, rest = self.text.partition(RUN_FAILED)
        return head + RUN_FAILED + re.sub(r"\d+", "0", rest.partition(": ")[0]) if rest else head


def failed_run_lines(results: FinishedRuns, page: bool = False) -> list[Line]:
    """Returns a line with the number of failed runs, and lines with their causes: more on a page."""
    failures = parse_failures(results.failures, missing_places(results))
    failed = len({one.place for one in failures if one.place is not None})
    found = []
    if failed:
        text = (
            f"{failed} of {results.planned} runs failed and are not in the means. A cell with fewer seeds "
            "gives their number, as `(2 of 3 seeds)`. The failed seeds may be the worst ones"
        )
        found.append(Line("FAILED", text, True))
    causes = describe_causes(failures, f"; the others differ in details: {WHERE_LISTED}")
    most = MAX_CAUSES_ON_PAGE if page else MAX_CAUSES
    return [*found, *limit_lines("FAILED", causes, most, WHERE_LISTED, loud=True)]


def missing_places(results: FinishedRuns) -> list[RunPlace]:
    """Returns the places of all runs without results."""
    paths = [axis.path for axis in results.axes]
    return [
        RunPlace(", ".join(map("=".join, zip(paths, one["point"], strict=True))), one["variant"], seed)
        for one in results.run_status.missing
        for seed in one["seeds"]
    ]


def parse_failures(lines: Sequence[str], places: Sequence[RunPlace]) -> list[Failure]:
    """Returns error lines of runs as failures; `places` are those of the runs that may have failed."""
    known = {place.prefix: place for place in places}
    return [parse_failure(line, known) for line in lines]


def parse_failure(line: str, known: Mapping[str, RunPlace]) -> Failure:
    """Returns an error line as a failure: the text after the place that it begins with."""
    for colon in re.finditer(": ", line):
        place = known.get(line[: colon.start()])
        if place is not None:
            return Failure(place, line[colon.end() :])
    return Failure(None, line)


def describe_causes(failures: Sequence[Failure], others: str) -> list[str]:
    """Returns a text for each cause, with the first error in full; `others` follows if others differ."""
    found = []
    for every in group_by_key(((one.place is None, one.cause), one) for one in failures).values():
        places = [one.place for one in every if one.place is not None]
        differ = others if len({one.text for one in every}) > 1 else ""
        where = f"{format_places(places)}: " if places else ""
        found.append(f"{where}{every[0].text}{differ}")
    return found


def format_places(places: Sequence[RunPlace]) -> str:
    """Formats the places of runs: `switch.x=2, 3: drop, bounce, seeds 1-3; switch.x=4: drop, seed 1`."""
    runs_of_point = {
        point: format_variants(some)
        for point, some in group_by_key((one.point, one) for one in places).items()
    }
    texts = [
        f"{format_points(points)}: {runs}" if points[0] else runs
        for runs, points in group_by_key((runs, point) for point, runs in runs_of_point.items()).items()
    ]
    left = len(texts) - MAX_PLACES
    return "; ".join(texts[:MAX_PLACES]) + (f"; and {left} more" if left > 0 else "")


def format_variants(places: Sequence[RunPlace]) -> str:
    """Formats the runs of one point: variants with the same seeds share a part of the text."""
    seeds = group_by_key((one.variant, one.seed) for one in places)
    by_seeds = group_by_key((tuple(sorted(some)), variant) for variant, some in seeds.items())
    return "; ".join(
        f"{', '.join(variants)}, seed{'s' if len(some) > 1 else ''} {formats.format_seeds(some)}"
        for some, variants in by_seeds.items()
    )


def format_points(points: Sequence[str]) -> str:
    """Formats points; those of a single axis share its path."""
    path = f"{points[0].partition('=')[0]}="
    if any(", " in point or not point.startswith(path) for point in points):
        left = len(points) - MAX_PLACES
        return " | ".join(points[:MAX_PLACES]) + (f" and {left} more points" if left > 0 else "")
    return path + formats.format_listing([point.removeprefix(path) for point in points], MAX_PLACES)
