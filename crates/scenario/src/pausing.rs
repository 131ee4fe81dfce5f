//! What pausing means for a network as it is built: the headroom of every port, and whether memory is
//! enough for it.

use crate::model::{Choice, Scenario};
use mech::buffer::BufferSlot;
use mech::pause::{Level, Pause, PauseSlot, Span};
use std::collections::BTreeMap;
use units::{Bytes, Dur};

/// The kinds that stop nobody.
fn stops(choice: &Choice) -> bool {
    choice.kind != "none"
}

impl Scenario {
    /// Whether any port may be stopped by its far end.
    pub fn pauses(&self) -> bool {
        self.switches.iter().flat_map(|switch| &switch.ports).any(|port| stops(&port.pause))
    }

    /// The pause slot of a port; `None` where it is a host's, which stop nobody.
    pub fn pause_of(&self, node: u32, port: u16) -> Option<&Choice> {
        let switch = self.switches.get(node.checked_sub(self.topology.hosts)? as usize)?;
        Some(&switch.ports[usize::from(port)].pause).filter(|choice| stops(choice))
    }

    /// From the arrival of a request at a port until it takes effect there, as the far end's slot says.
    pub fn response_of(&self, node: u32, port: u16) -> Dur {
        let far = &self.topology.nodes[node as usize].ports[usize::from(port)];
        self.pause_of(far.peer, far.peer_port).map_or(Dur::ZERO, |choice| choice.values.time("response"))
    }

    /// The link of a port that stops its far end.
    pub fn span(&self, node: u32, port: u16) -> Span {
        let here = &self.topology.nodes[node as usize].ports[usize::from(port)];
        let far = &self.topology.nodes[here.peer as usize].ports[usize::from(here.peer_port)];
        Span {
            there: here.rate.clock(),
            back: far.rate.clock(),
            delay_there: here.delay,
            delay_back: far.delay,
            response: self.response_of(here.peer, here.peer_port),
            frame: self.largest_frame(),
            gap: self.framing.gap,
        }
    }
}

/// What a switch needs, and has, so that nothing is lost.
struct Need {
    /// Ports that stop their far ends, and classes that each counts apart.
    ports: u64,
    classes: u64,
    high: u64,
    headroom: u64,
    /// Of all of them together.
    sum: u64,
    sure: u64,
    buffer: String,
}

/// `None` where the switch stops nobody, may lose, or has no end of memory.
fn need(scenario: &Scenario, index: usize) -> Option<Need> {
    let config = &scenario.switches[index];
    let node = scenario.topology.hosts + index as u32;
    let ports = &scenario.topology.nodes[node as usize].ports;
    let buffer = BufferSlot::build(&config.buffer.kind, &config.buffer.values)?.for_ports(ports.len() as u16);
    let sure = buffer.get().sure(scenario.largest_frame())?;
    let in_use = scenario.classes();
    let mut need = Need { ports: 0, classes: 0, high: 0, headroom: 0, sum: 0, sure, buffer: described(&config.buffer) };
    let mut least = u64::MAX;
    for (p, (link, port)) in ports.iter().zip(&config.ports).enumerate() {
        let slot = PauseSlot::build(&port.pause.kind, &port.pause.values, link.rate.clock())?;
        let Some(slot) = slot.peek().filter(|slot| slot.lossless()) else { continue };
        let classes = groups(slot, in_use);
        let high = match Level::new(&port.pause.values) {
            Level::Fixed { high, .. } => high,
            // Where all ports are at their thresholds at once.
            Level::OfFree { alpha, .. } => {
                let (alpha, pool) = (u128::from(alpha), u128::from(buffer.get().free(0)?));
                (alpha * pool / ((1 << 32) + alpha * (ports.len() as u128) * u128::from(classes))) as u64
            }
        };
        let headroom = scenario.span(node, p as u16).headroom();
        let own = classes.saturating_mul(high.saturating_add(headroom));
        need = Need {
            ports: need.ports + 1,
            classes: need.classes.max(classes),
            high: need.high.max(high),
            headroom: need.headroom.max(headroom),
            sum: need.sum.saturating_add(own),
            ..need
        };
        least = least.min(own);
    }
    // What waits for a port came in by the others.
    if config.buffer.kind == "per_port" && need.ports as usize == ports.len() {
        need.sum -= least;
        need.ports -= 1;
    }
    (need.ports > 0).then_some(need)
}

/// How many parts of what comes in by a port are counted apart.
fn groups(slot: &dyn Pause, in_use: mech::ClassSet) -> u64 {
    let mut sets: Vec<u8> = (0..8).filter(|class| in_use.has(*class)).map(|class| slot.together(class).0).collect();
    sets.retain(|set| *set != 0);
    sets.sort_unstable();
    sets.dedup();
    sets.len() as u64
}

fn described(buffer: &Choice) -> String {
    match buffer.kind.as_str() {
        "shared" => format!("shared, alpha = {}", buffer.values.number("alpha")),
        "per_port" => format!("per_port, {}", buffer.values.amount("size")),
        kind => kind.into(),
    }
}

/// Switches that may lose a packet although they should not: notes, one for those that are alike.
pub(crate) fn notes(scenario: &Scenario) -> Vec<String> {
    let mut said: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let names = scenario.topology.nodes.iter().skip(scenario.topology.hosts as usize).map(|node| node.name.as_str());
    for (i, name) in names.enumerate() {
        let Some(need) = need(scenario, i).filter(|need| need.sum > need.sure) else { continue };
        let of_classes = if need.classes > 1 { format!(" of {} classes each", need.classes) } else { String::new() };
        let text = format!(
            "{} ports{of_classes} with high = {} and a headroom of {} may hold {}, and the buffer ({}) has {} that \
             are sure: a packet may be lost, which ends the run as an error unless lossless = false",
            need.ports,
            Bytes(need.high),
            Bytes(need.headroom),
            Bytes(need.sum),
            need.buffer,
            Bytes(need.sure),
        );
        said.entry(text).or_default().push(name);
    }
    let one = |(text, names): (String, Vec<&str>)| match names.as_slice() {
        [only] => format!("pause at {only}: {text}"),
        [first, rest @ ..] => format!("pause at {first} and {} like it: {text}", rest.len()),
        [] => text,
    };
    said.into_iter().map(one).collect()
}

/// A switch whose memory is full before it would ever say stop: its name, what it has, and its threshold.
pub(crate) fn too_late(scenario: &Scenario) -> Option<(String, Bytes, Bytes)> {
    let names = scenario.topology.nodes.iter().skip(scenario.topology.hosts as usize);
    let mut all = names.enumerate().filter_map(|(i, node)| Some((node, need(scenario, i)?)));
    all.find(|(_, need)| need.high >= need.sure)
        .map(|(node, need)| (node.name.clone(), Bytes(need.sure), Bytes(need.high)))
}
