//! Memory is a budget: what each switch of a scenario has, bounce queues included.

use crate::Scenario;
use mech::buffer::BufferSlot;
use mech::overflow::OverflowSlot;
use units::Amount;

/// The memory of a group of equal switches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchMemory {
    /// Their tier.
    pub tier: String,
    /// How many they are.
    pub count: u32,
    /// Ports of each.
    pub ports: u16,
    /// The buffer of each; `None` is endless.
    pub buffer: Option<Amount>,
    /// The bounce queue of each port, where there is one.
    pub bounce: Option<Amount>,
}

impl SwitchMemory {
    /// All the memory of one of these switches; `None` is endless, or of two units.
    pub fn total(&self) -> Option<Amount> {
        let ports = u64::from(self.ports);
        match (self.buffer?, self.bounce) {
            (buffer, None) => Some(buffer),
            (Amount::Packets(a), Some(Amount::Packets(b))) => Some(Amount::Packets(a + b * ports)),
            (Amount::Bytes(a), Some(Amount::Bytes(b))) => Some(Amount::Bytes(a + b * ports)),
            _ => None,
        }
    }
}

/// The memory of every switch, equal neighbours of one tier counted together.
pub fn switch_memory(scenario: &Scenario) -> Vec<SwitchMemory> {
    let nodes = scenario.topology.nodes.iter().skip(scenario.topology.hosts as usize);
    let mut groups: Vec<SwitchMemory> = Vec::new();
    for (node, config) in nodes.zip(&scenario.switches) {
        let ports = node.ports.len() as u16;
        let buffer = BufferSlot::build(&config.buffer.kind, &config.buffer.values);
        let overflow = OverflowSlot::build(&config.overflow.kind, &config.overflow.values);
        let one = SwitchMemory {
            tier: node.tier.clone(),
            count: 1,
            ports,
            buffer: buffer.and_then(|b| b.get().budget(ports)),
            bounce: overflow.and_then(|o| o.peek().bounce_queue()),
        };
        match groups.iter_mut().find(|g| SwitchMemory { count: 1, ..(*g).clone() } == one) {
            Some(group) => group.count += 1,
            None => groups.push(one),
        }
    }
    groups
}
