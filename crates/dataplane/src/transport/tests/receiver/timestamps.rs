//! Tests of timestamps: RFC 7323 §3 to §5.

use super::*;

fn stamped(more: &[(&'static str, Value)]) -> End {
    let mut set = vec![("timestamps", Value::Flag(true))];
    set.extend_from_slice(more);
    End::new(1_000_000, &set)
}

impl End {
    /// Returns TSval and TSecr of the last ACK.
    fn times(&self) -> (u32, u32) {
        let times = self.sent().1.timestamps.expect("timestamps");
        (times.val, times.ecr)
    }
    /// Delivers segment `n` with a TSval, and returns the numbers of the ACKs that leave.
    fn at(&mut self, stamp: u32, n: u64) -> Vec<u32> {
        self.stamp = stamp;
        self.segment(n)
    }
}

#[test]
fn an_ack_carries_the_receivers_clock_and_the_echo_in_twelve_bytes() {
    let mut e = stamped(&[]);
    e.now += Dur::us(123);
    e.at(100, 0);
    assert_eq!((e.times(), e.sent().0.head.size), ((123, 100), 70));
    e.now += Dur::us(1);
    e.at(101, 1);
    assert_eq!(e.times(), (124, 101));
    let mut plain = End::new(10_000, &[]);
    plain.segment(0);
    assert_eq!(plain.sent().0.ext, NO_EXT);
}

#[test]
fn a_delayed_ack_echoes_the_earliest_segment_that_it_acknowledges() {
    // RFC 7323 §4.3 (A).
    let mut e = stamped(&[delayed()]);
    e.at(10, 0);
    assert_eq!((e.at(20, 1), e.times().1), (vec![2000], 10));
    e.at(30, 2);
    assert_eq!((e.at(40, 3), e.times().1), (vec![4000], 30));
}

#[test]
fn while_there_is_a_gap_the_last_segment_in_order_is_echoed_and_then_the_one_that_fills() {
    // RFC 7323 §4.3 (B), (C), and its example: A1, C, B, E, D.
    let mut e = stamped(&[]);
    let echoes: Vec<u32> = [(1, 0), (3, 2), (2, 1), (5, 4), (4, 3)]
        .into_iter()
        .map(|(stamp, n)| {
            e.at(stamp, n);
            e.times().1
        })
        .collect();
    assert_eq!(echoes, [1, 1, 2, 2, 4]);
}

#[test]
fn a_segment_that_is_wholly_old_changes_no_echo_and_one_with_a_new_byte_does() {
    // RFC 7323 §5.3: R2 comes before R3.
    let mut e = stamped(&[]);
    e.at(5, 0);
    assert_eq!((e.at(9, 0), e.times().1), (vec![1000], 5));
    e.stamp = 11;
    assert_eq!((e.bytes(500, 1000), e.times().1), (vec![1500], 11));
}

#[test]
fn an_old_duplicate_is_acknowledged_and_dropped() {
    // RFC 7323 §5.3 R1.
    let mut e = stamped(&[]);
    e.at(100, 0);
    assert_eq!((e.at(99, 1), e.receiver.received_bytes(), e.times().1), (vec![1000], 1000, 100));
    assert_eq!((e.receiver.stats().segments, e.receiver.stats().duplicates), (2, 1));
    assert_eq!(e.at(100, 1), [2000], "the same tick is not older");
    // Modulo 2³²: half the circle ahead is newer, beyond it older.
    assert_eq!(e.at(100u32.wrapping_add(1 << 31), 2), [2000]);
    assert_eq!(e.at(99u32.wrapping_add(1 << 31), 2), [3000]);
}

#[test]
fn a_timestamp_that_is_too_old_to_compare_with_rejects_nothing() {
    // RFC 7323 §5.5: half the circle, 2³¹ ticks of 1 us.
    for (wait, taken) in [(Dur::us((1 << 31) - 1), false), (Dur::us(1 << 31), true)] {
        let mut e = stamped(&[]);
        e.at(100, 0);
        e.now += wait;
        assert_eq!(e.at(99, 1) == [2000], taken, "{wait:?}");
    }
    // Before the first segment there is no timestamp to compare with.
    let mut e = stamped(&[]);
    assert_eq!(e.at(u32::MAX - 5, 0), [1000]);
    assert_eq!(e.at(3, 1), [2000], "the clock goes round");
}

#[test]
fn before_the_first_byte_nothing_is_echoed() {
    let mut e = stamped(&[]);
    assert_eq!((e.at(7, 1), e.times().1), (vec![0], 0));
    assert_eq!((e.at(6, 0), e.times().1), (vec![2000], 6), "reordered, not old");
}

#[test]
fn data_without_a_timestamp_is_dropped() {
    // RFC 7323 §3.2.
    let mut e = stamped(&[]);
    let mut pkt = segment::data_segment(&flow(0), (0, 1000), 0, &e.cfg);
    pkt.ext = e.exts.allocate(PacketExtension::default());
    assert_eq!(e.packet(pkt), []);
    assert_eq!(e.receiver.stats().segments, 0);
}
