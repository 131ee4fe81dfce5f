//! Checks of a switch's queueing model: keys, slots and sizes that the model excludes.

use super::fields::{Faults, TotalSizes};
use super::tree::Node;
use crate::diag::format_fault;
use crate::model::{Cioq, SwitchConfig};
use crate::topology;
use mech::fib::KnownAddresses;
use units::Dur;

/// Keys of `[switch]` that describe the input side.
const INPUT_KEYS: [&str; 3] = ["arbiter", "input_buffer", "speedup"];

/// Refuses keys of `[switch]` that its queueing model excludes. `switch` is the table; `config` has one port, which
/// stands for all ports that the table fills.
pub(super) fn check_model_settings(switch: &Node, config: &SwitchConfig, faults: &mut Faults) {
    let stages = config.model.input_side().and_then(|cioq| cioq.fabric.as_ref());
    let model = if stages.is_some() { "fabric" } else { "cioq" };
    match (stages, switch.get("fabric")) {
        (Some(fabric), _) if fabric.slot.peek().stage_params().is_none() => {
            let rule = "a `fabric` that describes how its stages are connected";
            faults.add_fault(&switch.locate("model"), format_fault("model = \"fabric\" without stages", rule));
        }
        (None, Some(node)) => {
            faults
                .add_fault(&node.at, format_fault("`fabric` with a model other than \"fabric\"", "model = \"fabric\""));
        }
        _ => {}
    }
    if config.model.input_side().is_none() {
        for key in INPUT_KEYS {
            if let Some(node) = switch.get(key) {
                let rule = "model = \"cioq\" or \"fabric\", because an output-queued switch has no queues at inputs";
                faults.add_fault(&node.at, format_fault(format!("`{key}` with model = \"output_queued\""), rule));
            }
        }
        return;
    }
    for (key, found, rule) in list_refused_settings(config) {
        let found = format!("{found} with model = \"{model}\"");
        faults.add_fault(&switch.locate(key), format_fault(found, rule));
    }
}

/// Returns settings that a `cioq` switch excludes: the key, its value, and the rule.
fn list_refused_settings(config: &SwitchConfig) -> Vec<(&'static str, String, &'static str)> {
    let kind = |kind: &str| format!("{kind:?}");
    let answer = config.overflow.slot.peek();
    let overflow = answer.needs().removes_packets.then(|| {
        let rule = "an overflow mechanism that does not remove or cut queued packets. `evict`, and `trim` with victim \
                    = \"coin\", cannot reach packets in virtual output queues";
        ("overflow.kind", kind(&config.overflow.kind), rule)
    });
    let delay = answer.cut_effect().delay;
    let delay = (delay > Dur::ZERO).then(|| {
        ("overflow.cut_delay", delay.to_string(), "0s, because cut packets are queued at their input without a delay")
    });
    let buffer = config.buffer.slot.peek().fixed_thresholds().is_none().then(|| {
        let rule = "a separate buffer for every output (`per_port` or `unlimited`), because inputs and outputs share \
                    no memory";
        ("buffer.kind", kind(&config.buffer.kind), rule)
    });
    let floods = config.fib.slot.peek().is_some_and(|table| table.known_addresses() != KnownAddresses::All);
    let fib = floods.then(|| {
        let rule = "preset = \"all\", because the fabric cannot copy flooded frames";
        ("fib.kind", kind(&config.fib.kind), rule)
    });
    [overflow, delay, buffer, fib].into_iter().flatten().collect()
}

/// Refuses a fabric whose stages do not fit a switch with this number of ports.
pub(super) fn check_stages(switch: &Node, cioq: &Cioq, ports: u16, faults: &mut Faults) {
    let Some(fabric) = cioq.fabric.as_ref().map(|fabric| fabric.slot.peek()) else { return };
    if ports < fabric.edge_stages() {
        let found = format!("{} stages for a switch of {ports} ports", fabric.edge_stages());
        faults.add_fault(
            &switch.locate("fabric.elements"),
            format_fault(
                found,
                "at most as many edge stages as the switch has \
                                                                    ports",
            ),
        );
    }
    // Ports and buffers inside a switch share one range of 16-bit numbers.
    let buffers = 3 * u64::from(ports) + 2 * fabric.links().len() as u64;
    if buffers >= u64::from(u16::MAX) {
        let found = format!("{buffers} ports and buffers inside a switch");
        faults.add_fault(&switch.locate("fabric"), format_fault(found, format!("fewer than {}", u16::MAX)));
    }
}

/// Refuses too many virtual output queues, and a speedup that is too large for the rate of a link.
pub(super) fn check_virtual_queues(switch: &Node, cioq: &Cioq, node: &topology::Node, faults: &mut Faults) {
    let (ports, before) = (node.ports.len() as u64, faults.total_sizes.virtual_queues);
    faults.total_sizes.virtual_queues += ports * ports;
    // The message appears once, at the first switch above the bound.
    if before <= TotalSizes::MAX_VIRTUAL_QUEUES && faults.total_sizes.virtual_queues > TotalSizes::MAX_VIRTUAL_QUEUES {
        let found = format!("{} virtual output queues in the switches read so far", faults.total_sizes.virtual_queues);
        let rule =
            format!("at most {} in all variants together, one for each pair of ports", TotalSizes::MAX_VIRTUAL_QUEUES);
        faults.add_fault(&switch.locate("model"), format_fault(found, rule));
    }
    if let Some(port) = node.ports.iter().find(|port| cioq.speedup.rate(port.rate).is_none()) {
        let found = format!("{} times {}", cioq.speedup.number(), port.rate);
        faults.add_fault(
            &switch.locate("speedup"),
            format_fault(found, "a multiple of the link's rate that fits 64 bits"),
        );
    }
}
