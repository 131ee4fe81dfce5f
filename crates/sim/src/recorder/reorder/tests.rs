//! Tests against values worked out by hand, and against the published algorithms taken literally.

use super::*;
use property::for_all;
use proptest::collection::{SizeRange, vec};
use proptest::prelude::{Just, Strategy, any};
use proptest::prop_oneof;
use proptest::sample::Index;

/// Returns the reordering counts of these arrivals, whose numbers start from 1 as in the RFCs.
fn count_arrivals(arrivals: &[u64], threshold: u32) -> ReorderCounts {
    let (mut stream, mut tally) = (ArrivalStream::default(), ReorderCounts::default());
    arrivals.iter().for_each(|seq| stream.record_arrival(seq - 1, true, threshold, &mut tally));
    stream.end_stream(threshold, &mut tally);
    tally
}

/// Returns the values whose count is not 0, with their counts; `counts` begins with that of the value `first`.
fn nonzero_counts(counts: &[u64], first: i64) -> Vec<(i64, u64)> {
    counts.iter().zip(first..).filter(|(count, _)| **count > 0).map(|(count, value)| (value, *count)).collect()
}

fn displacements(arrivals: &[u64], threshold: u32) -> Vec<(i64, u64)> {
    nonzero_counts(&count_arrivals(arrivals, threshold).displacements, -i64::from(threshold))
}

fn buffer_occupancies(arrivals: &[u64], threshold: u32) -> Vec<(i64, u64)> {
    nonzero_counts(&count_arrivals(arrivals, threshold).buffer_occupancies, 0)
}

fn extents(arrivals: &[u64]) -> (Vec<(i64, u64)>, u64) {
    let tally = count_arrivals(arrivals, 100);
    (nonzero_counts(&tally.extent, 0), tally.received)
}

/// Test of receive indices and displacements with losses and duplicates.
/// RFC 5236 §3.1: arrivals 2 1 4 5 3 with receive indices 1 to 5 have displacements -1, 1, -1, -1, 2. For arrivals 1
/// 4 3 5 3, packet 2 is lost, so that no index is 2, and the second 3 has none: indices 1 3 4 5 and none give 0, -1,
/// 1, 0.
#[test]
fn receive_index_skips_losses_and_duplicates_get_none() {
    assert_eq!(displacements(&[2, 1, 4, 5, 3], 3), [(-1, 3), (1, 1), (2, 1)]);
    assert_eq!(displacements(&[1, 4, 3, 5, 3], 3), [(-1, 1), (0, 2), (1, 1)]);
}

/// Test of losses, duplicates and reordering together.
/// Arrivals 1 4 3 5 3 8 7 6 continue this example: 8, 7 and 6 have the indices 6, 7 and 8, so -2, 0 and 2.
///
/// Buffer, with packet 2 missing forever: after 1 no packet waits, then 4, then 3 4, then 3 4 5. The second 3 is a
/// duplicate. Then with 8, 7 and 6, four, five and six wait. With BT = 3, 8 does not fit: 2 is lost, 3 4 5 leave, 8
/// waits, 7 and 8 wait, and 6 releases all.
///
/// Extents: 3 comes one after 4; 7 one after 8; 6 two after 8.
#[test]
fn losses_duplicates_and_reordering_match_hand_calculation() {
    let arrivals = [1, 4, 3, 5, 3, 8, 7, 6];
    assert_eq!(displacements(&arrivals, 3), [(-2, 1), (-1, 1), (0, 3), (1, 1), (2, 1)]);
    assert_eq!(buffer_occupancies(&arrivals, 10), [(0, 1), (1, 1), (2, 1), (3, 1), (4, 1), (5, 1), (6, 1)]);
    assert_eq!(buffer_occupancies(&arrivals, 3), [(0, 2), (1, 2), (2, 2), (3, 1)]);
    assert_eq!(extents(&arrivals), (vec![(1, 2), (2, 1)], 7));
}

/// Test of displacements, buffer occupancies and extents without losses.
/// No packet is lost: arrivals 1 4 2 5 3 6 7 8 with indices 1 to 8 give 0 -2 1 -1 2 0 0 0. Packet 4 waits, still
/// after 2, with 5, and 3 releases both.
#[test]
fn without_loss_the_index_is_the_order_of_arrival() {
    let arrivals = [1, 4, 2, 5, 3, 6, 7, 8];
    assert_eq!(displacements(&arrivals, 3), [(-2, 1), (-1, 1), (0, 4), (1, 1), (2, 1)]);
    assert_eq!(buffer_occupancies(&arrivals, 3), [(0, 5), (1, 2), (2, 1)]);
    assert_eq!(extents(&arrivals), (vec![(1, 1), (3, 1)], 8));
}

/// Test of reordering extents against the examples of the RFC.
/// RFC 4737 §7.1, tables 1 to 3: 4 comes after 8, then 5 and 6 after 7, then 4, 5 and 6 after 10.
#[test]
fn the_extent_counts_arrivals_since_the_first_with_a_higher_number() {
    assert_eq!(extents(&[1, 2, 3, 5, 6, 7, 8, 4, 9, 10]), (vec![(4, 1)], 10));
    assert_eq!(extents(&[1, 2, 3, 4, 7, 5, 6, 8, 9, 10]), (vec![(1, 1), (2, 1)], 10));
    assert_eq!(extents(&[1, 2, 3, 7, 8, 9, 10, 4, 5, 6, 11]), (vec![(4, 1), (5, 1), (6, 1)], 11));
}

/// Test of a packet that is later than the threshold DT.
/// Packet 1 comes after four others, and DT is 3: its index would have been 5. It counts as lost, and the others are
/// in order. With DT = 4 there are four early arrivals and a late one.
#[test]
fn a_packet_later_than_the_threshold_counts_as_lost() {
    let arrivals = [2, 3, 4, 5, 1, 6];
    assert_eq!(displacements(&arrivals, 3), [(0, 5)]);
    assert_eq!(displacements(&arrivals, 4), [(-1, 4), (0, 1), (4, 1)]);
    assert_eq!(buffer_occupancies(&arrivals, 3), [(0, 2), (1, 1), (2, 1), (3, 1)]);
    let late = count_arrivals(&arrivals, 3);
    assert_eq!((nonzero_counts(&late.extent, 0), late.received), (vec![], 5));
    assert_eq!(nonzero_counts(&count_arrivals(&arrivals, 4).extent, 0), [(4, 1)]);
}

#[test]
fn packets_in_order_never_wait_and_leave_no_state() {
    let (mut stream, mut tally) = (ArrivalStream::default(), ReorderCounts::default());
    for seq in 0..1000 {
        assert!(stream.is_complete_before(seq));
        stream.record_arrival(seq, seq >= 400, 5, &mut tally);
    }
    assert_eq!(
        (nonzero_counts(&tally.displacements, -5), nonzero_counts(&tally.buffer_occupancies, 0), tally.received),
        (vec![(0, 600)], vec![(0, 600)], 600)
    );
}

/// Returns reorder densities by the literal algorithm of RFC 5236 §6.1, which looks at the next DT + 1 arrivals
/// together.
fn literal_density(arrivals: &[u64], threshold: u64) -> Vec<(i64, u64)> {
    let mut coming = arrivals.iter().copied();
    let (mut index, mut window, mut buffer) = (1u64, Vec::<u64>::new(), Vec::<u64>::new());
    let mut counts = std::collections::BTreeMap::new();
    let next =
        |index: u64, window: &Vec<u64>, buffer: &Vec<u64>, coming: &mut std::iter::Copied<std::slice::Iter<u64>>| {
            coming.find(|s| *s >= index && !window.contains(s) && !buffer.contains(s))
        };
    for _ in 0..=threshold {
        let new = next(index, &window, &buffer, &mut coming);
        window.extend(new);
    }
    while !window.is_empty() {
        if window.contains(&index) || buffer.contains(&index) {
            let seq = window.remove(0);
            let displacement = index as i64 - seq as i64;
            if displacement.unsigned_abs() <= threshold {
                *counts.entry(displacement).or_insert(0) += 1;
                buffer.retain(|s| *s != index);
                if displacement < 0 {
                    buffer.push(seq);
                }
                index += 1;
            }
            let new = next(index, &window, &buffer, &mut coming);
            window.extend(new);
        } else {
            let least = window.iter().chain(&buffer).min().copied().unwrap_or(0);
            index = if index < least { least } else { index + 1 };
        }
    }
    counts.into_iter().collect()
}

/// Returns the arrivals without duplicates: the first copy of each packet.
fn first_copies(arrivals: &[u64]) -> Vec<u64> {
    let mut seen = BTreeSet::new();
    arrivals.iter().copied().filter(|seq| seen.insert(*seq)).collect()
}

/// Returns buffer occupancies (RFC 5236 §5) and extents (RFC 4737 §4.2.2) by their definitions over the whole sequence
/// of arrivals. PRECONDITION: no packet is lost, or the threshold is never reached.
fn literal_occupancies_and_extents(arrivals: &[u64]) -> [Vec<(i64, u64)>; 2] {
    let unique = first_copies(arrivals);
    let (mut waiting, mut extents) = (std::collections::BTreeMap::new(), std::collections::BTreeMap::new());
    for (i, seq) in unique.iter().enumerate() {
        let here = &unique[..=i];
        let expected = (1..).find(|s| !here.contains(s)).unwrap_or(0);
        *waiting.entry(here.iter().filter(|s| **s > expected).count() as i64).or_insert(0) += 1;
        if let Some(j) = unique[..i].iter().position(|s| s > seq) {
            *extents.entry((i - j) as i64).or_insert(0) += 1;
        }
    }
    [waiting, extents].map(|counts| counts.into_iter().collect())
}

/// Returns a strategy for arrivals of `packets` packets with random swaps, losses and duplicates.
fn arrivals(packets: impl Into<SizeRange>) -> impl Strategy<Value = Vec<u64>> {
    // Delay of each copy of a packet: six of eight packets have one copy.
    let copies = prop_oneof![6 => vec(any::<Index>(), 1), 1 => vec(any::<Index>(), 2), 1 => Just(vec![])];
    (1..=12_usize, vec(copies, packets)).prop_map(|(reach, packets)| {
        let mut keyed: Vec<(u64, u64)> = Vec::new();
        for (seq, delays) in (1..).zip(packets) {
            keyed.extend(delays.iter().map(|delay| (seq + delay.index(reach) as u64, seq)));
        }
        keyed.sort_by_key(|(key, _)| *key);
        keyed.into_iter().map(|(_, seq)| seq).collect()
    })
}

#[test]
fn streams_match_the_literal_algorithms() {
    let mut reordered = 0;
    for_all(600, arrivals(0..=100), |arrivals| {
        // If the first copy of a packet counts as lost, the literal algorithm takes the second copy as new or not,
        // depending on its look-ahead. Small thresholds are thus compared for first copies only.
        let once = first_copies(&arrivals);
        for threshold in [1, 2, 3, 5, 8, 20, 100] {
            let found = displacements(&once, threshold);
            assert_eq!(found, literal_density(&once, u64::from(threshold)), "{once:?}, DT {threshold}");
        }
        assert_eq!(displacements(&arrivals, 100), literal_density(&arrivals, 100), "{arrivals:?}");
        let [occupied, extent] = literal_occupancies_and_extents(&arrivals);
        assert_eq!((buffer_occupancies(&arrivals, 1000), extents(&arrivals).0), (occupied, extent), "{arrivals:?}");
        reordered += count_arrivals(&arrivals, 100).extent.len();
    });
    assert!(reordered > 1000);
}

#[test]
fn memory_of_a_stream_is_bounded_by_the_threshold() {
    for_all(100, vec(arrivals(60), 1..=40), |rounds| {
        let (mut stream, mut tally) = (ArrivalStream::default(), ReorderCounts::default());
        let (last, threshold) = (rounds.len() as u64 - 1, 7u32);
        for (round, arrivals) in (0..).zip(rounds) {
            for seq in arrivals {
                stream.record_arrival(round * 61 + seq, true, threshold, &mut tally);
                let most = threshold as usize + 1;
                assert!(stream.density.window.len() <= most && stream.density.early.len() <= most);
                assert!(stream.occupancy.held.len() <= most && stream.extents.missing.len() <= 2 * most);
            }
        }
        assert!(stream.lowest_open_rank() + 100 > last * 61, "what is lost is passed by");
    });
}
