"""Tests that faulty SONiC files and options are refused, with their place and a rule."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Ran
from sonic_files import CELLS, EXAMPLES, LOOKUP, Tables, change_tables, write_scenario

from overspill.engine import core
from overspill.errors import BadInput
from overspill.importing.sonic import SonicOptions, import_sonic

Command = Callable[..., Ran]
EVERY = "Ethernet0,Ethernet4"
FACTS = ("--cell", "208B", "--size-includes", "shared")
NO_ROWS: Tables = {"BUFFER_PG": {f"{EVERY}|3-4": None}}
DYNAMIC = {
    "DEVICE_METADATA": {"localhost": {"buffer_model": "dynamic"}},
    "DEFAULT_LOSSLESS_BUFFER_PARAMETER": {"A": {"default_dynamic_th": "0"}},
    "LOSSLESS_TRAFFIC_PATTERN": {"A": {"mtu": "1024", "small_packet_percentage": "100"}},
}
# Changes of the small configuration, and the error without the name of the file.
FAULTS: list[tuple[Tables, str]] = [
    ({"BUFFER_POOL": None}, "BUFFER_POOL: found no pools; expected a row"),
    ({"PORT": None}, "PORT: found no ports; expected a row for each port"),
    ({"PORT": []}, "PORT: found list; expected an object of rows"),
    ({"PORT": {"Ethernet0": "up"}}, 'PORT|Ethernet0: found "up"; expected an object of fields'),
    (
        {"PORT": {"Ethernet0": {"speed": None}}},
        "PORT|Ethernet0: speed: found nothing; expected a whole number",
    ),
    (
        {"PORT": {"Ethernet0": {"speed": "fast"}}},
        "PORT|Ethernet0: speed: found fast; expected a whole number",
    ),
    ({"PORT": {"Ethernet0": {"lanes": "a,b"}}}, "PORT|Ethernet0: lanes: found a,b; expected numbers"),
    ({"PORT": {"Ethernet0": {"lanes": True}}}, "PORT|Ethernet0: lanes: found true; expected a text"),
    (
        {"CABLE_LENGTH": {"AZURE": {"Ethernet0": "long"}}},
        "CABLE_LENGTH|AZURE: Ethernet0: found long; expected a length such as 300m",
    ),
    (
        {"CABLE_LENGTH": {"AZURE": {"Ethernet9": "5m"}}},
        "CABLE_LENGTH|AZURE: Ethernet9: found a port without a row; expected ports of the table PORT",
    ),
    ({"CABLE_LENGTH": {"B": {}}}, "CABLE_LENGTH: found AZURE, B; expected one row"),
    (
        {"BUFFER_POOL": {"egress_pool": {"type": "both"}}},
        "BUFFER_POOL|egress_pool: type: found both; expected one of ingress, egress",
    ),
    (
        {"BUFFER_POOL": {"egress_pool": {"type": None}}},
        "BUFFER_POOL|egress_pool: type: found nothing; expected one of ingress, egress",
    ),
    (
        {"BUFFER_POOL": {"egress_pool": {"mode": "elastic"}}},
        "BUFFER_POOL|egress_pool: mode: found elastic; expected one of dynamic, static",
    ),
    (
        {"BUFFER_POOL": {"egress_pool": {"size": None}}},
        "BUFFER_POOL|egress_pool: size: found nothing; expected a size, or --pool-size egress_pool=BYTES",
    ),
    (
        {"BUFFER_PROFILE": {"queue": {"pool": "lost"}}},
        "BUFFER_PROFILE|queue: pool: found lost; expected a row of BUFFER_POOL: egress_pool, ",
    ),
    (
        {"BUFFER_PROFILE": {"queue": {"pool": "[BUFFER_PROFILE|lossy]"}}},
        "BUFFER_PROFILE|queue: pool: found [BUFFER_PROFILE|lossy]; expected a row of BUFFER_POOL",
    ),
    (
        {"BUFFER_PROFILE": {"queue": {"pool": None}}},
        "BUFFER_PROFILE|queue: pool: found nothing; expected a row",
    ),
    (
        {"BUFFER_PROFILE": {"queue": {"dynamic_th": None}}},
        "BUFFER_PROFILE|queue: found neither dynamic_th nor static_th; expected one of them",
    ),
    (
        {"BUFFER_PROFILE": {"queue": {"static_th": "5"}}},
        "BUFFER_PROFILE|queue: found dynamic_th and static_th; expected one of them",
    ),
    (
        {"BUFFER_PROFILE": {"queue": {"dynamic_th": "40"}}},
        "BUFFER_PROFILE|queue: dynamic_th: found 40; expected a whole number from -16 to 16",
    ),
    (
        {"BUFFER_PROFILE": {"queue": {"packet_discard_action": "keep"}}},
        "BUFFER_PROFILE|queue: packet_discard_action: found keep; expected one of drop, trim",
    ),
    (
        {"BUFFER_POOL": {"ingress_lossless_pool": {"xoff": None}}},
        "BUFFER_PROFILE|lossless: size: found 1248; expected at least xoff (268736)",
    ),
    (
        {"BUFFER_PROFILE": {"lossless": {"headroom_type": "dynamic"}}},
        "BUFFER_PROFILE|lossless: headroom_type: found dynamic; expected buffer_model = dynamic",
    ),
    (
        {"BUFFER_PG": {f"{EVERY}|0": {"profile": "queue"}}},
        f"BUFFER_PG|{EVERY}|0: profile: found queue of the egress pool egress_pool; expected a profile of",
    ),
    (
        {"BUFFER_PG": {f"{EVERY}|3-4": {"profile": "lossy"}}},
        f"BUFFER_PG|{EVERY}|3-4: profile: found lossy, a profile without headroom, for group 3 with PFC at "
        "Ethernet0; expected a profile with xoff",
    ),
    (
        NO_ROWS,
        "BUFFER_PG|Ethernet0|3: profile: found no headroom for a lossless group of Ethernet0; expected "
        "BUFFER_PROFILE|pg_lossless_100000_300m_profile, a profile with xoff, or --lookup",
    ),
    (
        NO_ROWS | {"CABLE_LENGTH": None},
        "BUFFER_PG|Ethernet0|3: profile: found no headroom for a lossless group of Ethernet0; expected a",
    ),
    (
        NO_ROWS | DYNAMIC,
        "BUFFER_PG|Ethernet0|3: profile: found no headroom for a lossless group of Ethernet0; expected prof",
    ),
    (
        {"BUFFER_QUEUE": {f"{EVERY}|0-7": {"profile": "NULL"}}},
        f"BUFFER_QUEUE|{EVERY}|0-7: profile: found NULL; expected a row of BUFFER_PROFILE",
    ),
    ({"DSCP_TO_TC_MAP": {"AZURE": {"5": {}}}}, "DSCP_TO_TC_MAP|AZURE: 5: found {}; expected a whole number"),
    (
        {"BUFFER_PG": {"Ethernet0": {}}},
        "BUFFER_PG|Ethernet0: found the key Ethernet0; expected ports and numbers",
    ),
    (
        {"BUFFER_PG": {"Ethernet0|4-3": {}}},
        "BUFFER_PG|Ethernet0|4-3: found the numbers 4-3; expected ports and",
    ),
    (
        {"QUEUE": {"Ethernet9|1": {}}},
        "QUEUE|Ethernet9|1: found the port Ethernet9; expected ports of the table PORT",
    ),
    (
        {"SCHEDULER": {"other": {}}, "QUEUE": {"Ethernet0|3": {"scheduler": "other"}}},
        f"QUEUE|Ethernet0|3: scheduler: found other, but QUEUE|{EVERY}|0-7 has half; expected one value",
    ),
    (
        {"QUEUE": {f"{EVERY}|0-7": {"scheduler": "no"}}},
        f"QUEUE|{EVERY}|0-7: scheduler: found no; expected a row of",
    ),
    (
        {"SCHEDULER": {"half": {"type": "FAIR"}}},
        "SCHEDULER|half: type: found FAIR; expected one of DWRR, WRR, STRICT",
    ),
    (
        {"QUEUE": {f"{EVERY}|0-7": {"wred_profile": "W"}}},
        f"QUEUE|{EVERY}|0-7: wred_profile: found W; expected a row of WRED_PROFILE, which is absent",
    ),
    (
        {"QUEUE": {f"{EVERY}|0-7": {"wred_profile": "W"}}, "WRED_PROFILE": {"W": {"ecn": "ecn_some"}}},
        "WRED_PROFILE|W: ecn: found ecn_some; expected one of ecn_none",
    ),
    (
        {"QUEUE": {f"{EVERY}|0-7": {"wred_profile": "W"}}, "WRED_PROFILE": {"W": {"ecn": "ecn_all"}}},
        "WRED_PROFILE|W: green_min_threshold: found nothing; expected a whole number",
    ),
    (
        {
            "QUEUE": {f"{EVERY}|0-7": {"wred_profile": "W"}},
            "WRED_PROFILE": {"W": {"ecn": "ecn_all", "green_min_threshold": 9, "green_max_threshold": 8}},
        },
        "WRED_PROFILE|W: green_max_threshold: found 8; expected a whole number from 9",
    ),
    (
        {"PORT_QOS_MAP": {EVERY: {"pfc_enable": "3,9"}}},
        f"PORT_QOS_MAP|{EVERY}: pfc_enable: found 3,9; expected numbers from 0 to 7",
    ),
    (
        {"PORT_QOS_MAP": {EVERY: {"tc_to_pg_map": "NONE"}}},
        f"PORT_QOS_MAP|{EVERY}: tc_to_pg_map: found NONE; expected a row of TC_TO_PRIORITY_GROUP_MAP: AZURE",
    ),
    (
        {"DSCP_TO_TC_MAP": {"AZURE": {"x": "1"}}},
        "DSCP_TO_TC_MAP|AZURE: found the entry x; expected entries from 0 to 63",
    ),
    (
        {"DSCP_TO_TC_MAP": {"AZURE": {"5": "8"}}},
        "DSCP_TO_TC_MAP|AZURE: 5: found 8; expected a whole number from 0 to 7",
    ),
    (
        {"PFC_WD": {"Ethernet0": {"action": "stop", "detection_time": "200"}}},
        "PFC_WD|Ethernet0: action: found stop; expected one of drop, forward, alert",
    ),
    (
        {"PFC_WD": {"Ethernet0": {}}},
        "PFC_WD|Ethernet0: detection_time: found nothing; expected a whole number",
    ),
    (
        {"DEVICE_METADATA": {"localhost": {"buffer_model": "magic"}}},
        "DEVICE_METADATA|localhost: buffer_model: found magic; expected one of traditional, dynamic",
    ),
    (
        {"DEVICE_METADATA": {"localhost": {"buffer_model": "dynamic"}}},
        "DEFAULT_LOSSLESS_BUFFER_PARAMETER: found no row; expected a row, because DEVICE_METADATA|localho",
    ),
]


@pytest.mark.parametrize(("changes", "message"), FAULTS, ids=[message[:60] for _, message in FAULTS])
def test_faulty_table_is_refused_by_table_and_key(
    command: Command, tmp_path: Path, changes: Tables, message: str
) -> None:
    (tmp_path / "config_db.json").write_text(json.dumps(change_tables(changes)))
    ran = command("import", "sonic", "config_db.json", *FACTS)
    assert (ran.status, ran.out) == (2, "")
    (line,) = ran.err.splitlines()
    assert line.startswith(f"config_db.json: {message}"), line


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "config_db.json:1: found no JSON: "),
        ("[1]", "config_db.json: found JSON without tables; expected an object of tables by name"),
        ("[" * 100_000, "config_db.json: found JSON nested too deep; expected a SONiC config_db.json"),
        (b"\xff", "config_db.json: found bytes that are not UTF-8; expected a SONiC config_db.json"),
        (None, "config_db.json: cannot be read: No such file or directory; expected a SONiC config_db.json"),
    ],
)
def test_broken_file_is_refused(command: Command, tmp_path: Path, text: Any, message: str) -> None:
    if text is not None:
        (tmp_path / "config_db.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    ran = command("import", "sonic", "config_db.json", *FACTS)
    assert (ran.status, ran.out, ran.err.startswith(message)) == (2, "", True), ran.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "--cell: found nothing; expected --chip (tomahawk, "),
        (("--cell", "208"), "--size-includes: found nothing; expected --chip"),
        (("--chip", "abacus"), "--chip: found abacus; expected one of tomahawk, "),
        (("--cell", "0", "--size-includes", "shared"), "--cell: found 0; expected bytes from 1 to 65535"),
        (("--cell", "208", "--size-includes", "all"), "--size-includes: found all; expected one of shared, "),
        (
            (*FACTS, "--slices", 4),
            "--slice-of: found 0 numbers for 4 slices; expected one slice for each pair",
        ),
        ((*FACTS, "--slice-of", "0,1"), "--slice-of: found 2 numbers for 2 slices; expected one slice for"),
        ((*FACTS, "--slice-of", "0,x"), "--slice-of: found 0,x; expected slices separated by commas"),
        (
            (*FACTS, "--slices", 2, "--slice-of", "0,1,2,0"),
            "--slice-of: found 2; expected slices from 0 to 1",
        ),
        (
            (*FACTS, "--ports", "Ethernet1"),
            "--ports: found Ethernet1; expected ports of config_db.json: PORT",
        ),
        ((*FACTS, "--speed", "fast"), "--speed: found fast; expected a rate such as 100Gbps"),
        ((*FACTS, "--speed", "1Gbps"), "--speed: found 1Gbps, the rate of no port; expected one of 100Gbps"),
        (
            (*FACTS, "--pool-size", "x=5"),
            "--pool-size: found x; expected pools such as ingress_lossless_pool",
        ),
        ((*FACTS, "--pool-size", "x"), "--pool-size: found x; expected NAME=BYTES such as"),
        (
            (*FACTS, "--lookup", "none.ini"),
            "none.ini: cannot be read: No such file or directory; expected a SONiC pg",
        ),
        ((*FACTS, "--star"), "--star: found 2 ports; expected at least 3"),
        ((*FACTS, "--out", "no/folder"), "no/folder: cannot be written: No such file or directory"),
    ],
)
def test_faulty_option_is_refused(
    command: Command, tmp_path: Path, options: tuple[object, ...], message: str
) -> None:
    (tmp_path / "config_db.json").write_text(json.dumps(change_tables({})))
    ran = command("import", "sonic", "config_db.json", *options)
    assert (ran.status, ran.out) == (1 if "--out" in options else 2, "")
    assert ran.err.startswith(message), ran.err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "100000 300m 1248 2288",
            "lookup.ini:2: found 100000 300m 1248 2288; expected the columns speed, cable, ",
        ),
        ("100000 300 1248 2288 26 0", "lookup.ini:2: found 100000 300 1248 2288 26 0; expected the columns"),
        ("100000 300m x 2288 26 0", "lookup.ini:2: found 100000 300m x 2288 26 0; expected the columns"),
        ("100000 300m 1248 2288 -26 0", "lookup.ini:2: found -26; expected sizes of at least 0"),
        (
            "40000 300m 1248 2288 26 0",
            "lookup.ini: found no line for speed 100000 and cable 300m of Ethernet0; expected one of 40000",
        ),
    ],
)
def test_faulty_lookup_file_is_refused(command: Command, tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "config_db.json").write_text(json.dumps(change_tables(NO_ROWS)))
    (tmp_path / "lookup.ini").write_text(f"# speed cable\n{line}\n")
    ran = command("import", "sonic", "config_db.json", *FACTS, "--lookup", "lookup.ini")
    assert (ran.status, ran.err.startswith(message)) == (2, True), ran.err
    assert command("import", "sonic", "config_db.json", *FACTS, "--lookup", LOOKUP).status == 0


def test_error_on_the_page_is_that_of_such_a_file(command: Command, tmp_path: Path) -> None:
    page = (EXAMPLES.parents[1] / "docs/howto/import_sonic.md").read_text()
    (shown,) = [line.strip() for line in page.splitlines() if line.startswith("    config_db.json: ")]
    changes = {"SCHEDULER": {"half": {"type": "FAIR"}}}
    (tmp_path / "config_db.json").write_text(json.dumps(change_tables(changes)))
    assert command("import", "sonic", "config_db.json", *FACTS).err.strip() == shown


def find_places(tables: Tables, place: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yields the places of all tables, rows and fields."""
    for key, value in tables.items():
        yield (*place, key)
        if isinstance(value, dict):
            yield from find_places(value, (*place, key))


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("value", [None, "", [], "NULL", -1, {"x": "y"}])
def test_any_wrong_value_is_refused_or_gives_a_valid_scenario(tmp_path: Path, value: object) -> None:
    path, refused, loaded = tmp_path / "config_db.json", 0, 0
    for *parents, last in find_places(change_tables({})):
        tables = change_tables({})
        parent = tables
        for key in parents:
            parent = parent[key]
        parent.pop(last)
        if value is not None:
            parent[last] = value
        path.write_text(json.dumps(tables))
        try:
            found = import_sonic(path, SonicOptions(CELLS, LOOKUP))
        except BadInput as error:
            refused += 1
            assert error.lines[0].startswith(str(path)) and "; expected " in error.lines[0]
            continue
        scenario = write_scenario(tmp_path / "part.toml", found.text, 2, "100Gbps", (0,))
        core.load_scenario(str(scenario), scenario.read_text(), [])
        loaded += 1
    # Some rows and fields may be absent, but hardly any may have a value of another kind.
    assert (loaded > 5) if value is None else (refused > 60)
