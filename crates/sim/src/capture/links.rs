//! Links that are captured, by the names that users type.

use scenario::diag::format_fault;
use scenario::topology::{self, Node, Topology};
use units::Rate;
use wire::Interface;

/// Link to be captured.
#[derive(Clone, Debug, PartialEq)]
pub struct CapturedLink {
    /// Name `a:b`, with the lower node first; `a:b:n` if several links join the nodes.
    pub name: String,
    /// Ports at the first and second end of the link, counted over the whole network.
    pub(super) ports: [u32; 2],
    /// Name and speed of each direction of the link, as pcapng interfaces.
    pub(super) interfaces: [Interface; 2],
}

/// Returns the links that `texts` name, each once; [`Topology::find_link`] parses the names.
///
/// # Errors
/// Returns a line for each text that names no link, with the accepted names.
pub fn parse_links(topology: &Topology, texts: &[String]) -> Result<Vec<CapturedLink>, Vec<String>> {
    let (mut found, mut faults) = (Vec::<CapturedLink>::new(), Vec::new());
    let base = first_ports(topology);
    for text in texts {
        match topology.find_link(text).map(|named| locate_link(topology, &base, named)) {
            Ok(link) if found.iter().all(|other| other.ports != link.ports) => found.push(link),
            Ok(_) => {}
            Err(expected) => faults.push(format!("--pcap: {}", format_fault(format!("`{text}`"), expected))),
        }
    }
    if faults.is_empty() { Ok(found) } else { Err(faults) }
}

/// Returns the first port of each node, counted over the whole network.
fn first_ports(topology: &Topology) -> Vec<u32> {
    let next = |ports: &mut u32, node: &Node| {
        let first = *ports;
        *ports += node.ports.len() as u32;
        Some(first)
    };
    topology.nodes.iter().scan(0, next).collect()
}

fn locate_link(topology: &Topology, base: &[u32], named: topology::Link) -> CapturedLink {
    let topology::Link { name, number, ends: [low, high] } = named;
    let node = |end: (u32, u16)| &topology.nodes[end.0 as usize];
    let interface = |from: (u32, u16), to: (u32, u16)| Interface {
        name: format!("{}>{}{number}", node(from).name, node(to).name),
        speed_bps: whole_bits_per_second(node(from).ports[usize::from(from.1)].rate),
    };
    CapturedLink {
        name,
        ports: [low, high].map(|(node, port)| base[node as usize] + u32::from(port)),
        interfaces: [interface(low, high), interface(high, low)],
    }
}

/// Returns a rate in bits per second, if it is a whole number.
fn whole_bits_per_second(rate: Rate) -> Option<u64> {
    let bps = rate.as_f64();
    (bps.fract() == 0.0 && bps < 2f64.powi(53)).then_some(bps as u64)
}

#[cfg(test)]
mod tests;
