//! The routing slot: which of the next hops that lead to the destination?

mod address_plan;
mod ecmp;
mod k_shortest;
mod spray;
mod two_level;
mod weighted;
mod yen;

pub use address_plan::{AddressPlan, Position};
pub use ecmp::Ecmp;
pub use k_shortest::{KShortest, Paths};
pub use spray::Spray;
pub use two_level::{Entry, Part, Table, TwoLevel, entries};
pub use weighted::Weighted;
pub use yen::{Graph, Step};

use crate::params::{Spec, Values};
use crate::{Env, Head, HostId, PortId};
use std::sync::Arc;

/// One way to a destination.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hop {
    /// The port to leave by.
    pub port: PortId,
    /// Its share where the split is weighted, at least 0.
    pub weight: f64,
}

/// What a table says of a destination.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NextHops<'a> {
    /// It cannot be reached.
    None,
    /// By this port.
    Only(PortId),
    /// By one of these: two or more, or a single one where the routing slot is to be asked all the same.
    Among(&'a [Hop]),
}

/// A way to choose among next hops.
pub trait Routing: Send + Sync {
    /// The place in `hops` of the one that `pkt` takes. PRECONDITION: `hops` has one or more.
    fn choose(&mut self, pkt: &Head, hops: &[Hop], env: &mut Env) -> usize;
    /// The same for a destination and a flow hash alone, without a draw: what the tables say of a way
    /// back.
    fn table(&self, host: HostId, hash: u32, hops: &[Hop]) -> usize;
    /// The port that `pkt` leaves by: that of the chosen hop, unless its path leads elsewhere.
    fn leave(&mut self, pkt: &Head, hops: &[Hop], env: &mut Env) -> PortId {
        hops[self.choose(pkt, hops, env)].port
    }
    /// The same for a source, a destination and a flow hash alone, without a draw.
    fn along(&self, (_, dst): (HostId, HostId), hash: u32, hops: &[Hop]) -> PortId {
        hops[self.table(dst, hash, hops)].port
    }
    /// A copy, with its state.
    fn boxed(&self) -> Box<dyn Routing>;
}

/// The mechanisms of this slot.
pub const SPECS: &[&Spec] = &[&ecmp::SPEC, &spray::SPEC, &two_level::SPEC, &weighted::SPEC, &k_shortest::SPEC];

/// What a switch's routing is made from beside its parameters.
#[derive(Clone, Debug, Default)]
pub struct SwitchContext {
    /// The seed of its flow hash.
    pub hash_seed: u64,
    /// Where it stands, in a fat-tree.
    pub position: Option<(AddressPlan, Position)>,
    /// The paths of the network, and the number of this switch in them.
    pub paths: Option<(Arc<Paths>, u32)>,
}

/// One mechanism, or a caller's own.
pub enum RoutingSlot {
    /// `ecmp`
    Ecmp(Ecmp),
    /// `spray`
    Spray(Spray),
    /// `two_level`
    TwoLevel(TwoLevel),
    /// `weighted`
    Weighted(Weighted),
    /// `k_shortest`
    KShortest(KShortest),
    /// A mechanism from outside the catalogue.
    Custom(Box<dyn Routing>),
}

impl RoutingSlot {
    /// The mechanism named `kind` for one switch; `None` where the catalogue has none of that name,
    /// or the switch has no position or paths and needs them.
    pub fn build(kind: &str, _values: &Values, own: SwitchContext) -> Option<RoutingSlot> {
        let ecmp = Ecmp::new(own.hash_seed);
        Some(match kind {
            "ecmp" => RoutingSlot::Ecmp(ecmp),
            "spray" => RoutingSlot::Spray(Spray::new(ecmp)),
            "two_level" => own.position.map(|(plan, position)| RoutingSlot::TwoLevel(TwoLevel::new(plan, position)))?,
            "weighted" => RoutingSlot::Weighted(Weighted::new(ecmp)),
            "k_shortest" => own.paths.map(|(paths, at)| RoutingSlot::KShortest(KShortest::new(paths, at, ecmp)))?,
            _ => return None,
        })
    }
    /// The mechanism.
    #[inline]
    pub fn get(&mut self) -> &mut dyn Routing {
        match self {
            RoutingSlot::Ecmp(m) => m,
            RoutingSlot::Spray(m) => m,
            RoutingSlot::TwoLevel(m) => m,
            RoutingSlot::Weighted(m) => m,
            RoutingSlot::KShortest(m) => m,
            RoutingSlot::Custom(m) => &mut **m,
        }
    }
    /// The mechanism, to read.
    pub fn peek(&self) -> &dyn Routing {
        match self {
            RoutingSlot::Ecmp(m) => m,
            RoutingSlot::Spray(m) => m,
            RoutingSlot::TwoLevel(m) => m,
            RoutingSlot::Weighted(m) => m,
            RoutingSlot::KShortest(m) => m,
            RoutingSlot::Custom(m) => &**m,
        }
    }
}

impl Clone for RoutingSlot {
    fn clone(&self) -> RoutingSlot {
        match self {
            RoutingSlot::Ecmp(m) => RoutingSlot::Ecmp(m.clone()),
            RoutingSlot::Spray(m) => RoutingSlot::Spray(m.clone()),
            RoutingSlot::TwoLevel(m) => RoutingSlot::TwoLevel(m.clone()),
            RoutingSlot::Weighted(m) => RoutingSlot::Weighted(m.clone()),
            RoutingSlot::KShortest(m) => RoutingSlot::KShortest(m.clone()),
            RoutingSlot::Custom(m) => RoutingSlot::Custom(m.boxed()),
        }
    }
}
