"""Tests that a load is reported in the terms of its request, and has one meaning."""

import re
from pathlib import Path

import pytest

import overspill
from overspill.results import header
from overspill.results.measures.declare import SECONDS_PER_PS

LOADED = """
name = "loaded"
duration = "20ms"
[topology]
kind = "leaf_spine"
leaves = 4
spines = 2
hosts_per_leaf = 4
link = { rate = "1Gbps", delay = "1us" }
fabric = { rate = "1Gbps", delay = "1us" }
[switch]
buffer = { kind = "per_port", size = "100pkt" }
[measure]
from = "5ms"
drain = "1s"
[[traffic]]
name = "up"
kind = "poisson"
sizes = "20KB"
load = { fraction = 0.3, of = "tor_uplink", bytes = "wire" }
[[traffic]]
name = "queries"
kind = "incast"
senders = 4
receiver = "random"
size = "20KB"
qps = 1000
"""


def test_offered_and_achieved_load_are_in_the_same_terms_and_the_terms_are_named(tmp_path: Path) -> None:
    path = tmp_path / "loaded.toml"
    path.write_text(LOADED)
    results = overspill.run(path, seeds=2)
    told = {line.label: line.text for line in header.load_lines(results)}
    up, queries = "of all uplinks of racks in wire bytes", "of all hosts' links in payload bytes"
    assert told["offered load"] == f"up 0.3 {up}; queries 0.04 {queries}"
    pattern = rf"up ([\d.]+) {up} \(([\d.]+) started in the window\); queries ([\d.]+) {queries} \(([\d.]+) "
    found = re.match(pattern, told["achieved load"])
    assert found is not None, told["achieved load"]
    achieved, started, got, asked = map(float, found.groups())
    values = list(next(iter(results.values.values())).values())
    for name, shown in (("up", achieved), ("queries", got)):
        mean = sum(one[f"achieved_load[traffic={name}]"].value for one in values) / 2
        assert shown == pytest.approx(mean, rel=5e-3)
    assert achieved == pytest.approx(0.3, rel=0.25) and started == pytest.approx(achieved, rel=0.1)
    # Worked out by hand: payload that starts in the window over all hosts' links.
    by_hand = 0.0
    for run in results.runs:
        traffic, start, size = run.columns("flows", "traffic", "start_ps", "bytes")
        mine = (traffic == 1) & (start >= run.window_ps[0]) & (start < run.window_ps[1])
        by_hand += float(size[mine].sum()) * 8 / (15e9 * SECONDS_PER_PS * 16 * 1e9) / 2
    assert asked == pytest.approx(by_hand, rel=5e-3)


def test_what_links_carry_is_told_apart_from_what_was_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "loaded.toml"
    path.write_text(LOADED)
    told = {line.label: line.text for line in header.load_lines(overspill.run(path))}
    number = r"0\.\d+"
    levels = f"{number} of all hosts' links, {number} of all uplinks of racks, {number} of the bisection "
    levels += r"\(one direction: from the first half of the hosts to the second\)"
    assert re.fullmatch(
        f"{number} of all hosts' links in payload bytes; {levels} in wire bytes", told["carried load"]
    )


def test_offered_load_is_over_the_window_as_the_achieved_load_is(tmp_path: Path) -> None:
    path = tmp_path / "loaded.toml"
    # Twelve queries start in the first 12 ms; the window from 5 to 20 ms includes those of 7 ms.
    stopped = LOADED.replace('wire" }', 'wire" }\nstop = "10ms"')
    path.write_text(stopped.replace("qps = 1000", 'interval = "1ms"\nrepeat = 12'))
    results = overspill.run(path, seeds=3)
    told = {line.label: line.text for line in header.load_lines(results)}
    up, queries = "of all uplinks of racks in wire bytes", "of all hosts' links in payload bytes"
    assert told["offered load"] == (
        f"up 0.1 {up} (0.3 while it sends, 5 ms to 10 ms); "
        f"queries 0.0187 {queries} (0.04 while it sends, 5 ms to 12 ms)"
    )
    found = re.search(rf"queries [\d.]+ {queries} \(([\d.]+) started in the window\)", told["achieved load"])
    assert found and float(found[1]) == pytest.approx(0.0187, rel=0.01)
    path.write_text(stopped.replace('stop = "10ms"', 'stop = "4ms"'))
    before = {line.label: line.text for line in header.load_lines(overspill.run(path, seeds=1))}
    assert before["offered load"].startswith(
        f"up 0 {up} (0.3 while it sends, outside the window); queries 0.04 "
    )


def test_shuffles_whose_time_a_load_sets_are_sent_as_long_as_that_takes(tmp_path: Path) -> None:
    path = tmp_path / "loaded.toml"
    shuffle = 'kind = "all_to_all"\nsize = "1KB"\nload = { fraction = 0.04 }\nrepeat = 3'
    path.write_text(LOADED.partition('kind = "incast"')[0] + shuffle)
    told = {line.label: line.text for line in header.load_lines(overspill.run(path, seeds=1))}
    queries = "queries 0.0107 of all hosts' links in payload bytes (0.04 while it sends, 5 ms to 9 ms)"
    assert told["offered load"].endswith(queries)
