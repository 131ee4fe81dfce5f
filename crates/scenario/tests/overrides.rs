//! Overrides that select ports by their rate.

use crate::common::{loaded, refused, star};
use scenario::Loaded;

/// Two switches with host links of 10 Gb/s and a link of 40 Gb/s between them.
fn dumbbell(more: &str) -> String {
    let net = "\"dumbbell\"\nlink.rate = \"10Gbps\"\nbottleneck.rate = \"40Gbps\"\nn = 2";
    star(more).replace("\"star\"\nn = 4", net)
}

/// Returns the marking of each port of the first switch, as `rate kind`.
fn markings(loaded: &Loaded) -> Vec<String> {
    let variant = &loaded.variants[0];
    let ports = variant.topology.switches()[0].ports.iter().zip(&variant.switches[0].ports);
    ports.map(|(link, port)| format!("{} {}", link.rate, port.marking.kind)).collect()
}

const FAST: &str = "[[override]]\nwhere = { rate = \"40Gbps\" }\nswitch.marking = { kind = \"ecn_threshold\" }\n";

#[test]
fn a_rate_picks_the_ports_of_that_rate() {
    let found = loaded(&dumbbell(FAST), &[]);
    assert_eq!(markings(&found), ["10Gbps none", "10Gbps none", "40Gbps ecn_threshold"]);
    let ports = &found.resolved["default"]["switches"][0]["ports"];
    assert_eq!(ports["host 10Gbps"]["marking"]["kind"], "none");
    assert_eq!(ports["switch 40Gbps"]["marking"]["kind"], "ecn_threshold");
}

#[test]
fn the_last_override_wins_over_one_by_rate() {
    let later = "[[override]]\nwhere = { port = \"switch\" }\nswitch.marking = { kind = \"red\" }\n";
    assert_eq!(markings(&loaded(&dumbbell(&format!("{FAST}{later}")), &[]))[2], "40Gbps red");
    assert_eq!(markings(&loaded(&dumbbell(&format!("{later}{FAST}")), &[]))[2], "40Gbps ecn_threshold");
}

#[test]
fn a_port_matches_both_rate_and_far_end() {
    let both = FAST.replace("rate", "port = \"host\", rate");
    let found = refused(&dumbbell(&both), &[]);
    assert!(found.contains("override.1st.where: found a `where` that matches no switch and no port"), "{found}");
    let tenth = both.replace("40Gbps", "10Gbps");
    assert_eq!(
        markings(&loaded(&dumbbell(&tenth), &[])),
        ["10Gbps ecn_threshold", "10Gbps ecn_threshold", "40Gbps none"]
    );
}

#[test]
fn a_rate_that_no_port_has_matches_nothing() {
    let found = refused(&dumbbell(&FAST.replace("40Gbps", "25Gbps")), &[]);
    assert!(found.contains("found a `where` that matches no switch and no port"), "{found}");
}

#[test]
fn a_rate_picks_no_slots_of_whole_switches() {
    let buffer = "[[override]]\nwhere = { rate = \"40Gbps\" }\nswitch.buffer = { kind = \"unlimited\" }\n";
    let found = refused(&dumbbell(buffer), &[]);
    assert!(found.contains("found `buffer` for some ports of a switch"), "{found}");
}

#[test]
fn all_faults_of_ports_are_found_together() {
    let wrong = |rate: &str, k: &str| {
        format!("[[override]]\nwhere = {{ rate = \"{rate}\" }}\nswitch.marking = {{ kind = \"{k}\" }}\n")
    };
    let found = refused(&dumbbell(&format!("{}{}", wrong("10Gbps", "redd"), wrong("40Gbps", "blue"))), &[]);
    assert!(found.contains("\"redd\"") && found.contains("\"blue\""), "{found}");
}
