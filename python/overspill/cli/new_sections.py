"""Sections of a scenario that `overspill new` prints, from its plan and the catalogue of the core."""

from collections.abc import Iterator, Mapping
from typing import Any

from overspill.cli.new_examples import DRAWN_NODES, LINK, TOPOLOGIES, Network, drawn_links
from overspill.cli.new_plan import Catalogue, Choices, Part, Plan
from overspill.cli.new_text import Section, Setting, describe_parameter, first_sentence, format_default
from overspill.engine import toml_values

MOST_OPTIONAL = 5  # optional parameters of a transport or workload that get a line
DURATION = "10ms"
# Values of required parameters without an example.
VALUE_OF_TYPE: Mapping[str, Any] = {
    "time": "10us",
    "rate": "10Gbps",
    "size": "64KB",
    "sizes": "64KB",
    "amount": "100KB",
    "number": 1,
    "flag": True,
    "counts": [2, 2],
}
SCENARIO_NOTES = {
    "name": "Name of the folder of the results, in `out`.",
    "duration": "Flows start before this instant. Then up to 1s is left for them to finish.",
}

Spec = dict[str, Any]


def describe_network(network: Mapping[str, Any]) -> Network:
    """Returns facts about a network with its nodes and links."""
    hosts = tuple(node["name"] for node in network["nodes"] if node["host"])
    return Network(hosts, len(network["links"]) >= len(network["nodes"]))


def read_defaults(known: Catalogue, document: Mapping[str, Any]) -> dict[str, str]:
    """Returns the default of each slot, from a document that sets none; the first name if it has none."""
    resolved = next(iter(document["resolved"].values()))
    tables = {**resolved, "switch": resolved["switches"][0]}
    found = {}
    for slot in known.options.values():
        table, _, key = slot.rpartition(".")
        value = tables.get(table, {}).get(key) if table else tables.get(key)
        kind = value.get("kind") if isinstance(value, Mapping) else value
        found[slot] = kind if kind in known.docs(slot) else next(iter(known.docs(slot)))
    return found


def topology_section(known: Catalogue, choices: Choices) -> Section:
    """Returns the table of the topology: its file, its nodes and links, or its numbers."""
    kind = choices.topology
    values: dict[str, Any] = dict(TOPOLOGIES.get(kind, {}))
    params = known.parameters("topology", kind)
    section = Section("[topology]", known.docs("topology")[kind], entry=known.entry_name("topology", kind))
    section.settings = [Setting("kind", toml_values.format_toml(kind))]
    # Such a topology has lists of nodes and links, or a file, in which links may lack a rate and a delay.
    is_drawn = "topology.node" in known.tables and known.file_readers("topology").get(kind) is False
    if choices.topology_file is not None:
        values |= {"file": choices.topology_file, **(LINK if is_drawn else {})}
    elif is_drawn:
        section.comment = (
            "Two racks of four hosts, joined by an upper and a lower path. Add nodes and links as you like."
        )
        links = drawn_links(choices.kinds.get("switch.routing") == "weighted")
        for key, rows in (("node", DRAWN_NODES), ("link", links)):
            section.settings.append(Setting(key, "[\n" + "".join(f"  {row},\n" for row in rows) + "]"))
    add_parameters(section, params, Part(kind, values, full=True), None)
    return section


def add_parameters(section: Section, params: list[Spec], part: Part, most: int | None) -> None:
    """Adds lines for values and, in a full part, for at most this number of optional parameters."""
    optional: list[Setting] = []
    section.order = [one["name"] for one in params]
    for one in params:
        name, doc = one["name"], describe_parameter(one)
        if name in part.values or one["required"]:
            value = part.values.get(name, example_value(one))
            note = part.reasons.get(
                name, "" if name in ("start", "jitter", "class") and not part.full else doc
            )
            section.settings.append(Setting(name, toml_values.format_toml(value), note))
        elif one["default"] is None or (most is not None and len(optional) >= most):
            section.further.append(name)
        else:
            optional.append(Setting(name, format_default(one["default"]), doc, optional=True))
    if part.full:
        section.settings += optional
    else:
        section.further = []


def example_value(parameter: Spec) -> Any:
    """Returns a value for a required parameter without an example, by its type and the allowed values."""
    allowed = str(parameter["allowed"] or "")
    if parameter["type"] == "choice":
        return allowed.split("`")[1]
    if parameter["type"] == "count":
        lowest = next((int(word) for word in allowed.replace(",", " ").split() if word.isdigit()), 1)
        return max(lowest, 4)
    return VALUE_OF_TYPE.get(parameter["type"], "h0")


def scenario_section(plan: Plan, known: Catalogue) -> Section:
    """Returns the settings of the whole scenario."""
    choices = plan.choices
    kind = choices.kinds[plan.compared] if plan.compared else next(iter(choices.kinds.values()), None)
    values = {"name": "_".join(filter(None, (choices.topology, kind))), "duration": DURATION}
    section = Section("", entry="duration")
    add_parameters(section, known.parameters("", ""), Part("", values, SCENARIO_NOTES, full=True), 1)
    section.further = []
    return section


def part_section(known: Catalogue, slot: str, part: Part, prefix: str = "") -> Section:
    """Returns the table of a mechanism, or of settings such as those of `[switch]`."""
    docs = known.docs(slot)
    described = part.kind in docs and not part.is_addition
    comment = part.comment or (first_sentence(docs[part.kind]) if described else "")
    section = Section(f"[{prefix}{slot}]", comment, entry=known.entry_name(slot, part.kind))
    if part.kind and not part.is_addition:
        section.settings.append(Setting("kind", toml_values.format_toml(part.kind)))
    add_parameters(
        section, known.parameters(slot, part.kind), part, MOST_OPTIONAL if slot == "transport" else None
    )
    return section


def workload_sections(plan: Plan, known: Catalogue) -> Iterator[Section]:
    """Yields the entries of `[[traffic]]`."""
    for one in plan.workloads:
        comment = one.comment or first_sentence(known.docs("traffic")[one.kind])
        section = Section("[[traffic]]", comment, entry=known.entry_name("traffic", one.kind))
        section.settings = [
            Setting(key, f'"{value}"') for key, value in (("name", one.name), ("kind", one.kind))
        ]
        part = Part(one.kind, one.values, one.reasons, full=not one.comment)
        add_parameters(section, known.parameters("traffic", one.kind), part, MOST_OPTIONAL)
        yield section


def variant_sections(plan: Plan, known: Catalogue) -> Iterator[Section]:
    """Yields the baseline and the variant with the compared mechanism; none without one."""
    slot = plan.compared
    if slot is None:
        return
    default, kind = plan.defaults[slot], plan.choices.kinds[slot]
    last = slot.rpartition(".")[2]
    baseline = f"no_{last}" if default == "none" else default
    yield Section(f"[variants.{baseline}]", f"Baseline: as above, with `{default}`, the default of `{slot}`.")
    kinds = " and ".join(f"`{plan.choices.kinds[one]}`" for one in plan.choices.kinds if one in plan.with_it)
    yield Section(f"[variants.{kind}]", f"The same traffic with {kinds}.")
    for table, part in plan.own.items():
        section = part_section(known, table, part, f"variants.{kind}.")
        section.comment = " ".join(filter(None, (section.comment, sweep_hint(plan, kind, table))))
        yield section


def sweep_hint(plan: Plan, variant: str, table: str) -> str:
    """Returns how to sweep keys that a variant sets again, in sizes; empty if it sets none again."""
    base = plan.common.get(table, Part("")).values
    again = [key for key in plan.own[table].values if key == "size" and key in base]
    return " ".join(
        f"`--over {table}.{key}=…` does not change this variant, since it has a {key} of its own. To sweep "
        f"both, add `--over variants.{variant}.{table}.{key}=…` and "
        f"`--zip {table}.{key},variants.{variant}.{table}.{key}`."
        for key in again
    )


def compose(plan: Plan, known: Catalogue, topology: Section) -> list[Section]:
    """Returns all sections of a scenario in their order."""
    order = ["switch", *known.kinds, "host"]
    tables = [slot for slot in plan.common if slot != "transport"]
    tables.sort(key=lambda slot: order.index(slot) if slot in order else len(order))
    if "transport" in plan.common:
        tables.append("transport")
    return [
        scenario_section(plan, known),
        topology,
        *(part_section(known, slot, plan.common[slot]) for slot in tables),
        *workload_sections(plan, known),
        *variant_sections(plan, known),
    ]
