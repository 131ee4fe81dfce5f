"""Tests of the import of each SONiC table, one setting at a time."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from sonic_files import EXAMPLES, LOOKUP, Tables, import_changed, profile_of, switch_of

from overspill.importing.chips import CHIPS, ChipOptions
from overspill.importing.sonic import Fragment

EVERY = "Ethernet0,Ethernet4"


@pytest.fixture
def imported(tmp_path: Path) -> Any:
    """Imports the small configuration with changes."""

    def call(changes: Tables | None = None, **options: Any) -> Fragment:
        return import_changed(tmp_path, changes or {}, **options)

    return call


def listed(found: Fragment, where: str) -> str:
    """Returns the text about a setting that cannot be expressed."""
    (line,) = [line for line in found.omitted if line.startswith(f"{where}: ")]
    return line.removeprefix(f"{where}: ")


def test_unchanged_configuration_is_expressed_whole(imported: Any) -> None:
    assert list(imported().omitted) == []


def test_pool_has_side_size_and_shared_headroom(imported: Any) -> None:
    assert switch_of(imported())["buffer"]["pools"] == {
        "ingress_lossless_pool": {"side": "ingress", "size": "10000000B", "headroom": "4000000B"},
        "egress_pool": {"side": "egress", "size": "12000000B"},
    }


def test_option_gives_the_size_of_a_pool_without_one(imported: Any) -> None:
    changes = {"BUFFER_POOL": {"egress_pool": {"size": None, "percentage": "90"}}}
    found = imported(changes, pool_sizes=["egress_pool=5000000"])
    assert switch_of(found)["buffer"]["pools"]["egress_pool"]["size"] == "5000000B"
    assert listed(found, "BUFFER_POOL|egress_pool|percentage") == (
        "the fragment has the size 5000000B of --pool-size"
    )


@pytest.mark.parametrize("brackets", [False, True])
def test_both_forms_of_references_give_the_same_fragment(imported: Any, brackets: bool) -> None:
    def refer(table: str, name: str) -> str:
        return f"[{table}|{name}]" if brackets else name

    changes = {
        "BUFFER_PROFILE": {"queue": {"pool": refer("BUFFER_POOL", "egress_pool")}},
        "BUFFER_PG": {f"{EVERY}|0": {"profile": refer("BUFFER_PROFILE", "lossy")}},
        "PORT_QOS_MAP": {EVERY: {"tc_to_pg_map": refer("TC_TO_PRIORITY_GROUP_MAP", "AZURE")}},
        "QUEUE": {f"{EVERY}|0-7": {"scheduler": refer("SCHEDULER", "half")}},
    }
    assert imported(changes).text == imported().text


def test_lossless_profile_has_reserve_threshold_and_headroom(imported: Any) -> None:
    assert profile_of(imported(), "groups", 3) == {
        "pool": "ingress_lossless_pool",
        "reserve": "1248B",
        "threshold": {"kind": "dynamic", "dynamic_th": -2},
        "lossless": True,
        "xoff": "268736B",
        "xon": "2288B",
        "xon_offset": "4576B",
    }


def test_size_includes_headroom_if_the_pool_has_none(imported: Any) -> None:
    changes = {
        "BUFFER_POOL": {"ingress_lossless_pool": {"xoff": None}},
        "BUFFER_PROFILE": {"lossless": {"size": "270000"}},
    }
    found = imported(changes)
    assert profile_of(found, "groups", 3)["reserve"] == f"{270_000 - 268_736}B"
    assert "headroom" not in switch_of(found)["buffer"]["pools"]["ingress_lossless_pool"]


def test_profile_decides_between_static_and_dynamic(imported: Any) -> None:
    # The pool is dynamic, and its lossy profile static: 0 means no limit.
    assert "threshold" not in profile_of(imported(), "groups", 0)
    found = imported({"BUFFER_PROFILE": {"lossy": {"static_th": "50000"}}})
    assert profile_of(found, "groups", 0)["threshold"] == {"kind": "static", "limit": "50000B"}
    # The pool is static, and the profile of its queues dynamic.
    assert profile_of(found, "queues", 0)["threshold"] == {"kind": "dynamic", "dynamic_th": 3}


def test_ports_with_other_profiles_have_entries_of_their_own(imported: Any) -> None:
    changes = {
        "BUFFER_PROFILE": {"small": {"pool": "egress_pool", "size": "208", "dynamic_th": "-4"}},
        "BUFFER_QUEUE": {
            f"{EVERY}|0-7": None,
            "Ethernet0|0-7": {"profile": "queue"},
            "Ethernet4|0": {"profile": "small"},
            "Ethernet4|1-7": {"profile": "queue"},
        },
    }
    found = imported(changes)
    assert switch_of(found)["buffer"]["queues"] == [
        {"queue": [0], "profile": "queue", "ports": [0]},
        {"queue": [0], "profile": "small", "ports": [1]},
        {"queue": [1, 2, 3, 4, 5, 6, 7], "profile": "queue"},
    ]
    assert profile_of(found, "queues", 0, 1)["reserve"] == "208B"
    fast = imported(changes | {"PORT": {"Ethernet4": {"speed": "400000"}}})
    assert [one.get("rate") for one in switch_of(fast)["buffer"]["queues"]] == ["100Gbps", "400Gbps", None]


def test_groups_and_queues_without_a_row_have_no_limit(imported: Any) -> None:
    found = imported(
        {"BUFFER_PG": {f"{EVERY}|0": None}, "BUFFER_QUEUE": {"Ethernet0|0": {"profile": "queue"}}}
    )
    assert profile_of(found, "groups", 0) == {"pool": "ingress_lossless_pool"}
    assert "no reserve and no limit" in listed(found, f"BUFFER_PG|{EVERY}|0")


def test_limits_of_whole_ports_are_listed(imported: Any) -> None:
    changes = {
        "BUFFER_PORT_EGRESS_PROFILE_LIST": {"Ethernet0": {"profile_list": "[BUFFER_PROFILE|queue],lossy"}}
    }
    text = listed(imported(changes), "BUFFER_PORT_EGRESS_PROFILE_LIST")
    assert text == "reserves and limits of whole ports (queue, lossy); a scenario has none"


def test_lookup_file_fills_groups_with_pfc_and_no_row(imported: Any) -> None:
    changes = {"BUFFER_PG": {f"{EVERY}|3-4": None}}
    found = imported(changes, lookup=LOOKUP)
    made = profile_of(found, "groups", 4)
    assert (made["reserve"], made["xoff"], made["threshold"]["dynamic_th"]) == ("1248B", "268736B", 0)
    # On a running switch, the profile is in the file.
    own = {"pool": "ingress_lossless_pool", "size": "0", "xoff": "50000", "dynamic_th": "1"}
    changes["BUFFER_PROFILE"] = {"pg_lossless_100000_300m_profile": own}
    assert profile_of(imported(changes), "groups", 4)["xoff"] == "50000B"


def test_static_pool_makes_the_threshold_of_the_lookup_file_static(imported: Any) -> None:
    changes = {
        "BUFFER_PG": {f"{EVERY}|3-4": None},
        "BUFFER_POOL": {"ingress_lossless_pool": {"mode": "static"}},
    }
    assert "threshold" not in profile_of(imported(changes, lookup=LOOKUP), "groups", 3)


def test_cable_of_no_length_makes_no_lossless_group(imported: Any) -> None:
    changes = {"BUFFER_PG": {f"{EVERY}|3-4": None}, "CABLE_LENGTH": {"AZURE": {"Ethernet0": "0m"}}}
    found = imported(changes, lookup=LOOKUP)
    assert "lossless" not in profile_of(found, "groups", 3, 0)
    assert profile_of(found, "groups", 3, 1)["lossless"] is True
    assert "cable of 0m" in listed(found, "BUFFER_PG|Ethernet0|3")


def test_pfc_pauses_groups_of_its_own_map(imported: Any) -> None:
    changes = {
        "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": {"SWAP": {"3": "4", "4": "3"}},
        "MAP_PFC_PRIORITY_TO_QUEUE": {"SWAP": {"3": "4", "4": "3"}},
        "PORT_QOS_MAP": {EVERY: {"pfc_to_pg_map": "SWAP", "pfc_enable": "3"}},
    }
    found = imported(changes)
    # Priority 3 is group 4, whose pause stops queue 4. Group 3 has headroom but sends no pauses.
    assert list(found.omitted) == [
        f"PORT_QOS_MAP|{EVERY}|pfc_to_queue_map: a pause of group 4 stops queue 3; in the fragment it stops "
        "queue 4",
        f"PORT_QOS_MAP|{EVERY}|pfc_enable: group 3 has headroom but no PFC; in the fragment it sends pauses",
    ]
    changes["PORT_QOS_MAP"][EVERY]["pfc_to_queue_map"] = "SWAP"
    assert len(imported(changes).omitted) == 1


def test_maps_give_classes_groups_queues_and_dscps(imported: Any) -> None:
    changes = {"TC_TO_QUEUE_MAP": {"AZURE": {"6": "5", "7": "9"}}, "DSCP_TO_TC_MAP": {"AZURE": {"10": "1"}}}
    found = imported(changes)
    buffer = switch_of(found)["buffer"]
    assert buffer["class_to_group"] == [0, 0, 0, 3, 4, 0, 0, 0]
    assert buffer["class_to_queue"] == [0, 1, 2, 3, 4, 5, 5, 7]
    assert "found queue 9" in listed(found, "TC_TO_QUEUE_MAP|AZURE|7")
    dscps = tomllib.loads(found.text)["dscp_to_class"]
    assert {dscp: class_ for dscp, class_ in dscps.items() if class_} == {"3": 3, "4": 4}
    # DSCPs 10 and 46 have their classes by their three high bits. DSCP 11 has no entry, so class 0.
    assert ("10" in dscps, "46" in dscps, dscps["11"]) == (False, False, 0)


def test_incomplete_and_missing_maps_are_listed(imported: Any) -> None:
    found = imported(
        {"TC_TO_QUEUE_MAP": {"AZURE": {"5": None}}, "PORT_QOS_MAP": {EVERY: {"tc_to_pg_map": None}}}
    )
    buffer = switch_of(found)["buffer"]
    assert (buffer["class_to_group"], buffer["class_to_queue"][5]) == ([0, 1, 2, 3, 4, 5, 6, 7], 0)
    assert listed(found, "TC_TO_QUEUE_MAP|AZURE") == "found no entry for 5; the fragment has 0 there"
    assert "keeps the number of each class" in listed(found, "PORT_QOS_MAP|tc_to_pg_map")


def test_map_of_the_switch_is_used_without_one_of_the_port(imported: Any) -> None:
    changes = {"PORT_QOS_MAP": {EVERY: {"dscp_to_tc_map": None}, "global": {"dscp_to_tc_map": "AZURE"}}}
    assert imported(changes).text == imported().text


def test_ports_with_other_maps_are_listed(imported: Any) -> None:
    changes = {
        "PORT": {"Ethernet8": {"speed": "100000"}},
        "CABLE_LENGTH": {"AZURE": {"Ethernet8": "300m"}},
        "BUFFER_PG": {"Ethernet8|0": {"profile": "lossy"}, "Ethernet8|3-4": {"profile": "lossless"}},
        "BUFFER_QUEUE": {"Ethernet8|0-7": {"profile": "queue"}},
        "DSCP_TO_TC_MAP": {"OTHER": {"3": "4"}},
        "PORT_QOS_MAP": {
            "Ethernet8": {
                "dscp_to_tc_map": "OTHER",
                "tc_to_pg_map": "AZURE",
                "tc_to_queue_map": "AZURE",
                "pfc_enable": "3,4",
            }
        },
        "QUEUE": {"Ethernet8|0-7": {"scheduler": "half"}},
    }
    (line,) = imported(changes).omitted
    assert line == (
        "PORT_QOS_MAP|Ethernet8|dscp_to_tc_map: found DSCP_TO_TC_MAP|OTHER; the fragment has "
        "DSCP_TO_TC_MAP|AZURE at all ports"
    )
    alone = imported(changes, ports=["Ethernet8"])
    assert (list(alone.omitted), tomllib.loads(alone.text)["dscp_to_class"]["3"]) == ([], 4)


def test_settings_without_counterpart_are_listed(imported: Any) -> None:
    changes = {
        "DOT1P_TO_TC_MAP": {"AZURE": {"0": "1"}},
        "PORT": {"Ethernet0": {"pfc_asym": "on"}},
        "PORT_QOS_MAP": {EVERY: {"scheduler": "half"}},
        "BUFFER_PROFILE": {"queue": {"packet_discard_action": "trim"}},
        "QUEUE": {"CPU|0": {"scheduler": "half"}, "Ethernet0|8-9": {"scheduler": "half"}},
    }
    assert [line.split(": ")[0] for line in imported(changes).omitted] == [
        "PORT|Ethernet0|pfc_asym",
        f"PORT_QOS_MAP|{EVERY}|scheduler",
        "BUFFER_PROFILE|queue|packet_discard_action",
        "QUEUE|CPU|0",
        "QUEUE|Ethernet0|8-9",
        "DOT1P_TO_TC_MAP",
    ]


def test_strict_queues_alone_give_strict_priority(imported: Any) -> None:
    found = imported({"SCHEDULER": {"half": {"type": "STRICT", "weight": "9"}}})
    assert switch_of(found)["scheduler"] == {"kind": "strict_priority"}


def test_mixed_schedulers_give_weights_strict_queues_and_rates(imported: Any) -> None:
    changes = {
        "SCHEDULER": {
            "top": {"type": "STRICT", "pir": "1250000000", "pbs": "9000", "priority": "1"},
            "old": {"type": "WRR", "weight": "3", "cir": "1000", "pir": "2000", "pbs": "4000"},
            "packets": {"type": "DWRR", "pir": "10", "meter_type": "packets"},
        },
        "QUEUE": {
            f"{EVERY}|0-7": None,
            f"{EVERY}|0-4": {"scheduler": "half"},
            f"{EVERY}|5": {"scheduler": "old"},
            f"{EVERY}|6": {"scheduler": "packets"},
            f"{EVERY}|7": {"scheduler": "top"},
        },
    }
    found = imported(changes)
    assert switch_of(found)["scheduler"] == {
        "kind": "round_robin",
        "weights": [50, 50, 50, 50, 50, 3, 1, 1],
        "strict": [7],
        "max_rate": ["off"] * 5 + ["16Kbps", "off", "10Gbps"],
        "burst": "9000B",
    }
    assert [line.split(": ")[0] for line in found.omitted] == [
        "SCHEDULER|old|type",
        "SCHEDULER|old|cir",
        "SCHEDULER|packets|meter_type",
        "SCHEDULER|top|priority",
        "SCHEDULER|pbs",
    ]


def test_queues_without_scheduler_share_by_weight_one(imported: Any) -> None:
    found = imported({"QUEUE": {f"{EVERY}|0-7": None, "Ethernet0|3": {"scheduler": "half"}}})
    assert "no scheduler" in listed(found, f"QUEUE|{EVERY}|0,1,2,4,5,6,7")
    assert "at all ports" in listed(found, "QUEUE|Ethernet4|3|scheduler")
    assert switch_of(found)["scheduler"]["weights"] == [1, 1, 1, 50, 1, 1, 1, 1]


def test_one_queue_may_have_its_fields_in_several_rows(imported: Any) -> None:
    wred = {"ecn": "ecn_all", "wred_green_enable": True, "green_min_threshold": 5, "green_max_threshold": "9"}
    found = imported({"WRED_PROFILE": {"W": wred}, "QUEUE": {f"{EVERY}|3": {"wred_profile": "W"}}})
    (entry,) = switch_of(found)["marking"]["queues"]
    assert entry == {"queue": [3], "min": "5B", "max": "9B", "probability": 1.0, "ecn": "all"}
    assert switch_of(found)["scheduler"]["weights"] == [50] * 8


@pytest.mark.parametrize(
    ("wred", "expected", "where"),
    [
        ({"ecn": "ecn_none", "wred_green_enable": "true"}, "none", []),
        ({"ecn": "ecn_none"}, None, []),
        ({"ecn": "ecn_all"}, "all", ["wred_green_enable"]),
        ({"ecn": "ecn_green", "wred_green_enable": "true"}, "all", ["ecn"]),
        ({"ecn": "ecn_red", "wred_green_enable": "true"}, "none", ["ecn"]),
        ({"ecn": "ecn_all", "wred_green_enable": "true", "red_min_threshold": "7"}, "all", ["red"]),
    ],
)
def test_wred_profile_marks_or_drops_green_packets(
    imported: Any, wred: Tables, expected: str | None, where: list[str]
) -> None:
    limits = {"green_min_threshold": "1000", "green_max_threshold": "2000", "green_drop_probability": "20"}
    found = imported({"WRED_PROFILE": {"W": limits | wred}, "QUEUE": {f"{EVERY}|0-7": {"wred_profile": "W"}}})
    entries = switch_of(found).get("marking", {}).get("queues", [])
    assert [one["ecn"] for one in entries] == ([] if expected is None else [expected])
    assert [line.split(": ")[0] for line in found.omitted] == [f"WRED_PROFILE|W|{one}" for one in where]


def test_thresholds_of_marks_go_before_those_of_drops(imported: Any) -> None:
    wred = {
        "ecn": "ecn_all",
        "wred_green_enable": "true",
        "green_min_threshold": "4000",
        "green_max_threshold": "5000",
        "ecn_green_min_threshold": "1000",
        "ecn_green_max_threshold": "2000",
        "ecn_green_mark_probability": "40",
    }
    found = imported({"WRED_PROFILE": {"W": wred}, "QUEUE": {f"{EVERY}|0-7": {"wred_profile": "W"}}})
    (entry,) = switch_of(found)["marking"]["queues"]
    assert (entry["min"], entry["max"], entry["probability"]) == ("1000B", "2000B", 0.4)
    assert "thresholds of drops" in listed(found, "WRED_PROFILE|W|green_min_threshold")


def test_watchdog_has_action_and_times(imported: Any) -> None:
    own = {"action": "forward", "detection_time": "300", "restoration_time": "600"}
    found = imported({"PFC_WD": {"GLOBAL": {"POLL_INTERVAL": "150"}, "Ethernet0": own, "Ethernet4": own}})
    assert switch_of(found)["pause"] == {
        "kind": "pfc",
        "response_by_rate": True,
        "lossless": False,
        "watchdog": "forward",
        "detection_time": "300ms",
        "restoration_time": "600ms",
        "poll_interval": "150ms",
    }
    assert list(found.omitted) == []


def test_watchdogs_that_a_scenario_cannot_express_are_listed(imported: Any) -> None:
    changes = {
        "PFC_WD": {"GLOBAL": {"BIG_RED_SWITCH": "enable"}, "Ethernet0": {"detection_time": "300"}},
        "PORT_QOS_MAP": {EVERY: {"pfcwd_sw_enable": "3"}},
    }
    found = imported(changes)
    assert switch_of(found)["pause"]["watchdog"] == "drop"
    assert [line.split(": ")[0] for line in found.omitted] == [
        "PFC_WD|GLOBAL|BIG_RED_SWITCH",
        "PFC_WD|Ethernet4",
        "PFC_WD|restoration_time",
        f"PORT_QOS_MAP|{EVERY}|pfcwd_sw_enable",
    ]


DYNAMIC = {
    "DEVICE_METADATA": {"localhost": {"buffer_model": "dynamic"}},
    "DEFAULT_LOSSLESS_BUFFER_PARAMETER": {"AZURE": {"default_dynamic_th": "1", "over_subscribe_ratio": "0"}},
    "LOSSLESS_TRAFFIC_PATTERN": {"AZURE": {"mtu": "1500", "small_packet_percentage": "0"}},
    "BUFFER_POOL": {"ingress_lossless_pool": {"xoff": None}},
    "BUFFER_PG": {f"{EVERY}|3-4": {"profile": "NULL"}},
}


def test_dynamic_model_without_sharing_has_headroom_beside_the_reserve(imported: Any) -> None:
    made = profile_of(imported(DYNAMIC, chip=ChipOptions("spectrum-2")), "groups", 3)
    # 9100 + 36,990.6 in the cable + 819.2 + 25,216 + 1500 bytes, without small frames: 72 KiB.
    assert (made["xoff"], made["reserve"]) == (f"{72 * 1024}B", f"{19 * 1024}B")
    assert made["threshold"]["dynamic_th"] == 1


def test_dynamic_model_takes_a_profile_of_its_own_name(imported: Any) -> None:
    own = {"pool": "ingress_lossless_pool", "size": "70000", "xoff": "50000", "dynamic_th": "1"}
    changes = DYNAMIC | {"BUFFER_PROFILE": {"pg_lossless_100000_300m_profile": own}}
    made = profile_of(imported(changes, chip=ChipOptions("spectrum-2")), "groups", 3)
    assert (made["xoff"], made["reserve"]) == ("50000B", "20000B")


def test_dscps_with_the_default_classes_need_no_table(imported: Any) -> None:
    found = imported({"DSCP_TO_TC_MAP": {"AZURE": {str(dscp): str(dscp >> 3) for dscp in range(64)}}})
    assert "dscp_to_class" not in tomllib.loads(found.text)


def test_dynamic_model_of_an_unknown_chip_leaves_headroom_to_the_core(imported: Any) -> None:
    found = imported(DYNAMIC)
    made = profile_of(found, "groups", 3)
    assert (made["lossless"], "xoff" in made) == (True, False)
    assert "leaves headroom to Overspill" in listed(found, "LOSSLESS_TRAFFIC_PATTERN")


def test_port_of_eight_lanes_has_twice_the_pipeline_latency(imported: Any) -> None:
    lanes = {"lanes": "0,1,2,3,4,5,6,7", "mtu": "1500"}
    found = imported(DYNAMIC | {"PORT": {"Ethernet0": lanes}}, chip=ChipOptions("spectrum-3"))
    made = profile_of(found, "groups", 3, 0)
    # The profile has its headroom, the MTU and 2 x 19 - 1 KiB, rounded up to KiB.
    assert (made["xon"], made["reserve"]) == (f"{37 * 1024}B", f"{39 * 1024}B")
    assert "pg_lossless_100000_300m_mtu1500_8lane_profile" in switch_of(found)["buffer"]["profiles"]


def test_ports_are_numbered_by_name_and_selected_by_name_or_speed(imported: Any) -> None:
    ports = {
        "Ethernet100": {"speed": "40000"},
        "Ethernet12": {"speed": "100000"},
        "Ethernet-Rec0": {"speed": "1"},
    }
    rows = {
        "BUFFER_PG": {"Ethernet100,Ethernet12|0": {"profile": "lossy"}},
        "BUFFER_QUEUE": {"Ethernet12|0-7": {"profile": "queue"}},
    }
    text = imported({"PORT": ports} | rows).text
    assert '# - 3 (Ethernet100): link = { rate = "40Gbps" }; cable of unknown length' in text
    assert "Ethernet-Rec0" not in text
    assert "# - 0 (Ethernet12)" in imported({"PORT": ports} | rows, ports=["Ethernet12"]).text
    assert "100Gbps" not in imported({"PORT": ports} | rows, speed="40Gbps").text


def test_lanes_or_order_of_ports_give_pipes(imported: Any) -> None:
    chip = ChipOptions("tomahawk")
    found = imported(chip=chip)
    assert switch_of(found)["buffer"]["pipes"] == [0, 2]
    assert "in the order of their names" in listed(found, "PORT|lanes")
    lanes = {"Ethernet0": {"lanes": "65,66,67,68"}, "Ethernet4": {"lanes": "125,126,127,128"}}
    found = imported({"PORT": lanes}, chip=chip)
    assert (switch_of(found)["buffer"]["pipes"], list(found.omitted)) == ([2, 3], [])


def test_options_override_the_facts_of_a_chip(imported: Any) -> None:
    chip = ChipOptions("tomahawk", cell="256B", slice_of="0,1,1,0", size_includes="reserves_and_headroom")
    buffer = switch_of(imported({"BUFFER_POOL": {"ingress_lossless_pool": {"size": "20000000"}}}, chip=chip))[
        "buffer"
    ]
    assert (buffer["cell"], buffer["slices"], buffer["slice_of"]) == ("256B", 2, [0, 1, 1, 0])
    assert buffer["size_includes"] == "reserves_and_headroom"
    assert buffer["pipes"] == [0, 1]


def test_each_chip_names_its_source() -> None:
    assert len({one.name for one in CHIPS}) == len(CHIPS)
    assert all("SONiC" in one.source and one.slices <= max(1, one.pipes**2) for one in CHIPS)


def test_page_has_the_facts_about_all_chips() -> None:
    page = (
        (EXAMPLES.parents[1] / "docs/howto/import_sonic.md").read_text().partition("## Facts about chips")[2]
    )
    rows = [line.split("|")[1:4] for line in page.splitlines() if line.startswith("| `")]
    shown = {
        name.strip("` "): (cell.strip(), int(slices))
        for names, cell, slices in rows[: len(CHIPS)]
        if slices.strip().isdigit()
        for name in names.split(",")
    }
    assert shown == {one.name: (f"{one.cell} B", one.slices) for one in CHIPS}
