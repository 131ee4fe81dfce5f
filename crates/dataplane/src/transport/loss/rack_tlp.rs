//! State of a sender that detects losses by time (RFC 8985), and its processing of ACKs.

use super::counts::Counts;
use super::fack_state::Fack;
use super::prr::Prr;
use super::rack::Rack;
use super::segments::{SegmentTags, Segments, SentSegment};
use super::tlp::Tlp;
use super::undo::Undo;
use crate::transport::kernel::SackRules;
use crate::transport::linux_pacing::PacingState;
use crate::transport::rto::LinuxDeviation;
use crate::transport::rtt_ticks::RttTicks;
use crate::transport::{clock, unwrap_offset};
use core::ops::Range;
use units::{Dur, Time};

/// State of a sender's loss recovery, as `TCP_CA_Open` to `TCP_CA_Loss` in Linux.
///
/// The order is that of Linux's states. Only Linux senders use `Disorder` and `Reducing`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::transport) enum Phase {
    /// No recovery is in progress (`TCP_CA_Open`).
    #[default]
    Open,
    /// Segments were SACKed or sent again, and none is lost (`TCP_CA_Disorder`).
    Disorder,
    /// The window is reduced because of a mark (`TCP_CA_CWR`).
    Reducing,
    /// Fast recovery is in progress (`TCP_CA_Recovery`).
    Recovery,
    /// Recovery after a timeout is in progress (`TCP_CA_Loss`).
    Loss { frto: Frto },
}

/// Step of F-RTO, which detects spurious timeouts (RFC 5682).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::transport) enum Frto {
    Off,
    Asked,
    /// New data is to show if the timeout was spurious: it is sent before lost data.
    New,
}

/// Purpose for which a sender's single timer is set: retransmission, probe or reordering (RFC 8985 §8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::transport) enum TimerPurpose {
    #[default]
    Retransmission,
    Probe,
    Reordering,
}

/// Loss detection and recovery state of a sender that uses RACK-TLP (RFC 8985).
#[derive(Clone, Debug, Default)]
pub(in crate::transport) struct RackTlp {
    pub segments: Segments,
    pub rack: Rack,
    pub tlp: Tlp,
    pub prr: Prr,
    pub undo: Undo,
    pub phase: Phase,
    pub awaited: TimerPurpose,
    /// True if the next retransmission, the first of a recovery, leaves even if the window is full (RFC 6675 §5 (4.3)).
    pub ignores_window: bool,
    pub spread: LinuxDeviation,
    pub dsacks: u32,
    /// Number of PACKs (precise ACKs of Cut Payload) received.
    pub packs: u32,
    /// Range of new data that leaves as one burst.
    pub burst: Range<u64>,
    /// True if the congestion window limited the sender when it last had new data.
    pub limited: bool,
    pub pace: PacingState,
    /// Time of the last retransmission.
    pub last_retransmission_at: Option<Time>,
    /// Bytes without a cumulative ACK after the last ACK.
    pub outstanding: u64,
    /// Counters of delivered and duplicate segments, for Linux senders.
    pub counts: Counts,
    /// Loss recovery state that only Linux 2.6.38's sender has, and its round-trip estimate.
    pub fack: Fack,
    pub ticks: RttTicks,
}

/// Fields of an arriving ACK, and the sender state that its processing needs.
#[derive(Clone, Copy, Debug)]
pub(in crate::transport) struct AckInput<'a> {
    pub now: Time,
    /// Acknowledgement number: all bytes before it have arrived.
    pub ack: u64,
    /// SND.UNA before the ACK, and one past the highest byte sent.
    pub una: u64,
    pub sent: u64,
    /// End of the data sent when the last recovery began, one past its highest byte.
    pub recover: u64,
    pub mss: u32,
    pub blocks: &'a [(u32, u32)],
    /// True if the first SACK block is a DSACK (RFC 2883 §4).
    pub duplicate: bool,
    /// Echoed timestamp, and length of its tick.
    pub echo: Option<(u32, Dur)>,
    /// Number of retransmissions so far.
    pub retransmissions: u32,
    /// Rules for SACK blocks of the sender's Linux kernel.
    pub rules: SackRules,
}

/// Deliveries, round-trip samples and duplicates that an ACK has shown, after the list of segments was updated.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::transport) struct AckOutcome {
    /// DeliveredData of RFC 9937: bytes newly acknowledged or SACKed.
    pub delivered: u64,
    /// True if bytes were newly SACKed.
    pub reported: bool,
    /// True if data that was sent once, before the recovery began, has arrived.
    pub original: bool,
    /// True if the ACK carries a DSACK.
    pub duplicate: bool,
    /// True if the DSACK reports a tail loss probe.
    pub probe_twice: bool,
    /// Round-trip time by the first acknowledged segment that was sent once, else by the first SACKed one.
    pub rtt: Option<Dur>,
    /// Round-trip time by the last SACKed segment that was sent once, else by the last acknowledged one.
    pub last_rtt: Option<Dur>,
    /// Shortest round-trip time of segments that were sent once.
    pub least_rtt: Option<Dur>,
    /// Send time of the first newly SACKed segment, of those sent once.
    pub reported_at: Option<Time>,
    /// Bytes that a PACK newly reports as lost, and their age if they were sent only once.
    pub packed: u64,
    pub packed_rtt: Option<Dur>,
    /// Number of segments newly acknowledged, SACKed or reported by a DSACK, as Linux counts delivered segments.
    pub segments: u32,
    /// Number of delivered segments that SACK blocks report.
    pub by_blocks: u32,
    /// Number of segments cumulatively acknowledged.
    pub acked: u32,
    /// Send times of the first and the last acknowledged segment, of those sent once and not SACKed before.
    pub acked_at: Option<(Time, Time)>,
    /// True if any acknowledged segment was sent more than once.
    pub again_acked: bool,
    /// Send time of the last newly SACKed segment, of those sent once.
    pub last_reported_at: Option<Time>,
    /// True if the ACK acknowledges a retransmitted segment other than the first one that it acknowledges.
    pub later_again_acked: bool,
    /// True if a SACK reports data sent once, before the timeout that F-RTO examines.
    pub original_reported: bool,
    /// Highest end of a SACK block of the ACK; 0 without blocks.
    pub highest_block: u64,
}

impl RackTlp {
    /// Processes the SACK blocks and the acknowledgement number of an ACK, and records arrived segments.
    /// See RFC 8985 §6.2 steps 1 to 4.
    pub fn process_ack(&mut self, of: &AckInput) -> AckOutcome {
        let mut outcome = AckOutcome::default();
        let mut blocks = of.blocks;
        if of.duplicate {
            self.on_dsack(&blocks[0], of, &mut outcome);
            blocks = &blocks[1..];
        }
        let fack = self.rack.fack();
        let (mut oldest_acked, mut last_acked, mut last_reported) = (None, None, None);
        let mut again_acked = false;
        let RackTlp { segments, rack, .. } = self;
        let mut arrive = |s: &SentSegment, is_acked: bool, outcome: &mut AckOutcome| {
            outcome.delivered += s.len();
            rack.detect_reordering(s, fack);
            // While a gap is open, ACKs echo the timestamp of the data in order before the gap. This echo does not show
            // when a SACKed segment was sent, and Linux does not use it there.
            let is_older = |(echo, tick)| clock::is_older(echo, clock::tsval_with_tick(s.at, tick));
            let of_last = !is_acked || !of.echo.is_some_and(is_older);
            rack.on_arrived(s, of.now, of_last);
            if !s.tags.has(SegmentTags::RETRANSMITTED) {
                outcome.original |= s.end <= of.recover;
                let rtt = of.now.since(s.at);
                outcome.least_rtt = Some(outcome.least_rtt.map_or(rtt, |least| least.min(rtt)));
            }
        };
        let range = |b: &(u32, u32)| Some(unwrap_offset(b.0, of.ack)?..unwrap_offset(b.1, of.ack)?);
        for block in blocks.iter().filter_map(range).filter(|b| b.end <= of.sent) {
            segments.mark_range_sacked(block.start.max(of.una)..block.end, |s| {
                arrive(s, false, &mut outcome);
                outcome.reported = true;
                if !s.tags.has(SegmentTags::RETRANSMITTED) {
                    outcome.reported_at = Some(outcome.reported_at.map_or(s.at, |at| at.min(s.at)));
                    last_reported = Some(s.at);
                }
            });
        }
        if of.ack > of.una {
            segments.acknowledge(of.ack, |s| {
                if s.tags.has(SegmentTags::SACKED) {
                    return;
                }
                arrive(s, true, &mut outcome);
                match s.tags.has(SegmentTags::RETRANSMITTED) {
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
        outcome.rtt = oldest_acked.filter(|_| !again_acked).or(outcome.reported_at).map(since);
        outcome.last_rtt = last_reported.or(last_acked.filter(|_| !again_acked)).map(since);
        outcome
    }

    /// Processes a DSACK (RFC 2883): it may widen RACK's reordering window, or show a cut to be spurious.
    fn on_dsack(&mut self, block: &(u32, u32), of: &AckInput, outcome: &mut AckOutcome) {
        self.dsacks += 1;
        outcome.duplicate = true;
        let (Some(start), Some(end)) = (unwrap_offset(block.0, of.ack), unwrap_offset(block.1, of.ack)) else { return };
        outcome.probe_twice = self.tlp.is_repeated_probe_end(end);
        if !outcome.probe_twice {
            self.rack.on_dsack(of.una.max(of.ack), of.sent);
        }
        // Acknowledged data is no longer in the list of segments, so `was_retransmitted` cannot find it.
        if end <= of.una || self.segments.was_retransmitted(&(start..end)) {
            let segments = end.saturating_sub(start).div_ceil(u64::from(of.mss)).max(1);
            self.undo.on_dsack(segments as u32, end);
        }
    }

    /// Passes a round-trip sample to tail loss probes and to RACK's minimum round-trip time.
    pub fn on_rtt_sample(&mut self, least: Dur) {
        self.tlp.on_sample();
        self.rack.sample(least);
    }
    /// Returns true during fast recovery, or recovery after a timeout.
    pub fn in_recovery(&self) -> bool {
        self.phase >= Phase::Recovery
    }
    /// Bytes in flight: neither acknowledged nor SACKed, and not lost unless sent again.
    pub fn pipe(&self) -> u64 {
        self.segments.pipe()
    }
    /// Adds new data that was sent to the list of segments.
    pub fn on_sent(&mut self, range: Range<u64>, now: Time) {
        if matches!(self.phase, Phase::Recovery | Phase::Reducing) {
            self.prr.on_sent(range.end - range.start);
        }
        let stamp = self.counts.delivered_stamp();
        self.segments.push(range, now, stamp);
    }
    /// Records for PRR and undo that a lost segment was sent again, at this tick of the timestamp clock.
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

    /// Returns the outcome of an ACK that arrives 100 us after the first of four segments, which were sent 10 us apart.
    fn ack_after_100_us(ack: u64, blocks: &[(u32, u32)]) -> AckOutcome {
        let mut rack = RackTlp::default();
        for n in 0..4 {
            rack.on_sent(n * 1000..(n + 1) * 1000, at(10 * n));
        }
        let (duplicate, echo, rules) = (false, None, Kernel::None.sack_rules(false, false));
        let of = AckInput {
            now: at(100),
            ack,
            una: 0,
            sent: 4000,
            recover: 0,
            mss: 1000,
            blocks,
            duplicate,
            echo,
            retransmissions: 0,
            rules,
        };
        rack.process_ack(&of)
    }

    #[test]
    fn last_rtt_is_of_the_last_sacked_else_acknowledged_segment() {
        let both = |outcome: AckOutcome| (outcome.rtt.map(|rtt| rtt.0), outcome.last_rtt.map(|rtt| rtt.0));
        assert_eq!(both(ack_after_100_us(2000, &[])), (Some(100_000_000), Some(90_000_000)));
        assert_eq!(both(ack_after_100_us(0, &[(2000, 4000)])), (Some(80_000_000), Some(70_000_000)));
        assert_eq!(both(ack_after_100_us(1000, &[(2000, 3000)])), (Some(100_000_000), Some(80_000_000)));
    }
}
