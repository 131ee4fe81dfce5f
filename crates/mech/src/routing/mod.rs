//! The routing slot: which of the next hops that lead to the destination?

mod ecmp;
mod spray;
mod weighted;

pub use ecmp::Ecmp;
pub use spray::Spray;
pub use weighted::Weighted;

use crate::params::{Spec, Values};
use crate::{Env, Head, PortId};

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
pub enum Way<'a> {
    /// It cannot be reached.
    None,
    /// By this port.
    Only(PortId),
    /// By one of these, of which there are two or more.
    Among(&'a [Hop]),
}

/// A way to choose among next hops.
pub trait Routing: Send + Sync {
    /// The place in `hops` of the one that `pkt` takes. PRECONDITION: `hops` has two or more.
    fn choose(&mut self, pkt: &Head, hops: &[Hop], env: &mut Env) -> usize;
    /// The same for a flow hash alone, without a draw: what the tables say of a way back.
    fn table(&self, hash: u32, hops: &[Hop]) -> usize;
    /// A copy, with its state.
    fn boxed(&self) -> Box<dyn Routing>;
}

/// The mechanisms of this slot.
pub const SPECS: &[&Spec] = &[&ecmp::SPEC, &spray::SPEC, &weighted::SPEC];

/// One mechanism, or a caller's own.
pub enum RoutingSlot {
    /// `ecmp`
    Ecmp(Ecmp),
    /// `spray`
    Spray(Spray),
    /// `weighted`
    Weighted(Weighted),
    /// A mechanism from outside the catalogue.
    Custom(Box<dyn Routing>),
}

impl RoutingSlot {
    /// The mechanism named `kind`, its flow hash seeded; `None` where the catalogue has none of
    /// that name.
    pub fn build(kind: &str, _values: &Values, hash_seed: u64) -> Option<RoutingSlot> {
        let ecmp = Ecmp::new(hash_seed);
        Some(match kind {
            "ecmp" => RoutingSlot::Ecmp(ecmp),
            "spray" => RoutingSlot::Spray(Spray::new(ecmp)),
            "weighted" => RoutingSlot::Weighted(Weighted::new(ecmp)),
            _ => return None,
        })
    }
    /// The mechanism.
    #[inline]
    pub fn get(&mut self) -> &mut dyn Routing {
        match self {
            RoutingSlot::Ecmp(m) => m,
            RoutingSlot::Spray(m) => m,
            RoutingSlot::Weighted(m) => m,
            RoutingSlot::Custom(m) => &mut **m,
        }
    }
    /// The mechanism, to read.
    pub fn peek(&self) -> &dyn Routing {
        match self {
            RoutingSlot::Ecmp(m) => m,
            RoutingSlot::Spray(m) => m,
            RoutingSlot::Weighted(m) => m,
            RoutingSlot::Custom(m) => &**m,
        }
    }
}

impl Clone for RoutingSlot {
    fn clone(&self) -> RoutingSlot {
        match self {
            RoutingSlot::Ecmp(m) => RoutingSlot::Ecmp(m.clone()),
            RoutingSlot::Spray(m) => RoutingSlot::Spray(m.clone()),
            RoutingSlot::Weighted(m) => RoutingSlot::Weighted(m.clone()),
            RoutingSlot::Custom(m) => RoutingSlot::Custom(m.boxed()),
        }
    }
}
