//! The overflow slot, asked for every arrival: what becomes of it?

mod bounce;
mod detour;
mod evict;
mod tail_drop;
mod trim;

pub use bounce::{Bounce, probability};
pub(crate) use bounce::{Given as BounceGiven, Rounding};
pub use detour::Detour;
pub use evict::Evict;
pub use tail_drop::TailDrop;
pub use trim::Trim;

use crate::buffer::ExtraRoom;
use crate::{
    Asks, Beside, Ecn, Env, Flags, ForwardingContext, Head, Lane, Mechanism, Needs, PktId, PortId, QueueId, Report,
    SwitchContext,
};
use units::Dur;

/// What becomes of an arrival.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Into this queue of the port that lookup chose.
    Enqueue(QueueId),
    /// Back: into the bounce queue of this port (PABO).
    Bounce(PortId),
    /// Aside: into this queue of another port (DIBS).
    Detour(PortId, QueueId),
    /// Cut as [`Overflow::cut`] says, then into this queue of the port that lookup chose (CP); lost where it would
    /// get no shorter.
    Trim(QueueId),
    /// Cut, and back to its source as with `SendBack` (NDP).
    TrimBack,
    /// This packet, which waits for the port that lookup chose, is cut where it waits or, where cut packets have a
    /// class of their own, joins the queue of that, and the question is asked again; asked again, too, where it is gone already. A packet that has nothing to be cut
    /// off costs the arrival its place.
    TrimWaiting(PktId),
    /// Back to its source by the switch's own tables, as a returned segment; lost where it comes back already.
    SendBack,
    /// This waiting packet is dropped, and the question asked again (pFabric); asked again, too,
    /// where it is gone already, as when simultaneous arrivals chose the same one.
    Evict(PktId),
    /// Lost.
    Drop(DropReason),
}

impl Fate {
    /// That of an arrival for which its queue has no place, and for which nothing else can be done: it is lost, or waits at
    /// its input where there is one. The memory there has the last word.
    pub fn without_place(queue: QueueId, reason: DropReason, at: &ForwardingContext) -> Fate {
        if at.view.has_inputs() { Fate::Enqueue(queue) } else { Fate::Drop(reason) }
    }
}

/// Why a packet was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DropReason {
    /// The queue had no room.
    BufferFull = 0,
    /// The bounce queue had no room (PABO §II-E).
    BounceQueueFull = 1,
    /// Queue full and nowhere to detour to (DIBS §2).
    NoDetour = 2,
    /// Too many switches entered.
    TtlExpired = 3,
    /// Pushed out by a more urgent packet (pFabric §4.1).
    Evicted = 4,
    /// Not ECN-capable where a mark was due (RFC 3168 §7).
    EarlyDrop = 5,
    /// The switch knows no way to the destination.
    NoRoute = 6,
    /// No room for a held ACK.
    HoldFull = 7,
    /// Queue full, and detoured as often as a packet may be.
    DetoursSpent = 8,
    /// Its link was down while it crossed it, or its port is known to be dead.
    LinkDown = 9,
    /// Lost on its link at the probability that the scenario gives.
    LinkLoss = 10,
    /// Bits of it were wrong at the far end of its link, whose check sequence found it out.
    Corrupted = 11,
    /// The memory of the port that it came in by had no room (`cioq`).
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
    /// The name in results.
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
    /// That of a packet for whose lane there was no room.
    pub const fn of_full(lane: Lane) -> DropReason {
        match lane {
            Lane::Bounce => DropReason::BounceQueueFull,
            Lane::Normal | Lane::Notice => DropReason::BufferFull,
        }
    }
    /// Whether memory was wanting: what pausing is there to prevent.
    pub const fn wants_memory(self) -> bool {
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

/// What cutting does to a packet, beside taking its payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// Bytes of the frame that stay, where its headers are fewer.
    pub keep: u16,
    /// The class that it is of from then on; its own where there is none.
    pub class: Option<u8>,
    /// What becomes of its ECN codepoint.
    pub ecn: CutEcn,
    /// From the cut of an arrival until its header is in its queue, or turns round; it has its place in memory meanwhile.
    pub delay: Dur,
}

/// The ECN codepoint of a packet that is cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CutEcn {
    /// It stays.
    #[default]
    Keep,
    /// CE, where the packet is ECN-capable.
    Ce,
    /// Not ECN-capable; a mark is lost.
    NotEct,
}

impl Cut {
    /// Bytes of a frame of `size` bytes whose headers are `header`, once it is cut.
    pub fn size(&self, size: u16, header: u16) -> u16 {
        header.max(self.keep).min(size)
    }
    /// Writes into the head of a packet what it is from then on.
    pub fn mark(&self, head: &mut Head) {
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

/// An answer to overflow.
pub trait Overflow: Send + Sync {
    /// What becomes of `pkt`, which lookup would send out by `at.out`. Of the acts it may ask for a mark.
    fn admit(&mut self, pkt: &Head, at: &ForwardingContext, env: &mut Env) -> Fate;
    /// How far beyond the limit what waits may be before a packet, cut or not, is added (CP §4.2); `None` where the
    /// packet itself has to fit. The dataplane looks at it wherever it tests capacity.
    fn extra_room(&self, _pkt: &Head) -> Option<ExtraRoom> {
        None
    }
    /// What its cutting does to a packet.
    fn cut(&self) -> Cut {
        Cut::default()
    }
    /// For which arrivals it is asked.
    fn asks(&self) -> Asks {
        Asks::Always
    }
    /// What it needs of the switch.
    fn needs(&self) -> Needs {
        Needs::default()
    }
    /// The share of a queue's limit from which on it may act on a packet that fits; 1 is never.
    fn acts_from(&self) -> f64 {
        1.0
    }
    /// How many packets wait in a queue of `limit` where it counts as full.
    fn full_from_packets(&self, limit: u64) -> u64 {
        limit
    }
    /// What is wrong with it beside the rest of its switch, or at a NIC.
    fn check(&self, _beside: &Beside, _report: &mut Report) {}
    /// Names of hosts that it needs to be there, and the parameter that has them.
    fn hosts(&self) -> Option<(&'static str, &[String])> {
        None
    }
    /// Makes it ready for one switch.
    fn for_switch(&mut self, _own: &SwitchContext) {}
    /// A copy, with its state.
    fn boxed(&self) -> Box<dyn Overflow>;
}

/// The mechanisms of this slot.
pub const ALL: &[Mechanism<OverflowSlot>] = &[
    Mechanism::new(&tail_drop::SPEC, |_| TailDrop.into()).at_nic(),
    Mechanism::new(&detour::SPEC, |values| Detour::new(values).into()).only(detour::ONLY),
    Mechanism::new(&bounce::SPEC, |values| Bounce::new(values).into()),
    Mechanism::new(&trim::SPEC, |values| Trim::new(values).into()).only(trim::ONLY),
    Mechanism::new(&evict::SPEC, |_| Evict.into()).at_nic(),
];

slot! {
    /// An answer to overflow.
    OverflowSlot(Answer) of Overflow {
        TailDrop(TailDrop),
        Detour(Detour),
        Bounce(Bounce),
        Trim(Trim),
        Evict(Evict),
    }
}

impl OverflowSlot {
    /// The same for one switch.
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
            assert_eq!(reason.wants_memory(), !not_wanting.contains(&reason), "{}", reason.name());
        }
    }
}
