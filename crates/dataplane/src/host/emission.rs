//! Path of packets that a host has created, through the stack to the NIC.

use super::{Host, HostStep, HostTimer, NIC};
use crate::transport::SegmentRun;
use crate::{Observer, Out, Pkt};

impl Host {
    #[inline]
    pub(super) fn emit_all<O: Out>(&mut self, step: &mut HostStep<O>) {
        // All hosts share one buffer, which stays in the cache. It is taken out since `emit` borrows the step.
        let mut released = std::mem::take(step.released);
        for run in released.runs_mut() {
            match run.only() {
                Some(pkt) => self.emit(pkt, step),
                None => self.emit_run(run, step),
            }
        }
        released.clear();
        *step.released = released;
    }

    /// Sends a run of frames as one if nothing can happen to a frame between its release and its departure.
    /// Observers still see each frame.
    #[inline(never)]
    fn emit_run<O: Out>(&mut self, run: &SegmentRun, step: &mut HostStep<O>) {
        if self.pulled.is_some() || !self.down.is_instant() || !self.nic.can_forward_runs(NIC) {
            return run.packets().for_each(|mut pkt| self.emit(&mut pkt, step));
        }
        self.originated.packets += u64::from(run.count());
        self.originated.bytes += u64::from(run.count()) * u64::from(run.first().head.size);
        self.originated.payload += u64::from(run.count()) * run.first().payload_bytes();
        self.nic.forward_run(run, NIC, &mut step.nic_step());
    }

    #[inline]
    pub(super) fn emit<O: Out>(&mut self, pkt: &mut Pkt, step: &mut HostStep<O>) {
        self.originated.count(pkt);
        step.out.observer().on_emit(pkt);
        if self.down.is_instant() || self.pulled.as_ref().is_some_and(|pulled| pulled.is_pulling()) {
            self.store_at_nic(pkt, step);
        } else if let Some(at) = self.down.push(step.now, *pkt, &mut self.stack_rng) {
            step.out.set_timer(HostTimer::StackDown.index(), at);
        }
    }

    /// Queues a frame that has come down the stack at the NIC.
    #[inline]
    pub(super) fn store_at_nic<O: Out>(&mut self, pkt: &mut Pkt, step: &mut HostStep<O>) {
        match &mut self.pulled {
            None => self.nic.admit(pkt, NIC, &mut step.nic_step()),
            Some(pulled) => pulled.push(pkt, step.now),
        }
    }
}
