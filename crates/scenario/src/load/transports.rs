//! Transports that replace `[transport]`: for hosts that overrides name, and for flows of workloads that have their
//! own.

use super::ReadContext;
use super::checks;
use super::fields::{AllowedKeys, Faults, find_table, list_tables, read_values};
use super::merge::merge_nodes;
use super::networks;
use super::resets;
use super::resolved_json;
use super::tree::{Data, Node};
use crate::diag::{format_fault, format_no_effect};
use crate::model::{Choice, OwnTransports};
use crate::settings::{self, ROCE_KIND};
use crate::topology::Topology;
use crate::traffic;
use dataplane::Framing;
use dataplane::transport::TransportRow;
use std::collections::{BTreeMap, BTreeSet};

/// Largest number of transports in addition to `[transport]`, and of assignments of transports to hosts.
const MAX_TRANSPORTS: usize = 32;
/// Parameters that are equal at all hosts, since connections do not negotiate them.
const COMMON_PARAMETERS: [&str; 3] = ["mss", "ttl", "connection"];

/// Transport, network and framing on which the transports of hosts and workloads are based; `None` if faulty.
#[derive(Clone, Copy)]
pub(super) struct BaseSettings<'a> {
    /// Transport of flows that have no other: `[transport]`.
    pub transport: Option<&'a Choice>,
    pub net: Option<&'a Topology>,
    pub framing: Option<Framing>,
}

/// Reads the transports of hosts that overrides name, and of workloads. `document` is the variant.
pub(super) fn read_own_transports(
    document: &Node,
    base: BaseSettings,
    reading: ReadContext,
    faults: &mut Faults,
) -> OwnTransports {
    let BaseSettings { transport, net, framing } = base;
    let overrides: Vec<(Vec<String>, &Node)> = list_tables(document, "override", faults)
        .into_iter()
        .filter(|over| checks::is_host_override(over))
        .filter_map(|over| parse_host_override(over, net, faults))
        .collect();
    let workloads = find_workload_transports(document, faults);
    let (Some(base), Some(net)) = (transport, net) else { return OwnTransports::default() };
    reading.notes.borrow_mut().extend(note_replaced_keys(document, &overrides, net));
    let groups = HostGroups::new(&overrides, net);
    let mut making =
        TransportReader { document, base, framing, reading, groups, own_transports: OwnTransports::default() };
    making.assign_to_hosts(&overrides, net, faults);
    for (i, name, own) in workloads {
        making.assign_to_workload((i, name, own), &overrides, faults);
    }
    making.own_transports
}

/// Returns the workloads that have a transport of their own: index, name and table.
fn find_workload_transports<'a>(document: &'a Node, faults: &mut Faults) -> Vec<(usize, &'a str, &'a Node)> {
    let mut found = Vec::new();
    for (i, item) in document.get("traffic").map_or(&[][..], Node::items).iter().enumerate() {
        let Some(own) = item.get("transport") else { continue };
        let kind = item.get("kind").and_then(Node::text).unwrap_or_default();
        if !matches!(own.data, Data::Table(_)) {
            faults.add_fault(&own.at, format_fault(own.format_value(), "a table, such as { kind = \"roce\" }"));
        } else if traffic::is_raw_kind(kind) {
            let rule = format!("no key `transport`, because `{kind}` sends packets without a transport");
            faults.add_fault(&own.at, format_fault("a transport", rule));
        } else {
            found.push((i, item.get("name").and_then(Node::text).unwrap_or_default(), own));
        }
    }
    found
}

/// Hosts in groups, by the overrides that name them.
struct HostGroups {
    /// Indices of the overrides that name the hosts of each group; no override names those of the first group.
    override_lists: Vec<Vec<usize>>,
    /// Number of the first host of each group.
    first_hosts: Vec<usize>,
    /// Group of each host.
    group_of_host: Vec<usize>,
}

impl HostGroups {
    fn new(overrides: &[(Vec<String>, &Node)], net: &Topology) -> HostGroups {
        let mut which: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (i, (names, _)) in overrides.iter().enumerate() {
            for host in names.iter().filter_map(|name| net.find_host(name)) {
                let list = which.entry(host.0).or_default();
                if list.last() != Some(&i) {
                    list.push(i);
                }
            }
        }
        let mut groups = HostGroups {
            override_lists: vec![Vec::new()],
            first_hosts: vec![0],
            group_of_host: vec![0; net.hosts as usize],
        };
        let mut known: BTreeMap<Vec<usize>, usize> = BTreeMap::new();
        for (host, list) in which {
            let group = *known.entry(list).or_insert_with_key(|list| {
                groups.override_lists.push(list.clone());
                groups.first_hosts.push(host as usize);
                groups.override_lists.len() - 1
            });
            groups.group_of_host[host as usize] = group;
        }
        groups
    }

    /// Assigns to each host the transport number of its group.
    fn expand_to_hosts(&self, numbers: &[u8]) -> TransportRow {
        let host_numbers: Vec<u8> = self.group_of_host.iter().map(|group| numbers[*group]).collect();
        let default_number = numbers[0];
        let is_one = host_numbers.iter().all(|number| *number == default_number);
        TransportRow { default_number, host_numbers: if is_one { Vec::new() } else { host_numbers } }
    }
}

/// Reader of the transports of hosts and workloads, with its inputs and results.
struct TransportReader<'a> {
    document: &'a Node,
    base: &'a Choice,
    framing: Option<Framing>,
    reading: ReadContext<'a>,
    groups: HostGroups,
    own_transports: OwnTransports,
}

impl TransportReader<'_> {
    /// Assigns transports to hosts for all workloads that have none of their own.
    fn assign_to_hosts(&mut self, overrides: &[(Vec<String>, &Node)], net: &Topology, faults: &mut Faults) {
        let mut numbers = vec![0];
        for group in 1..self.groups.override_lists.len() {
            let tables: Vec<&Node> = self.groups.override_lists[group].iter().map(|i| overrides[*i].1).collect();
            let before = faults.count;
            let own = self.merge_tables(&tables, "override", faults);
            let number = own.filter(|(own, merged)| self.check_common_parameters(own, merged, faults));
            let number = number.map_or(0, |(own, merged)| self.transport_number(own, &merged, faults));
            if number == 0 && faults.count == before {
                let name = &net.nodes[self.groups.first_hosts[group]].name;
                let same = "`transport` has no effect, because its values equal those of [transport]";
                self.add_note(format!("override for {name} and equal hosts: {same}"));
            }
            numbers.push(number);
        }
        self.own_transports.host_numbers = self.groups.expand_to_hosts(&numbers).host_numbers;
    }

    /// Assigns transports to hosts for one workload: its table is merged into the transport of each host.
    fn assign_to_workload(
        &mut self,
        (i, name, own): (usize, &str, &Node),
        overrides: &[(Vec<String>, &Node)],
        faults: &mut Faults,
    ) {
        let (mut numbers, before) = (Vec::new(), faults.count);
        for group in 0..self.groups.override_lists.len() {
            let tables = self.groups.override_lists[group].iter().map(|i| overrides[*i].1).chain([own]);
            let laid = self.merge_tables(&tables.collect::<Vec<_>>(), &format!("traffic `{name}`"), faults);
            let Some((own, merged)) = laid else { return };
            numbers.push(self.transport_number(own, &merged, faults));
        }
        if faults.count > before {
            return;
        }
        let row = self.groups.expand_to_hosts(&numbers);
        if row.default_number == 0 && row.host_numbers == self.own_transports.host_numbers {
            let same = "`transport` has no effect, because its hosts already have this transport";
            self.add_note(format!("traffic `{name}`: {same}"));
            return;
        }
        let OwnTransports { rows, of_traffic, .. } = &mut self.own_transports;
        let place = rows.iter().position(|known| *known == row).unwrap_or(rows.len());
        if place == MAX_TRANSPORTS {
            let found = format!("{} workloads with different transports", MAX_TRANSPORTS + 1);
            faults.add_fault(&own.at, format_fault(found, format!("at most {MAX_TRANSPORTS}")));
            return;
        }
        if place == rows.len() {
            rows.push(row);
        }
        of_traffic.resize(of_traffic.len().max(i + 1), 0);
        of_traffic[i] = place as u8 + 1;
    }

    fn add_note(&self, note: String) {
        self.reading.notes.borrow_mut().push(note);
    }

    /// Merges tables into `[transport]`. Returns the transport and its merged table. Notes about reset parameters begin
    /// with `whose`.
    fn merge_tables(&self, tables: &[&Node], whose: &str, faults: &mut Faults) -> Option<(Choice, Node)> {
        let of_all = self.document.get("transport").cloned();
        let before = of_all.unwrap_or_else(|| Node::table(self.document.missing_key_location("transport")));
        let mut merged = before.clone();
        tables.iter().for_each(|table| merge_nodes(&mut merged, table));
        let within = |table: &Node| {
            let mut whole = Node::table(self.document.at.clone());
            whole.put("transport", table.clone());
            whole
        };
        let lost = resets::note_resets(&within(&before), &within(&merged), "", &self.reading.source.registry);
        let own = networks::read_transport_table(&merged, self.framing, self.reading, faults)?;
        // TCP and RoCE have different parameters, so users expect to lose them in a change between the two.
        if (own.kind == ROCE_KIND) == (self.base.kind == ROCE_KIND) {
            lost.iter().for_each(|note| self.add_note(format!("{whose}: {note}")));
        }
        Some((own, merged))
    }

    /// Checks that some hosts may have this transport while all others have `[transport]`.
    fn check_common_parameters(&self, own: &Choice, merged: &Node, faults: &mut Faults) -> bool {
        let base = self.base;
        if (own.kind == ROCE_KIND) != (base.kind == ROCE_KIND) {
            let rule = format!("{:?}, as in [transport], because RoCE and TCP cannot interoperate", base.kind);
            faults.add_fault(&merged.locate("kind"), format_fault(format!("{:?}", own.kind), rule));
            return false;
        }
        for key in COMMON_PARAMETERS {
            let [of_all, own] =
                [base, own].map(|one| one.values.0.get(key).map_or_else(String::new, resolved_json::format_value));
            if of_all != own {
                let rule = format!("{of_all}, as in [transport], because all hosts must have the same value");
                faults.add_fault(&merged.locate(key), format_fault(own, rule));
            }
        }
        true
    }

    /// Returns the number of a transport, a new one if it is unknown; 0 for `[transport]`, or if there are too many.
    fn transport_number(&mut self, own: Choice, merged: &Node, faults: &mut Faults) -> u8 {
        if own == *self.base {
            return 0;
        }
        let kinds = &mut self.own_transports.kinds;
        let at = kinds.iter().position(|one| *one == own).unwrap_or(kinds.len());
        if at == MAX_TRANSPORTS {
            let found = format!("{} transports in addition to [transport]", at + 1);
            faults.add_fault(&merged.at, format_fault(found, format!("at most {MAX_TRANSPORTS}")));
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
fn note_replaced_keys(document: &Node, overrides: &[(Vec<String>, &Node)], net: &Topology) -> Option<String> {
    let whole = overrides.iter().filter(|(_, table)| table.get("kind").is_some());
    let (mut hosts, mut from_file) = (BTreeSet::new(), false);
    for (names, table) in whole {
        hosts.extend(names.iter().filter_map(|name| net.find_host(name)));
        from_file |= !is_from_variant(table);
    }
    let entries = document.get("transport").map_or(&[][..], Node::entries);
    let all = hosts.len() as u64 == u64::from(net.hosts);
    let told = entries.iter().filter(|(key, _)| !COMMON_PARAMETERS.contains(&key.as_str()));
    let told = told.filter(|(_, node)| all || (from_file && is_from_variant(node)));
    let told: Vec<String> = told.map(|(key, _)| format!("transport.{key}")).collect();
    if told.is_empty() || hosts.is_empty() {
        return None;
    }
    if all {
        return Some(format!("{}, because every host gets another `kind` by [[override]]", format_no_effect(&told)));
    }
    let names: Vec<&str> = hosts.iter().take(3).map(|host| net.nodes[host.0 as usize].name.as_str()).collect();
    let more =
        if hosts.len() > names.len() { format!(" and {} more", hosts.len() - names.len()) } else { String::new() };
    let verb = if told.len() == 1 { "does" } else { "do" };
    let (told, hosts) = (told.join(", "), names.join(", "));
    Some(format!("{told} {verb} not apply to {hosts}{more}, because [[override]] sets another `kind` for these hosts"))
}

/// Returns true if a value comes from a variant or the command line.
fn is_from_variant(node: &Node) -> bool {
    node.at.set.is_some() || node.at.path.starts_with("variants.")
}

/// Returns the names of the hosts that an override selects, and its table `transport`.
fn parse_host_override<'a>(
    over: &'a Node,
    net: Option<&Topology>,
    faults: &mut Faults,
) -> Option<(Vec<String>, &'a Node)> {
    read_values(over, AllowedKeys { other_keys: &["where", "switch", "transport"], ..AllowedKeys::new(&[]) }, faults);
    let place = find_table(over, "where", faults)?;
    let values = read_values(&place, AllowedKeys::new(settings::WHERE.params), faults)?;
    if !values.has("hosts") {
        faults.add_fault(
            &place.missing_key_location("hosts"),
            format_fault("nothing", "a list of the hosts that get this transport"),
        );
        return None;
    }
    let others = ["tier", "node", "port"].into_iter().filter_map(|key| place.get(key));
    for other in others.chain(over.get("switch")) {
        faults
            .add_fault(&other.at, format_fault(other.format_value(), "no keys for switches in an override for hosts"));
    }
    let names = values.texts("hosts").to_vec();
    if names.is_empty() {
        faults.add_fault(&place.locate("hosts"), format_fault("no hosts", "at least one host"));
    }
    net.into_iter().for_each(|net| {
        names.iter().for_each(|name| checks::check_host_exists(&place.locate("hosts"), name, net, faults))
    });
    match over.get("transport") {
        Some(table) if matches!(table.data, Data::Table(_)) => Some((names, table)),
        Some(other) => {
            faults.add_fault(&other.at, format_fault(other.format_value(), "a table"));
            None
        }
        None => {
            faults.add_fault(&over.missing_key_location("transport"), format_fault("nothing", "transport = { … }"));
            None
        }
    }
}
