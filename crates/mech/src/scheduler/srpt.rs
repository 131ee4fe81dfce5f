//! Service order of pFabric: the shortest remaining processing time first (Alizadeh et al., SIGCOMM 2013, §4.2).
//!
//! The scheduler finds the packet with the smallest rank in the highest class, the oldest one if ranks are equal. Then
//! the oldest packet of that flow and direction leaves. So no flow is reordered or starved by its own later packets.
//! The order between classes, and between bounced packets and others of a class, is that of
//! [`super::StrictPriority`].

use super::Scheduler;
use crate::params::Spec;
use crate::{Env, Needs, PktId, PortView, QueueId};

/// Scheduler that serves the highest class first, and in it the flow with the shortest remaining processing time.
#[derive(Clone, Debug)]
pub struct Srpt;

pub(super) const SPEC: Spec = Spec {
    slot: "switch.scheduler",
    kind: "srpt",
    doc: "Serves the highest class first, and within a class the oldest packet of the flow with the fewest remaining \
          bytes.",
    cite: "pFabric §4.2",
    params: &[],
};

impl Scheduler for Srpt {
    fn next_packet(&mut self, port: &PortView, _env: &mut Env) -> Option<(QueueId, PktId)> {
        let queue = QueueId(port.eligible.checked_ilog2()? as u8);
        port.view.most_urgent(port.port, queue).map(|id| (queue, id))
    }
    fn needs(&self) -> Needs {
        Needs { reorders: true, orders_by_rank: true, finds_most_urgent: true, ..Needs::default() }
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

    /// Creates a switch with packets that arrived at port 0 in this order, and returns it with their identifiers.
    fn switch_with_packets(waiting: &[&str]) -> (SwitchState, Vec<PktId>) {
        let mut state = switch_without_packets(1, buffer_of_packets(100));
        let push = |text: &&str| {
            let pkt = parse_head(text);
            state.push(String::new(), pkt, (PortId(0), pkt.queue()))
        };
        let ids = waiting.iter().map(push).collect();
        (state, ids)
    }
    /// Returns the order in which the packets leave, by their indices.
    fn departure_order(waiting: &[&str]) -> Vec<usize> {
        let (mut state, ids) = switch_with_packets(waiting);
        let mut left = vec![];
        loop {
            let eligible = (0..32).filter(|q| state.backlog(PortId(0), QueueId(*q)).0 > 0);
            let eligible = eligible.fold(0, |bits: u32, q| bits | 1 << q);
            let view = PortView { view: &state, port: PortId(0), eligible };
            let Some((_, id)) = Srpt.next_packet(&view, &mut DecisionInputs::with_draws(&[]).env()) else {
                return left;
            };
            left.push(ids.iter().position(|other| *other == id).unwrap());
            state.remove_from_queue(id);
            state.free_memory(id);
        }
    }

    #[test]
    fn flow_of_smallest_rank_leaves_first_with_its_oldest_packet() {
        // Flow 1 has 1000 bytes left by its newest packet, and flow 2 has 1500. So the oldest of flow 1 goes first.
        let waiting = ["flow=1 rank=3000", "flow=2 rank=2500", "flow=1 rank=1000", "flow=2 rank=1500"];
        assert_eq!(departure_order(&waiting), [0, 2, 1, 3]);
    }

    #[test]
    fn of_equal_ranks_the_oldest_packet_leaves_first() {
        assert_eq!(departure_order(&["flow=3 rank=7", "flow=1 rank=7", "flow=2 rank=7"]), [0, 1, 2]);
        assert_eq!(
            departure_order(&["flow=3", "flow=1", "flow=3", "flow=2"]),
            [0, 1, 2, 3],
            "without ranks it is a FIFO"
        );
    }

    #[test]
    fn directions_of_a_flow_are_served_as_two_flows() {
        assert_eq!(
            departure_order(&["flow=1 src=1 rank=900", "flow=2 src=1 rank=50", "flow=1 src=2 rank=0"]),
            [2, 1, 0]
        );
    }

    #[test]
    fn higher_class_and_bounced_packets_leave_first_at_any_rank() {
        let waiting = ["flow=1 rank=1", "flow=2 class=2 rank=9", "flow=3 class=2 rank=8", "flow=4 class=2 rank=9 np=1"];
        assert_eq!(departure_order(&waiting), [3, 2, 1, 0]);
    }

    #[test]
    fn srpt_skips_a_paused_class() {
        let (state, ids) = switch_with_packets(&["flow=1 class=3", "flow=2"]);
        let next = |eligible| {
            let view = PortView { view: &state, port: PortId(0), eligible };
            Srpt.next_packet(&view, &mut DecisionInputs::with_draws(&[]).env())
        };
        assert_eq!(next(1), Some((QueueId(0), ids[1])));
        assert_eq!(next(0), None);
    }
}
