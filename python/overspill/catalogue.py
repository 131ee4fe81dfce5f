"""What there is to choose from, as `overspill list` and `overspill explain` tell it."""

import difflib
from typing import Any

from overspill import core, metrics
from overspill.errors import BadInput

CATEGORIES = ("mechanisms", "topologies", "transports", "traffic", "metrics")
SLOTS = {"topologies": "topology", "transports": "transport", "traffic": "traffic"}

Spec = dict[str, Any]


def category(spec: Spec) -> str:
    """Where an entry of the core's catalogue is listed."""
    if not spec["kind"]:
        return "settings"
    first = spec["slot"].split(".")[0]
    return next((name for name, slot in SLOTS.items() if slot == first), "mechanisms")


def entries(which: str) -> list[tuple[str, str, str]]:
    """Group, name and meaning of all in a category."""
    if which == "metrics":
        return [(f"metrics, in {metric.unit}", metric.name, metric.doc) for metric in metrics.ALL]
    if which not in CATEGORIES:
        raise BadInput(f"list: found {which!r}; expected one of {', '.join(CATEGORIES)}")
    return [(spec["slot"], spec["kind"], spec["doc"]) for spec in core.catalogue() if category(spec) == which]


def find(name: str) -> list[Spec] | metrics.Metric:
    """What a name stands for: a metric, a kind in one or more slots, or a whole slot."""
    specs = core.catalogue()
    found = [spec for spec in specs if name in (spec["kind"], f"{spec['slot']}.{spec['kind']}", spec["slot"])]
    if found:
        return found
    if metrics.base(name) in metrics.REGISTRY:
        return metrics.find(name)
    known = sorted({spec["kind"] or spec["slot"] for spec in specs} | {spec["slot"] for spec in specs})
    close = difflib.get_close_matches(name, [*known, *metrics.REGISTRY], n=3)
    hint = f"; did you mean {' or '.join(close)}?" if close else "; see `overspill list`"
    raise BadInput(f"explain: found {name!r}; expected a name of the catalogue{hint}")
