"""Plan of a sweep that has no tables yet, from which `overspill report` writes them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overspill.errors import BadInput
from overspill.results import cache, gather_sweep, results_folder, write_results
from overspill.results.axes import Axis, Point

if TYPE_CHECKING:
    from overspill.results.results import Results


SETTINGS_KEYS = ("settings", "settings_of")  # entries of the plan only: distinct settings, and index by point


def keep_plan(out: Path, facts: dict[str, Any], settings: Sequence[str]) -> None:
    """Writes the plan of a sweep: its future manifest and the settings of its points.

    The plan stays until the tables of the sweep are written.
    """
    places = {text: at for at, text in enumerate(dict.fromkeys(settings))}
    plan = facts | dict(zip(SETTINGS_KEYS, (list(places), [places[text] for text in settings]), strict=True))
    results_folder.write_text(
        out / results_folder.PLAN_FILE,
        json.dumps(results_folder.with_digest(plan), ensure_ascii=False, allow_nan=False),
    )


def complete_sweep(out: Path) -> None:
    """Writes the tables of a sweep that was stopped before it wrote them, from its finished runs.

    Does nothing if no sweep is pending, if none of its runs is finished, or if earlier results in the folder
    have runs that it lacks. The caller must hold the folder's store.
    """
    if not (out / results_folder.PLAN_FILE).is_file():
        return
    made = gather_plan(out, read_plan(out))
    if made.finished:
        made.store = out / "store"
        write_results.write_unless_fewer_runs(made, out)


def read_plan(out: Path) -> dict[str, Any]:
    """Returns the plan of a folder; raises `BadInput` if it is not as it was written."""
    path = out / results_folder.PLAN_FILE
    again = "expected the plan of a sweep. Run the same `overspill sweep` to continue"
    try:
        plan = json.loads(path.read_text(encoding="utf-8"))
        if plan.pop("digest") != results_folder.manifest_digest(plan):
            raise BadInput(f"{path}: changed since it was written; {again}")
    except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError):
        raise BadInput(f"{path}: cannot be read; {again}") from None
    return dict(plan)


def gather_plan(out: Path, plan: dict[str, Any]) -> Results:
    """Returns the results of those runs of a plan that are in the store."""
    known = {name: value for name, value in plan.items() if name not in SETTINGS_KEYS}
    settings, settings_of = (plan[name] for name in SETTINGS_KEYS)
    axes = [Axis(**axis) for axis in plan["axes"]]
    paths = [axis.path for axis in axes]
    planned = []
    for at, one in enumerate(plan["points"]):
        point = Point(at, dict(zip(paths, one["values"], strict=True)), ())
        of_seeds = {
            variant: [cache.run_key(config, seed, plan["max_events"]) for seed in plan["seeds"]]
            for variant, config in one["configs"].items()
        }
        planned.append(gather_sweep.PlannedPoint(point, of_seeds, settings[settings_of[at]]))
    return gather_sweep.gather_grid(known, axes, planned, cache.RunStore(out / "store"))
