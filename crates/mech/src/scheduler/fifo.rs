//! Scheduler `fifo`: first in, first out over all queues of the port, whatever their class.

use super::Scheduler;
use crate::params::Spec;
use crate::{Env, Needs, PktId, PortView, QueueId};

/// Scheduler that sends the packets of a port first in, first out.
#[derive(Clone, Debug)]
pub struct Fifo;

pub(super) const SPEC: Spec = Spec {
    slot: "switch.scheduler",
    kind: "fifo",
    doc: "Sends the packet that arrived first.",
    cite: "RFC 7567 §1.1",
    params: &[],
};

impl Scheduler for Fifo {
    fn next_packet(&mut self, port: &PortView, _env: &mut Env) -> Option<(QueueId, PktId)> {
        let first = |queue| port.view.first_packet(port.port, queue).map(|(pkt, stamp)| (stamp, queue, pkt));
        QueueId::iter_set(port.eligible).filter_map(first).min().map(|(_, queue, pkt)| (queue, pkt))
    }
    fn needs(&self) -> Needs {
        Needs::default()
    }
    fn clone_boxed(&self) -> Box<dyn Scheduler> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{DecisionInputs, SwitchState, buffer_of_packets, parse_head, switch_without_packets};
    use crate::{PortId, View};

    /// Creates a switch whose port 0 has one packet in each of these queues, which arrived in this order.
    fn switch_with_queued_packets(queues: &[u8]) -> SwitchState {
        let mut state = switch_without_packets(1, buffer_of_packets(100));
        queues.iter().for_each(|queue| state.fill_up(1, parse_head(""), (PortId(0), QueueId(*queue))));
        state
    }
    fn choose_next(state: &SwitchState, eligible: u32) -> Option<(QueueId, PktId)> {
        let port = PortView { view: state, port: PortId(0), eligible };
        Fifo.next_packet(&port, &mut DecisionInputs::with_draws(&[]).env())
    }

    #[test]
    fn packets_leave_in_order_of_arrival_over_all_queues() {
        let order = [4, 15, 0, 0, 1, 4, 14];
        let mut state = switch_with_queued_packets(&order);
        for queue in order {
            let eligible = (0..32).filter(|q| state.backlog(PortId(0), QueueId(*q)).0 > 0);
            let (from, id) = choose_next(&state, eligible.fold(0, |bits, q| bits | 1 << q)).unwrap();
            assert_eq!(from, QueueId(queue));
            state.remove_from_queue(id);
            state.free_memory(id);
        }
        assert_eq!(choose_next(&state, 0), None);
    }

    #[test]
    fn fifo_skips_a_paused_class() {
        let state = switch_with_queued_packets(&[4, 0]);
        assert_eq!(choose_next(&state, 1 << 0 | 1 << 4).map(|(queue, _)| queue), Some(QueueId(4)));
        assert_eq!(choose_next(&state, 1 << 0).map(|(queue, _)| queue), Some(QueueId(0)));
        assert_eq!(choose_next(&state, 0), None);
    }
}
