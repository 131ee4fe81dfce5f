"""Networks to and from Python: NetworkX graphs as `[topology]` tables, and networks as graphs."""

import json
import math
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from overspill.engine import core, source, toml_values
from overspill.errors import BadInput, Failed

RATE_AND_DELAY_KEYS = ("rate", "delay", "rate_bps", "delay_ps")  # attributes of each direction of a link
KIND_OF_NODE_TYPE = {"host": "host", "server": "host", "switch": "switch", "router": "switch"}
NUMBER_PATTERN = r"\s*[0-9]+(\.[0-9]+)?(/[0-9]+(\.[0-9]+)?)?\s*"
RATE_PATTERN = re.compile(NUMBER_PATTERN + r"(bps|Kbps|Mbps|Gbps|Tbps)\s*")
DELAY_PATTERN = re.compile(NUMBER_PATTERN + r"(ps|ns|us|µs|ms|s)\s*")


def from_networkx(graph: Any, *, rate: str | None = None, delay: str | None = None) -> dict[str, Any]:
    """Returns a NetworkX graph as a `[topology]` table.

    Nodes keep their order. Opposite arcs of a directed graph become one link, each with the rate and delay of
    its direction.

    Args:
        graph: NetworkX graph, or any object with its `nodes`, `edges` and `is_directed`. A node's `kind` or
            `type` is `host`, `server`, `switch` or `router`; without one, a `tier` of `host` means a host and
            any other tier a switch. An edge's `rate` and `delay` are texts with units, such as `10Gbps` and
            `1us`, and its `weight` is its share under `weighted` routing.
        rate: Rate of edges without one.
        delay: Propagation delay of edges without one.

    Raises:
        BadInput: Names the node or edge that is not valid.

    Examples:
        >>> import networkx
        >>> from overspill import topology
        >>> graph = networkx.Graph()
        >>> graph.add_nodes_from(["a", "b"], kind="host")
        >>> graph.add_node("s", kind="switch")
        >>> graph.add_edges_from([("a", "s"), ("b", "s")])
        >>> table = topology.from_networkx(graph, rate="10Gbps", delay="1us")
        >>> table["link"][0]
        {'a': 'a', 'b': 's', 'rate': '10Gbps', 'delay': '1us'}

    """
    try:
        nodes, directed = list(graph.nodes(data=True)), bool(graph.is_directed())
        edges = list(graph.edges(data=True))
    except (AttributeError, TypeError) as error:
        raise BadInput(f"topology: found {type(graph).__name__}; expected a NetworkX graph") from error
    listed = [node_table(name, data) for name, data in nodes]
    links = [link_table(edge, {"rate": rate, "delay": delay}) for edge in edges]
    return {"kind": "custom", "node": listed, "link": pair_directed_links(links) if directed else links}


def node_table(name: Any, data: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a node as an entry of `topology.node`; raises `BadInput` without a known kind."""
    tier = data.get("tier")
    kind = data.get("kind", data.get("type"))
    if kind is None and tier is not None:
        kind = "host" if tier == "host" else "switch"
    known = KIND_OF_NODE_TYPE.get(str(kind).lower())
    if known is None:
        found = "no kind" if kind is None else f"kind {kind!r}"
        rule = "`kind` or `type` of host, server, switch or router, or a `tier`"
        raise BadInput(f"topology: node {name!r}: found {found}; expected {rule}")
    table = {"name": str(name), "kind": known}
    return table if tier is None else table | {"tier": str(tier)}


def link_table(
    edge: tuple[Any, Any, Mapping[str, Any]], defaults: Mapping[str, str | None]
) -> dict[str, Any]:
    """Returns an edge as an entry of `topology.link`; raises `BadInput` if an attribute is not valid."""
    a, b, data = edge
    table: dict[str, Any] = {"a": str(a), "b": str(b)}
    for key, shape, example in (("rate", RATE_PATTERN, "10Gbps"), ("delay", DELAY_PATTERN, "1us")):
        value = data.get(key, defaults[key])
        if not isinstance(value, str) or not shape.fullmatch(value):
            found = f"no {key}" if value is None else f"{key} {value!r}"
            rule = f"a {key} with its unit, such as {example!r}, on the edge or as `{key}=` for all edges"
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


def pair_directed_links(arcs: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the links of a directed graph: an arc with its opposite, or an arc alone.

    Raises `BadInput` if an arc and its opposite differ in weight.
    """
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
            edge = f"edge {arc['a']!r} to {arc['b']!r}"
            raise BadInput(f"topology: {edge}: found another weight; expected {rule}")
        back = {key: arc[key] for key in ("rate", "delay") if arc[key] != there[key]}
        if back:
            there["back"] = back
    return links


def to_networkx(scenario: str | Path, variant: str | None = None) -> Any:
    """Returns the network of a scenario file as a NetworkX graph, which `from_networkx` converts back.

    Nodes are known by name and have `kind` and `tier`. Edges have `rate` and `delay` as exact texts,
    `rate_bps`, `delay_ps` and `weight`.

    Args:
        scenario: Path of the scenario file.
        variant: Variant whose network is returned. Default: the first.

    Returns:
        A `networkx.MultiGraph`. If a link differs by direction, a `networkx.MultiDiGraph` with an arc for
        each direction of every link.

    Raises:
        BadInput: If the scenario is not valid, or has no such variant.
        Failed: If NetworkX is not installed.

    Examples:
        >>> from overspill import topology
        >>> graph = topology.to_networkx("incast.toml")
        >>> graph.number_of_nodes(), graph.number_of_edges()
        (10, 9)

    """
    try:
        import networkx
    except ImportError as error:
        raise Failed("to_networkx needs NetworkX: pip install networkx") from error
    text = source.read_scenario_file(scenario)
    scene = core.load_scenario(text.path, text.text, [])
    variants = core.document_of(scene)["variants"]
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
            graph.add_edge(a, b, **{key: line[key] for key in RATE_AND_DELAY_KEYS}, weight=link["weight"])
    return graph


def topology_setting(topology: Any, scenario: str | Path) -> str:
    """Returns the setting that replaces a scenario's `[topology]` with a graph, a table or a GraphML file."""
    if isinstance(topology, str | os.PathLike):
        folder = Path(scenario).parent
        table: Mapping[str, Any] = {"kind": "custom", "file": os.path.relpath(topology, folder)}
    elif isinstance(topology, Mapping):
        table = topology
    else:
        table = from_networkx(topology)
    return f"topology={toml_values.format_toml(table)}"
