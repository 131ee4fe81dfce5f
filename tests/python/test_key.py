"""Tests of keys: a metric, the kind of its parts, and one part."""

import copy
import json
import pickle
import re
from pathlib import Path

import pyarrow as pa
import pytest

from overspill import run
from overspill.results import metric_key as key_module
from overspill.results import metrics
from overspill.results.metric_key import Key, parse_known_key


@pytest.mark.parametrize(
    ("text", "key", "registered"),
    [
        ("fct_p99", Key("fct_p99"), "fct_p99"),
        ("fct_p99[size=0-100KB]", Key("fct_p99", size="0-100KB"), "fct_p99"),
        ("drops[reason=buffer_full]", Key("drops", reason="buffer_full"), "drops_by_reason"),
        ("bounces[tier=agg]", Key("bounces", tier="agg"), "bounces_by_tier"),
        ("drops[traffic=a=b]", Key("drops", traffic="a=b"), "drops"),
        ("drops[traffic=[x]]", Key("drops", traffic="[x]"), "drops"),
    ],
)
def test_a_key_is_read_from_its_text_and_back(text: str, key: Key, registered: str) -> None:
    assert parse_known_key(text) == key == text and parse_known_key(text).cells == key.cells
    assert type(parse_known_key(text)) is Key and parse_known_key(key) is key
    assert key.registered == registered == metrics.registered_name(text) and registered in metrics.REGISTRY


def test_a_key_is_its_name_and_survives_copies() -> None:
    key = Key("fct_p99", size="0-100KB")
    assert key.cells == ("fct_p99", "size", "0-100KB") and {key: 1}["fct_p99[size=0-100KB]"] == 1
    for one in (copy.copy(key), copy.deepcopy(key), pickle.loads(pickle.dumps(key))):
        assert type(one) is Key and one == key and one.cells == key.cells
    assert json.dumps({key: key}) == '{"fct_p99[size=0-100KB]": "fct_p99[size=0-100KB]"}'
    assert pa.array([key], pa.string()).to_pylist() == [str(key)]


def test_a_name_put_together_by_hand_is_no_metric() -> None:
    with pytest.raises(ValueError, match="expected a metric and one label"):
        Key("fct_p99[size=0-100KB]")
    with pytest.raises(ValueError, match="expected a metric and one label"):
        Key("drops", tier="agg", reason="evicted")


def test_measures_give_keys_from_the_start(scenario: Path) -> None:
    results = run(scenario, seeds=1)
    for by_seed in results.values.values():
        for values in by_seed.values():
            assert {type(key) for key in values} == {Key}
    assert {key.by for values in results.values["drop"].values() for key in values} >= {"", "size", "traffic"}
    assert {type(key) for key in results.metric_names} == {Key}


def test_names_are_put_together_in_one_place() -> None:
    package = Path(key_module.__file__).parents[1]
    places = [path for path in package.rglob("*.py") if path.name != "metric_key.py"]
    by_hand = re.compile(r'f?"[\w{}]*\[(traffic|size|tier|reason|of)=')
    assert len(places) > 100 and [path for path in places if by_hand.search(path.read_text())] == []
