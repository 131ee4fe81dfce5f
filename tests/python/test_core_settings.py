"""Tests of quantities, paths and values of `--set` that are drawn at random, with the compiled core."""

import json
import tomllib
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import SCALARS, TEXTS, TOML_VALUES, decimal_text

from overspill import BadInput, _core
from overspill.engine import axis_values, keys, toml_values, topology

SCENARIO = """
name = "drawn"
duration = "1ms"
[topology]
kind = "star"
n = 3
link = { rate = "1Gbps", delay = "1us" }
[[traffic]]
name = "t"
kind = "permutation"
size = "1KB"
[variants.a]
[variants.b]
"""
# Settings of any order, with values that differ from each other and from those above.
CHOICES: Mapping[str, list[object]] = {
    "duration": ["2ms", "3ms"],
    "topology.n": [4, 5],
    "topology.link.rate": ["10Gbps", "1/3 Gbps"],
    "topology.link.delay": ["2us", "3ns"],
    "switch.buffer.size": ["7pkt", "100KB"],
    "transport.ttl": [9, 10],
    "transport.ecn": [True],
    "measure.links": [True],
    "traffic.t.size": ["20KB", "1MiB"],
    "variants.a.switch.marking": [{"kind": "ecn_threshold", "k": "3pkt"}],
}
CHOSEN = st.fixed_dictionaries({}, optional={path: st.sampled_from(some) for path, some in CHOICES.items()})
NUMBERS = st.builds(
    lambda digits, places, below: Fraction(digits, 10**places) / below,
    st.integers(0, 10**9),
    st.integers(0, 12),
    st.integers(1, 12),
)


def load(sets: list[str], text: str = SCENARIO) -> _core.Scenario:
    return _core.Scenario("drawn.toml", text, sets)


def documents(sets: list[str], text: str = SCENARIO) -> dict[str, Any]:
    """Returns the variants of a scenario with these settings, with every default."""
    return dict(json.loads(load(sets, text).document())["resolved"])


def setting(path: str, value: object) -> str:
    return f"{path}={toml_values.format_setting(value)}"


@st.composite
def drawn_quantities(draw: st.DrawFn, units: Mapping[str, Fraction]) -> tuple[str, Fraction]:
    """Draws the text of a quantity, and its value in the smallest unit."""
    number, below = (
        Fraction(draw(st.integers(0, 10**9)), 10 ** draw(st.integers(0, 12))),
        draw(st.integers(1, 12)),
    )
    unit = draw(st.sampled_from(sorted(units)))
    over = "" if below == 1 else f"/{below}"
    space = draw(st.sampled_from(["", " "]))
    return f"{decimal_text(number)}{over}{space}{unit}", number / below * units[unit]


TIMES, RATES, SIZES = axis_values.UNIT_DIMENSIONS[:3]


def number_in_python(text: str, unit: str) -> float:
    found = axis_values.numbers_in_one_unit([f"1{unit}", text])
    assert found is not None
    return found[0][1]


@given(drawn_quantities(TIMES))
def test_core_and_python_read_the_same_time(quantity: tuple[str, Fraction]) -> None:
    text, exact = quantity
    assert number_in_python(text, "ps") == float(exact)
    try:
        (link, *_) = json.loads(load([f"topology.link.delay={text}"]).network("a"))["links"]
    except _core.ScenarioError as error:
        assert exact.denominator > 1 or not 1 <= exact < 10**12, error
        return
    assert link["delay_ps"] == exact
    (again, *_) = json.loads(load([f"topology.link.delay={link['delay']}"]).network("a"))["links"]
    assert again == link


@given(drawn_quantities(RATES))
def test_core_and_python_read_the_same_rate(quantity: tuple[str, Fraction]) -> None:
    text, exact = quantity
    assert number_in_python(text, "bps") == float(exact)
    try:
        (link, *_) = json.loads(load([f"topology.link.rate={text}"]).network("a"))["links"]
    except _core.ScenarioError as error:
        assert not 1000 <= exact <= 10**13, error
        return
    assert link["rate_bps"] == pytest.approx(float(exact), rel=1e-15)
    (again, *_) = json.loads(load([f"topology.link.rate={link['rate']}"]).network("a"))["links"]
    assert again == link


@given(drawn_quantities(SIZES))
def test_core_and_python_read_the_same_size(quantity: tuple[str, Fraction]) -> None:
    text, exact = quantity
    assert number_in_python(text, "B") == float(exact)
    try:
        found = documents([f"traffic.t.size={text}"])["a"]["traffic"][0]["size"]
    except _core.ScenarioError as error:
        assert exact.denominator > 1 or not 1 <= exact < 10**9, error
        return
    assert number_in_python(found, "B") == exact
    assert documents([f"traffic.t.size={found}"])["a"]["traffic"][0]["size"] == found


@given(CHOSEN, st.randoms())
def test_settings_commute_and_the_last_of_a_path_wins(chosen: dict[str, object], random: Any) -> None:
    sets = [setting(path, value) for path, value in chosen.items()]
    expected = documents(sets)
    assert documents(random.sample(sets, len(sets))) == expected
    earlier = [setting(path, CHOICES[path][0]) for path in chosen if not path.startswith("variants")]
    assert documents([*earlier, *sets]) == expected


@given(CHOSEN, CHOSEN)
def test_keys_of_runs_are_equal_if_their_settings_are(
    one: dict[str, object], other: dict[str, object]
) -> None:
    build = keys.Build("1", "core", "metrics")
    found = []
    for chosen in (one, other):
        resolved = documents([setting(path, value) for path, value in chosen.items()])
        found.append({name: keys.config_digest(resolved[name], {}, build) for name in "ab"})
    assert (found[0]["a"] == found[1]["a"]) == (one == other)
    common = [
        {path: value for path, value in each.items() if "variants" not in path} for each in (one, other)
    ]
    assert (found[0]["b"] == found[1]["b"]) == (common[0] == common[1])


@st.composite
def drawn_spellings(draw: st.DrawFn) -> tuple[str, str]:
    """Draws a path, and the same path with other quotes and spaces."""
    path = draw(st.sampled_from(sorted(CHOICES)))
    forms = st.sampled_from(["{}", '"{}"', "'{}'", " {}", "{} ", ' "{}" '])
    keys = [draw(forms).format(key) for key in path.split(".")]
    if path.startswith("traffic"):
        keys[1] = draw(st.sampled_from(["t", "0", "1st", '"t"']))
    return path, ".".join(keys)


@given(drawn_spellings())
def test_paths_may_have_quotes_and_spaces(spelled: tuple[str, str]) -> None:
    path, other = spelled
    value = toml_values.format_setting(CHOICES[path][0])
    assert documents([f"{other}={value}"]) == documents([f"{path}={value}"]) != documents([])


@given(TEXTS)
def test_texts_come_back_from_the_core(label: str) -> None:
    try:
        told = json.loads(load([], f"{SCENARIO}label = {toml_values.format_toml(label)}").document())
    except _core.ScenarioError as error:
        assert error.args[0][0].startswith("drawn.toml:14: variants.b.label: found ")
        assert label in ("", "a") or label != label.strip() or not label.isprintable()
    else:
        assert told["labels"] == {"b": label}


@given(TEXTS, TEXTS)
def test_any_text_is_a_setting_or_an_error_with_its_place(path: str, value: str) -> None:
    try:
        load([f"{path}={value}"])
    except _core.ScenarioError as error:
        assert all(line.startswith("--set") for line in error.args[0]), error.args


@given(TOML_VALUES)
def test_values_of_python_come_back_from_toml(value: object) -> None:
    found = tomllib.loads(f"x = {toml_values.format_toml(value)}")["x"]
    assert repr(found) == repr(value), "1, 1.0 and true are different values"


@given(SCALARS, st.lists(st.booleans(), max_size=60))
def test_python_and_core_have_the_same_bound_on_nesting(value: object, levels: list[bool]) -> None:
    for is_table in levels:
        value = {"a": value} if is_table else [value]
    try:
        text = toml_values.format_toml(value)
    except BadInput:
        assert len(levels) > toml_values.MAX_LEVELS
        return
    assert len(levels) <= toml_values.MAX_LEVELS
    _core.check_nesting("drawn.toml", f"x = {text}")


@given(st.integers(-(2**62), 2**62), st.floats(allow_nan=False))
def test_numbers_of_numpy_are_written_as_those_of_python(whole: int, real: float) -> None:
    given = [np.int64(whole), np.float64(real), np.array([whole]), np.array([real])]
    assert toml_values.format_toml(given) == toml_values.format_toml([whole, real, [whole], [real]])


@given(st.lists(st.tuples(st.integers(0, 5), drawn_quantities(RATES)), min_size=2, max_size=6), st.data())
def test_random_trees_pass_the_core_and_come_back(
    hosts: list[tuple[int, tuple[str, Fraction]]], data: st.DataObject
) -> None:
    graph = networkx.Graph()
    switches = [f"s{at}" for at in range(1 + max(at for at, _ in hosts))]
    graph.add_nodes_from(switches, kind="switch", tier="any")
    for at, name in enumerate(switches[1:], 1):
        above = data.draw(st.integers(0, at - 1))
        graph.add_edge(name, switches[above], rate="10Gbps", delay=f"{at}us", weight=float(at))
    for at, (switch, (rate, exact)) in enumerate(hosts):
        graph.add_node(f"h{at}", kind="host", tier="host")
        known = rate if 1000 <= exact <= 10**13 else "1Gbps"
        graph.add_edge(f"h{at}", switches[switch], rate=known, delay="1us", weight=1.0)
    table = topology.from_networkx(graph)
    found = json.loads(load([setting("topology", table)]).network("a"))
    names = [node["name"] for node in found["nodes"]]
    assert sorted(names) == sorted(graph.nodes) and len(found["links"]) == len(graph.edges)
    for link in found["links"]:
        edge = graph.edges[names[link["a"]], names[link["b"]]]
        assert link["weight"] == edge["weight"]
        assert number_in_python(edge["rate"], "bps") == pytest.approx(link["rate_bps"], rel=1e-15)
        assert number_in_python(edge["delay"], "ps") == link["delay_ps"]
