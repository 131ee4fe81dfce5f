//! Tests of the ACK clock (Jacobson, "Congestion avoidance and control", SIGCOMM 1988 §1).
//!
//! Flows cross a bottleneck without delayed ACKs and without losses. The reference is a window by RFC 5681, computed
//! here.
//!
//! Asserted for every data packet and every ACK:
//! - after the first window, data leaves only at the instant of an ACK of its flow;
//! - while the window grows, an ACK releases 2 segments in slow start; in congestion avoidance 2 if cwnd passes a
//!   multiple of the segment size, else 1;
//! - once the receive window, a whole number of segments, is the limit, an ACK releases exactly 1 segment;
//! - with marks, which shrink the window, an ACK releases 0 to 2 segments;
//! - the bytes in flight never exceed min(cwnd, rwnd), and fill it to within a segment while there is data to send;
//! - behind a saturated bottleneck, the ACKs of a single flow arrive one transmission time of a frame apart.

use crate::common::draw::{Draw, drawn};
use crate::common::scenario;
use crate::common::watched::watch;
use dataplane::Pkt;
use mech::Flags;
use property::for_all;
use proptest::prelude::Strategy;
use proptest::sample::select;
use sim::{EventLocation, Observer, Options, StopReason};
use std::collections::BTreeMap;

const MSS: u64 = 1460;

/// ACK that a flow received, and segments that it sent, at one instant.
#[derive(Clone, Default)]
struct Moment {
    /// Bytes acknowledged by the ACK that the flow received, if it received one.
    ack: Option<u64>,
    /// Size of each segment sent, in bytes.
    sent: Vec<u64>,
    echo: bool,
}

/// ACKs and sent segments of every flow, by time in ps.
#[derive(Clone, Default)]
struct Clock {
    flows: BTreeMap<u32, BTreeMap<u64, Moment>>,
    lost: u32,
}

impl Observer for Clock {
    fn on_drop(&mut self, _at: EventLocation, _pkt: &Pkt, _reason: mech::overflow::DropReason) {
        self.lost += 1;
    }
    fn on_delivery(&mut self, at: EventLocation, pkt: &Pkt) {
        let flow = self.flows.entry(pkt.head.flow.0).or_default();
        if pkt.head.flags.has(Flags::REVERSE) {
            let moment = flow.entry(at.now.0).or_default();
            assert_eq!(moment.ack, None, "one ACK at a time");
            (moment.ack, moment.echo) = (Some(u64::from(pkt.ack)), pkt.head.flags.has(Flags::ECE));
        } else {
            assert!(!pkt.head.flags.has(Flags::RETRANSMIT), "nothing is lost, so nothing is sent again");
            flow.entry(pkt.sent.0).or_default().sent.push(u64::from(pkt.payload));
        }
    }
}

/// Random scenario of flows over a dumbbell.
#[derive(Clone, Debug)]
struct Case {
    flows: u64,
    /// Rate of the bottleneck link in Mb/s.
    mbps: u64,
    delay_ns: u64,
    bytes: u64,
    initial_window: u64,
    ssthresh: u64,
    rwnd: u64,
    switch: &'static str,
    transport: &'static str,
}

/// Returns a strategy for scenarios, each with the seed of its run.
fn any_case() -> impl Strategy<Value = (Case, u64)> {
    drawn(|draw| (Case::random(draw), draw.number(0, 999)))
}

impl Case {
    fn random(draw: &mut Draw) -> Case {
        let mut number = |low: u64, high: u64| draw.number(low, high);
        let wide = number(0, 1) == 0;
        Case {
            flows: number(1, 4),
            mbps: number(100, 900),
            delay_ns: number(100, 60_000),
            bytes: number(100, 700_000),
            initial_window: number(1, 12),
            ssthresh: if number(0, 2) == 0 { 1 << 30 } else { number(3_000, 60_000) },
            rwnd: if wide { 1 << 30 } else { MSS * number(12, 44) },
            switch: "",
            transport: "kind = \"newreno\"",
        }
    }

    fn text(&self) -> String {
        let Case { flows, mbps, delay_ns, bytes, initial_window, ssthresh, rwnd, switch, transport } = self;
        format!(
            "name = \"clock\"\nduration = \"1ms\"\n[topology]\nkind = \"dumbbell\"\nn = {flows}\n\
             link = {{ rate = \"1Gbps\", delay = \"1us\" }}\nbottleneck = {{ rate = \"{mbps}Mbps\", delay = \"{delay_ns}ns\" }}\n\
             [switch]\nbuffer = {{ kind = \"unlimited\" }}\n{switch}\n[transport]\n{transport}\nmss = \"{MSS}B\"\n\
             initial_window = \"{initial_window}pkt\"\ninitial_ssthresh = \"{ssthresh}B\"\nreceive_window = \"{rwnd}B\"\n\
             delayed_ack = false\nmin_rto = \"10s\"\ninitial_rto = \"10s\"\n[measure]\nqueues = false\ndrain = \"60s\"\nfct_end = \"sender_ack\"\n\
             [[traffic]]\nname = \"long\"\nkind = \"incast\"\nsenders = {flows}\nreceiver = \"h{flows}\"\n\
             pick = \"first\"\nsize = \"{bytes}B\"\njitter = \"40us\"\n"
        )
    }

    fn run(&self, seed: u64) -> Clock {
        let s = scenario(&self.text(), "");
        let mut world = watch(&s, seed, Options::default(), Clock::default());
        assert_eq!(world.run().stop, Some(StopReason::Done), "{}", self.text());
        let clock = world.observer().clone();
        assert_eq!((clock.lost, clock.flows.len() as u64), (0, self.flows));
        clock
    }
}

/// Reference model of a TCP sender: window of RFC 5681 without losses, and the bytes in flight.
struct Reference {
    cwnd: u64,
    ssthresh: u64,
    rwnd: u64,
    una: u64,
    nxt: u64,
}

impl Reference {
    /// Grows the congestion window by RFC 5681 eq. 2 in slow start and by eq. 3 after it.
    fn acked(&mut self, ack: u64) {
        let newly = ack - self.una;
        self.una = ack;
        if self.cwnd < self.rwnd {
            self.cwnd += if self.cwnd < self.ssthresh { newly.min(MSS) } else { (MSS * MSS / self.cwnd).max(1) };
        }
    }
    fn flight(&self) -> u64 {
        self.nxt - self.una
    }
    fn window(&self) -> u64 {
        self.cwnd.min(self.rwnd)
    }
}

/// Numbers of ACKs that released none, one, two, or more segments.
#[derive(Debug, Default)]
struct Released([u64; 4]);

impl Released {
    fn count(&mut self, segments: usize) {
        self.0[segments.min(3)] += 1;
    }
}

/// Checks a flow without losses and marks. Returns the counts of segments that ACKs released while it had data to send.
fn check(case: &Case, moments: &BTreeMap<u64, Moment>, said: &str) -> (Released, Released) {
    let cwnd = case.initial_window * MSS;
    let mut tcp = Reference { cwnd, ssthresh: case.ssthresh, rwnd: case.rwnd, una: 0, nxt: 0 };
    let (mut slow_start, mut avoidance) = (Released::default(), Released::default());
    for (i, (at, moment)) in moments.iter().enumerate() {
        let before = tcp.window();
        let starting = tcp.cwnd < tcp.ssthresh;
        match moment.ack {
            Some(ack) => tcp.acked(ack),
            None => assert_eq!(i, 0, "data left at {at} ps without an ACK: {said}"),
        }
        for bytes in &moment.sent {
            tcp.nxt += bytes;
            assert!(tcp.flight() <= tcp.window(), "{} in flight of {}: {said}", tcp.flight(), tcp.window());
        }
        if tcp.nxt < case.bytes {
            assert!(tcp.flight() + MSS > tcp.window(), "{} in flight of {}: {said}", tcp.flight(), tcp.window());
            if i > 0 {
                let full = before == tcp.rwnd;
                assert!(!full || moment.sent.len() == 1, "{} at the receiver's limit: {said}", moment.sent.len());
                let counts = if starting && !full { &mut slow_start } else { &mut avoidance };
                counts.count(moment.sent.len());
            }
        }
    }
    assert_eq!((tcp.una, tcp.nxt), (case.bytes, case.bytes), "{said}");
    (slow_start, avoidance)
}

#[test]
fn an_ack_releases_one_or_two_segments_and_the_window_is_full_and_never_exceeded() {
    let mut all = [[0; 4]; 2];
    for_all(80, any_case(), |(case, n)| {
        let said = case.text();
        for moments in case.run(n).flows.values() {
            let (slow_start, avoidance) = check(&case, moments, &said);
            for (sum, of) in all.iter_mut().zip([slow_start, avoidance]) {
                assert_eq!((of.0[0], of.0[3]), (0, 0), "{of:?}: {said}");
                sum.iter_mut().zip(of.0).for_each(|(sum, count)| *sum += count);
            }
        }
    });
    let [slow_start, avoidance] = all;
    println!("slow start {slow_start:?}, after {avoidance:?}");
    // One segment in slow start: the receive window was the limit.
    assert!(slow_start[2] > 50 * slow_start[1] && slow_start[2] > 1_000, "{slow_start:?}");
    assert!(avoidance[1] > 10 * avoidance[2] && avoidance[2] > 200, "{avoidance:?}");
}

#[test]
fn marks_only_hold_segments_back() {
    let mut all = Released::default();
    let transport = select(&["kind = \"dctcp\"", "kind = \"newreno\"\necn = true"]);
    for_all(30, (any_case(), transport), |((case, n), transport)| {
        let switch = "marking = { kind = \"ecn_threshold\", k = \"6pkt\" }";
        let case = Case { switch, transport, rwnd: 1 << 30, bytes: 400_000, ..case };
        for moments in case.run(n).flows.values() {
            let (mut una, mut nxt, mut most) = (0, 0, 0);
            for (i, moment) in moments.values().enumerate() {
                assert!(i == 0 || moment.ack.is_some(), "data left without an ACK");
                let echoes = moment.echo;
                una = moment.ack.unwrap_or(una);
                nxt += moment.sent.iter().sum::<u64>();
                if i > 0 && nxt < case.bytes {
                    all.count(moment.sent.len());
                    assert!(moment.sent.len() <= 2);
                    assert!(!echoes || nxt - una <= most, "the flight grows on an echo");
                }
                most = nxt - una;
            }
        }
    });
    println!("with marks {all:?}");
    assert!(all.0[0] > 500 && all.0[1] > 1_000 && all.0[2] > 500, "{all:?}");
}

#[test]
fn behind_a_saturated_bottleneck_acks_come_one_frame_time_apart() {
    for mbps in [100, 433, 800] {
        for_all(2, any_case(), |(case, n)| {
            // A window of 40 segments; the path without queues holds at most 800 Mb/s * 110 us, 8 frames.
            let case =
                Case { flows: 1, mbps, delay_ns: 20_000, bytes: 200 * MSS, rwnd: 40 * MSS, ssthresh: 1 << 30, ..case };
            let acks: Vec<u64> =
                case.run(n).flows[&0].iter().filter(|(_, moment)| moment.ack.is_some()).map(|(at, _)| *at).collect();
            assert_eq!(acks.len(), 200);
            let frame_time = (1538u64 * 8 * 1_000_000).div_ceil(mbps);
            let gaps: Vec<u64> = acks[100..].windows(2).map(|pair| pair[1] - pair[0]).collect();
            // A transmission time is rounded up to a picosecond, or its remainder is carried over exactly.
            assert!(gaps.iter().all(|gap| gap.abs_diff(frame_time) <= 1), "{mbps} Mb/s: {gaps:?}, {frame_time}");
        });
    }
}
