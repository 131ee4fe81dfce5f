//! What is told of nodes to whoever observes them. Nobody answers, so that a run is the same, to the bit,
//! whoever listens.

use crate::Pkt;
use mech::overflow::DropReason;
use mech::{ClassSet, FlowId, PktId, QueueId};
use units::{Rate, Time};

/// Where and when something happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The instant.
    pub now: Time,
    /// The node.
    pub node: u32,
    /// The port, counted over the whole network; of what has no port, the node's first.
    pub port: u32,
}

/// What an observer wants of that which takes work to tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wants {
    /// [`Observer::stored`], [`Observer::freed`] and [`Observer::decided`].
    pub queues: bool,
    /// And every departure at its instant: none is computed ahead.
    pub departures: bool,
    /// [`Observer::emitted`].
    pub emissions: bool,
}

impl Wants {
    /// None of it.
    pub const NOTHING: Wants = Wants { queues: false, departures: false, emissions: false };
    /// Queues, as soon as their course is known: a departure that is computed is told of when its frame is
    /// stored.
    pub const QUEUES: Wants = Wants { queues: true, ..Wants::NOTHING };
    /// Queues, every departure at its instant.
    pub const DEPARTURES: Wants = Wants { departures: true, ..Wants::QUEUES };

    /// What either of two wants.
    pub const fn or(self, other: Wants) -> Wants {
        Wants {
            queues: self.queues || other.queues,
            departures: self.departures || other.departures,
            emissions: self.emissions || other.emissions,
        }
    }
}

/// A frame that was stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    /// In which queue.
    pub queue: QueueId,
    /// Frames that waited at the port in all before it.
    pub before: u32,
    /// When it leaves.
    pub leaves: Leaves,
}

/// When a stored frame leaves its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaves {
    /// [`Observer::freed`] will tell. Until then it lies in this slot of its node's memory.
    Slot(PktId),
    /// It begins to leave at this instant, after those that were stored there before; nothing tells of it
    /// again. It still waits for what else happens in the step in which it was stored, and no longer for what
    /// happens at this instant where that is a later one.
    At(Time),
}

/// A frame that has left its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Freed {
    /// Which queue.
    pub queue: QueueId,
    /// Frames that still wait at the port in all.
    pub after: u32,
    /// Its slot where its transmission begins; `None` where it was removed before its turn.
    pub started: Option<PktId>,
}

/// Who is told what happens. `()` is told nothing and compiles to nothing; of a pair both are told everything, the first first.
///
/// ```
/// use dataplane::{Observer, Pkt, Spot};
/// use mech::overflow::DropReason;
///
/// /// How many packets were lost.
/// #[derive(Default)]
/// struct Losses(u64);
///
/// impl Observer for Losses {
///     fn dropped(&mut self, _at: Spot, _pkt: &Pkt, _reason: DropReason) {
///         self.0 += 1;
///     }
/// }
///
/// let mut both = (Losses::default(), ());
/// let at = Spot { now: units::Time(5), node: 0, port: 0 };
/// both.dropped(at, &Pkt::default(), DropReason::NoRoute);
/// assert_eq!(both.0.0, 1);
/// ```
pub trait Observer {
    /// What it wants of that which takes work to tell. What it does not is not told, or told in vain.
    const WANTS: Wants = Wants::NOTHING;

    /// A flow is entered, the next in number, of this workload of the scenario's traffic. Nothing else is told
    /// of it before.
    fn entered(&mut self, _flow: FlowId, _traffic: u16) {}
    /// A transport made a packet, which is on its way to the NIC.
    fn emitted(&mut self, _pkt: &Pkt) {}
    /// What becomes of an arrival is decided, once: its lookup points at this queue, where `length` frames
    /// wait.
    fn decided(&mut self, _at: Spot, _queue: QueueId, _length: u32, _pkt: &Pkt) {}
    /// A frame was stored.
    fn stored(&mut self, _at: Spot, _frame: Stored, _pkt: &Pkt) {}
    /// A frame left its queue.
    fn freed(&mut self, _at: Spot, _frame: Freed) {}
    /// A frame goes out by a port; its last bit leaves at `end`. Where departures are computed its first
    /// may leave later than now.
    fn transmitted(&mut self, _at: Spot, _pkt: &Pkt, _end: Time) {}
    /// A packet that was to leave by this port was lost; or one that came in by it, before a port was chosen.
    fn dropped(&mut self, _at: Spot, _pkt: &Pkt, _reason: DropReason) {}
    /// A packet got a congestion mark.
    fn marked(&mut self, _at: Spot, _pkt: &Pkt) {}
    /// A packet that was to leave by the port of `at` is detoured by the port `taken`, counted as that one.
    fn detoured(&mut self, _at: Spot, _taken: u32, _pkt: &Pkt) {}
    /// So many bytes of the frame of a packet that was to leave by this port, or waits there, are cut off.
    fn trimmed(&mut self, _at: Spot, _bytes: u16, _pkt: &Pkt) {}
    /// A packet was bounced.
    fn bounced(&mut self, _at: Spot, _pkt: &Pkt) {}
    /// A packet that has come in by a port is held, before lookup.
    fn held(&mut self, _at: Spot, _pkt: &Pkt) {}
    /// A packet that was held there goes on to lookup.
    fn released(&mut self, _at: Spot, _pkt: &Pkt) {}
    /// What decides about holding at a port is in another state: a number of its own, 0 at rest, and the level of
    /// its queue at which that is over, bytes.
    fn turned(&mut self, _at: Spot, _state: u8, _level: u64) {}
    /// A message about congestion was made at a port, which is on its way to the source of its flow.
    fn noticed(&mut self, _at: Spot, _pkt: &Pkt) {}
    /// A frame that is to leave by a port, counted as that one, has left the memory of the input that it came in by: it has
    /// crossed, or was taken out there. Messages about congestion take no memory of inputs and are not told of.
    fn crossed(&mut self, _at: Spot, _input: u32, _pkt: &Pkt) {}
    /// A frame that is to leave by the port of `_at` has got to a buffer inside a `fabric` switch: the input buffers of its
    /// ports' stages come first, then two of each internal link, the one in front of it and the one behind.
    fn moved(&mut self, _at: Spot, _buffer: u16, _pkt: &Pkt) {}
    /// A buffer inside a `fabric` switch, counted likewise, has room for so many bytes taken from now on, by what lies there,
    /// comes to it and leaves it; a frame that is to leave by the port of `_at` made the difference. Messages about congestion
    /// do not count.
    fn occupied(&mut self, _at: Spot, _buffer: u16, _bytes: u64) {}
    /// The copy of a frame that was to leave by the port of `_at` is gone from the memory of its input, which keeps it in a
    /// `fabric` switch with reliable delivery.
    fn acknowledged(&mut self, _at: Spot, _input: u32, _copy: &Pkt) {}
    /// A message about congestion has reached the host that it is for.
    fn notified(&mut self, _at: Spot, _pkt: &Pkt) {}
    /// The rate limit of a flow that is sent here is another; `None` is none any more.
    fn limited(&mut self, _at: Spot, _flow: FlowId, _rate: Option<Rate>) {}
    /// A packet has reached the transport it is for.
    fn delivered(&mut self, _at: Spot, _pkt: &Pkt) {}
    /// A packet that a switch sent back has reached the NIC of its source.
    fn came_back(&mut self, _at: Spot, _pkt: &Pkt) {}
    /// A frame that pauses these classes at the far end of a port, or none of them, begins to leave; `again`
    /// had been paused before.
    fn pause_sent(&mut self, _at: Spot, _stop: ClassSet, _again: ClassSet) {}
    /// A class may not leave by a port from now on.
    fn paused(&mut self, _at: Spot, _class: u8) {}
    /// A class may leave by a port again.
    fn resumed(&mut self, _at: Spot, _class: u8) {}
    /// So many payload bytes of a flow have arrived, one at least, that had not arrived before.
    fn received(&mut self, _at: Spot, _flow: FlowId, _bytes: u64) {}
}

impl Observer for () {}

/// Calls a macro with the methods of [`Observer`], for an observer that passes everything on to others. Their types are
/// named as in `dataplane`, `mech` and `units`.
#[macro_export]
macro_rules! each_event {
    ($macro:ident) => {
        $macro! {
            entered(flow: FlowId, traffic: u16);
            emitted(pkt: &Pkt);
            decided(at: Spot, queue: QueueId, length: u32, pkt: &Pkt);
            stored(at: Spot, frame: Stored, pkt: &Pkt);
            freed(at: Spot, frame: Freed);
            transmitted(at: Spot, pkt: &Pkt, end: Time);
            dropped(at: Spot, pkt: &Pkt, reason: DropReason);
            marked(at: Spot, pkt: &Pkt);
            detoured(at: Spot, taken: u32, pkt: &Pkt);
            trimmed(at: Spot, bytes: u16, pkt: &Pkt);
            bounced(at: Spot, pkt: &Pkt);
            held(at: Spot, pkt: &Pkt);
            released(at: Spot, pkt: &Pkt);
            turned(at: Spot, state: u8, level: u64);
            noticed(at: Spot, pkt: &Pkt);
            crossed(at: Spot, input: u32, pkt: &Pkt);
            moved(at: Spot, buffer: u16, pkt: &Pkt);
            occupied(at: Spot, buffer: u16, bytes: u64);
            acknowledged(at: Spot, input: u32, copy: &Pkt);
            notified(at: Spot, pkt: &Pkt);
            limited(at: Spot, flow: FlowId, rate: Option<Rate>);
            delivered(at: Spot, pkt: &Pkt);
            came_back(at: Spot, pkt: &Pkt);
            pause_sent(at: Spot, xoff: ClassSet, again: ClassSet);
            paused(at: Spot, class: u8);
            resumed(at: Spot, class: u8);
            received(at: Spot, flow: FlowId, bytes: u64);
        }
    };
}

macro_rules! both {
    ($($event:ident($($name:ident: $type:ty),*);)*) => {
        impl<A: Observer, B: Observer> Observer for (A, B) {
            const WANTS: Wants = A::WANTS.or(B::WANTS);
            $(#[inline(always)]
            fn $event(&mut self, $($name: $type),*) {
                self.0.$event($($name),*);
                self.1.$event($($name),*);
            })*
        }
    };
}

each_event!(both);
