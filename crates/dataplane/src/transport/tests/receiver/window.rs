//! Tests of the advertised window (RFC 9293 §3.8.6, RFC 7323 §2).

use super::*;
use property::for_all;
use proptest::collection::vec;

#[test]
fn the_window_that_is_advertised_never_moves_back() {
    // RFC 9293 §3.8.6: the right edge.
    let mut e = End::new(50_000, &[("receive_window", size(45_535))]);
    let mut edge = 0;
    for n in [0, 2, 1, 5, 3, 4, 4] {
        let pkt = segment::data_segment(&flow(0), (n * 1000, 1000), 0, &e.cfg);
        let out = sent(e.now, &e.cfg, |io| e.receiver.receive(&pkt, io));
        let now = out.last().map(|p| p.ack + u32::from(p.window)).unwrap();
        assert!(now >= edge);
        edge = now;
    }
    assert_eq!(edge, 6000 + 45_535);
}

fn shrinking_window(window: u64) -> [(&'static str, Value); 2] {
    [("receive_window", size(window)), ("window_less_out_of_order", Value::Flag(true))]
}

impl End {
    /// Returns the right edge of the window of the last ACK.
    fn edge(&self) -> u64 {
        let (pkt, _) = self.sent();
        u64::from(pkt.ack) + (u64::from(pkt.window) << self.cfg.window_shift)
    }
}

#[test]
fn out_of_order_bytes_shrink_the_window_but_not_its_edge() {
    // PABO §IV: edge = max(old edge, RCV.NXT + W - bytes beyond the gap).
    let mut e = End::new(100_000, &shrinking_window(10_000));
    e.segment(0);
    assert_eq!(e.edge(), 11_000);
    for n in [2, 3, 4] {
        e.segment(n);
        assert_eq!(e.edge(), 11_000, "segment {n} waits");
    }
    e.segment(6);
    // Segment 1 releases three waiting segments; one remains.
    assert_eq!((e.segment(1), e.edge()), (vec![5000], 14_000));
    assert_eq!((e.segment(5), e.edge()), (vec![7000], 17_000));
    assert_eq!(e.sent().0.window, 10_000);
}

#[test]
fn up_to_the_advertised_edge_everything_is_taken_and_nothing_beyond() {
    let mut e = End::new(100_000, &shrinking_window(4_000));
    e.segment(0);
    [2, 3, 4].into_iter().for_each(|n| drop(e.segment(n)));
    assert_eq!((e.receiver.stats().waiting, e.edge()), (3000, 5000));
    assert_eq!((e.segment(5), e.receiver.stats().waiting), (vec![1000], 3000), "beyond the edge");
    assert_eq!((e.segment(1), e.edge()), (vec![5000], 9000));
    // A segment that crosses the edge is cut there.
    e.bytes(8500, 1000);
    assert_eq!(e.receiver.stats().waiting, 500);
    let mut fixed = End::new(100_000, &[("receive_window", size(2500)), delayed()]);
    fixed.segment(0);
    assert_eq!(fixed.segment(2), [1000]);
    assert_eq!(fixed.receiver.stats().waiting, 500, "the edge that was told is 2500");
}

#[test]
fn in_order_bytes_beyond_the_advertised_edge_are_dropped() {
    let mut e = End::new(100_000, &[("receive_window", size(1500)), delayed()]);
    assert_eq!(e.segment(0), []);
    assert_eq!(e.segment(1), [1500]);
    assert_eq!(e.segment(1), [2000]);
}

#[test]
fn an_edge_that_stays_is_rounded_up_to_the_scale_and_one_that_moves_down() {
    // RFC 7323 §2.3; 100 000 bytes need a scale of 1.
    let mut e = End::new(1_000_000, &shrinking_window(100_000));
    assert_eq!(e.cfg.window_shift, 1);
    e.bytes(0, 1001);
    assert_eq!(e.edge(), 101_001);
    e.segment(2);
    assert_eq!(e.edge(), 101_001);
    // RCV.NXT moves by an odd number: an edge that stays is advertised 1 byte further.
    e.bytes(1001, 500);
    assert_eq!((e.edge(), e.receiver.received_bytes()), (101_001, 1501));
    e.bytes(1501, 100);
    assert_eq!(e.edge(), 101_001);
    e.bytes(1601, 1);
    assert_eq!(e.edge(), 101_002);
}

#[test]
fn the_edge_never_moves_back_and_the_field_never_overflows() {
    let segments = vec((0..12_000_u64, 1..=1460_u32), 0..=4000);
    for window in [3_000, 65_535, 65_536, 1_000_001, 1 << 30] {
        let mut last = 0;
        for_all(4, &segments, |segments| {
            let mut e = End::new(60_000_000, &shrinking_window(window));
            let (mut edge, mut next) = (0, 0);
            for (ahead, bytes) in segments {
                next = e.bytes((next + ahead).saturating_sub(3000), bytes)[0].into();
                assert!(e.edge() >= edge && e.edge() <= next + window, "{} after {edge}", e.edge());
                assert!(e.receiver.stats().waiting <= e.edge() - next);
                edge = e.edge();
            }
            last = next.max(last);
        });
        assert!(last > 100_000);
    }
}
