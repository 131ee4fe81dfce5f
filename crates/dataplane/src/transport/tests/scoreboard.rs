//! Tests of the scoreboard against the functions of RFC 6675 §4, written octet by octet as in the RFC.

use crate::transport::loss::{IsLostParams, NextSegment, Scoreboard};
use property::for_all;
use proptest::collection::vec;
use proptest::prelude::{Strategy, any};
use proptest::sample::Index;

const MSS: u32 = 5;

/// Scoreboard of single octets, with the names and numbers of the RFC: the last octet, not one past it.
struct Octets {
    /// True for each octet, from 1, that was SACKed.
    sacked: Vec<bool>,
    high_ack: u64,
    high_data: u64,
    high_rxt: u64,
    rescue_rxt: u64,
    threshold: u64,
}

impl Octets {
    fn is_lost(&self, seq: u64) -> bool {
        let above: Vec<bool> = (seq + 1..=self.high_data).map(|i| self.sacked[i as usize]).collect();
        let octets = above.iter().filter(|s| **s).count() as u64;
        let pieces = above.iter().zip([false].iter().chain(&above)).filter(|(now, before)| **now && !**before).count();
        pieces as u64 >= self.threshold || octets > (self.threshold - 1) * u64::from(MSS)
    }
    fn unsacked(&self) -> impl DoubleEndedIterator<Item = u64> {
        (self.high_ack + 1..=self.high_data).filter(|i| !self.sacked[*i as usize])
    }
    fn pipe(&self) -> u64 {
        self.unsacked().map(|s1| u64::from(!self.is_lost(s1)) + u64::from(s1 <= self.high_rxt)).sum()
    }
    /// Returns the unacknowledged part of the segment of up to SMSS octets that starts at `s`.
    fn segment(&self, s: u64) -> (u64, u64) {
        let len = (s..=self.high_data).take_while(|i| !self.sacked[*i as usize]).take(MSS as usize).count();
        (s, len as u64)
    }
    fn next(&self, new: bool) -> Option<(u8, u64, u64)> {
        let highest = (1..=self.high_data).rev().find(|i| self.sacked[*i as usize]).unwrap_or(0);
        let s3 = self.unsacked().find(|s| *s > self.high_rxt && *s < highest);
        if let Some(s2) = s3.filter(|s| self.is_lost(*s)) {
            let (s, len) = self.segment(s2);
            return Some((1, s, len));
        }
        if new {
            return Some((2, 0, 0));
        }
        if let Some((s, len)) = s3.map(|s| self.segment(s)) {
            return Some((1, s, len));
        }
        let last = self.unsacked().next_back().filter(|_| self.high_ack > self.rescue_rxt)?;
        let piece = self.unsacked().rev().zip(0..).take_while(|(s, n)| *s == last - n).take(MSS as usize).count();
        Some((4, last + 1 - piece as u64, piece as u64))
    }
}

/// State before the first ACK.
#[derive(Clone, Debug)]
struct Start {
    threshold: u64,
    sent: u64,
    /// Number of octets that were retransmitted when recovery began.
    first: u64,
}

/// SACK of some octets, an acknowledgement at times, and the next transmission.
#[derive(Clone, Debug)]
struct Round {
    sacked: Index,
    /// Number of SACKed octets, if all of them were sent.
    octets: u64,
    acked: Option<u64>,
    is_data_left: bool,
}

fn any_start() -> impl Strategy<Value = Start> {
    (1..=4_u64, 30..90_u64, 1..=u64::from(MSS)).prop_map(|(threshold, sent, first)| Start { threshold, sent, first })
}

fn any_round() -> impl Strategy<Value = Round> {
    let acked = proptest::option::weighted(0.25, 1..=4_u64);
    let is_data_left = proptest::bool::weighted(1.0 / 3.0);
    (any::<Index>(), 1..=8_u64, acked, is_data_left).prop_map(|(sacked, octets, acked, is_data_left)| Round {
        sacked,
        octets,
        acked,
        is_data_left,
    })
}

/// Plays a sequence of SACKs, retransmissions and acknowledgements, and counts how often each rule applied.
fn play(Start { threshold, mut sent, first }: Start, rounds: &[Round], met: &mut [u32; 3]) {
    let mut una = 0u64;
    let reach = IsLostParams { threshold: Some(threshold as u32), mss: MSS };
    let mut state = Scoreboard::default();
    let mut octets =
        Octets { sacked: vec![false; 600], high_ack: 0, high_data: sent, high_rxt: 0, rescue_rxt: 0, threshold };
    state.begin_recovery(first);
    (octets.high_rxt, octets.rescue_rxt) = (first, first);
    for round in rounds {
        let start = una + 1 + round.sacked.index((sent - una) as usize) as u64;
        let end = (start + round.octets).min(sent);
        let before = octets.sacked.clone();
        octets.sacked[(start + 1) as usize..=end as usize].iter_mut().for_each(|s| *s = true);
        let new = state.update(&[(start as u32, end as u32)], una, una, sent);
        assert_eq!(new, octets.sacked != before);
        if let Some(acked) = round.acked.filter(|_| una + 10 < sent) {
            una += acked;
            octets.high_ack = una;
            // An ACK that stops at SACKed data means reneging: RFC 2018 §8.
            let gone = if octets.sacked[una as usize + 1] { octets.sacked.len() } else { una as usize + 1 };
            octets.sacked[..gone].iter_mut().for_each(|s| *s = false);
            state.advance(una);
        }
        assert_eq!(state.sacked() as usize, octets.sacked.iter().filter(|s| **s).count());
        assert_eq!(state.pipe(una, sent, reach), octets.pipe());
        assert!(octets.unsacked().all(|s| (s - 1 < state.lost_below(reach)) == octets.is_lost(s)));
        let got = state.next_segment(una..sent, round.is_data_left, reach);
        let want = octets.next(round.is_data_left);
        match (got, want) {
            (None, None) => {}
            (Some(NextSegment::New), Some((2, ..))) => {
                sent += u64::from(MSS);
                octets.high_data = sent;
                met[1] += 1;
            }
            (Some(NextSegment::Again(start, len)), Some((1, s, n))) => {
                assert_eq!((start + 1, u64::from(len)), (s, n));
                state.on_retransmitted(start + n);
                octets.high_rxt = s + n - 1;
                met[0] += 1;
            }
            (Some(NextSegment::Rescue(start, len)), Some((4, s, n))) => {
                assert_eq!((start + 1, u64::from(len)), (s, n));
                state.on_rescued(sent);
                octets.rescue_rxt = sent;
                met[2] += 1;
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn the_scoreboard_answers_as_rfc_6675_does_octet_by_octet() {
    let mut met = [0; 3];
    for_all(400, (any_start(), vec(any_round(), 1..=80)), |(start, rounds)| play(start, &rounds, &mut met));
    assert!(met.iter().all(|n| *n > 50), "{met:?}");
}
