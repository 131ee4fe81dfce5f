//! Two-level tables in whole fat-trees, compared with shortest paths and with PABO §VI-A.

use mech::HostId;
use mech::params::{Value, Values};
use mech::routing::{AddressPlan, FatTreePosition, Hop, NextHops, TwoLevel};
use scenario::routes::Routes;
use scenario::topology::{Topology, TopologyInputs, build};
use std::collections::BTreeMap;
use units::{Dur, Rate};

fn net(k: u64) -> Topology {
    let values =
        [("k", Value::Count(k)), ("link.rate", Value::Rate(Rate::gbps(1))), ("link.delay", Value::Time(Dur::us(1)))];
    let values = Values(values.map(|(name, value)| (name.to_string(), value)).into());
    build("fat_tree", &values, &TopologyInputs::empty()).unwrap()
}

/// Returns the two-level routing tables of all switches.
fn tables(net: &Topology) -> Vec<TwoLevel> {
    let plan = net.plan.expect("a fat-tree has addresses");
    (0..net.switches().len() as u32).map(|s| TwoLevel::new(plan, plan.switch_position(s))).collect()
}

/// Returns the nodes of the path between two hosts, each with its output port.
fn path(net: &Topology, src: u32, dst: u32) -> Vec<(u32, u16)> {
    let tables = tables(net);
    let choose = |node: u32, hops: &[Hop]| {
        let table = &tables[(node - net.hosts) as usize];
        hops[table.hop_index(HostId(dst), hops)].port
    };
    Routes::compute(net).choose_path(HostId(src), HostId(dst), &choose)
}

/// Name of a switch in PABO's figure 10.
fn switch_label(net: &Topology, node: u32) -> String {
    match net.plan.unwrap().switch_position(node - net.hosts) {
        FatTreePosition::Edge(pod, z) => format!("S{}", 4 * pod + z + 1),
        FatTreePosition::Aggregation(pod, z) => format!("S{}", 4 * pod + z + 3),
        FatTreePosition::Core(group, place) => format!("C{}", 2 * group + place + 1),
    }
}

/// Switches from H`src` to H`dst`, named as in the figure.
fn path_in_figure(net: &Topology, src: u32, dst: u32) -> String {
    let nodes = path(net, src - 1, dst - 1);
    nodes[1..].iter().map(|(node, _)| switch_label(net, *node)).collect::<Vec<_>>().join(" ")
}

#[test]
fn switch_positions_match_the_tiers_of_the_builder() {
    for k in [2, 4, 6] {
        let net = net(k);
        for (s, switch) in (0..).zip(net.switches()) {
            let tier = match net.plan.unwrap().switch_position(s) {
                FatTreePosition::Edge(..) => "edge",
                FatTreePosition::Aggregation(..) => "agg",
                FatTreePosition::Core(..) => "core",
            };
            assert_eq!(tier, switch.tier, "k = {k}, {}", switch.name);
        }
    }
}

#[test]
fn every_table_alone_sends_every_host_along_a_shortest_path() {
    for k in [2, 4, 6, 8] {
        let net = net(k);
        let (routes, tables) = (Routes::compute(&net), tables(&net));
        for (node, table) in (net.hosts..).zip(&tables) {
            for host in (0..net.hosts).map(HostId) {
                let port = table.output_port(host).expect("every table knows every host");
                let sound = match routes.next_hops(node, host) {
                    NextHops::None => false,
                    NextHops::Only(only) => only == port,
                    NextHops::Several(hops) => hops.iter().any(|hop| hop.port == port),
                };
                assert!(sound, "k = {k}: {} sends {host:?} by {port:?}", net.nodes[node as usize].name);
            }
        }
    }
}

#[test]
fn the_papers_example_leaves_s1_by_port_3_and_s4_by_port_2() {
    let net = net(4);
    assert_eq!(path_in_figure(&net, 2, 10), "S1 S4 C3 S12 S9");
    let ports = path(&net, 1, 9);
    assert_eq!(ports.iter().map(|(_, port)| *port).collect::<Vec<_>>(), [0, 3, 2, 2, 0, 1]);
}

#[test]
fn data_and_acks_of_the_papers_scenarios_take_the_worked_paths() {
    let net = net(4);
    // Hosts on the left (odd) have octet 2, hosts on the right octet 3.
    for (src, way) in [(1, "S1 S3"), (5, "S5 S7"), (13, "S13 S15"), (2, "S1 S3"), (6, "S5 S7"), (14, "S13 S15")] {
        assert_eq!(path_in_figure(&net, src, 9), format!("{way} C1 S11 S9"), "H{src} to H9");
    }
    for (src, way) in [(3, "S2 S4"), (7, "S6 S8"), (15, "S14 S16"), (4, "S2 S4"), (8, "S6 S8"), (16, "S14 S16")] {
        assert_eq!(path_in_figure(&net, src, 9), format!("{way} C4 S12 S9"), "H{src} to H9");
    }
    for (src, way) in [(4, "S2 S3"), (8, "S6 S7"), (16, "S14 S15")] {
        assert_eq!(path_in_figure(&net, src, 10), format!("{way} C2 S11 S9"), "H{src} to H10");
        assert!(path_in_figure(&net, 10, src).starts_with("S9 S12 C3 "), "H10 to H{src}");
    }
    assert_eq!(path_in_figure(&net, 11, 9), "S10 S12 S9");
    assert_eq!(path_in_figure(&net, 9, 11), "S9 S11 S10");
    for dst in [1, 3, 5, 7, 13, 15] {
        assert!(path_in_figure(&net, 9, dst).starts_with("S9 S11 C1 "), "H9 to H{dst}");
    }
    for dst in [2, 4, 6, 8, 14, 16] {
        assert!(path_in_figure(&net, 9, dst).starts_with("S9 S12 C3 "), "H9 to H{dst}");
    }
}

#[test]
fn pairs_of_hosts_are_spread_evenly_over_all_cores() {
    for k in [2u32, 4, 6] {
        let net = net(u64::from(k));
        let (routes, tables) = (Routes::compute(&net), tables(&net));
        let pod = k * k / 4;
        let first_core = net.find_node("core0").unwrap();
        let mut crossed = BTreeMap::new();
        for (src, dst) in (0..net.hosts).flat_map(|src| (0..net.hosts).map(move |dst| (src, dst))) {
            let choose = |node: u32, hops: &[Hop]| {
                let table = &tables[(node - net.hosts) as usize];
                hops[table.hop_index(HostId(dst), hops)].port
            };
            let path = if src == dst { Vec::new() } else { routes.choose_path(HostId(src), HostId(dst), &choose) };
            let cores: Vec<_> = path.iter().filter(|(node, _)| *node >= first_core).collect();
            assert_eq!(cores.len(), usize::from(src / pod != dst / pod));
            cores.iter().for_each(|(core, _)| *crossed.entry(*core).or_insert(0) += 1);
        }
        assert_eq!(crossed.len() as u32, k * k / 4, "k = {k}: every core is used");
        let each = net.hosts * (net.hosts - pod) / (k * k / 4);
        assert!(crossed.values().all(|pairs| *pairs == each), "k = {k}: {crossed:?}");
    }
}

#[test]
fn oversubscribed_fat_trees_have_addresses_and_other_networks_have_none() {
    assert_eq!(net(4).plan, Some(AddressPlan::new(4)));
    let values = [
        ("k", Value::Count(4)),
        ("link.rate", Value::Rate(Rate::gbps(1))),
        ("link.delay", Value::Time(Dur::us(1))),
        ("oversubscription", Value::Number(2.0)),
    ];
    let values = Values(values.map(|(name, value)| (name.to_string(), value)).into());
    assert_eq!(build("fat_tree", &values, &TopologyInputs::empty()).unwrap().plan, Some(AddressPlan::new(4)));
    let values =
        [("n", Value::Count(4)), ("link.rate", Value::Rate(Rate::gbps(1))), ("link.delay", Value::Time(Dur::us(1)))];
    let values = Values(values.map(|(name, value)| (name.to_string(), value)).into());
    assert_eq!(build("star", &values, &TopologyInputs::empty()).unwrap().plan, None);
}
