"""Plan of a sweep without tables yet, from which `overspill report` makes them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overspill.errors import BadInput
from overspill.results import cache, commit, gather, store
from overspill.results.axes import Axis, Point

if TYPE_CHECKING:
    from overspill.results.results import Results


SETTINGS = ("settings", "settings_of")  # entries of the plan only: distinct settings, and index by point


def write(out: Path, facts: dict[str, Any], settings: Sequence[str]) -> None:
    """Keeps the future manifest of a sweep and the settings of its points, until its tables are written."""
    places = {text: at for at, text in enumerate(dict.fromkeys(settings))}
    plan = facts | dict(zip(SETTINGS, (list(places), [places[text] for text in settings]), strict=True))
    store.write_text(out / store.PLAN, json.dumps(store.sealed(plan), ensure_ascii=False, allow_nan=False))


def complete(out: Path) -> None:
    """Writes the tables of a sweep that was stopped before it could, from its finished runs.

    Does nothing if no sweep is pending, if none of its runs is finished, or if earlier results in the folder
    have runs that it lacks. The caller must hold the folder's store.
    """
    if not (out / store.PLAN).is_file():
        return
    made = gathered(out, read(out))
    if made.finished:
        made.store = out / "store"
        commit.write(made, out)


def read(out: Path) -> dict[str, Any]:
    """Returns the plan of a folder; raises `BadInput` if it is not as it was written."""
    path = out / store.PLAN
    again = "expected the plan of a sweep. Run the same `overspill sweep` to continue"
    try:
        plan = json.loads(path.read_text(encoding="utf-8"))
        if plan.pop("digest") != store.seal(plan):
            raise BadInput(f"{path}: changed since it was written; {again}")
    except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError):
        raise BadInput(f"{path}: cannot be read; {again}") from None
    return dict(plan)


def gathered(out: Path, plan: dict[str, Any]) -> Results:
    """Returns the results of all runs of a plan that the store has."""
    known = {name: value for name, value in plan.items() if name not in SETTINGS}
    settings, settings_of = (plan[name] for name in SETTINGS)
    axes = [Axis(**axis) for axis in plan["axes"]]
    paths = [axis.path for axis in axes]
    planned = []
    for at, one in enumerate(plan["points"]):
        point = Point(at, dict(zip(paths, one["values"], strict=True)), ())
        of_seeds = {
            variant: [cache.run_key(config, seed, plan["max_events"]) for seed in plan["seeds"]]
            for variant, config in one["configs"].items()
        }
        planned.append(gather.Planned(point, of_seeds, settings[settings_of[at]]))
    return gather.grid(known, axes, planned, cache.Cache(out / "store"))
