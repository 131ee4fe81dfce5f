"""Entries of the catalogue, as `overspill list` and `overspill explain` print them."""

import re
from collections.abc import Sequence
from typing import Any

from overspill.cli import terms
from overspill.engine import core
from overspill.errors import BadInput
from overspill.papers import data
from overspill.results import metric_names, metrics
from overspill.results.labels import LABELS

CATEGORIES = ("mechanisms", "topologies", "transports", "traffic", "sizes", "metrics", "papers")
# Settings whose values are kinds of switches, listed like mechanisms, each value with its meaning.
CHOICES = {
    "switch.model": {
        "output_queued": "Frames wait at their output.",
        "cioq": "Frames wait at their input, in virtual output queues, and then at their output.",
        "fabric": "Frames wait at inputs, at outputs, and in stages between them, which internal links join.",
    }
}
SLOTS = {"topologies": "topology", "transports": "transport", "traffic": "traffic"}

# Behaviour of switches in the field, as tables of `[switch]`; the page of each kind says more.
AS_OTHERS = {
    "switch.overflow.trim": (
        ("CP: headers wait in the queue of their data", {"overflow": '{ kind = "trim" }'}),
        (
            "UEC: DSCP_TRIMMABLE is class 0, DSCP_TRIMMED class 1; headers get at most a quarter of a "
            "busy link",
            {
                "overflow": '{ kind = "trim", trimmable = "class", trimmable_class = 0, trim_size = "64B", '
                "header_class = 1 }",
                "scheduler": '{ kind = "round_robin", weights = [3, 1] }',
            },
        ),
        (
            "SAI, SONiC: PACKET_TRIM_SIZE, and a DSCP and queue index of trimmed packets",
            {
                "overflow": '{ kind = "trim", trimmable = "class", trimmable_class = 0, trim_size = "128B", '
                "header_class = 6 }",
            },
        ),
        (
            "NDP: headers 10 : 1 ahead of data; a coin selects the packet to cut; headers that do not "
            "fit return",
            {
                "overflow": '{ kind = "trim", trimmable = "any", header_class = 1, victim = "coin", '
                'no_room = "return" }',
                "scheduler": '{ kind = "round_robin", weights = [1, 10] }',
            },
        ),
    ),
}

Spec = dict[str, Any]


def as_others(spec: Spec) -> str:
    """Returns settings under which an entry equals mechanisms of the field; empty if none are known."""
    lines = []
    for name, tables in AS_OTHERS.get(f"{spec['slot']}.{spec['kind']}", ()):
        lines += [f"  {name}", *(f"      switch.{key} = {table}" for key, table in tables.items())]
    return "\n".join(["As in the field:", *lines]) if lines else ""


def category(spec: Spec) -> str:
    """Returns the category in which an entry of the core's catalogue is listed."""
    if not spec["kind"]:
        return "settings"
    if spec["slot"] == "traffic.sizes":
        return "sizes"
    first = spec["slot"].split(".")[0]
    return next((name for name, slot in SLOTS.items() if slot == first), "mechanisms")


def entries(which: str) -> list[tuple[str, str, str]]:
    """Returns group, name and meaning of every entry of a category."""
    if which == "metrics":
        return [(f"metrics, in {metric.unit}", metric.name, metric.doc) for metric in metrics.ALL]
    if which == "sizes":
        shapes = [(one["kind"], one["doc"]) for one in core.catalogue() if category(one) == "sizes"]
        return [("distributions of flow sizes", name, doc) for name, doc in [*sizes().items(), *shapes]]
    if which == "papers":
        return [("papers", name, title) for name, title in data.titles()]
    if which not in CATEGORIES:
        meant = metric_names.hint(which, CATEGORIES)
        raise BadInput(f"list: found {which!r}; expected one of {', '.join(CATEGORIES)}{meant}")
    found = [
        (spec["slot"], spec["kind"], spec["doc"]) for spec in core.catalogue() if category(spec) == which
    ]
    if which == "mechanisms":
        first = next((at for at, (slot, *_) in enumerate(found) if slot.startswith("switch.")), len(found))
        found[first:first] = chosen()
    return found


def select_categories(which: str | None) -> Sequence[str]:
    """Returns the categories to list; raises `BadInput` if it is papers alone and there are none."""
    if which == "papers" and not data.names():
        raise BadInput(f"list: {data.describe_absence()}")
    return [which] if which else CATEGORIES


def listed(categories: Sequence[str]) -> dict[str, list[dict[str, str]]]:
    """Returns the entries of categories as one JSON document."""
    return {
        which: [{"group": group, "name": name, "doc": doc} for group, name, doc in entries(which)]
        for which in categories
    }


def chosen() -> list[tuple[str, str, str]]:
    """Returns the values of settings that are listed beside kinds: setting, value and meaning."""
    known = {f"{spec['slot']}.{one['name']}" for spec in core.catalogue() for one in spec["params"]}
    return [(name, value, doc) for name in CHOICES if name in known for value, doc in CHOICES[name].items()]


def sizes() -> dict[str, str]:
    """Returns the built-in distributions of flow sizes, from the text of the parameters named `sizes`."""
    docs = [one["doc"] for spec in core.catalogue() for one in spec["params"] if one["name"] == "sizes"]
    return {name: doc for text in docs for name, doc in re.findall(r"`(\w+)` \(([^()]*)\)", text)}


def given(parameter: Spec) -> str:
    """Returns the type, the allowed values and the default of a parameter as text."""
    default = parameter["default"]
    required = parameter.get("required", default is None)
    otherwise = "required" if required else f"default {default if default is not None else 'none'}"
    allowed = f", {parameter['allowed']}" if parameter.get("allowed") else ""
    return f"({parameter['type']}{allowed}; {otherwise})"


def parameters(specs: list[Spec], name: str) -> str:
    """Returns all parameters named `k` or `k_shortest.k`, with their entries, as text; empty without one."""
    owners: dict[tuple[str, str], list[str]] = {}
    for spec in specs:
        owner = f"{spec['slot']} {spec['kind']}".strip()
        known = {spec["kind"], spec["slot"], owner.replace(" ", ".")} - {""}
        for one in spec["params"]:
            if name in (one["name"], *(f"{prefix}.{one['name']}" for prefix in known)):
                text = f"{given(one)}\n      {one['doc']}"
                owners.setdefault((one["name"], text), []).append(owner)
    return "\n".join(f"{key}, of {', '.join(names)} {text}" for (key, text), names in owners.items())


def is_choice(parameter: Spec, name: str) -> bool:
    """Returns true if a name is a value of a parameter: a choice, or a word in place of a quantity."""
    allowed = parameter["allowed"] or ""
    return f"`{name}`" in allowed if parameter["type"] == "choice" else allowed.endswith(f', or "{name}"')


def choices(specs: list[Spec], name: str) -> str:
    """Returns all parameters of which a name is a value, as text; empty without one."""
    found = []
    for spec in specs:
        owner = f"{spec['slot']} {spec['kind']}".strip()
        chosen = [one for one in spec["params"] if is_choice(one, name)]
        found += [
            f"{name}, a value of {one['name']} of {owner} {given(one)}\n      {one['doc']}" for one in chosen
        ]
    return "\n".join(found)


def told_of(specs: list[Spec], name: str) -> str:
    """Returns the entries and parameters whose description has a name, as text; empty without one."""
    found = []
    for spec in specs:
        owner = f"{spec['slot']} {spec['kind']}".strip()
        texts = [
            (owner, spec["doc"]),
            *((f"{one['name']}, of {owner}", one["doc"]) for one in spec["params"]),
        ]
        found += [f"{what}: {text}" for what, text in texts if f"`{name}`" in text]
    return "\n".join(dict.fromkeys(found))


def called(spec: Spec) -> set[str]:
    """Returns the names of an entry: `detour`, `switch.overflow.detour`, and its slot `switch.overflow`."""
    return {spec["kind"], f"{spec['slot']}.{spec['kind']}", spec["slot"]}


def aliases(name: str) -> list[Spec]:
    """Returns the rows of the core's table of aliases for a name of the field."""
    typed = "".join(letter for letter in name.casefold() if letter.isascii() and letter.isalnum())
    return [one for one in core.aliases() if one["typed"] == typed] if typed else []


def said_of(alias: Spec) -> str:
    """Returns a sentence with the entry that a name of the field stands for, and how its meaning differs."""
    table = f"{alias['slot']}.{alias['kind']}".strip(".")
    meant = (
        f"`{alias['param']}` of `{table}`" if alias["param"] else f"`{alias['kind']}` of `{alias['slot']}`"
    )
    first = alias["said"][0].upper() + alias["said"][1:]
    return f"{first} is {meant} here. {alias['note']}".rstrip()


def meant_by(specs: list[Spec], rows: list[Spec]) -> list[Spec] | str | None:
    """Returns the entries that aliases stand for, or the parameters as text; `None` without any alias."""
    kinds = [
        spec
        for spec in specs
        if any((spec["slot"], spec["kind"], "") == (one["slot"], one["kind"], one["param"]) for one in rows)
    ]
    if kinds or not rows:
        return kinds or None
    names = [".".join(filter(None, (one["slot"], one["kind"], one["param"]))) for one in rows]
    texts = [parameters(specs, name) for name in dict.fromkeys(names)]
    return "\n".join([*dict.fromkeys(map(said_of, rows)), *dict.fromkeys(filter(None, texts))])


def known(specs: list[Spec], name: str) -> list[Spec] | metrics.Metric | str | None:
    """Returns the entries, metric or text of an exact name, or of a name that is used in the field."""
    if found := [spec for spec in specs if {name, name.lower()} & called(spec)]:
        return found
    if metrics.base(name) in metrics.REGISTRY:
        return metrics.find(name if "=" in name or "[" not in name else metric_names.key_of(name, ()))
    if name in sizes():
        return f"{name}: flow sizes, {sizes()[name]}. For `sizes` of a traffic entry."
    if meant := meant_by(specs, aliases(name)):
        return meant
    return parameters(specs, name) or choices(specs, name) or None


def beside(name: str, found: Sequence[Spec]) -> str:
    """Returns parameters and values that share the name of an alias, as text; empty without any."""
    if any(name.casefold() in called(spec) for spec in found):
        return ""
    specs = core.catalogue()
    return "\n".join(filter(None, (parameters(specs, name), choices(specs, name))))


def printed(name: str) -> metrics.Metric | str | None:
    """Returns the label or the metric that tables print under a name, in any case of letters."""
    wanted = name.strip().casefold()
    for label, meaning in LABELS.items():
        if label.casefold() == wanted:
            return f"{label}: {meaning}"
    title = re.sub(r"( \[[^]]*\])?( \([^()]*\))?$", "", wanted)
    of_title = [one for one in metrics.ALL if one.title.casefold() in (wanted, title)]
    return of_title[0] if of_title else None


def find(name: str) -> list[Spec] | metrics.Metric | str:
    """Returns the meaning of a name: a term, kind, slot, metric, parameter, label, and so on.

    Upper and lower case are equivalent if nothing has exactly this name.
    """
    specs = core.catalogue()
    if meaning := terms.explained(name, specs):
        named = [f(specs, one) for one in (name, name.lower()) for f in (parameters, choices)]
        return "\n".join(dict.fromkeys([meaning, *filter(None, named)]))
    for one in dict.fromkeys((name, name.lower())):
        found = known(specs, one) or printed(name)
        if found:
            return found
    if metric := terms.titled(name):
        return metric
    if text := told_of(specs, name):
        return text
    every = sorted({spec["kind"] or spec["slot"] for spec in specs} | {spec["slot"] for spec in specs})
    others = [*sizes(), *metrics.REGISTRY, *(one["typed"] for one in core.aliases())]
    meant = metric_names.hint(name, [*every, *others]) or "; see `overspill list`"
    raise BadInput(f"explain: found {name!r}; expected a name of the catalogue{meant}")
