use super::values;
use crate::topology::*;

/// Builds the network of a file; returns it with its notes, or the faults.
fn read(kind: &str, given: &[(&str, &str)], text: &str) -> Result<(Topology, Vec<String>), Vec<String>> {
    let spec = SPECS.iter().find(|spec| spec.kind == kind).unwrap();
    let notes = RefCell::new(Vec::new());
    let files = |name: &str| if name == "net" { Ok(text.to_string()) } else { Err("no such file".into()) };
    let all = [given, &[("file", "net")]].concat();
    let given = TopologyInputs { graph: None, files: &files, notes: Some(&notes), ..TopologyInputs::empty() };
    let line = |f: Fault| format!("{}: {}; {}", f.field, f.found, f.rule);
    let net = build(kind, &values(spec, &all), &given).map_err(|f| f.into_iter().map(line).collect::<Vec<_>>())?;
    Ok((net, notes.into_inner()))
}

/// Returns the ports of a node, each as `peer rate delay`.
fn ports(net: &Topology, name: &str) -> Vec<String> {
    let name_of = |node: u32| &net.nodes[node as usize].name;
    let ports = net.nodes[net.find_node(name).unwrap() as usize].ports.iter();
    ports.map(|port| format!("{} {} {}", name_of(port.peer), port.rate, port.delay)).collect()
}

const HPCC: &str = "6 2 6\n0 5\n1 0 25Gbps 0.001ms 0\n2 0 25Gbps 1us 0.000000\n3 5 25Gbps 1us 0\n4 5 25Gbps 1us 0\n\
                    0 5 100Gbps 2us 0\n0 5 100Gbps 2us 0\n";

#[test]
fn an_hpcc_topology_keeps_its_ids_as_names_and_its_parallel_links() {
    let (net, notes) = read("hpcc", &[], HPCC).unwrap();
    let names: Vec<_> = net.nodes.iter().map(|node| (node.name.as_str(), node.tier.as_str())).collect();
    assert_eq!(
        names,
        [("1", "host"), ("2", "host"), ("3", "host"), ("4", "host"), ("0", "edge"), ("5", "edge")],
        "hosts come first"
    );
    assert_eq!(ports(&net, "0"), ["1 25Gbps 1us", "2 25Gbps 1us", "5 100Gbps 2us", "5 100Gbps 2us"]);
    assert!(notes.is_empty());
    // ns-3 reads numbers across line ends.
    assert_eq!(read("hpcc", &[], &HPCC.replace('\n', "  \r\n\n")).unwrap().0, net);
    assert_eq!(read("hpcc", &[], &HPCC.replace('\n', " ")).unwrap().0, net);
}

#[test]
fn the_tiers_of_an_hpcc_topology_are_hops_to_the_nearest_host() {
    let text = "7 5 6\n2 3 4 5 6\n0 2 1Gbps 1us 0 1 2 1Gbps 1us 0\n2 3 1Gbps 1us 0\n3 4 1Gbps 1us 0 4 5 1Gbps 1us 0 5 6 \
                1000kbps 1us 0";
    let (net, _) = read("hpcc", &[], text).unwrap();
    let tiers: Vec<_> = net.switches().iter().map(|node| node.tier.as_str()).collect();
    assert_eq!(tiers, ["edge", "agg", "core", "level4", "level5"]);
    assert_eq!(ports(&net, "6"), ["5 1Mbps 1us"]);
    let turned = text.replace("2 3 1Gbps", "3 2 1Gbps").replace("0 2 1Gbps", "2 0 1Gbps");
    assert_eq!(read("hpcc", &[], &turned).unwrap().0.tiers(), net.tiers(), "whichever end is named first");
}

#[test]
fn what_is_wrong_with_an_hpcc_topology_is_said_of_its_line() {
    let rate = "a rate with its unit (bps, Kbps, Mbps, Gbps, Tbps) from 1bps to 1000Tbps, such as `10Gbps`";
    for (from, to, said) in [
        ("6 2 6", "", "`net`, line 2: `5`; the number of switches, a whole number below 1".to_string()),
        ("6 2 6", "9999999 2 9", "`net`, line 1: `9999999`; the number of nodes, a whole number below 2000001".into()),
        ("6 2 6", "6 7 6", "`net`, line 1: `7`; the number of switches, a whole number below 7".into()),
        ("6 2 6", "6 2 4", "`net`, line 1: 4 links of 6 nodes; at least 5 links, so that all nodes are \
                            connected".into()),
        ("0 5\n1", "0 0\n1", "`net`, line 2: switch 0 twice; each switch once".into()),
        ("1 0 25", "9 0 25", "`net`, line 3: `9`; the id of a node, a whole number below 6".into()),
        ("3 5 25", "3 6 25", "`net`, line 5: `6`; the id of a node, a whole number below 6".into()),
        ("0.000000", "1.5", "`net`, line 4: error rate `1.5`; the probability that a frame is corrupted, 0 to 1".into()),
        ("0.001ms", "0ms", "`net`, line 3: delay `0ms`; a length of time with its unit (ps, ns, us, ms, s) from 1ps to 10 days, such as `1us`".into()),
        ("1 0 25Gbps", "1 0 25G", format!("`net`, line 3: rate `25G`, which has a unit of another kind; {rate} (did you mean \"25Gbps\"?)")),
        ("6 2 6", "6 2 7", "`net`, line 8: the end of the file; the id of a node".into()),
        ("3 5 25Gbps", "2 5 25Gbps", "`net`: `2` with 2 links; exactly one link for a host".into()),
        ("3 5 25Gbps", "3 4 25Gbps", "`net`, line 5: a link between hosts `3` and `4`; a switch at one end at \
                                      least".into()),
    ] {
        assert_eq!(HPCC.matches(from).count(), 1, "{from}");
        let all = read("hpcc", &[], &HPCC.replace(from, to)).unwrap_err();
        assert!(all.contains(&format!("file: {said}")), "{said:?} is not among {all:?}");
    }
    assert_eq!(read("hpcc", &[], "").unwrap_err(), ["file: `net`, line 1: the end of the file; the number of nodes"]);
    // A header alone must not make the reader allocate two million nodes.
    let long = "2000000 0 4000000\n".to_string();
    assert_eq!(read("hpcc", &[], &long).unwrap_err(), ["file: `net`, line 1: the end of the file; the id of a node"]);
    let gone = read("hpcc", &[("file", "gone")], HPCC).unwrap_err();
    assert_eq!(gone, ["file: `gone`: no such file; a file that can be read"]);
}

#[test]
fn what_follows_the_links_of_an_hpcc_topology_is_not_read() {
    let (whole, _) = read("hpcc", &[], HPCC).unwrap();
    let prose = format!("{HPCC}\nFirst line: total node #, switch node #, link #\n");
    assert_eq!(read("hpcc", &[], &prose).unwrap(), (whole, vec![]));
    let (net, notes) = read("hpcc", &[], &HPCC.replace("6 2 6", "6 2 5")).unwrap();
    assert_eq!(ports(&net, "5").len(), 3, "one of two parallel links");
    assert_eq!(
        notes,
        ["topology: `net` has more links than the 5 of its header. Overspill ignores the links from line \
                        8 on. Correct the header if these links belong to the network"]
    );
}

#[test]
fn an_ns3_datacenter_topology_has_tors_and_plain_rates() {
    let text = HPCC.replace("6 2 6", "6 2 2 6").replace("25Gbps", "25000000000.0");
    assert_eq!(read("hpcc", &[], &text).unwrap(), read("hpcc", &[], HPCC).unwrap());
    let wrong = read("hpcc", &[], &text.replace("6 2 2 6", "6 2 3 6")).unwrap_err();
    assert_eq!(wrong, ["file: `net`, line 1: `3`; the number of ToRs, a whole number below 3"]);
    let half = read("hpcc", &[], &text.replacen("25000000000.0", "0.5", 1)).unwrap_err();
    assert!(half[0].starts_with("file: `net`, line 3: rate `0.5`"), "{half:?}");
}

#[test]
fn a_simai_topology_is_read_where_hosts_have_one_link() {
    let text = HPCC.replace("6 2 6", "6 8 1 1 6 A100");
    assert_eq!(read("hpcc", &[], &text).unwrap(), read("hpcc", &[], HPCC).unwrap());
    assert_eq!(read("hpcc", &[], &text.replace("A100", "H100 8")).unwrap(), read("hpcc", &[], HPCC).unwrap());
    let two = text.replace("3 5 25Gbps", "1 5 25Gbps");
    let said = "file: `net`, line 5: a SimAI topology (nodes, GPUs per server, NVSwitches, switches, links, GPU), \
                whose host 1 has a second link; one link per host: hosts with two links are not supported";
    assert_eq!(read("hpcc", &[], &two).unwrap_err(), [said]);
    // The second line lists the switches, whatever their number in the header.
    assert_eq!(read("hpcc", &[], &two.replace("6 8 1 1 6", "6 8 1 0 6")).unwrap_err(), [said]);
}

#[test]
fn an_error_rate_is_of_its_link_among_parallel_ones() {
    let corrupted = RefCell::default();
    let text = HPCC
        .replace("2us 0\n0 5", "2us 0\n5 0")
        .replace("100Gbps 2us 0\n5", "100Gbps 2us 0.5\n5")
        .replace("0.000000", "1e-3");
    let files = |_: &str| Ok(text.clone());
    let given = TopologyInputs { graph: None, files: &files, corrupted: Some(&corrupted), ..TopologyInputs::empty() };
    let spec = SPECS.iter().find(|spec| spec.kind == "hpcc").unwrap();
    let net = build("hpcc", &values(spec, &[("file", "net")]), &given).unwrap();
    let found = corrupted.into_inner();
    let said: Vec<_> = found.iter().map(|one| (one.link.as_str(), one.probability)).collect();
    assert_eq!(said, [("2:0", 1e-3), ("0:5:0", 0.5)]);
    assert!(found.iter().all(|one| net.find_directions(&one.link).unwrap().len() == 2), "events find them");
}

const GRAPHML: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d0" for="node" attr.name="kind" attr.type="string"><default>switch</default></key>
  <key id="d1" for="node" attr.name="tier" attr.type="string"/>
  <key id="d2" for="edge" attr.name="rate" attr.type="string"/>
  <key id="d3" for="edge" attr.name="delay" attr.type="string"/>
  <key id="d4" for="edge" attr.name="weight" attr.type="double"/>
  <key id="d5" for="all" attr.name="color" attr.type="string"/>
  <graph edgedefault="undirected">
    <node id="up"><data key="d1">spine</data></node>
    <node id="a"><data key="d0">Host</data></node>
    <node id="left"><data key="d1">leaf</data><data key="d5">red</data></node>
    <node id="b"><data key="d0">server</data></node>
    <edge source="a" target="left"/>
    <edge source="b" target="up"><data key="d2">1/3 Gbps</data></edge>
    <edge source="left" target="up"><data key="d3">5us</data><data key="d4">2.5</data></edge>
    <edge source="up" target="left"/>
  </graph>
</graphml>
"#;
const LINK: [(&str, &str); 2] = [("link.rate", "10Gbps"), ("link.delay", "1us")];

#[test]
fn graphml_says_nodes_in_the_order_of_the_file_and_edges_with_defaults() {
    let (net, notes) = read("custom", &LINK, GRAPHML).unwrap();
    let names: Vec<_> = net.nodes.iter().map(|node| (node.name.as_str(), node.tier.as_str())).collect();
    assert_eq!(names, [("a", "host"), ("b", "host"), ("up", "spine"), ("left", "leaf")]);
    assert_eq!(ports(&net, "left"), ["a 10Gbps 1us", "up 10Gbps 5us", "up 10Gbps 1us"], "edges may be parallel");
    assert_eq!(net.nodes[1].ports[0].rate, Rate::ratio(1_000_000_000, 3).unwrap());
    assert_eq!(net.nodes[3].ports.iter().map(|port| port.weight).collect::<Vec<_>>(), [1.0, 2.5, 1.0]);
    assert_eq!(notes, ["topology: Overspill ignores these attributes in `net`: `color`"]);
}

#[test]
fn opposite_arcs_of_a_directed_graph_are_one_link_and_an_arc_alone_is_one_too() {
    let directed = GRAPHML.replace("\"undirected\"", "\"directed\"");
    let all = read("custom", &LINK, &directed).unwrap_err();
    let said = "file: `net`, line 17: a weight that differs from that in line 16; the same weight from `up` to `left` \
                and back";
    assert_eq!(all, [said]);
    let alike = directed.replace("<data key=\"d3\">5us</data><data key=\"d4\">2.5</data>", "");
    let (net, _) = read("custom", &LINK, &alike).unwrap();
    assert_eq!(ports(&net, "left"), ["a 10Gbps 1us", "up 10Gbps 1us"]);
    let uneven = directed.replace("<data key=\"d4\">2.5</data>", "<data key=\"d2\">4Gbps</data>");
    let (net, _) = read("custom", &LINK, &uneven).unwrap();
    assert_eq!(ports(&net, "left"), ["a 10Gbps 1us", "up 4Gbps 5us"], "each arc is a direction");
    assert_eq!(ports(&net, "up"), ["b 1/3 Gbps 1us", "left 10Gbps 1us"]);
    let arcs = |all: &[(&str, &str, u32)]| {
        let arc = |(from, to, weight): &(&str, &str, u32)| {
            format!("<edge source=\"{from}\" target=\"{to}\"><data key=\"d4\">{weight}</data></edge>")
        };
        let all: String = all.iter().map(arc).collect();
        read("custom", &LINK, &alike.replace("<edge source=\"up\" target=\"left\"/>", &all))
    };
    let one = arcs(&[("up", "left", 2)]).unwrap_err();
    assert!(one[0].contains("line 17: a weight that differs"), "only their weights differ: {one:?}");
    // Two arcs in each direction give two links: the first pair, and the second.
    let two = arcs(&[("left", "up", 2), ("up", "left", 1), ("up", "left", 2)]).unwrap().0;
    assert_eq!(ports(&two, "left").len(), 3);
    // Two arcs in the same direction are two links.
    let same = alike.replace("source=\"up\" target=\"left\"", "source=\"left\" target=\"up\"");
    assert_eq!(ports(&read("custom", &LINK, &same).unwrap().0, "left").len(), 3);
}

#[test]
fn an_edge_may_say_by_itself_whether_it_is_directed() {
    let own = |back: &str, edges: &str| {
        let text = GRAPHML.replace("<edge source=\"up\" target=\"left\"/>", back).replace("\"undirected\"", edges);
        let text = text.replace("<data key=\"d3\">5us</data><data key=\"d4\">2.5</data>", "");
        ports(&read("custom", &LINK, &text).unwrap().0, "left").len()
    };
    let as_it_says = |directed: &str| format!("<edge source=\"up\" target=\"left\" directed=\"{directed}\"/>");
    assert_eq!((own(&as_it_says("true"), "\"directed\""), own(&as_it_says("false"), "\"directed\"")), (2, 3));
}

#[test]
fn a_key_has_a_default_and_a_tier_of_hosts_is_of_hosts() {
    let text = GRAPHML
        .replace("attr.name=\"rate\" attr.type=\"string\"/>", "attr.name=\"rate\"><default>25Gbps</default></key>");
    let text = text.replace("<default>switch</default>", "");
    let text = text.replace("<data key=\"d0\">Host</data>", "<data key=\"d1\">host</data>");
    let (net, _) = read("custom", &LINK, &text).unwrap();
    assert_eq!(ports(&net, "left"), ["a 25Gbps 1us", "up 25Gbps 5us", "up 25Gbps 1us"], "before `link.rate`");
    assert_eq!((net.hosts, net.nodes[0].name.as_str()), (2, "a"));
}

#[test]
fn what_is_wrong_with_graphml_is_said_of_its_line() {
    for (from, to, said) in [
        (
            "Host</data>",
            "printer</data>",
            "`net`, line 11: kind `printer` of node `a`; `kind` or `type` of `host`, `server`, `switch` or `router`, \
             or a `tier`",
        ),
        ("<default>switch</default>", "", "`net`, line 10: x"),
        (
            "1/3 Gbps",
            "10",
            "`net`, line 15: rate `10`, which has no unit of edge `b` to `up`; a rate with its unit (bps, Kbps, Mbps, Gbps, Tbps) from 1bps to 1000Tbps, such as `10Gbps`",
        ),
        (">2.5<", ">-2<", "`net`, line 16: weight `-2` of edge `left` to `up`; a number from 0 to 1000000000"),
        ("source=\"a\" target=\"left\"", "source=\"a\" target=\"lift\"", "`net`, line 14: `lift`; the name of a node"),
        (
            "source=\"a\" target=\"left\"",
            "source=\"a\"",
            "`net`, line 14: an edge without `source` or `target`; <edge source=... target=...>",
        ),
        ("<node id=\"b\">", "<node id=\"a\">", "`net`, line 13: a second node `a`; different names for all nodes"),
        ("<data key=\"d5\">", "<data key=\"d9\">", "`net`, line 12: data of key `d9`; a <key> with this id for `node`"),
        (
            "<data key=\"d5\">red</data>",
            "<graph/>",
            "`net`, line 12: a graph inside a node; nodes without inner \
                                                     graphs",
        ),
        ("</graphml>", "<graph/></graphml>", "`net`: 2 graphs; one <graph>"),
    ] {
        assert_eq!(GRAPHML.matches(from).count(), 1, "{from}");
        if said.ends_with(" x") {
            // A tier without a kind is enough for a switch; hosts still have their `kind`.
            assert!(read("custom", &LINK, &GRAPHML.replace(from, to)).is_ok());
            continue;
        }
        let all = read("custom", &LINK, &GRAPHML.replace(from, to)).unwrap_err();
        assert!(all.contains(&format!("file: {said}")), "{said:?} is not among {all:?}");
    }
    let none = read("custom", &LINK[1..], GRAPHML).unwrap_err();
    assert!(
        none[0].starts_with("file: `net`, line 14: no rate of edge `a` to `left`; `rate`, or `link = {"),
        "{none:?}"
    );
    let xml = read("custom", &LINK, &GRAPHML.replace("</graph>", "")).unwrap_err();
    assert!(xml[0].starts_with("file: `net`, line 19: text that is not XML ("), "{xml:?}");
    assert_eq!(read("custom", &LINK, "<svg/>").unwrap_err(), ["file: `net`, line 1: <svg>; <graphml>"]);
    let deep = format!("<graphml>{}", "<a>".repeat(200_000));
    assert!(read("custom", &LINK, &deep).unwrap_err()[0].contains("text that is not XML"));
    // An entity that grows without bound needs a DTD, which is refused.
    let bomb = "<!DOCTYPE a [<!ENTITY b \"c\">]><graphml>&b;</graphml>";
    assert!(read("custom", &LINK, bomb).unwrap_err()[0].contains("text that is not XML"));
}

const TOPO: &str = "# three tiers\nNodes 16\nTiers 3\nPodsize 4\n\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 2\n\
                    Radix_Up 2\nDownlink_Latency_ns 1000\nSwitch_Latency_ns 100\n\nTier 1\nDownlink_speed_Gbps 100\n\
                    Radix_Down 2\nRadix_Up 2\nDownlink_Latency_ns 2000\nTier 2\nDownlink_speed_Gbps 100\nRadix_Down 4\n\
                    Downlink_Latency_ns 3000\nSwitch_Latency_ns 300\n";

#[test]
fn three_tiers_of_htsim_with_radix_4_are_a_fat_tree() {
    let (net, _) = read("htsim", &[], TOPO).unwrap();
    assert_eq!((net.hosts, net.switches().len()), (16, 20));
    assert_eq!(net.tiers(), ["host", "tor", "agg", "core"]);
    // A switch's latency is added to the links into it.
    assert_eq!(ports(&net, "h5"), ["tor2 100Gbps 1100ns"]);
    assert_eq!(ports(&net, "tor2"), ["h4 100Gbps 1us", "h5 100Gbps 1us", "agg2 100Gbps 2us", "agg3 100Gbps 2us"]);
    assert_eq!(
        ports(&net, "agg3"),
        ["tor2 100Gbps 2100ns", "tor3 100Gbps 2100ns", "core1 100Gbps 3300ns", "core3 100Gbps 3300ns"]
    );
    assert_eq!(ports(&net, "core1"), ["agg1 100Gbps 3us", "agg3 100Gbps 3us", "agg5 100Gbps 3us", "agg7 100Gbps 3us"]);
    let routes = crate::Routes::compute(&net);
    assert_eq!(routes.choose_path(HostId(0), HostId(15), &|_, hops| hops[0].port).len(), 6);
    assert_eq!(net.bisection_bandwidth(), 800e9);
}

#[test]
fn two_tiers_of_htsim_are_a_leaf_spine_and_bundles_are_parallel_links() {
    let tiny = |up: u64, down: u64, bundle: u64| {
        format!(
            "nodes 32\ntiers 2\npodsize 32\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 8\nRadix_Up {up}\n\
             Downlink_Latency_ns 1000\nOversubscribed 4\nTier 1\nDownlink_speed_Gbps 100\nRadix_Down {down}\n\
             Downlink_Latency_ns 1000\nBundle {bundle}\n"
        )
    };
    let (net, _) = read("htsim", &[], &tiny(2, 4, 1)).unwrap();
    assert_eq!((net.hosts, net.switches().len()), (32, 6));
    assert_eq!(ports(&net, "tor3")[8..], ["agg0 100Gbps 1us", "agg1 100Gbps 1us"]);
    let (net, _) = read("htsim", &[], &tiny(2, 8, 2)).unwrap();
    assert_eq!(ports(&net, "tor3")[8..], ["agg0 100Gbps 1us", "agg0 100Gbps 1us"]);
    assert_eq!(net.switches().len(), 5);
    // Eight links of 100 Gb/s down and two of 400 Gb/s up: no oversubscription.
    let fast =
        tiny(2, 4, 1).replace("Oversubscribed 4\nTier 1\nDownlink_speed_Gbps 100", "Tier 1\nDownlink_speed_Gbps 400");
    let (net, _) = read("htsim", &[], &fast).unwrap();
    assert_eq!(ports(&net, "tor3")[7..], ["h31 100Gbps 1us", "agg0 400Gbps 1us", "agg1 400Gbps 1us"]);
    let pods = read("htsim", &[], &tiny(2, 4, 1).replace("podsize 32", "podsize 16")).unwrap_err();
    assert_eq!(
        pods,
        ["file: `net`: podsize 16 of 32 nodes in 2 tiers; a podsize equal to the number of nodes, because \
                       2 tiers are one pod"]
    );
}

#[test]
fn what_is_wrong_with_a_topo_file_is_said() {
    for (from, to, said) in [
        ("Nodes 16", "Nodes 15", "`net`: podsize 4 of 15 nodes; a podsize that divides the number of nodes"),
        ("Nodes 16", "Nods 16", "`net`, line 2: `Nods`; one of nodes, tiers, podsize, in upper or lower case"),
        ("Tiers 3", "Tiers 1", "`net`: 1 tier; 2 or 3 tiers"),
        ("Podsize 4", "", "`net`: `podsize` = 0; from 1 to 16"),
        ("Podsize 4", "Podsize 4 hosts", "`net`, line 4: 3 words; a setting and its number"),
        ("Tier 2", "Tier 3", "`net`, line 18: tier 3; tiers 0, 1 and 2, each once"),
        ("Tier 2", "Tier 1", "`net`, line 18: tier 1; tiers 0, 1 and 2, each once"),
        ("Radix_Down 4", "Radix_Down 3", "`net`: radix_down 3 of tier 2; 4, the number of links from the tier below"),
        (
            "Switch_Latency_ns 100\n",
            "Oversubscribed 2",
            "`net`: 200 Gb/s down and 200 Gb/s up in tier 0; a ratio of the two that equals `oversubscribed` of tier \
             0, which is 2",
        ),
        (
            "Switch_Latency_ns 100",
            "Queue_Size 100",
            "`net`, line 11: `Queue_Size`; one of downlink_speed_gbps, radix_down, radix_up, downlink_latency_ns, \
             switch_latency_ns, oversubscribed, bundle, in upper or lower case",
        ),
        ("Downlink_Latency_ns 3000", "", "`net`: tier 2 without `downlink_latency_ns`; a number of at least 1"),
        ("Switch_Latency_ns 300", "Switch_Latency_ns 0.3", "`net`, line 22: `0.3`; a whole number, at most 1000000000"),
        ("Switch_Latency_ns 100\n", "Bundle 2\n", "`net`: a bundle in tier 0; one link per host"),
        (
            "Switch_Latency_ns 300",
            "Bundle 3",
            "`net`: radix_up 2 of tier 1 in bundles of 3; a radix_up that is a \
                                               multiple of the bundle",
        ),
    ] {
        assert_eq!(TOPO.matches(from).count(), 1, "{from}");
        assert_eq!(read("htsim", &[], &TOPO.replace(from, to)).unwrap_err(), [format!("file: {said}")]);
    }
}
