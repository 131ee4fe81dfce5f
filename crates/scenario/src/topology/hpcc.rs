//! Topology files of the HPCC ns-3 simulator and of its derivatives.

mod configuration;
mod keys;

pub(crate) use configuration::{Configuration, Setting, Thresholds};

use super::graph_file::{self, FILE, FileFault, GraphFile, MAX_NODES, MAX_REPORTED_FAULTS, line_error};
use super::{CorruptedLink, CustomLink, CustomNode, Topology, TopologyInputs};
use crate::fault::Fault;
use mech::params::{Param, ParamKind, Spec, Values};
use std::collections::{BTreeMap, BTreeSet};
use units::Rate;

pub(super) const SPEC: Spec = Spec {
    slot: "topology",
    kind: "hpcc",
    doc: "Topology file of the HPCC ns-3 simulator. A line with the numbers of nodes, switches and links and a line \
          with the ids of the switches come first. Then there is one line `source destination rate delay error_rate` \
          per link. Text after the last link is ignored. A rate without a unit is in bit/s. An error rate is the \
          probability that a frame is corrupted, in both directions, as with an event of kind `corruption` at the \
          start. Two other headers are recognized by their lengths: those of ns3-datacenter (nodes, switches, ToRs, \
          links) and SimAI (nodes, GPUs per server, NVSwitches, switches, links, GPU). Hosts have one link. Names of nodes are \
          their ids, `0`…. Tiers are `host`, and `edge`, `agg`, `core`, `level4`… by the hops to the nearest host.",
    cite: "Li et al., HPCC, SIGCOMM 2019: simulation/mix of its repository",
    params: &[FILE, CONFIG_FILE],
};

const CONFIG_FILE: Param = Param {
    name: "config",
    doc: "Configuration file of the HPCC simulator. It sets ECN marking by port rate, the switch buffer, PFC, DCQCN \
          and link errors. Tables that the scenario sets take precedence.",
    kind: ParamKind::Text,
    default: Some(""),
};

/// Words of a file with their lines. ns-3 reads numbers across line ends, so line structure does not matter.
struct WordReader<'a> {
    words: Vec<(usize, &'a str)>,
    position: usize,
    last_line: usize,
}

impl<'a> WordReader<'a> {
    fn new(text: &'a str) -> WordReader<'a> {
        let lines = text.trim_start_matches('\u{feff}').lines().enumerate();
        let words: Vec<_> =
            lines.flat_map(|(i, line)| line.split_whitespace().map(move |word| (i + 1, word))).collect();
        WordReader { last_line: text.lines().count().max(1), words, position: 0 }
    }
    fn next_word(&mut self, what: &str) -> Result<(usize, &'a str), FileFault> {
        let found = self.words.get(self.position).copied();
        self.position += 1;
        found.map_or_else(|| line_error(self.last_line, "the end of the file", what), Ok)
    }
    /// Skips the rest of the line of the last word.
    fn skip_line(&mut self) {
        let line = self.last_line();
        while self.words.get(self.position).is_some_and(|word| word.0 == line) {
            self.position += 1;
        }
    }
    /// Returns the line of the last word.
    fn last_line(&self) -> usize {
        self.words.get(self.position.wrapping_sub(1)).map_or(0, |word| word.0)
    }
    fn read_number(&mut self, what: &str, below: u64) -> Result<u64, FileFault> {
        let (line, word) = self.next_word(what)?;
        let number = word.parse::<u64>().ok().filter(|n| *n < below);
        let rule = || format!("{what}, a whole number below {below}");
        number.map_or_else(|| line_error(line, format!("`{word}`"), rule()), Ok)
    }
}

/// Builds the network of a topology file of the HPCC simulator.
pub(super) fn build(values: &Values, given: &TopologyInputs) -> Result<Topology, Vec<Fault>> {
    let path = values.word("file");
    let found = graph_file::read_text(path, given).and_then(|text| {
        read(&text).map_err(|all| all.into_iter().map(|each| graph_file::file_fault(path, each)).collect::<Vec<_>>())
    });
    let (TopologyFile { graph: mut found, error_rates: mut errors, first_excess_line: rest }, config) =
        match (found, read_configuration(values, given)) {
            (Ok(found), Ok(config)) => (found, config),
            (found, config) => {
                return Err([found.err(), config.err()].into_iter().flatten().flatten().collect());
            }
        };
    name_tiers(&mut found);
    if let Some(line) = rest {
        let links = found.graph.links.len();
        given.add_note(format!(
            "topology: `{path}` has more links than the {links} of its header. Overspill ignores the links from line \
             {line} on. Correct the header if these links belong to the network"
        ));
    }
    let net = found.build(path)?;
    // As in the HPCC simulator, a link whose error rate is 0 has the error rate of the configuration file.
    let of_all = config.as_ref().map_or(0.0, |config| config.number_or("ERROR_RATE_PER_LINK", 0.0));
    errors.iter_mut().filter(|error| **error == 0.0).for_each(|error| *error = of_all);
    let all = given.corrupted.into_iter();
    all.for_each(|all| all.borrow_mut().extend(find_corrupted_links(&found.graph.links, &errors)));
    given.configuration.into_iter().for_each(|place| place.replace(config.clone()).map_or((), drop));
    Ok(net)
}

/// Reads the configuration file, if the scenario names one.
fn read_configuration(values: &Values, given: &TopologyInputs) -> Result<Option<Configuration>, Vec<Fault>> {
    if !values.has("config") {
        return Ok(None);
    }
    let path = values.word("config");
    let in_config = |fault: Fault| Fault { field: "config".into(), ..fault };
    let text = graph_file::read_text(path, given).map_err(|all| all.into_iter().map(in_config).collect::<Vec<_>>())?;
    let wrong =
        |all: Vec<FileFault>| all.into_iter().map(|each| in_config(graph_file::file_fault(path, each))).collect();
    configuration::parse_configuration(path, &text).map(Some).map_err(wrong)
}

/// Returns the links that corrupt frames, named by their ends; parallel links also by number.
fn find_corrupted_links(links: &[CustomLink], errors: &[f64]) -> Vec<CorruptedLink> {
    let pair = |link: &CustomLink| match link.a < link.b {
        true => (link.a.clone(), link.b.clone()),
        false => (link.b.clone(), link.a.clone()),
    };
    let mut several: BTreeMap<_, usize> = BTreeMap::new();
    links.iter().for_each(|link| *several.entry(pair(link)).or_default() += 1);
    let (mut before, mut found): (BTreeMap<_, usize>, _) = (BTreeMap::new(), Vec::new());
    for (link, probability) in links.iter().zip(errors.iter().copied()) {
        let number = before.entry(pair(link)).or_default();
        if probability > 0.0 {
            let ends = format!("{}:{}", link.a, link.b);
            let link = if several[&pair(link)] > 1 { format!("{ends}:{number}") } else { ends };
            found.push(CorruptedLink { link, probability });
        }
        *number += 1;
    }
    found
}

/// Parsed contents of a topology file.
struct TopologyFile {
    graph: GraphFile,
    /// Error rate of each link.
    error_rates: Vec<f64>,
    /// Line of the first link beyond those that the header counts, if there is one.
    first_excess_line: Option<usize>,
}

/// Numbers of nodes, switches and links in the first line of a topology file.
struct FileHeader {
    nodes: u64,
    switches: u64,
    links: u64,
}

const SIMAI_FORMAT: &str = "a SimAI topology (nodes, GPUs per server, NVSwitches, switches, links, GPU)";

impl FileHeader {
    /// Reads the header; its number of words distinguishes the formats of HPCC, ns3-datacenter and SimAI.
    fn read(words: &mut WordReader) -> Result<FileHeader, FileFault> {
        let line = words.words.first().map_or(0, |(line, _)| *line);
        let first: Vec<&str> =
            words.words.iter().take_while(|word| word.0 == line).map(|word| word.1).take(8).collect();
        let nodes = words.read_number("the number of nodes", MAX_NODES + 1)?;
        let is_simai =
            matches!(first[..], [_, _, _, _, _, gpu] | [_, _, _, _, _, gpu, _] if gpu.parse::<u64>().is_err());
        if is_simai {
            words.read_number("the number of GPUs per server", u64::MAX)?;
            let nv = words.read_number("the number of NVSwitches", nodes + 1)?;
            let switches = nv + words.read_number("the number of switches", nodes + 1 - nv)?;
            let links = words.read_number("the number of links", 1 << 32)?;
            words.position = first.len();
            check_one_link_per_host(words, nodes)?;
            return Ok(FileHeader { nodes, switches, links });
        }
        let switches = words.read_number("the number of switches", nodes + 1)?;
        if first.len() == 4 {
            words.read_number("the number of ToRs", switches + 1)?;
        }
        let links = words.read_number("the number of links", 1 << 32)?;
        Ok(FileHeader { nodes, switches, links })
    }
}

/// Refuses a SimAI topology whose hosts have several links. Its switches are listed on the second line.
fn check_one_link_per_host(words: &WordReader, nodes: u64) -> Result<(), FileFault> {
    let rest = &words.words[words.position..];
    let Some((second, _)) = rest.first() else { return Ok(()) };
    let ids = rest.iter().take_while(|word| word.0 == *second);
    let switches: BTreeSet<u64> = ids.clone().filter_map(|word| word.1.parse().ok()).collect();
    let mut linked = BTreeSet::new();
    for link in rest[ids.count()..].chunks_exact(5) {
        let ends = [link[0], link[1]].map(|(line, word)| (line, word.parse::<u64>().unwrap_or(nodes)));
        for (line, end) in ends.into_iter().filter(|end| end.1 < nodes && !switches.contains(&end.1)) {
            if !linked.insert(end) {
                let found = format!("{SIMAI_FORMAT}, whose host {end} has a second link");
                return line_error(line, found, "one link per host: hosts with two links are not supported");
            }
        }
    }
    Ok(())
}

fn read(text: &str) -> Result<TopologyFile, Vec<FileFault>> {
    let mut words = WordReader::new(text);
    let one = |wrong| vec![wrong];
    let FileHeader { nodes, switches, links } = FileHeader::read(&mut words).map_err(one)?;
    // This check comes before any allocation, so that memory is bounded by the file's length.
    if links + 1 < nodes {
        let rule = format!("at least {} links, so that all nodes are connected", nodes - 1);
        return line_error(words.words[words.position - 1].0, format!("{links} links of {nodes} nodes"), rule)
            .map_err(one);
    }
    let mut ids = BTreeSet::new();
    for _ in 0..switches {
        let id = words.read_number("the id of a switch", nodes).map_err(one)?;
        if !ids.insert(id) {
            let line = words.words[words.position - 1].0;
            return line_error(line, format!("switch {id} twice"), "each switch once").map_err(one);
        }
    }
    let (mut found, mut errors, mut faults) = (GraphFile::default(), Vec::new(), Vec::new());
    for _ in 0..links {
        match read_link(&mut words, nodes) {
            Ok((line, link, error)) => {
                found.graph.links.push(link);
                found.link_lines.push(line);
                errors.push(error);
            }
            Err(wrong) => faults.push(wrong),
        }
        if faults.len() == MAX_REPORTED_FAULTS || words.position > words.words.len() {
            break;
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let rest = words.words.get(words.position).map(|word| word.0).filter(|_| read_link(&mut words, nodes).is_ok());
    let node = |id: u64| CustomNode { name: id.to_string(), host: !ids.contains(&id), tier: String::new() };
    found.graph.nodes = (0..nodes).map(node).collect();
    Ok(TopologyFile { graph: found, error_rates: errors, first_excess_line: rest })
}

/// Reads a link with its line and its error rate.
fn read_link(words: &mut WordReader, nodes: u64) -> Result<(usize, CustomLink, f64), FileFault> {
    let (line, _) = words.words.get(words.position).copied().unwrap_or((words.last_line, ""));
    let take = words.position;
    let a = words.read_number("the id of a node", nodes);
    let b = words.read_number("the id of a node", nodes);
    let rate = words.next_word("a rate, such as `100Gbps`");
    let delay = words.next_word("a delay, such as `1us`");
    let error = words.next_word("an error rate");
    // The next link begins five words later, whatever is wrong with this one.
    debug_assert_eq!(words.position, take + 5);
    let (a, b, (rate_line, rate), (delay_line, delay), (error_line, error)) = (a?, b?, rate?, delay?, error?);
    let placed = |line: usize| move |(found, rule): FileFault| (format!("line {line}: {found}"), rule);
    let rate = plain_rate(rate).map_or_else(|| graph_file::parse_link_rate(rate), Ok).map_err(placed(rate_line))?;
    let delay = graph_file::parse_link_delay(delay).map_err(placed(delay_line))?;
    let Some(probability) = error.parse::<f64>().ok().filter(|error| (0.0..=1.0).contains(error)) else {
        return line_error(
            error_line,
            format!("error rate `{error}`"),
            "the probability that a frame is corrupted, 0 to 1",
        );
    };
    let link = CustomLink { a: a.to_string(), b: b.to_string(), rate, delay, back: (rate, delay), weight: 1.0 };
    Ok((line, link, probability))
}

/// Parses a rate in bit/s without a unit: a whole number, possibly written as a decimal.
fn plain_rate(text: &str) -> Option<Rate> {
    let rate = text.parse::<f64>().ok().filter(|rate| rate.fract() == 0.0 && (1.0..=1e15).contains(rate))?;
    Some(Rate::bps(rate as u64))
}

/// Sets the tiers of switches by their hop count to the nearest host.
fn name_tiers(found: &mut GraphFile) {
    let graph = &mut found.graph;
    let mut near: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for link in &graph.links {
        near.entry(&link.a).or_default().push(&link.b);
        near.entry(&link.b).or_default().push(&link.a);
    }
    let mut hops: BTreeMap<&str, usize> = BTreeMap::new();
    let mut edge: Vec<&str> = graph.nodes.iter().filter(|node| node.host).map(|node| node.name.as_str()).collect();
    let mut away = 0;
    while !edge.is_empty() {
        let fresh: Vec<&str> = edge.into_iter().filter(|name| hops.insert(name, away).is_none()).collect();
        let next = fresh.iter().flat_map(|name| near.get(name).into_iter().flatten().copied());
        edge = next.filter(|name| !hops.contains_key(name)).collect();
        away += 1;
    }
    let tier = |name: &str| match hops.get(name) {
        Some(1) => "edge".to_string(),
        Some(2) => "agg".into(),
        Some(3) => "core".into(),
        Some(n) if *n > 3 => format!("level{n}"),
        _ => String::new(),
    };
    let tiers: Vec<String> = graph.nodes.iter().map(|node| tier(&node.name)).collect();
    graph.nodes.iter_mut().zip(tiers).for_each(|(node, tier)| node.tier = tier);
}
