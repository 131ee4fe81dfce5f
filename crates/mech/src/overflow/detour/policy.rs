//! Which of the eligible ports a packet is detoured to, and whether it is before its queue is full
//! (DIBS §2, §7).

use crate::routing::Ecmp;
use crate::{Env, ForwardingContext, Head, PortId, hash_mix};

/// What keeps the hash for detours apart from that for equal-cost paths: one hash for both would send
/// the flows of one path to the same few ports.
const APART: u64 = 0xD1B5;
/// The most urgent class.
const TOP: f64 = 7.0;

/// A policy.
#[derive(Clone, Debug)]
pub(super) enum Policy {
    /// Uniform over the eligible ports.
    Random,
    /// The eligible port with the fewest waiting bytes, uniform over those that are equal.
    LoadAware,
    /// The first eligible port from where the flow's hash points on, so that a flow keeps to it.
    FlowBased(Ecmp),
    /// As `random`, from a share of the queue on with growing probability.
    Probabilistic {
        /// Where class 0 begins.
        lo: f64,
        /// Where class 0 is certain.
        hi: f64,
    },
}

/// The threshold of a class, where that of class 0 is `least`: equal steps up to 1 for class 7.
fn of_class(least: f64, class: u8) -> f64 {
    least + (1.0 - least) * f64::from(class) / TOP
}

/// The probability with which a packet of a class is detoured whose queue is filled to the share `u`
/// and has room: 0 up to lo, 1 from hi on, a straight line between (DIBS §7).
pub(super) fn probability(u: f64, class: u8, (lo, hi): (f64, f64)) -> f64 {
    let (lo, hi) = (of_class(lo, class), of_class(hi, class));
    if u >= hi {
        return 1.0;
    }
    if u > lo { (u - lo) / (hi - lo) } else { 0.0 }
}

impl Policy {
    /// Takes the seed of the switch's flow hash.
    pub fn seed(&mut self, hash_seed: u64) {
        if let Policy::FlowBased(hash) = self {
            *hash = Ecmp::new(hash_mix(hash_seed, APART));
        }
    }

    /// Whether a packet may be detoured though its queue has room.
    pub fn begins_early(&self) -> bool {
        matches!(self, Policy::Probabilistic { .. })
    }

    /// Whether a packet whose queue has room is detoured all the same.
    pub fn early(&self, pkt: &Head, at: &ForwardingContext, env: &mut Env) -> bool {
        let Policy::Probabilistic { lo, hi } = self else { return false };
        let fill = at.fill(at.out, pkt.queue());
        let Some(limit) = fill.limit else { return false };
        let p = probability(fill.used as f64 / limit as f64, pkt.class(), (*lo, *hi));
        p >= 1.0 || (p > 0.0 && env.rng.unit() < p)
    }

    /// The port that a packet is detoured to; `None` where none is eligible. `ingress` is whether the
    /// one that it came in by may be.
    pub fn choose(&self, pkt: &Head, at: &ForwardingContext, ingress: bool, env: &mut Env) -> Option<PortId> {
        let (view, queue) = (at.view, pkt.queue());
        let others = || (0..view.ports()).map(PortId).filter(|port| *port != at.out && view.is_switch(*port));
        let takes = |port: &PortId| (ingress || *port != at.ingress) && at.has_place(*port, queue, pkt.size);
        let eligible = || others().filter(takes);
        match self {
            Policy::Random | Policy::Probabilistic { .. } => draw(eligible, env),
            Policy::LoadAware => {
                let load = |port: &PortId| view.port_backlog(*port).1;
                let least = eligible().map(|port| load(&port)).min()?;
                draw(|| eligible().filter(|port| load(port) == least), env)
            }
            Policy::FlowBased(hash) => {
                let first = hash.place(pkt.hash, others().count());
                others().skip(first).chain(others().take(first)).find(takes)
            }
        }
    }
}

/// One of the ports, each equally likely; nothing is drawn where there is none.
fn draw<I: Iterator<Item = PortId>>(ports: impl Fn() -> I, env: &mut Env) -> Option<PortId> {
    const KEPT: usize = 32;
    let (mut first, mut count) = ([PortId(0); KEPT], 0);
    for port in ports() {
        if count < KEPT {
            first[count] = port;
        }
        count += 1;
    }
    if count == 0 {
        return None;
    }
    let chosen = env.rng.below(count as u64) as usize;
    if chosen < KEPT { Some(first[chosen]) } else { ports().nth(chosen) }
}
