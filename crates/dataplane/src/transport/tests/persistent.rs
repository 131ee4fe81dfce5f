//! Tests of persistent connections: messages in one stream of bytes.

use super::*;
use crate::transport::{ENDLESS_BYTES, Receiver};
use crate::{EventLocation, FlowTable, NewFlow, Out, Outcome};
use mech::{Flags, FlowId, HostId, PortId};

/// Record of messages that arrived (`None`) or were acknowledged.
/// An acknowledged one has its numbers of retransmissions, recoveries, timeouts and echoes.
#[derive(Default)]
struct OutcomeRecording(Vec<(u32, Option<[u32; 4]>)>, ());

fn counts(stats: &SenderStats) -> [u32; 4] {
    [stats.retransmissions, stats.fast_retransmits, stats.timeouts, stats.echoes]
}

impl Out for OutcomeRecording {
    type Observer = ();
    fn transmit(&mut self, _: PortId, _: &Pkt, _: Time) {}
    fn schedule_wake(&mut self, _: PortId, _: Time) {}
    fn set_timer(&mut self, _: u32, _: Time) {}
    fn report_outcome(&mut self, what: Outcome) {
        match what {
            Outcome::FlowReceived(flow) => self.0.push((flow.0, None)),
            Outcome::FlowAcknowledged(flow, stats) => self.0.push((flow.0, Some(counts(stats)))),
            Outcome::LosslessViolated(_) | Outcome::PausesIgnored(..) | Outcome::RuleBroken(_) => {}
        }
    }
    fn observer(&mut self) -> &mut () {
        &mut self.1
    }
    fn event_location(&self, port: PortId) -> EventLocation {
        EventLocation { now: Time::ZERO, node: 0, port: u32::from(port.0) }
    }
}

/// Returns a persistent connection with messages of 1000, 2000 and 500 bytes.
fn three_messages() -> (FlowTable, FlowId) {
    messages(1000, [2000, 500])
}

fn messages(bytes: u64, more: [u64; 2]) -> (FlowTable, FlowId) {
    let mut flows = FlowTable::default();
    let first = flows.add(NewFlow {
        src: HostId(0),
        dst: HostId(1),
        ports: 0,
        bytes,
        class: 0,
        code_point: 0,
        row: 0,
        raw: false,
    });
    flows.make_persistent(first);
    flows.append_message(first, first);
    for bytes in more {
        let message = flows.add_message(first, bytes);
        flows.append_message(first, message);
    }
    (flows, first)
}

#[test]
fn a_message_is_there_when_everything_up_to_its_last_byte_is() {
    let (mut flows, first) = three_messages();
    let mut told = OutcomeRecording::default();
    for (received, expected) in [(999, 0), (1000, 1), (2999, 1), (3500, 3), (3500, 3)] {
        flows.report_received(first, received, &mut told);
        assert_eq!(told.0.len(), expected, "{received}");
    }
    assert_eq!(told.0, [(0, None), (1, None), (2, None)]);
    let info = |n| (flows.info(FlowId(n)).bytes, flows.info(FlowId(n)).hash);
    assert_eq!([info(1).0, info(2).0], [2000, 500]);
    assert_eq!([info(1).1, info(2).1], [info(0).1; 2], "the same ports, the same path");
}

#[test]
fn what_a_sender_did_is_put_to_the_message_that_is_acknowledged_next() {
    let (mut flows, first) = three_messages();
    flows.report_received(first, 3500, &mut OutcomeRecording::default());
    let mut told = OutcomeRecording::default();
    let mut h = SenderHarness::with_flow(ENDLESS_BYTES, "newreno", &[]);
    h.call(|s, io| s.open(io));
    h.write(1000);
    h.ack_bytes(1000, false);
    flows.report_acknowledged(first, &h.sender, &mut told);
    assert_eq!(h.write(2000), [1000, 1000]);
    h.expire();
    let rest: Vec<_> = flows.open_messages(first).map(|m| (m.flow.0, m.start, m.end)).collect();
    assert_eq!(rest, [(1, 1000, 3000), (2, 3000, 3500)]);
    assert_eq!(flows.stats_since_report(first, &h.stats()).timeouts, 1);
    h.ack_bytes(3000, false);
    h.write(500);
    h.ack_bytes(3500, false);
    flows.report_acknowledged(first, &h.sender, &mut told);
    assert_eq!(told.0, [(0, Some([0; 4])), (1, Some([1, 0, 1, 0])), (2, Some([0; 4]))]);
    assert!(!h.sender.is_done(), "a persistent connection is never done");
}

/// The first message loses the second of its five segments, and its last ACK has ECN-Echo.
#[test]
fn a_recovery_and_an_echo_are_put_to_one_message() {
    let (mut flows, first) = messages(5000, [2000, 1000]);
    let mut told = OutcomeRecording::default();
    let mut h = SenderHarness::with_flow(ENDLESS_BYTES, "newreno", &[("ecn", Value::Flag(true))]);
    h.call(|s, io| s.open(io));
    assert_eq!(h.write(5000).len(), 5);
    let again: Vec<_> = [1000; 4].iter().flat_map(|bytes| h.ack_bytes(*bytes, false)).collect();
    assert_eq!(again, [1]);
    flows.report_acknowledged(first, &h.sender, &mut told);
    assert_eq!((told.0.len(), counts(&flows.stats_since_report(first, &h.stats()))), (0, [1, 1, 0, 0]));
    flows.report_received(first, 5000, &mut told);
    h.ack_bytes(5000, true);
    flows.report_acknowledged(first, &h.sender, &mut told);
    assert_eq!(counts(&flows.stats_since_report(first, &h.stats())), [0; 4], "that was told");
    h.write(2000);
    h.ack_bytes(6000, false);
    flows.report_acknowledged(first, &h.sender, &mut told);
    assert_eq!(told.0.len(), 2, "its first byte is acknowledged, and its last is not");
    flows.report_received(first, 7000, &mut told);
    h.ack_bytes(7000, false);
    flows.report_acknowledged(first, &h.sender, &mut told);
    flows.report_received(first, 8000, &mut told);
    let expected = [(0, None), (0, Some([1, 1, 0, 1])), (1, None), (1, Some([0; 4])), (2, None)];
    assert_eq!(told.0, expected);
}

#[test]
fn receiver_of_a_persistent_connection_knows_no_last_byte() {
    // RFC 5681 §4.2: an odd segment waits for the timer of delayed ACKs; the last one of a flow would not.
    let acks = |bytes: u64| {
        let cfg = config("newreno", &[("delayed_ack", Value::Flag(true))]);
        let (mut exts, mut out) = (ExtensionSlab::default(), ReleasedPackets::default());
        let mut receiver = Receiver::new(&flow(bytes), &cfg);
        let mut pkt = Pkt { payload: 1000, ..Pkt::default() };
        pkt.head.flags = Flags::ACK.with(Flags::PAYLOAD);
        receiver
            .receive(&pkt, &mut Io { now: Time::ZERO, cfg: &cfg, exts: &mut exts, out: &mut out, timers_set: &mut 0 });
        (out.len(), receiver.is_complete(), receiver.deadline())
    };
    assert_eq!(acks(1000), (1, true, None));
    assert_eq!(acks(ENDLESS_BYTES), (0, false, Some(Time(Dur::ms(40).0))));
}
