//! Headroom of every port that pauses its far end, and warnings if memory is too small for lossless pauses.

use crate::diag::format_count;
use crate::events::{Event, LinkChange, SendingPort};
use crate::model::{Scenario, SwitchConfig};
use crate::watchdogs;
use mech::ClassSet;
use mech::buffer::BufferSlot;
use mech::pause::{PauseLevels, PausedLink, Pausing, QUANTUM_BYTES};
use std::collections::{BTreeMap, BTreeSet};
use units::{Amount, Bytes, Dur, Rate};

impl Scenario {
    /// Returns true if any port may be paused by its far end.
    pub fn has_pauses(&self) -> bool {
        self.switches.iter().flat_map(|switch| &switch.ports).any(|port| port.pause.slot.peek().is_some())
    }

    /// Returns the mechanism by which a port pauses its far end; `None` if it does not pause it. Host ports never do.
    pub fn pause_mechanism(&self, node: u32, port: u16) -> Option<&dyn Pausing> {
        let switch = self.switches.get(node.checked_sub(self.topology.hosts)? as usize)?;
        switch.ports[usize::from(port)].pause.slot.pausing()
    }

    /// Returns the time from the arrival of a pause frame at a port until it takes effect, as the far end's slot sets
    /// it. A host has no slot, so the port's own slot sets the time for pause frames of a host.
    pub fn pause_response_time(&self, node: u32, port: u16) -> Dur {
        let far = self.topology.far_end((node, port));
        let ends = [far, (node, port)].into_iter().find(|end| !self.topology.is_host(end.0));
        let Some((switch, port)) = ends else { return Dur::ZERO };
        let slot = &self.switches[(switch - self.topology.hosts) as usize].ports[usize::from(port)].pause.slot;
        // The response may depend on the rate of the link.
        slot.for_port(self.topology.nodes[switch as usize].ports[usize::from(port)].rate.clock())
            .pausing()
            .map_or(Dur::ZERO, |pausing| pausing.response_time())
    }

    /// Returns the changes during the run of the link direction that a port sends to.
    fn changes_of_link(&self, sender: SendingPort) -> impl Iterator<Item = LinkChange> + '_ {
        let changes = self.events.iter().filter_map(Event::link_change);
        changes.filter(move |(_, senders)| senders.contains(&sender)).map(|(change, _)| change)
    }

    /// Returns the time after which a host refreshes its pauses: half of the shortest duration that they have.
    pub fn host_pause_refresh(&self, host: u32) -> Dur {
        let (switch, port) = self.topology.far_end((host, 0));
        // The switch measures a pause by the rate of its own port, which may change during the run.
        let shortest = self.max_rate(switch, port).clock().time(u64::from(u16::MAX) * QUANTUM_BYTES);
        Dur(shortest.0 / 2)
    }

    /// Returns the highest rate that a port has during the run, with its fastest possible clock.
    pub fn max_rate(&self, node: u32, port: u16) -> Rate {
        let rates = self.changes_of_link((node, port)).filter_map(|change| match change {
            LinkChange::Rate(rate) => Some(rate),
            _ => None,
        });
        let first = self.topology.nodes[node as usize].ports[usize::from(port)].rate;
        let most = rates.fold(first, |most, rate| if rate > most { rate } else { most });
        match self.clock_ppb(node) {
            0 => most,
            off => most.divide(1_000_000_000, 1_000_000_000 + u64::from(off)).unwrap_or(most),
        }
    }

    /// Returns the longest delay that the link out of a port has during the run.
    fn max_delay(&self, node: u32, port: u16) -> Dur {
        let delays = self.changes_of_link((node, port)).filter_map(|change| match change {
            LinkChange::Delay(delay) => Some(delay),
            _ => None,
        });
        delays.fold(self.topology.nodes[node as usize].ports[usize::from(port)].delay, Dur::max)
    }

    /// Returns the highest rates and longest delays of the link between a pausing port and its far end, during the run.
    pub fn worst_case_link(&self, node: u32, port: u16) -> PausedLink {
        let here = &self.topology.nodes[node as usize].ports[usize::from(port)];
        let far = (here.peer, here.peer_port);
        PausedLink {
            rate_to_device: self.max_rate(node, port).clock(),
            rate_from_device: self.max_rate(far.0, far.1).clock(),
            delay_to_device: self.max_delay(node, port),
            delay_from_device: self.max_delay(far.0, far.1),
            response: self.pause_response_time(here.peer, here.peer_port),
            frame: self.largest_frame(),
            gap: self.framing.gap,
        }
    }
}

/// Memory that a switch needs for lossless pauses, and the memory that it has.
#[derive(Default)]
struct LosslessMemoryNeed {
    /// True if a loss ends the run with an error; false if it is only counted (`lossless = false`).
    ends_run: bool,
    /// Number of ports that pause their far ends.
    ports: u64,
    /// Largest number of groups of traffic classes that a port counts separately.
    classes: u64,
    /// Highest XOFF threshold in bytes, and the key that sets it.
    xoff: (u64, &'static str),
    /// Smallest and largest headroom of a port in bytes.
    headroom: (u64, u64),
    /// Largest number of bytes that one memory may have to hold: thresholds and headroom of the ports that share it.
    worst_case_bytes: u64,
    /// Guaranteed memory in bytes: if the largest frames fill it, and if the smallest frames fill it.
    guaranteed_bytes: u64,
    guaranteed_bytes_of_smallest: u64,
    memory: ArrivalMemory,
    /// Traffic classes that are never paused and fill the same memory.
    lossy_classes: ClassSet,
    /// Number of ports without such a pause that fill the same memory.
    lossy_ports: u64,
    /// Warnings about pauses that expire before they are refreshed.
    expiry_warnings: BTreeSet<String>,
}

/// Memory that fills with frames from far ends that the switch pauses.
#[derive(Default)]
struct ArrivalMemory {
    /// True if each input has memory of its own; otherwise all ports share the buffer.
    is_per_input: bool,
    /// Short description of the memory, for messages.
    description: String,
}

impl ArrivalMemory {
    /// Returns the memory of a switch with this number of ports, and the buffer that admits frames to it.
    fn for_switch(config: &SwitchConfig, ports: u16, smallest: u16) -> (ArrivalMemory, BufferSlot) {
        let Some(cioq) = config.model.input_side() else {
            let buffer = BufferSlot::clone(&config.buffer.slot).for_ports(ports);
            let described = buffer.peek().describe(smallest).unwrap_or_else(|| config.buffer.kind.clone());
            return (ArrivalMemory { is_per_input: false, description: described }, buffer);
        };
        let described = match cioq.input_buffer {
            Amount::Packets(n) => format!("input_buffer, {n}pkt of {smallest}B"),
            bytes @ Amount::Bytes(_) => format!("input_buffer, {bytes}"),
        };
        (ArrivalMemory { is_per_input: true, description: described }, BufferSlot::per_port(Some(cioq.input_buffer)))
    }
}

/// Computes the memory that a switch needs for its pauses; `None` if it pauses no far end, or memory is unlimited.
///
/// If a loss at any of its ports ends the run, only ports with such a pause are kept from losses, and packets that
/// arrive at other ports take memory from them. Otherwise the need is that of all ports with a pause.
fn compute_need(scenario: &Scenario, index: usize) -> Option<LosslessMemoryNeed> {
    let config = &scenario.switches[index];
    let node = scenario.topology.hosts + index as u32;
    let ports = &scenario.topology.nodes[node as usize].ports;
    let (in_use, smallest) = (scenario.classes(), scenario.smallest_frame());
    let (memory, buffer) = ArrivalMemory::for_switch(config, ports.len() as u16, smallest);
    let (of_inputs, buffer) = (memory.is_per_input, buffer.peek());
    let ends_run = config.ports.iter().filter_map(|port| port.pause.slot.pausing()).any(|slot| slot.is_lossless());
    if buffer.has_accounts() {
        // Groups have headroom of their own: `group_memory` compares it with the need.
        return None;
    }
    let mut need = LosslessMemoryNeed {
        ends_run,
        guaranteed_bytes: buffer.guaranteed_bytes(scenario.largest_frame())?,
        guaranteed_bytes_of_smallest: buffer.guaranteed_bytes(smallest)?,
        memory,
        ..LosslessMemoryNeed::default()
    };
    let all = buffer.free_shared_bytes(0).map_or(0, |free| free.saturating_add(buffer.reserved_bytes()));
    let (mut least, mut pool) = (u64::MAX, SharedPool { total_bytes: all, free_bytes: all });
    for (p, port) in config.ports.iter().enumerate() {
        let slot = port.pause.slot.for_port(scenario.max_rate(node, p as u16).clock());
        let slot = slot.pausing().filter(|slot| slot.is_lossless() == ends_run);
        let Some((slot, classes)) =
            slot.map(|slot| (slot, count_class_groups(slot, in_use))).filter(|(_, classes)| *classes > 0)
        else {
            need.lossy_ports += u64::from(!of_inputs);
            continue;
        };
        let (xoff, thresholds) = pool.max_threshold(slot.pause_levels(), classes);
        let span = scenario.worst_case_link(node, p as u16);
        let own = thresholds.saturating_add(classes.saturating_mul(span.headroom_bytes()));
        need.xoff = need.xoff.max(xoff);
        need.ports += 1;
        need.classes = need.classes.max(classes);
        let (smallest, largest) = need.headroom;
        let own_headroom = span.headroom_bytes();
        need.headroom =
            (if need.ports == 1 { own_headroom } else { smallest.min(own_headroom) }, largest.max(own_headroom));
        need.worst_case_bytes =
            if of_inputs { need.worst_case_bytes.max(own) } else { need.worst_case_bytes.saturating_add(own) };
        need.lossy_classes = need.lossy_classes.union(unpaused_classes(slot, in_use));
        need.expiry_warnings.extend(warn_pause_expiry(slot, &span));
        least = least.min(own);
    }
    // Frames in the memory of one output port came in by the other ports only. The worst case is the memory of the
    // port whose own arrivals need least, so that port is left out.
    if !of_inputs && buffer.fixed_thresholds().is_some() && need.ports as usize == ports.len() {
        need.worst_case_bytes -= least;
        need.ports -= 1;
    }
    (need.ports > 0).then_some(need)
}

/// Shared memory in bytes: its size, and the part that the XOFF thresholds of ports have not used up yet.
struct SharedPool {
    total_bytes: u64,
    free_bytes: u64,
}

impl SharedPool {
    /// Returns the highest XOFF threshold with its key, and the most bytes that `many` queues hold at their thresholds.
    ///
    /// Dynamic thresholds fall as memory fills, so that the worst case reaches them one after another. If all were
    /// reached at the same time, there would seem to be free memory for headroom that does not exist.
    fn max_threshold(&mut self, level: PauseLevels, many: u64) -> ((u64, &'static str), u64) {
        match level {
            PauseLevels::Fixed { xoff, .. } => ((xoff, "xoff"), many.saturating_mul(xoff)),
            PauseLevels::ShareOfFree { alpha, .. } => {
                let keeps = |left: u64| ((u128::from(left) << 32) / ((1 << 32) + u128::from(alpha))) as u64;
                let before = self.free_bytes;
                self.free_bytes = (0..many).fold(before, |left, _| keeps(left));
                ((self.total_bytes - keeps(self.total_bytes), "alpha"), before - self.free_bytes)
            }
            PauseLevels::OfGroups => ((0, "xoff"), 0),
        }
    }
}

/// Returns the number of groups of traffic classes, each of which the port counts and pauses separately.
fn count_class_groups(slot: &dyn Pausing, in_use: ClassSet) -> u64 {
    let mut sets: Vec<u8> = (0..8).filter(|class| in_use.has(*class)).map(|class| slot.pause_group(class).0).collect();
    sets.retain(|set| *set != 0);
    sets.sort_unstable();
    sets.dedup();
    sets.len() as u64
}

/// Returns the classes in use that are never paused.
fn unpaused_classes(slot: &dyn Pausing, in_use: ClassSet) -> ClassSet {
    let lossy = (0..8).filter(|class| in_use.has(*class) && slot.pause_group(*class) == ClassSet::NONE);
    lossy.fold(ClassSet::NONE, |set, class| set.union(ClassSet::single(class)))
}

/// Returns a warning if pauses may expire before they are refreshed.
fn warn_pause_expiry(slot: &dyn Pausing, span: &PausedLink) -> Option<String> {
    let (duration, again) = slot.duration_and_refresh();
    let again = match again {
        _ if slot.is_refreshed_in_time(span.max_wait()) => return None,
        Some(again) => format!("is refreshed only after {again} plus a delay of up to {}", span.max_wait()),
        None => "is never refreshed".into(),
    };
    Some(format!(
        "a pause lasts {duration} and {again}, so that the far end sends in between and may exceed the \
                  headroom"
    ))
}

impl LosslessMemoryNeed {
    /// Returns the reasons why packets may be lost although pauses should prevent losses.
    fn loss_reasons(&self) -> Vec<String> {
        let mut all: Vec<String> = self.expiry_warnings.iter().cloned().collect();
        if self.worst_case_bytes > self.guaranteed_bytes_of_smallest {
            all.push(self.describe_excess());
        }
        let classes = (0..8).filter(|class| self.lossy_classes.has(*class)).map(|class| format!("class {class}"));
        let ports = (self.lossy_ports > 0).then(|| {
            let pause = if self.ends_run { "lossless pause" } else { "pause" };
            format!("packets that arrive at {} without {pause}", format_count(self.lossy_ports, "port", "ports"))
        });
        let who: Vec<String> = classes.chain(ports).collect();
        if !who.is_empty() {
            let kept = if self.ends_run { "lossless packets" } else { "packets of paused classes" };
            all.push(format!("{} may fill the memory that {kept} need", who.join(" and ")));
        }
        all
    }

    fn describe_excess(&self) -> String {
        let of_classes = if self.classes > 1 { format!(" of {} classes each", self.classes) } else { String::new() };
        let down = if self.xoff.1 == "alpha" { " (lower for each further queue)" } else { "" };
        let (who, each, memory) = match self.memory.is_per_input {
            true => ("inputs", " each", "the memory of each"),
            false => ("ports", "", "the buffer"),
        };
        let headroom = match self.headroom {
            (least, most) if least == most => Bytes(most).to_string(),
            (least, most) => format!("{} to {}", Bytes(least), Bytes(most)),
        };
        format!(
            "{} {who}{of_classes} with xoff = {}{down} and a headroom of {headroom} can hold {}{each}, but {memory} ({}) \
             guarantees only {}",
            self.ports,
            Bytes(self.xoff.0),
            Bytes(self.worst_case_bytes),
            self.memory.description,
            Bytes(self.guaranteed_bytes_of_smallest),
        )
    }
}

/// Returns warnings about allowed pause settings that may fail to prevent losses; switches with the same text share a
/// warning.
pub(crate) fn list_pause_warnings(scenario: &Scenario) -> Vec<String> {
    if !scenario.has_pauses() {
        return crate::group_memory::list_group_warnings(scenario);
    }
    let mut said: BTreeMap<(String, bool), Vec<&str>> = BTreeMap::new();
    let names = scenario.topology.nodes.iter().skip(scenario.topology.hosts as usize).map(|node| node.name.as_str());
    let mut lossless = false;
    for (i, name) in names.enumerate() {
        let Some(need) = compute_need(scenario, i) else { continue };
        lossless |= need.ends_run;
        need.loss_reasons().into_iter().for_each(|text| said.entry((text, need.ends_run)).or_default().push(name));
    }
    let one = |((text, ends_run), names): ((String, bool), Vec<&str>)| {
        let then = match ends_run {
            true => "A packet may be lost, which ends the run with an error unless lossless = false",
            false => "Packets may be lost. The run counts them and continues, because lossless = false",
        };
        match names.as_slice() {
            [first, rest @ ..] if !rest.is_empty() => {
                let others = format_count(rest.len() as u64, "switch", "switches");
                format!("pause at {first} and {others} like it: {text}. {then}")
            }
            names => format!("pause at {}: {text}. {then}", names.concat()),
        }
    };
    let groups = crate::group_memory::list_group_warnings(scenario);
    let detours = scenario.switches.iter().any(|switch| switch.overflow.slot.peek().needs().detours);
    let ttl = (lossless && detours && scenario.has_ttl()).then(|| TTL_EXPIRY_WARNING.to_string());
    said.into_iter().map(one).chain(groups).chain(ttl).chain(watchdogs::list_warnings(scenario)).collect()
}

/// Warning about detours together with lossless pauses: packets whose TTL expires are still dropped.
const TTL_EXPIRY_WARNING: &str = "detours with lossless pause: packets whose TTL expires on detours are still dropped. \
                                Such a drop counts as `ttl_expired` and does not end the run";

/// Switch whose memory is full before its XOFF threshold is reached.
pub(crate) struct LateXoff {
    /// Name of the switch.
    pub name: String,
    /// Description of the memory that is full, for messages.
    pub memory: &'static str,
    /// Size of the memory that is guaranteed to the port.
    pub guaranteed_bytes: Bytes,
    /// XOFF threshold that is not reached.
    pub xoff: Bytes,
    /// Key that sets the XOFF threshold.
    pub key: &'static str,
}

/// Returns the first switch whose memory is full before XOFF is reached, if a loss there ends the run.
pub(crate) fn find_late_xoff(scenario: &Scenario) -> Option<LateXoff> {
    let names = scenario.topology.nodes.iter().skip(scenario.topology.hosts as usize);
    let mut all = names.enumerate().filter_map(|(i, node)| Some((node, compute_need(scenario, i)?)));
    all.find(|(_, need)| need.ends_run && need.xoff.0 >= need.guaranteed_bytes).map(|(node, need)| LateXoff {
        name: node.name.clone(),
        memory: if need.memory.is_per_input { "memory for each input" } else { "buffer" },
        guaranteed_bytes: Bytes(need.guaranteed_bytes),
        xoff: Bytes(need.xoff.0),
        key: need.xoff.1,
    })
}
