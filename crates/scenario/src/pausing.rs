//! What pausing means for a network as it is built: the headroom of every port, and whether memory is
//! enough for it.

use crate::events::{Change, Event};
use crate::model::{Scenario, SwitchConfig};
use mech::ClassSet;
use mech::buffer::BufferSlot;
use mech::pause::{Level, Pausing, Span};
use std::collections::{BTreeMap, BTreeSet};
use units::{Amount, Bytes, Dur, Rate};

impl Scenario {
    /// Whether any port may be paused by its far end.
    pub fn pauses(&self) -> bool {
        self.switches.iter().flat_map(|switch| &switch.ports).any(|port| port.pause.slot.peek().is_some())
    }

    /// How a port pauses its far end; `None` where it does not, as those of hosts.
    pub fn pause_of(&self, node: u32, port: u16) -> Option<&dyn Pausing> {
        let switch = self.switches.get(node.checked_sub(self.topology.hosts)? as usize)?;
        switch.ports[usize::from(port)].pause.slot.pausing()
    }

    /// From the arrival of a request at a port until it takes effect there, as the far end's slot says.
    pub fn response_of(&self, node: u32, port: u16) -> Dur {
        let far = &self.topology.nodes[node as usize].ports[usize::from(port)];
        self.pause_of(far.peer, far.peer_port).map_or(Dur::ZERO, |far| far.response())
    }

    /// The highest rate that a port ever has, by the fastest clock that it may have.
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

    /// The longest delay that the link out of a port ever has.
    fn longest_delay(&self, node: u32, port: u16) -> Dur {
        let of_it = |event: &&Event| event.senders.contains(&(node, port));
        let delays = self.events.iter().filter(of_it).filter_map(|event| match event.change {
            Change::Delay(delay) => Some(delay),
            _ => None,
        });
        delays.fold(self.topology.nodes[node as usize].ports[usize::from(port)].delay, Dur::max)
    }

    /// The link of a port that pauses its far end, at the most that it ever takes.
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

/// What a switch needs, and has, so that nothing is lost.
#[derive(Default)]
struct Need {
    /// Ports that pause their far ends, and classes that each counts apart.
    ports: u64,
    classes: u64,
    /// The highest threshold, and the key that it comes from.
    xoff: (u64, &'static str),
    /// Smallest and largest headroom of a port.
    headroom: (u64, u64),
    /// Of all of them together, at most.
    sum: u64,
    /// What fits of the largest frames, and of the smallest.
    guaranteed_bytes: u64,
    guaranteed_of_smallest: u64,
    memory: Memory,
    /// Who fills the same memory and is never paused: classes, and what comes in by other ports.
    lossy: ClassSet,
    others: u64,
    /// Pauses that expire before they are refreshed.
    lapses: BTreeSet<String>,
}

/// The memory that what comes in by ports fills.
#[derive(Default)]
struct Memory {
    /// Each input has its own; else all share the buffer.
    of_inputs: bool,
    /// It in a few words.
    described: String,
}

impl Memory {
    /// Of a switch with so many ports, and how it lends.
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

/// `None` where the switch pauses nobody, may lose, or has no end of memory.
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
    // What waits for a port came in by the others.
    if !of_inputs && buffer.plain().is_some() && need.ports as usize == ports.len() {
        need.sum -= least;
        need.ports -= 1;
    }
    (need.ports > 0).then_some(need)
}

/// Shared memory, all of it and what is left of it.
struct Pool {
    all: u64,
    left: u64,
}

impl Pool {
    /// The highest threshold, with the key that it comes from, and the most that so many hold at theirs: one after
    /// another, each at its share of what the last has left.
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

/// How many parts of what comes in by a port are counted apart.
fn groups(slot: &dyn Pausing, in_use: ClassSet) -> u64 {
    let mut sets: Vec<u8> = (0..8).filter(|class| in_use.has(*class)).map(|class| slot.pause_group(class).0).collect();
    sets.retain(|set| *set != 0);
    sets.sort_unstable();
    sets.dedup();
    sets.len() as u64
}

/// The classes that it never pauses.
fn never(slot: &dyn Pausing, in_use: ClassSet) -> ClassSet {
    let lossy = (0..8).filter(|class| in_use.has(*class) && slot.pause_group(*class) == ClassSet::NONE);
    lossy.fold(ClassSet::NONE, |set, class| set.union(ClassSet::single(class)))
}

/// What is to be said of pauses that may expire before they are refreshed.
fn lapse(slot: &dyn Pausing, span: &Span) -> Option<String> {
    let (duration, again) = slot.duration();
    let again = match again {
        _ if slot.holds(span.waits()) => return None,
        Some(again) => format!("is refreshed after {again}, up to {} late", span.waits()),
        None => "is never refreshed".into(),
    };
    Some(format!("a pause lasts {duration} and {again}: the far end sends meanwhile, and no headroom is for that"))
}

impl Need {
    /// Why a packet may be lost although it should not.
    fn reasons(&self) -> Vec<String> {
        let mut all: Vec<String> = self.lapses.iter().cloned().collect();
        if self.sum > self.guaranteed_of_smallest {
            all.push(self.too_much());
        }
        let classes = (0..8).filter(|class| self.lossy.has(*class)).map(|class| format!("class {class}"));
        let ports = (self.others > 0).then(|| format!("what comes in by {} ports without lossless pause", self.others));
        let who: Vec<String> = classes.chain(ports).collect();
        if !who.is_empty() {
            all.push(format!("{} may fill the memory that others need", who.join(" and ")));
        }
        all
    }

    fn too_much(&self) -> String {
        let of_classes = if self.classes > 1 { format!(" of {} classes each", self.classes) } else { String::new() };
        let down = if self.xoff.1 == "alpha" { " and less, one after another," } else { "" };
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

/// What of pausing does not go together, as far as it need not be wrong: one note for switches that are alike.
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
    let fails = "a packet may be lost, which ends the run as an error unless lossless = false";
    let one = |(text, names): (String, Vec<&str>)| match names.as_slice() {
        [first, rest @ ..] if !rest.is_empty() => {
            format!("pause at {first} and {} like it: {text}: {fails}", rest.len())
        }
        names => format!("pause at {}: {text}: {fails}", names.concat()),
    };
    let detours = scenario.switches.iter().any(|switch| switch.overflow.slot.peek().needs().aside);
    let ttl = (lossless && detours && scenario.has_ttl()).then(|| SPENT_ON_DETOURS.to_string());
    said.into_iter().map(one).chain(ttl).collect()
}

/// What is said where packets that should not be lost are detoured.
const SPENT_ON_DETOURS: &str = "detour beside lossless pause: a packet may use up its TTL on detours, which is for no \
                                want of memory and counted as ttl_expired alone";

/// A switch whose memory is full before XOFF is reached.
pub(crate) struct TooLate {
    /// Its name.
    pub name: String,
    /// Which memory that is.
    pub memory: &'static str,
    /// The memory that is guaranteed.
    pub guaranteed_bytes: Bytes,
    /// Its threshold.
    pub xoff: Bytes,
    /// The key that the threshold comes from.
    pub key: &'static str,
}

/// The first switch of the kind.
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
