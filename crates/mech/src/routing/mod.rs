//! The routing slot: which of the next hops that lead to the destination?

mod address_plan;
mod ecmp;
mod flow_hash;
mod k_shortest;
mod paths;
mod spray;
mod switch_context;
mod two_level;
mod weighted;
mod yen;

pub use address_plan::{AddressPlan, Position};
pub use ecmp::Ecmp;
pub use flow_hash::FlowHash;
pub use k_shortest::KShortest;
pub use paths::Paths;
pub use spray::Spray;
pub use switch_context::SwitchContext;
pub use two_level::{Entry, Part, Table, TwoLevel, entries};
pub use weighted::Weighted;
pub use yen::{Graph, Step};

use crate::{Beside, Env, Head, HostId, Mechanism, PortId, Report};

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

/// Port that stands for a choice outside the list of next hops.
pub const NO_HOP: PortId = PortId(u16::MAX);

/// Returns the port of the hop at `place`, or [`NO_HOP`] outside of the list.
pub fn port_of(hops: &[Hop], place: usize) -> PortId {
    hops.get(place).map_or(NO_HOP, |hop| hop.port)
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
        port_of(hops, self.choose(pkt, hops, env))
    }
    /// The same for a source, a destination and a flow hash alone, without a draw.
    fn along(&self, (_, dst): (HostId, HostId), hash: u32, hops: &[Hop]) -> PortId {
        port_of(hops, self.table(dst, hash, hops))
    }
    /// Whether a packet may draw the hop at `place`, as others of its flow may draw others: the flow's way is none of
    /// its own. Where no hop is drawn, every packet of a flow leaves as [`Routing::along`] says.
    fn draws(&self, _hops: &[Hop], _place: usize) -> bool {
        false
    }
    /// Makes it ready for one switch.
    fn for_switch(&mut self, _own: &SwitchContext) {}
    /// Whether it routes by the addresses of a fat-tree, and needs to know where the switch stands.
    fn needs_addresses(&self) -> bool {
        false
    }
    /// As many paths between each two switches with hosts as it needs, the same at all switches, and the parameter
    /// that says so.
    fn needs_paths(&self) -> Option<(&'static str, u64)> {
        None
    }
    /// Whether it goes by the weights of links.
    fn needs_weights(&self) -> bool {
        false
    }
    /// Whether both directions of a flow are to have one hash, at all switches.
    fn is_symmetric(&self) -> bool {
        false
    }
    /// What is wrong with it in this network.
    fn check(&self, _beside: &Beside, _report: &mut Report) {}
    /// A copy, with its state.
    fn boxed(&self) -> Box<dyn Routing>;
}

/// The mechanisms of this slot.
pub const ALL: &[Mechanism<RoutingSlot>] = &[
    Mechanism::new(&ecmp::SPEC, |values| Ecmp::from_values(values).into()),
    Mechanism::new(&spray::SPEC, |_| Spray::new(Ecmp::default()).into()),
    Mechanism::new(&two_level::SPEC, |_| TwoLevel::default().into()),
    Mechanism::new(&weighted::SPEC, |_| Weighted::new(Ecmp::default()).into()),
    Mechanism::new(&k_shortest::SPEC, |values| KShortest::new(values).into()),
];

slot! {
    /// How a switch chooses among next hops.
    RoutingSlot(Chooser) of Routing {
        Ecmp(Ecmp),
        Spray(Spray),
        TwoLevel(TwoLevel),
        Weighted(Weighted),
        KShortest(KShortest),
    }
}

impl RoutingSlot {
    /// The same for one switch.
    #[must_use]
    pub fn for_switch(mut self, own: &SwitchContext) -> RoutingSlot {
        self.get().for_switch(own);
        self
    }
    /// The port that a packet will leave by, where that takes no draw and changes nothing.
    #[inline(always)]
    pub fn predict(&self, head: &Head, hops: &[Hop]) -> Option<PortId> {
        match &self.0 {
            Chooser::Ecmp(own) => Some(hops[own.place(head.hash, hops.len())].port),
            Chooser::TwoLevel(own) => Some(hops[own.place(head.dst, hops)].port),
            Chooser::KShortest(own) => Some(own.port((head.src, head.dst), head.hash, hops)),
            _ => None,
        }
    }
    /// The port that a packet leaves by.
    #[inline(always)]
    pub fn leave(&mut self, head: &Head, hops: &[Hop], env: &mut Env) -> PortId {
        match &self.0 {
            Chooser::Ecmp(own) => hops[own.place(head.hash, hops.len())].port,
            _ => self.get().leave(head, hops, env),
        }
    }
}
