"""Tests of whole imports from SONiC: the numbers of a real chip, a dynamic buffer model, lossy queues."""

import json
import tomllib
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from conftest import Ran
from sonic_files import EXAMPLES, LOOKUP, switch_of, write_scenario

from overspill.importing.chips import ChipOptions
from overspill.importing.sonic import Fragment, SonicOptions, import_sonic

pytestmark = pytest.mark.usefixtures("compiled")

Command = Callable[..., Ran]
EGRESS = 5  # output port
POOLS = ("ingress_lossless_pool=24000000B", "egress_lossy_pool=24000000B")


def import_leaf() -> Fragment:
    """Returns the fragment of the example with 32 ports of 100 Gb/s."""
    return import_sonic(EXAMPLES / "leaf.json", SonicOptions(ChipOptions("tomahawk"), LOOKUP))


def import_dynamic(speed: str | None) -> Fragment:
    """Returns the fragment of the example with the dynamic buffer model."""
    options = SonicOptions(ChipOptions("spectrum-2"), speed=speed, pool_sizes=POOLS)
    return import_sonic(EXAMPLES / "tor_dynamic.json", options)


def explain_case(command: Command, path: Path, class_: int, groups: int, *more: object) -> dict[str, Any]:
    """Returns the limits with this number of congested groups or queues."""
    arguments = ("--class", class_, "--groups", groups, "--egress", EGRESS, *more, "--json")
    ran = command("explain", "memory", path, *arguments)
    assert (ran.status, ran.err) == (0, "")
    case: dict[str, Any] = json.loads(ran.out)["classes"][0]["cases"][-1]
    assert case["congested"] == groups
    return case


@pytest.fixture
def leaf(tmp_path: Path) -> Path:
    return write_scenario(tmp_path / "leaf.toml", import_leaf().text, 32, "100Gbps", (0, 3))


def test_one_imported_group_is_paused_where_the_device_pauses_it(command: Command, leaf: Path) -> None:
    case = explain_case(command, leaf, 3, 1)
    assert case["closed_form_packets"]["pause"] == case["dataplane"]["pause"] == 6542
    assert case["closed_form"]["resume"] == case["dataplane"]["resume"] == 7


@pytest.mark.parametrize(("groups", "packets"), [(4, 2620), (8, 1458), (10, 1194)])
def test_more_imported_groups_are_paused_earlier(
    command: Command, leaf: Path, groups: int, packets: int
) -> None:
    case = explain_case(command, leaf, 3, groups)
    assert case["closed_form_packets"]["pause"] == packets
    assert case["dataplane"]["pause"] - packets in (0, 1)


@pytest.mark.parametrize(
    ("speed", "groups", "left"), [(100_000, 4, 1165), (50_000, 8, 267), (40_000, 10, 361)]
)
def test_lookup_file_gives_headroom_by_speed(
    command: Command, tmp_path: Path, speed: int, groups: int, left: int
) -> None:
    config = json.loads((EXAMPLES / "leaf.json").read_text())
    for port in config["PORT"].values():
        port["speed"] = str(speed)
    path = tmp_path / "config_db.json"
    path.write_text(json.dumps(config))
    found = import_sonic(path, SonicOptions(ChipOptions("tomahawk"), LOOKUP))
    scenario = write_scenario(tmp_path / "chip.toml", found.text, 32, f"{speed // 1000}Gbps", (3,))
    losses = {40_000: 7063, 50_000: 7225, 100_000: 7835}
    alone = explain_case(command, scenario, 3, 1)
    assert alone["closed_form_packets"]["ingress_loss"] == losses[speed]
    assert alone["dataplane"]["ingress_loss"] == losses[speed]
    case = explain_case(command, scenario, 3, groups)
    assert case["closed_form"]["headroom"] == left
    assert abs(case["dataplane"]["headroom"] - left) <= 1


def test_imported_lossy_queue_holds_what_the_device_holds(command: Command, leaf: Path) -> None:
    case = explain_case(command, leaf, 0, 1)
    assert abs(case["closed_form_packets"]["egress_loss"] - 9887) <= 4
    assert abs(case["dataplane"]["egress_loss"] - 9887) <= 4


def test_imported_chip_has_the_memory_of_the_example_scenario() -> None:
    example = tomllib.loads((EXAMPLES.parents[1] / "scenarios/switch_memory.toml").read_text())
    imported, given = switch_of(import_leaf())["buffer"], example["switch"]["buffer"]
    for key in ("kind", "cell", "slices", "pipes", "slice_of", "class_to_group"):
        assert imported[key] == given[key]
    by_size = {one["size"]: one.get("headroom") for one in imported["pools"].values()}
    assert by_size == {one["size"]: one.get("headroom") for one in given["pools"].values()}


def test_leaf_expresses_all_its_settings() -> None:
    found = import_leaf()
    switch = switch_of(found)
    assert list(found.omitted) == []
    assert "# All settings are expressed." in found.text
    assert switch["scheduler"] == {
        "kind": "round_robin",
        "weights": [14, 14, 14, 15, 15, 14, 14, 1],
        "strict": [7],
    }
    (marking,) = switch["marking"]["queues"]
    assert marking == {
        "queue": [3, 4],
        "min": "250000B",
        "max": "1048576B",
        "probability": 0.05,
        "ecn": "all",
    }
    assert switch["pause"]["watchdog"] == "drop"


def headroom_by_formula(speed: int, metres: int, mtu: int, quanta: int, cell: int) -> int:
    """Returns the headroom by the dynamic model, for a largest frame of 1024 B and small frames."""
    cable = 2 * metres * speed * Fraction(10**9, 198_000_000) / 8192
    in_flight = mtu + cable + Fraction(4, 5) * 1024 + quanta * 64
    bytes_needed = 1024 + in_flight * Fraction(cell, 64)
    return -(-bytes_needed // 1024) * 1024


def test_dynamic_model_computes_headroom_by_speed_and_cable() -> None:
    # 25 Gb/s, 5 m: 9100 + 154.1 + 819.2 + 5120 bytes in flight, times 144 / 64, and 1024: 35 KiB.
    assert headroom_by_formula(25_000, 5, 9100, 80, 144) == 35 * 1024
    buffer = switch_of(import_dynamic(None))["buffer"]
    slow = buffer["profiles"]["pg_lossless_25000_5m_profile"]
    fast = buffer["profiles"]["pg_lossless_100000_40m_th-1_profile"]
    assert slow["xoff"] == f"{35 * 1024}B"
    assert fast["xoff"] == f"{headroom_by_formula(100_000, 40, 9100, 394, 144)}B"
    assert (slow["xon"], slow["reserve"]) == ("19456B", "19456B")
    assert (slow["threshold"]["dynamic_th"], fast["threshold"]["dynamic_th"]) == (0, -1)
    assert buffer["pools"]["ingress_lossless_pool"]["over_subscribe_ratio"] == 2
    rates = {entry.get("rate"): entry["profile"] for entry in buffer["groups"] if entry["group"] == [3, 4]}
    assert rates == {
        "25Gbps": "pg_lossless_25000_5m_profile",
        "100Gbps": "pg_lossless_100000_40m_th-1_profile",
    }


def test_dynamic_model_lists_port_limits_and_a_queue_without_scheduler() -> None:
    listed = [line.partition(":")[0] for line in import_dynamic("25Gbps").omitted]
    assert listed == [
        "BUFFER_PORT_INGRESS_PROFILE_LIST",
        "BUFFER_PORT_EGRESS_PROFILE_LIST",
        "QUEUE|Ethernet0,Ethernet4,Ethernet8,Ethernet12,… (12 ports)|7",
    ]


def test_imported_dynamic_model_fills_its_headroom(command: Command, tmp_path: Path) -> None:
    found = import_dynamic("100Gbps")
    assert "rate" not in switch_of(found)["buffer"]["groups"][0]
    path = write_scenario(tmp_path / "tor.toml", found.text, 4, "100Gbps", (3,))
    ran = command("explain", "memory", path, "--groups", 1, "--json")
    case = json.loads(ran.out)["classes"][0]["cases"][0]
    pool = 24_000_000 // 144
    # The limit is half of the free memory, so a third of the pool, beyond a reserve of 136 cells.
    assert case["closed_form"]["pause"] == pytest.approx(pool / 3 + 136)
    assert case["closed_form"]["headroom"] == case["dataplane"]["headroom"] == 92_160 // 144


def test_lossy_switch_has_shaped_strict_queue_and_no_pauses(command: Command, tmp_path: Path) -> None:
    chip = ChipOptions(cell="208", size_includes="reserves")
    found = import_sonic(EXAMPLES / "tor_lossy.json", SonicOptions(chip, speed="10Gbps"))
    switch = switch_of(found)
    assert list(found.omitted) == [] and "pause" not in switch
    assert switch["buffer"]["class_to_queue"] == [0, 1, 2, 2, 2, 2, 7, 7]
    assert switch["scheduler"] == {
        "kind": "round_robin",
        "weights": [20, 30, 50, 1, 1, 1, 1, 1],
        "strict": [7],
        "max_rate": ["off"] * 7 + ["500Mbps"],
        "burst": "8192B",
    }
    assert [(one["queue"], one["ecn"], one["probability"]) for one in switch["marking"]["queues"]] == [
        ([0], "none", 0.1),
        ([1], "all", 1.0),
    ]
    path = write_scenario(tmp_path / "tor.toml", found.text, 8, "10Gbps", (1,))
    ran = command("explain", "memory", path, "--groups", 1, "--json")
    case = json.loads(ran.out)["classes"][0]["cases"][0]
    reserves = (3 * 8 + 8) * 1664  # queues 0 to 2 and 7 of eight ports
    shared = (9_000_000 // 208 * 208 - reserves) // 208
    assert case["closed_form"]["egress_loss"] == pytest.approx(shared / 3 + 8 + 1, abs=0.5)
    assert case["dataplane"]["mark"] == 30_001 // 64 + 2


@pytest.mark.parametrize(
    ("name", "options", "hosts", "rate"),
    [
        ("leaf", ("--chip", "tomahawk", "--lookup", LOOKUP), 32, "100Gbps"),
        (
            "tor_dynamic",
            (
                "--chip",
                "spectrum-2",
                "--speed",
                "25Gbps",
                *(x for pool in POOLS for x in ("--pool-size", pool)),
            ),
            12,
            "25Gbps",
        ),
        (
            "tor_lossy",
            ("--cell", "208B", "--size-includes", "shared", "--ports", "Ethernet0,Ethernet1"),
            2,
            "10Gbps",
        ),
    ],
)
def test_command_writes_a_fragment_that_runs(
    command: Command, tmp_path: Path, name: str, options: tuple[object, ...], hosts: int, rate: str
) -> None:
    config = EXAMPLES / f"{name}.json"
    printed = command("import", "sonic", config, *options)
    written = command("import", "sonic", config, *options, "--out", "part.toml")
    assert (printed.status, written.status, written.err) == (0, 0, printed.err)
    assert (tmp_path / "part.toml").read_text() == printed.out
    lines = [line.removeprefix("not expressed: ") for line in printed.err.splitlines()]
    assert ("# Not expressed:" in printed.out) == bool(lines)
    joined = " ".join(line.removeprefix("#").strip() for line in printed.out.splitlines())
    assert all(line in joined for line in lines)
    scenario = write_scenario(tmp_path / "whole.toml", printed.out, hosts, rate, (0, 1))
    ran = command("run", scenario, "--no-report")
    assert (ran.status, "drops (pkt)" in ran.out) == (0, True)


def test_star_scenario_has_bursts_in_a_lossless_and_a_lossy_class(command: Command, tmp_path: Path) -> None:
    options = ("--chip", "tomahawk", "--lookup", LOOKUP, "--star", "--out", "leaf.toml")
    assert command("import", "sonic", EXAMPLES / "leaf.json", *options).status == 0
    scenario = tomllib.loads((tmp_path / "leaf.toml").read_text())
    assert scenario["topology"]["link"] == {"rate": "100Gbps", "delay": "1.5us"}
    bursts = {one["name"]: (one["class"], one["senders"]) for one in scenario["traffic"]}
    assert bursts == {"lossless_burst": (3, 31), "lossy_burst": (0, 31)}
    ran = command("run", "leaf.toml", "--no-report", "--json")
    assert ran.status == 0, ran.err
    (variant,) = json.loads(ran.out)["variants"]
    # 31 MB do not fit into 16 MB: the lossless burst is paused, and the lossy one loses packets.
    assert variant["metrics"]["pauses"]["mean"] > 0
    assert variant["metrics"]["drops"]["mean"] > 0


def test_star_scenario_needs_ports_of_one_rate(command: Command) -> None:
    pools = [part for pool in POOLS for part in ("--pool-size", pool)]
    ran = command("import", "sonic", EXAMPLES / "tor_dynamic.json", "--chip", "spectrum-2", *pools, "--star")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err == (
        "--star: found ports with 25Gbps 5m, 100Gbps 40m; expected one rate and cable (--speed, --ports)\n"
    )
