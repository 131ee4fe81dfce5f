//! Memory with pools: the ports of a switch as its accounts see them, and warnings about lossless groups.

use crate::model::Scenario;
use mech::buffer::{BufferPort, BufferSlot, MemoryLayout};
use mech::{ClassSet, PortId};
use std::collections::BTreeMap;
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

/// Returns warnings about lossless groups that may lose packets; switches with the same text share a warning.
pub(crate) fn list_group_warnings(scenario: &Scenario) -> Vec<String> {
    let mut said: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for switch in 0..scenario.switches.len() {
        let Some(layout) = scenario.memory_layout(switch) else { continue };
        let name = scenario.topology.nodes[scenario.topology.hosts as usize + switch].name.as_str();
        let here = [
            warn_unpaused_groups(scenario, switch, &layout),
            warn_small_headroom(scenario, switch, &layout),
            warn_shared_headroom(&layout),
            warn_empty_pool(&layout),
            warn_limited_queues(scenario, &layout),
        ];
        here.into_iter().flatten().for_each(|text| said.entry(text).or_default().push(name));
    }
    let one = |(text, names): (String, Vec<&str>)| match names.as_slice() {
        [first, rest @ ..] if !rest.is_empty() => {
            let switches = if rest.len() == 1 { "switch" } else { "switches" };
            format!("memory of {first} and {} {switches} like it: {text}", rest.len())
        }
        names => format!("memory of {}: {text}", names.concat()),
    };
    said.into_iter().map(one).collect()
}

/// Returns the lossless groups of a port that hold classes in use.
fn groups_in_use(scenario: &Scenario, layout: &MemoryLayout, port: PortId) -> Vec<(u8, ClassSet)> {
    let in_use = scenario.classes();
    let classes = lossless_classes(layout, port);
    (0..8).zip(classes).filter(|(_, own)| own.0 & in_use.0 != 0).collect()
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
    let links = scenario.buffer_ports(switch);
    let small = (0..).map(PortId).zip(&links).find_map(|(port, link)| {
        let groups = groups_in_use(scenario, layout, port);
        let need = link.link.worst_case_headroom(layout.cell, scenario.smallest_frame());
        let less =
            |(group, _): &(u8, ClassSet)| layout.groups[usize::from(port.0) * 8 + usize::from(*group)].headroom < need;
        let (group, _) = groups.into_iter().find(less)?;
        Some((port, group, need))
    });
    let (port, group, need) = small?;
    let own = layout.groups[usize::from(port.0) * 8 + usize::from(group)].headroom;
    Some(format!(
        "group {group} of port {} has a headroom of {}, but {} may arrive after a pause. Packets may be lost. Increase \
         `xoff` of its profile, or leave it out",
        port.0,
        Bytes(own),
        Bytes(need)
    ))
}

/// Warning about shared headroom that is less than the headroom of all groups together.
fn warn_shared_headroom(layout: &MemoryLayout) -> Option<String> {
    layout.pools.iter().enumerate().find_map(|(number, pool)| {
        let size = pool.headroom?;
        let own = layout.groups.iter().filter(|account| layout.profile(**account).is_some_and(|p| p.pool == number));
        let all = own.map(|account| account.headroom).fold(0, u64::saturating_add);
        (all > size).then(|| {
            format!(
                "pool {} has {} of shared headroom in each slice, and its groups may need {} together. Packets may be \
                 lost if many groups are paused simultaneously. Increase the shared headroom of the pool",
                pool.name,
                Bytes(size),
                Bytes(all)
            )
        })
    })
}

/// Warning about a pool whose size is taken by the reserves and the headroom that it includes.
fn warn_empty_pool(layout: &MemoryLayout) -> Option<String> {
    let pool = layout.pools.iter().find(|pool| pool.size == 0)?;
    Some(format!(
        "pool {} has no memory to share: reserves and headroom take its whole size. Increase the size of the pool",
        pool.name
    ))
}

/// Warning about a lossless class whose queue has a limit at egress.
fn warn_limited_queues(scenario: &Scenario, layout: &MemoryLayout) -> Option<String> {
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
        "class {class} is lossless at ingress, but its queue has a limit at egress, where packets may be lost. Leave \
         out `threshold` in the profile of the queue"
    ))
}
