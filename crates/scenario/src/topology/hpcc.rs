//! Topology files of the HPCC ns-3 simulator and of those made from it.

use super::brought::{self, Brought, FILE, MOST_NODES, TOLD, Wrong, on_line};
use super::{CustomLink, CustomNode, Given, Topology};
use crate::fault::Fault;
use mech::params::{Spec, Values};
use std::collections::{BTreeMap, BTreeSet};

pub(super) const SPEC: Spec = Spec {
    slot: "topology",
    kind: "hpcc",
    doc: "A topology file of the HPCC ns-3 simulator: a line of the numbers of nodes, switches and links, a line of \
          the switches' ids, and a line `source destination rate delay error_rate` a link. Nodes are called by their \
          ids, `0`…; tiers are `host`, and `edge`, `agg`, `core`, `level4`… by the hops to the nearest host. An error rate \
          other than 0 is refused: links do not lose.",
    cite: "Li et al., HPCC, SIGCOMM 2019: simulation/mix of its repository",
    params: &[FILE],
};

/// Words with their lines: ns-3 reads across the ends of lines.
struct Words<'a> {
    words: Vec<(usize, &'a str)>,
    at: usize,
    last: usize,
}

impl<'a> Words<'a> {
    fn new(text: &'a str) -> Words<'a> {
        let lines = text.trim_start_matches('\u{feff}').lines().enumerate();
        let words: Vec<_> =
            lines.flat_map(|(i, line)| line.split_whitespace().map(move |word| (i + 1, word))).collect();
        Words { last: text.lines().count().max(1), words, at: 0 }
    }
    fn next(&mut self, what: &str) -> Result<(usize, &'a str), Wrong> {
        let found = self.words.get(self.at).copied();
        self.at += 1;
        found.map_or_else(|| on_line(self.last, "the end of the file", what), Ok)
    }
    fn number(&mut self, what: &str, below: u64) -> Result<u64, Wrong> {
        let (line, word) = self.next(what)?;
        let number = word.parse::<u64>().ok().filter(|n| *n < below);
        let rule = || format!("{what}, a whole number below {below}");
        number.map_or_else(|| on_line(line, format!("`{word}`"), rule()), Ok)
    }
}

/// The network of a file.
pub(super) fn build(values: &Values, given: &Given) -> Result<Topology, Vec<Fault>> {
    let path = values.word("file");
    let text = brought::text(path, given)?;
    let wrong = |all: Vec<Wrong>| all.into_iter().map(|each| brought::fault(path, each)).collect::<Vec<_>>();
    let mut found = read(&text).map_err(wrong)?;
    name_tiers(&mut found);
    found.build(path)
}

fn read(text: &str) -> Result<Brought, Vec<Wrong>> {
    let mut words = Words::new(text);
    let one = |wrong| vec![wrong];
    let nodes = words.number("the number of nodes", MOST_NODES + 1).map_err(one)?;
    let switches = words.number("the number of switches", nodes + 1).map_err(one)?;
    let links = words.number("the number of links", 1 << 32).map_err(one)?;
    // Before anything is made: what a file asks for is bounded by its length.
    if links + 1 < nodes {
        let rule = format!("at least {}, since a network is connected", nodes - 1);
        return on_line(words.words[2].0, format!("{links} links of {nodes} nodes"), rule).map_err(one);
    }
    let mut ids = BTreeSet::new();
    for _ in 0..switches {
        let id = words.number("the id of a switch", nodes).map_err(one)?;
        if !ids.insert(id) {
            let line = words.words[words.at - 1].0;
            return on_line(line, format!("switch {id} again"), "every switch once").map_err(one);
        }
    }
    let mut found = Brought::default();
    let mut faults = Vec::new();
    for _ in 0..links {
        match link(&mut words, nodes) {
            Ok((line, link)) => {
                found.graph.links.push(link);
                found.link_lines.push(line);
            }
            Err(wrong) => faults.push(wrong),
        }
        if faults.len() == TOLD || words.at > words.words.len() {
            break;
        }
    }
    if let Some((line, word)) = words.words.get(words.at).filter(|_| faults.is_empty()) {
        return on_line(*line, format!("`{word}` after {links} links"), "as many links as line 1 says").map_err(one);
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let node = |id: u64| CustomNode { name: id.to_string(), host: !ids.contains(&id), tier: String::new() };
    found.graph.nodes = (0..nodes).map(node).collect();
    Ok(found)
}

fn link(words: &mut Words, nodes: u64) -> Result<(usize, CustomLink), Wrong> {
    let (line, _) = words.words.get(words.at).copied().unwrap_or((words.last, ""));
    let take = words.at;
    let a = words.number("the id of a node", nodes);
    let b = words.number("the id of a node", nodes);
    let rate = words.next("a rate, such as `100Gbps`");
    let delay = words.next("a delay, such as `1us`");
    let error = words.next("an error rate of 0");
    // Whatever is wrong with a link, the next one is five words on.
    debug_assert_eq!(words.at, take + 5);
    let (a, b, (rate_line, rate), (delay_line, delay), (error_line, error)) = (a?, b?, rate?, delay?, error?);
    let placed = |line: usize| move |(found, rule): Wrong| (format!("line {line}: {found}"), rule);
    let (rate, delay) =
        (brought::rate(rate).map_err(placed(rate_line))?, brought::delay(delay).map_err(placed(delay_line))?);
    if error.parse::<f64>().ok() != Some(0.0) {
        return on_line(error_line, format!("error rate `{error}`"), "0, since links do not lose here");
    }
    Ok((line, CustomLink { a: a.to_string(), b: b.to_string(), rate, delay, back: (rate, delay), weight: 1.0 }))
}

/// Calls the switches' tiers by the hops to the nearest host.
fn name_tiers(found: &mut Brought) {
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
