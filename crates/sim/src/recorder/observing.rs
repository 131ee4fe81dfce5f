//! Records that a recorder makes of each call to the observer.

use super::Recorder;
use super::detour_steps::Detour;
use super::goodput::Got;
use super::links::Transmission;
use super::notices::NoticeRow;
use super::scope::Kind;
use dataplane::{Freed, Leaves, Observer, Pkt, Spot, Stored, Wants};
use mech::overflow::DropReason;
use mech::{ClassSet, FlowId, QueueId};
use units::{Rate, Time};

impl Observer for Recorder {
    const WANTS: Wants = Wants { emissions: true, ..Wants::QUEUES };

    #[inline(always)]
    fn decided(&mut self, at: Spot, queue: QueueId, length: u32, pkt: &Pkt) {
        if self.sub_queues.is_some()
            && let (Some(port), Some(all)) = (self.queue(at), &mut self.sub_queues)
        {
            all.decided(&self.scope, (at.now, length), (port, queue), pkt);
        }
    }
    #[inline(always)]
    fn stored(&mut self, at: Spot, frame: Stored, pkt: &Pkt) {
        if let Some(inputs) = &mut self.inputs {
            inputs.stored(&self.scope, at, pkt, &mut self.rows.inputs);
        }
        let Some(queue) = self.queue(at) else { return };
        match frame.leaves {
            Leaves::At(starts) if starts == at.now && frame.before == 0 && self.ahead.passed(queue, at.now) => {}
            Leaves::At(starts) => self.stored_until(at.now, queue, starts, frame.before),
            Leaves::Slot(slot) => self.stored_in_slot(at, queue, frame, slot),
        }
    }
    fn freed(&mut self, at: Spot, frame: Freed) {
        let Some(queue) = self.queue(at) else { return };
        self.queues[queue].freed::<false>(&self.scope, at.now, frame.after, &mut self.rows.trace);
        if let Some(all) = &mut self.sub_queues {
            all.freed(&self.scope, at.now, (queue, frame.queue), &mut self.rows.sub_trace);
        }
        if let Some(slot) = frame.started {
            let switch = (at.node - self.scope.hosts) as usize;
            self.queues[queue].started(&self.scope, at.now, self.stored_at.get(switch, slot));
        }
    }
    #[inline(always)]
    fn transmitted(&mut self, at: Spot, pkt: &Pkt, end: Time) {
        let frame = Transmission { now: at.now, port: at.port, size: pkt.head.size, end };
        if let Some(links) = &mut self.links {
            links.transmitted(&self.scope, frame, &mut self.rows.links);
        }
        if let Some(sent) = &mut self.sent {
            sent.transmitted(&self.scope, pkt.head.flow.0, frame, &mut self.rows.sent);
        }
        if pkt.head.bounces > 0 {
            self.distances.transmitted(pkt);
        }
    }
    fn entered(&mut self, flow: FlowId, traffic: u16) {
        self.workloads.entered(flow, traffic);
    }
    #[inline]
    fn emitted(&mut self, pkt: &Pkt) {
        if let Some(reordering) = &mut self.reordering {
            reordering.emitted(self.workloads.traffic(pkt.head.flow), pkt);
        }
        self.emitted.iter_mut().for_each(|emitted| emitted.push(*pkt));
    }
    fn dropped(&mut self, at: Spot, pkt: &Pkt, reason: DropReason) {
        self.count(at, pkt, Kind::Drop);
        self.data_drops.lost(pkt);
        self.ended(at, pkt, 1 + reason as u8);
    }
    fn marked(&mut self, at: Spot, pkt: &Pkt) {
        self.count(at, pkt, Kind::Mark);
    }
    fn detoured(&mut self, at: Spot, taken: u32, pkt: &Pkt) {
        self.count(at, pkt, Kind::Detour);
        if let Some(steps) = self.detour_steps.as_mut().filter(|_| self.scope.covers(pkt.sent)) {
            steps.detoured(Detour { at, taken }, pkt);
        }
    }
    fn trimmed(&mut self, at: Spot, _bytes: u16, pkt: &Pkt) {
        self.count(at, pkt, Kind::Trim);
    }
    fn bounced(&mut self, at: Spot, pkt: &Pkt) {
        self.count(at, pkt, Kind::Bounce);
        self.distances.bounced(pkt);
    }
    fn held(&mut self, at: Spot, pkt: &Pkt) {
        let rows = &mut self.rows.holds;
        self.holds.iter_mut().for_each(|holds| holds.held(&self.scope, at, pkt.head.size, rows));
    }
    fn released(&mut self, at: Spot, pkt: &Pkt) {
        let rows = &mut self.rows.holds;
        self.holds.iter_mut().for_each(|holds| holds.released(&self.scope, at, pkt.head.size, rows));
    }
    fn turned(&mut self, at: Spot, state: u8, _level: u64) {
        let rows = &mut self.rows.holds;
        self.holds.iter_mut().for_each(|holds| holds.turned(&self.scope, at, state, rows));
    }
    fn noticed(&mut self, at: Spot, pkt: &Pkt) {
        let Some(row) = NoticeRow::from_packet(at, pkt) else { return };
        // CNPs come from receivers and count for no congestion point.
        if row.feedback > 0 {
            self.count(at, pkt, Kind::Notice);
        }
        let rows = &mut self.rows.notices;
        self.notices.iter_mut().for_each(|notices| notices.made(&self.scope, row, rows));
    }
    fn crossed(&mut self, at: Spot, input: u32, pkt: &Pkt) {
        let rows = &mut self.rows.inputs;
        self.inputs.iter_mut().for_each(|inputs| inputs.crossed(&self.scope, (at, input), pkt, rows));
    }
    fn moved(&mut self, at: Spot, buffer: u16, pkt: &Pkt) {
        let rows = &mut self.rows.stages;
        self.stages.iter_mut().for_each(|stages| stages.moved(&self.scope, at, (buffer, pkt), rows));
    }
    fn occupied(&mut self, at: Spot, buffer: u16, bytes: u64) {
        let rows = &mut self.rows.stages;
        self.stages.iter_mut().for_each(|stages| stages.occupied(&self.scope, at, (buffer, bytes), rows));
    }
    fn acknowledged(&mut self, at: Spot, input: u32, copy: &Pkt) {
        self.crossed(at, input, copy);
    }
    fn limited(&mut self, at: Spot, flow: FlowId, rate: Option<Rate>) {
        let rows = &mut self.rows.limits;
        self.limits.iter_mut().for_each(|limits| limits.limited(&self.scope, (at, flow, rate), rows));
    }
    fn pause_sent(&mut self, at: Spot, xoff: ClassSet, again: ClassSet) {
        self.pauses.iter_mut().for_each(|pauses| pauses.sent(&self.scope, at, xoff, again));
    }
    fn paused(&mut self, at: Spot, class: u8) {
        self.pauses.iter_mut().for_each(|pauses| pauses.paused(&self.scope, at, class));
    }
    fn resumed(&mut self, at: Spot, class: u8) {
        self.pauses.iter_mut().for_each(|pauses| pauses.resumed(&self.scope, at, class, &mut self.rows.pauses));
    }
    fn received(&mut self, at: Spot, flow: FlowId, bytes: u64) {
        let bin = self.clock.bin(&self.scope, at.now);
        self.goodput.received(bin, Got { host: at.node, flow, bytes }, &mut self.rows);
        if !self.scope.covers(at.now) {
            return;
        }
        let workload = usize::from(self.workloads.traffic(flow));
        if self.received.len() <= workload {
            self.received.resize(workload + 1, 0);
        }
        self.received[workload] += bytes;
    }
    fn delivered(&mut self, at: Spot, pkt: &Pkt) {
        let most = self.ended(at, pkt, 0);
        self.crossed.count(&self.scope, at.now, pkt);
        let counts = self.scope.covers(pkt.sent);
        self.reordering.iter_mut().for_each(|reordering| reordering.delivered(pkt, counts));
        if !counts {
            return;
        }
        let values = [
            at.now.since(pkt.sent).0,
            u64::from(pkt.head.hops),
            u64::from(pkt.head.detours),
            u64::from(pkt.head.bounces),
        ];
        self.workloads.add(pkt, values);
        if pkt.head.bounces > 0 {
            self.workloads.add_distance(pkt, most);
        }
    }
}
