"""Tests of the warning about results that depend on the order of simultaneous events."""

from pathlib import Path
from typing import Any

import pytest
from sweep_folders import Command
from test_metrics import MS, NONE32, NONE64, column, sample_run

from overspill import Key, Results, run, sweep
from overspill.results import header, repeated_seeds, starved_flows
from overspill.results.columns import build_table
from overspill.results.rundata import RunData
from overspill.stats.quantiles import Value

# One of two senders gets nothing: at equal rates its frames arrive when the queue is full.
DUMBBELL = """
name = "dumbbell"
duration = "500ms"
[host]
nic_jitter = "0us"
[topology]
kind = "dumbbell"
n = 2
link = { rate = "1Gbps", delay = "10us" }
[switch]
buffer = { kind = "per_port", size = "100pkt" }
[transport]
kind = "reno"
min_rto = "10ms"
[[traffic]]
name = "long"
kind = "long_lived"
sources = ["h0", "h1"]
destinations = ["h2", "h3"]
jitter = "1ns"
"""

SPREAD = """
name = "spread"
duration = "20ms"
[host]
nic_jitter = "0us"
[topology]
kind = "leaf_spine"
leaves = 2
spines = 2
hosts_per_leaf = 4
link = { rate = "1Gbps", delay = "1us" }
[switch]
buffer = { kind = "per_port", size = "20pkt" }
[transport]
kind = "newreno"
min_rto = "10ms"
[measure]
drain = "1s"
[[traffic]]
name = "load"
kind = "poisson"
sizes = "20KB"
load.fraction = 0.6
stop = "20ms"
"""


def write_scenario(folder: Path, text: str) -> Path:
    path = folder / "scenario.toml"
    path.write_text(text)
    return path


def lines(results: Results) -> dict[str, str]:
    return {line.label: line.text for line in header.header_lines(results)}


@pytest.mark.usefixtures("compiled")
def test_a_dumbbell_in_step_is_told_and_where_it_is(tmp_path: Path) -> None:
    results = run(write_scenario(tmp_path, DUMBBELL), seeds=3, out=tmp_path / "out")
    said = lines(results)
    assert said["STARVED FLOWS"].startswith("default, seeds 1-3: 1 of 2 flows of long [h")
    assert "%] got less than 1% of" in said["STARVED FLOWS"]
    assert said["SEEDS ALIKE"].startswith("default: goodput of an endless flow, min is the same to 6 digits")
    assert any(one.startswith("STARVED FLOWS: default") for one in results.document()["cautions"])
    assert lines(Results.load(tmp_path / "out")) == said


@pytest.mark.usefixtures("compiled")
def test_a_sweep_tells_it_too(tmp_path: Path, command: Command) -> None:
    path = write_scenario(tmp_path, DUMBBELL)
    over = ["transport.kind=reno,newreno"]
    found = sweep(path, over, seeds=3, out=tmp_path / "out")
    assert [one["variant"] for one in found.facts["starved"]][:1] == ["default"]
    said = found.document()["cautions"]
    assert any(one.startswith("STARVED FLOWS: transport.kind=") for one in said)
    ran = command("sweep", path, "--over", over[0], "--seeds", 3, "--no-report", "--out", tmp_path / "out")
    assert ran.status == 0 and "STARVED FLOWS" in ran.out and "SEEDS ALIKE" in ran.out


@pytest.mark.usefixtures("compiled")
def test_a_leaf_spine_with_chance_is_not_told(tmp_path: Path) -> None:
    said = lines(run(write_scenario(tmp_path, SPREAD), seeds=3))
    assert "STARVED FLOWS" not in said and "SEEDS ALIKE" not in said


def flows(**changed: Any) -> RunData:
    """Returns four endless flows of which the last gets nothing; `changed` are columns, or lists of them."""
    n = len(changed.get("received", [0] * 4))
    facts: dict[str, tuple[str, list[int]]] = {
        "flow": ("u32", list(range(n))),
        "traffic": ("u16", [0] * n),
        "query": ("u32", [NONE32] * n),
        "src": ("u32", [0] * n),
        "dst": ("u32", [1] * n),
        "bytes": ("u64", [0] * n),
        "start_ps": ("u64", [0] * n),
        "end_ps": ("u64", [NONE64] * n),
        "ideal_ps": ("u64", [0] * n),
        "measured": ("u8", [0] * n),
        "raw": ("u8", [0] * n),
        "received": ("u64", [10_000_000, 11_000_000, 9_000_000, 0]),
        "retransmits": ("u32", [10, 10, 10, 5]),
        "timeouts": ("u32", [0, 0, 0, 5]),
    }
    columns = {name: column(kind, *changed.pop(name, values)) for name, (kind, values) in facts.items()}
    workloads = [{"name": name, "endless": True} for name in ("long", "other")]
    summary = {"traffic": workloads, "end_ps": 1000 * MS} | changed
    return sample_run(flows=build_table("flows", columns), summary=summary)


def test_a_flow_that_has_nothing_beside_others_is_starved() -> None:
    assert starved_flows.starved_workloads(flows()) == [
        starved_flows.StarvedWorkload("long", 4, 1, 0.0, "window", "h0 -> h1 (flow 3), 0%")
    ]


def test_a_share_of_a_hundredth_is_none_too_few() -> None:
    # The mean of all four is 7.5 MB.
    few = [10_000_000, 11_000_000, 9_000_000 - 74_000, 74_000]
    enough = [10_000_000, 11_000_000, 9_000_000 - 76_000, 76_000]
    assert starved_flows.starved_workloads(flows(received=few)) and not starved_flows.starved_workloads(
        flows(received=enough)
    )


@pytest.mark.parametrize(
    "changed",
    [
        {"start_ps": [0, 0, 0, 500 * MS]},
        {"bytes": [0, 0, 0, 20_000]},
        {"ideal_ps": [0, 0, 0, 7]},
        {"received": [10_000, 11_000, 9_000, 0], "retransmits": [0, 0, 0, 1]},
        {"timeouts": [0, 0, 0, 2]},
        {"retransmits": [900, 900, 900, 5]},
        {"received": [10_000_000], "timeouts": [5], "retransmits": [5]},
        {"received": [0, 0, 0, 0]},
        {"traffic": [0, 0, 0, 1]},
        {"changes": [{"at_ps": 5, "link": "h0", "what": "down", "loses": True}]},
        {"changes": [{"at_ps": 5, "link": "h0", "what": "pause storm", "loses": False, "pauses": True}]},
    ],
    ids=[
        "it began later",
        "it is of another size",
        "its path is another",
        "hardly anybody had anything yet",
        "two timeouts are chance",
        "where one in five is lost so are five in a row",
        "it is alone",
        "nobody has anything",
        "it is of another workload",
        "links went down",
        "a host paused the network",
    ],
)
def test_a_flow_is_not_starved_where(changed: dict[str, Any]) -> None:
    assert starved_flows.starved_workloads(flows(**changed)) == []


def seeds(**metrics: list[float]) -> dict[int, dict[Key, Value]]:
    count = len(next(iter(metrics.values())))
    return {at: {Key(name): Value(one[at]) for name, one in metrics.items()} for at in range(count)}


def test_three_seeds_that_are_one_run_are_told() -> None:
    found = repeated_seeds.find_equal_seeds(seeds(fct_mean=[1.0, 1.0, 1.0], drops=[3.0, 3.0, 3.0]))
    assert found == repeated_seeds.EqualSeeds(3) and "every number is the same in all 3 seeds" in found.text
    assert repeated_seeds.find_equal_seeds(seeds(fct_mean=[1.0, 1.0])) is None


def test_means_of_flows_that_are_equal_to_six_digits_are_told_and_counts_are_not() -> None:
    drops = [3.0, 4.0, 3.0]
    assert repeated_seeds.find_equal_seeds(
        seeds(fct_mean=[1.0, 1.0, 1.0 + 1e-7], drops=drops)
    ) == repeated_seeds.EqualSeeds(3, ("fct_mean",))
    assert repeated_seeds.find_equal_seeds(seeds(fct_mean=[1.0, 1.0, 1.0 + 1e-5], drops=drops)) is None
    assert repeated_seeds.find_equal_seeds(seeds(fct_mean=[1.0, 2.0, 3.0], drops=[3.0, 3.0, 3.0])) is None


def test_a_lower_bound_is_not_the_same_number() -> None:
    every = seeds(fct_mean=[1.0, 1.0, 1.0], drops=[3.0, 4.0, 3.0])
    every[1][Key("fct_mean")] = Value(1.0, censored=True)
    assert repeated_seeds.find_equal_seeds(every) is None


def test_variants_whose_seeds_are_alike_stand_together() -> None:
    one, other = seeds(fct_mean=[1.0] * 3), seeds(fct_mean=[2.0] * 3)
    (line,) = repeated_seeds.repeated_seed_lines(
        {"drop": one, "bounce": other, "mixed": seeds(fct_mean=[1.0, 2.0, 3.0])}
    )
    assert line.startswith("drop and bounce: every number")


def test_warning_names_the_seed_with_most_starved_flows_and_the_cure() -> None:
    first = starved_flows.StarvedWorkload("long", 4, 2, 0.0012, worst="h0 -> h2 (flow 1), 0.05%")
    seeds = [
        [first],
        [starved_flows.StarvedWorkload("long", 4, 1, 0.0089, worst="h1 -> h2 (flow 2), 0.89%")],
        [],
    ]
    said = starved_flows.starved_warning(seeds)
    assert said.startswith("2 of 4 flows of long [h0 -> h2 (flow 1), 0.05%] got less than 1%")
    assert "host.nic_jitter" in said and "linux" in said
