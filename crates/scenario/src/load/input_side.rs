//! Which model a switch is of, and what does not go together with it.

use super::fields::{Asked, Faults};
use super::tree::Node;
use crate::diag::message;
use crate::model::{Cioq, SwitchConfig};
use crate::topology;
use mech::fib::Known;
use units::Dur;

/// The keys of `[switch]` that say what the input side of a switch is.
const OF_INPUTS: [&str; 3] = ["arbiter", "input_buffer", "speedup"];

/// What is refused beside the model of a switch. `switch` is the table; the ports of `config` are one, for all that are
/// filled by that table.
pub(super) fn check(switch: &Node, config: &SwitchConfig, faults: &mut Faults) {
    let stages = config.model.cioq().and_then(|cioq| cioq.fabric.as_ref());
    let model = if stages.is_some() { "fabric" } else { "cioq" };
    match (stages, switch.get("fabric")) {
        (Some(fabric), _) if fabric.slot.peek().rules().is_none() => {
            let rule = "a `fabric` beside it that says how stages inside are joined";
            faults.add(&switch.find("model"), message("model = \"fabric\" without stages", rule));
        }
        (None, Some(node)) => {
            faults.add(&node.at, message("`fabric` with another model", "model = \"fabric\" beside it"));
        }
        _ => {}
    }
    if config.model.cioq().is_none() {
        for key in OF_INPUTS {
            if let Some(node) = switch.get(key) {
                let rule =
                    "model = \"cioq\" or \"fabric\" beside it; in an output-queued switch nothing waits at inputs";
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

/// What a `cioq` switch cannot have: the key, what it says, and why not.
fn refused(config: &SwitchConfig) -> Vec<(&'static str, String, &'static str)> {
    let kind = |kind: &str| format!("{kind:?}");
    let answer = config.overflow.slot.peek();
    let overflow = answer.needs().removes.then(|| {
        let rule = "an answer that neither removes nor cuts what waits (`evict`, and `trim` with victim = \"coin\", do): it lies \
                    in virtual output queues";
        ("overflow.kind", kind(&config.overflow.kind), rule)
    });
    let delay = answer.cut().delay;
    let delay = (delay > Dur::ZERO).then(|| {
        ("overflow.cut_delay", delay.to_string(), "0s: what is cut waits at its input at once, in no place of its own")
    });
    let buffer = config.buffer.slot.peek().plain().is_none().then(|| {
        let rule = "a buffer of its own for every output: inputs and outputs share no memory";
        ("buffer.kind", kind(&config.buffer.kind), rule)
    });
    let floods = config.fib.slot.peek().is_some_and(|table| table.known() != Known::All);
    let fib = floods.then(|| {
        let rule = "a table that knows all addresses from the start (preset = \"all\"): copies of flooded frames do not \
                    cross the fabric";
        ("fib.kind", kind(&config.fib.kind), rule)
    });
    [overflow, delay, buffer, fib].into_iter().flatten().collect()
}

/// What does not fit a switch with so many ports.
pub(super) fn check_stages(switch: &Node, cioq: &Cioq, ports: u16, faults: &mut Faults) {
    let Some(fabric) = cioq.fabric.as_ref().map(|fabric| fabric.slot.peek()) else { return };
    if ports < fabric.edges() {
        let found = format!("{} stages for a switch of {ports} ports", fabric.edges());
        faults.add(&switch.find("fabric.elements"), message(found, "a port at least for every stage that has some"));
    }
    // A number of 16 bits tells ports and the buffers inside apart.
    let buffers = 3 * u64::from(ports) + 2 * fabric.links().len() as u64;
    if buffers >= u64::from(u16::MAX) {
        let found = format!("{buffers} ports and buffers inside a switch");
        faults.add(&switch.find("fabric"), message(found, format!("fewer than {}", u16::MAX)));
    }
}

/// What does not fit the network: too many virtual output queues, and multiples of rates that have no exact number.
pub(super) fn check_size(switch: &Node, cioq: &Cioq, node: &topology::Node, faults: &mut Faults) {
    let (ports, before) = (node.ports.len() as u64, faults.asked.virtual_queues);
    faults.asked.virtual_queues += ports * ports;
    // Told of once, of the first switch that is too much.
    if before <= Asked::MOST_VIRTUAL_QUEUES && faults.asked.virtual_queues > Asked::MOST_VIRTUAL_QUEUES {
        let found = format!("{} virtual output queues in the switches up to here", faults.asked.virtual_queues);
        let rule = format!("at most {} of a class in all variants together", Asked::MOST_VIRTUAL_QUEUES);
        faults.add(&switch.find("model"), message(found, rule));
    }
    if let Some(port) = node.ports.iter().find(|port| cioq.speedup.rate(port.rate).is_none()) {
        let found = format!("{} times {}", cioq.speedup.number(), port.rate);
        faults.add(&switch.find("speedup"), message(found, "a multiple of the link's rate that fits 64 bits"));
    }
}
