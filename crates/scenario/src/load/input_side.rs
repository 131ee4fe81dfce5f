//! Checks of a switch's model: keys, slots and sizes that it excludes.

use super::fields::{Asked, Faults};
use super::tree::Node;
use crate::diag::message;
use crate::model::{Cioq, SwitchConfig};
use crate::topology;
use mech::fib::Known;
use units::Dur;

/// Keys of `[switch]` that describe the input side.
const OF_INPUTS: [&str; 3] = ["arbiter", "input_buffer", "speedup"];

/// Refuses settings that the model of a switch excludes. `switch` is the table; `config` has one port, which stands for
/// all ports that the table fills.
pub(super) fn check(switch: &Node, config: &SwitchConfig, faults: &mut Faults) {
    let stages = config.model.cioq().and_then(|cioq| cioq.fabric.as_ref());
    let model = if stages.is_some() { "fabric" } else { "cioq" };
    match (stages, switch.get("fabric")) {
        (Some(fabric), _) if fabric.slot.peek().rules().is_none() => {
            let rule = "a `fabric` that describes how its stages are connected";
            faults.add(&switch.find("model"), message("model = \"fabric\" without stages", rule));
        }
        (None, Some(node)) => {
            faults.add(&node.at, message("`fabric` with another model", "model = \"fabric\""));
        }
        _ => {}
    }
    if config.model.cioq().is_none() {
        for key in OF_INPUTS {
            if let Some(node) = switch.get(key) {
                let rule = "model = \"cioq\" or \"fabric\"; an output-queued switch has no queues at inputs";
                faults.add(&node.at, message(format!("`{key}` with model = \"output_queued\""), rule));
            }
        }
        return;
    }
    for (key, found, rule) in refused(config) {
        let found = format!("{found} with model = \"{model}\"");
        faults.add(&switch.find(key), message(found, rule));
    }
}

/// Returns settings that a `cioq` switch excludes: the key, its value, and the rule.
fn refused(config: &SwitchConfig) -> Vec<(&'static str, String, &'static str)> {
    let kind = |kind: &str| format!("{kind:?}");
    let answer = config.overflow.slot.peek();
    let overflow = answer.needs().removes.then(|| {
        let rule = "a mechanism that neither removes nor cuts queued packets (`evict`, and `trim` with victim = \
                    \"coin\", do), because those packets are in virtual output queues";
        ("overflow.kind", kind(&config.overflow.kind), rule)
    });
    let delay = answer.cut().delay;
    let delay = (delay > Dur::ZERO).then(|| {
        (
            "overflow.cut_delay",
            delay.to_string(),
            "0s: cut packets are queued at their input immediately, without a stage of their own",
        )
    });
    let buffer = config.buffer.slot.peek().plain().is_none().then(|| {
        let rule = "a separate buffer for every output: inputs and outputs share no memory";
        ("buffer.kind", kind(&config.buffer.kind), rule)
    });
    let floods = config.fib.slot.peek().is_some_and(|table| table.known() != Known::All);
    let fib = floods.then(|| {
        let rule = "a table with all addresses from the start (preset = \"all\"): the fabric carries no copies of \
                    flooded frames";
        ("fib.kind", kind(&config.fib.kind), rule)
    });
    [overflow, delay, buffer, fib].into_iter().flatten().collect()
}

/// Refuses stages that do not fit a switch with this number of ports.
pub(super) fn check_stages(switch: &Node, cioq: &Cioq, ports: u16, faults: &mut Faults) {
    let Some(fabric) = cioq.fabric.as_ref().map(|fabric| fabric.slot.peek()) else { return };
    if ports < fabric.edges() {
        let found = format!("{} stages for a switch of {ports} ports", fabric.edges());
        faults.add(&switch.find("fabric.elements"), message(found, "at least one port for every stage that has ports"));
    }
    // One 16-bit number identifies a port or a buffer inside the switch.
    let buffers = 3 * u64::from(ports) + 2 * fabric.links().len() as u64;
    if buffers >= u64::from(u16::MAX) {
        let found = format!("{buffers} ports and buffers inside a switch");
        faults.add(&switch.find("fabric"), message(found, format!("fewer than {}", u16::MAX)));
    }
}

/// Refuses too many virtual output queues, and multiples of rates that are not exact.
pub(super) fn check_size(switch: &Node, cioq: &Cioq, node: &topology::Node, faults: &mut Faults) {
    let (ports, before) = (node.ports.len() as u64, faults.asked.virtual_queues);
    faults.asked.virtual_queues += ports * ports;
    // The message appears once, at the first switch above the bound.
    if before <= Asked::MOST_VIRTUAL_QUEUES && faults.asked.virtual_queues > Asked::MOST_VIRTUAL_QUEUES {
        let found = format!("{} virtual output queues in the switches read so far", faults.asked.virtual_queues);
        let rule = format!("at most {} for each class in all variants together", Asked::MOST_VIRTUAL_QUEUES);
        faults.add(&switch.find("model"), message(found, rule));
    }
    if let Some(port) = node.ports.iter().find(|port| cioq.speedup.rate(port.rate).is_none()) {
        let found = format!("{} times {}", cioq.speedup.number(), port.rate);
        faults.add(&switch.find("speedup"), message(found, "a multiple of the link's rate that fits 64 bits"));
    }
}
