//! DIBS: a packet whose queue is full is sent to a neighbour switch instead (Zarifis et al.,
//! "DIBS: Just-in-time Congestion Mitigation for Data Centers", EuroSys 2014).
//!
//! Eligible is a port whose far end is a switch, whose queue is not full and which is not the
//! desired one; the ingress port is eligible too, since the paper's own trace returns packets to
//! where they came from (fig. 1). Nothing is remembered: the next switch routes the packet as any
//! other. Not modelled here: the policies of §7 other than `random`.

use super::{DropReason, Fate, Overflow};
use crate::params::{Kind, Param, Spec, Values};
use crate::{Env, Head, Place, PortId};

/// See the module.
#[derive(Clone, Debug)]
pub struct Detour {
    mark_detoured: bool,
}

pub(super) const SPEC: Spec = Spec {
    slot: "switch.overflow",
    kind: "detour",
    doc: "A packet that finds its queue full leaves by another port toward a switch.",
    cite: "DIBS §2",
    params: &[
        Param {
            name: "policy",
            doc: "How the other port is chosen; `random` is uniform over the eligible ones (DIBS §2).",
            kind: Kind::Choice(&["random"]),
            default: Some("random"),
        },
        Param {
            name: "mark_detoured",
            doc: "Set CE on a detoured packet that is ECN-capable (DIBS §5.3).",
            kind: Kind::Flag,
            default: Some("true"),
        },
    ],
};

impl Detour {
    /// From validated parameters.
    pub fn new(values: &Values) -> Detour {
        Detour { mark_detoured: values.flag("mark_detoured") }
    }
}

impl Overflow for Detour {
    fn admit(&mut self, pkt: &Head, at: &Place, env: &mut Env) -> Fate {
        let queue = pkt.queue();
        if at.fits(at.out, queue, pkt.size) {
            return Fate::Enqueue(queue);
        }
        let eligible = |port: &PortId| *port != at.out && at.view.is_switch(*port) && at.fits(*port, queue, pkt.size);
        let ports = || (0..at.view.ports()).map(PortId).filter(eligible);
        let count = ports().count() as u64;
        if count == 0 {
            return Fate::Drop(DropReason::NoDetour);
        }
        let chosen = ports().nth(env.rng.below(count) as usize);
        env.acts.mark |= self.mark_detoured;
        chosen.map_or(Fate::Drop(DropReason::NoDetour), |port| Fate::Detour(port, queue))
    }
    fn boxed(&self) -> Box<dyn Overflow> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::QueueId;
    use crate::testing::{Desk, State, chi_square, head, packets, switch, values};

    const QUEUE: QueueId = QueueId::normal(0);

    fn detour() -> Detour {
        Detour::new(&values(&SPEC, ""))
    }
    /// Eight ports of two packets each; these are full, and these lead to hosts.
    fn state(full: &[u16], hosts: &[u16]) -> State {
        let mut state = switch(8, packets(2));
        full.iter().for_each(|port| state.fill_up(2, head(""), (PortId(*port), QUEUE)));
        state.switch_ports.retain(|port| !hosts.contains(port));
        state
    }
    fn admit(state: &State, ingress: u16, desk: &mut Desk) -> Fate {
        let at = Place { view: state, ingress: PortId(ingress), out: PortId(0) };
        detour().admit(&head(""), &at, &mut desk.env())
    }

    #[test]
    fn nothing_is_drawn_or_marked_while_the_queue_has_room() {
        let mut desk = Desk::draws(&[]);
        let mut state = state(&[1, 2, 3, 4, 5, 6, 7], &[]);
        state.fill_up(1, head(""), (PortId(0), QUEUE));
        assert_eq!(admit(&state, 1, &mut desk), Fate::Enqueue(QUEUE));
        assert!(!desk.acts.mark && desk.acts.list.is_empty());
    }

    #[test]
    fn every_set_of_full_ports_and_hosts_leaves_only_eligible_ones() {
        let mut desk = Desk::seeded(1);
        for full in 0u16..256 {
            for hosts in [0u16, 0b0101_0101, 0b1111_0000, 0b1010_1010, 0b1111_1110] {
                let some = |bits: u16| (0..8).filter(|port| bits >> port & 1 == 1).collect::<Vec<u16>>();
                let full_ports = some(full | 1);
                let state = state(&full_ports, &some(hosts));
                let eligible = !(full | hosts | 1) & 0xff;
                match admit(&state, 1, &mut desk) {
                    Fate::Detour(PortId(port), QUEUE) => {
                        assert!(eligible >> port & 1 == 1, "{full:b} {hosts:b} {port}")
                    }
                    fate => assert_eq!((fate, eligible), (Fate::Drop(DropReason::NoDetour), 0), "{full:b} {hosts:b}"),
                }
            }
        }
    }

    #[test]
    fn the_choice_is_uniform_over_the_eligible_and_the_ingress_is_one() {
        let (mut desk, state) = (Desk::seeded(2), state(&[0, 3], &[6]));
        let mut counts = [0u32; 8];
        for _ in 0..50_000 {
            let Fate::Detour(port, _) = admit(&state, 1, &mut desk) else { panic!("a port is free") };
            counts[usize::from(port.0)] += 1;
        }
        assert_eq!((counts[0], counts[3], counts[6]), (0, 0, 0));
        // The 99.99 % point of χ² with 4 degrees of freedom is 23.5.
        assert!(chi_square(&[counts[1], counts[2], counts[4], counts[5], counts[7]]) < 23.5, "{counts:?}");
    }

    #[test]
    fn a_mark_is_asked_for_unless_it_is_switched_off() {
        let (mut desk, full) = (Desk::seeded(3), state(&[0], &[]));
        assert!(matches!(admit(&full, 1, &mut desk), Fate::Detour(..)));
        assert!(desk.acts.mark);
        desk.acts.clear();
        let at = Place { view: &full, ingress: PortId(1), out: PortId(0) };
        let mut plain = Detour::new(&values(&SPEC, "mark_detoured=false"));
        assert!(matches!(plain.admit(&head("ect"), &at, &mut desk.env()), Fate::Detour(..)));
        assert!(!desk.acts.mark);
    }

    #[test]
    fn a_packet_with_nowhere_to_go_is_not_marked() {
        let mut desk = Desk::draws(&[]);
        assert_eq!(admit(&state(&[0, 1, 2, 3, 4, 5, 6, 7], &[]), 1, &mut desk), Fate::Drop(DropReason::NoDetour));
        assert!(!desk.acts.mark);
    }
}
