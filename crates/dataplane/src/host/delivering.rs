//! Delivery of packets that have come up the stack, and the actions of the ends of flows.

use super::{Host, HostStep, NIC, Timer};
use crate::flows::{GONE, NONE};
use crate::transport::{ENDLESS, Io, Receiver, Sender, ack_of_finished};
use crate::{Body, NO_EXT, Observer, Out, Outcome, Pkt};
use mech::{Flags, FlowId, PacketKind};

impl Host {
    #[inline]
    pub(super) fn deliver<O: Out>(&mut self, pkt: &Pkt, step: &mut HostStep<O>) {
        self.consumed.count(pkt);
        let (at, is_back) = (step.out.spot(NIC), pkt.head.flags.has(Flags::RETURNED));
        match is_back {
            _ if pkt.head.kind() == PacketKind::Notice => step.out.observer().notified(at, pkt),
            true => step.out.observer().came_back(at, pkt),
            false => step.out.observer().delivered(at, pkt),
        }
        self.hand_up(pkt, step);
        if pkt.ext != NO_EXT {
            // Only copies of flooded frames share an extension; all others skip the search for other users.
            match pkt.head.flags.has(Flags::FLOODED) {
                true => step.exts.free_shared(pkt.ext),
                false => step.exts.free(pkt.ext),
            }
        }
    }

    #[inline]
    fn hand_up<O: Out>(&mut self, pkt: &Pkt, step: &mut HostStep<O>) {
        let flow = pkt.head.flow;
        if pkt.head.kind() != PacketKind::Segment || pkt.head.flags.has(Flags::RETURNED) {
            return self.hand_aside(pkt, step);
        }
        let ends = step.flows.ends[flow.0 as usize];
        if pkt.head.flags.has(Flags::REVERSE) {
            if ends.sender < GONE {
                self.with_sender(ends.sender, step, |s, io| s.receive(pkt, io));
            }
        } else if ends.receiver == GONE {
            // The peer may have missed the last ACK. The receiver is gone, but `left` suffices to repeat that ACK.
            self.reply(pkt, step);
        } else {
            let slot = if ends.receiver == NONE { self.open(flow, step) } else { ends.receiver };
            self.with_receiver(slot, step, |r, io| r.receive(pkt, io));
        }
    }

    /// Handles a packet that a switch has sent back.
    fn on_returned<O: Out>(&mut self, pkt: &Pkt, step: &mut HostStep<O>) {
        self.nic.count_returned();
        self.tell(pkt, step);
        let ends = step.flows.ends[pkt.head.flow.0 as usize];
        if pkt.head.is_cut() && !ends.raw && ends.sender < GONE {
            self.with_sender(ends.sender, step, |sender, io| sender.on_returned(pkt, io));
        }
    }

    /// Delivers a packet that is for no transport.
    fn hand_aside<O: Out>(&mut self, pkt: &Pkt, step: &mut HostStep<O>) {
        let flow = pkt.head.flow;
        match pkt.body() {
            _ if pkt.head.flags.has(Flags::RETURNED) => self.on_returned(pkt, step),
            Body::Raw(payload) => {
                step.flows.ends[flow.0 as usize].raw_received += u64::from(payload);
                Host::tell_received(flow, u64::from(payload), &mut step.out);
            }
            Body::Notice(notice) => self.on_notice(flow, notice, step),
            Body::Segment(_) | Body::Pause(_) => {}
        }
    }

    fn reply<O: Out>(&mut self, pkt: &Pkt, step: &mut HostStep<O>) {
        let at = pkt.head.flow.0 as usize;
        let info = &step.flows.info[at];
        let cfg = step.tcp.at(|| info.ends_back());
        let timers_set = &mut self.timers_set;
        let mut io = Io { now: step.now, cfg, exts: step.exts, out: step.released, timers_set };
        ack_of_finished(info, pkt, &mut step.flows.ends[at].left, &mut io);
        self.emit_all(step);
    }

    fn open<O>(&mut self, flow: FlowId, step: &mut HostStep<O>) -> u32 {
        let mut info = *step.flows.info(flow);
        if step.flows.ends[flow.0 as usize].persistent != NONE {
            info.bytes = ENDLESS;
        }
        let slot = self.receivers.add(flow, Receiver::new(&info, step.tcp.at(|| info.ends_back())));
        step.flows.ends[flow.0 as usize].receiver = slot;
        slot
    }

    #[inline]
    pub(super) fn with_sender<O: Out>(
        &mut self,
        slot: u32,
        step: &mut HostStep<O>,
        act: impl FnOnce(&mut Sender, &mut Io),
    ) {
        let Some((flow, sender)) = &mut self.senders.slots[slot as usize] else { return };
        let cfg = step.tcp.at(|| step.flows.info(*flow).ends());
        let timers_set = &mut self.timers_set;
        act(sender, &mut Io { now: step.now, cfg, exts: step.exts, out: step.released, timers_set });
        // A sender that is done may still have a segment to resend that is no longer needed.
        let (flow, deadline, waits) = (*flow, sender.deadline(), sender.waits() && !sender.done());
        if sender.is_persistent() {
            step.flows.acknowledge(flow, sender, &mut step.out);
        }
        if sender.done() {
            if cfg.keeps_metrics() {
                sender.measure(self.metrics.entry(step.flows.info(flow).dst).or_default(), cfg);
            }
            step.out.finished(Outcome::Acknowledged(flow, &sender.stats()));
            step.flows.ends[flow.0 as usize].sender = GONE;
            self.bounced.remove(&flow);
            self.senders.remove(slot);
            self.done_at_nic(flow, step);
        } else if let Some(at) = self.senders.arm(slot, deadline) {
            step.out.timer(Timer::Sender(slot).index(), at);
        }
        self.emit_all(step);
        if waits {
            self.announce(flow, step);
        }
    }

    #[inline]
    pub(super) fn with_receiver<O: Out>(
        &mut self,
        slot: u32,
        step: &mut HostStep<O>,
        act: impl FnOnce(&mut Receiver, &mut Io),
    ) {
        let Some((flow, receiver)) = &mut self.receivers.slots[slot as usize] else { return };
        let (before, bytes) = (receiver.complete(), receiver.received());
        let cfg = step.tcp.at(|| step.flows.info(*flow).ends_back());
        let timers_set = &mut self.timers_set;
        act(receiver, &mut Io { now: step.now, cfg, exts: step.exts, out: step.released, timers_set });
        let (flow, deadline) = (*flow, receiver.deadline());
        Host::tell_received(flow, receiver.received() - bytes, &mut step.out);
        if receiver.is_persistent() {
            step.flows.deliver(flow, receiver.received(), &mut step.out);
        }
        if receiver.complete() && !before {
            step.out.finished(Outcome::Received(flow));
        }
        if receiver.complete() && deadline.is_none() {
            let ends = &mut step.flows.ends[flow.0 as usize];
            ends.receiver = GONE;
            ends.left = receiver.finished();
            self.receivers.remove(slot);
        } else if let Some(at) = self.receivers.arm(slot, deadline) {
            step.out.timer(Timer::Receiver(slot).index(), at);
        }
        self.emit_all(step);
    }

    #[inline]
    fn tell_received<O: Out>(flow: FlowId, bytes: u64, out: &mut O) {
        if bytes > 0 {
            let at = out.spot(NIC);
            out.observer().received(at, flow, bytes);
        }
    }
}
