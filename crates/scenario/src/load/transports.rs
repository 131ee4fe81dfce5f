//! Transports that some hosts have in place of `[transport]`: what overrides say that name hosts.

use super::Reading;
use super::build;
use super::checks;
use super::fields::{Faults, Wanted, entries, read, table};
use super::merge::merge;
use super::resets;
use super::resolved;
use super::tree::{Data, Node};
use crate::diag::message;
use crate::model::{Choice, HostTransports};
use crate::settings;
use crate::topology::Topology;
use std::collections::{BTreeMap, BTreeSet};

/// The transport that only its like understands.
const ROCE: &str = "roce";

/// Different transports that hosts may have beside that of all.
const MOST: usize = 32;
/// What two hosts cannot differ in: there is no negotiation of it.
const OF_ALL: [&str; 3] = ["mss", "ttl", "connection"];

/// The transports of the hosts that overrides name; `document` is the variant, `base` what `[transport]` comes to.
pub(super) fn of_hosts(
    document: &Node,
    base: Option<&Choice>,
    net: Option<&Topology>,
    reading: Reading,
    faults: &mut Faults,
) -> HostTransports {
    let overrides: Vec<(Vec<String>, &Node)> = entries(document, "override", faults)
        .into_iter()
        .filter(|over| checks::names_hosts(over))
        .filter_map(|over| parse(over, net, faults))
        .collect();
    let (Some(base), Some(net)) = (base, net) else { return HostTransports::default() };
    reading.notes.borrow_mut().extend(replaced(document, &overrides, net));
    let mut which: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (i, (names, _)) in overrides.iter().enumerate() {
        for host in names.iter().filter_map(|name| net.host(name)) {
            let list = which.entry(host.0).or_default();
            if list.last() != Some(&i) {
                list.push(i);
            }
        }
    }
    let mut made = HostTransports::default();
    let mut known: BTreeMap<Vec<usize>, u8> = BTreeMap::new();
    for (host, list) in which {
        let number = match known.get(&list) {
            Some(number) => *number,
            None => {
                let tables: Vec<&Node> = list.iter().map(|i| overrides[*i].1).collect();
                let before = faults.count;
                let number = add(&tables, (document, base), reading, &mut made, faults);
                if number == 0 && faults.count == before {
                    let name = &net.nodes[host as usize].name;
                    let same = "nothing comes of what is said: it has the same transport as [transport]";
                    reading.notes.borrow_mut().push(format!("override: {name}, and hosts like it: {same}"));
                }
                known.insert(list, number);
                number
            }
        };
        if number > 0 {
            made.of_host.resize(net.hosts as usize, 0);
            made.of_host[host as usize] = number;
        }
    }
    made
}

/// What is said of `[transport]` and hosts do not have, since an override names their kind: nobody has it, or it came with
/// a variant or a setting, which one expects at all hosts.
fn replaced(document: &Node, overrides: &[(Vec<String>, &Node)], net: &Topology) -> Option<String> {
    let whole = overrides.iter().filter(|(_, table)| table.get("kind").is_some());
    let (mut hosts, mut from_file) = (BTreeSet::new(), false);
    for (names, table) in whole {
        hosts.extend(names.iter().filter_map(|name| net.host(name)));
        from_file |= !is_of_variant(table);
    }
    let entries = document.get("transport").map_or(&[][..], Node::entries);
    let all = hosts.len() as u64 == u64::from(net.hosts);
    let told = entries.iter().filter(|(key, _)| !OF_ALL.contains(&key.as_str()));
    let told = told.filter(|(_, node)| all || (from_file && is_of_variant(node)));
    let told: Vec<String> = told.map(|(key, _)| format!("transport.{key}")).collect();
    if told.is_empty() || hosts.is_empty() {
        return None;
    }
    let told = told.join(", ");
    if all {
        return Some(format!("{told}: nothing comes of it: [[override]] gives every host a kind of its own"));
    }
    let names: Vec<&str> = hosts.iter().take(3).map(|host| net.nodes[host.0 as usize].name.as_str()).collect();
    let more =
        if hosts.len() > names.len() { format!(" and {} more", hosts.len() - names.len()) } else { String::new() };
    Some(format!("{told}: not at {}{more}: [[override]] gives them a kind of their own", names.join(", ")))
}

/// Whether a value was written in a variant, or on the command line.
fn is_of_variant(node: &Node) -> bool {
    node.at.set.is_some() || node.at.path.starts_with("variants.")
}

/// The hosts that an override names, and its table.
fn parse<'a>(over: &'a Node, net: Option<&Topology>, faults: &mut Faults) -> Option<(Vec<String>, &'a Node)> {
    read(over, Wanted { others: &["where", "switch", "transport"], ..Wanted::of(&[]) }, faults);
    let place = table(over, "where", faults)?;
    let values = read(&place, Wanted::of(settings::WHERE.params), faults)?;
    if !values.has("hosts") {
        faults.add(&place.lacks("hosts"), message("nothing", "the hosts that have this transport"));
        return None;
    }
    let others = ["tier", "node", "port"].into_iter().filter_map(|key| place.get(key));
    for other in others.chain(over.get("switch")) {
        faults.add(&other.at, message(other.shown(), "nothing of switches where hosts are named"));
    }
    let names = values.words("hosts").to_vec();
    if names.is_empty() {
        faults.add(&place.find("hosts"), message("no hosts", "at least one host"));
    }
    net.into_iter()
        .for_each(|net| names.iter().for_each(|name| checks::known_host(&place.find("hosts"), name, net, faults)));
    match over.get("transport") {
        Some(table) if matches!(table.data, Data::Table(_)) => Some((names, table)),
        Some(other) => {
            faults.add(&other.at, message(other.shown(), "a table"));
            None
        }
        None => {
            faults.add(&over.lacks("transport"), message("nothing", "transport = { … }"));
            None
        }
    }
}

/// The number of the transport of tables laid upon `[transport]`: 0 is that itself, or none that is right.
fn add(
    tables: &[&Node],
    (document, base): (&Node, &Choice),
    reading: Reading,
    made: &mut HostTransports,
    faults: &mut Faults,
) -> u8 {
    let before = document.get("transport").cloned().unwrap_or_else(|| Node::table(document.lacks("transport")));
    let mut merged = before.clone();
    tables.iter().for_each(|table| merge(&mut merged, table));
    let within = |table: &Node| {
        let mut whole = Node::table(document.at.clone());
        whole.put("transport", table.clone());
        whole
    };
    let lost = resets::notes(&within(&before), &within(&merged), "", &reading.source.registry);
    let Some(own) = build::transport_of(&merged, reading, faults) else { return 0 };
    reading.notes.borrow_mut().extend(lost.iter().map(|note| format!("override: {note}")));
    if (own.kind == ROCE) != (base.kind == ROCE) {
        let rule = format!("{:?}, as in [transport]: RoCE and TCP do not talk to each other", base.kind);
        faults.add(&merged.find("kind"), message(format!("{:?}", own.kind), rule));
        return 0;
    }
    for key in OF_ALL {
        let [of_all, own] = [base, &own].map(|one| one.values.0.get(key).map_or_else(String::new, resolved::text));
        if of_all != own {
            let rule = format!("{of_all}, as in [transport]: all hosts have the same");
            faults.add(&merged.find(key), message(own, rule));
        }
    }
    if own == *base {
        return 0;
    }
    let known = made.kinds.iter().position(|one| *one == own);
    let at = known.unwrap_or(made.kinds.len());
    if at == MOST {
        faults.add(&merged.at, message(format!("{} transports of hosts", at + 1), format!("at most {MOST}")));
        return 0;
    }
    if known.is_none() {
        made.kinds.push(own);
    }
    at as u8 + 1
}
