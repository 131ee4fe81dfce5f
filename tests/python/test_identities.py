"""Tests that names of files, keys of runs and keys of metrics keep different things apart."""

import copy
import json
import re
from typing import Any
from urllib.parse import unquote

from hypothesis import given
from hypothesis import strategies as st
from strategies import LETTERS, TEXTS, TOML_VALUES

from overspill.charts.sweep import chart_file_name
from overspill.engine import keys
from overspill.results import cache, formats, results_folder
from overspill.results.metric_key import LABELS, Key, parse_known_key

# Any texts, and names made of reserved names and special characters of some systems.
NAMES = TEXTS | st.builds(
    "".join,
    st.lists(st.sampled_from(["con", "NUL", "Com1", "lpt9", ".", "..", "%", "%2E", " ", "a", "~", ":"])),
)
DEVICES = {"con", "prn", "aux", "nul", *(f"{port}{at}" for port in ("com", "lpt") for at in range(10))}
BUILD = keys.Build("1", "core", "metrics")
DOCUMENTS = st.dictionaries(TEXTS, TOML_VALUES, max_size=4)


@given(NAMES)
def test_any_name_is_a_legal_component_of_a_path_and_comes_back(name: str) -> None:
    found = results_folder.path_component(name)
    assert re.fullmatch(r"[A-Za-z0-9_.%-]+", found)
    assert not found.startswith(".") and not found.endswith((".", " "))
    assert found.lower().partition(".")[0] not in DEVICES
    # Since a name comes back, no two names have the same component.
    assert unquote(found) == (name or "%") and (name or found == "%")


@given(NAMES)
def test_chart_file_names_are_legal_and_decode_to_the_metric(name: str) -> None:
    found = chart_file_name(name)
    assert not set(found) & set('<>:"/\\|?*')
    assert "%" in name or unquote(found) == f"sweep-{name}"


def rebuilt(value: Any, turned: bool) -> Any:
    """Returns a copy of a document whose tables have their keys in the same order, or in the opposite one."""
    if isinstance(value, dict):
        items = reversed(value.items()) if turned else value.items()
        return {key: rebuilt(one, turned) for key, one in items}
    return [rebuilt(one, turned) for one in value] if isinstance(value, list) else copy.copy(value)


@given(DOCUMENTS, DOCUMENTS, TEXTS, st.integers(0, 9))
def test_equal_documents_have_equal_keys_and_others_have_other_keys(
    one: dict[str, Any], other: dict[str, Any], name: str, seed: int
) -> None:
    config = keys.config_digest(one, {}, BUILD)
    assert config == keys.config_digest(rebuilt(one, True) | {"name": name, "seed": seed}, {}, BUILD)
    same = json.dumps(without_names(one), sort_keys=True) == json.dumps(without_names(other), sort_keys=True)
    assert (config == keys.config_digest(other, {}, BUILD)) == same
    assert config != keys.config_digest(one, {name: "1"}, BUILD)
    assert cache.run_key(config, seed, None) != cache.run_key(config, seed + 1, None)
    assert cache.run_key(config, seed, None) != cache.run_key(config, seed, seed)


def without_names(document: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key not in ("name", "description", "seed")}


@st.composite
def drawn_changes(draw: st.DrawFn) -> tuple[Any, Any]:
    """Draws a document, and the same document with another value at one place."""
    value = draw(TOML_VALUES)
    new = draw(TOML_VALUES.filter(lambda one: json.dumps(one) != json.dumps(value)))
    pair = (value, new)
    for is_table in draw(st.lists(st.booleans(), max_size=4)):
        beside = draw(TOML_VALUES)
        key, another = draw(st.lists(TEXTS, min_size=2, max_size=2, unique=True))
        pair = tuple({another: beside, key: one} if is_table else [beside, one] for one in pair)
    return pair


@given(drawn_changes())
def test_any_changed_value_makes_another_key(pair: tuple[Any, Any]) -> None:
    before, after = (keys.config_digest({"switch": one}, {}, BUILD) for one in pair)
    same = all(json.dumps(pair[0], sort_keys=True) == json.dumps(one, sort_keys=True) for one in pair)
    assert (before == after) == same


METRICS = st.text(LETTERS.replace("[", ""), min_size=1)


@given(METRICS, st.sampled_from(["", *LABELS]), TEXTS)
def test_metric_keys_are_read_from_their_text(metric: str, by: str, of: str) -> None:
    key = Key(metric, **{by: of}) if by else Key(metric)
    found = parse_known_key(str(key))
    assert found == key and found.cells == key.cells == (metric, by, of if by else "")


@given(
    st.sets(st.integers(0, 40), min_size=1, max_size=8)
    | st.integers(0, 40).map(lambda n: set(range(n, 2 * n + 1)))
)
def test_seeds_are_read_from_their_text(seeds: set[int]) -> None:
    text = formats.format_seeds(seeds)
    first, dash, last = text.partition("-")
    found = set(range(int(first), int(last) + 1)) if dash else {int(one) for one in text.split(", ")}
    assert found == seeds


@given(st.floats(-1e15, 1e15))
def test_numbers_have_no_exponent_and_four_digits(value: float) -> None:
    text = formats.format_number(value)
    assert re.fullmatch(r"-?[0-9]{1,3}(,[0-9]{3})*(\.[0-9]{1,9})?", text)
    assert abs(float(text.replace(",", "")) - value) <= max(5e-4 * abs(value), 5.1e-10)
