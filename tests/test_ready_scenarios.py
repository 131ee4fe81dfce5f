"""Tests of the scenarios that come with Overspill (scenarios/)."""

import json
from pathlib import Path

import pytest

from overspill import _core

ROOT = Path(__file__).parents[1]
READY = sorted((ROOT / "scenarios").glob("*.toml"))


@pytest.mark.parametrize("path", READY, ids=lambda path: path.stem)
def test_a_ready_scenario_loads_and_the_page_of_examples_has_it(path: Path) -> None:
    document = json.loads(_core.Scenario(str(path), path.read_text(), []).document())
    assert document["name"] == path.stem
    assert len(document["variants"]) > 1
    assert f"(../scenarios/{path.name})" in (ROOT / "docs/examples.md").read_text()


def test_variants_that_differ_in_their_transport_mend_losses_alike() -> None:
    """A comparison changes one thing at a time, except in scenarios that compare transports."""
    for path in READY:
        document = json.loads(_core.Scenario(str(path), path.read_text(), []).document())
        transports = [resolved.get("transport", {}) for resolved in document["resolved"].values()]
        recoveries = {one.get("recovery", one.get("kind")) for one in transports}
        assert (len(recoveries) > 1) == (path.stem in ("transports", "pfabric")), path.stem
