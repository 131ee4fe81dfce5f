//! Implementation of `Observer` for the recorder: the records made of each call by a node.

use super::Recorder;
use super::detour_steps::Detour;
use super::goodput::ReceivedPayload;
use super::links::Transmission;
use super::notices::NoticeRow;
use super::scope::PacketEvent;
use dataplane::{Departure, DequeuedFrame, EnqueuedFrame, EventLocation, ObservedEvents, Observer, Pkt};
use mech::overflow::DropReason;
use mech::{ClassSet, FlowId, QueueId};
use units::{Rate, Time};

impl Observer for Recorder {
    const OBSERVED: ObservedEvents = ObservedEvents { emissions: true, ..ObservedEvents::QUEUES };

    #[inline(always)]
    fn on_decision(&mut self, at: EventLocation, queue: QueueId, length: u32, pkt: &Pkt) {
        if self.sub_queues.is_some() {
            if let (Some(port), Some(all)) = (self.queue_index(at), &mut self.sub_queues) {
                all.count_decision(&self.scope, (at.now, length), (port, queue), pkt);
            }
        }
    }
    #[inline(always)]
    fn on_enqueue(&mut self, at: EventLocation, frame: EnqueuedFrame, pkt: &Pkt) {
        if let Some(inputs) = &mut self.inputs {
            inputs.record_stored(&self.scope, at, pkt, &mut self.rows.inputs);
        }
        let Some(queue) = self.queue_index(at) else { return };
        match frame.leaves {
            Departure::At(starts)
                if starts == at.now
                    && frame.before == 0
                    && self.computed_departures.count_passed_frame(queue, at.now) => {}
            Departure::At(starts) => self.record_stored(at.now, queue, starts, frame.before),
            Departure::Slot(slot) => self.record_stored_in_slot(at, queue, frame, slot),
        }
    }
    fn on_dequeue(&mut self, at: EventLocation, frame: DequeuedFrame) {
        let Some(queue) = self.queue_index(at) else { return };
        self.queues[queue].record_freed::<false>(&self.scope, at.now, frame.after, &mut self.rows.trace);
        if let Some(all) = &mut self.sub_queues {
            all.record_freed(&self.scope, at.now, (queue, frame.queue), &mut self.rows.sub_trace);
        }
        if let Some(slot) = frame.started {
            let switch = (at.node - self.scope.hosts) as usize;
            self.queues[queue].record_waiting_time(&self.scope, at.now, self.storage_times.get(switch, slot));
        }
    }
    #[inline(always)]
    fn on_transmit(&mut self, at: EventLocation, pkt: &Pkt, end: Time) {
        let frame = Transmission { now: at.now, port: at.port, size: pkt.head.size, end };
        if let Some(links) = &mut self.links {
            links.count_transmission(&self.scope, frame, &mut self.rows.links);
        }
        if let Some(sent) = &mut self.sent {
            sent.count_transmission(&self.scope, pkt.head.flow.0, frame, &mut self.rows.sent);
        }
        if pkt.head.bounces > 0 {
            self.distances.count_transmission(pkt);
        }
    }
    fn on_flow_added(&mut self, flow: FlowId, traffic: u16) {
        self.workloads.set_workload(flow, traffic);
    }
    #[inline]
    fn on_emit(&mut self, pkt: &Pkt) {
        if let Some(reordering) = &mut self.reordering {
            reordering.record_sent(self.workloads.workload_of(pkt.head.flow), pkt);
        }
        self.emitted.iter_mut().for_each(|emitted| emitted.push(*pkt));
    }
    fn on_drop(&mut self, at: EventLocation, pkt: &Pkt, reason: DropReason) {
        self.count_event(at, pkt, PacketEvent::Drop);
        self.data_drops.count_lost_packet(pkt);
        self.record_packet_end(at, pkt, 1 + reason as u8);
    }
    fn on_mark(&mut self, at: EventLocation, pkt: &Pkt) {
        self.count_event(at, pkt, PacketEvent::Mark);
    }
    fn on_detour(&mut self, at: EventLocation, taken: u32, pkt: &Pkt) {
        self.count_event(at, pkt, PacketEvent::Detour);
        if let Some(steps) = self.detour_steps.as_mut().filter(|_| self.scope.covers(pkt.sent)) {
            steps.add_detour(Detour { at, detour_port: taken }, pkt);
        }
    }
    fn on_trim(&mut self, at: EventLocation, _bytes: u16, pkt: &Pkt) {
        self.count_event(at, pkt, PacketEvent::Trim);
    }
    fn on_bounce(&mut self, at: EventLocation, pkt: &Pkt) {
        self.count_event(at, pkt, PacketEvent::Bounce);
        self.distances.count_bounce(pkt);
    }
    fn on_hold(&mut self, at: EventLocation, pkt: &Pkt) {
        let rows = &mut self.rows.holds;
        self.holds.iter_mut().for_each(|holds| holds.record_held(&self.scope, at, pkt.head.size, rows));
    }
    fn on_release(&mut self, at: EventLocation, pkt: &Pkt) {
        let rows = &mut self.rows.holds;
        self.holds.iter_mut().for_each(|holds| holds.record_released(&self.scope, at, pkt.head.size, rows));
    }
    fn on_hold_state(&mut self, at: EventLocation, state: u8, _level: u64) {
        let rows = &mut self.rows.holds;
        self.holds.iter_mut().for_each(|holds| holds.record_state(&self.scope, at, state, rows));
    }
    fn on_notice_sent(&mut self, at: EventLocation, pkt: &Pkt) {
        let Some(row) = NoticeRow::from_packet(at, pkt) else { return };
        // A CNP, whose feedback is 0, comes from a receiver, so it is no event of a congestion point.
        if row.feedback > 0 {
            self.count_event(at, pkt, PacketEvent::Notice);
        }
        let rows = &mut self.rows.notices;
        self.notices.iter_mut().for_each(|notices| notices.record_notice(&self.scope, row, rows));
    }
    fn on_input_dequeue(&mut self, at: EventLocation, input: u32, pkt: &Pkt) {
        let rows = &mut self.rows.inputs;
        self.inputs.iter_mut().for_each(|inputs| inputs.record_crossed(&self.scope, (at, input), pkt, rows));
    }
    fn on_stage_arrival(&mut self, at: EventLocation, buffer: u16, pkt: &Pkt) {
        let rows = &mut self.rows.stages;
        self.stages.iter_mut().for_each(|stages| stages.record_moved(&self.scope, at, (buffer, pkt), rows));
    }
    fn on_stage_occupancy(&mut self, at: EventLocation, buffer: u16, bytes: u64) {
        let rows = &mut self.rows.stages;
        self.stages.iter_mut().for_each(|stages| stages.record_bytes(&self.scope, at, (buffer, bytes), rows));
    }
    fn on_copy_freed(&mut self, at: EventLocation, input: u32, copy: &Pkt) {
        self.on_input_dequeue(at, input, copy);
    }
    fn on_rate_limit(&mut self, at: EventLocation, flow: FlowId, rate: Option<Rate>) {
        let rows = &mut self.rows.limits;
        self.limits.iter_mut().for_each(|limits| limits.record_limit(&self.scope, (at, flow, rate), rows));
    }
    fn on_pause_sent(&mut self, at: EventLocation, xoff: ClassSet, again: ClassSet) {
        self.pauses.iter_mut().for_each(|pauses| pauses.record_sent(&self.scope, at, xoff, again));
    }
    fn on_pause(&mut self, at: EventLocation, class: u8) {
        self.pauses.iter_mut().for_each(|pauses| pauses.record_paused(&self.scope, at, class));
    }
    fn on_resume(&mut self, at: EventLocation, class: u8) {
        self.pauses.iter_mut().for_each(|pauses| pauses.record_resumed(&self.scope, at, class, &mut self.rows.pauses));
    }
    fn on_received_bytes(&mut self, at: EventLocation, flow: FlowId, bytes: u64) {
        let bin = self.clock.bin_at(&self.scope, at.now);
        self.goodput.count_received(bin, ReceivedPayload { host: at.node, flow, bytes }, &mut self.rows);
        if !self.scope.covers(at.now) {
            return;
        }
        let workload = usize::from(self.workloads.workload_of(flow));
        if self.received.len() <= workload {
            self.received.resize(workload + 1, 0);
        }
        self.received[workload] += bytes;
    }
    fn on_delivery(&mut self, at: EventLocation, pkt: &Pkt) {
        let most = self.record_packet_end(at, pkt, 0);
        self.bisection.count_frame(&self.scope, at.now, pkt);
        let counts = self.scope.covers(pkt.sent);
        self.reordering.iter_mut().for_each(|reordering| reordering.record_delivered(pkt, counts));
        if !counts {
            return;
        }
        let values = [
            at.now.since(pkt.sent).0,
            u64::from(pkt.head.hops),
            u64::from(pkt.head.detours),
            u64::from(pkt.head.bounces),
        ];
        self.workloads.add_delivered(pkt, values);
        if pkt.head.bounces > 0 {
            self.workloads.add_max_bounce_distance(pkt, most);
        }
    }
}
