//! Ports with computed departures: a frame that fits is stored and leaves at a known time, without calls of the slots.

use super::{Core, StepContext};
use crate::packet_store::Fib;
use crate::transport::SegmentRun;
use crate::{Departure, EnqueuedFrame, Observer, Out, Pkt};
use mech::{Ecn, PortId, QueueId};
use units::Time;

impl Core {
    /// Returns true if a frame fits a port with computed departures, so that the overflow slot is not called.
    #[inline(always)]
    pub(crate) fn fits_computed_port(&mut self, port: PortId, size: u16, now: Time) -> bool {
        if !self.skips_overflow_slot {
            return false;
        }
        let p = &mut self.store.ports[usize::from(port.0)];
        p.settle_departures(now);
        p.has_room(size)
    }

    /// Stores a frame and computes its departure, as `decide` and `apply` would.
    /// Nearly every packet takes this path. PRECONDITION: [`fits_computed_port`](Core::fits_computed_port).
    #[inline(always)]
    pub(crate) fn forward_computed<O: Out>(&mut self, pkt: &mut Pkt, port: PortId, now: Time, out: &mut O) {
        let p = &mut self.store.ports[usize::from(port.0)];
        // A node with computed departures has one class and only the normal lane.
        let (queue, before) = (QueueId::normal(0), p.queued_frames());
        if O::Observer::OBSERVED.queues {
            let at = out.event_location(port);
            out.observer().on_decision(at, queue, before, pkt);
        }
        if p.is_mark_due() && pkt.head.is_ect() && pkt.head.ecn() != Ecn::Ce {
            pkt.head.set_ecn(Ecn::Ce);
            p.counts_mut().marked += 1;
            let at = out.event_location(port);
            out.observer().on_mark(at, pkt);
        }
        // Observers see the same calls in the same order as from `decide` and `apply`: results must not depend on the
        // path.
        let (start, end) = p.compute_departure(now, pkt.head.size);
        Core::report_enqueued(port, pkt, EnqueuedFrame { queue, before, leaves: Departure::At(start) }, out);
        out.transmit(port, pkt, end);
    }

    /// Returns true if a port computes departures and never marks or loses frames.
    pub(crate) fn can_forward_runs(&self, port: PortId) -> bool {
        self.skips_overflow_slot && self.store.ports[usize::from(port.0)].never_drops_or_marks()
    }

    /// Stores a run of consecutive frames of one transport and computes their departures.
    /// PRECONDITION: [`can_forward_runs`](Core::can_forward_runs).
    pub(crate) fn forward_run<F: Fib, O: Out>(&mut self, run: &SegmentRun, port: PortId, step: &mut StepContext<F, O>) {
        let p = &mut self.store.ports[usize::from(port.0)];
        p.settle_departures(step.now);
        let size = run.first().head.size;
        // The port is settled once for the whole run. No frame of it leaves within this instant: one that starts in its
        // own step still counts as waiting.
        let mut first_end = Time::NEVER;
        for pkt in run.packets() {
            step.out.observer().on_emit(&pkt);
            let before = p.queued_frames();
            let (start, end) = p.compute_departure(step.now, size);
            let frame = EnqueuedFrame { queue: QueueId::normal(0), before, leaves: Departure::At(start) };
            Core::report_enqueued(port, &pkt, frame, step.out);
            first_end = first_end.min(end);
        }
        step.out.transmit_run(port, run, (first_end, p.transmission_time(size)));
    }
}
