//! Tests of selective acknowledgements: RFC 2018 §4, RFC 2883 §4.

use super::*;
use crate::transport::{FinishedReceiver, ack_of_finished};

/// Returns segments `from..to` as a SACK block.
fn block(from: u32, to: u32) -> (u32, u32) {
    (from * 1000, to * 1000)
}

fn sack(segments: &[u64]) -> End {
    let mut e = End::with_flow(1_000_000, "sack", &[]);
    segments.iter().for_each(|n| drop(e.segment(*n)));
    e
}

#[test]
fn the_first_block_holds_the_segment_that_has_come_and_older_ones_follow() {
    // RFC 2018 §4, and its example of every other segment lost (§8).
    let mut e = sack(&[0]);
    assert_eq!((e.blocks(), e.sent().0.ext), (vec![], NO_EXT), "nothing waits");
    e.segment(2);
    assert_eq!((e.blocks(), e.sent().0.head.size), (vec![block(2, 3)], 70));
    e.segment(4);
    assert_eq!(e.blocks(), [block(4, 5), block(2, 3)]);
    e.segment(6);
    assert_eq!(e.blocks(), [block(6, 7), block(4, 5), block(2, 3)]);
    e.segment(3);
    assert_eq!(e.blocks(), [block(2, 5), block(6, 7)]);
    assert_eq!(e.segment(1), [5000]);
    assert_eq!(e.blocks(), [block(6, 7)]);
    assert_eq!((e.segment(5), e.blocks(), e.sent().0.head.size), (vec![7000], vec![], 64));
}

#[test]
fn four_blocks_fit_and_three_beside_timestamps() {
    // RFC 2018 §3.
    let e = sack(&[2, 4, 6, 8, 10]);
    assert_eq!(e.blocks(), [block(10, 11), block(8, 9), block(6, 7), block(4, 5)]);
    let mut e = End::with_flow(1_000_000, "sack", &[("timestamps", Value::Flag(true))]);
    [2, 4, 6, 8].into_iter().for_each(|n| drop(e.segment(n)));
    assert_eq!((e.blocks().len(), e.sent().1.option_bytes(), e.sent().0.head.size), (3, 40, 98));
}

#[test]
fn blocks_are_told_only_where_sack_is_permitted() {
    for (kind, set, told) in
        [("reno", vec![], false), ("newreno", vec![], false), ("dctcp", vec![], true), ("dctcp", newreno(), false)]
    {
        let mut e = End::with_flow(100_000, kind, &set);
        e.segment(3);
        e.segment(3);
        assert_eq!(!e.blocks().is_empty(), told, "{kind}");
    }
}

fn newreno() -> Vec<(&'static str, Value)> {
    vec![("recovery", Value::Word("newreno".into()))]
}

#[test]
fn a_duplicate_below_the_cumulative_ack_is_told_once_and_first() {
    // RFC 2883 §4 (1) to (3).
    let mut e = sack(&[0, 1, 2]);
    assert_eq!((e.segment(1), e.blocks()), (vec![3000], vec![block(1, 2)]));
    assert_eq!((e.segment(3), e.blocks()), (vec![4000], vec![]), "once");
    e.segment(6);
    e.segment(8);
    assert_eq!((e.segment(0), e.blocks()), (vec![4000], vec![block(0, 1), block(8, 9), block(6, 7)]));
    e.segment(10);
    assert_eq!(e.blocks(), [block(10, 11), block(8, 9), block(6, 7)]);
}

#[test]
fn a_duplicate_that_waits_is_followed_by_the_block_that_holds_it() {
    // RFC 2883 §4 (4), (5).
    let mut e = sack(&[0, 4, 5, 6, 8, 10, 12]);
    e.segment(5);
    assert_eq!(e.blocks(), [block(5, 6), block(4, 7), block(12, 13), block(10, 11)]);
    e.segment(14);
    assert_eq!(e.blocks()[..2], [block(14, 15), block(4, 7)], "told before the others, it follows");
}

#[test]
fn of_a_segment_that_is_old_in_part_the_first_old_part_is_told() {
    // RFC 2883 §4.2.
    let mut e = sack(&[0]);
    assert_eq!((e.bytes(500, 1000), e.blocks()), (vec![1500], vec![(500, 1000)]));
    e.bytes(3000, 500);
    e.bytes(4000, 500);
    assert_eq!((e.bytes(3200, 1000), e.blocks()), (vec![1500], vec![(3200, 3500), (3000, 4500)]));
    assert_eq!((e.bytes(1500, 2000), e.blocks()), (vec![4500], vec![(3000, 3500)]), "now below the cumulative ACK");
}

#[test]
fn what_lies_beyond_the_window_is_no_duplicate() {
    let mut e = End::with_flow(100_000, "sack", &[("receive_window", size(3000))]);
    assert_eq!((e.segment(3), e.blocks()), (vec![0], vec![]));
    assert_eq!(e.receiver.stats().duplicates, 1);
}

#[test]
fn ack_at_a_change_of_marks_has_no_blocks_of_later_data() {
    // RFC 8257 §3.2 with delayed ACKs.
    let mut e = End::with_flow(100_000, "dctcp", &[delayed()]);
    assert_eq!(e.segment(0), []);
    let mut pkt = segment::data_segment(&flow(0), (3000, 1000), 0, &e.cfg);
    pkt.head.set_ecn(mech::Ecn::Ce);
    assert_eq!(e.packet(pkt), [1000, 1000]);
    assert_eq!(e.last.iter().map(|p| p.head.flags.has(Flags::ECE)).collect::<Vec<_>>(), [false, true]);
    assert_eq!((e.last[0].ext, e.blocks()), (NO_EXT, vec![block(3, 4)]));
}

#[test]
fn blocks_wrap_with_sequence_numbers() {
    let mut e = End::with_flow(1 << 33, "sack", &[("receive_window", size(1 << 30))]);
    let mut at = 0u64;
    while at < (1 << 32) - 1000 {
        let len = 9000.min((1 << 32) - 1000 - at) as u32;
        e.bytes(at, len);
        at += u64::from(len);
    }
    e.bytes((1 << 32) - 500, 1000);
    assert_eq!((e.sent().0.ack, e.blocks()), (0u32.wrapping_sub(1000), vec![(0u32.wrapping_sub(500), 500)]));
}

#[test]
fn finished_receiver_answers_as_before() {
    let stamps = || vec![("timestamps", Value::Flag(true))];
    for (kind, set) in [("sack", vec![]), ("sack", stamps()), ("linux", stamps())] {
        let mut e = End::with_flow(3_000, kind, &set);
        e.now += Dur::us(70);
        e.stamp = 40;
        [0, 2, 1].into_iter().for_each(|n| drop(e.segment(n)));
        let mut left = e.receiver.finished_state();
        assert_eq!(left, FinishedReceiver { acks: 3, recent: if set.is_empty() { 0 } else { 40 } });
        for (start, len) in [(0, 1000), (1500, 1500), (2900, 100)] {
            e.stamp += 1;
            e.bytes(start, len);
            let (live, options) = e.sent();
            let mut pkt = segment::data_segment(&flow(3_000), (start, len), 0, &e.cfg);
            let mut exts = ExtensionSlab::default();
            let timestamps = e.cfg.timestamps.then_some(Timestamps { val: e.stamp, ecr: 0 });
            pkt.ext = exts.allocate(PacketExtension { timestamps, ..PacketExtension::default() });
            let mut out = ReleasedPackets::default();
            let mut io = Io { now: e.now, cfg: &e.cfg, exts: &mut exts, out: &mut out, timers_set: &mut 0 };
            ack_of_finished(&flow(3_000), &pkt, &mut left, &mut io);
            let out = out.take();
            assert_eq!(exts.get(out[0].ext), Some(&options));
            assert_eq!(Pkt { ext: live.ext, ..out[0] }, live);
        }
        let ack = Pkt { payload: 0, ..segment::data_segment(&flow(3_000), (0, 0), 0, &e.cfg) };
        let out =
            sent(e.now, &e.cfg, |io| ack_of_finished(&flow(3_000), &Pkt { head: ack_only(ack), ..ack }, &mut left, io));
        assert!(out.is_empty(), "nobody acknowledges an ACK");
    }
}

fn ack_only(pkt: Pkt) -> mech::Head {
    mech::Head { flags: Flags::ACK, ..pkt.head }
}
