//! Construction of networks, transports and traffic; no other file of the loader calls their builders.

use super::ReadContext;
use super::dscps::{self, DscpClasses};
use super::fields::{
    AllowedKeys, AllowedKinds, Faults, NAME_RULE, TotalSizes, find_table, is_name, list_tables, read_choice,
    read_values,
};
use super::resolved_json;
use super::tree::{Data, Node};
use crate::choices::NodeKind;
use crate::diag::format_fault;
use crate::fault::Fault;
use crate::model::{Choice, OwnTransports};
use crate::settings;
use crate::topology::{Configuration, CorruptedLink, Counts, Topology};
use crate::traffic::SegmentSizes;
use crate::{topology, traffic};
use dataplane::{Framing, transport};
use mech::params::Spec;
use std::cell::RefCell;
use std::collections::BTreeMap;
use topology::{CustomGraph, CustomLink, CustomNode};
use units::{Bytes, Dur};

/// Largest number of nodes of a custom topology; a longer list is refused before its entries are read.
const MAX_NODES: usize = 2_000_000;
/// Largest number of workloads, because each flow stores the number of its workload in 16 bits.
const MAX_WORKLOADS: usize = 65_535;

/// Declarations of all topologies, transports and kinds of traffic that a scenario may name.
pub(crate) fn specs() -> [(&'static str, &'static [&'static Spec]); 3] {
    [("topology", topology::SPECS), ("transport", transport::SPECS), ("traffic", traffic::SPECS)]
}

/// Network of a scenario, with the settings from which it was made.
pub(super) struct Network {
    /// Kind and parameters from which the network was made.
    pub choice: Choice,
    pub topology: Topology,
    /// Links that corrupt frames, as declared in the network's file.
    pub corrupted: Vec<CorruptedLink>,
    /// Contents of HPCC's configuration file, if the network names one.
    pub configuration: Option<Configuration>,
}

/// Builds the network of a scenario.
pub(super) fn read_network(scenario: &Node, reading: ReadContext, faults: &mut Faults) -> Option<Network> {
    let table = find_table(scenario, "topology", faults)?;
    let custom = table.get("kind").and_then(Node::text) == Some("custom") && table.get("file").is_none();
    let others: &[&str] = if custom { &["node", "link"] } else { &[] };
    let made = read_choice(&table, AllowedKinds { other_keys: others, ..AllowedKinds::new(topology::SPECS) }, faults);
    let graph = if custom { Some(read_graph(&table, faults)?) } else { None };
    let made = made?;
    let files = |name: &str| reading.source.read_named_file(name);
    let (corrupted, configuration) = (RefCell::default(), RefCell::default());
    let given = topology::TopologyInputs {
        graph: graph.as_ref(),
        files: &files,
        notes: Some(reading.notes),
        corrupted: Some(&corrupted),
        configuration: Some(&configuration),
    };
    match topology::build(&made.kind, &made.values, &given) {
        Ok(network) => {
            faults.total_sizes.ports += Counts::from_network(&network).count_ports();
            if faults.total_sizes.ports > TotalSizes::MAX_PORTS {
                let found = format!("{} ports in the variants read so far", faults.total_sizes.ports);
                let rule = format!("at most {} in all variants together", TotalSizes::MAX_PORTS);
                faults.add_fault(&table.at, format_fault(found, rule));
                return None;
            }
            let (corrupted, configuration) = (corrupted.into_inner(), configuration.into_inner());
            Some(Network { choice: made, topology: network, corrupted, configuration })
        }
        Err(wrong) => {
            faults.add_all(&table, wrong.into_iter().map(translate_field).collect());
            None
        }
    }
}

/// Translates the path of a fault in a custom graph to a key of the scenario: `nodes[3].name` becomes `node.3.name`.
fn translate_field(fault: Fault) -> Fault {
    let field = fault.field.replace("nodes", "node").replace("links", "link").replace('[', ".").replace(']', "");
    Fault { field, ..fault }
}

fn read_graph(table: &Node, faults: &mut Faults) -> Option<CustomGraph> {
    let before = faults.count;
    let (nodes, links) = (list_tables(table, "node", faults), list_tables(table, "link", faults));
    if nodes.len() > MAX_NODES {
        let found = format!("{} nodes", nodes.len());
        faults.add_fault(&table.at, format_fault(found, format!("at most {MAX_NODES} nodes")));
        return None;
    }
    let mut graph = CustomGraph::default();
    for node in nodes {
        let Some(values) = read_values(node, AllowedKeys::new(settings::NODE.params), faults) else { continue };
        let name = values.word("name").to_string();
        let tier = if values.has("tier") { values.word("tier").to_string() } else { String::new() };
        graph.nodes.push(CustomNode { name, host: values.get::<NodeKind>("kind") == NodeKind::Host, tier });
    }
    for link in links {
        let Some(values) = read_values(link, AllowedKeys::new(settings::LINK.params), faults) else { continue };
        let (a, b) = (values.word("a").to_string(), values.word("b").to_string());
        let (rate, delay, weight) = (values.rate("rate"), values.time("delay"), values.number("weight"));
        let back = (
            if values.has("back.rate") { values.rate("back.rate") } else { rate },
            if values.has("back.delay") { values.time("back.delay") } else { delay },
        );
        graph.links.push(CustomLink { a, b, rate, delay, back, weight });
    }
    (faults.count == before).then_some(graph)
}

/// Reads the table `[transport]`.
pub(super) fn read_transport(
    scenario: &Node,
    framing: Option<Framing>,
    reading: ReadContext,
    faults: &mut Faults,
) -> Option<Choice> {
    read_transport_table(&*find_table(scenario, "transport", faults)?, framing, reading, faults)
}

/// Reads a transport from its table; `framing` is `None` if the framing has faults.
pub(super) fn read_transport_table(
    table: &Node,
    framing: Option<Framing>,
    reading: ReadContext,
    faults: &mut Faults,
) -> Option<Choice> {
    let made = read_choice(table, AllowedKinds::with_default(transport::SPECS, settings::DEFAULT_TRANSPORT), faults)?;
    match transport::TcpConfig::check(&made.values) {
        Ok(()) => {
            let short = framing.and_then(|framing| transport::TcpConfig::undersized_frame(&made.values, &framing));
            if let Some((field, least)) = short {
                let rule = format!(
                    "at least {}, the size of the headers that `framing` adds to every \
                                    frame",
                    Bytes(least)
                );
                faults.add_fault(&table.locate(field), format_fault(Bytes(made.values.size(field)), rule));
                return None;
            }
            let said = transport::parameter_warnings(&made.kind, &made.values, &|key| table.get(key).is_some());
            reading.notes.borrow_mut().extend(said);
            Some(made)
        }
        Err((field, rule)) => {
            let found = made.values.0.get(field).map_or_else(String::new, resolved_json::format_value);
            let rule = rule.strip_prefix("must ").map_or_else(|| rule.to_string(), |rest| format!("it to {rest}"));
            faults.add_fault(&table.locate(field), format_fault(found, rule));
            None
        }
    }
}

/// Settings of a scenario from which traffic is built; each is `None` if it has faults.
#[derive(Clone, Copy)]
pub(super) struct TrafficContext<'a> {
    pub topology: Option<&'a Topology>,
    pub duration: Option<Dur>,
    pub framing: Option<Framing>,
    /// Transport of `[transport]`, and transports of hosts and workloads that have their own.
    pub transports: Option<(&'a Choice, &'a OwnTransports)>,
    /// Traffic class of each DSCP.
    pub dscp_classes: Option<&'a DscpClasses>,
}

impl TrafficContext<'_> {
    /// Returns the segment sizes of a workload that has a transport of its own, or RoCE; `None` for any other.
    fn segment_sizes(&self, traffic: usize) -> Option<SegmentSizes> {
        let (base, own) = self.transports?;
        let choice = match own.host_transports(traffic) {
            Some(row) => {
                row.default_number.checked_sub(1).and_then(|place| own.kinds.get(usize::from(place))).unwrap_or(base)
            }
            None if base.kind == settings::ROCE_KIND => base,
            None => return None,
        };
        let tcp = transport::TcpConfig::new(&choice.kind, &choice.values, self.framing?)?;
        Some(SegmentSizes { mss: tcp.mss(), options: tcp.data_option_bytes() })
    }
}

/// Builds all workloads (`[[traffic]]`), each with the kind and parameters from which it was made.
pub(super) fn read_traffic(
    scenario: &Node,
    ground: TrafficContext,
    reading: ReadContext,
    faults: &mut Faults,
) -> Vec<(Choice, crate::traffic::Traffic)> {
    let items = list_tables(scenario, "traffic", faults);
    if scenario.get("traffic").is_none_or(|list| matches!(&list.data, Data::List(items) if items.is_empty())) {
        faults.add_fault(&scenario.locate("traffic"), format_fault("nothing", "at least one [[traffic]]"));
    }
    if items.len() > MAX_WORKLOADS {
        let found = format!("{} workloads", items.len());
        faults.add_fault(&scenario.locate("traffic"), format_fault(found, format!("at most {MAX_WORKLOADS}")));
        return Vec::new();
    }
    let hosts = ground.topology.map_or(0, |net| u64::from(net.hosts));
    faults.total_sizes.sources += hosts * items.len() as u64;
    if faults.total_sizes.sources > TotalSizes::MAX_SOURCES {
        let found = format!("{} workloads over {hosts} hosts", items.len());
        let rule = format!(
            "at most {} as the product of workloads and hosts in all variants together",
            TotalSizes::MAX_SOURCES
        );
        faults.add_fault(&scenario.locate("traffic"), format_fault(found, rule));
        return Vec::new();
    }
    let mut names = BTreeMap::new();
    let mut all = Vec::new();
    let capacities = traffic::Capacities::default();
    let files = |name: &str| reading.source.read_named_file(name);
    for (i, item) in items.into_iter().enumerate() {
        // A raw workload that sets `transport` passes here, because `transports.rs` refuses the key with the reason.
        let is_raw = traffic::is_raw_kind(item.get("kind").and_then(Node::text).unwrap_or_default());
        let others: &[&str] = if is_raw && item.get("transport").is_none() { &[] } else { &["transport"] };
        let kinds =
            AllowedKinds { common: settings::TRAFFIC.params, other_keys: others, ..AllowedKinds::new(traffic::SPECS) };
        let made = read_choice(item, kinds, faults);
        if let Some(name) = item.get("name").and_then(Node::text) {
            check_name(item, name, &mut names, faults);
        }
        let Some(mut made) = made else { continue };
        if let Some(classes) = ground.dscp_classes {
            dscps::set_class(item, &mut made, classes, faults);
        }
        let (Some(topology), Some(duration), Some(framing)) = (ground.topology, ground.duration, ground.framing) else {
            continue;
        };
        let context = traffic::Context {
            topology,
            duration,
            framing,
            segments: ground.segment_sizes(i),
            files: &files,
            open: &*reading.source.files,
            notes: reading.notes,
            capacities: &capacities,
        };
        match crate::traffic::Traffic::build(made.values.word("name"), &made.kind, &made.values, &context) {
            Ok(built) => all.push((made, built)),
            Err(wrong) => faults.add_all(item, wrong),
        }
    }
    all
}

fn check_name<'a>(item: &Node, name: &'a str, names: &mut BTreeMap<&'a str, usize>, faults: &mut Faults) {
    let at = item.locate("name");
    if !is_name(name) {
        faults.add_fault(&at, format_fault(format!("{name:?}"), NAME_RULE));
    } else if let Some(line) = names.insert(name, at.line) {
        let found = format!("\"{name}\", which is also the name of the workload in line {line}");
        faults.add_fault(&at, format_fault(found, "different names for all workloads"));
    }
}
