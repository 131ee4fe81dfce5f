//! A switch that evicts, and sends the flow with the fewest bytes to go first (pFabric), against a model
//! that is a list.

use super::*;
use mech::{FlowId, Lanes};

fn switch(size: Amount, snapshot: bool) -> Switch {
    let port = || PortSetup {
        changes: false,
        clock: Rate::gbps(1).clock(),
        is_switch: true,
        marking: MarkingSlot::none(),
        scheduler: mech::scheduler::Srpt.into(),
        pause: None,
        agents: Vec::new(),
    };
    Switch::new(SwitchSetup {
        core: CoreSetup {
            node: 0,
            seed: 3,
            framing: Framing::ETHERNET,
            buffer: BufferSlot::of(Some(size)),
            overflow: mech::overflow::Evict.into(),
            lanes: Lanes::default(),
            top_class: 7,
            may_compute: true,
            ports: (0..PORTS).map(|_| port()).collect(),
            inputs: None,
        },
        fib: FibSlot::routes(),
        routing: Ecmp::new(1).into(),
        snapshot,
        shuffle: false,
    })
}

/// A packet for port 0, named by its emission.
fn pkt(emission: u32, rank: u32, flow: u32) -> Pkt {
    let head = Head { flow: FlowId(flow), rank, size: 1000, ttl: 9, ingress: PortId(1), ..Head::default() };
    Pkt { head, emission, ext: NO_EXT, ..Pkt::default() }
}

/// What of a step was lost, and why.
fn lost(told: &Told) -> Vec<(u32, DropReason)> {
    told.last_lost.iter().map(|(pkt, reason)| (pkt.emission, *reason)).collect()
}

#[test]
fn on_a_snapshot_the_slot_of_what_is_gone_may_hold_another_packet_which_stays() {
    let mut told = Told::default();
    let mut switch = switch(Amount::Packets(2), true);
    // The first is on the wire, two wait; the two that come both choose the third.
    let waiting = [pkt(0, 0, 1), pkt(1, 50, 2), pkt(2, 90, 3)];
    waiting.iter().for_each(|one| switch.step(&[], &mut [*one], step_at!(Time::ZERO, &mut told)));
    let mut both = [pkt(3, 10, 4), pkt(4, 20, 5)];
    both[1].head.ingress = PortId(2);
    switch.step(&[], &mut both, step_at!(Time(1), &mut told));
    assert_eq!(lost(&told), [(2, DropReason::Evicted), (1, DropReason::Evicted)]);
    assert!(switch.conserves());
    let counts = switch.core.ports()[0].counts();
    assert_eq!((counts.enqueued, counts.evicted, counts.sent), (5, 2, 1));
}

#[test]
fn an_evicted_packet_hands_its_extension_on() {
    let mut told = Told::default();
    let mut switch = switch(Amount::Packets(1), false);
    for (n, rank) in [(0, 9), (1, 9), (2, 1)] {
        let mut one = [Pkt { ext: 70 + n, ..pkt(n, rank, n) }];
        switch.step(&[], &mut one, step_at!(Time::ZERO, &mut told));
    }
    assert_eq!(lost(&told), [(1, DropReason::Evicted)]);
    assert_eq!(told.last_lost[0].0.ext, 71);
}

/// A port as pFabric describes it: all that waits, oldest first.
#[derive(Default)]
struct Model(Vec<Pkt>);

impl Model {
    fn bytes(&self) -> u64 {
        self.0.iter().map(|pkt| u64::from(pkt.head.size)).sum()
    }
    fn over(&self, size: Amount) -> bool {
        match size {
            Amount::Packets(n) => self.0.len() as u64 > n,
            Amount::Bytes(n) => self.bytes() > n,
        }
    }
    /// Stores it, and loses the least urgent as long as there is too much.
    fn arrive(&mut self, pkt: Pkt, size: Amount) -> Vec<u32> {
        self.0.push(pkt);
        let mut lost = vec![];
        while self.over(size) {
            let key = |i: &usize| (7 - self.0[*i].head.class(), self.0[*i].head.rank, *i);
            let worst = (0..self.0.len()).max_by_key(key).unwrap();
            lost.push(self.0.remove(worst).emission);
        }
        lost
    }
    fn leave(&mut self) -> Option<u32> {
        let urgent = |pkt: &&Pkt| (7 - pkt.head.class(), pkt.head.rank);
        let best = self.0.iter().min_by_key(urgent)?.head;
        let next = self.0.iter().position(|pkt| pkt.head.flow == best.flow && pkt.head.class() == best.class())?;
        Some(self.0.remove(next).emission)
    }
}

#[test]
fn every_arrival_and_every_departure_is_that_of_the_model_and_no_flow_is_reordered() {
    for (seed, size) in [(0, Amount::Packets(24)), (1, Amount::Packets(3)), (2, Amount::Bytes(9000))] {
        let (mut switch, mut draws) = (switch(size, false), Stream::new(9, seed, Purpose::Custom(1)));
        let (mut model, mut now, mut evicted) = (Model::default(), 0, 0);
        let mut on_wire = None;
        let mut newest = BTreeMap::new();
        for n in 0..20_000 {
            let mut told = Told::default();
            now += 1_000_000_000;
            if draws.below(5) < 2 && !model.0.is_empty() {
                switch.step(&[PortId(0)], &mut [], step_at!(Time(now), &mut told));
                on_wire = model.leave();
                assert_eq!(told.sent.iter().map(|(_, pkt)| pkt.emission).next(), on_wire, "step {n}: work conserving");
            } else {
                let flow = draws.below(6) as u32;
                let mut one = pkt(n, draws.below(50) as u32 * 1000, flow);
                one.head.set_class(if flow == 0 { 3 } else { 0 });
                one.head.size = 64 + draws.below(1455) as u16;
                // So that the port is busy and what comes waits.
                now -= 1_000_000_000;
                let idle = on_wire.is_none();
                switch.step(&[], &mut [one], step_at!(Time(now), &mut told));
                let gone = if idle { vec![] } else { model.arrive(one, size) };
                on_wire = on_wire.or(Some(n));
                assert_eq!(told.last_lost.iter().map(|(pkt, _)| pkt.emission).collect::<Vec<_>>(), gone, "step {n}");
                let reasons = told.last_lost.iter().map(|(pkt, reason)| (pkt.emission == n, *reason));
                reasons.clone().for_each(|(own, reason)| {
                    assert_eq!(reason, if own { DropReason::BufferFull } else { DropReason::Evicted });
                });
                evicted += reasons.filter(|(own, _)| !own).count();
            }
            for (_, pkt) in &told.sent {
                let last = newest.insert(pkt.head.flow, pkt.emission);
                assert!(last.is_none_or(|last| last < pkt.emission), "flow {:?} is reordered", pkt.head.flow);
            }
            assert!(switch.conserves());
        }
        assert!(evicted > 500, "{evicted}");
    }
}
