//! Tests of CUBIC against the formulas of RFC 9438 in real numbers, and of invariants of its window.

use super::*;
use property::for_all;
use proptest::collection::vec;

/// Sender in congestion avoidance, whose ACKs come a round trip after the data.
struct Path {
    hand: SenderHarness,
    rtt: Dur,
    acked: u64,
}

impl Path {
    fn new(set: &[(&str, Value)], rtt: Dur) -> Path {
        let free = [("retransmission_timer", Value::Flag(false)), ("restart_after_idle", Value::Flag(false))];
        let mut hand = SenderHarness::with_flow(1 << 40, "cubic", &[&free, set].concat());
        hand.start();
        Path { hand, rtt, acked: 0 }
    }
    /// Delivers all data in flight, spread over a round trip, and returns the window at its end in segments.
    fn round(&mut self) -> f64 {
        let under_way = self.hand.stats().next / 1000 - self.acked;
        for _ in 0..under_way {
            self.hand.wait(Dur(self.rtt.0 / under_way));
            self.acked += 1;
            self.hand.ack(self.acked);
        }
        f64::from(self.hand.cwnd()) / 1000.0
    }
    fn seconds(&self) -> f64 {
        self.hand.now.0 as f64 / 1e12
    }
    /// Loses the first segment in flight, and delivers all after it.
    fn lose(&mut self) {
        let (from, to) = (self.acked as u32 + 1, (self.hand.stats().next / 1000) as u32);
        for n in from..to {
            self.hand.sack(self.acked, &[(from, n + 1)]);
        }
        self.acked = self.hand.stats().next / 1000;
        self.hand.wait(self.rtt);
        self.hand.ack(self.acked);
    }
}

/// Returns W_cubic(t) in segments (RFC 9438 fig. 1).
fn cubic(t: f64, w_max: f64, begin: f64) -> f64 {
    let k = ((w_max - begin) / 0.4).cbrt();
    0.4 * (t - k).powi(3) + w_max
}

#[test]
fn after_a_loss_the_window_is_within_a_segment_of_the_curve_all_the_way_back_and_beyond() {
    // Round trips of 100 ms: W_est exceeds the curve only where that is flat, at W_max.
    let set = [("initial_window", packets(100)), ("initial_ssthresh", size(1))];
    let mut path = Path::new(&set, Dur::ms(100));
    path.lose();
    let (began, begin) = (path.seconds(), f64::from(path.hand.cwnd()) / 1000.0);
    assert!((begin - 70.0).abs() < 0.5, "{begin}");
    let mut estimate = 70.0;
    for _ in 0..120 {
        let window = path.round();
        let t = path.seconds() - began;
        estimate += if estimate < 100.0 { 9.0 / 17.0 } else { 1.0 };
        let expected = cubic(t, 100.0, 70.0).max(estimate);
        assert!((window - expected).abs() < 1.0, "{t:.3} s: {window:.3}, not {expected:.3}");
    }
    assert!(path.round() > 250.0, "beyond the window of the loss");
}

#[test]
fn at_short_round_trips_the_window_is_within_a_segment_of_what_reno_would_have() {
    // Round trips of 100 us: one segment per round trip without a loss, 9/17 of one after a loss.
    let set = [("initial_window", packets(100)), ("initial_ssthresh", size(1))];
    let mut path = Path::new(&set, Dur::us(100));
    for round in 1..=50 {
        let window = path.round();
        assert!((window - 100.0 - f64::from(round)).abs() < 1.0, "{round}: {window}");
    }
    path.lose();
    let begin = f64::from(path.hand.cwnd()) / 1000.0;
    assert!((begin - 105.0).abs() < 1.0, "{begin}");
    for round in 1..=50 {
        let window = path.round();
        assert!((window - begin - f64::from(round) * 9.0 / 17.0).abs() < 1.0, "{round}: {window}");
    }
}

#[test]
fn without_a_loss_the_window_never_falls_and_never_below_two_segments_with_one() {
    let start = (1..=60_u64, 1..=80_000_u64, 1..=200_000_u64);
    // In one round of four on average, a segment is lost if more than four are in flight.
    for_all(24, (start, vec(0..4, 0..=80)), |((window, ssthresh, rtt), rounds)| {
        let set = [("initial_window", packets(window)), ("initial_ssthresh", size(ssthresh))];
        let mut path = Path::new(&set, Dur::us(rtt));
        let mut before = path.hand.cwnd();
        for round in rounds {
            if path.hand.stats().next / 1000 - path.acked > 4 && round == 0 {
                path.lose();
                assert!(path.hand.cwnd() >= 2000);
            } else {
                path.round();
                assert!(path.hand.cwnd() >= before, "{} < {before}", path.hand.cwnd());
            }
            before = path.hand.cwnd();
        }
    });
}
