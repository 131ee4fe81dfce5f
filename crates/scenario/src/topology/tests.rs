//! Tests of the networks of each kind.

mod asymmetric;
mod configuration;
mod files;
mod flat;

use super::*;
use mech::params::{ParamKind, Value};
use units::{Bytes, parse_dur, parse_rate};

/// Returns values for the parameters of a declaration: the given ones, and defaults for the others.
pub(crate) fn values(spec: &Spec, given: &[(&str, &str)]) -> Values {
    let mut values = Values::default();
    for param in spec.params {
        let given = given.iter().find(|(name, _)| *name == param.name).map(|(_, text)| *text);
        let Some(text) = given.or(param.default) else { continue };
        // A parameter may be left out if its default is empty, or a word in place of a rate or a time.
        let named = matches!(param.kind, ParamKind::Rate | ParamKind::Time { .. })
            && !text.starts_with(|c: char| c.is_ascii_digit());
        if given.is_none() && (text.is_empty() || named) {
            continue;
        }
        let words = || text.split_whitespace().map(str::to_owned).collect();
        let value = match param.kind {
            ParamKind::Flag => Value::Flag(text == "true"),
            ParamKind::Count { .. } => Value::Count(text.parse().unwrap()),
            ParamKind::Number { .. } => Value::Number(text.parse().unwrap()),
            ParamKind::Time { .. } => Value::Time(parse_dur(text).unwrap()),
            ParamKind::Rate => Value::Rate(parse_rate(text).unwrap()),
            ParamKind::Size { .. } => Value::Size(Bytes(units::parse_bytes(text).unwrap().0)),
            ParamKind::Texts => Value::Texts(words()),
            ParamKind::Counts { .. } => {
                Value::Counts(text.split_whitespace().map(|count| count.parse().unwrap()).collect())
            }
            ParamKind::Choice(allowed) => {
                assert!(allowed.contains(&text), "{text}");
                Value::Word(text.into())
            }
            ParamKind::Text => Value::Word(text.into()),
            ParamKind::Sizes(kinds) => match kinds.iter().find(|spec| text.starts_with(spec.kind)) {
                Some(spec) => {
                    let given: Vec<_> = text.split_whitespace().filter_map(|pair| pair.split_once('=')).collect();
                    Value::Table(spec.kind.into(), self::values(spec, &given))
                }
                None => Value::Word(text.into()),
            },
            other => panic!("{other:?}"),
        };
        values.0.insert(param.name.into(), value);
    }
    let missing = spec.params.iter().find(|param| param.default.is_none() && !values.has(param.name));
    assert!(missing.is_none(), "{missing:?} is not given");
    for (name, _) in given {
        assert!(values.has(name), "`{name}` is no parameter of {}", spec.kind);
    }
    values
}

/// Builds a network of a kind, or returns its faults.
pub(crate) fn try_net(kind: &str, given: &[(&str, &str)]) -> Result<Topology, Vec<Fault>> {
    let spec = SPECS.iter().find(|spec| spec.kind == kind).unwrap();
    build(kind, &values(spec, given), &TopologyInputs::empty())
}

/// Builds a network of a kind.
pub(crate) fn net(kind: &str, given: &[(&str, &str)]) -> Topology {
    try_net(kind, given).unwrap()
}

/// Builds a custom network from nodes `"name"` or `"name host"`, and links `"a b weight"`.
pub(crate) fn custom(nodes: &[&str], links: &[&str]) -> Result<Topology, Vec<Fault>> {
    let node = |text: &&str| {
        let name = text.trim_end_matches(" host");
        CustomNode { name: name.into(), host: text.ends_with(" host"), tier: String::new() }
    };
    let link = |text: &&str| {
        let part: Vec<_> = text.split(' ').collect();
        let (rate, delay) = (Rate::gbps(1), Dur::us(1));
        CustomLink {
            a: part[0].into(),
            b: part[1].into(),
            rate,
            delay,
            back: (rate, delay),
            weight: part[2].parse().unwrap(),
        }
    };
    let graph = CustomGraph { nodes: nodes.iter().map(node).collect(), links: links.iter().map(link).collect() };
    build("custom", &Values::default(), &TopologyInputs { graph: Some(&graph), ..TopologyInputs::empty() })
}

/// Checks the invariants of every network: the ends of a link agree, and hosts have one port.
fn check(net: &Topology) {
    for (a, node) in net.nodes.iter().enumerate() {
        assert!(!net.is_host(a as u32) || node.ports.len() == 1, "{}", node.name);
        for (i, port) in node.ports.iter().enumerate() {
            let back = net.nodes[port.peer as usize].ports[port.peer_port as usize];
            assert_eq!((back.peer, back.peer_port), (a as u32, i as u16));
            assert_eq!((back.rate, back.delay), (port.rate, port.delay));
        }
    }
    let names: BTreeSet<_> = net.nodes.iter().map(|node| &node.name).collect();
    assert_eq!(names.len(), net.nodes.len());
}

fn faults(result: Result<Topology, Vec<Fault>>) -> Vec<String> {
    let line = |f: Fault| format!("{}: {}; {}", f.field, f.found, f.rule);
    result.unwrap_err().into_iter().map(line).collect()
}

#[test]
fn a_k4_fat_tree_has_16_hosts_and_20_switches_of_4_ports() {
    let net = net("fat_tree", &[("k", "4")]);
    check(&net);
    assert_eq!((net.hosts, net.switches().len()), (16, 20));
    assert!(net.switches().iter().all(|switch| switch.ports.len() == 4));
    assert_eq!(net.tiers(), ["host", "edge", "agg", "core"]);
    assert_eq!(net.find_host("h15"), Some(HostId(15)));
    assert_eq!(net.find_host("edge0"), None);
    assert_eq!(net.find_node("core3"), Some(35));
    // Port p of a core leads to pod p; core c is linked to the (c / 2)th aggregation switch of each pod.
    let core3 = &net.nodes[35];
    let peers: Vec<_> = core3.ports.iter().map(|port| net.nodes[port.peer as usize].name.as_str()).collect();
    assert_eq!(peers, ["agg1", "agg3", "agg5", "agg7"]);
}

#[test]
fn fat_tree_sizes_match_their_closed_form_for_any_even_k() {
    for k in [2u32, 6, 8, 10] {
        let net = net("fat_tree", &[("k", &k.to_string())]);
        check(&net);
        assert_eq!(net.hosts, k * k * k / 4);
        assert_eq!(net.switches().len() as u32, 5 * k * k / 4);
        assert!(net.switches().iter().all(|switch| switch.ports.len() as u32 == k));
    }
    assert_eq!(faults(try_net("fat_tree", &[("k", "5")])), ["k: 5; an even number from 2 to 64"]);
}

#[test]
fn a_chain_tree_of_three_is_the_tree_of_pabo() {
    let net = net("chain_tree", &[("n", "3"), ("fabric.rate", "10Gbps")]);
    check(&net);
    assert_eq!((net.hosts, net.switches().len()), (4, 7));
    let routes = crate::Routes::compute(&net);
    let name = |node: u32| net.nodes[node as usize].name.as_str();
    let path = |src| routes.choose_path(HostId(src), HostId(3), &|_, hops| hops[0].port);
    let names: Vec<_> = path(1).iter().map(|(node, _)| name(*node)).collect();
    assert_eq!(names, ["h1", "s1", "s4", "s6"]);
    assert_eq!(net.tiers(), ["host", "level1", "level2", "root"]);
    // Ports 0 to 2 of the last switch lead to the three chains, so the receiver is at port 3.
    assert_eq!(path(2).last(), Some(&(net.find_node("s6").unwrap(), 3)));
    let rates: Vec<_> = path(0).iter().map(|(n, p)| net.nodes[*n as usize].ports[*p as usize].rate).collect();
    assert_eq!(rates, [Rate::gbps(1), Rate::gbps(10), Rate::gbps(10), Rate::gbps(1)]);
    check(&try_net("chain_tree", &[("n", "2"), ("depth", "0"), ("receivers", "2")]).unwrap());
    assert_eq!(
        faults(try_net("chain_tree", &[("n", "1600"), ("depth", "64")])),
        ["depth: 1600 chains of 64; at most 100000 switches in all chains"]
    );
}

#[test]
fn a_leaf_spine_links_every_leaf_to_every_spine() {
    let net =
        net("leaf_spine", &[("leaves", "4"), ("spines", "3"), ("hosts_per_leaf", "6"), ("fabric.rate", "40Gbps")]);
    check(&net);
    assert_eq!((net.hosts, net.switches().len()), (24, 7));
    let leaf = &net.switches()[1];
    assert_eq!((leaf.name.as_str(), leaf.ports.len()), ("leaf1", 9));
    assert_eq!((leaf.ports[0].peer, leaf.ports[8].peer), (6, net.find_node("spine2").unwrap()));
    assert_eq!((leaf.ports[0].rate, leaf.ports[8].rate), (Rate::gbps(1), Rate::gbps(40)));
    assert_eq!(net.switches()[4].ports.len(), 4);
}

#[test]
fn oversubscription_is_host_capacity_over_uplink_capacity_exactly() {
    let sized = |f| [("leaves", "2"), ("spines", "4"), ("hosts_per_leaf", "8"), ("oversubscription", f)];
    let uplink = |net: &Topology| net.switches()[0].ports.last().unwrap().rate;
    assert_eq!(uplink(&net("leaf_spine", &sized("1"))), Rate::gbps(2));
    assert_eq!(uplink(&net("leaf_spine", &sized("2.5"))), Rate::mbps(800));
    assert_eq!(
        faults(try_net("fat_tree", &[("k", "4"), ("oversubscription", "3"), ("fabric.rate", "1Gbps")])),
        ["oversubscription: 3; no value if `fabric.rate` is given"]
    );
}

#[test]
fn oversubscription_2_to_4_gives_the_link_rates_of_dibs() {
    // DIBS §5.5.4: 500, 333.3 and 250 Mb/s between switches, 16, 24 and 32 ns a byte.
    for (factor, rate, ns) in [("2", "500Mbps", 16), ("3", "1/3 Gbps", 24), ("4", "250Mbps", 32)] {
        let by_factor = net("fat_tree", &[("k", "8"), ("oversubscription", factor)]);
        assert_eq!(by_factor, net("fat_tree", &[("k", "8"), ("fabric.rate", rate)]));
        assert_eq!(by_factor.nodes[0].ports[0].rate, Rate::gbps(1));
        for switch in by_factor.switches() {
            for port in switch.ports.iter().filter(|port| !by_factor.is_host(port.peer)) {
                assert_eq!(port.rate.time(1), Dur::ns(ns));
            }
        }
    }
    // The rounded 333.3 Mb/s of the paper is slower than the exact third of 1 Gb/s.
    assert_eq!(parse_rate("333.3Mbps").unwrap().time(1000), Dur(24_002_401));
}

#[test]
fn the_testbed_of_dibs_is_a_leaf_spine_of_three_and_two() {
    // DIBS §5.2: two aggregation switches, three edge switches, two servers per rack.
    let net = net("leaf_spine", &[("leaves", "3"), ("spines", "2"), ("hosts_per_leaf", "2")]);
    check(&net);
    assert_eq!((net.hosts, net.switches().len()), (6, 5));
    assert!(net.switches()[..3].iter().all(|leaf| leaf.ports.len() == 2 + 2));
    assert!(net.switches()[3..].iter().all(|spine| spine.ports.len() == 3));
}

#[test]
fn bisection_of_known_networks_matches_its_closed_form() {
    let gbps = |net: Topology| net.bisection_bandwidth() / 1e9;
    assert_eq!(gbps(net("star", &[("n", "6")])), 3.0);
    assert_eq!(gbps(net("dumbbell", &[("n", "4"), ("bottleneck.rate", "2Gbps")])), 2.0);
    assert_eq!(gbps(net("fat_tree", &[("k", "8")])), 64.0);
    assert_eq!(gbps(net("fat_tree", &[("k", "8"), ("oversubscription", "4")])), 16.0);
    let sized = [("leaves", "4"), ("spines", "2"), ("hosts_per_leaf", "8"), ("oversubscription", "2")];
    assert_eq!(gbps(net("leaf_spine", &sized)), 8.0);
}

#[test]
fn stars_and_dumbbells_have_consistent_ports() {
    let star = net("star", &[("n", "3"), ("link.delay", "50ns")]);
    check(&star);
    assert_eq!((star.hosts, star.switches().len(), star.nodes[2].ports[0].delay), (3, 1, Dur::ns(50)));
    let bell = net("dumbbell", &[("n", "2"), ("bottleneck.delay", "10us")]);
    check(&bell);
    assert_eq!((bell.edge_switch(HostId(1)), bell.edge_switch(HostId(2))), (4, 5));
    assert_eq!(bell.switches()[0].ports[2].delay, Dur::us(10));
    assert_eq!(
        faults(build("ring", &Values::default(), &TopologyInputs::empty()))[0].split(';').next(),
        Some("kind: `ring`")
    );
}

#[test]
fn a_custom_network_has_its_hosts_first_and_its_ports_in_the_order_of_the_links() {
    let net = custom(&["a", "h0 host", "b", "h1 host"], &["a b 1", "h1 b 1", "h0 a 1", "a b 3"]).unwrap();
    check(&net);
    let names: Vec<_> = net.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["h0", "h1", "a", "b"]);
    let ports: Vec<_> = net.nodes[2].ports.iter().map(|port| (port.peer, port.weight)).collect();
    assert_eq!(ports, [(3, 1.0), (0, 1.0), (3, 3.0)]);
    assert_eq!(net.tiers(), ["host", "switch"]);
}

#[test]
fn faults_of_a_custom_network_name_the_node_or_link() {
    let two = ["h0 host", "h1 host", "a"];
    for (nodes, links, said) in [
        (&two[..], &["h0 a 1", "h1 b 1"][..], "links[1].b: `b`; the name of a node"),
        (&["h0 host", "a", "a"], &["h0 a 1"], "nodes[2].name: a second node `a`; different names for all nodes"),
        (&["", "h0 host"], &["h0  1"], "nodes[0].name: an empty name; a name"),
        (&two, &["h0 a 1", "h1 a 1", "a a 1"], "links[2].b: `a` at both ends; two different nodes"),
        (&two, &["h0 h1 1"], "links[0]: a link between hosts `h0` and `h1`; a switch at one end at least"),
        (&two, &["h0 a 1"], "nodes[1]: `h1` with 0 links; exactly one link for a host"),
        (&two, &["h0 a 1", "h1 a 1", "h1 a 1"], "nodes[1]: `h1` with 2 links; exactly one link for a host"),
        (&two, &["h0 a 1", "h1 a NaN"], "links[1].weight: NaN; a finite number, at least 0"),
        (&two, &["h0 a 1", "h1 a -1"], "links[1].weight: -1; a finite number, at least 0"),
        (&["a"], &[], "nodes: no host; at least one host"),
        (
            &["h0 host", "a", "h1 host", "b"],
            &["h0 a 1", "h1 b 1"],
            "links: no path from `h0` to `h1`; a connected network",
        ),
    ] {
        let all = faults(custom(nodes, links));
        assert!(all.contains(&said.to_owned()), "{said:?} is not among {all:?}");
    }
    assert_eq!(
        faults(build("custom", &Values::default(), &TopologyInputs::empty())),
        ["nodes: no host; at least one host"]
    );
}

#[test]
fn counts_before_building_are_those_of_the_network() {
    for (kind, given) in [
        ("star", &[("n", "5")][..]),
        ("dumbbell", &[("n", "3")]),
        ("chain_tree", &[("n", "3"), ("depth", "2")]),
        ("chain_tree", &[("n", "3"), ("depth", "0")]),
        ("leaf_spine", &[("leaves", "3"), ("spines", "2"), ("hosts_per_leaf", "4")]),
        ("fat_tree", &[("k", "6")]),
        ("hyperx", &[("dims", "3 4"), ("hosts_per_switch", "2")]),
        ("jellyfish", &[("switches", "9"), ("degree", "4"), ("hosts_per_switch", "3")]),
        ("linear", &[("switches", "4"), ("hosts_per_switch", "2")]),
    ] {
        let spec = SPECS.iter().find(|spec| spec.kind == kind).expect("a kind");
        assert_eq!(counts_of(kind, &values(spec, given)), Some(Counts::from_network(&net(kind, given))), "{kind}");
    }
}
