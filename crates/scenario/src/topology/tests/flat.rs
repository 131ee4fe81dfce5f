//! Networks of equal switches: `hyperx`, `jellyfish`, `linear`.

use super::{check, faults, net, try_net};
use crate::Routes;
use crate::topology::*;
use units::Rate;

fn hyperx(dims: &str, hosts: &str) -> Topology {
    net("hyperx", &[("dims", dims), ("hosts_per_switch", hosts)])
}
fn jellyfish(switches: u32, degree: u32, seed: u64) -> Topology {
    let given = [("switches", switches.to_string()), ("degree", degree.to_string()), ("seed", seed.to_string())];
    let mut given: Vec<_> = given.iter().map(|(key, text)| (*key, text.as_str())).collect();
    given.push(("hosts_per_switch", "1"));
    net("jellyfish", &given)
}
fn linear(switches: &str, hosts: &str) -> Topology {
    net("linear", &[("switches", switches), ("hosts_per_switch", hosts)])
}
/// Returns the number of links between switches.
fn count_switch_links(net: &Topology) -> usize {
    net.switches().iter().flat_map(|switch| &switch.ports).filter(|port| !net.is_host(port.peer)).count() / 2
}
/// Returns the largest number of links on a shortest path between two switches with hosts.
fn diameter(net: &Topology) -> usize {
    let routes = Routes::compute(net);
    let pairs = (0..net.hosts).flat_map(|a| (0..net.hosts).map(move |b| (HostId(a), HostId(b))));
    pairs
        .filter(|(a, b)| net.edge_switch(*a) != net.edge_switch(*b))
        .map(|(a, b)| routes.hop_count(a, b) - 2)
        .max()
        .unwrap()
}
/// Returns the names of the neighbours of a node, in order of its ports.
fn neighbours<'a>(net: &'a Topology, name: &str) -> Vec<&'a str> {
    let ports = &net.nodes[net.find_node(name).unwrap() as usize].ports;
    ports.iter().map(|port| net.nodes[port.peer as usize].name.as_str()).collect()
}

#[test]
fn a_hyperx_of_four_by_four_has_48_switch_links_and_a_diameter_of_2() {
    let net = hyperx("4 4", "2");
    check(&net);
    assert_eq!((net.hosts, net.switches().len(), count_switch_links(&net), diameter(&net)), (32, 16, 48, 2));
    assert!(net.switches().iter().all(|switch| switch.ports.len() == 2 + 3 + 3));
    assert_eq!(neighbours(&net, "s1_2"), ["h12", "h13", "s0_2", "s2_2", "s3_2", "s1_0", "s1_1", "s1_3"]);
    assert_eq!(net.tiers(), ["host", "switch"]);
}

#[test]
fn any_hyperx_has_the_closed_form_of_its_numbers() {
    for (dims, sizes) in [("8", vec![8]), ("2 2 2", vec![2, 2, 2]), ("3 5", vec![3, 5]), ("2 3 4", vec![2, 3, 4])] {
        let net = hyperx(dims, "1");
        check(&net);
        let (switches, degree): (usize, usize) = (sizes.iter().product(), sizes.iter().map(|size| size - 1).sum());
        assert_eq!((net.switches().len(), count_switch_links(&net)), (switches, switches * degree / 2), "{dims}");
        // A path needs one hop for each coordinate that differs.
        assert_eq!(diameter(&net), sizes.len(), "{dims}");
        let routes = Routes::compute(&net);
        let mut names = net.switches().iter().map(|switch| switch.name[1..].split('_').collect::<Vec<_>>());
        let first = names.next().unwrap();
        for (b, name) in names.enumerate() {
            let differ = first.iter().zip(&name).filter(|(a, b)| a != b).count();
            assert_eq!(routes.hop_count(HostId(0), HostId(b as u32 + 1)), differ + 2, "{name:?}");
        }
    }
    assert_eq!(neighbours(&hyperx("8", "1"), "s7"), ["h7", "s0", "s1", "s2", "s3", "s4", "s5", "s6"]);
}

#[test]
fn every_switch_of_a_jellyfish_has_its_degree_in_different_neighbours_and_all_hang_together() {
    for (n, degree) in [(2, 1), (4, 3), (6, 4), (5, 4), (8, 6), (10, 3), (16, 2), (20, 11), (64, 6), (300, 4)] {
        for seed in 0..12 {
            let net = jellyfish(n, degree, seed);
            check(&net);
            for switch in net.switches() {
                let peers: BTreeSet<_> = switch.ports.iter().map(|port| port.peer).collect();
                assert_eq!(peers.len() as u32, degree + 1, "{n} switches of {degree}, seed {seed}");
            }
            assert!(is_connected(&net));
        }
    }
}

/// Returns true if every switch has a route to the first host.
fn is_connected(net: &Topology) -> bool {
    let routes = Routes::compute(net);
    (net.hosts..net.nodes.len() as u32)
        .all(|switch| routes.next_hops(switch, HostId(0)) != mech::routing::NextHops::None)
}

#[test]
fn a_jellyfish_is_the_same_for_a_seed_and_another_for_another() {
    let all: Vec<_> = (0..20).map(|seed| jellyfish(16, 4, seed)).collect();
    for (seed, net) in all.iter().enumerate() {
        assert_eq!(*net, jellyfish(16, 4, seed as u64));
        assert!(all[..seed].iter().all(|other| other != net), "seed {seed}");
    }
    // The drawn graph is the same on every machine.
    let net = jellyfish(8, 3, 1);
    assert_eq!([neighbours(&net, "s0"), neighbours(&net, "s7")], [["h0", "s1", "s4", "s7"], ["h7", "s0", "s3", "s6"]]);
}

#[test]
fn every_link_of_a_jellyfish_is_as_likely_as_any_other() {
    let mut counts = [0u32; 28];
    for seed in 0..2000 {
        let net = jellyfish(8, 3, seed);
        let mut at = 0;
        for a in 0..8 {
            for b in a + 1..8 {
                counts[at] += u32::from(net.switches()[a].ports.iter().any(|port| port.peer == 8 + b as u32));
                at += 1;
            }
        }
    }
    // 3 of 7 possible neighbours: 857 of 2000 graphs, five standard deviations are 111.
    assert!(counts.iter().all(|count| count.abs_diff(857) < 111), "{counts:?}");
}

#[test]
fn a_linear_network_is_as_long_as_its_switches() {
    let net = linear("5", "2");
    check(&net);
    assert_eq!((net.hosts, net.switches().len(), count_switch_links(&net), diameter(&net)), (10, 5, 4, 4));
    assert_eq!(neighbours(&net, "s0"), ["h0", "h1", "s1"]);
    assert_eq!(neighbours(&net, "s2"), ["h4", "h5", "s1", "s3"]);
    let routes = Routes::compute(&net);
    let lengths: Vec<_> = [1, 2, 4, 9].map(|dst| routes.hop_count(HostId(0), HostId(dst))).into();
    assert_eq!(lengths, [2, 3, 4, 6]);
    check(&linear("1", "3"));
}

#[test]
fn rates_of_flat_networks_are_those_of_hosts_and_of_links_between_switches() {
    let rates = |net: &Topology| {
        let ports = &net.switches()[0].ports;
        (ports[0].rate, ports.last().unwrap().rate)
    };
    let linear = net("linear", &[("switches", "2"), ("hosts_per_switch", "1"), ("fabric.rate", "10Gbps")]);
    assert_eq!(rates(&linear), (Rate::gbps(1), Rate::gbps(10)));
    // Oversubscription is host links over links to switches: 12 / (6 x 2 Gb/s), and 4 / (4 x 1/3 Gb/s).
    let square = net("hyperx", &[("dims", "4 4"), ("hosts_per_switch", "12"), ("oversubscription", "1")]);
    assert_eq!(rates(&square), (Rate::gbps(1), Rate::gbps(2)));
    let given = [("switches", "8"), ("degree", "4"), ("hosts_per_switch", "4"), ("oversubscription", "3")];
    assert_eq!(rates(&net("jellyfish", &given)).1, Rate::ratio(1_000_000_000, 3).unwrap());
}

#[test]
fn the_bisection_of_a_flat_network_is_what_crosses_the_middle() {
    let gbps = |net: Topology| net.bisection_bandwidth() / 1e9;
    assert_eq!(gbps(linear("6", "4")), 1.0);
    // Two rows of four against two: each of four columns has 2 x 2 links across. With one host per switch, host links
    // limit it.
    assert_eq!(gbps(hyperx("4 4", "4")), 16.0);
    assert_eq!(gbps(hyperx("4 4", "1")), 8.0);
    // A ring cut into two parts has two links across.
    assert!(gbps(jellyfish(16, 2, 1)) >= 2.0);
}

#[test]
fn what_no_flat_network_can_be_is_refused() {
    let jellyfish = |n, degree| try_net("jellyfish", &[("switches", n), ("degree", degree), ("hosts_per_switch", "1")]);
    for (made, said) in [
        (jellyfish("4", "4"), "degree: 4 of 4 switches; fewer than the number of switches"),
        (jellyfish("5", "3"), "degree: 3 ports of each of 5 switches; an even number of ports in all"),
        (
            jellyfish("10", "1"),
            "degree: 10 switches of degree 1, for which none of 100 drawn graphs is connected; a degree of 3 or more, \
             or another seed",
        ),
        (try_net("hyperx", &[("dims", ""), ("hosts_per_switch", "1")]), "dims: 0 dimensions; 1 to 16"),
        (
            try_net("hyperx", &[("dims", "1024 1024"), ("hosts_per_switch", "1")]),
            ": 1048576 hosts; at most 1000000 hosts",
        ),
        (
            try_net("linear", &[("switches", "10000"), ("hosts_per_switch", "1000")]),
            ": 10000000 hosts; at most 1000000 hosts",
        ),
    ] {
        assert_eq!(faults(made), [said]);
    }
}
