//! Memory with pools: the ports of a switch as its accounts see them, and warnings about lossless groups.

use crate::diag::format_count;
use crate::diag::format_ordinal;
use crate::model::Scenario;
use mech::buffer::{BufferPort, BufferSlot, MemoryLayout, UnusedEntry};
use mech::{ClassSet, PortId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use units::Bytes;

impl Scenario {
    /// Returns the links of a switch as its memory needs them, in the order of its ports.
    pub fn buffer_ports(&self, switch: usize) -> Vec<BufferPort> {
        let node = self.topology.hosts + switch as u32;
        let ports = &self.topology.nodes[node as usize].ports;
        let of_port =
            |port: u16| BufferPort { rate: ports[usize::from(port)].rate, link: self.worst_case_link(node, port) };
        (0..ports.len() as u16).map(of_port).collect()
    }

    /// Returns the pools and accounts of a switch; `None` if its buffer has no accounts.
    pub fn memory_layout(&self, switch: usize) -> Option<Arc<MemoryLayout>> {
        let slot = &self.switches[switch].buffer.slot;
        if !slot.peek().has_accounts() {
            return None;
        }
        BufferSlot::clone(slot).for_links(&self.buffer_ports(switch)).peek().layout()
    }
}

/// Returns the classes of each lossless group of a port.
pub fn lossless_classes(layout: &MemoryLayout, port: PortId) -> [ClassSet; 8] {
    let classes = layout.classes_of_groups();
    std::array::from_fn(|group| if layout.is_lossless(port, group as u8) { classes[group] } else { ClassSet::NONE })
}

/// Returns warnings about lossless groups that may lose packets, and about entries that have no effect. Switches with
/// the same text share a warning.
pub(crate) fn list_group_warnings(scenario: &Scenario) -> Vec<String> {
    let mut said: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let mut unused: Option<BTreeSet<UnusedEntry>> = None;
    for switch in 0..scenario.switches.len() {
        let Some(layout) = scenario.memory_layout(switch) else { continue };
        let entries: BTreeSet<UnusedEntry> = layout.unused_entries.iter().copied().collect();
        // Ports of another switch may have the rate of an entry.
        unused = Some(unused.map_or_else(|| entries.clone(), |all| all.intersection(&entries).copied().collect()));
        let name = scenario.topology.nodes[scenario.topology.hosts as usize + switch].name.as_str();
        let here = [
            warn_unpaused_groups(scenario, switch, &layout),
            warn_small_headroom(scenario, switch, &layout),
            warn_shared_headroom(scenario, switch, &layout),
            warn_empty_pool(&layout),
            warn_limited_queues(scenario, switch, &layout),
        ];
        here.into_iter().flatten().for_each(|text| said.entry(text).or_default().push(name));
    }
    let one = |(text, names): (String, Vec<&str>)| match names.as_slice() {
        [first, rest @ ..] if !rest.is_empty() => {
            let others = format_count(rest.len() as u64, "switch", "switches");
            format!("memory of {first} and {others} like it: {text}")
        }
        names => format!("memory of {}: {text}", names.concat()),
    };
    said.into_iter().map(one).chain(unused.into_iter().flatten().map(warn_unused_entry)).collect()
}

/// Returns the lossless groups of a port that hold classes in use.
fn groups_in_use(scenario: &Scenario, layout: &MemoryLayout, port: PortId) -> Vec<(u8, ClassSet)> {
    let in_use = scenario.classes();
    let classes = lossless_classes(layout, port);
    (0..8).zip(classes).filter(|(_, own)| own.0 & in_use.0 != 0).collect()
}

/// Describes the end of a loss: an error, or a count with `lossless = false`.
fn describe_loss(scenario: &Scenario, switch: usize) -> &'static str {
    let mut pausing = scenario.switches[switch].ports.iter().filter_map(|port| port.pause.slot.pausing());
    match pausing.any(|slot| slot.is_lossless()) {
        true => "Packets may be lost, which ends the run with an error unless lossless = false",
        false => "Packets may be lost. The run counts them and continues",
    }
}

/// Warning about an entry of `groups` or `queues` that applies to no account of any switch.
fn warn_unused_entry((list, place): UnusedEntry) -> String {
    format!(
        "switch.buffer: the {} entry of `{list}` has no effect. No port has its `ports` and `rate`, or later entries \
         override it",
        format_ordinal(place)
    )
}

fn warn_unpaused_groups(scenario: &Scenario, switch: usize, layout: &MemoryLayout) -> Option<String> {
    let ports = (0..).map(PortId).zip(&scenario.switches[switch].ports);
    let mut unpaused = ports.filter(|(_, port)| port.pause.slot.pausing().is_none());
    let (port, group) =
        unpaused.find_map(|(port, _)| Some((port, groups_in_use(scenario, layout, port).first()?.0)))?;
    Some(format!(
        "group {group} of port {} is lossless, but no pause mechanism pauses its far end. Packets are lost once its \
         headroom is full. Set switch.pause = {{ kind = \"pfc\" }}",
        port.0
    ))
}

/// Warning about a group whose headroom is less than a worst case of frames needs.
fn warn_small_headroom(scenario: &Scenario, switch: usize, layout: &MemoryLayout) -> Option<String> {
    let (links, smallest) = (scenario.buffer_ports(switch), scenario.smallest_frame());
    let small = (0..).map(PortId).zip(&links).flat_map(|(port, link)| {
        let need = link.link.worst_case_headroom(layout.cell, smallest);
        let groups = groups_in_use(scenario, layout, port).into_iter();
        let account = move |group: u8| layout.groups[usize::from(port.0) * 8 + usize::from(group)];
        let less = move |group: &u8| account(*group).headroom < need;
        groups.map(|(group, _)| group).filter(less).map(move |group| (port, group, account(group), need))
    });
    let small: Vec<_> = small.collect();
    let (port, group, account, need) = *small.first()?;
    let computed = layout.profile(account)?.lossless?.given_headroom.is_none();
    let cure = match computed {
        true => format!("Decrease `worst_frame` to {}, the smallest frame", Bytes(smallest.into())),
        false => "Increase `xoff` of its profile, or leave it out".to_string(),
    };
    let more = match small.len() - 1 {
        0 => String::new(),
        1 => " (and 1 more group has too little)".to_string(),
        more => format!(" (and {more} more groups have too little)"),
    };
    Some(format!(
        "group {group} of port {} has a headroom of {}, but {} may arrive after a pause{more}. {}. {cure}",
        port.0,
        Bytes(account.headroom),
        Bytes(need),
        describe_loss(scenario, switch)
    ))
}

/// Warning about shared headroom that is less than the headroom of all lossless groups with packets together.
fn warn_shared_headroom(scenario: &Scenario, switch: usize, layout: &MemoryLayout) -> Option<String> {
    let ports = (0..layout.groups.len() as u16 / 8).map(PortId);
    let in_use = ports.flat_map(|port| {
        let groups = groups_in_use(scenario, layout, port).into_iter();
        groups.map(move |(group, _)| layout.groups[usize::from(port.0) * 8 + usize::from(group)])
    });
    let in_use: Vec<_> = in_use.collect();
    layout.pools.iter().enumerate().find_map(|(number, pool)| {
        let size = pool.headroom?;
        let own = in_use.iter().filter(|account| layout.profile(**account).is_some_and(|p| p.pool == number));
        let all = own.map(|account| account.headroom).fold(0, u64::saturating_add);
        (all > size).then(|| {
            format!(
                "pool `{}` has {} of shared headroom in each slice, and its groups may need {} together if many are \
                 paused simultaneously. {}. Increase the shared headroom of the pool",
                pool.name,
                Bytes(size),
                Bytes(all),
                describe_loss(scenario, switch)
            )
        })
    })
}

/// Warning about a pool whose size is taken by the reserves and the headroom that it includes.
fn warn_empty_pool(layout: &MemoryLayout) -> Option<String> {
    let pool = layout.pools.iter().find(|pool| pool.size == 0)?;
    Some(format!(
        "pool `{}` has no memory to share: reserves and headroom take its whole size. Increase the size of the pool",
        pool.name
    ))
}

/// Warning about a lossless class whose queue has a limit at egress.
fn warn_limited_queues(scenario: &Scenario, switch: usize, layout: &MemoryLayout) -> Option<String> {
    let ports = layout.queues.len() as u16 / 8;
    let classes = (0..ports).map(PortId).flat_map(|port| groups_in_use(scenario, layout, port));
    let lossless = classes.fold(ClassSet::NONE, |set, (_, own)| set.union(own));
    let in_use = scenario.classes();
    let class = (0..8).filter(|class| lossless.has(*class) && in_use.has(*class)).find(|class| {
        let queue = layout.class_to_queue[usize::from(*class)];
        (0..ports).any(|port| {
            let profile = layout.profile(layout.queues[usize::from(port) * 8 + usize::from(queue)]);
            profile.is_some_and(|profile| profile.threshold.fixed_limit() != Some(u64::MAX))
        })
    })?;
    Some(format!(
        "class {class} is lossless at ingress, but its queue has a limit at egress. {}. Leave out `threshold` in the \
         profile of the queue",
        describe_loss(scenario, switch)
    ))
}
