//! Overflow slot: decides the fate of every arrival at a queue, such as store, drop or detour.

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
    /// Stores the packet in this queue of the port that lookup chose.
    Enqueue(QueueId),
    /// Sends the packet back: stores it in the bounce queue of this port (PABO).
    Bounce(PortId),
    /// Detours the packet: stores it in this queue of another port (DIBS).
    Detour(PortId, QueueId),
    /// Cuts the packet by [`Overflow::cut_effect`] and stores it in this queue of the port that lookup chose (CP).
    /// The packet is dropped if the cut does not shorten it.
    Trim(QueueId),
    /// Cuts the packet and returns it to its source, as with `ReturnToSource` (NDP).
    TrimAndReturn,
    /// Cuts this queued packet of the port that lookup chose, then decides about the arrival again.
    ///
    /// The cut packet keeps its position. If cut packets have a class of their own, it moves to that queue. If the
    /// packet is already gone, the switch only decides again. If the cut does not shorten it, the arrival is dropped.
    TrimQueued(PktId),
    /// Returns the packet to its source by the switch's own tables, as a returned segment.
    /// A packet that was already returned is dropped.
    ReturnToSource,
    /// Drops this queued packet, then decides about the arrival again (pFabric).
    /// If the packet is already gone, as when simultaneous arrivals chose the same one, the switch only decides again.
    Evict(PktId),
    /// Drops the packet.
    Drop(DropReason),
}

impl Fate {
    /// Returns the fate of an arrival that finds no free buffer space, if the mechanism has no other action for it.
    /// The packet is dropped, or queued at its input if the switch has input memory. That memory may still refuse it.
    pub fn when_full(queue: QueueId, reason: DropReason, at: &ForwardingContext) -> Fate {
        if at.view.has_inputs() { Fate::Enqueue(queue) } else { Fate::Drop(reason) }
    }
}

/// Reason of a packet loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DropReason {
    /// Loss because the queue was full.
    BufferFull = 0,
    /// Loss because the bounce queue was full (PABO §II-E).
    BounceQueueFull = 1,
    /// Loss because the queue was full and no port was eligible for a detour (DIBS §2).
    NoDetour = 2,
    /// Loss because the time to live expired.
    TtlExpired = 3,
    /// Loss by eviction in favour of a more urgent packet (pFabric §4.1).
    Evicted = 4,
    /// Loss of a packet that was due for a mark but not ECN-capable (RFC 3168 §7).
    EarlyDrop = 5,
    /// Loss because there was no route to the destination.
    NoRoute = 6,
    /// Loss because there was no memory to hold an ACK.
    HoldFull = 7,
    /// Loss because the queue was full and the maximum number of detours was reached.
    DetoursSpent = 8,
    /// Loss because the link was down during the transmission, or the port was known to be dead.
    LinkDown = 9,
    /// Random loss on the link, with the probability of the scenario.
    LinkLoss = 10,
    /// Loss by bit errors on the link, detected by the check sequence at the far end.
    Corrupted = 11,
    /// Loss because the memory of the input port was full (`cioq`).
    InputFull = 12,
    /// Loss because the PFC watchdog drops the packets of a queue, and those of its classes that come in by its port.
    Watchdog = 13,
}

impl DropReason {
    /// All reasons of packet losses, in the order of their numbers.
    pub const ALL: [DropReason; 14] = [
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
        DropReason::Watchdog,
    ];
    /// Returns the name of the reason in results.
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
            DropReason::Watchdog => "watchdog",
        }
    }
    /// Returns the reason for the loss of a packet whose lane is full.
    pub const fn lane_full(lane: Lane) -> DropReason {
        match lane {
            Lane::Bounce => DropReason::BounceQueueFull,
            Lane::Normal | Lane::Notice => DropReason::BufferFull,
        }
    }
    /// Returns true if the packet was lost for lack of memory, which pausing is meant to prevent.
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
            | DropReason::Corrupted
            | DropReason::Watchdog => false,
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
    /// Change of the ECN codepoint by the cut.
    pub ecn: CutEcn,
    /// Time from the cut of an arrival until its header is queued or returned; its memory is reserved meanwhile.
    pub delay: Dur,
}

/// Change of a packet's ECN codepoint when its payload is cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CutEcn {
    /// Unchanged ECN codepoint.
    #[default]
    Keep,
    /// Congestion experienced (CE), if the packet is ECN-capable.
    Ce,
    /// Not ECN-capable (Not-ECT), so that a mark is lost.
    NotEct,
}

impl CutEffect {
    /// Returns the size after the cut of a frame that has `size` bytes and headers of `header` bytes.
    pub fn size_after_cut(&self, size: u16, header: u16) -> u16 {
        header.max(self.min_size).min(size)
    }
    /// Sets flags, class and ECN codepoint of a packet whose payload is cut.
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

/// Mechanism that decides the fate of arrivals, above all if the queue is full.
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
///         let Fill { used, limit } = at.fill(at.output, pkt.queue());
///         let is_above_half = limit.is_some_and(|limit| 2 * used >= limit);
///         match (pkt.class() == 0 && is_above_half) || !at.fits_port_limit(at.output, pkt.queue(), pkt.size) {
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
/// let at = ForwardingContext { view: &view, ingress: PortId(0), output: PortId(0) };
/// let (mut rng, mut acts) = (Stream::new(1, 0, StreamPurpose::Overflow), Acts::default());
/// let mut env = Env { now: units::Time::ZERO, rng: &mut rng, acts: &mut acts };
/// assert_eq!(HalfForBulk.admit(&pkt, &at, &mut env), Fate::Drop(DropReason::BufferFull));
/// ```
pub trait Overflow: Send + Sync {
    /// Returns the fate of `pkt`, which lookup would send out by `at.output`. The only action allowed is a mark.
    fn admit(&mut self, pkt: &Head, at: &ForwardingContext, env: &mut Env) -> Fate;
    /// Returns the memory beyond the limit that a packet, cut or not, may use (CP §4.2).
    /// The backlog is compared without the packet. `None` means that the packet itself must fit. The dataplane uses it
    /// wherever it tests capacity.
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
    /// Returns the features that the mechanism requires of its switch.
    fn needs(&self) -> Needs {
        Needs::default()
    }
    /// Returns the fraction of a queue's limit from which the mechanism may act on a packet that fits; 1 means never.
    fn min_fill_to_act(&self) -> f64 {
        1.0
    }
    /// Returns the number of queued packets from which a queue of `limit` packets counts as full.
    fn full_length_in_packets(&self, limit: u64) -> u64 {
        limit
    }
    /// Reports conflicts between the overflow mechanism's parameters, or of these with the rest of the switch or NIC.
    fn check(&self, _beside: &CheckContext, _report: &mut Report) {}
    /// Returns the key of a parameter that lists names of hosts, and the names; all of these hosts must exist.
    fn host_params(&self) -> Option<(&'static str, &[String])> {
        None
    }
    /// Prepares the overflow mechanism for one switch.
    fn for_switch(&mut self, _own: &SwitchContext) {}
    /// Returns a boxed copy of the overflow mechanism, with its state.
    fn clone_boxed(&self) -> Box<dyn Overflow>;
}

/// Mechanisms of the slot `overflow`.
pub const ALL: &[Mechanism<OverflowSlot>] = &[
    Mechanism::new(&tail_drop::SPEC, |_| TailDrop.into()).allowed_at_nic(),
    Mechanism::new(&detour::SPEC, |values| Detour::new(values).into()).with_conditions(detour::PARAM_CONDITIONS),
    Mechanism::new(&bounce::SPEC, |values| Bounce::new(values).into()),
    Mechanism::new(&trim::SPEC, |values| Trim::new(values).into()).with_conditions(trim::PARAM_CONDITIONS),
    Mechanism::new(&evict::SPEC, |_| Evict.into()).allowed_at_nic(),
];

slot! {
    /// Slot `overflow` of a switch or NIC: decides the fate of arrivals.
    OverflowSlot(Answer) of Overflow {
        TailDrop(TailDrop),
        Detour(Detour),
        Bounce(Bounce),
        Trim(Trim),
        Evict(Evict),
    }
}

impl OverflowSlot {
    /// Returns the overflow slot, prepared for one switch.
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
    fn losses_for_other_reasons_are_no_memory_shortage() {
        let at_switches = [DropReason::TtlExpired, DropReason::EarlyDrop, DropReason::NoRoute, DropReason::Watchdog];
        let on_links = [DropReason::LinkDown, DropReason::LinkLoss, DropReason::Corrupted];
        let not_wanting = [&at_switches[..], &on_links].concat();
        for (number, reason) in DropReason::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, number);
            assert_eq!(reason.is_memory_shortage(), !not_wanting.contains(&reason), "{}", reason.name());
        }
    }
}
