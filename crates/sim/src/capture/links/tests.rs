use super::*;
use scenario::topology::Port;
use units::Dur;

/// Returns a network of nodes by name, the first `hosts` of them hosts, and of links between them.
fn network(hosts: u32, names: &[&str], links: &[(usize, usize)]) -> Topology {
    let node = |name: &&str| Node { name: name.to_string(), tier: "any".into(), ports: Vec::new() };
    let mut nodes: Vec<Node> = names.iter().map(node).collect();
    for (a, b) in links {
        let (at_a, at_b) = (nodes[*a].ports.len() as u16, nodes[*b].ports.len() as u16);
        let port = |peer, peer_port| Port { peer, peer_port, rate: Rate::gbps(1), delay: Dur::us(1), weight: 1.0 };
        nodes[*a].ports.push(port(*b as u32, at_b));
        nodes[*b].ports.push(port(*a as u32, at_a));
    }
    Topology { nodes, hosts, plan: None }
}

/// Returns a network of h0 and h1 at s0, two links to s1, one to s2.
fn small_network() -> Topology {
    network(2, &["h0", "h1", "s0", "s1", "s2"], &[(0, 2), (1, 2), (3, 2), (2, 3), (4, 2)])
}

fn link_names(topology: &Topology, texts: &[&str]) -> Result<Vec<String>, Vec<String>> {
    let texts: Vec<String> = texts.iter().map(|text| text.to_string()).collect();
    parse_links(topology, &texts).map(|found| found.into_iter().map(|link| link.name).collect())
}

#[test]
fn host_name_selects_its_link_and_no_link_is_repeated() {
    assert_eq!(link_names(&small_network(), &["h0", "s0:h0", "h0:s0", "h0:s0:0", "h1"]).unwrap(), ["h0:s0", "h1:s0"]);
    let link = &parse_links(&small_network(), &["s2:s0".into()]).unwrap()[0];
    assert_eq!((link.name.as_str(), link.ports), ("s0:s2", [6, 9]));
    assert_eq!(link.interfaces.clone().map(|face| face.name), ["s0>s2", "s2>s0"]);
    assert_eq!(link.interfaces[0].speed_bps, Some(1_000_000_000));
}

#[test]
fn parallel_links_are_selected_by_number() {
    assert_eq!(link_names(&small_network(), &["s0:s1:0", "s1:s0:1"]).unwrap(), ["s0:s1:0", "s0:s1:1"]);
    let ports: Vec<_> = parse_links(&small_network(), &["s0:s1:0".into(), "s0:s1:1".into()]).unwrap();
    assert_eq!(ports.iter().map(|link| link.ports).collect::<Vec<_>>(), [[4, 7], [5, 8]]);
    let said = link_names(&small_network(), &["s0:s1"]).unwrap_err();
    assert_eq!(said, ["--pcap: found `s0:s1`; expected one of the links `s0:s1:0`, `s0:s1:1`"]);
}

#[test]
fn unknown_link_name_error_lists_the_existing_links() {
    let nodes = "`h0`, `h1`, `s0`, `s1`, `s2`";
    let s1 = "`s0:s1:0`, `s0:s1:1`";
    for (text, expected) in [
        ("h9", format!("a host or a link `a:b`; the nodes are {nodes}")),
        ("", format!("a host or a link `a:b`; the nodes are {nodes}")),
        ("h0:", format!("a host or a link `a:b`; the nodes are {nodes}")),
        ("s1", format!("a host or a link; the links of `s1` are {s1}")),
        ("s1:s2", format!("a link; the links of `s1` are {s1}")),
        ("s1:s0:2", format!("a link; the links of `s1` are {s1}")),
    ] {
        assert_eq!(
            link_names(&small_network(), &[text]).unwrap_err(),
            [format!("--pcap: found `{text}`; expected {expected}")]
        );
    }
    assert_eq!(link_names(&small_network(), &["x", "h0", "y"]).unwrap_err().len(), 2);
}

#[test]
fn node_names_with_colons_work_if_unambiguous() {
    let net = network(2, &["a:b", "a", "s", "s:0"], &[(0, 2), (1, 3), (2, 3)]);
    assert_eq!(link_names(&net, &["a:b", "a", "a:b:s", "s:s:0"]).unwrap(), ["a:b:s", "a:s:0", "s:s:0"]);
    let net = network(2, &["a", "a:s", "s:s", "s"], &[(0, 2), (1, 3), (2, 3)]);
    assert!(link_names(&net, &["a:s:s"]).unwrap_err()[0].contains("expected one of the links `a:s:s`, `a:s:s`"));
}
