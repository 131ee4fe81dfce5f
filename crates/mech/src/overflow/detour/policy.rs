//! Policies of DIBS: choice of the port of a detour, and detours before the queue is full (DIBS §2, §7).

use crate::routing::Ecmp;
use crate::{Env, ForwardingContext, Head, PortId, hash_mix};

/// Constant that makes the hash for detours differ from that for equal-cost paths.
/// With one hash for both, all flows of one path would be sent to the same few ports.
const DETOUR_HASH_SALT: u64 = 0xD1B5;
/// Number of the most urgent traffic class.
const TOP_CLASS: f64 = 7.0;

/// Policy that chooses the ports of detours, and detours before a queue is full.
#[derive(Clone, Debug)]
pub(super) enum Policy {
    /// Uniform random choice among the eligible ports.
    Random,
    /// Eligible port with the fewest queued bytes, a uniform random choice among equals.
    LoadAware,
    /// First eligible port from the flow's hash on, so that a flow keeps its port.
    FlowBased(Ecmp),
    /// Uniform random choice as in `random`, with detours of growing probability already before the queue is full.
    Probabilistic {
        /// Fraction of the queue's limit up to which no packet of class 0 is detoured.
        lo: f64,
        /// Fraction of the queue's limit from which every packet of class 0 is detoured.
        hi: f64,
    },
}

/// Returns the detour threshold of a class, in equal steps from `least` for class 0 to 1 for class 7.
fn class_threshold(least: f64, class: u8) -> f64 {
    least + (1.0 - least) * f64::from(class) / TOP_CLASS
}

/// Returns the probability of a detour at utilisation `u` of a queue that is not full (DIBS §7): 0 up to lo, 1 from hi
/// on, linear between them.
pub(super) fn probability(u: f64, class: u8, (lo, hi): (f64, f64)) -> f64 {
    let (lo, hi) = (class_threshold(lo, class), class_threshold(hi, class));
    if u >= hi {
        return 1.0;
    }
    if u > lo { (u - lo) / (hi - lo) } else { 0.0 }
}

impl Policy {
    /// Sets the seed of the flow hash that chooses ports of detours, from the seed of the switch.
    pub fn set_seed(&mut self, hash_seed: u64) {
        if let Policy::FlowBased(hash) = self {
            *hash = Ecmp::new(hash_mix(hash_seed, DETOUR_HASH_SALT));
        }
    }

    /// Returns true if a packet may be detoured before its queue is full.
    pub fn may_detour_early(&self) -> bool {
        matches!(self, Policy::Probabilistic { .. })
    }

    /// Returns true if this packet is detoured although its queue is not full; may draw a random number.
    pub fn is_detoured_early(&self, pkt: &Head, at: &ForwardingContext, env: &mut Env) -> bool {
        let Policy::Probabilistic { lo, hi } = self else { return false };
        let fill = at.fill(at.output, pkt.queue());
        let Some(limit) = fill.limit else { return false };
        let p = probability(fill.used as f64 / limit as f64, pkt.class(), (*lo, *hi));
        p >= 1.0 || (p > 0.0 && env.rng.uniform() < p)
    }

    /// Returns the port for a detour; `None` if no port is eligible.
    /// If `ingress` is set, the port that the packet came in by is eligible, too.
    pub fn choose_port(&self, pkt: &Head, at: &ForwardingContext, ingress: bool, env: &mut Env) -> Option<PortId> {
        let (view, queue) = (at.view, pkt.queue());
        let others = || (0..view.ports()).map(PortId).filter(|port| *port != at.output && view.is_switch(*port));
        let takes = |port: &PortId| (ingress || *port != at.ingress) && at.fits_port_limit(*port, queue, pkt.size);
        let eligible = || others().filter(takes);
        match self {
            Policy::Random | Policy::Probabilistic { .. } => draw_port(eligible, env),
            Policy::LoadAware => {
                let load = |port: &PortId| view.port_backlog(*port).1;
                let least = eligible().map(|port| load(&port)).min()?;
                draw_port(|| eligible().filter(|port| load(port) == least), env)
            }
            Policy::FlowBased(hash) => {
                // The hash picks among all ports toward switches, not among the eligible ones. So a port that fills
                // moves only its own flows.
                let first = hash.hash_index(pkt.hash, others().count());
                others().skip(first).chain(others().take(first)).find(takes)
            }
        }
    }
}

/// Draws one of the ports uniformly; draws no number if there is no port.
fn draw_port<I: Iterator<Item = PortId>>(ports: impl Fn() -> I, env: &mut Env) -> Option<PortId> {
    // The first ports are kept, so that in most switches each is tested once and nothing is allocated.
    const MAX_KEPT_PORTS: usize = 32;
    let (mut first, mut count) = ([PortId(0); MAX_KEPT_PORTS], 0);
    for port in ports() {
        if count < MAX_KEPT_PORTS {
            first[count] = port;
        }
        count += 1;
    }
    if count == 0 {
        return None;
    }
    let chosen = env.rng.uniform_below(count as u64) as usize;
    if chosen < MAX_KEPT_PORTS { Some(first[chosen]) } else { ports().nth(chosen) }
}
