//! Transports that replace `[transport]`: for hosts that overrides name, and for flows of workloads that have their
//! own.

use super::Reading;
use super::checks;
use super::fields::{Faults, Wanted, entries, read, table};
use super::merge::merge;
use super::networks;
use super::resets;
use super::resolved;
use super::tree::{Data, Node};
use crate::diag::message;
use crate::model::{Choice, OwnTransports};
use crate::settings::{self, ROCE};
use crate::topology::Topology;
use crate::traffic;
use dataplane::Framing;
use dataplane::transport::Row;
use std::collections::{BTreeMap, BTreeSet};

/// Largest number of transports in addition to `[transport]`, and of assignments of transports to hosts.
const MOST: usize = 32;
/// Parameters that are equal at all hosts, since connections do not negotiate them.
const OF_ALL: [&str; 3] = ["mss", "ttl", "connection"];

/// Settings that own transports are merged into; each is absent if it has faults.
#[derive(Clone, Copy)]
pub(super) struct Base<'a> {
    /// Transport of `[transport]`.
    pub transport: Option<&'a Choice>,
    pub net: Option<&'a Topology>,
    pub framing: Option<Framing>,
}

/// Reads the transports of hosts that overrides name, and of workloads. `document` is the variant.
pub(super) fn all(document: &Node, base: Base, reading: Reading, faults: &mut Faults) -> OwnTransports {
    let Base { transport, net, framing } = base;
    let overrides: Vec<(Vec<String>, &Node)> = entries(document, "override", faults)
        .into_iter()
        .filter(|over| checks::names_hosts(over))
        .filter_map(|over| parse(over, net, faults))
        .collect();
    let workloads = of_workloads(document, faults);
    let (Some(base), Some(net)) = (transport, net) else { return OwnTransports::default() };
    reading.notes.borrow_mut().extend(replaced(document, &overrides, net));
    let groups = Groups::new(&overrides, net);
    let mut making = Making { document, base, framing, reading, groups, made: OwnTransports::default() };
    making.of_hosts(&overrides, net, faults);
    for (i, name, own) in workloads {
        making.of_workload((i, name, own), &overrides, faults);
    }
    making.made
}

/// Returns the workloads that have a transport of their own: index, name and table.
fn of_workloads<'a>(document: &'a Node, faults: &mut Faults) -> Vec<(usize, &'a str, &'a Node)> {
    let mut found = Vec::new();
    for (i, item) in document.get("traffic").map_or(&[][..], Node::items).iter().enumerate() {
        let Some(own) = item.get("transport") else { continue };
        let kind = item.get("kind").and_then(Node::text).unwrap_or_default();
        if !matches!(own.data, Data::Table(_)) {
            faults.add(&own.at, message(own.shown(), "a table, such as { kind = \"roce\" }"));
        } else if traffic::is_raw(kind) {
            let rule = format!("no transport: packets of `{kind}` are sent without one");
            faults.add(&own.at, message("a transport", rule));
        } else {
            found.push((i, item.get("name").and_then(Node::text).unwrap_or_default(), own));
        }
    }
    found
}

/// Groups of hosts that the same overrides name.
struct Groups {
    /// Indices of the overrides of each group; the first group has the hosts that no override names.
    lists: Vec<Vec<usize>>,
    /// First host of each group.
    first: Vec<usize>,
    /// Group of each host.
    of_host: Vec<usize>,
}

impl Groups {
    fn new(overrides: &[(Vec<String>, &Node)], net: &Topology) -> Groups {
        let mut which: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (i, (names, _)) in overrides.iter().enumerate() {
            for host in names.iter().filter_map(|name| net.host(name)) {
                let list = which.entry(host.0).or_default();
                if list.last() != Some(&i) {
                    list.push(i);
                }
            }
        }
        let mut groups = Groups { lists: vec![Vec::new()], first: vec![0], of_host: vec![0; net.hosts as usize] };
        let mut known: BTreeMap<Vec<usize>, usize> = BTreeMap::new();
        for (host, list) in which {
            let group = *known.entry(list).or_insert_with_key(|list| {
                groups.lists.push(list.clone());
                groups.first.push(host as usize);
                groups.lists.len() - 1
            });
            groups.of_host[host as usize] = group;
        }
        groups
    }

    /// Expands numbers of transports by group to numbers by host.
    fn row(&self, numbers: &[u8]) -> Row {
        let of_host: Vec<u8> = self.of_host.iter().map(|group| numbers[*group]).collect();
        let of_all = numbers[0];
        let is_one = of_host.iter().all(|number| *number == of_all);
        Row { of_all, of_host: if is_one { Vec::new() } else { of_host } }
    }
}

/// State while transports are read.
struct Making<'a> {
    document: &'a Node,
    base: &'a Choice,
    framing: Option<Framing>,
    reading: Reading<'a>,
    groups: Groups,
    made: OwnTransports,
}

impl Making<'_> {
    /// Assigns transports to hosts for all workloads that have none of their own.
    fn of_hosts(&mut self, overrides: &[(Vec<String>, &Node)], net: &Topology, faults: &mut Faults) {
        let mut numbers = vec![0];
        for group in 1..self.groups.lists.len() {
            let tables: Vec<&Node> = self.groups.lists[group].iter().map(|i| overrides[*i].1).collect();
            let before = faults.count;
            let own = self.laid(&tables, "override", faults);
            let number = own.filter(|(own, merged)| self.is_for_all(own, merged, faults));
            let number = number.map_or(0, |(own, merged)| self.number(own, &merged, faults));
            if number == 0 && faults.count == before {
                let name = &net.nodes[self.groups.first[group]].name;
                let same = "`transport` has no effect: it equals [transport]";
                self.note(format!("override: {name} and hosts like it: {same}"));
            }
            numbers.push(number);
        }
        self.made.of_host = self.groups.row(&numbers).of_host;
    }

    /// Assigns transports to hosts for one workload: its table is merged into the transport of each host.
    fn of_workload(
        &mut self,
        (i, name, own): (usize, &str, &Node),
        overrides: &[(Vec<String>, &Node)],
        faults: &mut Faults,
    ) {
        let (mut numbers, before) = (Vec::new(), faults.count);
        for group in 0..self.groups.lists.len() {
            let tables = self.groups.lists[group].iter().map(|i| overrides[*i].1).chain([own]);
            let laid = self.laid(&tables.collect::<Vec<_>>(), &format!("traffic `{name}`"), faults);
            let Some((own, merged)) = laid else { return };
            numbers.push(self.number(own, &merged, faults));
        }
        if faults.count > before {
            return;
        }
        let row = self.groups.row(&numbers);
        if row.of_all == 0 && row.of_host == self.made.of_host {
            let same = "`transport` has no effect: its hosts have the same transport anyway";
            self.note(format!("traffic `{name}`: {same}"));
            return;
        }
        let OwnTransports { rows, of_traffic, .. } = &mut self.made;
        let place = rows.iter().position(|known| *known == row).unwrap_or(rows.len());
        if place == MOST {
            let found = format!("{} workloads with different transports", MOST + 1);
            faults.add(&own.at, message(found, format!("at most {MOST}")));
            return;
        }
        if place == rows.len() {
            rows.push(row);
        }
        of_traffic.resize(of_traffic.len().max(i + 1), 0);
        of_traffic[i] = place as u8 + 1;
    }

    fn note(&self, note: String) {
        self.reading.notes.borrow_mut().push(note);
    }

    /// Merges tables into `[transport]`. Returns the transport and its merged table. Notes about reset parameters begin
    /// with `whose`.
    fn laid(&self, tables: &[&Node], whose: &str, faults: &mut Faults) -> Option<(Choice, Node)> {
        let of_all = self.document.get("transport").cloned();
        let before = of_all.unwrap_or_else(|| Node::table(self.document.lacks("transport")));
        let mut merged = before.clone();
        tables.iter().for_each(|table| merge(&mut merged, table));
        let within = |table: &Node| {
            let mut whole = Node::table(self.document.at.clone());
            whole.put("transport", table.clone());
            whole
        };
        let lost = resets::notes(&within(&before), &within(&merged), "", &self.reading.source.registry);
        let own = networks::transport_of(&merged, self.framing, self.reading, faults)?;
        // TCP and RoCE have different parameters, so that resets between them are no surprise.
        if (own.kind == ROCE) == (self.base.kind == ROCE) {
            lost.iter().for_each(|note| self.note(format!("{whose}: {note}")));
        }
        Some((own, merged))
    }

    /// Checks that one host may have this transport while the others have that of all.
    fn is_for_all(&self, own: &Choice, merged: &Node, faults: &mut Faults) -> bool {
        let base = self.base;
        if (own.kind == ROCE) != (base.kind == ROCE) {
            let rule = format!("{:?}, as in [transport]: RoCE and TCP cannot interoperate", base.kind);
            faults.add(&merged.find("kind"), message(format!("{:?}", own.kind), rule));
            return false;
        }
        for key in OF_ALL {
            let [of_all, own] = [base, own].map(|one| one.values.0.get(key).map_or_else(String::new, resolved::text));
            if of_all != own {
                let rule = format!("{of_all}, as in [transport]: all hosts must have the same value");
                faults.add(&merged.find(key), message(own, rule));
            }
        }
        true
    }

    /// Returns the number of a transport: 0 for `[transport]` itself, or if there are too many.
    fn number(&mut self, own: Choice, merged: &Node, faults: &mut Faults) -> u8 {
        if own == *self.base {
            return 0;
        }
        let kinds = &mut self.made.kinds;
        let at = kinds.iter().position(|one| *one == own).unwrap_or(kinds.len());
        if at == MOST {
            let found = format!("{} transports in addition to [transport]", at + 1);
            faults.add(&merged.at, message(found, format!("at most {MOST}")));
            return 0;
        }
        if at == kinds.len() {
            kinds.push(own);
        }
        at as u8 + 1
    }
}

/// Returns a note about keys of `[transport]` that hosts do not use because an override names another kind.
///
/// The note names keys that no host uses, and keys from a variant or a setting, which users expect to apply to all
/// hosts.
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
        return Some(format!(
            "these keys have no effect, because [[override]] gives every host a kind of its own: {told}"
        ));
    }
    let names: Vec<&str> = hosts.iter().take(3).map(|host| net.nodes[host.0 as usize].name.as_str()).collect();
    let more =
        if hosts.len() > names.len() { format!(" and {} more", hosts.len() - names.len()) } else { String::new() };
    Some(format!(
        "these keys do not apply to {}{more}, because [[override]] gives them a kind of their own: {told}",
        names.join(", ")
    ))
}

/// Returns true if a value comes from a variant or the command line.
fn is_of_variant(node: &Node) -> bool {
    node.at.set.is_some() || node.at.path.starts_with("variants.")
}

/// Returns the hosts that an override names, and its table.
fn parse<'a>(over: &'a Node, net: Option<&Topology>, faults: &mut Faults) -> Option<(Vec<String>, &'a Node)> {
    read(over, Wanted { others: &["where", "switch", "transport"], ..Wanted::new(&[]) }, faults);
    let place = table(over, "where", faults)?;
    let values = read(&place, Wanted::new(settings::WHERE.params), faults)?;
    if !values.has("hosts") {
        faults.add(&place.lacks("hosts"), message("nothing", "the hosts that have this transport"));
        return None;
    }
    let others = ["tier", "node", "port"].into_iter().filter_map(|key| place.get(key));
    for other in others.chain(over.get("switch")) {
        faults.add(&other.at, message(other.shown(), "no settings of switches in an override of hosts"));
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
