//! What a sender keeps that finds losses by time (RFC 8985), and how it takes in what an ACK says.

use super::counts::Counts;
use super::fack_state::Fack;
use super::prr::Prr;
use super::rack::Rack;
use super::segments::{Segments, Sent, Tags};
use super::tlp::Tlp;
use super::undo::Undo;
use crate::transport::kernel::SackRules;
use crate::transport::linux_pacing::Pace;
use crate::transport::rto::Spread;
use crate::transport::rtt_ticks::RttTicks;
use crate::transport::{clock, unwrap};
use core::ops::Range;
use units::{Dur, Time};

/// What a sender does about losses.
///
/// In the order of Linux's states; `Disorder` and `Reducing` are those of its senders alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::transport) enum Phase {
    /// Nothing is being recovered.
    #[default]
    Open,
    /// Segments were reported or sent again, and none is lost (`TCP_CA_Disorder`).
    Disorder,
    /// The window is reduced because of a mark (`TCP_CA_CWR`).
    Reducing,
    /// Fast recovery.
    Recovery,
    /// Recovery after a timeout.
    Loss { frto: Frto },
}

/// Whether it is asked if a timeout had a reason (RFC 5682).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::transport) enum Frto {
    Off,
    Asked,
    /// New data is to answer that: it goes before what is lost.
    New,
}

/// What the one timer is set for (RFC 8985 §8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::transport) enum Awaited {
    #[default]
    Retransmission,
    Probe,
    Reordering,
}

/// RACK-TLP of one sender.
#[derive(Clone, Debug, Default)]
pub(in crate::transport) struct RackTlp {
    pub segments: Segments,
    pub rack: Rack,
    pub tlp: Tlp,
    pub prr: Prr,
    pub undo: Undo,
    pub phase: Phase,
    pub awaited: Awaited,
    /// The first retransmission of a recovery leaves whatever is under way (RFC 6675 §5 (4.3)).
    pub at_once: bool,
    pub spread: Spread,
    pub dsacks: u32,
    /// PACKs that have come.
    pub packs: u32,
    /// New data that leave as one burst.
    pub burst: Range<u64>,
    /// The congestion window was what limited the sender when it last had new data.
    pub limited: bool,
    pub pace: Pace,
    /// When something was sent again last.
    pub again_at: Option<Time>,
    /// Bytes that were not acknowledged after the last ACK.
    pub outstanding: u64,
    /// Linux's own counters.
    pub counts: Counts,
    /// State of Linux 2.6.38's sender, and its round-trip estimate.
    pub fack: Fack,
    pub ticks: RttTicks,
}

/// An ACK, and where the sender stands as it comes.
#[derive(Clone, Copy, Debug)]
pub(in crate::transport) struct Heard<'a> {
    pub now: Time,
    /// Everything before is acknowledged by it.
    pub ack: u64,
    /// Everything before is acknowledged, and was sent.
    pub una: u64,
    pub sent: u64,
    /// One past the highest byte sent when the last recovery began.
    pub recover: u64,
    pub mss: u32,
    pub blocks: &'a [(u32, u32)],
    /// The first of them reports a duplicate (RFC 2883 §4).
    pub duplicate: bool,
    /// Its echoed timestamp, and how long a tick is.
    pub echo: Option<(u32, Dur)>,
    /// Segments that were sent again.
    pub again: u32,
    /// Rules of the sender's kernel.
    pub rules: SackRules,
}

/// What an ACK has told.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::transport) struct Told {
    /// Bytes newly acknowledged or reported: DeliveredData of RFC 9937.
    pub delivered: u64,
    /// Whether bytes were newly reported.
    pub reported: bool,
    /// Data that was sent once, before the recovery began, has arrived.
    pub original: bool,
    /// A duplicate was reported.
    pub duplicate: bool,
    /// That of a probe.
    pub probe_twice: bool,
    /// The round-trip time by what was sent once and was acknowledged first, or else was reported first.
    pub rtt: Option<Dur>,
    /// The same by what was reported last, or else was acknowledged last.
    pub last_rtt: Option<Dur>,
    /// The shortest of what was sent once.
    pub least_rtt: Option<Dur>,
    /// When what was reported first was sent.
    pub reported_at: Option<Time>,
    /// Bytes of which a PACK says that they were lost, which was not known; how long ago they were sent, where that was once.
    pub packed: u64,
    pub packed_rtt: Option<Dur>,
    /// Segments newly acknowledged or reported, and duplicates reported, as Linux counts what was delivered.
    pub segments: u32,
    /// Those of them that blocks tell of.
    pub by_blocks: u32,
    /// Segments cumulatively acknowledged; when the first and the last of them were sent, of those sent once and not reported.
    pub acked: u32,
    pub acked_at: Option<(Time, Time)>,
    /// One of them was sent more than once.
    pub again_acked: bool,
    /// When what was reported last was sent.
    pub last_reported_at: Option<Time>,
    /// True if the ACK covers a retransmitted segment other than its first.
    pub later_again_acked: bool,
    /// True if a SACK reports data sent once, before the timeout that F-RTO examines.
    pub original_reported: bool,
    /// Highest end of a SACK block; 0 without blocks.
    pub highest_block: u64,
}

impl RackTlp {
    /// Takes in blocks and the cumulative ACK: what has arrived by them (RFC 8985 §6.2 steps 1 to 4).
    pub fn hear(&mut self, of: &Heard) -> Told {
        let mut told = Told::default();
        let mut blocks = of.blocks;
        if of.duplicate {
            self.on_duplicate(&blocks[0], of, &mut told);
            blocks = &blocks[1..];
        }
        let fack = self.rack.fack();
        let (mut oldest_acked, mut last_acked, mut last_reported) = (None, None, None);
        let mut again_acked = false;
        let RackTlp { segments, rack, .. } = self;
        let mut arrive = |s: &Sent, is_acked: bool, told: &mut Told| {
            told.delivered += s.len();
            rack.order(s, fack);
            // While a gap is open, the echo is that of what came in order before: it says nothing of what is
            // reported, and Linux does not ask it there.
            let is_older = |(echo, tick)| clock::older(echo, clock::ticks_of(s.at, tick));
            let of_last = !is_acked || !of.echo.is_some_and(is_older);
            rack.arrived(s, of.now, of_last);
            if !s.tags.has(Tags::RETRANSMITTED) {
                told.original |= s.end <= of.recover;
                let rtt = of.now.since(s.at);
                told.least_rtt = Some(told.least_rtt.map_or(rtt, |least| least.min(rtt)));
            }
        };
        let range = |b: &(u32, u32)| Some(unwrap(b.0, of.ack)?..unwrap(b.1, of.ack)?);
        for block in blocks.iter().filter_map(range).filter(|b| b.end <= of.sent) {
            segments.report(block.start.max(of.una)..block.end, |s| {
                arrive(s, false, &mut told);
                told.reported = true;
                if !s.tags.has(Tags::RETRANSMITTED) {
                    told.reported_at = Some(told.reported_at.map_or(s.at, |at| at.min(s.at)));
                    last_reported = Some(s.at);
                }
            });
        }
        if of.ack > of.una {
            segments.acknowledge(of.ack, |s| {
                if s.tags.has(Tags::REPORTED) {
                    return;
                }
                arrive(s, true, &mut told);
                match s.tags.has(Tags::RETRANSMITTED) {
                    true => again_acked = true,
                    false => {
                        oldest_acked = Some(oldest_acked.map_or(s.at, |at: Time| at.min(s.at)));
                        last_acked = Some(s.at);
                    }
                }
            });
            segments.forget_if_reneged();
        }
        let since = |at| of.now.since(at);
        told.rtt = oldest_acked.filter(|_| !again_acked).or(told.reported_at).map(since);
        told.last_rtt = last_reported.or(last_acked.filter(|_| !again_acked)).map(since);
        told
    }

    /// A duplicate was reported (RFC 2883).
    fn on_duplicate(&mut self, block: &(u32, u32), of: &Heard, told: &mut Told) {
        self.dsacks += 1;
        told.duplicate = true;
        let (Some(start), Some(end)) = (unwrap(block.0, of.ack), unwrap(block.1, of.ack)) else { return };
        told.probe_twice = self.tlp.is_end(end);
        if !told.probe_twice {
            self.rack.on_duplicate(of.una.max(of.ack), of.sent);
        }
        // What is acknowledged is no longer known segment by segment.
        if end <= of.una || self.segments.was_repeated(&(start..end)) {
            let segments = end.saturating_sub(start).div_ceil(u64::from(of.mss)).max(1);
            self.undo.on_duplicate(segments as u32, end);
        }
    }

    /// A sample of the round-trip time.
    pub fn on_sample(&mut self, least: Dur) {
        self.tlp.on_sample();
        self.rack.sample(least);
    }
    /// Whether fast recovery or recovery after a timeout is under way.
    pub fn in_recovery(&self) -> bool {
        self.phase >= Phase::Recovery
    }
    /// Bytes under way.
    pub fn pipe(&self) -> u64 {
        self.segments.pipe()
    }
    /// New data was sent.
    pub fn on_sent(&mut self, range: Range<u64>, now: Time) {
        if matches!(self.phase, Phase::Recovery | Phase::Reducing) {
            self.prr.on_sent(range.end - range.start);
        }
        let stamp = self.counts.sent_at();
        self.segments.push(range, now, stamp);
    }
    /// A segment was sent again because it was lost, at this tick of the clock of timestamps.
    pub fn on_sent_again(&mut self, bytes: u64, ticks: u32) {
        if matches!(self.phase, Phase::Recovery | Phase::Reducing) {
            self.prr.on_sent(bytes);
        }
        self.undo.on_sent_again(ticks);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::kernel::Kernel;

    fn at(us: u64) -> Time {
        Time::ZERO + Dur::us(us)
    }

    /// Four segments, sent 10 us apart; what an ACK of so many bytes with these blocks tells 100 us after the first.
    fn acked(ack: u64, blocks: &[(u32, u32)]) -> Told {
        let mut rack = RackTlp::default();
        for n in 0..4 {
            rack.on_sent(n * 1000..(n + 1) * 1000, at(10 * n));
        }
        let (duplicate, echo, rules) = (false, None, Kernel::None.sack_rules(false, false));
        let of = Heard {
            now: at(100),
            ack,
            una: 0,
            sent: 4000,
            recover: 0,
            mss: 1000,
            blocks,
            duplicate,
            echo,
            again: 0,
            rules,
        };
        rack.hear(&of)
    }

    #[test]
    fn the_last_sample_is_of_what_was_reported_or_else_acknowledged_last() {
        let both = |told: Told| (told.rtt.map(|rtt| rtt.0), told.last_rtt.map(|rtt| rtt.0));
        assert_eq!(both(acked(2000, &[])), (Some(100_000_000), Some(90_000_000)));
        assert_eq!(both(acked(0, &[(2000, 4000)])), (Some(80_000_000), Some(70_000_000)));
        assert_eq!(both(acked(1000, &[(2000, 3000)])), (Some(100_000_000), Some(80_000_000)));
    }
}
