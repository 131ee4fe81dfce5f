"""Configurations of SONiC for tests: the examples, and a small one that tests change."""

import copy
import json
import tomllib
from pathlib import Path
from typing import Any

from overspill.importing.chips import ChipOptions
from overspill.importing.sonic import Fragment, SonicOptions, import_sonic

EXAMPLES = Path(__file__).parents[2] / "scenarios/sonic"
LOOKUP = EXAMPLES / "pg_profile_lookup.ini"
CELLS = ChipOptions(cell="208B", size_includes="shared")
Tables = dict[str, Any]

TWO_PORTS: Tables = {
    "PORT": {"Ethernet0": {"speed": "100000"}, "Ethernet4": {"speed": "100000"}},
    "CABLE_LENGTH": {"AZURE": {"Ethernet0": "300m", "Ethernet4": "300m"}},
    "BUFFER_POOL": {
        "ingress_lossless_pool": {
            "type": "ingress",
            "mode": "dynamic",
            "size": "10000000",
            "xoff": "4000000",
        },
        "egress_pool": {"type": "egress", "mode": "static", "size": "12000000"},
    },
    "BUFFER_PROFILE": {
        "lossy": {"pool": "ingress_lossless_pool", "size": "0", "static_th": "0"},
        "lossless": {
            "pool": "ingress_lossless_pool",
            "size": "1248",
            "dynamic_th": "-2",
            "xoff": "268736",
            "xon": "2288",
            "xon_offset": "4576",
        },
        "queue": {"pool": "egress_pool", "size": "1518", "dynamic_th": "3"},
    },
    "BUFFER_PG": {
        "Ethernet0,Ethernet4|0": {"profile": "lossy"},
        "Ethernet0,Ethernet4|3-4": {"profile": "lossless"},
    },
    "BUFFER_QUEUE": {"Ethernet0,Ethernet4|0-7": {"profile": "queue"}},
    "PORT_QOS_MAP": {
        "Ethernet0,Ethernet4": {
            "dscp_to_tc_map": "AZURE",
            "tc_to_pg_map": "AZURE",
            "tc_to_queue_map": "AZURE",
            "pfc_enable": "3,4",
        }
    },
    "DSCP_TO_TC_MAP": {"AZURE": {"3": "3", "4": "4", "46": "5"}},
    "TC_TO_PRIORITY_GROUP_MAP": {"AZURE": {str(tc): str(tc if tc in (3, 4) else 0) for tc in range(8)}},
    "TC_TO_QUEUE_MAP": {"AZURE": {str(tc): str(tc) for tc in range(8)}},
    "SCHEDULER": {"half": {"type": "DWRR", "weight": "50"}},
    "QUEUE": {"Ethernet0,Ethernet4|0-7": {"scheduler": "half"}},
}


def change_tables(changes: Tables) -> Tables:
    """Returns the small configuration with other rows; `None` removes a table, a row or a field."""
    tables = copy.deepcopy(TWO_PORTS)

    def change(old: Tables, new: Tables) -> None:
        for key, value in new.items():
            if value is None:
                old.pop(key, None)
            elif isinstance(value, dict) and isinstance(old.get(key), dict):
                change(old[key], value)
            else:
                old[key] = value

    change(tables, changes)
    return tables


def import_changed(folder: Path, changes: Tables, **options: Any) -> Fragment:
    """Imports the small configuration with other rows, as `folder/config_db.json`."""
    path = folder / "config_db.json"
    path.write_text(json.dumps(change_tables(changes)), encoding="utf-8")
    return import_sonic(path, SonicOptions(**({"chip": CELLS} | options)))


def switch_of(found: Fragment) -> dict[str, Any]:
    """Returns the tables below `switch` of a fragment."""
    switch: dict[str, Any] = tomllib.loads(found.text)["switch"]
    return switch


def profile_of(found: Fragment, side: str, number: int, port: int = 0) -> dict[str, Any]:
    """Returns the profile of a group or queue at a port, by the entries without a rate."""
    buffer = switch_of(found)["buffer"]
    name = side.removesuffix("s")
    entries = [one for one in buffer[side] if number in one[name] and port in one.get("ports", [port])]
    profile: dict[str, Any] = buffer["profiles"][entries[-1]["profile"]]
    return profile


def write_scenario(path: Path, fragment: str, hosts: int, rate: str, classes: tuple[int, ...]) -> Path:
    """Writes a star with a flow in each class, and the fragment behind it."""
    flows = "".join(
        f'[[traffic]]\nname = "class_{class_}"\nkind = "constant"\nsource = "h0"\ndestination = "h1"\n'
        f'rate = "1Gbps"\npayload = "1000B"\nclass = {class_}\n'
        for class_ in classes
    )
    link = f'link = {{ rate = "{rate}", delay = "1.5us" }}'
    head = f'name = "imported"\nduration = "1ms"\n[topology]\nkind = "star"\nn = {hosts}\n{link}\n'
    path.write_text(head + flows + fragment, encoding="utf-8")
    return path
