"""Entries of the catalogue, as `overspill list` and `overspill explain` print them."""

import re
from collections.abc import Sequence
from typing import Any

from overspill import shipped_files
from overspill.cli import terms
from overspill.engine import core
from overspill.errors import BadInput
from overspill.papers import paper_files
from overspill.results import metric_names, metrics
from overspill.results.line_labels import LABEL_MEANINGS

CATEGORIES = ("mechanisms", "topologies", "transports", "traffic", "sizes", "metrics", "papers", "examples")
# Settings whose values are kinds of switches, listed like mechanisms. Each value has its meaning here, since
# the core's catalogue has no entries for values.
KINDS_OF_SETTINGS = {
    "switch.model": {
        "output_queued": "Frames wait at their output.",
        "cioq": "Frames wait at their input, in virtual output queues, and then at their output.",
        "fabric": "Frames wait at inputs, at outputs, and in stages between them, which internal links join.",
    }
}
SLOT_OF_CATEGORY = {"topologies": "topology", "transports": "transport", "traffic": "traffic"}

# Tables of `[switch]` that make a mechanism equal to that of known switches and standards, as `overspill
# explain` prints them. The page of each mechanism says more.
EQUIVALENT_SETTINGS = {
    "switch.overflow.trim": (
        ("CP: cut headers wait in the queue of their data", {"overflow": '{ kind = "trim" }'}),
        (
            "UEC: class 0 is DSCP_TRIMMABLE, class 1 is DSCP_TRIMMED, and headers get at most a quarter of a "
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
            "NDP: headers are sent before data at a ratio of 10 : 1, a fair coin selects the packet to cut, "
            "and headers that do not fit return to their source",
            {
                "overflow": '{ kind = "trim", trimmable = "any", header_class = 1, victim = "coin", '
                'no_room = "return" }',
                "scheduler": '{ kind = "round_robin", weights = [1, 10] }',
            },
        ),
    ),
}

Spec = dict[str, Any]


def equivalent_settings(spec: Spec) -> str:
    """Returns settings that make a mechanism equal to one known from the field; empty if none are known."""
    lines = []
    for name, tables in EQUIVALENT_SETTINGS.get(f"{spec['slot']}.{spec['kind']}", ()):
        lines += [f"  {name}", *(f"      switch.{key} = {table}" for key, table in tables.items())]
    return "\n".join(["Settings of known switches and standards:", *lines]) if lines else ""


def category_of_entry(spec: Spec) -> str:
    """Returns the category in which an entry of the core's catalogue is listed."""
    if not spec["kind"]:
        return "settings"
    if spec["slot"] == "traffic.sizes":
        return "sizes"
    first = spec["slot"].split(".")[0]
    return next((name for name, slot in SLOT_OF_CATEGORY.items() if slot == first), "mechanisms")


def list_entries(which: str) -> list[tuple[str, str, str]]:
    """Returns group, name and meaning of every entry of a category."""
    if which == "metrics":
        return [(f"metrics, in {metric.unit}", metric.name, metric.doc) for metric in metrics.ALL_METRICS]
    if which == "sizes":
        shapes = [(one["kind"], one["doc"]) for one in core.catalogue() if category_of_entry(one) == "sizes"]
        return [
            ("distributions of flow sizes", name, doc)
            for name, doc in [*list_size_distributions().items(), *shapes]
        ]
    if which == "papers":
        return [("papers", name, title) for name, title in paper_files.paper_titles()]
    if which == "examples":
        examples = shipped_files.example_scenarios()
        return [("examples", name, shipped_files.describe_example(path)) for name, path in examples.items()]
    if which not in CATEGORIES:
        meant = metric_names.similar_names_hint(which, CATEGORIES)
        raise BadInput(f"list: found {which!r}; expected one of {', '.join(CATEGORIES)}{meant}")
    found = [
        (spec["slot"], spec["kind"], spec["doc"])
        for spec in core.catalogue()
        if category_of_entry(spec) == which
    ]
    if which == "mechanisms":
        first = next((at for at, (slot, *_) in enumerate(found) if slot.startswith("switch.")), len(found))
        found[first:first] = list_setting_values()
    return found


def select_categories(which: str | None) -> Sequence[str]:
    """Returns the categories to list; raises `BadInput` if only papers are requested and none are found."""
    if which == "papers" and not paper_files.paper_names():
        raise BadInput(f"list: {paper_files.describe_absence()}")
    return [which] if which else CATEGORIES


def list_as_document(categories: Sequence[str]) -> dict[str, list[dict[str, str]]]:
    """Returns the entries of categories as one JSON document."""
    return {
        which: [{"group": group, "name": name, "doc": doc} for group, name, doc in list_entries(which)]
        for which in categories
    }


def list_setting_values() -> list[tuple[str, str, str]]:
    """Returns the choices that `overspill list` prints for some parameters: parameter, value and meaning."""
    known = {f"{spec['slot']}.{one['name']}" for spec in core.catalogue() for one in spec["params"]}
    return [
        (name, value, doc)
        for name in KINDS_OF_SETTINGS
        if name in known
        for value, doc in KINDS_OF_SETTINGS[name].items()
    ]


def list_size_distributions() -> dict[str, str]:
    """Returns the built-in distributions of flow sizes, from the text of the parameters named `sizes`."""
    docs = [one["doc"] for spec in core.catalogue() for one in spec["params"] if one["name"] == "sizes"]
    return {name: doc for text in docs for name, doc in re.findall(r"`(\w+)` \(([^()]*)\)", text)}


def describe_type(parameter: Spec) -> str:
    """Returns the type, the allowed values and the default of a parameter as text."""
    default = parameter["default"]
    required = parameter.get("required", default is None)
    otherwise = "required" if required else f"default {default if default is not None else 'none'}"
    allowed = f", {parameter['allowed']}" if parameter.get("allowed") else ""
    return f"({parameter['type']}{allowed}; {otherwise})"


def owner_name(spec: Spec) -> str:
    """Returns the owner of parameters: an entry such as `switch.overflow trim`, or `the scenario`."""
    return f"{spec['slot']} {spec['kind']}".strip() or "the scenario"


def describe_parameters(specs: list[Spec], name: str) -> str:
    """Describes all parameters named `k`, or `k` of `k_shortest`, with their entries; empty if none."""
    owners: dict[tuple[str, str], list[str]] = {}
    for spec in specs:
        owner = owner_name(spec)
        known = {spec["kind"], spec["slot"], owner.replace(" ", ".")} - {""}
        for one in spec["params"]:
            if name in (one["name"], *(f"{prefix}.{one['name']}" for prefix in known)):
                text = f"{describe_type(one)}\n      {one['doc']}"
                owners.setdefault((one["name"], text), []).append(owner)
    return "\n".join(f"{key}, of {', '.join(names)} {text}" for (key, text), names in owners.items())


def is_choice(parameter: Spec, name: str) -> bool:
    """Returns true if `name` is a value of a parameter: a choice, or a word in place of a quantity."""
    allowed = parameter["allowed"] or ""
    return f"`{name}`" in allowed if parameter["type"] == "choice" else allowed.endswith(f', or "{name}"')


def describe_choices(specs: list[Spec], name: str) -> str:
    """Describes every parameter that allows the value `name`, a choice or a word; empty if none does."""
    found = []
    for spec in specs:
        owner = owner_name(spec)
        chosen = [one for one in spec["params"] if is_choice(one, name)]
        found += [
            f"{name}, a value of {one['name']} of {owner} {describe_type(one)}\n      {one['doc']}"
            for one in chosen
        ]
    return "\n".join(found)


def find_in_descriptions(specs: list[Spec], name: str) -> str:
    """Describes entries and parameters whose description has `name` in backquotes; empty if none has."""
    found = []
    for spec in specs:
        owner = owner_name(spec)
        texts = [
            (owner, spec["doc"]),
            *((f"{one['name']}, of {owner}", one["doc"]) for one in spec["params"]),
        ]
        found += [f"{what}: {text}" for what, text in texts if f"`{name}`" in text]
    return "\n".join(dict.fromkeys(found))


def names_of_entry(spec: Spec) -> set[str]:
    """Returns the names of an entry: `detour`, `switch.overflow.detour`, and its slot `switch.overflow`."""
    return {spec["kind"], f"{spec['slot']}.{spec['kind']}", spec["slot"]}


def find_aliases(name: str) -> list[Spec]:
    """Returns the core's aliases for a name that papers, standards or other tools use."""
    typed = "".join(letter for letter in name.casefold() if letter.isascii() and letter.isalnum())
    return [one for one in core.aliases() if one["typed"] == typed] if typed else []


def describe_alias(alias: Spec) -> str:
    """Describes the entry or parameter that an alias stands for, and how its meaning differs."""
    table = f"{alias['slot']}.{alias['kind']}".strip(".")
    owner = f"`{table}`" if table else "the scenario"
    meant = f"`{alias['param']}` of {owner}" if alias["param"] else f"`{alias['kind']}` of `{alias['slot']}`"
    return f"In Overspill, {alias['said']} is {meant}. {alias['note']}".rstrip()


def resolve_aliases(specs: list[Spec], rows: list[Spec]) -> list[Spec] | str | None:
    """Returns the entries of aliases, or else their parameters as text; `None` if there are no aliases."""
    kinds = [
        spec
        for spec in specs
        if any((spec["slot"], spec["kind"], "") == (one["slot"], one["kind"], one["param"]) for one in rows)
    ]
    if kinds or not rows:
        return kinds or None
    names = [".".join(filter(None, (one["slot"], one["kind"], one["param"]))) for one in rows]
    texts = [describe_parameters(specs, name) for name in dict.fromkeys(names)]
    return "\n".join([*dict.fromkeys(map(describe_alias, rows)), *dict.fromkeys(filter(None, texts))])


def find_exact(specs: list[Spec], name: str) -> list[Spec] | metrics.Metric | str | None:
    """Returns the entries, metric or text for an exact name or an alias; `None` if there is none."""
    if found := [spec for spec in specs if {name, name.lower()} & names_of_entry(spec)]:
        return found
    if metrics.registered_name(name) in metrics.REGISTRY:
        return metrics.find_metric(
            name if "=" in name or "[" not in name else metric_names.parse_metric(name, ())
        )
    if name in list_size_distributions():
        return f"{name}: flow sizes, {list_size_distributions()[name]}. For `sizes` of a traffic entry."
    own = describe_parameters(specs, name)
    if meant := resolve_aliases(specs, find_aliases(name)):
        return "\n".join(filter(None, (meant, own))) if isinstance(meant, str) else meant
    return own or describe_choices(specs, name) or None


def describe_namesakes(name: str, found: Sequence[Spec]) -> str:
    """Describes parameters and values that have the same name as an alias; empty if none has."""
    if any(name.casefold() in names_of_entry(spec) for spec in found):
        return ""
    specs = core.catalogue()
    return "\n".join(filter(None, (describe_parameters(specs, name), describe_choices(specs, name))))


def find_printed_name(name: str) -> metrics.Metric | str | None:
    """Returns the metric or the label of a line that tables print under a name, in any case of letters."""
    wanted = name.strip().casefold()
    for label, meaning in LABEL_MEANINGS.items():
        if label.casefold() == wanted:
            return f"{label}: {meaning}"
    title = re.sub(r"( \[[^]]*\])?( \([^()]*\))?$", "", wanted)
    of_title = [one for one in metrics.ALL_METRICS if one.title.casefold() in (wanted, title)]
    return of_title[0] if of_title else None


def find_name(name: str) -> list[Spec] | metrics.Metric | str:
    """Returns the meaning of a name: a term, kind, slot, metric, parameter, label, and so on.

    Upper and lower case are equivalent if nothing has exactly this name.
    """
    specs = core.catalogue()
    if meaning := terms.explain_term(name, specs):
        named = [
            f(specs, one) for one in (name, name.lower()) for f in (describe_parameters, describe_choices)
        ]
        return "\n".join(dict.fromkeys([meaning, *filter(None, named)]))
    for one in dict.fromkeys((name, name.lower())):
        found = find_exact(specs, one) or find_printed_name(name)
        if found:
            return found
    if metric := terms.find_by_title(name):
        return metric
    if text := find_in_descriptions(specs, name):
        return text
    every = sorted({spec["kind"] or spec["slot"] for spec in specs} | {spec["slot"] for spec in specs})
    others = [*list_size_distributions(), *metrics.REGISTRY, *(one["typed"] for one in core.aliases())]
    meant = metric_names.similar_names_hint(name, [*every, *others]) or "; see `overspill list`"
    raise BadInput(f"explain: found {name!r}; expected a name of the catalogue{meant}")
