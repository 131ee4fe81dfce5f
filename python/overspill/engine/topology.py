"""Networks from and to Python: NetworkX graphs as `[topology]` tables, and back."""

import json
import math
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from overspill.engine import core, inline, source
from overspill.errors import BadInput, Failed

SAID = ("rate", "delay", "rate_bps", "delay_ps")  # of each direction of a link
KINDS = {"host": "host", "server": "host", "switch": "switch", "router": "switch"}
NUMBER = r"\s*[0-9]+(\.[0-9]+)?(/[0-9]+(\.[0-9]+)?)?\s*"
RATE = re.compile(NUMBER + r"(bps|Kbps|Mbps|Gbps|Tbps)\s*")
DELAY = re.compile(NUMBER + r"(ps|ns|us|µs|ms|s)\s*")


def from_networkx(graph: Any, *, rate: str | None = None, delay: str | None = None) -> dict[str, Any]:
    """A `[topology]` table of a NetworkX graph, or of anything with its `nodes` and `edges`.

    A node's `kind` or `type` is `host` or `server`, `switch` or `router`; where it has none, a `tier` of
    `host` is a host and any other a switch. An edge's `rate` and `delay` are texts with their units, `rate`
    and `delay` here where it has none; `weight` is its share where routing is `weighted`. Nodes keep their
    order. Opposite arcs of a directed graph are one link, each with the rate and delay of its direction.
    `BadInput` names the node or edge that is wrong.
    """
    try:
        nodes, directed = list(graph.nodes(data=True)), bool(graph.is_directed())
        edges = list(graph.edges(data=True))
    except (AttributeError, TypeError) as error:
        raise BadInput(f"topology: found {type(graph).__name__}; expected a NetworkX graph") from error
    listed = [node_table(name, data) for name, data in nodes]
    links = [link_table(edge, {"rate": rate, "delay": delay}) for edge in edges]
    return {"kind": "custom", "node": listed, "link": paired(links) if directed else links}


def node_table(name: Any, data: Mapping[str, Any]) -> dict[str, Any]:
    """A node as the scenario names it."""
    tier = data.get("tier")
    kind = data.get("kind", data.get("type"))
    if kind is None and tier is not None:
        kind = "host" if tier == "host" else "switch"
    known = KINDS.get(str(kind).lower())
    if known is None:
        found = "no kind" if kind is None else f"kind {kind!r}"
        rule = "`kind` or `type` of host, server, switch or router, or a `tier`"
        raise BadInput(f"topology: node {name!r}: found {found}; expected {rule}")
    table = {"name": str(name), "kind": known}
    return table if tier is None else table | {"tier": str(tier)}


def link_table(
    edge: tuple[Any, Any, Mapping[str, Any]], defaults: Mapping[str, str | None]
) -> dict[str, Any]:
    """An edge as the scenario names it."""
    a, b, data = edge
    table: dict[str, Any] = {"a": str(a), "b": str(b)}
    for key, shape, example in (("rate", RATE, "10Gbps"), ("delay", DELAY, "1us")):
        value = data.get(key, defaults[key])
        if not isinstance(value, str) or not shape.fullmatch(value):
            found = f"no {key}" if value is None else f"{key} {value!r}"
            rule = f"a {key} with its unit, such as {example!r}, there or as `{key}=` for all edges"
            raise BadInput(f"topology: edge {a!r} to {b!r}: found {found}; expected {rule}")
        table[key] = value
    if "weight" in data:
        try:
            weight = float(data["weight"])
        except (TypeError, ValueError):
            weight = math.nan
        if not 0 <= weight <= 1e9:
            found = f"weight {data['weight']!r}; expected a number from 0 to 1000000000"
            raise BadInput(f"topology: edge {a!r} to {b!r}: found {found}")
        table["weight"] = weight
    return table


def paired(arcs: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The links of a directed graph: an arc and its opposite, each a direction, or an arc alone."""
    links: list[dict[str, Any]] = []
    waiting: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for arc in arcs:
        opposite = waiting.get((arc["b"], arc["a"]))
        if not opposite:
            waiting.setdefault((arc["a"], arc["b"]), []).append(arc)
            links.append(arc)
            continue
        there = opposite.pop(0)
        if there.get("weight") != arc.get("weight"):
            rule = f"the same weight as from {arc['b']!r} to {arc['a']!r}"
            raise BadInput(f"topology: edge {arc['a']!r} to {arc['b']!r}: found another; expected {rule}")
        back = {key: arc[key] for key in ("rate", "delay") if arc[key] != there[key]}
        if back:
            there["back"] = back
    return links


def to_networkx(scenario: str | Path, variant: str | None = None) -> Any:
    """The network of a scenario file as a `networkx.MultiGraph`, of its first variant where none is named.

    Nodes go by name and have `kind` and `tier`; edges have `rate` and `delay` as exact texts, `rate_bps`,
    `delay_ps` and `weight`. Where a link differs by direction it is a `networkx.MultiDiGraph`, with an arc
    for each direction of every link. `from_networkx` takes it back.
    """
    try:
        import networkx
    except ImportError as error:
        raise Failed("to_networkx needs NetworkX: pip install networkx") from error
    text = source.read(scenario)
    scene = core.scenario(text.path, text.text, [])
    variants = core.document(scene)["variants"]
    if variant is not None and variant not in variants:
        raise BadInput(f"{text.path}: found no variant {variant!r}; expected one of {', '.join(variants)}")
    network = json.loads(scene.network(variant or variants[0]))
    uneven = any("back" in link for link in network["links"])
    graph = networkx.MultiDiGraph() if uneven else networkx.MultiGraph()
    names = [node["name"] for node in network["nodes"]]
    for node in network["nodes"]:
        graph.add_node(node["name"], kind="host" if node["host"] else "switch", tier=node["tier"])
    for link in network["links"]:
        ends = names[link["a"]], names[link["b"]]
        for (a, b), line in ((ends, link), (ends[::-1], link.get("back", link)))[: 2 if uneven else 1]:
            graph.add_edge(a, b, **{key: line[key] for key in SAID}, weight=link["weight"])
    return graph


def setting(topology: Any, scenario: str | Path) -> str:
    """The setting that puts a graph, a table or a GraphML file in the place of a scenario's `[topology]`."""
    if isinstance(topology, str | os.PathLike):
        folder = Path(scenario).parent
        table: Mapping[str, Any] = {"kind": "custom", "file": os.path.relpath(topology, folder)}
    elif isinstance(topology, Mapping):
        table = topology
    else:
        table = from_networkx(topology)
    return f"topology={inline.toml(table)}"
