//! Links whose directions differ.

use super::*;

/// Returns rate and delay of each host link, or of each other link, from the lower node and back to it.
fn link_parameters(net: &Topology, of_hosts: bool) -> Vec<(Rate, Dur, Rate, Dur)> {
    let nodes = net.nodes.iter().zip(0u32..);
    let ends = nodes.flat_map(|(node, n)| node.ports.iter().filter(move |port| port.peer > n).map(move |p| (n, p)));
    ends.filter(|(n, _)| net.is_host(*n) == of_hosts)
        .map(|(_, there)| {
            let back = &net.nodes[there.peer as usize].ports[usize::from(there.peer_port)];
            (there.rate, there.delay, back.rate, back.delay)
        })
        .collect()
}

const UNEVEN: [(&str, &str); 4] =
    [("link.rate", "10Gbps"), ("link.delay", "2us"), ("link.back.rate", "3Gbps"), ("link.back.delay", "5us")];
const EACH: (Rate, Dur, Rate, Dur) = (Rate::gbps(10), Dur::us(2), Rate::gbps(3), Dur::us(5));

/// Kinds of topology with the other parameters that each needs.
const KINDS: [(&str, &[(&str, &str)]); 8] = [
    ("star", &[("n", "5")]),
    ("dumbbell", &[("n", "3")]),
    ("chain_tree", &[("n", "3"), ("depth", "2"), ("receivers", "2")]),
    ("leaf_spine", &[("leaves", "3"), ("spines", "2"), ("hosts_per_leaf", "2")]),
    ("fat_tree", &[("k", "4")]),
    ("hyperx", &[("dims", "3 2"), ("hosts_per_switch", "2")]),
    ("jellyfish", &[("switches", "10"), ("degree", "3"), ("hosts_per_switch", "1")]),
    ("linear", &[("switches", "4"), ("hosts_per_switch", "2")]),
];

#[test]
fn every_link_of_every_kind_is_as_link_says_in_both_directions() {
    for (kind, given) in KINDS {
        let net = net(kind, &[given, &UNEVEN[..]].concat());
        for of_hosts in [true, false] {
            let found = link_parameters(&net, of_hosts);
            assert!(found.iter().all(|line| *line == EACH), "{kind}: {found:?}");
            assert!(!found.is_empty() || (kind == "star" && !of_hosts));
        }
    }
}

#[test]
fn links_between_switches_are_back_as_there_where_only_that_is_given() {
    for (kind, given) in &KINDS[2..] {
        let fabric = [("fabric.rate", "40Gbps"), ("fabric.back.delay", "7us")];
        let net = net(kind, &[given, &UNEVEN[..], &fabric].concat());
        assert!(link_parameters(&net, true).iter().all(|line| *line == EACH), "{kind}");
        let between = (Rate::gbps(40), Dur::us(2), Rate::gbps(40), Dur::us(7));
        assert!(
            link_parameters(&net, false).iter().all(|line| *line == between),
            "{kind}: {:?}",
            link_parameters(&net, false)
        );
    }
    let bottleneck = [("n", "2"), ("bottleneck.back.rate", "1Gbps")];
    let net = net("dumbbell", &[&bottleneck[..], &UNEVEN[..]].concat());
    assert_eq!(link_parameters(&net, false), [(Rate::gbps(10), Dur::us(2), Rate::gbps(1), Dur::us(5))]);
}

#[test]
fn oversubscription_holds_in_each_direction() {
    let given = [("leaves", "2"), ("spines", "2"), ("hosts_per_leaf", "4"), ("oversubscription", "4")];
    let made = net("leaf_spine", &[&given[..], &UNEVEN[..]].concat());
    let between = (Rate::gbps(5), Dur::us(2), Rate::mbps(1500), Dur::us(5));
    assert!(link_parameters(&made, false).iter().all(|line| *line == between), "{:?}", link_parameters(&made, false));
    let both = [&given[..], &[("fabric.back.rate", "1Gbps")]].concat();
    let wrong = faults(try_net("leaf_spine", &both));
    assert_eq!(wrong, ["oversubscription: 4; no value if `fabric.back.rate` is given"]);
}
