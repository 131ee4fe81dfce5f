//! Tests of `ecmp` with a symmetric hash: ACKs cross the links of their data in the reverse direction.

use crate::common::scenario;
use dataplane::Pkt;
use mech::Flags;
use scenario::topology::Topology;
use sim::{CrossedFrame, Options, Tap, build_with_tap};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

/// Link directions that each flow's data crossed, and those that its ACKs crossed.
type Paths = BTreeMap<u32, [BTreeSet<u32>; 2]>;

#[derive(Clone, Default)]
struct Follow(Arc<Mutex<Paths>>);

impl Tap for Follow {
    fn on_frame_crossed(&mut self, crossed: &CrossedFrame<'_>) {
        let Pkt { head, .. } = crossed.pkt;
        let mut paths = self.0.lock().unwrap();
        let of = paths.entry(head.flow.0).or_default();
        of[usize::from(head.flags.has(Flags::REVERSE))].insert(crossed.link);
    }
}

/// Returns the number of the opposite direction for each link direction.
fn opposites(net: &Topology) -> Vec<u32> {
    let mut base = Vec::new();
    let mut links = 0;
    for node in &net.nodes {
        base.push(links);
        links += node.ports.len() as u32;
    }
    let ports = net.nodes.iter().flat_map(|node| &node.ports);
    ports.map(|port| base[port.peer as usize] + u32::from(port.peer_port)).collect()
}

fn fabric(topology: &str, switch: &str, events: &str) -> String {
    format!(
        "name = \"symmetric\"\nduration = \"20ms\"\n{events}\n[topology]\n{topology}\n[switch]\n{switch}\n\
         buffer = {{ kind = \"unlimited\" }}\n[measure]\nqueues = false\ndrain = \"1s\"\n\
         [[traffic]]\nname = \"all\"\nkind = \"all_to_all\"\nsize = \"4KB\"\norder = \"shifted\"\ngap = \"100us\"\n\
         [[traffic]]\nname = \"again\"\nkind = \"all_to_all\"\nsize = \"1KB\"\norder = \"shifted\"\ngap = \"100us\"\n"
    )
}

/// Returns the number of flows, the number of flows whose ACKs crossed other links than their data, and the number of
/// links that data crossed.
fn count_asymmetric_flows(text: &str, seed: u64) -> (usize, usize, usize) {
    let s = scenario(text, "");
    let opposite = opposites(&s.topology);
    let follow = Follow::default();
    let mut world = build_with_tap(&s, seed, Options::default(), (), follow.clone()).unwrap();
    world.run();
    assert!(world.conserves_packets(), "{:?}", world.describe_imbalance());
    let flows = follow.0.lock().unwrap();
    let turned = |links: &BTreeSet<u32>| links.iter().map(|link| opposite[*link as usize]).collect::<BTreeSet<_>>();
    let differ = flows.values().filter(|[data, acks]| turned(acks) != *data).count();
    let used: BTreeSet<u32> = flows.values().flat_map(|[data, _]| data).copied().collect();
    (flows.len(), differ, used.len())
}

const FABRICS: [(&str, usize); 4] = [
    ("kind = \"fat_tree\"\nk = 4", 2 * 16 * 15),
    ("kind = \"fat_tree\"\nk = 6", 2 * 54 * 53),
    ("kind = \"leaf_spine\"\nleaves = 4\nspines = 3\nhosts_per_leaf = 3", 2 * 12 * 11),
    ("kind = \"leaf_spine\"\nleaves = 3\nspines = 8\nhosts_per_leaf = 4", 2 * 12 * 11),
];

const SYMMETRIC: &str = "routing = { kind = \"ecmp\", symmetric = true }";

#[test]
fn acks_of_every_flow_cross_the_links_of_its_data_in_trees_with_many_roots() {
    for (topology, flows) in FABRICS {
        for seed in [1, 2] {
            let symmetric = count_asymmetric_flows(&fabric(topology, SYMMETRIC, ""), seed);
            let usual = count_asymmetric_flows(&fabric(topology, "routing = { kind = \"ecmp\" }", ""), seed);
            assert_eq!((symmetric.0, symmetric.1), (flows, 0), "{topology}, seed {seed}");
            assert!(usual.1 > flows / 3, "{topology}: {} of {flows} without it", usual.1);
            // If all tiers made the same choice, most cores would be idle.
            assert_eq!(symmetric.2, usual.2, "{topology}: links that data crossed");
        }
    }
}

#[test]
fn acks_go_on_crossing_the_links_of_their_data_around_links_that_are_dead() {
    let down = |links: &[&str]| {
        let each = links.iter().map(|link| format!("{{ kind = \"link_down\", at = \"0us\", link = \"{link}\" }}"));
        format!("event = [{}]", each.collect::<Vec<_>>().join(", "))
    };
    for (topology, links) in [
        (FABRICS[0], ["edge0:agg1", "agg2:core0", "agg4:core1"]),
        (FABRICS[1], ["edge3:agg4", "agg0:core2", "agg5:core8"]),
        (FABRICS[3], ["leaf0:spine1", "leaf1:spine1", "leaf2:spine6"]),
    ] {
        let (flows, differ, _) = count_asymmetric_flows(&fabric(topology.0, SYMMETRIC, &down(&links)), 5);
        assert_eq!((flows, differ), (topology.1, 0), "{}", topology.0);
    }
}

#[test]
fn without_tiers_there_is_one_seed_and_a_grid_keeps_no_way_back() {
    let grid = "kind = \"hyperx\"\ndims = [3, 3]\nhosts_per_switch = 1";
    let (flows, differ, _) = count_asymmetric_flows(&fabric(grid, SYMMETRIC, ""), 1);
    assert!(differ > flows / 4 && differ < flows, "{differ} of {flows}");
    let text = fabric(grid, SYMMETRIC, "");
    let loaded = scenario::load(&scenario::Source::new("t.toml", &text, std::path::Path::new("")), &[]).unwrap();
    assert!(
        loaded.notes.iter().any(|note| note.contains("ACKs do not return over the links of their data")),
        "{:?}",
        loaded.notes
    );
}
