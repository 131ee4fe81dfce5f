//! Checks of forwarding tables against the network: one kind for all switches, and no flooding in loops.
//!
//! Switches have no spanning tree: a frame that is flooded into a loop would be copied again at every turn.

use super::checks::{check_host_exists, locate_switch_setting};
use super::fields::Faults;
use super::tree::Node;
use crate::diag::format_fault;
use crate::model::SwitchConfig;
use crate::topology::Topology;
use mech::fib::KnownAddresses;
use std::collections::BTreeSet;

/// Checks `switch.fib` of a whole network. `document` is the variant.
pub(super) fn check_fibs(document: &Node, net: &Topology, switches: &[SwitchConfig], faults: &mut Faults) {
    let learning: Vec<(&str, KnownAddresses)> = switches
        .iter()
        .filter_map(|switch| Some((switch.fib.kind.as_str(), switch.fib.slot.peek()?.known_addresses())))
        .collect();
    let Some((kind, _)) = learning.first().copied() else { return };
    let at = locate_switch_setting(document, "fib");
    if learning.len() < switches.len() {
        let found = format!("`{kind}` at {} of {} switches", learning.len(), switches.len());
        let rule = "the same `fib` at all switches. For switches that know all addresses, set preset = \"all\"";
        faults.add_fault(&at, format_fault(found, rule));
    }
    let (mut seen, mut floods) = (BTreeSet::new(), false);
    for (_, known) in learning {
        let KnownAddresses::Hosts(key, names) = known else {
            floods |= known == KnownAddresses::None;
            continue;
        };
        let before = faults.count;
        let hosts: BTreeSet<&str> = names.iter().map(String::as_str).collect();
        for name in hosts.iter().filter(|name| seen.insert(name.to_string())) {
            check_host_exists(&locate_switch_setting(document, &format!("fib.{key}")), name, net, faults);
        }
        floods |= faults.count == before && (hosts.len() as u64) < u64::from(net.hosts);
    }
    if let Some((a, b)) = find_loop_link(net).filter(|_| floods) {
        let name = |node: u32| &net.nodes[node as usize].name;
        let found = format!(
            "`{kind}`, which floods frames, in a network with a loop of switches (closed by the link between {} and \
             {})",
            name(a),
            name(b)
        );
        faults.add_fault(
            &at,
            format_fault(found, "a network without loops, or preset = \"all\", with which no frame is flooded"),
        );
    }
}

/// Returns the ends of the first link, in order of nodes, that closes a loop of switches.
fn find_loop_link(net: &Topology) -> Option<(u32, u32)> {
    let mut above: Vec<u32> = (0..net.nodes.len() as u32).collect();
    fn find_root(above: &mut [u32], mut node: u32) -> u32 {
        while above[node as usize] != node {
            above[node as usize] = above[above[node as usize] as usize];
            node = above[node as usize];
        }
        node
    }
    for node in net.hosts..net.nodes.len() as u32 {
        for (port, own) in net.nodes[node as usize].ports.iter().zip(0u16..) {
            // Each link is followed only from its lower end, because its other end would seem to close a loop. A link
            // from a switch to itself does close one.
            if port.peer < net.hosts || (port.peer, port.peer_port) < (node, own) {
                continue;
            }
            let (a, b) = (find_root(&mut above, node), find_root(&mut above, port.peer));
            if a == b {
                return Some((node, port.peer));
            }
            above[a as usize] = b;
        }
    }
    None
}
