//! Events of nodes, reported to an observer.
//! An observer returns nothing, so a run is bit-identical with any observer.

use crate::Pkt;
use mech::overflow::DropReason;
use mech::{ClassSet, FlowId, PktId, QueueId};
use units::{Rate, Time};

/// Instant, node and port of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventLocation {
    /// Instant of the event.
    pub now: Time,
    /// Number of the node.
    pub node: u32,
    /// Number of the port, counted over the whole network; the node's first port if the event has none.
    pub port: u32,
}

/// Events that an observer requests, among those whose report costs run time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ObservedEvents {
    /// True if [`Observer::on_enqueue`], [`Observer::on_dequeue`] and [`Observer::on_decision`] are called.
    pub queues: bool,
    /// True if every departure is reported at its instant, so that none is computed ahead.
    pub departures: bool,
    /// True if [`Observer::on_emit`] is called.
    pub emissions: bool,
    /// True if [`Observer::on_arrival`] is called.
    pub arrivals: bool,
}

impl ObservedEvents {
    /// Requests none of the events whose report costs run time.
    pub const NONE: ObservedEvents =
        ObservedEvents { queues: false, departures: false, emissions: false, arrivals: false };
    /// Requests queue events as soon as they are known: a computed departure when its frame is stored.
    pub const QUEUES: ObservedEvents = ObservedEvents { queues: true, ..ObservedEvents::NONE };
    /// Requests queue events, with every departure at its instant.
    pub const DEPARTURES: ObservedEvents = ObservedEvents { departures: true, ..ObservedEvents::QUEUES };

    /// Returns the events that at least one of two observers requests.
    pub const fn union(self, other: ObservedEvents) -> ObservedEvents {
        ObservedEvents {
            queues: self.queues || other.queues,
            departures: self.departures || other.departures,
            emissions: self.emissions || other.emissions,
            arrivals: self.arrivals || other.arrivals,
        }
    }
}

/// Frame that was stored in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnqueuedFrame {
    /// Queue of the frame.
    pub queue: QueueId,
    /// Number of frames that were queued at the port before this one, in all queues of the port.
    pub before: u32,
    /// Departure of the frame from the queue, as far as it is known.
    pub leaves: Departure,
}

/// Departure of a stored frame from its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Departure {
    /// Departure that is not known yet: [`Observer::on_dequeue`] reports it.
    /// Until then the frame is in this slot of its node's memory.
    Slot(PktId),
    /// Computed departure: the frame starts at this instant, and is not reported again.
    /// It starts after the frames stored there before. It counts as queued for the rest of the step in which it was
    /// stored. At a later start instant it no longer does.
    At(Time),
}

/// Frame that has left its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DequeuedFrame {
    /// Queue that the frame was in.
    pub queue: QueueId,
    /// Number of frames that are still queued at the port, in all its queues.
    pub after: u32,
    /// Memory slot of the frame if its transmission starts; `None` if it was removed before its turn.
    pub started: Option<PktId>,
}

/// Receiver of the events of nodes.
/// `()` ignores all events and compiles to nothing. Of a pair both receive each event, the first one first.
///
/// ```
/// use dataplane::{Observer, Pkt, EventLocation};
/// use mech::overflow::DropReason;
///
/// /// Number of packets lost.
/// #[derive(Default)]
/// struct Losses(u64);
///
/// impl Observer for Losses {
///     fn on_drop(&mut self, _at: EventLocation, _pkt: &Pkt, _reason: DropReason) {
///         self.0 += 1;
///     }
/// }
///
/// let mut both = (Losses::default(), ());
/// let at = EventLocation { now: units::Time(5), node: 0, port: 0 };
/// both.on_drop(at, &Pkt::default(), DropReason::NoRoute);
/// assert_eq!(both.0.0, 1);
/// ```
pub trait Observer {
    /// Events that the observer requests, among those whose report costs run time.
    /// Others of these may be reported or not.
    const OBSERVED: ObservedEvents = ObservedEvents::NONE;

    /// Receives a new flow, which has the next number, and the index of its workload in the scenario's traffic.
    /// This precedes any other event of the flow.
    fn on_flow_added(&mut self, _flow: FlowId, _traffic: u16) {}
    /// Receives a packet that a transport has made and passed to the NIC.
    fn on_emit(&mut self, _pkt: &Pkt) {}
    /// Receives an arrival before its forwarding decision, with the queue of its lookup and the number of frames there.
    /// An arrival is reported once.
    fn on_decision(&mut self, _at: EventLocation, _queue: QueueId, _length: u32, _pkt: &Pkt) {}
    /// Receives a frame that was stored.
    fn on_enqueue(&mut self, _at: EventLocation, _frame: EnqueuedFrame, _pkt: &Pkt) {}
    /// Receives a frame that has left its queue.
    fn on_dequeue(&mut self, _at: EventLocation, _frame: DequeuedFrame) {}
    /// Receives a frame that a port sends, with the instant of its last bit.
    /// A computed departure may start later than now.
    fn on_transmit(&mut self, _at: EventLocation, _pkt: &Pkt, _end: Time) {}
    /// Receives a frame whose last bit has reached a port over a link that has not lost it.
    fn on_arrival(&mut self, _at: EventLocation, _pkt: &Pkt) {}
    /// Receives a lost packet, at its output port, or at its input port if no output was chosen.
    fn on_drop(&mut self, _at: EventLocation, _pkt: &Pkt, _reason: DropReason) {}
    /// Receives a packet that got a congestion mark.
    fn on_mark(&mut self, _at: EventLocation, _pkt: &Pkt) {}
    /// Receives a packet that is detoured by the port `_taken` instead of the port of `_at`.
    /// Both ports are numbered over the whole network.
    fn on_detour(&mut self, _at: EventLocation, _taken: u32, _pkt: &Pkt) {}
    /// Receives a packet that was trimmed at its output port, with the number of bytes removed.
    /// It was an arrival for that port, or queued there.
    fn on_trim(&mut self, _at: EventLocation, _bytes: u16, _pkt: &Pkt) {}
    /// Receives a packet that was bounced.
    fn on_bounce(&mut self, _at: EventLocation, _pkt: &Pkt) {}
    /// Receives a packet that is held at its input port, before lookup.
    fn on_hold(&mut self, _at: EventLocation, _pkt: &Pkt) {}
    /// Receives a held packet that goes on to lookup.
    fn on_release(&mut self, _at: EventLocation, _pkt: &Pkt) {}
    /// Receives a change of state of the mechanism that holds packets for a port.
    /// The arguments are the number of the state, 0 at rest, and the queue length in bytes at which the state ends.
    fn on_hold_state(&mut self, _at: EventLocation, _state: u8, _level: u64) {}
    /// Receives a congestion message that a port has made and sent toward the source of its flow.
    fn on_notice_sent(&mut self, _at: EventLocation, _pkt: &Pkt) {}
    /// Receives a frame that has left the memory of its input port: it has crossed the fabric, or was removed.
    /// `_at` is at the output port of the frame, and `_input` is the input port, numbered in the same way. Congestion
    /// messages take no memory of inputs and are not reported.
    fn on_input_dequeue(&mut self, _at: EventLocation, _input: u32, _pkt: &Pkt) {}
    /// Receives a frame for the port of `_at` that has reached a buffer inside a `fabric` switch.
    /// The input buffers of the ports' stages have the first numbers. Two buffers for each internal link follow: the
    /// one that feeds it and the one behind it.
    fn on_stage_arrival(&mut self, _at: EventLocation, _buffer: u16, _pkt: &Pkt) {}
    /// Receives the new number of bytes occupied in a buffer inside a `fabric` switch.
    /// Buffers are numbered as in [`Observer::on_stage_arrival`]. The bytes are those of frames stored there, on their
    /// way to it and leaving it, without congestion messages. A frame for the port of `_at` has changed the number.
    fn on_stage_occupancy(&mut self, _at: EventLocation, _buffer: u16, _bytes: u64) {}
    /// Receives the copy of a frame for the port of `_at` that is freed at its input.
    /// A `fabric` switch with reliable delivery keeps such copies.
    fn on_copy_freed(&mut self, _at: EventLocation, _input: u32, _copy: &Pkt) {}
    /// Receives a congestion message that has reached its host.
    fn on_notice_received(&mut self, _at: EventLocation, _pkt: &Pkt) {}
    /// Receives the new rate limit of a flow at its source host; `None` if the flow has no limit any more.
    fn on_rate_limit(&mut self, _at: EventLocation, _flow: FlowId, _rate: Option<Rate>) {}
    /// Receives a packet that has reached its transport, or its host if its flow has no transport.
    fn on_delivery(&mut self, _at: EventLocation, _pkt: &Pkt) {}
    /// Receives a packet that a switch has returned and that has reached the NIC of its source.
    fn on_returned_packet(&mut self, _at: EventLocation, _pkt: &Pkt) {}
    /// Receives the start of a PAUSE or PFC frame, with the classes that it pauses at the far end of a port.
    /// `_again` are those of them that were paused before. Both sets are empty if the frame only resumes.
    fn on_pause_sent(&mut self, _at: EventLocation, _stop: ClassSet, _again: ClassSet) {}
    /// Receives a traffic class that a port may not send from now on.
    fn on_pause(&mut self, _at: EventLocation, _class: u8) {}
    /// Receives a traffic class that a port may send again.
    fn on_resume(&mut self, _at: EventLocation, _class: u8) {}
    /// Receives the number of payload bytes, at least one, that a flow has delivered since the last report.
    /// They are in order, or in any order for packets without a transport.
    fn on_received_bytes(&mut self, _at: EventLocation, _flow: FlowId, _bytes: u64) {}
}

impl Observer for () {}

/// Calls a macro with the methods of [`Observer`], for an observer that passes every event on.
/// Types are named as in `dataplane`, `mech` and `units`.
#[macro_export]
macro_rules! each_event {
    ($macro:ident) => {
        $macro! {
            on_flow_added(flow: FlowId, traffic: u16);
            on_emit(pkt: &Pkt);
            on_decision(at: EventLocation, queue: QueueId, length: u32, pkt: &Pkt);
            on_enqueue(at: EventLocation, frame: EnqueuedFrame, pkt: &Pkt);
            on_dequeue(at: EventLocation, frame: DequeuedFrame);
            on_transmit(at: EventLocation, pkt: &Pkt, end: Time);
            on_arrival(at: EventLocation, pkt: &Pkt);
            on_drop(at: EventLocation, pkt: &Pkt, reason: DropReason);
            on_mark(at: EventLocation, pkt: &Pkt);
            on_detour(at: EventLocation, taken: u32, pkt: &Pkt);
            on_trim(at: EventLocation, bytes: u16, pkt: &Pkt);
            on_bounce(at: EventLocation, pkt: &Pkt);
            on_hold(at: EventLocation, pkt: &Pkt);
            on_release(at: EventLocation, pkt: &Pkt);
            on_hold_state(at: EventLocation, state: u8, level: u64);
            on_notice_sent(at: EventLocation, pkt: &Pkt);
            on_input_dequeue(at: EventLocation, input: u32, pkt: &Pkt);
            on_stage_arrival(at: EventLocation, buffer: u16, pkt: &Pkt);
            on_stage_occupancy(at: EventLocation, buffer: u16, bytes: u64);
            on_copy_freed(at: EventLocation, input: u32, copy: &Pkt);
            on_notice_received(at: EventLocation, pkt: &Pkt);
            on_rate_limit(at: EventLocation, flow: FlowId, rate: Option<Rate>);
            on_delivery(at: EventLocation, pkt: &Pkt);
            on_returned_packet(at: EventLocation, pkt: &Pkt);
            on_pause_sent(at: EventLocation, xoff: ClassSet, again: ClassSet);
            on_pause(at: EventLocation, class: u8);
            on_resume(at: EventLocation, class: u8);
            on_received_bytes(at: EventLocation, flow: FlowId, bytes: u64);
        }
    };
}

macro_rules! both {
    ($($event:ident($($name:ident: $type:ty),*);)*) => {
        impl<A: Observer, B: Observer> Observer for (A, B) {
            const OBSERVED: ObservedEvents = A::OBSERVED.union(B::OBSERVED);
            $(#[inline(always)]
            fn $event(&mut self, $($name: $type),*) {
                self.0.$event($($name),*);
                self.1.$event($($name),*);
            })*
        }
    };
}

each_event!(both);
