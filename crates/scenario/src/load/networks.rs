//! Construction of networks, transports and traffic; no other file of the loader calls their builders.

use super::Reading;
use super::fields::{Asked, Faults, Kinds, NAME_RULE, Wanted, choice, entries, is_name, read, table};
use super::resolved;
use super::tree::{Data, Node};
use crate::choices::NodeKind;
use crate::diag::message;
use crate::fault::Fault;
use crate::model::{Choice, OwnTransports};
use crate::settings;
use crate::topology::{Configuration, Corrupted, Counts, Topology};
use crate::traffic::Segments;
use crate::{topology, traffic};
use dataplane::{Framing, transport};
use mech::params::Spec;
use std::cell::RefCell;
use std::collections::BTreeMap;
use topology::{CustomGraph, CustomLink, CustomNode};
use units::{Bytes, Dur};

/// Largest number of nodes; more are refused before they are read.
const MOST_NODES: usize = 2_000_000;
/// Largest number of workloads: their numbers in flows have 16 bits.
const MOST_TRAFFIC: usize = 65_535;

/// Declarations of all topologies, transports and kinds of traffic that a scenario may name.
pub(crate) fn specs() -> [(&'static str, &'static [&'static Spec]); 3] {
    [("topology", topology::SPECS), ("transport", transport::SPECS), ("traffic", traffic::SPECS)]
}

/// Network of a scenario.
pub(super) struct Network {
    /// Kind and parameters from which the network was made.
    pub made: Choice,
    pub topology: Topology,
    /// Links that corrupt frames, from the network's file.
    pub corrupted: Vec<Corrupted>,
    /// Contents of the configuration file that the network names.
    pub configuration: Option<Configuration>,
}

/// Builds the network of a scenario.
pub(super) fn network(scenario: &Node, reading: Reading, faults: &mut Faults) -> Option<Network> {
    let table = table(scenario, "topology", faults)?;
    let custom = table.get("kind").and_then(Node::text) == Some("custom") && table.get("file").is_none();
    let others: &[&str] = if custom { &["node", "link"] } else { &[] };
    let made = choice(&table, Kinds { others, ..Kinds::new(topology::SPECS) }, faults);
    let graph = if custom { Some(graph(&table, faults)?) } else { None };
    let made = made?;
    let files = |name: &str| reading.source.text_of(name);
    let (corrupted, configuration) = (RefCell::default(), RefCell::default());
    let given = topology::Given {
        graph: graph.as_ref(),
        files: &files,
        notes: Some(reading.notes),
        corrupted: Some(&corrupted),
        configuration: Some(&configuration),
    };
    match topology::build(&made.kind, &made.values, &given) {
        Ok(network) => {
            faults.asked.ports += Counts::of_network(&network).ports();
            if faults.asked.ports > Asked::MOST_PORTS {
                let found = format!("{} ports in the variants read so far", faults.asked.ports);
                let rule = format!("at most {} in all variants together", Asked::MOST_PORTS);
                faults.add(&table.at, message(found, rule));
                return None;
            }
            let (corrupted, configuration) = (corrupted.into_inner(), configuration.into_inner());
            Some(Network { made, topology: network, corrupted, configuration })
        }
        Err(wrong) => {
            faults.add_all(&table, wrong.into_iter().map(as_written).collect());
            None
        }
    }
}

/// Translates the field of a fault in a graph to keys of the scenario: `nodes[3].name` becomes `node.3.name`.
fn as_written(fault: Fault) -> Fault {
    let field = fault.field.replace("nodes", "node").replace("links", "link").replace('[', ".").replace(']', "");
    Fault { field, ..fault }
}

fn graph(table: &Node, faults: &mut Faults) -> Option<CustomGraph> {
    let before = faults.count;
    let (nodes, links) = (entries(table, "node", faults), entries(table, "link", faults));
    if nodes.len() > MOST_NODES {
        let found = format!("{} nodes", nodes.len());
        faults.add(&table.at, message(found, format!("at most {MOST_NODES} nodes")));
        return None;
    }
    let mut graph = CustomGraph::default();
    for node in nodes {
        let Some(values) = read(node, Wanted::new(settings::NODE.params), faults) else { continue };
        let name = values.word("name").to_string();
        let tier = if values.has("tier") { values.word("tier").to_string() } else { String::new() };
        graph.nodes.push(CustomNode { name, host: values.get::<NodeKind>("kind") == NodeKind::Host, tier });
    }
    for link in links {
        let Some(values) = read(link, Wanted::new(settings::LINK.params), faults) else { continue };
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

/// Reads `[transport]`.
pub(super) fn transport(
    scenario: &Node,
    framing: Option<Framing>,
    reading: Reading,
    faults: &mut Faults,
) -> Option<Choice> {
    transport_of(&*table(scenario, "transport", faults)?, framing, reading, faults)
}

/// Reads a transport from its table; `framing` is absent if it has faults of its own.
pub(super) fn transport_of(
    table: &Node,
    framing: Option<Framing>,
    reading: Reading,
    faults: &mut Faults,
) -> Option<Choice> {
    let made = choice(table, Kinds::or(transport::SPECS, settings::TRANSPORT), faults)?;
    match transport::TcpConfig::check(&made.values) {
        Ok(()) => {
            let short = framing.and_then(|framing| transport::TcpConfig::too_short(&made.values, &framing));
            if let Some((field, least)) = short {
                let rule = format!("at least {}: the headers that `framing` adds to every frame", Bytes(least));
                faults.add(&table.find(field), message(Bytes(made.values.size(field)), rule));
                return None;
            }
            let said = transport::notes(&made.kind, &made.values, &|key| table.get(key).is_some());
            reading.notes.borrow_mut().extend(said);
            Some(made)
        }
        Err((field, rule)) => {
            let found = made.values.0.get(field).map_or_else(String::new, resolved::text);
            let rule = rule.strip_prefix("must ").map_or_else(|| rule.to_string(), |rest| format!("it to {rest}"));
            faults.add(&table.find(field), message(found, rule));
            None
        }
    }
}

/// Parts of a scenario from which traffic is built; a part that has faults is absent.
#[derive(Clone, Copy)]
pub(super) struct Ground<'a> {
    pub topology: Option<&'a Topology>,
    pub duration: Option<Dur>,
    pub framing: Option<Framing>,
    /// Transport of `[transport]`, and transports of hosts and workloads that have their own.
    pub transports: Option<(&'a Choice, &'a OwnTransports)>,
}

impl Ground<'_> {
    /// Returns the segment sizes of a workload that has a transport of its own, or RoCE; `None` for any other.
    fn segments(&self, traffic: usize) -> Option<Segments> {
        let (base, own) = self.transports?;
        let choice = match own.row(traffic) {
            Some(row) => row.of_all.checked_sub(1).and_then(|place| own.kinds.get(usize::from(place))).unwrap_or(base),
            None if base.kind == settings::ROCE => base,
            None => return None,
        };
        let tcp = transport::TcpConfig::new(&choice.kind, &choice.values, self.framing?)?;
        Some(Segments { mss: tcp.mss(), options: tcp.options() })
    }
}

/// Builds all workloads (`[[traffic]]`), each with the kind and parameters from which it was made.
pub(super) fn all_traffic(
    scenario: &Node,
    ground: Ground,
    reading: Reading,
    faults: &mut Faults,
) -> Vec<(Choice, crate::traffic::Traffic)> {
    let items = entries(scenario, "traffic", faults);
    if scenario.get("traffic").is_none_or(|list| matches!(&list.data, Data::List(items) if items.is_empty())) {
        faults.add(&scenario.find("traffic"), message("nothing", "at least one [[traffic]]"));
    }
    if items.len() > MOST_TRAFFIC {
        let found = format!("{} workloads", items.len());
        faults.add(&scenario.find("traffic"), message(found, format!("at most {MOST_TRAFFIC}")));
        return Vec::new();
    }
    let hosts = ground.topology.map_or(0, |net| u64::from(net.hosts));
    faults.asked.sources += hosts * items.len() as u64;
    if faults.asked.sources > Asked::MOST_SOURCES {
        let found = format!("{} workloads over {hosts} hosts", items.len());
        let rule =
            format!("at most {} as the product of workloads and hosts in all variants together", Asked::MOST_SOURCES);
        faults.add(&scenario.find("traffic"), message(found, rule));
        return Vec::new();
    }
    let mut names = BTreeMap::new();
    let mut all = Vec::new();
    let capacities = traffic::Capacities::default();
    let files = |name: &str| reading.source.text_of(name);
    for (i, item) in items.into_iter().enumerate() {
        // A `transport` of a workload without flows gets its own message in `transports.rs`.
        let is_raw = traffic::is_raw(item.get("kind").and_then(Node::text).unwrap_or_default());
        let others: &[&str] = if is_raw && item.get("transport").is_none() { &[] } else { &["transport"] };
        let kinds = Kinds { common: settings::TRAFFIC.params, others, ..Kinds::new(traffic::SPECS) };
        let made = choice(item, kinds, faults);
        if let Some(name) = item.get("name").and_then(Node::text) {
            check_name(item, name, &mut names, faults);
        }
        let Some(made) = made else { continue };
        let (Some(topology), Some(duration), Some(framing)) = (ground.topology, ground.duration, ground.framing) else {
            continue;
        };
        let context = traffic::Context {
            topology,
            duration,
            framing,
            segments: ground.segments(i),
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
    let at = item.find("name");
    if !is_name(name) {
        faults.add(&at, message(format!("{name:?}"), NAME_RULE));
    } else if let Some(line) = names.insert(name, at.line) {
        let found = format!("\"{name}\", which is also the name of the workload in line {line}");
        faults.add(&at, message(found, "a different name for every workload"));
    }
}
