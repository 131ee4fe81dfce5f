//! Whole runs with two-level tables (PABO §VI-A).

use crate::common::{self, column, run_with, scenario, total};
use scenario::Scenario;
use sim::{Capture, CaptureFiles, Options, Recorder, Results, build_with_tap, parse_links};

/// Returns a scenario in which the hosts H1, H5 and H13 reply to H9.
fn three_to_one(switch: &str) -> Scenario {
    let text = format!(
        "name = \"three_to_one\"\nduration = \"5ms\"\n[topology]\nkind = \"fat_tree\"\nk = 4\n{switch}\n\
         [transport]\ndupack_threshold = \"off\"\n\
         [[traffic]]\nname = \"replies\"\nkind = \"request_reply\"\nclients = [\"h8\"]\n\
         servers = [\"h0\", \"h4\", \"h12\"]\npairs = \"all\"\nreply = \"200KB\"\nrequests = 1\n"
    );
    scenario(&text, "")
}

/// Returns the number of frames that left the switch of this name.
fn sent(s: &Scenario, results: &Results, name: &str) -> u64 {
    let node = u64::from(s.topology.find_node(name).expect("the switch exists"));
    let (nodes, sent) = (column(results, "ports", "node"), column(results, "ports", "sent"));
    nodes.iter().zip(sent).filter(|(at, _)| **at == node).map(|(_, sent)| sent).sum()
}

#[test]
fn left_hosts_meet_at_c1_and_nothing_crosses_another_core() {
    let s = three_to_one("[switch]\nrouting = { kind = \"two_level\" }");
    for seed in [1, 2] {
        let results = run_with(&s, seed, Options::default());
        let cores = ["core0", "core1", "core2", "core3"].map(|core| sent(&s, &results, core));
        // ACKs and requests to hosts of octet 2 leave S9 by S11, and so cross C1 too.
        assert!(cores[0] > 400 && cores[1..] == [0, 0, 0], "{cores:?}");
        assert_eq!(sent(&s, &results, "agg5"), 0, "S12 sees nothing");
    }
}

#[test]
fn what_s9_bounces_goes_to_s11_by_the_table_and_nothing_is_lost() {
    let bounce = "overflow = { kind = \"bounce\", theta = 0.5, lambda = 50, bounce_size = \"400pkt\" }";
    let s = three_to_one(&format!(
        "[switch]\nrouting = {{ kind = \"two_level\" }}\nbuffer = {{ kind = \"per_port\", size = \"20pkt\" }}\n{bounce}"
    ));
    let results = run_with(&s, 1, Options::default());
    assert!(total(&results, "ports", "bounced") > 0);
    assert_eq!(common::drops(&results), 0);
    assert_eq!([sent(&s, &results, "core1"), sent(&s, &results, "agg5")], [0, 0]);
}

#[test]
fn some_switches_may_have_tables_while_the_others_hash() {
    let edges = "[[override]]\nwhere = { tier = \"edge\" }\nswitch.routing = { kind = \"two_level\" }";
    let s = three_to_one(edges);
    let results = run_with(&s, 1, Options::default());
    // Left edges send octet 2 to the left aggregation switch; that one hashes over C1 and C2.
    assert_eq!([sent(&s, &results, "core2"), sent(&s, &results, "core3")], [0, 0]);
    assert!(sent(&s, &results, "core0") > 0 && sent(&s, &results, "core1") > 0);
}

#[test]
fn captures_bear_the_mapped_addresses() {
    let contains = |file: &[u8], octets: &[u8]| file.windows(octets.len()).any(|at| at == octets);
    let capture = |s: &Scenario| {
        let found = parse_links(&s.topology, &["h8".to_string()]).unwrap();
        let ports = s.topology.nodes.iter().map(|node| node.ports.len()).sum();
        let (recorder, tap) = (Recorder::from_scenario(s), Capture::new(&found, ports));
        let mut world = build_with_tap(s, 1, Options::default(), recorder, tap).unwrap();
        world.run();
        CaptureFiles::new("a test", &found, None, s.address_plan(), s.dscps.table)
            .unwrap()
            .next_bytes(&mut world, 0, 100)
            .unwrap()
    };
    // H9 is 10.2.0.2, and H1 10.0.0.2; by their numbers they are 10.0.0.9 and 10.0.0.1.
    let mapped = capture(&three_to_one("[switch]\nrouting = { kind = \"two_level\" }"));
    assert!(
        contains(&mapped, &[0x0A, 0xAA, 10, 2, 0, 2, 0x0A, 0xAA, 10]) && contains(&mapped, &[10, 2, 0, 2, 10, 0, 0, 2])
    );
    let numbered = capture(&three_to_one(""));
    assert!(contains(&numbered, &[10, 0, 0, 9, 10, 0, 0, 1]) && !contains(&numbered, &[0x0A, 0xAA, 10, 2]));
}
