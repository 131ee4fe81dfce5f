//! Overflow slot: decides about every arrival at a queue.

mod bounce;
mod detour;
mod evict;
mod tail_drop;
mod trim;

pub use bounce::{Bounce, probability};
pub(crate) use bounce::{FullQueueRounding, Params as BounceGiven};
pub use detour::Detour;
pub use evict::Evict;
pub use tail_drop::TailDrop;
pub use trim::Trim;

use crate::buffer::ExtraMemory;
use crate::{
    AdmitCalls, CheckContext, Ecn, Env, Flags, ForwardingContext, Head, Lane, Mechanism, Needs, PktId, PortId, QueueId,
    Report, SwitchContext,
};
use units::Dur;

/// Forwarding decision for an arrival.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Store the packet in this queue of the port that lookup chose.
    Enqueue(QueueId),
    /// Send the packet back: store it in the bounce queue of this port (PABO).
    Bounce(PortId),
    /// Detour the packet: store it in this queue of another port (DIBS).
    Detour(PortId, QueueId),
    /// Cut the packet by [`Overflow::cut_effect`] and store it in this queue of the port that lookup chose (CP). It is
    /// dropped if the cut does not shorten it.
    Trim(QueueId),
    /// Cut the packet and return it to its source, as with `ReturnToSource` (NDP).
    TrimAndReturn,
    /// Cut this queued packet of the port that lookup chose, then decide again.
    ///
    /// The cut packet keeps its position. If cut packets have a class of their own, it moves to that queue. If the
    /// packet is already gone, the switch only decides again. If the cut does not shorten it, the arrival is dropped.
    TrimQueued(PktId),
    /// Return the packet to its source by the switch's own tables, as a returned segment. A packet that was already
    /// returned is dropped.
    ReturnToSource,
    /// Drop this queued packet, then decide again (pFabric). If it is already gone, as when simultaneous arrivals chose
    /// the same one, the switch only decides again.
    Evict(PktId),
    /// Drop the packet.
    Drop(DropReason),
}

impl Fate {
    /// Returns the decision for an arrival without free buffer space if nothing else is possible. The packet is
    /// dropped, or queued at its input if the switch has input memory. That memory may still refuse it.
    pub fn when_full(queue: QueueId, reason: DropReason, at: &ForwardingContext) -> Fate {
        if at.view.has_inputs() { Fate::Enqueue(queue) } else { Fate::Drop(reason) }
    }
}

/// Reason of a packet loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DropReason {
    /// Queue full.
    BufferFull = 0,
    /// Bounce queue full (PABO §II-E).
    BounceQueueFull = 1,
    /// Queue full and no port for a detour (DIBS §2).
    NoDetour = 2,
    /// Time to live expired.
    TtlExpired = 3,
    /// Evicted by a more urgent packet (pFabric §4.1).
    Evicted = 4,
    /// Due for a mark but not ECN-capable (RFC 3168 §7).
    EarlyDrop = 5,
    /// No route to the destination.
    NoRoute = 6,
    /// No memory to hold an ACK.
    HoldFull = 7,
    /// Queue full and maximum number of detours reached.
    DetoursSpent = 8,
    /// Link down during the transmission, or port known to be dead.
    LinkDown = 9,
    /// Random loss on the link, with the probability of the scenario.
    LinkLoss = 10,
    /// Bit errors on the link, detected by the check sequence at the far end.
    Corrupted = 11,
    /// Memory of the input port full (`cioq`).
    InputFull = 12,
}

impl DropReason {
    /// All reasons, in the order of their numbers.
    pub const ALL: [DropReason; 13] = [
        DropReason::BufferFull,
        DropReason::BounceQueueFull,
        DropReason::NoDetour,
        DropReason::TtlExpired,
        DropReason::Evicted,
        DropReason::EarlyDrop,
        DropReason::NoRoute,
        DropReason::HoldFull,
        DropReason::DetoursSpent,
        DropReason::LinkDown,
        DropReason::LinkLoss,
        DropReason::Corrupted,
        DropReason::InputFull,
    ];
    /// Returns the name in results.
    pub const fn name(self) -> &'static str {
        match self {
            DropReason::BufferFull => "buffer_full",
            DropReason::BounceQueueFull => "bounce_queue_full",
            DropReason::NoDetour => "no_detour",
            DropReason::TtlExpired => "ttl_expired",
            DropReason::Evicted => "evicted",
            DropReason::EarlyDrop => "early_drop",
            DropReason::NoRoute => "no_route",
            DropReason::HoldFull => "hold_full",
            DropReason::DetoursSpent => "detours_spent",
            DropReason::LinkDown => "link_down",
            DropReason::LinkLoss => "link_loss",
            DropReason::Corrupted => "corrupted",
            DropReason::InputFull => "input_full",
        }
    }
    /// Returns the reason for a packet whose lane is full.
    pub const fn lane_full(lane: Lane) -> DropReason {
        match lane {
            Lane::Bounce => DropReason::BounceQueueFull,
            Lane::Normal | Lane::Notice => DropReason::BufferFull,
        }
    }
    /// Returns true if the loss is for want of memory, which pausing is meant to prevent.
    pub const fn is_memory_shortage(self) -> bool {
        match self {
            DropReason::BufferFull
            | DropReason::BounceQueueFull
            | DropReason::NoDetour
            | DropReason::Evicted
            | DropReason::HoldFull
            | DropReason::DetoursSpent
            | DropReason::InputFull => true,
            DropReason::TtlExpired
            | DropReason::EarlyDrop
            | DropReason::NoRoute
            | DropReason::LinkDown
            | DropReason::LinkLoss
            | DropReason::Corrupted => false,
        }
    }
}

/// Effect of a cut on a packet, in addition to the loss of its payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CutEffect {
    /// Minimum size in bytes of the frame after the cut; longer headers stay whole.
    pub min_size: u16,
    /// Priority class after the cut; `None` keeps the class.
    pub class: Option<u8>,
    /// ECN codepoint after the cut.
    pub ecn: CutEcn,
    /// Time from the cut of an arrival until its header is queued or returned; its memory is reserved meanwhile.
    pub delay: Dur,
}

/// ECN codepoint of a cut packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CutEcn {
    /// Codepoint unchanged.
    #[default]
    Keep,
    /// CE, if the packet is ECN-capable.
    Ce,
    /// Not ECN-capable; a mark is lost.
    NotEct,
}

impl CutEffect {
    /// Returns the size in bytes after the cut of a frame with `size` bytes and a header of `header` bytes.
    pub fn size_after_cut(&self, size: u16, header: u16) -> u16 {
        header.max(self.min_size).min(size)
    }
    /// Marks the head of a packet as cut.
    pub fn mark_as_cut(&self, head: &mut Head) {
        head.flags = head.flags.with(Flags::CPA).with(Flags::PPL).without(Flags::PAYLOAD);
        if let Some(class) = self.class {
            head.set_class(class);
        }
        match self.ecn {
            CutEcn::Ce if head.is_ect() => head.set_ecn(Ecn::Ce),
            CutEcn::Keep | CutEcn::Ce => {}
            CutEcn::NotEct => head.set_ecn(Ecn::NotEct),
        }
    }
}

/// Overflow mechanism.
///
/// ```
/// use mech::overflow::{DropReason, Fate, Overflow};
/// use mech::{Acts, Env, Fill, ForwardingContext, Head, PortId, StreamPurpose, Stream};
#[doc = include_str!("../view/one_port.txt")]
///
/// /// Drops packets of class 0 from half of the limit on, and all others only if the queue is full.
/// #[derive(Clone)]
/// struct HalfForBulk;
///
/// impl Overflow for HalfForBulk {
///     fn admit(&mut self, pkt: &Head, at: &ForwardingContext, _env: &mut Env) -> Fate {
///         let Fill { used, limit } = at.fill(at.out, pkt.queue());
///         let is_above_half = limit.is_some_and(|limit| 2 * used >= limit);
///         match (pkt.class() == 0 && is_above_half) || !at.fits_port_limit(at.out, pkt.queue(), pkt.size) {
///             true => Fate::when_full(pkt.queue(), DropReason::BufferFull, at),
///             false => Fate::Enqueue(pkt.queue()),
///         }
///     }
///     fn min_fill_to_act(&self) -> f64 {
///         0.5
///     }
///     fn clone_boxed(&self) -> Box<dyn Overflow> {
///         Box::new(self.clone())
///     }
/// }
///
/// let pkt = Head { size: 1500, ..Head::default() };
/// let view = OnePort(vec![pkt; 2]); // two packets in a queue for four
/// let at = ForwardingContext { view: &view, ingress: PortId(0), out: PortId(0) };
/// let (mut rng, mut acts) = (Stream::new(1, 0, StreamPurpose::Overflow), Acts::default());
/// let mut env = Env { now: units::Time::ZERO, rng: &mut rng, acts: &mut acts };
/// assert_eq!(HalfForBulk.admit(&pkt, &at, &mut env), Fate::Drop(DropReason::BufferFull));
/// ```
pub trait Overflow: Send + Sync {
    /// Decides about `pkt`, which lookup would send out by `at.out`. The only action allowed is a mark.
    fn admit(&mut self, pkt: &Head, at: &ForwardingContext, env: &mut Env) -> Fate;
    /// Returns the memory beyond the limit for a packet, cut or not, whose backlog is compared without it (CP §4.2).
    /// `None` means that the packet itself must fit. The dataplane uses it wherever it tests capacity.
    fn extra_memory(&self, _pkt: &Head) -> Option<ExtraMemory> {
        None
    }
    /// Returns the effect of a cut on a packet.
    fn cut_effect(&self) -> CutEffect {
        CutEffect::default()
    }
    /// Returns the arrivals for which [`Overflow::admit`] must be called.
    fn admit_calls(&self) -> AdmitCalls {
        AdmitCalls::Always
    }
    /// Returns the mechanism's needs of its switch.
    fn needs(&self) -> Needs {
        Needs::default()
    }
    /// Returns the fraction of a queue's limit from which the mechanism may act on a packet that fits; 1 is never.
    fn min_fill_to_act(&self) -> f64 {
        1.0
    }
    /// Returns the number of queued packets from which a queue of `limit` packets counts as full.
    fn full_length_in_packets(&self, limit: u64) -> u64 {
        limit
    }
    /// Reports conflicts with the rest of the switch or with a NIC.
    fn check(&self, _beside: &CheckContext, _report: &mut Report) {}
    /// Returns the names of hosts that must exist, with the parameter that lists them.
    fn host_params(&self) -> Option<(&'static str, &[String])> {
        None
    }
    /// Prepares the mechanism for one switch.
    fn for_switch(&mut self, _own: &SwitchContext) {}
    /// Returns a boxed copy with its state.
    fn clone_boxed(&self) -> Box<dyn Overflow>;
}

/// Mechanisms of this slot.
pub const ALL: &[Mechanism<OverflowSlot>] = &[
    Mechanism::new(&tail_drop::SPEC, |_| TailDrop.into()).allowed_at_nic(),
    Mechanism::new(&detour::SPEC, |values| Detour::new(values).into()).with_conditions(detour::PARAM_CONDITIONS),
    Mechanism::new(&bounce::SPEC, |values| Bounce::new(values).into()),
    Mechanism::new(&trim::SPEC, |values| Trim::new(values).into()).with_conditions(trim::PARAM_CONDITIONS),
    Mechanism::new(&evict::SPEC, |_| Evict.into()).allowed_at_nic(),
];

slot! {
    /// Overflow mechanism of a switch or NIC.
    OverflowSlot(Answer) of Overflow {
        TailDrop(TailDrop),
        Detour(Detour),
        Bounce(Bounce),
        Trim(Trim),
        Evict(Evict),
    }
}

impl OverflowSlot {
    /// Returns the slot, prepared for one switch.
    #[must_use]
    pub fn for_switch(mut self, own: &SwitchContext) -> OverflowSlot {
        self.get().for_switch(own);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::DropReason;

    #[test]
    fn a_packet_is_lost_for_want_of_memory_or_by_its_own_fault() {
        let on_links = [DropReason::LinkDown, DropReason::LinkLoss, DropReason::Corrupted];
        let not_wanting = [[DropReason::TtlExpired, DropReason::EarlyDrop, DropReason::NoRoute], on_links].concat();
        for (number, reason) in DropReason::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, number);
            assert_eq!(reason.is_memory_shortage(), !not_wanting.contains(&reason), "{}", reason.name());
        }
    }
}
