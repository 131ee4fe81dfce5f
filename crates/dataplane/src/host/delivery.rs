//! Delivery of packets that have passed up the stack, and calls of senders and receivers.

use super::{Host, HostStep, HostTimer, NIC};
use crate::flows::{NO_SLOT, REMOVED_SLOT};
use crate::transport::{ENDLESS_BYTES, Io, Receiver, Sender, ack_of_finished};
use crate::{NO_EXT, Observer, Out, Outcome, PacketBody, Pkt};
use mech::{Flags, FlowId, PacketKind};

impl Host {
    #[inline]
    pub(super) fn deliver<O: Out>(&mut self, pkt: &Pkt, step: &mut HostStep<O>) {
        self.consumed.count(pkt);
        let (at, is_back) = (step.out.event_location(NIC), pkt.head.flags.has(Flags::RETURNED));
        match is_back {
            _ if pkt.head.kind() == PacketKind::Notice => step.out.observer().on_notice_received(at, pkt),
            true => step.out.observer().on_returned_packet(at, pkt),
            false => step.out.observer().on_delivery(at, pkt),
        }
        self.pass_to_transport(pkt, step);
        if pkt.ext != NO_EXT {
            // Only copies of flooded frames share an extension; all others skip the search for other users.
            match pkt.head.flags.has(Flags::FLOODED) {
                true => step.exts.free_shared(pkt.ext),
                false => step.exts.free(pkt.ext),
            }
        }
    }

    #[inline]
    fn pass_to_transport<O: Out>(&mut self, pkt: &Pkt, step: &mut HostStep<O>) {
        let flow = pkt.head.flow;
        if pkt.head.kind() != PacketKind::Segment || pkt.head.flags.has(Flags::RETURNED) {
            return self.deliver_without_transport(pkt, step);
        }
        let ends = step.flows.ends[flow.0 as usize];
        if pkt.head.flags.has(Flags::REVERSE) {
            if ends.sender < REMOVED_SLOT {
                self.call_sender(ends.sender, step, |s, io| s.receive(pkt, io));
            }
        } else if ends.receiver == REMOVED_SLOT {
            // The peer may have missed the last ACK. The receiver is gone, but its `finished_receiver` suffices to
            // repeat that ACK.
            self.reply(pkt, step);
        } else {
            let slot = if ends.receiver == NO_SLOT { self.open_receiver(flow, step) } else { ends.receiver };
            self.call_receiver(slot, step, |r, io| r.receive(pkt, io));
        }
    }

    /// Handles a packet that a switch has sent back to this host, its source.
    fn on_returned<O: Out>(&mut self, pkt: &Pkt, step: &mut HostStep<O>) {
        self.nic.count_returned();
        self.signal_bounce(pkt, step);
        let ends = step.flows.ends[pkt.head.flow.0 as usize];
        if pkt.head.is_cut() && !ends.raw && ends.sender < REMOVED_SLOT {
            self.call_sender(ends.sender, step, |sender, io| sender.on_returned(pkt, io));
        }
    }

    /// Delivers a packet that goes to no sender or receiver: returned, raw, or a congestion message.
    fn deliver_without_transport<O: Out>(&mut self, pkt: &Pkt, step: &mut HostStep<O>) {
        let flow = pkt.head.flow;
        match pkt.body() {
            _ if pkt.head.flags.has(Flags::RETURNED) => self.on_returned(pkt, step),
            PacketBody::Raw(payload) => {
                step.flows.ends[flow.0 as usize].raw_received += u64::from(payload);
                Host::report_received_bytes(flow, u64::from(payload), &mut step.out);
            }
            PacketBody::Notice(notice) => self.on_notice(flow, notice, step),
            PacketBody::Segment(_) | PacketBody::Pause(_) => {}
        }
    }

    fn reply<O: Out>(&mut self, pkt: &Pkt, step: &mut HostStep<O>) {
        let at = pkt.head.flow.0 as usize;
        let info = &step.flows.info[at];
        let cfg = step.tcp.config_at(|| info.receiver_ends());
        let timers_set = &mut self.timers_set;
        let mut io = Io { now: step.now, cfg, exts: step.exts, out: step.released, timers_set };
        ack_of_finished(info, pkt, &mut step.flows.ends[at].finished_receiver, &mut io);
        self.emit_all(step);
    }

    fn open_receiver<O>(&mut self, flow: FlowId, step: &mut HostStep<O>) -> u32 {
        let mut info = *step.flows.info(flow);
        if step.flows.ends[flow.0 as usize].persistent != NO_SLOT {
            info.bytes = ENDLESS_BYTES;
        }
        let slot = self.receivers.add(flow, Receiver::new(&info, step.tcp.config_at(|| info.receiver_ends())));
        step.flows.ends[flow.0 as usize].receiver = slot;
        slot
    }

    #[inline]
    pub(super) fn call_sender<O: Out>(
        &mut self,
        slot: u32,
        step: &mut HostStep<O>,
        act: impl FnOnce(&mut Sender, &mut Io),
    ) {
        let Some((flow, sender)) = &mut self.senders.slots[slot as usize] else { return };
        let cfg = step.tcp.config_at(|| step.flows.info(*flow).sender_ends());
        let timers_set = &mut self.timers_set;
        act(sender, &mut Io { now: step.now, cfg, exts: step.exts, out: step.released, timers_set });
        // A sender that is done may still have a segment to resend. It is no longer needed, so it is not announced.
        let (flow, deadline, waits) = (*flow, sender.deadline(), sender.has_waiting_segment() && !sender.is_done());
        if sender.is_persistent() {
            step.flows.report_acknowledged(flow, sender, &mut step.out);
        }
        if sender.is_done() {
            if cfg.keeps_metrics() {
                sender.update_metrics(self.metrics.entry(step.flows.info(flow).dst).or_default(), cfg);
            }
            step.out.report_outcome(Outcome::FlowAcknowledged(flow, &sender.stats()));
            step.flows.ends[flow.0 as usize].sender = REMOVED_SLOT;
            self.bounced.remove(&flow);
            self.senders.remove(slot);
            self.remove_flow_from_nic(flow, step);
        } else if let Some(at) = self.senders.arm(slot, deadline) {
            step.out.set_timer(HostTimer::Sender(slot).index(), at);
        }
        self.emit_all(step);
        if waits {
            self.announce(flow, step);
        }
    }

    #[inline]
    pub(super) fn call_receiver<O: Out>(
        &mut self,
        slot: u32,
        step: &mut HostStep<O>,
        act: impl FnOnce(&mut Receiver, &mut Io),
    ) {
        let Some((flow, receiver)) = &mut self.receivers.slots[slot as usize] else { return };
        let (before, bytes) = (receiver.is_complete(), receiver.received_bytes());
        let cfg = step.tcp.config_at(|| step.flows.info(*flow).receiver_ends());
        let timers_set = &mut self.timers_set;
        act(receiver, &mut Io { now: step.now, cfg, exts: step.exts, out: step.released, timers_set });
        let (flow, deadline) = (*flow, receiver.deadline());
        Host::report_received_bytes(flow, receiver.received_bytes() - bytes, &mut step.out);
        if receiver.is_persistent() {
            step.flows.report_received(flow, receiver.received_bytes(), &mut step.out);
        }
        if receiver.is_complete() && !before {
            step.out.report_outcome(Outcome::FlowReceived(flow));
        }
        if receiver.is_complete() && deadline.is_none() {
            let ends = &mut step.flows.ends[flow.0 as usize];
            ends.receiver = REMOVED_SLOT;
            ends.finished_receiver = receiver.finished_state();
            self.receivers.remove(slot);
        } else if let Some(at) = self.receivers.arm(slot, deadline) {
            step.out.set_timer(HostTimer::Receiver(slot).index(), at);
        }
        self.emit_all(step);
    }

    #[inline]
    fn report_received_bytes<O: Out>(flow: FlowId, bytes: u64, out: &mut O) {
        if bytes > 0 {
            let at = out.event_location(NIC);
            out.observer().on_received_bytes(at, flow, bytes);
        }
    }
}
