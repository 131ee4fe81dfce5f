"""Tests that the hash of a finished run includes everything that changes its results."""

from pathlib import Path

import pytest

import overspill

pytestmark = pytest.mark.usefixtures("compiled")


def test_a_network_that_is_drawn_node_by_node_is_part_of_what_a_run_is_known_by(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "scenarios/custom.toml").read_text()
    path = tmp_path / "custom.toml"
    for file in (Path(__file__).parents[2] / "scenarios").glob("custom*.csv"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    keys, hashes = set(), set()
    for change in ("", "delay", "name"):
        other = text
        if change == "delay":
            other = text.replace('"20Gbps", delay = "1us"', '"20Gbps", delay = "9us"')
        if change == "name":
            other = text.replace('"fast"', '"quick"')
        assert change == "" or other != text
        path.write_text(other)
        results = overspill.run(path, out=tmp_path / "o")
        keys |= {run.key for run in results.runs}
        hashes |= {run.summary["config_hash"] for run in results.runs}
        fresh = overspill.run(path)
        assert results.flows.equals(fresh.flows)
        assert [one["name"] for one in results.runs[0].summary["nodes"]] == [
            one["name"] for one in fresh.runs[0].summary["nodes"]
        ]
    count = len(overspill.run(path).runs)
    assert len(keys) == len(hashes) == 3 * count
