//! Headroom of every port that pauses its far end, and warnings if memory is too small for lossless pauses.

use crate::events::{Change, Event};
use crate::model::{Scenario, SwitchConfig};
use mech::ClassSet;
use mech::buffer::BufferSlot;
use mech::pause::{Level, Pausing, Span};
use std::collections::{BTreeMap, BTreeSet};
use units::{Amount, Bytes, Dur, Rate};

impl Scenario {
    /// Returns true if any port may be paused by its far end.
    pub fn pauses(&self) -> bool {
        self.switches.iter().flat_map(|switch| &switch.ports).any(|port| port.pause.slot.peek().is_some())
    }

    /// Returns the mechanism by which a port pauses its far end; `None` if it does not pause it. Host ports never do.
    pub fn pause_of(&self, node: u32, port: u16) -> Option<&dyn Pausing> {
        let switch = self.switches.get(node.checked_sub(self.topology.hosts)? as usize)?;
        switch.ports[usize::from(port)].pause.slot.pausing()
    }

    /// Returns the time from the arrival of a pause frame at a port until it takes effect, as the far end's slot sets
    /// it.
    pub fn response_of(&self, node: u32, port: u16) -> Dur {
        let far = &self.topology.nodes[node as usize].ports[usize::from(port)];
        self.pause_of(far.peer, far.peer_port).map_or(Dur::ZERO, |far| far.response())
    }

    /// Returns the highest rate that a port has during the run, with its fastest possible clock.
    pub fn fastest(&self, node: u32, port: u16) -> Rate {
        let of_it = |event: &&Event| event.senders.contains(&(node, port));
        let rates = self.events.iter().filter(of_it).filter_map(|event| match event.change {
            Change::Rate(rate) => Some(rate),
            _ => None,
        });
        let first = self.topology.nodes[node as usize].ports[usize::from(port)].rate;
        let most = rates.fold(first, |most, rate| if rate > most { rate } else { most });
        match self.clock_ppb(node) {
            0 => most,
            off => most.divided_by(1_000_000_000, 1_000_000_000 + u64::from(off)).unwrap_or(most),
        }
    }

    /// Returns the longest delay that the link out of a port has during the run.
    fn longest_delay(&self, node: u32, port: u16) -> Dur {
        let of_it = |event: &&Event| event.senders.contains(&(node, port));
        let delays = self.events.iter().filter(of_it).filter_map(|event| match event.change {
            Change::Delay(delay) => Some(delay),
            _ => None,
        });
        delays.fold(self.topology.nodes[node as usize].ports[usize::from(port)].delay, Dur::max)
    }

    /// Returns the worst case over the run of the link between a pausing port and its far end.
    pub fn span(&self, node: u32, port: u16) -> Span {
        let here = &self.topology.nodes[node as usize].ports[usize::from(port)];
        let far = (here.peer, here.peer_port);
        Span {
            there: self.fastest(node, port).clock(),
            back: self.fastest(far.0, far.1).clock(),
            delay_there: self.longest_delay(node, port),
            delay_back: self.longest_delay(far.0, far.1),
            response: self.response_of(here.peer, here.peer_port),
            frame: self.largest_frame(),
            gap: self.framing.gap,
        }
    }
}

/// Memory that a switch needs, and has, for its lossless pauses.
#[derive(Default)]
struct Need {
    /// Number of ports that pause their far ends, and of classes that each counts separately.
    ports: u64,
    classes: u64,
    /// Highest XOFF threshold in bytes, and the key that it comes from.
    xoff: (u64, &'static str),
    /// Smallest and largest headroom of a port in bytes.
    headroom: (u64, u64),
    /// Largest number of bytes that one memory may have to hold: thresholds and headroom of the ports that share it.
    sum: u64,
    /// Guaranteed memory in bytes, filled with the largest frames, and with the smallest.
    guaranteed_bytes: u64,
    guaranteed_of_smallest: u64,
    memory: Memory,
    /// Classes that are never paused and fill the same memory, and number of ports without lossless pause.
    lossy: ClassSet,
    others: u64,
    /// Warnings about pauses that expire before they are refreshed.
    lapses: BTreeSet<String>,
}

/// Memory that is filled by arrivals of paused ports.
#[derive(Default)]
struct Memory {
    /// True if each input has its own memory; otherwise all share the buffer.
    of_inputs: bool,
    /// Short description of the memory, for messages.
    described: String,
}

impl Memory {
    /// Returns the memory of a switch with this number of ports, and the buffer that admits frames to it.
    fn of_switch(config: &SwitchConfig, ports: u16, smallest: u16) -> (Memory, BufferSlot) {
        let Some(cioq) = config.model.cioq() else {
            let buffer = BufferSlot::clone(&config.buffer.slot).for_ports(ports);
            let described = buffer.peek().described(smallest).unwrap_or_else(|| config.buffer.kind.clone());
            return (Memory { of_inputs: false, described }, buffer);
        };
        let described = match cioq.input_buffer {
            Amount::Packets(n) => format!("input_buffer, {n}pkt of {smallest}B"),
            bytes @ Amount::Bytes(_) => format!("input_buffer, {bytes}"),
        };
        (Memory { of_inputs: true, described }, BufferSlot::per_port(Some(cioq.input_buffer)))
    }
}

/// Computes the need of a switch; `None` if it pauses no far end losslessly, or has unlimited memory.
fn need(scenario: &Scenario, index: usize) -> Option<Need> {
    let config = &scenario.switches[index];
    let node = scenario.topology.hosts + index as u32;
    let ports = &scenario.topology.nodes[node as usize].ports;
    let (in_use, smallest) = (scenario.classes(), scenario.smallest_frame());
    let (memory, buffer) = Memory::of_switch(config, ports.len() as u16, smallest);
    let (of_inputs, buffer) = (memory.of_inputs, buffer.peek());
    let mut need = Need {
        guaranteed_bytes: buffer.guaranteed_bytes(scenario.largest_frame())?,
        guaranteed_of_smallest: buffer.guaranteed_bytes(smallest)?,
        memory,
        ..Need::default()
    };
    let all = buffer.free(0).map_or(0, |free| free.saturating_add(buffer.reserved()));
    let (mut least, mut pool) = (u64::MAX, Pool { all, left: all });
    for (p, port) in config.ports.iter().enumerate() {
        let slot = port.pause.slot.for_port(scenario.fastest(node, p as u16).clock());
        let slot = slot.pausing().filter(|slot| slot.lossless());
        let Some((slot, classes)) = slot.map(|slot| (slot, groups(slot, in_use))).filter(|(_, classes)| *classes > 0)
        else {
            need.others += u64::from(!of_inputs);
            continue;
        };
        let (xoff, thresholds) = pool.thresholds(slot.level(), classes);
        let span = scenario.span(node, p as u16);
        let own = thresholds.saturating_add(classes.saturating_mul(span.headroom()));
        need.xoff = need.xoff.max(xoff);
        need.ports += 1;
        need.classes = need.classes.max(classes);
        let (smallest, largest) = need.headroom;
        let own_headroom = span.headroom();
        need.headroom =
            (if need.ports == 1 { own_headroom } else { smallest.min(own_headroom) }, largest.max(own_headroom));
        need.sum = if of_inputs { need.sum.max(own) } else { need.sum.saturating_add(own) };
        need.lossy = need.lossy.union(never(slot, in_use));
        need.lapses.extend(lapse(slot, &span));
        least = least.min(own);
    }
    // The frames in the memory of one port came in by the other ports. So the worst case leaves out the port with the
    // least need.
    if !of_inputs && buffer.plain().is_some() && need.ports as usize == ports.len() {
        need.sum -= least;
        need.ports -= 1;
    }
    (need.ports > 0).then_some(need)
}

/// Shared memory in bytes: its size, and the part below the thresholds that ports have not taken yet.
struct Pool {
    all: u64,
    left: u64,
}

impl Pool {
    /// Returns the highest threshold with its key, and the most bytes that `many` queues hold at their thresholds.
    ///
    /// Dynamic thresholds fall as memory fills, so that the worst case reaches them one after another. If all were
    /// reached at the same time, there would seem to be free memory for headroom that does not exist.
    fn thresholds(&mut self, level: Level, many: u64) -> ((u64, &'static str), u64) {
        match level {
            Level::Fixed { xoff, .. } => ((xoff, "xoff"), many.saturating_mul(xoff)),
            Level::OfFree { alpha, .. } => {
                let keeps = |left: u64| ((u128::from(left) << 32) / ((1 << 32) + u128::from(alpha))) as u64;
                let before = self.left;
                self.left = (0..many).fold(before, |left, _| keeps(left));
                ((self.all - keeps(self.all), "alpha"), before - self.left)
            }
        }
    }
}

/// Returns the number of groups of classes that the port counts separately.
fn groups(slot: &dyn Pausing, in_use: ClassSet) -> u64 {
    let mut sets: Vec<u8> = (0..8).filter(|class| in_use.has(*class)).map(|class| slot.pause_group(class).0).collect();
    sets.retain(|set| *set != 0);
    sets.sort_unstable();
    sets.dedup();
    sets.len() as u64
}

/// Returns the classes in use that are never paused.
fn never(slot: &dyn Pausing, in_use: ClassSet) -> ClassSet {
    let lossy = (0..8).filter(|class| in_use.has(*class) && slot.pause_group(*class) == ClassSet::NONE);
    lossy.fold(ClassSet::NONE, |set, class| set.union(ClassSet::single(class)))
}

/// Returns a warning if pauses may expire before they are refreshed.
fn lapse(slot: &dyn Pausing, span: &Span) -> Option<String> {
    let (duration, again) = slot.duration();
    let again = match again {
        _ if slot.holds(span.waits()) => return None,
        Some(again) => format!("is refreshed after {again}, up to {} late", span.waits()),
        None => "is never refreshed".into(),
    };
    Some(format!("a pause lasts {duration} and {again}: the far end sends in between, and no headroom covers that"))
}

impl Need {
    /// Returns the reasons why a packet that should not be lost may be lost.
    fn reasons(&self) -> Vec<String> {
        let mut all: Vec<String> = self.lapses.iter().cloned().collect();
        if self.sum > self.guaranteed_of_smallest {
            all.push(self.too_much());
        }
        let classes = (0..8).filter(|class| self.lossy.has(*class)).map(|class| format!("class {class}"));
        let ports = (self.others > 0).then(|| format!("arrivals at {} ports without lossless pause", self.others));
        let who: Vec<String> = classes.chain(ports).collect();
        if !who.is_empty() {
            all.push(format!("{} may fill the memory that others need", who.join(" and ")));
        }
        all
    }

    fn too_much(&self) -> String {
        let of_classes = if self.classes > 1 { format!(" of {} classes each", self.classes) } else { String::new() };
        let down = if self.xoff.1 == "alpha" { " (lower for each further queue)" } else { "" };
        let (who, each, memory) = match self.memory.of_inputs {
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
            Bytes(self.sum),
            self.memory.described,
            Bytes(self.guaranteed_of_smallest),
        )
    }
}

/// Returns warnings about pauses that are allowed and may fail; equal switches share one.
pub(crate) fn notes(scenario: &Scenario) -> Vec<String> {
    if !scenario.pauses() {
        return Vec::new();
    }
    let mut said: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let names = scenario.topology.nodes.iter().skip(scenario.topology.hosts as usize).map(|node| node.name.as_str());
    let mut lossless = false;
    for (i, name) in names.enumerate() {
        let Some(need) = need(scenario, i) else { continue };
        lossless = true;
        need.reasons().into_iter().for_each(|text| said.entry(text).or_default().push(name));
    }
    let fails = "A packet may be lost, which ends the run with an error unless lossless = false";
    let one = |(text, names): (String, Vec<&str>)| match names.as_slice() {
        [first, rest @ ..] if !rest.is_empty() => {
            format!("pause at {first} and {} switches like it: {text}. {fails}", rest.len())
        }
        names => format!("pause at {}: {text}. {fails}", names.concat()),
    };
    let detours = scenario.switches.iter().any(|switch| switch.overflow.slot.peek().needs().aside);
    let ttl = (lossless && detours && scenario.has_ttl()).then(|| SPENT_ON_DETOURS.to_string());
    said.into_iter().map(one).chain(ttl).collect()
}

/// Warning if packets that should not be lost are detoured.
const SPENT_ON_DETOURS: &str = "detour with lossless pause: a packet whose TTL expires on detours is dropped. The \
                                drop is not due to a lack of memory and counts only as ttl_expired";

/// Switch whose memory is full before XOFF is reached.
pub(crate) struct TooLate {
    /// Name of the switch.
    pub name: String,
    /// Description of the memory.
    pub memory: &'static str,
    /// Memory that is guaranteed.
    pub guaranteed_bytes: Bytes,
    /// XOFF threshold.
    pub xoff: Bytes,
    /// Key that the threshold comes from.
    pub key: &'static str,
}

/// Returns the first switch whose memory is full before XOFF is reached.
pub(crate) fn too_late(scenario: &Scenario) -> Option<TooLate> {
    let names = scenario.topology.nodes.iter().skip(scenario.topology.hosts as usize);
    let mut all = names.enumerate().filter_map(|(i, node)| Some((node, need(scenario, i)?)));
    all.find(|(_, need)| need.xoff.0 >= need.guaranteed_bytes).map(|(node, need)| TooLate {
        name: node.name.clone(),
        memory: if need.memory.of_inputs { "memory for each input" } else { "buffer" },
        guaranteed_bytes: Bytes(need.guaranteed_bytes),
        xoff: Bytes(need.xoff.0),
        key: need.xoff.1,
    })
}
