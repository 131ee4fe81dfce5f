//! Tests of selective acknowledgements at the sender (RFC 2018 §5, §8, RFC 2883, RFC 6675).

use super::*;
use mech::Flags;

fn no_dupack_threshold() -> (&'static str, Value) {
    ("dupack_threshold", Value::Off)
}

/// Returns a sender with SACK and ten segments in flight.
fn sender_with_ten_in_flight(set: &[(&str, Value)]) -> SenderHarness {
    let mut h = SenderHarness::new("sack", set);
    assert_eq!(h.start().len(), 10);
    h
}

#[test]
fn the_third_ack_that_reports_something_new_starts_recovery_at_half_the_flight() {
    // RFC 6675 §5 steps 1, 2 and (4.1) to (4.4): two segments are not more than (DupThresh - 1) SMSS.
    let mut h = sender_with_ten_in_flight(&[]);
    assert!(h.sack(0, &[(1, 2)]).is_empty() && h.sack(0, &[(1, 3)]).is_empty());
    assert_eq!((h.cwnd(), h.stats().fast_retransmits), (10_000, 0));
    assert_eq!(h.sack(0, &[(1, 4)]), [0]);
    assert!(h.last[0].head.flags.has(Flags::RETRANSMIT));
    assert_eq!((h.ssthresh(), h.cwnd(), h.stats().fast_retransmits), (5_000, 5_000, 1));
    assert!(h.stats().in_recovery);
}

#[test]
fn an_ack_that_reports_nothing_new_is_no_duplicate() {
    // RFC 6675 §2.
    let mut h = sender_with_ten_in_flight(&[]);
    h.sack(0, &[(1, 2)]);
    for _ in 0..5 {
        assert!(h.sack(0, &[(1, 2)]).is_empty() && h.ack(0).is_empty());
    }
    assert_eq!(h.stats().fast_retransmits, 0);
    h.sack(0, &[(1, 3)]);
    assert_eq!(h.sack(0, &[(1, 4)]), [0]);
}

#[test]
fn a_duplicate_may_move_the_window_and_acknowledge_too_which_starts_the_count_anew() {
    // RFC 6675 §2, §5.
    let mut h = sender_with_ten_in_flight(&[]);
    h.sack_bytes(0, &[(3000, 3100)]);
    h.sack_bytes(0, &[(3000, 3200)]);
    assert!(h.sack_bytes(1000, &[(3000, 3300)]).iter().all(|n| *n >= 10));
    let ext = h.exts.allocate(PacketExtension {
        blocks: 1,
        sack: [(3000, 3400), (0, 0), (0, 0), (0, 0)],
        ..PacketExtension::default()
    });
    let mut pkt = Pkt { ext, ..segment::ack_segment(&flow(0), 1000, false, &h.cfg) };
    pkt.window -= 1;
    h.call(|s, io| s.receive(&pkt, io));
    assert_eq!(h.stats().fast_retransmits, 0, "two since the cumulative one, itself included");
    assert_eq!(h.sack_bytes(1000, &[(3000, 3500)])[0], 1);
}

#[test]
fn three_small_reports_start_recovery_though_they_are_few_bytes() {
    // RFC 6675 §5 step 1, note.
    let mut h = sender_with_ten_in_flight(&[]);
    h.sack_bytes(0, &[(1000, 1100)]);
    h.sack_bytes(0, &[(1000, 1200)]);
    assert_eq!(h.sack_bytes(0, &[(1000, 1300)]), [0]);
}

#[test]
fn one_ack_that_reports_enough_starts_recovery_at_once() {
    // RFC 6675 §5 step 2, IsLost(): more than (DupThresh - 1) SMSS bytes, or DupThresh pieces.
    assert_eq!(sender_with_ten_in_flight(&[]).sack(0, &[(1, 4)]), [0]);
    assert!(sender_with_ten_in_flight(&[]).sack(0, &[(1, 3)]).is_empty());
    assert_eq!(sender_with_ten_in_flight(&[]).sack_bytes(0, &[(1000, 3001)]), [0]);
    assert_eq!(sender_with_ten_in_flight(&[]).sack_bytes(0, &[(8000, 8100), (6000, 6100), (4000, 4100)]), [0]);
    assert!(sender_with_ten_in_flight(&[]).sack_bytes(0, &[(6000, 6100), (4000, 4100)]).is_empty());
}

#[test]
fn in_recovery_new_data_leaves_as_the_pipe_drains_below_the_window() {
    // RFC 6675 §5 (B), (C), NextSeg() rule 2. Pipe after entry: 6 not SACKed, 1 retransmitted.
    let mut h = sender_with_ten_in_flight(&[]);
    h.sack(0, &[(1, 4)]);
    assert!(h.sack(0, &[(1, 5)]).is_empty());
    assert!(h.sack(0, &[(1, 6)]).is_empty());
    assert_eq!(h.sack(0, &[(1, 7)]), [10], "pipe 4");
    assert_eq!(h.sack(0, &[(1, 8)]), [11]);
    assert_eq!(h.cwnd(), 5_000);
}

#[test]
fn what_is_lost_goes_before_new_data() {
    // NextSeg() rule 1. Three pieces above segment 1 and above 3, not above 5.
    let mut h = sender_with_ten_in_flight(&[]);
    assert_eq!(h.sack(0, &[(6, 7), (4, 5), (2, 3)]), [0]);
    assert_eq!(h.sack(0, &[(8, 9), (6, 7), (4, 5)]), [1], "pipe 4: 5, 7, 9 and the first again");
    // The ACK of both, and of 2: pipe 5, 7, 9.
    assert_eq!(h.sack(3, &[(8, 9), (6, 7), (4, 5)]), [3, 10]);
}

#[test]
fn a_hole_not_yet_lost_is_retransmitted_only_where_there_is_no_new_data() {
    // NextSeg() rules 2 and 3. Twenty segments are in flight; then pipe 8 of 10.
    let holes = |bytes| {
        let mut h = SenderHarness::with_flow(bytes, "sack", &[("initial_window", packets(20))]);
        h.start();
        assert_eq!(h.sack(0, &[(1, 4)]), [0]);
        assert_eq!(h.cwnd(), 10_000);
        let first = h.sack(0, &[(1, 12)]);
        (first, h.sack(0, &[(13, 14), (1, 12)]))
    };
    assert_eq!(holes(20_000), (vec![], vec![12]));
    assert_eq!(holes(1_000_000), (vec![20], vec![21]));
}

#[test]
fn the_last_segment_is_rescued_once_a_recovery() {
    // NextSeg() rule 4: 0 and 9 are lost, and no data beyond 9 can reveal it.
    let mut h = SenderHarness::with_flow(10_000, "sack", &[]);
    h.start();
    assert_eq!(h.sack(0, &[(1, 4)]), [0]);
    assert!(h.sack(0, &[(1, 9)]).is_empty(), "the first retransmission is not acknowledged");
    assert_eq!(h.sack(9, &[]), [9]);
    assert!(h.ack(9).is_empty());
    assert_eq!(h.stats().retransmissions, 2);
    h.ack(10);
    assert!(h.sender.is_done());
}

#[test]
fn a_rescue_holds_the_highest_byte_not_reported() {
    // NextSeg() rule 4: "MUST include the highest outstanding unSACKed sequence number".
    let mut h = SenderHarness::with_flow(9_500, "sack", &[]);
    h.start();
    h.sack(0, &[(1, 4)]);
    h.sack(0, &[(1, 8)]);
    h.sack(8, &[]);
    assert_eq!(h.last.iter().map(|p| (p.seq, p.payload)).collect::<Vec<_>>(), [(8_500, 1000)]);
}

#[test]
fn recovery_ends_at_its_point_and_keeps_what_was_reported_beyond() {
    // RFC 6675 §5 (A).
    let mut h = sender_with_ten_in_flight(&[]);
    h.sack(0, &[(1, 4)]);
    assert_eq!(h.sack(0, &[(1, 9)]), [10, 11, 12]);
    assert_eq!(h.sack(0, &[(11, 13), (1, 9)]), [13, 14]);
    assert_eq!(h.sack(9, &[]), [15]);
    assert!(h.stats().in_recovery, "segment 9 is part of it");
    let sent = h.ack(10);
    assert_eq!((h.stats().in_recovery, h.stats().sacked, h.cwnd()), (false, 2_000, 5_000));
    assert!(sent.is_empty(), "six under way");
    assert_eq!(h.sack(10, &[(11, 14)]), [10], "a new recovery at once");
    assert_eq!(h.stats().fast_retransmits, 2);
}

#[test]
fn each_cumulative_ack_in_recovery_restarts_the_timer() {
    // RFC 6298 (5.3), as RFC 6675 §6 leaves it.
    let mut h = sender_with_ten_in_flight(&[]);
    h.wait(Dur::ms(1));
    h.sack(0, &[(1, 4)]);
    assert_eq!(h.timer_in(), Some(Dur::ms(9)));
    h.sack(4, &[]);
    assert_eq!(h.timer_in(), Some(Dur::ms(10)));
    h.wait(Dur::ms(1));
    h.sack(5, &[]);
    assert_eq!(h.timer_in(), Some(Dur::ms(10)));
}

#[test]
fn limited_transmit_goes_by_the_pipe_and_is_not_counted() {
    // RFC 6675 §5 step 3; (4.2): not in the FlightSize that is halved.
    let mut h = sender_with_ten_in_flight(&[("limited_transmit", Value::Flag(true))]);
    assert_eq!((h.sack(0, &[(1, 2)]), h.sack(0, &[(1, 3)])), (vec![10], vec![11]));
    assert_eq!(h.cwnd(), 10_000);
    assert_eq!(h.sack(0, &[(1, 4)]), [0]);
    assert_eq!((h.ssthresh(), h.cwnd()), (5_000, 5_000));
    let mut h =
        sender_with_ten_in_flight(&[("limited_transmit", Value::Flag(true)), ("dupack_threshold", Value::Count(9))]);
    assert_eq!(h.sack(0, &[(1, 5)]), [10, 11, 12, 13], "one ACK for four");
    let mut h = sender_with_ten_in_flight(&[]);
    assert!(h.sack(0, &[(1, 3)]).is_empty());
}

#[test]
fn after_a_timeout_no_recovery_starts_until_its_point_is_reached() {
    // RFC 6675 §5.1.
    let mut h = sender_with_ten_in_flight(&[]);
    assert_eq!(h.expire(), [0]);
    for end in 2..=9 {
        assert!(h.sack(0, &[(1, end)]).is_empty());
    }
    assert_eq!((h.cwnd(), h.stats().fast_retransmits), (1_000, 0));
    assert_eq!(h.ack(9), [9, 10], "what was reported is not sent again");
    assert_eq!(h.sack(9, &[(10, 11)]), [11]);
    assert_eq!(h.ack(10), [12]);
    h.sack(10, &[(11, 12)]);
    h.sack(10, &[(11, 13)]);
    assert_eq!(h.stats().fast_retransmits, 0);
    h.sack_bytes(10_000, &[(11_000, 13_100)]);
    assert_eq!(h.stats().fast_retransmits, 0, "never sent");
}

#[test]
fn without_a_threshold_only_the_timer_finds_losses_and_what_was_reported_is_spared() {
    // RFC 6675 §5.1.
    let mut h = sender_with_ten_in_flight(&[no_dupack_threshold()]);
    assert!(h.sack(0, &[(6, 7), (4, 5), (2, 3)]).is_empty());
    assert!(h.sack(0, &[(8, 10), (6, 7), (4, 5), (2, 3)]).is_empty());
    assert_eq!((h.stats().sacked, h.stats().fast_retransmits, h.cwnd()), (5_000, 0, 10_000));
    assert_eq!(h.expire(), [0]);
    assert_eq!(h.ack(1), [1, 3], "two segments under way, the one between has arrived");
    assert_eq!(h.ack(3), [5, 7]);
    assert_eq!(h.ack(10), [10, 11, 12, 13]);
    assert_eq!(h.stats().retransmissions, 5);
}

#[test]
fn a_timeout_in_recovery_ends_it() {
    // RFC 6675 §5.1.
    let mut h = sender_with_ten_in_flight(&[]);
    h.sack(0, &[(1, 4)]);
    assert_eq!(h.expire(), [0]);
    assert_eq!((h.stats().in_recovery, h.cwnd(), h.ssthresh()), (false, 1_000, 5_000));
    assert_eq!(h.ack(4), [4, 5]);
}

#[test]
fn a_receiver_that_reneges_is_sent_all_again() {
    // RFC 2018 §8: the cumulative ACK stops at SACKed data, and no SACK counts any more.
    let mut h = sender_with_ten_in_flight(&[no_dupack_threshold()]);
    h.sack(0, &[(6, 8), (1, 3)]);
    h.expire();
    assert_eq!(h.ack(1), [1, 2]);
    assert_eq!(h.stats().sacked, 0);
    // After a timeout the left edge is sent again, even if it was SACKed.
    h.sack(1, &[(1, 3)]);
    assert_eq!(h.expire(), [1]);
    assert_eq!(h.stats().sacked, 0);
}

#[test]
fn a_report_of_a_duplicate_is_counted_and_tells_nothing_new() {
    // RFC 2883 §4: below the cumulative ACK, or inside the second block.
    let mut h = sender_with_ten_in_flight(&[]);
    h.sack(3, &[(1, 2)]);
    h.sack(3, &[(2, 3), (4, 5)]);
    assert_eq!((h.stats().dsacks, h.stats().sacked), (2, 1_000));
    h.sack(3, &[(5, 6), (4, 6)]);
    assert_eq!((h.stats().dsacks, h.stats().sacked), (3, 2_000));
    h.sack(3, &[(4, 6), (7, 8)]);
    assert_eq!((h.stats().dsacks, h.stats().sacked), (3, 3_000), "a block of its own");
    let mut h = sender_with_ten_in_flight(&[]);
    for _ in 0..9 {
        assert!(h.sack(0, &[(2, 3), (2, 4)]).is_empty());
    }
    assert_eq!((h.stats().dsacks, h.stats().fast_retransmits), (9, 0));
}

#[test]
fn an_old_ack_still_tells_what_has_arrived() {
    // RFC 6675 §5: any ACK with SACK information.
    let mut h = sender_with_ten_in_flight(&[]);
    h.ack(2);
    let cwnd = h.cwnd();
    assert!(h.ack(1).is_empty());
    assert_eq!(h.sack(1, &[(3, 6)])[0], 2);
    assert!(cwnd > h.cwnd() && h.stats().acked == 2_000);
}

#[test]
fn blocks_that_make_no_sense_change_nothing() {
    let mut h = sender_with_ten_in_flight(&[]);
    h.ack(1);
    let before = h.stats();
    for blocks in [[(20, 30)], [(5, 3)], [(4, 4)], [(9, 14)]] {
        assert!(h.sack(1, &blocks).is_empty(), "{blocks:?}");
    }
    assert_eq!(h.stats(), before);
}

#[test]
fn only_a_transport_with_selective_acknowledgements_listens_to_them() {
    let mut h = SenderHarness::new("newreno", &[]);
    h.start();
    assert!(h.sack(0, &[(1, 8)]).is_empty());
    assert_eq!((h.stats().sacked, h.stats().fast_retransmits), (0, 0));
}

#[test]
fn blocks_are_taken_across_the_wrap_of_sequence_numbers() {
    // RFC 9293 §3.4.
    let mut h = SenderHarness::with_flow(1 << 34, "sack", &[]);
    h.start();
    let mut una = 0;
    while una + 4_000 < 1u64 << 32 {
        una = h.stats().next;
        h.ack_bytes(una, false);
    }
    let una = h.stats().acked;
    let block = |a: u64, b: u64| ((una + a) as u32, (una + b) as u32);
    h.sack_bytes(una, &[block(4_000, 9_000)]);
    assert_eq!((h.stats().sacked, h.last[0].seq), (5_000, una as u32));
}

/// Loses one segment and its retransmission, and SACKs all that follows until the timer expires.
/// Returns the bytes outstanding then, and the slow start threshold before and after the timeout.
fn timeout_of_a_lost_retransmission(kind: &str, set: &[(&str, Value)]) -> (u32, u32, u32) {
    let window = [("initial_window", packets(20))];
    let mut h = SenderHarness::with_flow(1 << 40, kind, &[&window, set].concat());
    h.start();
    for n in 2..60 {
        h.sack(0, &[(1, n)]);
    }
    let (before, outstanding) = (h.ssthresh(), h.stats().next as u32);
    while h.stats().timeouts == 0 {
        h.expire();
    }
    (outstanding, before, h.ssthresh())
}

#[test]
fn timeout_flight_counts_reported_bytes_or_the_pipe() {
    let flight_size = timeout_of_a_lost_retransmission("sack", &[]);
    assert_eq!(flight_size, (68_000, 10_000, 34_000), "RFC 5681 eq. 4");
    let pipe = timeout_of_a_lost_retransmission("sack", &[("timeout_flight", word("pipe"))]);
    assert_eq!(pipe, (68_000, 10_000, 5_000), "RFC 6675 §5: nine segments, and the one sent again");
}

#[test]
fn linux_keeps_the_threshold_of_a_recovery_at_a_timeout() {
    // Linux calls ssthresh() again in tcp_enter_loss() only if no recovery has cut the window for the same data.
    for recovery in ["sack", "rack"] {
        let set = [("congestion_control", word("reno")), ("recovery", word(recovery)), ("mss", size(1000))];
        let (outstanding, before, after) = timeout_of_a_lost_retransmission("linux", &set);
        assert!(
            outstanding > 2 * before && before == 10_000 && after == before,
            "{recovery}: {outstanding} {before} {after}"
        );
    }
}
