//! Drop rule of pFabric: a full queue drops its least urgent packet (Alizadeh et al., "pFabric: Minimal Near-Optimal
//! Datacenter Transport", SIGCOMM 2013, §4.2).
//!
//! The least urgent packet has the lowest class, in it the largest rank, and of equals it is the newest, which may be
//! the arrival. Only packets queued for the same port are compared, even if ports share memory: the current threshold
//! then decides whether the queue is full. The switch decides again as long as the arrival does not fit. So with a
//! buffer in bytes one arrival may evict several packets.

use super::{DropReason, Fate, Overflow};
use crate::params::Spec;
use crate::{CheckContext, Env, ForwardingContext, Head, Needs, PktId, QueueId, Report};

/// Overflow mechanism that drops the least urgent packet of a full queue (pFabric).
#[derive(Clone, Debug)]
pub struct Evict;

pub(super) const SPEC: Spec = Spec {
    slot: "switch.overflow",
    kind: "evict",
    doc: "Drops the least urgent packet when a queue is full: the newest of those with the most remaining bytes in the \
          lowest class. It may be the arriving packet.",
    cite: "pFabric §4.2",
    params: &[],
};

/// Returns the least urgent packet queued for a port, with the number of its queue and its rank.
fn least_urgent(at: &ForwardingContext) -> Option<(u8, u32, PktId)> {
    (0..8).find_map(|number| {
        let (id, rank) = at.view.least_urgent(at.output, QueueId::normal(number))?;
        Some((number, rank, id))
    })
}

impl Overflow for Evict {
    fn admit(&mut self, pkt: &Head, at: &ForwardingContext, _env: &mut Env) -> Fate {
        let queue = pkt.queue();
        if at.fits(at.output, queue, pkt.size) {
            return Fate::Enqueue(queue);
        }
        let own = at.view.waiting_queue(QueueId::normal(pkt.class())).class();
        match least_urgent(at) {
            Some((number, rank, id)) if number < own || (number == own && rank > pkt.rank) => Fate::Evict(id),
            _ => Fate::Drop(DropReason::BufferFull),
        }
    }
    fn needs(&self) -> Needs {
        Needs { removes_packets: true, orders_by_rank: true, finds_least_urgent: true, ..Needs::default() }
    }
    /// Reports an unlimited buffer, with which nothing is ever evicted.
    fn check(&self, beside: &CheckContext, report: &mut Report) {
        match beside.memory {
            Some(_) => {}
            None if beside.nic => {
                report.add_error("kind", "\"evict\" with a NIC queue without a limit", "a limit in host.nic_queue")
            }
            None => report.add_warning(
                "evict has no effect with an unlimited buffer, because no queue is ever full. \
                                        Set a buffer size",
            ),
        }
    }
    fn clone_boxed(&self) -> Box<dyn Overflow> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PortId;
    use crate::testing::{DecisionInputs, SwitchState, buffer_of_packets, parse_head, switch_without_packets};

    /// Creates a switch whose port 0 has space for three packets and holds these three.
    fn full_port(waiting: [&str; 3]) -> (SwitchState, [PktId; 3]) {
        let mut state = switch_without_packets(2, buffer_of_packets(3));
        let ids = waiting.map(|text| {
            let pkt = parse_head(text);
            state.push(String::new(), pkt, (PortId(0), pkt.queue()))
        });
        (state, ids)
    }
    fn fate(state: &SwitchState, text: &str) -> Fate {
        let at = ForwardingContext { view: state, ingress: PortId(1), output: PortId(0) };
        Evict.admit(&parse_head(text), &at, &mut DecisionInputs::with_draws(&[]).env())
    }

    #[test]
    fn packet_that_fits_is_stored_at_any_rank() {
        let (mut state, ids) = full_port(["rank=1", "rank=2", "rank=3"]);
        state.remove_from_queue(ids[0]);
        state.free_memory(ids[0]);
        assert_eq!(fate(&state, "rank=4000000000"), Fate::Enqueue(QueueId::normal(0)));
    }

    #[test]
    fn largest_rank_is_dropped_and_of_equal_ranks_the_newest() {
        let (state, ids) = full_port(["rank=70", "rank=90", "rank=90"]);
        assert_eq!(fate(&state, "rank=80"), Fate::Evict(ids[2]));
        assert_eq!(fate(&state, "rank=0"), Fate::Evict(ids[2]));
        for lost in ["rank=90", "rank=91"] {
            assert_eq!(fate(&state, lost), Fate::Drop(DropReason::BufferFull), "{lost}");
        }
    }

    #[test]
    fn lower_class_is_dropped_before_a_higher_one_at_any_rank() {
        let (state, ids) = full_port(["rank=5 class=3", "rank=10 class=3", "rank=1 class=1"]);
        assert_eq!(fate(&state, "rank=999 class=2"), Fate::Evict(ids[2]));
        assert_eq!(fate(&state, "rank=0 class=1"), Fate::Evict(ids[2]));
        for lost in ["rank=1 class=1", "rank=0"] {
            assert_eq!(fate(&state, lost), Fate::Drop(DropReason::BufferFull), "{lost}");
        }
        let (state, ids) = full_port(["rank=5 class=3", "rank=10 class=3", "rank=1 class=3"]);
        assert_eq!(fate(&state, "rank=6 class=3"), Fate::Evict(ids[1]));
    }

    #[test]
    fn packets_queued_for_other_ports_are_never_evicted() {
        let (mut state, ids) = full_port(["rank=10", "rank=20", "rank=30"]);
        state.fill_up(3, parse_head("rank=1000"), (PortId(1), QueueId::normal(0)));
        assert_eq!(fate(&state, "rank=25"), Fate::Evict(ids[2]));
        assert_eq!(fate(&state, "rank=35"), Fate::Drop(DropReason::BufferFull));
    }
}
