//! Tests of a switch with combined input and output queueing, arrival by arrival.
//!
//! Hosts 0 to 3 are behind ports of 1 Gb/s, to which frames cross at 2 Gb/s. 1000 bytes take 4 us to cross and 8.16 us
//! to leave.

mod overflow_mechanisms;
mod stuck_frames;

use super::*;
use crate::{InputSetup, StagesSetup};
use mech::arbiter::{ArbiterSlot, OldestFirst, RoundRobin};
use mech::overflow::{Fate, Overflow};
use mech::scheduler::Fifo;
use mech::{AdmitCalls, ForwardingContext, PortThresholds, SwitchContext};

/// Driver and observer that record the calls of the switch.
#[derive(Default)]
struct CallRecording {
    /// Pending wake-ups: the instant, and the port or transfer.
    wakes: Vec<(u64, PortId)>,
    sent: Vec<(u64, u16, u32)>,
    lost: Vec<(u32, DropReason)>,
    now: u64,
}

impl Out for CallRecording {
    type Observer = Self;
    fn transmit(&mut self, port: PortId, pkt: &Pkt, _end: Time) {
        self.sent.push((self.now, port.0, pkt.emission));
    }
    fn schedule_wake(&mut self, port: PortId, at: Time) {
        self.wakes.push((at.0, port));
    }
    fn set_timer(&mut self, _index: u32, _at: Time) {}
    fn report_outcome(&mut self, _what: Outcome) {}
    fn observer(&mut self) -> &mut Self {
        self
    }
    fn event_location(&self, port: PortId) -> EventLocation {
        EventLocation { now: Time(self.now), node: 0, port: u32::from(port.0) }
    }
}

impl Observer for CallRecording {
    fn on_drop(&mut self, _at: EventLocation, pkt: &Pkt, reason: DropReason) {
        self.lost.push((pkt.emission, reason));
    }
}

/// Overflow mechanism that drops frames that do not fit, called for the arrivals that its field names.
/// It drops them with a reason of its own.
#[derive(Clone)]
struct DropsOverflow(AdmitCalls);

impl Overflow for DropsOverflow {
    fn admit(&mut self, pkt: &Head, at: &ForwardingContext, _env: &mut Env) -> Fate {
        match at.fits(at.output, pkt.queue(), pkt.size) {
            true => Fate::Enqueue(pkt.queue()),
            false => Fate::Drop(DropReason::NoDetour),
        }
    }
    fn admit_calls(&self) -> AdmitCalls {
        self.0
    }
    fn clone_boxed(&self) -> Box<dyn Overflow> {
        Box::new(self.clone())
    }
}

fn switch(buffer: Amount, memory: Amount) -> Switch {
    switch_with_overflow(OverflowSlot::custom(mech::overflow::TailDrop), buffer, memory)
}

fn switch_with_overflow(overflow: OverflowSlot, buffer: Amount, memory: Amount) -> Switch {
    with_arbiter(RoundRobin::default().into(), overflow, [buffer, memory])
}

fn with_arbiter(arbiter: ArbiterSlot, overflow: OverflowSlot, room: [Amount; 2]) -> Switch {
    with_stages(arbiter, overflow, room, None)
}

/// Creates a switch from the sizes of its output buffers and of its input memory.
/// It has bounce queues if the overflow mechanism needs them.
fn with_stages(
    arbiter: ArbiterSlot,
    overflow: OverflowSlot,
    [buffer, memory]: [Amount; 2],
    stages: Option<StagesSetup>,
) -> Switch {
    let lanes = Lanes::default().with(Lane::Notice, LaneLimit::Unlimited);
    let back = overflow.peek().needs().bounce_lane;
    // The arbiter also chooses for the buffers inside.
    let inside = stages.as_ref().map_or(0, |own| PORTS + 2 * own.fabric.peek().links().len() as u16);
    let port = || PortSetup {
        changes: false,
        clock: Rate::gbps(1).clock(),
        is_switch: true,
        marking: MarkingSlot::none(),
        scheduler: if back.is_some() { StrictPriority::default().into() } else { Fifo.into() },
        pause: None,
        agents: Vec::new(),
    };
    Switch::new(SwitchSetup {
        core: CoreSetup {
            node: 0,
            seed: 3,
            framing: Framing::ETHERNET,
            buffer: BufferSlot::per_port(Some(buffer)),
            overflow,
            lanes: back.map_or(lanes, |size| lanes.with(Lane::Bounce, LaneLimit::Limited(size))),
            lowest_class: 0,
            top_class: 3,
            may_compute: true,
            ports: (0..PORTS).map(|_| port()).collect(),
            inputs: Some(InputSetup {
                arbiter: arbiter.for_switch(&SwitchContext::without_network(1, PORTS + inside)),
                memory: PortThresholds::new(memory),
                transfers: vec![Rate::gbps(2).clock(); usize::from(PORTS)],
                stages,
            }),
        },
        fib: FibSlot::from_routes(),
        routing: Ecmp::new(1).into(),
        snapshot: false,
        shuffle: false,
    })
}

/// Creates a frame from its number, bytes, input, output and class.
fn frame(n: u32, size: u16, (input, output): (u16, u32), class: u8) -> Pkt {
    let mut head = Head { dst: HostId(output), ingress: PortId(input), size, ttl: 9, ..Head::default() };
    head.set_class(class);
    Pkt { head, ext: NO_EXT, emission: n, ..Pkt::default() }
}

/// Runs a switch with arrivals at given instants in microseconds, and everything that follows from them.
fn run(switch: &mut Switch, arrivals: &[(u64, Pkt)]) -> CallRecording {
    run_watched(switch, arrivals, |_| ())
}

/// Runs a switch with arrivals as `run` does, and calls `look` after every step.
fn run_watched(switch: &mut Switch, arrivals: &[(u64, Pkt)], mut look: impl FnMut(&Switch)) -> CallRecording {
    let mut asked = CallRecording::default();
    let mut left = arrivals.to_vec();
    loop {
        let next = asked.wakes.iter().map(|(at, _)| *at).chain(left.iter().map(|(us, _)| us * 1_000_000)).min();
        let Some(now) = next else { return asked };
        asked.now = now;
        let mut ended: Vec<PortId> = asked.wakes.iter().filter(|(at, _)| *at == now).map(|(_, port)| *port).collect();
        ended.sort_unstable();
        asked.wakes.retain(|(at, _)| *at != now);
        let mut come: Vec<Pkt> = left.iter().filter(|(us, _)| us * 1_000_000 == now).map(|(_, pkt)| *pkt).collect();
        left.retain(|(us, _)| us * 1_000_000 != now);
        switch.step(&ended, &mut come, step_at!(Time(now), &mut asked));
        assert!(switch.conserves_packets(), "at {now}");
        look(switch);
    }
}

#[test]
fn a_frame_leaves_when_it_has_crossed_and_the_inputs_take_turns() {
    let mut switch = switch(Amount::Packets(9), Amount::Packets(9));
    let all = [0, 1, 3, 0, 1, 3].into_iter().zip(0..);
    let all: Vec<(u64, Pkt)> = all.map(|(input, n)| (0, frame(n, 1000, (input, 2), 0))).collect();
    let found = run(&mut switch, &all).sent;
    let expected: Vec<_> = (0..6).map(|n| (4_000_000 + u64::from(n) * 8_160_000, 2, n)).collect();
    assert_eq!(found, expected);
}

/// Frames cross to an output in the order of their arrival, although round robin would take turns.
/// Frame 0 crosses until 16 us. All others wait by then.
#[test]
fn oldest_first_arbiter_crosses_frames_in_order_of_arrival() {
    let tail_drop = OverflowSlot::custom(mech::overflow::TailDrop);
    let mut switch = with_arbiter(OldestFirst.into(), tail_drop, [Amount::Packets(9), Amount::Packets(9)]);
    let all = [3, 3, 3, 3, 1, 0, 1, 3].into_iter().zip(0..);
    let all: Vec<(u64, Pkt)> = all.map(|(input, n)| (n.into(), frame(n, 4000, (input, 2), 0))).collect();
    let found = run(&mut switch, &all).sent;
    assert_eq!(found.iter().map(|(.., n)| *n).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn one_input_sends_to_two_outputs_simultaneously() {
    let mut switch = switch(Amount::Packets(9), Amount::Packets(9));
    let both = [(0, frame(0, 1000, (0, 2), 0)), (0, frame(1, 500, (0, 1), 0))];
    assert_eq!(run(&mut switch, &both).sent, [(2_000_000, 1, 1), (4_000_000, 2, 0)]);
}

/// Frame 0 is at its input until 4 us, so the third frame does not fit at 3 us and the fourth fits at 4 us.
#[test]
fn the_memory_of_an_input_is_free_when_the_frame_has_crossed() {
    for memory in [Amount::Packets(2), Amount::Bytes(2999)] {
        let mut switch = switch(Amount::Packets(9), memory);
        let all = [(0, 0), (1, 1), (3, 2), (4, 3)].map(|(us, n)| (us, frame(n, 1000, (0, 2), 0)));
        let asked = run(&mut switch, &all);
        assert_eq!(asked.lost, [(2, DropReason::InputFull)]);
        assert_eq!(asked.sent.iter().map(|(.., n)| *n).collect::<Vec<_>>(), [0, 1, 3]);
        // Frames of another input have memory of their own.
        let others = [(4, 0), (5, 1), (6, 0), (7, 1)].map(|(n, input)| (90, frame(n, 1000, (input, 2), 0)));
        assert!(run(&mut switch, &others).lost.is_empty());
    }
}

/// Frame 3, of 500 B, passes frame 2, which does not fit the output buffer beside frame 1.
/// The output has space for 1500 B. Frame 0 crosses until 4 us and leaves until 12.16 us. Frame 1 crosses from the
/// other input until 8 us and waits. It is the turn of frame 2, which does not fit. Frame 3 fits and crosses from 8 to
/// 10 us. Frame 2 crosses when frame 1 has begun to leave, and leaves after frame 3.
#[test]
fn frame_that_fits_the_output_passes_one_that_does_not() {
    let mut switch = switch(Amount::Bytes(1500), Amount::Packets(9));
    let all = [(0, 1000, 0), (1, 1000, 1), (2, 1000, 0), (3, 500, 1)];
    let all = all.map(|(n, size, input)| (0, frame(n, size, (input, 2), 0)));
    let found = run(&mut switch, &[&all[..3], &[(5, all[3].1)]].concat()).sent;
    assert_eq!(found.iter().map(|(.., n)| *n).collect::<Vec<_>>(), [0, 1, 3, 2]);
    let last = found[3].0 - 4_000_000;
    assert_eq!(last, 8_160_000 * 2 + 4_160_000, "the wire is never idle");
}

/// Frames of the class with the fewest bytes at the output cross first; among equals, those of the higher class.
/// All frames arrive simultaneously. Frame 3 has the higher class, crosses first and begins to leave. Then the output
/// has no frame of either class, and frame 4 crosses. While it waits there, class 0 has fewer bytes, so frame 0
/// crosses. It leaves before frame 4, since it arrived before it.
#[test]
fn class_with_fewest_bytes_at_the_output_crosses_first() {
    let mut switch = switch(Amount::Packets(2), Amount::Packets(9));
    let waiting = [(0, 0), (3, 3), (4, 3), (5, 3)].map(|(n, class)| (0, frame(n, 1000, (0, 2), class)));
    let found = run(&mut switch, &waiting).sent;
    assert_eq!(found.iter().map(|(.., n)| *n).collect::<Vec<_>>(), [3, 0, 4, 5]);
}

/// An arrival is lost only if its output and its input are full; it waits if only its output is full.
/// Two frames fit the input and one the output. At 3 us the third frame finds its output and its input full. At 4 us
/// the fourth finds only its output full.
#[test]
fn arrival_is_lost_only_if_output_and_input_are_full() {
    for asks in [AdmitCalls::WhenFull, AdmitCalls::Always] {
        let mut switch =
            switch_with_overflow(OverflowSlot::custom(DropsOverflow(asks)), Amount::Packets(1), Amount::Packets(2));
        let all = [(0, 0), (1, 1), (3, 2), (4, 3)].map(|(us, n)| (us, frame(n, 1000, (0, 2), 0)));
        let asked = run(&mut switch, &all);
        assert_eq!(asked.lost, [(2, DropReason::NoDetour)]);
        assert_eq!(asked.sent.iter().map(|(.., n)| *n).collect::<Vec<_>>(), [0, 1, 3]);
    }
}

#[test]
fn frame_larger_than_the_output_buffer_is_lost_at_once() {
    let mut switch = switch(Amount::Bytes(999), Amount::Packets(9));
    assert_eq!(run(&mut switch, &[(0, frame(0, 1000, (0, 2), 0))]).lost, [(0, DropReason::BufferFull)]);
}

/// Creates a congestion message from its number, input and output; 64 bytes cross in 256 ns.
fn notice(n: u32, (input, output): (u16, u32)) -> Pkt {
    let mut pkt = frame(n, 64, (input, output), 3);
    pkt.head.flags = Flags::from_kind(PacketKind::Notice);
    pkt.head.set_class(3);
    pkt
}

/// Congestion messages cross before frames that arrived earlier, except a message made at the port that it leaves by.
/// Message 9 is such a message, and leaves immediately. Messages 7, 8 and 6 of other ports cross one after the other.
/// Message 8 still waits for the link when message 6 crosses. Frame 0 crosses when all messages have.
#[test]
fn congestion_messages_cross_before_earlier_frames() {
    let mut switch = switch(Amount::Packets(9), Amount::Packets(9));
    let told = [notice(7, (0, 2)), notice(8, (1, 2)), notice(6, (0, 2)), notice(9, (3, 3))];
    let all = [&[frame(0, 1000, (0, 2), 3)], &told[..]].concat();
    let sent = run(&mut switch, &all.into_iter().map(|pkt| (0, pkt)).collect::<Vec<_>>()).sent;
    let leaves = |n: u64| 256_000 + n * 84 * 8_000;
    assert_eq!(sent, [(0, 3, 9), (leaves(0), 2, 7), (leaves(1), 2, 8), (leaves(2), 2, 6), (4_768_000, 2, 0)]);
}

/// Congestion messages take no memory of inputs: none is lost at a full input, and none takes the space of a frame.
/// Frame 0 fills the memory of its input, and frame 1 is lost. Frame 2 has its space.
#[test]
fn messages_take_no_memory_of_inputs() {
    let mut switch = switch(Amount::Packets(1), Amount::Packets(1));
    let all = [frame(0, 1000, (0, 2), 0), frame(1, 1000, (0, 2), 0), notice(7, (0, 2)), notice(8, (0, 2))];
    let asked = run(&mut switch, &all.map(|pkt| (0, pkt)));
    assert_eq!(asked.lost, [(1, DropReason::InputFull)]);
    assert_eq!(asked.sent.iter().map(|(.., n)| *n).collect::<Vec<_>>(), [7, 8, 0]);
    let all = [notice(7, (0, 2)), notice(8, (0, 2)), frame(2, 1000, (0, 2), 0)];
    assert!(run(&mut switch, &all.map(|pkt| (90, pkt))).lost.is_empty());
}
