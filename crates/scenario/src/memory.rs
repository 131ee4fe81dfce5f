//! Buffer memory of each switch of a scenario, bounce queues included.
//!
//! Comparisons print it, since a mechanism with more memory than another has an advantage of its own.

use crate::Scenario;
use crate::model::{PortConfig, SwitchConfig};
use crate::topology::{Node, Port};
use std::collections::HashMap;
use units::{Amount, Bytes};

/// Memory of a group of equal switches.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SwitchMemory {
    /// Tier of the switches.
    pub tier: String,
    /// Number of the switches.
    pub count: u32,
    /// Number of ports of each switch.
    pub ports: u16,
    /// Size of the buffer of each switch; `None` if it is unlimited.
    pub buffer: Option<Amount>,
    /// Size of the bounce queue of each port, if ports have one.
    pub bounce: Option<Amount>,
    /// Memory of each port for trimmed packets, in addition to its buffer, if there is any.
    pub headers: Option<Amount>,
    /// Memory of each input port, if inputs have memory of their own.
    pub input: Option<Amount>,
    /// Size of the buffers inside each switch: its stages and internal links, for all classes and lanes in use. `None`
    /// without a fabric.
    pub fabric: Option<Amount>,
    /// Memory of a port for packets that are held before lookup, and the number of ports that have it.
    pub held_packets: Option<(Amount, u16)>,
}

/// Size of memory: a part counted in packets and a part counted in bytes, which cannot be added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Part that is counted in packets.
    pub packets: Option<u64>,
    /// Part that is counted in bytes.
    pub bytes: Option<u64>,
}

impl Memory {
    fn plus(self, amount: Amount, times: u64) -> Memory {
        let more = |part: Option<u64>, n: u64| Some(part.unwrap_or(0).saturating_add(n.saturating_mul(times)));
        match amount {
            Amount::Packets(n) => Memory { packets: more(self.packets, n), ..self },
            Amount::Bytes(n) => Memory { bytes: more(self.bytes, n), ..self },
        }
    }
}

impl SwitchMemory {
    /// Returns all memory of one of these switches; `None` if it is unlimited.
    pub fn total_memory(&self) -> Option<Memory> {
        let total = Memory::default().plus(self.buffer?, 1);
        let of_ports = self.bounce.into_iter().chain(self.headers).chain(self.input);
        let total = of_ports.fold(total, |sum, each| sum.plus(each, u64::from(self.ports)));
        let total = self.fabric.iter().fold(total, |sum, inside| sum.plus(*inside, 1));
        Some(self.held_packets.iter().fold(total, |sum, (each, ports)| sum.plus(*each, u64::from(*ports))))
    }
}

/// Returns the memory of a port for trimmed packets, in the unit of the buffer; the smallest frame has 64 bytes.
///
/// Ports that share memory have none beyond it. In a switch with input memory, cut packets wait at inputs and take no
/// memory of their own.
fn header_memory(config: &SwitchConfig) -> Option<Amount> {
    if config.model.input_side().is_some() {
        return None;
    }
    let (Bytes(room), buffer) =
        (config.overflow.slot.peek().needs().cut_memory?, config.buffer.slot.peek().fixed_thresholds()?.amount()?);
    Some(match buffer {
        Amount::Packets(_) => Amount::Packets(room / 64),
        Amount::Bytes(_) => Amount::Bytes(room),
    })
}

/// Returns the size of the buffers inside a `fabric` switch with this number of ports. Each stage has memory for every
/// class up to the highest, and as much again for bounced packets.
fn fabric_memory(config: &SwitchConfig, ports: u16, top_class: u8) -> Option<Amount> {
    let fabric = config.model.input_side()?.fabric.as_ref()?.slot.peek();
    let (rules, links) = (fabric.stage_params()?, fabric.links().len() as u64);
    let bytes = (u64::from(ports) + links) * rules.stage_buffer.0 + links * rules.link_buffer.0;
    let lanes = 1 + u64::from(config.overflow.slot.peek().needs().bounce_lane.is_some());
    Some(Amount::Bytes(bytes * (u64::from(top_class) + 1) * lanes))
}

/// Returns the largest memory for held packets of any port of a switch, and the number of ports that have such memory.
fn longest_held_queue(node: &Node, hosts: u32, config: &SwitchConfig) -> Option<(Amount, u16)> {
    let of_port = |(link, port): (&Port, &PortConfig)| {
        let agents = port.agents().filter(|agent| agent.is_for_port(link.peer >= hosts));
        agents.filter_map(|agent| agent.needs().hold_memory).map(|Bytes(held)| held).max()
    };
    let all: Vec<u64> = node.ports.iter().zip(&config.ports).filter_map(of_port).collect();
    all.iter().max().map(|most| (Amount::Bytes(*most), all.len() as u16))
}

/// Returns the memory of every switch; equal switches of one tier are one group.
pub fn switch_memory(scenario: &Scenario) -> Vec<SwitchMemory> {
    let nodes = scenario.topology.nodes.iter().skip(scenario.topology.hosts as usize);
    let (mut groups, mut places): (Vec<SwitchMemory>, HashMap<SwitchMemory, usize>) = Default::default();
    for (number, (node, config)) in nodes.zip(&scenario.switches).enumerate() {
        let ports = node.ports.len() as u16;
        let one = SwitchMemory {
            tier: node.tier.clone(),
            count: 1,
            ports,
            buffer: match scenario.memory_layout(number) {
                Some(layout) => Some(Amount::Bytes(layout.total_bytes())),
                None => config.buffer.slot.peek().total_memory(ports),
            },
            bounce: config.overflow.slot.peek().needs().bounce_lane,
            headers: header_memory(config),
            input: config.model.input_side().map(|cioq| cioq.input_buffer),
            fabric: fabric_memory(config, ports, scenario.top_class()),
            held_packets: longest_held_queue(node, scenario.topology.hosts, config),
        };
        match places.get(&one) {
            Some(place) => groups[*place].count += 1,
            None => {
                places.insert(one.clone(), groups.len());
                groups.push(one);
            }
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer_and_bounce_memory(buffer: Option<Amount>, bounce: Option<Amount>) -> Option<Memory> {
        SwitchMemory {
            tier: "leaf".into(),
            count: 2,
            ports: 4,
            buffer,
            bounce,
            headers: None,
            input: None,
            fabric: None,
            held_packets: None,
        }
        .total_memory()
    }

    #[test]
    fn the_memory_of_inputs_is_part_of_the_budget() {
        let buffer = Some(Amount::Packets(400));
        let input = Some(Amount::Bytes(150_000));
        let switch = SwitchMemory {
            tier: "leaf".into(),
            count: 2,
            ports: 4,
            buffer,
            bounce: None,
            headers: None,
            input,
            fabric: None,
            held_packets: None,
        };
        assert_eq!(switch.total_memory(), Some(Memory { packets: Some(400), bytes: Some(600_000) }));
        let bytes = SwitchMemory { buffer: Some(Amount::Bytes(1000)), ..switch };
        assert_eq!(bytes.total_memory(), Some(Memory { packets: None, bytes: Some(601_000) }));
        // Memory inside the switch counts once, not for each port.
        let stages = SwitchMemory { fabric: Some(Amount::Bytes(96_000)), ..bytes };
        assert_eq!(stages.total_memory(), Some(Memory { packets: None, bytes: Some(697_000) }));
    }

    #[test]
    fn held_ack_memory_counts_at_the_ports_that_have_it() {
        let buffer = Some(Amount::Bytes(480_000));
        let held = Some((Amount::Bytes(120_000), 3));
        let switch = SwitchMemory {
            tier: "leaf".into(),
            count: 2,
            ports: 4,
            buffer,
            bounce: None,
            headers: None,
            input: None,
            fabric: None,
            held_packets: held,
        };
        assert_eq!(switch.total_memory(), Some(Memory { packets: None, bytes: Some(840_000) }));
    }

    #[test]
    fn header_memory_is_part_of_the_budget() {
        let buffer = Some(Amount::Bytes(512 << 10));
        let headers = Some(Amount::Bytes(4096));
        let switch = SwitchMemory {
            tier: "leaf".into(),
            count: 2,
            ports: 4,
            buffer,
            bounce: None,
            headers,
            input: None,
            fabric: None,
            held_packets: None,
        };
        assert_eq!(switch.total_memory(), Some(Memory { packets: None, bytes: Some(528 << 10) }));
    }

    #[test]
    fn a_buffer_and_bounce_queues_of_one_unit_add_up() {
        let packets = buffer_and_bounce_memory(Some(Amount::Packets(400)), Some(Amount::Packets(50)));
        assert_eq!(packets, Some(Memory { packets: Some(600), bytes: None }));
        let bytes = buffer_and_bounce_memory(Some(Amount::Bytes(9000)), Some(Amount::Bytes(250)));
        assert_eq!(bytes, Some(Memory { packets: None, bytes: Some(10_000) }));
    }

    #[test]
    fn a_buffer_in_packets_with_bounce_queues_in_bytes_is_limited() {
        let mixed = buffer_and_bounce_memory(Some(Amount::Packets(400)), Some(Amount::Bytes(12_500)));
        assert_eq!(mixed, Some(Memory { packets: Some(400), bytes: Some(50_000) }));
        assert_eq!(buffer_and_bounce_memory(None, Some(Amount::Packets(50))), None);
    }
}
