//! HPCC's configuration file together with a scenario.

use crate::common::shown;
use mech::Registry;
use mech::pause::PauseLevels;
use scenario::{Loaded, Scenario, Source, SwitchConfig, load};
use std::io::BufRead;

const SCENARIO: &str = "name = \"configured\"\nduration = \"1ms\"\n[topology]\nkind = \"hpcc\"\nfile = \"net\"\n\
                        config = \"mix/config.txt\"\n[[traffic]]\nname = \"f\"\nkind = \"permutation\"\nsize = \"10MB\"\n";
/// Topology file with hosts 0 to 3 at edge switches 4 and 5, and switch 6 above these.
const NET: &str = "7 3 6\n4 5 6\n0 4 25Gbps 1us 0\n1 4 25Gbps 1us 0\n2 5 25Gbps 1us 0\n3 5 25Gbps 1us 0\n\
                   4 6 100Gbps 1us 0\n5 6 100Gbps 1us 0\n";
const CONFIG: &str = "TOPOLOGY_FILE mix/net\nBUFFER_SIZE 32\nPACKET_PAYLOAD_SIZE 1200\nCC_MODE 1\n\
                      ALPHA_RESUME_INTERVAL 1\nRATE_DECREASE_INTERVAL 4\nRP_TIMER 900\nEWMA_GAIN 0.00390625\n\
                      FAST_RECOVERY_TIMES 1\nRATE_AI 50Mb/s\nMIN_RATE 100Mb/s\n\
                      KMIN_MAP 2 25000000000 100 100000000000 400\nKMAX_MAP 2 25000000000 400 100000000000 1600\n\
                      PMAX_MAP 2 25000000000 0.2 100000000000 0.2\n";

fn try_load(config: &str, more: &str) -> Result<Loaded, String> {
    try_load_on(NET, config, more)
}

fn try_load_on(net: &str, config: &str, more: &str) -> Result<Loaded, String> {
    let (net, config) = (net.to_string(), config.to_string());
    let files = Box::new(move |name: &str| {
        let text = if name == "net" { net.clone() } else { config.clone() };
        Ok(Box::new(std::io::Cursor::new(text)) as Box<dyn BufRead>)
    });
    let text = format!("{SCENARIO}{more}");
    let source = Source { path: "test.toml".into(), text, files, registry: Registry::catalogue() };
    load(&source, &[]).map_err(|found| shown(&found))
}

fn loaded(config: &str, more: &str) -> Loaded {
    try_load(config, more).unwrap_or_else(|found| panic!("{found}"))
}

fn first(loaded: &Loaded) -> &Scenario {
    &loaded.variants[0]
}

/// Returns the marking of each port of a switch as `rate min max max_p`.
fn markings(scenario: &Scenario, switch: usize) -> Vec<String> {
    let ports = scenario.topology.switches()[switch].ports.iter().zip(&scenario.switches[switch].ports);
    let shown = ports.map(|(link, port)| {
        let values = &port.marking.values;
        match port.marking.kind.as_str() {
            "red" => {
                format!("{} {} {} {}", link.rate, values.amount("min"), values.amount("max"), values.number("max_p"))
            }
            kind => format!("{} {kind}", link.rate),
        }
    });
    shown.collect()
}

fn reserved(switch: &SwitchConfig) -> u64 {
    switch.buffer.values.size("reserved")
}

#[test]
fn thresholds_follow_the_rate_of_each_port() {
    let found = loaded(CONFIG, "");
    assert_eq!(
        markings(first(&found), 0),
        ["25Gbps 100KB 400KB 0.2", "25Gbps 100KB 400KB 0.2", "100Gbps 400KB 1600KB 0.2"]
    );
    assert_eq!(markings(first(&found), 2), ["100Gbps 400KB 1600KB 0.2"; 2]);
    let values = &first(&found).switches[0].ports[0].marking.values;
    assert_eq!((values.number("weight"), values.flag("gentle"), values.word("gaps")), (1.0, false, "geometric"));
    assert_eq!(values.word("not_ect"), "pass", "switches drop nothing for a mark");
}

#[test]
fn equal_thresholds_of_all_rates_need_no_overrides() {
    let same = CONFIG.replace("100000000000 400", "100000000000 100").replace("100000000000 1600", "100000000000 400");
    let found = loaded(&same, "");
    assert_eq!(
        markings(first(&found), 0),
        ["25Gbps 100KB 400KB 0.2", "25Gbps 100KB 400KB 0.2", "100Gbps 100KB 400KB 0.2"]
    );
}

#[test]
fn two_equal_thresholds_are_a_step_above_it() {
    let step = CONFIG.replace("25000000000 400", "25000000000 100");
    let found = loaded(&step, "");
    let port = &first(&found).switches[0].ports[0].marking;
    // The threshold is exclusive there: a queue of more than 100,000 bytes is marked.
    assert_eq!((port.kind.as_str(), port.values.amount("k").to_string()), ("ecn_threshold", "100001B".into()));
}

#[test]
fn memory_sets_aside_reserves_and_headroom_of_links() {
    let found = loaded(CONFIG, "");
    let switches = &first(&found).switches;
    assert!(switches.iter().all(|switch| switch.buffer.values.size("size") == 32 * 1024 * 1024));
    // 25 Gb/s times 1 us is 3125 bytes, and 100 Gb/s 12,500. The reserve is three times that and 4096 bytes a port.
    let edge = [9375 + 4096, 9375 + 4096, 37_500 + 4096];
    assert_eq!(reserved(&switches[0]), edge.iter().sum::<u64>().div_ceil(3));
    assert_eq!(reserved(&switches[2]), 37_500 + 4096);
}

#[test]
fn pauses_are_dynamic_and_greater_at_faster_ports() {
    let found = loaded(CONFIG, "");
    let ports = &first(&found).switches[0].ports;
    let levels: Vec<_> = ports.iter().map(|port| port.pause.slot.pausing().unwrap().pause_levels()).collect();
    // 100 Gb/s is two doublings of the hosts' rate: 1/8 becomes 1/2.
    let of_free = |shift: u32| PauseLevels::ShareOfFree { alpha: (1 << 32) >> shift, offset: 3072 };
    assert_eq!(levels, [of_free(3), of_free(3), of_free(1)]);
    // Empty memory: (33,554,432 - 3 x 22,846) / 8, as (buffer - headroom - reserves) >> 3 in the HPCC simulator.
    let pool = 32 * 1024 * 1024 - 3 * reserved(&first(&found).switches[0]);
    assert_eq!((pool, levels[0].in_bytes(Some(pool)).0), (33_485_894, 4_185_736));
}

#[test]
fn mode_1_is_roce_with_dcqcn() {
    let found = loaded(CONFIG, "");
    let scenario = first(&found);
    assert_eq!((scenario.transport.kind.as_str(), scenario.transport.values.size("mss")), ("roce", 1200));
    assert_eq!(scenario.host.nic.kind, "round_robin");
    let reaction = &scenario.host.reaction;
    let time = |key: &str| reaction.values.time(key).to_string();
    assert_eq!(reaction.kind, "dcqcn");
    assert_eq!(
        (time("cnp_interval"), time("alpha_timer"), time("rate_timer")),
        ("4us".into(), "1us".into(), "900us".into())
    );
    assert_eq!((reaction.values.number("g"), reaction.values.count("threshold")), (0.00390625, 2));
    assert_eq!(reaction.values.rate("r_ai").to_string(), "50Mbps");
    assert!(!reaction.values.has("r_hai"), "the default of Overspill");
}

#[test]
fn other_modes_are_named_and_leave_the_transport() {
    let found = loaded(&CONFIG.replace("CC_MODE 1", "CC_MODE 3"), "");
    assert_eq!((first(&found).transport.kind.as_str(), first(&found).host.reaction.kind.as_str()), ("linux", "none"));
    let notes = found.notes.join("\n");
    assert!(notes.contains("CC_MODE 3 (HPCC is not modelled; set another `transport`)"), "{notes}");
    assert!(notes.contains("`transport.kind = linux`") && !notes.contains("no `switch.marking`"), "{notes}");
}

#[test]
fn tables_of_the_scenario_win_whole() {
    let own = "[switch]\nmarking = { kind = \"ecn_threshold\", k = \"7pkt\" }\nbuffer = { kind = \"per_port\", size = \"1MB\" }\n\
               pause = { kind = \"none\" }\n[transport]\nkind = \"newreno\"\n";
    let found = loaded(CONFIG, own);
    let switch = &first(&found).switches[0];
    assert_eq!((switch.buffer.kind.as_str(), switch.ports[0].pause.kind.as_str()), ("per_port", "none"));
    assert!(switch.ports.iter().all(|port| port.marking.kind == "ecn_threshold"));
    assert_eq!((first(&found).transport.kind.as_str(), first(&found).host.nic.kind.as_str()), ("newreno", "fifo"));
    let notes = found.notes.join("\n");
    let replaced = "`mix/config.txt`: KMIN_MAP, KMAX_MAP, PMAX_MAP, BUFFER_SIZE, CC_MODE, PACKET_PAYLOAD_SIZE have no \
                    effect, because the scenario sets `switch.marking`, `switch.buffer`, `switch.pause`, `transport`";
    assert!(notes.contains(replaced) && !notes.contains("`mix/config.txt` sets"), "{notes}");
}

#[test]
fn overrides_of_the_scenario_win_over_the_file() {
    let more = "[[override]]\nwhere = { tier = \"agg\" }\nswitch.marking = { kind = \"none\" }\n";
    let found = loaded(CONFIG, more);
    assert_eq!(markings(first(&found), 2), ["100Gbps none"; 2]);
    assert_eq!(markings(first(&found), 0)[2], "100Gbps 400KB 1600KB 0.2");
}

#[test]
fn a_variant_may_set_or_name_the_file_alone() {
    let more = "[variants.file]\n[variants.own]\nswitch.buffer = { kind = \"unlimited\" }\nswitch.pause = { kind = \"none\" }\n";
    let found = loaded(CONFIG, more);
    let kinds: Vec<_> = found.variants.iter().map(|one| one.switches[0].buffer.kind.as_str()).collect();
    assert_eq!(kinds, ["shared", "unlimited"]);
    assert_eq!(markings(&found.variants[1], 0)[0], "25Gbps 100KB 400KB 0.2");
}

#[test]
fn marks_and_pauses_may_be_off() {
    let found = loaded(&format!("{CONFIG}ENABLE_QCN 0\nENABLE_PFC 0\n"), "");
    let port = &first(&found).switches[0].ports[0];
    assert_eq!((port.marking.kind.as_str(), port.pause.kind.as_str()), ("none", "none"));
}

#[test]
fn notes_name_what_was_set_and_what_has_no_effect() {
    let more = "HAS_WIN 1\nCLAMP_TARGET_RATE 0\nRATE_HAI 100Mb/s\nLINK_DOWN 10 4 6\nRTO 5\n";
    let notes = loaded(&format!("{CONFIG}{more}"), "").notes.join("\n");
    let set = "default: `mix/config.txt` sets `switch.marking` (25Gbps: 100KB to 400KB, 0.2; 100Gbps: 400KB to 1600KB, 0.2), \
               `switch.buffer` (shared, 32MiB, 22846B to 41596B reserved for each port), `switch.pause` (pfc, XOFF 1/8 of the free \
               memory at 25Gbps, 1/2 of the free memory at 100Gbps), `transport` (roce, 1200 B), `host.nic` (round_robin), \
               `host.reaction` (dcqcn)";
    assert!(notes.contains(set), "{notes}");
    let unused = "HAS_WIN 1 (the transport `roce` has no window); CLAMP_TARGET_RATE 0 (each rate cut of `dcqcn` clamps \
                  the target rate); RATE_HAI 100Mbps (`dcqcn` without a byte counter has no hyper increase); LINK_DOWN \
                  (write an `[[event]]` of kind `link_down` for `4:6`, 10 us after flows start); unknown keys RTO";
    assert!(notes.contains(unused), "{notes}");
    assert!(
        !notes.contains("Overspill uses its own defaults") && !notes.contains("was written for the topology"),
        "{notes}"
    );
}

#[test]
fn another_topology_or_flow_file_is_noted() {
    let notes = loaded(&CONFIG.replace("mix/net", "mix/fat.txt"), "").notes.join("\n");
    let said = "`mix/config.txt` was written for the topology `mix/fat.txt`, but the scenario reads `net`";
    assert!(notes.contains(said), "{notes}");
}

#[test]
fn a_map_without_a_rate_of_the_network_is_refused() {
    let found = try_load(&CONFIG.replace("PMAX_MAP 2 25000000000 0.2 ", "PMAX_MAP 1 "), "").unwrap_err();
    let said = "test.toml:6: topology.config: found `mix/config.txt`, line 14: no entry of PMAX_MAP for 25Gbps, only for 100Gbps; \
                expected an entry for the rate of every port of a switch, in bit/s";
    assert_eq!(found, said);
    let own = "[switch]\nmarking = { kind = \"none\" }\n";
    assert!(try_load("CC_MODE 1", own).is_ok(), "maps are needed only where they are used");
}

#[test]
fn reserves_beyond_the_buffer_are_refused() {
    // 25 Gb/s over 10 ms is 31,250,000 bytes: (3 x 31,250,000 + 9375 + 37,500) / 3 + 4096 for each port.
    let found = try_load_on(&NET.replacen("1us", "10ms", 1), CONFIG, "").unwrap_err();
    let said = "test.toml:6: topology.config.switch.buffer.reserved: found 31269721B for each of 3 ports; expected \
                a `reserved` that fits into size = 32MiB for all ports together";
    assert_eq!(found, said);
}

#[test]
fn pauses_are_left_out_beside_memory_that_is_not_shared() {
    let found = loaded(CONFIG, "[switch]\nbuffer = { kind = \"per_port\", size = \"1MB\" }\n");
    assert_eq!(first(&found).switches[0].ports[0].pause.kind, "none");
    let notes = found.notes.join("\n");
    assert!(notes.contains("ENABLE_PFC (PFC thresholds are fractions of a shared buffer"), "{notes}");
    let shared = "[switch]\nbuffer = { kind = \"shared\", size = \"1MB\" }\n";
    assert_eq!(first(&loaded(CONFIG, shared)).switches[0].ports[0].pause.kind, "pfc");
}
