"""Tests of networks from NetworkX, with the compiled core."""

import json
import tomllib
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pytest

from overspill import BadInput, run
from overspill.charts import network
from overspill.engine import source, toml_values, topology

pytestmark = pytest.mark.usefixtures("compiled")

SCENARIO = """
name = "graph"
duration = "5ms"
[topology]
kind = "star"
n = 3
[transport]
kind = "dctcp"
[[traffic]]
name = "burst"
kind = "incast"
senders = 2
receiver = "c"
size = "20KB"
[variants.one]
[variants.two]
switch.buffer = { kind = "per_port", size = "50pkt" }
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "graph.toml"
    path.write_text(SCENARIO)
    return path


def graph(kind: type = networkx.MultiGraph) -> Any:
    made = kind()
    for name in "abc":
        made.add_node(name, kind="host")
    made.add_node("left", tier="leaf")
    made.add_node("right", type="router", tier="leaf")
    for a, b in (("a", "left"), ("b", "left"), ("c", "right")):
        made.add_edge(a, b, rate="10Gbps")
    made.add_edge("left", "right", rate="20Gbps", delay="5us", weight=2)
    return made


def test_a_graph_takes_the_place_of_the_scenarios_topology(file: Path, tmp_path: Path) -> None:
    made = graph()
    made.add_edge("left", "right", rate="1/3 Gbps", delay="1ns")
    results = run(file, topology=topology.from_networkx(made, delay="1us"), out=tmp_path / "out")
    network = results.facts["networks"][results.facts["network_of"]["two"]]
    assert len(results.facts["networks"]) == 1
    assert [node["name"] for node in network["nodes"]] == ["a", "b", "c", "left", "right"]
    assert [node["tier"] for node in network["nodes"]] == ["host"] * 3 + ["leaf"] * 2
    told = [(link["a"], link["b"], link["rate"], link["delay"], link["weight"]) for link in network["links"]]
    assert (3, 4, "20Gbps", "5us", 2.0) in told
    assert (3, 4, "1/3Gbps", "1ns", 1.0) in told or (3, 4, "1/3 Gbps", "1ns", 1.0) in told
    assert {link["rate_bps"] for link in network["links"]} == {10**10, 2 * 10**10, 10**9 / 3}
    # The manifest includes the topology, and the run can be repeated from it.
    facts = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert facts["sets"][0].startswith("topology={")
    again = run(file, sets=facts["sets"])
    assert again.flows.equals(results.flows)
    assert results.flows.num_rows == 4


def test_a_graph_may_be_handed_over_as_it_is_or_as_a_file(file: Path, tmp_path: Path) -> None:
    made = graph(networkx.Graph)
    for _, _, data in made.edges(data=True):
        data.setdefault("delay", "1us")
    by_graph = run(file, topology=made)
    networkx.write_graphml(made, tmp_path / "net.graphml")
    by_file = run(file, topology=tmp_path / "net.graphml")
    assert by_file.facts["networks"] == by_graph.facts["networks"]
    assert by_file.facts["sets"] == ['topology={ "kind" = "custom", "file" = "net.graphml" }']
    assert by_file.flows.equals(by_graph.flows)


def test_opposite_arcs_are_one_link_and_have_one_weight() -> None:
    arcs = graph(networkx.Graph).to_directed()
    table = topology.from_networkx(arcs, delay="1us")
    assert table["link"] == topology.from_networkx(graph(networkx.Graph), delay="1us")["link"]
    arcs["right"]["left"]["weight"] = 3
    with pytest.raises(
        BadInput, match="edge 'right' to 'left': found another weight; expected the same weight"
    ):
        topology.from_networkx(arcs, delay="1us")


UNEVEN = """
name = "uneven"
duration = "1ms"
[topology]
kind = "star"
n = 2
link = { rate = "1Gbps", delay = "1us", back = { rate = "100Mbps", delay = "5us" } }
[[traffic]]
name = "t"
kind = "permutation"
size = "1KB"
"""


def test_links_that_differ_by_direction_become_arcs_and_come_back(tmp_path: Path) -> None:
    path = tmp_path / "uneven.toml"
    path.write_text(UNEVEN)
    made = topology.to_networkx(path)
    assert made.is_directed() and made.number_of_edges() == 4
    assert made.edges["h0", "s0", 0]["rate"] == "1Gbps" and made.edges["s0", "h0", 0]["rate_bps"] == 1e8
    links = topology.from_networkx(made)["link"]
    back = {"rate": "100Mbps", "delay": "5us"}
    assert links == [
        {"a": host, "b": "s0", "rate": "1Gbps", "delay": "1us", "weight": 1.0, "back": back}
        for host in ("h0", "h1")
    ]
    by_graph = run(path, topology=made)
    assert by_graph.flows.equals(run(path).flows)
    drawn = network.find_network(by_graph, "default")
    assert drawn is not None
    assert network.link_hover_text(drawn, drawn.links[0]).endswith(
        "<br>there 1 Gbit/s, 1 us<br>back 100 Mbit/s, 5 us"
    )


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda g: g.add_node(7), "node 7: found no kind"),
        (lambda g: g.add_node("p", kind="printer"), "node 'p': found kind 'printer'"),
        (
            lambda g: g.add_edge("a", "right"),
            "edge 'a' to 'right': found no rate; expected a rate with its unit",
        ),
        (lambda g: g.add_edge("a", "right", rate=10e9), "edge 'a' to 'right': found rate 10000000000.0"),
        (lambda g: g.add_edge("a", "right", rate="1Gbps", delay="3"), "found delay '3'"),
        (lambda g: g.add_edge("a", "right", rate="1Gbps", weight="x"), "found weight 'x'"),
    ],
)
def test_what_is_wrong_is_said_of_the_node_or_edge(spoil: Any, said: str) -> None:
    made = graph()
    spoil(made)
    with pytest.raises(BadInput) as refused:
        topology.from_networkx(made, delay="1us")
    assert said in str(refused.value)


def test_what_the_core_refuses_is_said_of_the_setting(file: Path) -> None:
    made = graph()
    made.add_edge("a", "right", rate="1Gbps")
    with pytest.raises(
        BadInput, match=r"--set: topology.node.a: found `a` with 2 links; expected exactly one link"
    ):
        run(file, topology=topology.from_networkx(made, delay="1us"))
    with pytest.raises(BadInput, match="found list; expected a NetworkX graph"):
        run(file, topology=["a", "b"])


def test_an_odd_name_is_written_as_toml_reads_it() -> None:
    odd = 'a "b"\\\n\té\U0001f600\x7f\x01'
    table = {"kind": "custom", "node": [{"name": odd, "kind": "host", "on": True, "n": 1.5}]}
    assert tomllib.loads(f"topology={toml_values.format_toml(table)}") == {"topology": table}


def test_a_scenario_becomes_a_graph_and_comes_back() -> None:
    root = Path(__file__).parents[2]
    made = topology.to_networkx(root / "scenarios" / "formats.toml")
    assert (made.number_of_nodes(), made.number_of_edges()) == (12, 14)
    assert made.nodes["8"] == {"kind": "switch", "tier": "edge"}
    assert made.edges["10", "11", 1]["rate_bps"] == 10**11
    ready = topology.to_networkx(root / "scenarios" / "graphml.toml", "spray")
    back = topology.from_networkx(ready)
    assert back["node"][6] == {"name": "left", "kind": "switch", "tier": "leaf"}
    assert {"a": "left", "b": "spine", "rate": "20Gbps", "delay": "1us", "weight": 2.0} in back["link"]
    with pytest.raises(BadInput, match="found no variant 'gone'; expected one of ecmp, spray, weighted"):
        topology.to_networkx(root / "scenarios" / "graphml.toml", "gone")


def test_settings_from_python_are_tables_lists_and_numbers_of_any_kind() -> None:
    sets = {
        "switch.buffer": {"kind": "shared", "alpha": np.float64(0.5)},
        "traffic.t.hosts": ["h0", "h1"],
        "switch.marking.k": "20pkt",
        "measure.detours": np.int64(3),
        "measure.links": True,
    }
    assert source.parse_overrides(sets) == [
        'switch.buffer={ "kind" = "shared", "alpha" = 0.5 }',
        'traffic.t.hosts=["h0", "h1"]',
        "switch.marking.k=20pkt",
        "measure.detours=3",
        "measure.links=true",
    ]
    with pytest.raises(BadInput, match="found None; expected texts, numbers, lists and tables"):
        source.parse_overrides({"switch.buffer": None})
