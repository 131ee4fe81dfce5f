//! Routing slot: chooses one of the next hops toward the destination.

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

pub use address_plan::{AddressPlan, FatTreePosition};
pub use ecmp::Ecmp;
pub use flow_hash::FlowHash;
pub use k_shortest::KShortest;
pub use paths::Paths;
pub use spray::Spray;
pub use switch_context::SwitchContext;
pub use two_level::{AddressPart, TableEntry, TwoLevel, TwoLevelTable, table_entries};
pub use weighted::Weighted;
pub use yen::{PathStep, SwitchGraph};

use crate::{CheckContext, Env, Head, HostId, Mechanism, PortId, Report};

/// Next hop toward a destination.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hop {
    /// Output port of the hop.
    pub port: PortId,
    /// Weight of the hop in a weighted split, at least 0.
    pub weight: f64,
}

/// Next hops of a destination in a routing table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NextHops<'a> {
    /// Unreachable destination.
    None,
    /// Single port toward the destination.
    Only(PortId),
    /// Two or more ports toward the destination, or a single one about which the routing slot must decide.
    Several(&'a [Hop]),
}

/// Port number that stands for a choice outside the list of next hops.
pub const NO_HOP: PortId = PortId(u16::MAX);

/// Returns the port of the next hop at index `place`, or [`NO_HOP`] outside of the list.
pub fn hop_port(hops: &[Hop], place: usize) -> PortId {
    hops.get(place).map_or(NO_HOP, |hop| hop.port)
}

/// Mechanism that chooses among next hops.
///
/// ```
/// use mech::routing::{Hop, Routing};
/// use mech::{Acts, Env, Head, HostId, PortId, StreamPurpose, Stream};
///
/// /// Chooses the next hop by the destination modulo the number of next hops.
/// #[derive(Clone)]
/// struct ByDestination;
///
/// impl Routing for ByDestination {
///     fn choose_hop(&mut self, pkt: &Head, hops: &[Hop], _env: &mut Env) -> usize {
///         self.hop_by_hash(pkt.dst, pkt.hash, hops)
///     }
///     fn hop_by_hash(&self, host: HostId, _hash: u32, hops: &[Hop]) -> usize {
///         host.0 as usize % hops.len()
///     }
///     fn clone_boxed(&self) -> Box<dyn Routing> {
///         Box::new(self.clone())
///     }
/// }
///
/// let hops = [8, 9, 10].map(|port| Hop { port: PortId(port), weight: 1.0 });
/// let pkt = Head { dst: HostId(5), ..Head::default() };
/// let (mut rng, mut acts) = (Stream::new(1, 0, StreamPurpose::Routing), Acts::default());
/// let mut env = Env { now: units::Time::ZERO, rng: &mut rng, acts: &mut acts };
/// assert_eq!(ByDestination.choose_port(&pkt, &hops, &mut env), PortId(10));
/// ```
pub trait Routing: Send + Sync {
    /// Returns the index in `hops` of the next hop of `pkt`. PRECONDITION: `hops` is not empty.
    fn choose_hop(&mut self, pkt: &Head, hops: &[Hop], env: &mut Env) -> usize;
    /// Returns the index in `hops` for a destination and a flow hash, without a random draw.
    /// Tables use it for return paths.
    fn hop_by_hash(&self, host: HostId, hash: u32, hops: &[Hop]) -> usize;
    /// Returns the output port of `pkt`: that of the chosen hop, unless the packet's path leads elsewhere.
    fn choose_port(&mut self, pkt: &Head, hops: &[Hop], env: &mut Env) -> PortId {
        hop_port(hops, self.choose_hop(pkt, hops, env))
    }
    /// Returns the output port for a source, a destination and a flow hash, without a random draw.
    fn port_by_hash(&self, (_, dst): (HostId, HostId), hash: u32, hops: &[Hop]) -> PortId {
        hop_port(hops, self.hop_by_hash(dst, hash, hops))
    }
    /// Returns true if a packet may draw the hop at index `place`, so that packets of one flow take different paths.
    /// If no hop is drawn, every packet of a flow leaves by the port of [`Routing::port_by_hash`].
    fn may_draw_hop(&self, _hops: &[Hop], _place: usize) -> bool {
        false
    }
    /// Prepares the routing mechanism for one switch.
    fn for_switch(&mut self, _own: &SwitchContext) {}
    /// Returns true if the mechanism routes by the addresses of a fat-tree and needs the switch's position.
    fn needs_addresses(&self) -> bool {
        false
    }
    /// Returns the number of paths needed between each two switches with hosts, and the parameter that sets it.
    /// The number must be the same at all switches.
    fn needs_paths(&self) -> Option<(&'static str, u64)> {
        None
    }
    /// Returns true if the mechanism uses the weights of links.
    fn needs_weights(&self) -> bool {
        false
    }
    /// Returns true if both directions of a flow must have the same hash at all switches.
    fn is_symmetric(&self) -> bool {
        false
    }
    /// Reports conflicts of the routing mechanism with the network.
    fn check(&self, _beside: &CheckContext, _report: &mut Report) {}
    /// Returns a boxed copy of the routing mechanism, with its state.
    fn clone_boxed(&self) -> Box<dyn Routing>;
}

/// Mechanisms of the slot `routing`.
pub const ALL: &[Mechanism<RoutingSlot>] = &[
    Mechanism::new(&ecmp::SPEC, |values| Ecmp::from_values(values).into()),
    Mechanism::new(&spray::SPEC, |_| Spray::new(Ecmp::default()).into()),
    Mechanism::new(&two_level::SPEC, |_| TwoLevel::default().into()),
    Mechanism::new(&weighted::SPEC, |_| Weighted::new(Ecmp::default()).into()),
    Mechanism::new(&k_shortest::SPEC, |values| KShortest::new(values).into()),
];

slot! {
    /// Slot `routing` of a switch: chooses among next hops.
    RoutingSlot(Chooser) of Routing {
        Ecmp(Ecmp),
        Spray(Spray),
        TwoLevel(TwoLevel),
        Weighted(Weighted),
        KShortest(KShortest),
    }
}

impl RoutingSlot {
    /// Returns the routing slot, prepared for one switch.
    #[must_use]
    pub fn for_switch(mut self, own: &SwitchContext) -> RoutingSlot {
        self.get().for_switch(own);
        self
    }
    /// Returns the output port of a packet, if it is found without a random draw and without a change of state.
    #[inline(always)]
    pub fn predict_port(&self, head: &Head, hops: &[Hop]) -> Option<PortId> {
        match &self.0 {
            Chooser::Ecmp(own) => Some(hops[own.hash_index(head.hash, hops.len())].port),
            Chooser::TwoLevel(own) => Some(hops[own.hop_index(head.dst, hops)].port),
            Chooser::KShortest(own) => Some(own.output_port((head.src, head.dst), head.hash, hops)),
            _ => None,
        }
    }
    /// Returns the output port of a packet; may draw a random number.
    #[inline(always)]
    pub fn choose_port(&mut self, head: &Head, hops: &[Hop], env: &mut Env) -> PortId {
        match &self.0 {
            Chooser::Ecmp(own) => hops[own.hash_index(head.hash, hops.len())].port,
            _ => self.get().choose_port(head, hops, env),
        }
    }
}
