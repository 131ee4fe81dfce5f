//! Losses of packets in switches whose memory has priority groups.

use super::{Core, StepContext};
use crate::Pkt;
use crate::packet_store::{Fib, Origin, counted_frame};
use crate::pool_accounts::GroupLosses;
use crate::port::QueueAt;
use mech::PortId;
use mech::overflow::DropReason;

impl Core {
    /// Returns the losses of lossless groups for lack of memory, in the order of their first loss.
    pub fn group_losses(&self) -> &[GroupLosses] {
        self.store.pools.as_deref().map_or(&[], |pools| pools.losses())
    }

    /// Counts a packet that was lost for lack of memory. A group that refused it is stopped, so that its far end is
    /// paused although the packet is lost.
    pub(super) fn note_group_loss<F: Fib, O>(
        &mut self,
        pkt: &Pkt,
        port: PortId,
        why: DropReason,
        step: &StepContext<F, O>,
    ) {
        if let Some(pools) = &mut self.store.pools {
            pools.count_loss(pkt.head.ingress, pkt.head.class(), step.now);
        }
        let at = QueueAt { port, queue: self.store.resolve_queue(pkt.head.queue()) };
        let origin = Origin::from_head(&pkt.head);
        if why != DropReason::Evicted && self.store.group_refuses(at, pkt.head.size, origin) {
            let frame = counted_frame(at, pkt.head.size, origin);
            self.store.pools.as_mut().into_iter().for_each(|pools| pools.stop_refused(&frame));
            self.signal_groups(step);
        }
    }
}
