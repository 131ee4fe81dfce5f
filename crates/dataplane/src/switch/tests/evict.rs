//! Tests of a switch that evicts packets and serves the flow with the fewest remaining bytes first (pFabric).
//! They compare it with a model that is a list.

use super::*;
use crate::port::QueueAt;
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
            buffer: BufferSlot::per_port(Some(size)),
            overflow: mech::overflow::Evict.into(),
            lanes: Lanes::default(),
            lowest_class: 0,
            top_class: 7,
            may_compute: true,
            ports: (0..PORTS).map(|_| port()).collect(),
            inputs: None,
        },
        fib: FibSlot::from_routes(),
        routing: Ecmp::new(1).into(),
        snapshot,
        shuffle: false,
    })
}

/// Creates a packet for port 0, identified by its emission number.
fn pkt(emission: u32, rank: u32, flow: u32) -> Pkt {
    let head = Head { flow: FlowId(flow), rank, size: 1000, ttl: 9, ingress: PortId(1), ..Head::default() };
    Pkt { head, emission, ext: NO_EXT, ..Pkt::default() }
}

/// Returns the emission numbers of the packets that a step lost, and the reasons.
fn lost(told: &Recording) -> Vec<(u32, DropReason)> {
    told.last_lost.iter().map(|(pkt, reason)| (pkt.emission, *reason)).collect()
}

#[test]
fn snapshot_never_evicts_a_newer_packet_in_a_reused_slot() {
    let mut told = Recording::default();
    let mut switch = switch(Amount::Packets(2), true);
    // The first packet is on the link and two are queued. The two arrivals both choose the third packet.
    let waiting = [pkt(0, 0, 1), pkt(1, 50, 2), pkt(2, 90, 3)];
    waiting.iter().for_each(|one| switch.step(&[], &mut [*one], step_at!(Time::ZERO, &mut told)));
    let mut both = [pkt(3, 10, 4), pkt(4, 20, 5)];
    both[1].head.ingress = PortId(2);
    switch.step(&[], &mut both, step_at!(Time(1), &mut told));
    assert_eq!(lost(&told), [(2, DropReason::Evicted), (1, DropReason::Evicted)]);
    assert!(switch.conserves_packets());
    let counts = switch.core.ports()[0].counts();
    assert_eq!((counts.enqueued, counts.evicted, counts.sent), (5, 2, 1));
}

#[test]
fn an_evicted_packet_hands_its_extension_on() {
    let mut told = Recording::default();
    let mut switch = switch(Amount::Packets(1), false);
    for (n, rank) in [(0, 9), (1, 9), (2, 1)] {
        let mut one = [Pkt { ext: 70 + n, ..pkt(n, rank, n) }];
        switch.step(&[], &mut one, step_at!(Time::ZERO, &mut told));
    }
    assert_eq!(lost(&told), [(1, DropReason::Evicted)]);
    assert_eq!(told.last_lost[0].0.ext, 71);
}

/// Model of a port as pFabric describes it: all queued packets, oldest first.
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
    /// Stores a packet, and removes the least urgent one as long as the queue is too long.
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
fn pfabric_port_follows_a_model_and_reorders_no_flow() {
    // In the last buffer, queues are long enough for a rank index, which the switch builds and removes again.
    let sizes = [Amount::Packets(24), Amount::Packets(3), Amount::Bytes(9000), Amount::Packets(300)];
    for (place, size) in sizes.into_iter().enumerate() {
        let mut evicted = 0;
        let steps = vec((0..5, 0..6_u32, 0..50_u32, 64..=1518_u16), 0..=4000);
        for_all(10, steps, |steps| {
            let (mut switch, mut model, mut now) = (switch(size, false), Model::default(), 0);
            let mut on_wire = None;
            let mut newest = BTreeMap::new();
            for (n, (kind, flow, rank, bytes)) in (0..).zip(steps) {
                let mut told = Recording::default();
                now += 1_000_000_000;
                let departures = match n % 2000 {
                    _ if place < 3 => 2,
                    1000.. => 4,
                    _ => 1,
                };
                if kind < departures && !model.0.is_empty() {
                    switch.step(&[PortId(0)], &mut [], step_at!(Time(now), &mut told));
                    on_wire = model.leave();
                    assert_eq!(
                        told.sent.iter().map(|(_, pkt)| pkt.emission).next(),
                        on_wire,
                        "step {n}: work conserving"
                    );
                } else {
                    let mut one = pkt(n, rank * 1000, flow);
                    one.head.set_class(if flow == 0 { 3 } else { 0 });
                    one.head.size = bytes;
                    // The port must be busy, so that arrivals are queued.
                    now -= 1_000_000_000;
                    let idle = on_wire.is_none();
                    switch.step(&[], &mut [one], step_at!(Time(now), &mut told));
                    let gone = if idle { vec![] } else { model.arrive(one, size) };
                    on_wire = on_wire.or(Some(n));
                    assert_eq!(
                        told.last_lost.iter().map(|(pkt, _)| pkt.emission).collect::<Vec<_>>(),
                        gone,
                        "step {n}"
                    );
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
                assert!(switch.conserves_packets());
            }
        });
        assert!(evicted > 500, "{evicted}");
    }
}

/// Changes queues at random, and compares searches by their index with searches packet by packet.
/// The changes are joins, removals from any position, and cuts that change a packet's rank and move it to another
/// class.
#[test]
fn the_index_of_a_long_queue_finds_what_a_search_finds() {
    let mut indexed = 0;
    let changes = vec((0..10, any::<Index>(), 0..40_u32, 0..2_u8, 0..30_u32), 0..=6000);
    for_all(4, changes, |changes| {
        let mut switch = switch(Amount::Packets(4000), false);
        let store = &mut switch.core.store;
        let mut waiting = Vec::new();
        for (n, (kind, which, rank, class, flow)) in (0..).zip(changes) {
            let grows = n % 3000 < 1500;
            let any = which.index(waiting.len().max(1));
            let to = QueueAt { port: PortId(0), queue: QueueId::normal(class) };
            match kind {
                kind if kind < 2 && !waiting.is_empty() => {
                    let (at, slot): (QueueAt, u32) = waiting.swap_remove(any);
                    let mut cut = *store.arena.get(slot);
                    (cut.head.size, cut.head.rank) = (cut.head.size / 2, rank);
                    if to == at {
                        store.shorten(at, slot, &cut);
                        waiting.push((at, slot));
                    } else {
                        assert_eq!(store.find(at.port, slot), Some(at));
                        assert!(store.remove(to, slot).is_none(), "it waits elsewhere");
                        assert!(store.remove(at, slot).is_some());
                        waiting.push((to, store.push(to, cut, 0)));
                    }
                }
                kind if (kind < if grows { 4 } else { 8 }) && !waiting.is_empty() => {
                    let (at, slot) = waiting.swap_remove(any);
                    assert!(store.remove(at, slot).is_some() && store.remove(at, slot).is_none());
                }
                _ => waiting.push((to, store.push(to, pkt(n, rank, flow), 0))),
            }
            let fib = &SwitchFib { node: 0, routes: &Direct, routing: &switch.routing, now: Time::ZERO, learnt: None };
            let look = NodeView::new(store, fib, None);
            for queue in (0..2).map(QueueId::normal) {
                let found = (look.least_urgent(PortId(0), queue), look.most_urgent(PortId(0), queue));
                let searched = (
                    mech::search_least_urgent(&look, PortId(0), queue),
                    mech::search_most_urgent(&look, PortId(0), queue),
                );
                assert_eq!(found, searched, "after {n}");
                let at = QueueAt { port: PortId(0), queue };
                let is_indexed = store.ranked.as_ref().is_some_and(|ranked| ranked.least_urgent(at).is_some());
                indexed += u32::from(is_indexed);
            }
        }
    });
    assert!((4000..20_000).contains(&indexed), "{indexed}: with an index and without");
}

#[test]
fn switches_without_rank_searches_keep_no_index() {
    let plain = super::switch();
    assert!(plain.core.store.ranked.is_none());
    assert!(switch(Amount::Packets(24), false).core.store.ranked.is_some());
}
