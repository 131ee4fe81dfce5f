//! Networks in GraphML (<http://graphml.graphdrawing.org>), which NetworkX, Gephi and yEd write.

use super::graph_file::{self, FileFault, GraphFile, MAX_NODES, MAX_REPORTED_FAULTS, line_error};
use super::{CustomLink, CustomNode, Topology, TopologyInputs};
use crate::fault::Fault;
use mech::params::Values;
use roxmltree::{Document, Node};
use std::collections::{BTreeMap, BTreeSet};
use units::{Dur, Rate};

/// Attribute that a GraphML file declares as `<key id for attr.name>`.
struct AttributeKey {
    domain: String,
    name: String,
    default: Option<String>,
}

/// Attributes of a node or edge by name.
type Attributes = BTreeMap<String, String>;

/// Reader of a GraphML file, with the attributes and links found so far.
struct Reader<'a> {
    keys: BTreeMap<&'a str, AttributeKey>,
    /// Byte offset of the end of each line of the file.
    ends: Vec<usize>,
    rate: Option<Rate>,
    delay: Option<Dur>,
    directed: bool,
    /// Directed edges without an opposite so far: indices of their links by (from, to).
    open: BTreeMap<(String, String), Vec<usize>>,
    unused: BTreeSet<String>,
}

const NODE_ATTRIBUTES: [&str; 3] = ["kind", "type", "tier"];
const EDGE_ATTRIBUTES: [&str; 3] = ["rate", "delay", "weight"];

/// Builds the network of a GraphML file; `link.rate` and `link.delay` are the defaults of its edges.
pub(super) fn build(values: &Values, given: &TopologyInputs) -> Result<Topology, Vec<Fault>> {
    let path = values.word("file");
    let text = graph_file::read_text(path, given)?;
    let wrong =
        |all: Vec<FileFault>| all.into_iter().map(|each| graph_file::file_fault(path, each)).collect::<Vec<_>>();
    let doc = Document::parse(&text).map_err(|why| {
        let found = format!("line {}: text that is not XML ({why})", why.pos().row);
        wrong(vec![(found, "GraphML".into())])
    })?;
    let mut reader = Reader {
        keys: BTreeMap::new(),
        ends: text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at).collect(),
        rate: values.has("link.rate").then(|| values.rate("link.rate")),
        delay: values.has("link.delay").then(|| values.time("link.delay")),
        directed: false,
        open: BTreeMap::new(),
        unused: BTreeSet::new(),
    };
    let found = reader.read_document(&doc).map_err(wrong)?;
    if !reader.unused.is_empty() {
        let names: Vec<_> = reader.unused.iter().take(MAX_REPORTED_FAULTS).map(|name| format!("`{name}`")).collect();
        given.add_note(format!("topology: Overspill ignores these attributes in `{path}`: {}", names.join(", ")));
    }
    found.build(path)
}

fn is_element_named(node: &Node, name: &str) -> bool {
    node.is_element() && node.tag_name().name() == name
}

impl<'a> Reader<'a> {
    fn line_number(&self, node: &Node) -> usize {
        self.ends.partition_point(|end| *end < node.range().start) + 1
    }

    fn read_document(&mut self, doc: &'a Document) -> Result<GraphFile, Vec<FileFault>> {
        let root = doc.root_element();
        let one = |wrong: FileFault| vec![wrong];
        if !is_element_named(&root, "graphml") {
            return Err(one((format!("line 1: <{}>", root.tag_name().name()), "<graphml>".into())));
        }
        for key in root.children().filter(|node| is_element_named(node, "key")) {
            self.read_key(&key).map_err(one)?;
        }
        let graphs: Vec<_> = root.children().filter(|node| is_element_named(node, "graph")).collect();
        let [graph] = graphs.as_slice() else {
            return Err(one((format!("{} graphs", graphs.len()), "one <graph>".into())));
        };
        self.directed = graph.attribute("edgedefault") == Some("directed");
        let (mut found, mut faults) = (GraphFile::default(), Vec::new());
        for element in graph.children().filter(Node::is_element) {
            let line = self.line_number(&element);
            let read = match element.tag_name().name() {
                "node" => self.read_node(&element, &mut found),
                "edge" => self.read_edge(&element, &mut found),
                "data" | "desc" => Ok(()),
                other => line_error(line, format!("<{other}>"), "<node> and <edge>"),
            };
            faults.extend(read.err());
            if faults.len() == MAX_REPORTED_FAULTS {
                break;
            }
        }
        if faults.is_empty() { Ok(found) } else { Err(faults) }
    }

    fn read_key(&mut self, key: &Node<'a, '_>) -> Result<(), FileFault> {
        let line = self.line_number(key);
        let Some(id) = key.attribute("id") else { return line_error(line, "a key without `id`", "<key id=...>") };
        let default = key.children().find(|node| is_element_named(node, "default"));
        let key = AttributeKey {
            domain: key.attribute("for").unwrap_or("all").into(),
            name: key.attribute("attr.name").unwrap_or(id).to_ascii_lowercase(),
            default: default.map(|node| node.text().unwrap_or("").trim().into()),
        };
        self.keys.insert(id, key);
        Ok(())
    }

    /// Returns the attributes of a node or edge, defaults included, and records the names of those that are not
    /// `wanted`.
    fn read_attributes(&mut self, element: &Node, domain: &str, wanted: &[&str]) -> Result<Attributes, FileFault> {
        let of = |key: &&AttributeKey| key.domain == domain || key.domain == "all";
        let defaults = self.keys.values().filter(of).filter_map(|key| Some((key.name.clone(), key.default.clone()?)));
        let mut found: Attributes = defaults.collect();
        for data in element.children().filter(|node| is_element_named(node, "data")) {
            let line = self.line_number(&data);
            let id = data.attribute("key").unwrap_or("");
            let Some(key) = self.keys.get(id).filter(of) else {
                return line_error(line, format!("data of key `{id}`"), format!("a <key> with this id for `{domain}`"));
            };
            found.insert(key.name.clone(), data.text().unwrap_or("").trim().into());
        }
        self.unused.extend(found.keys().filter(|name| !wanted.contains(&name.as_str())).cloned());
        Ok(found)
    }

    fn read_node(&mut self, element: &Node, found: &mut GraphFile) -> Result<(), FileFault> {
        let line = self.line_number(element);
        if element.children().any(|node| is_element_named(&node, "graph")) {
            return line_error(line, "a graph inside a node", "nodes without inner graphs");
        }
        if found.graph.nodes.len() as u64 == MAX_NODES {
            return line_error(line, "one more node", format!("at most {MAX_NODES} nodes"));
        }
        let Some(name) = element.attribute("id") else {
            return line_error(line, "a node without `id`", "<node id=...>");
        };
        let said = self.read_attributes(element, "node", &NODE_ATTRIBUTES)?;
        let tier = said.get("tier").cloned().unwrap_or_default();
        let kind = said.get("kind").or(said.get("type"));
        let host = match kind.map(|kind| kind.to_ascii_lowercase()).as_deref() {
            Some("host" | "server") => true,
            Some("switch" | "router") => false,
            None if tier == "host" => true,
            None if !tier.is_empty() => false,
            _ => {
                let found = kind.map_or("no kind".into(), |kind| format!("kind `{kind}`"));
                let rule = "`kind` or `type` of `host`, `server`, `switch` or `router`, or a `tier`";
                return line_error(line, format!("{found} of node `{name}`"), rule);
            }
        };
        found.graph.nodes.push(CustomNode { name: name.into(), host, tier });
        found.node_lines.push(line);
        Ok(())
    }

    fn read_edge(&mut self, element: &Node, found: &mut GraphFile) -> Result<(), FileFault> {
        let line = self.line_number(element);
        let end = |key| element.attribute(key).map(str::to_string);
        let (Some(a), Some(b)) = (end("source"), end("target")) else {
            return line_error(line, "an edge without `source` or `target`", "<edge source=... target=...>");
        };
        let said = self.read_attributes(element, "edge", &EDGE_ATTRIBUTES)?;
        let of = |(found, rule): FileFault| (format!("line {line}: {found} of edge `{a}` to `{b}`"), rule);
        let default =
            |what: &str| (format!("no {what}"), format!("`{what}`, or `link = {{ {what} = ... }}` for all edges"));
        let rate = match said.get("rate") {
            Some(text) => graph_file::parse_link_rate(text).map_err(of)?,
            None => self.rate.ok_or_else(|| of(default("rate")))?,
        };
        let delay = match said.get("delay") {
            Some(text) => graph_file::parse_link_delay(text).map_err(of)?,
            None => self.delay.ok_or_else(|| of(default("delay")))?,
        };
        let weight = match said.get("weight") {
            Some(text) => text
                .parse()
                .ok()
                .filter(|weight| (0.0..=1e9).contains(weight))
                .ok_or_else(|| of((format!("weight `{text}`"), "a number from 0 to 1000000000".into())))?,
            None => 1.0,
        };
        let link = CustomLink { a: a.clone(), b: b.clone(), rate, delay, back: (rate, delay), weight };
        let directed = element.attribute("directed").map_or(self.directed, |text| text == "true");
        if !directed || !self.join_opposite_arc(&link, line, found)? {
            if directed {
                self.open.entry((a, b)).or_default().push(found.graph.links.len());
            }
            found.graph.links.push(link);
            found.link_lines.push(line);
        }
        Ok(())
    }

    /// Returns true if an arc is the opposite of an earlier one: the two are the directions of one link.
    fn join_opposite_arc(&mut self, arc: &CustomLink, line: usize, found: &mut GraphFile) -> Result<bool, FileFault> {
        let Some(waiting) = self.open.get_mut(&(arc.b.clone(), arc.a.clone())) else { return Ok(false) };
        let Some(at) = (!waiting.is_empty()).then(|| waiting.remove(0)) else { return Ok(false) };
        let there = &mut found.graph.links[at];
        if there.weight == arc.weight {
            there.back = (arc.rate, arc.delay);
            return Ok(true);
        }
        let said = format!("a weight that differs from that in line {}", found.link_lines[at]);
        line_error(line, said, format!("the same weight from `{}` to `{}` and back", arc.a, arc.b))
    }
}
