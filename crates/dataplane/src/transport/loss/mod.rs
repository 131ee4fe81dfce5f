//! What is lost: from duplicate ACKs alone (`duplicates`), or from selective acknowledgements
//! (`scoreboard`), one file each.
//!
//! RFC 5681 (Reno) ends fast recovery with the first ACK of new data and starts it with any
//! threshold of duplicates. RFC 6582 (NewReno) goes on until `recover` and takes its cautious side:
//! duplicate ACKs below or at `recover` never start a fast retransmit (§4.1; neither of the
//! heuristics of §4 is built). `recover` is empty at the start, where RFC 6582 says the initial
//! sequence number, so that the very first segment can be retransmitted fast. RFC 6675 (SACK) goes
//! on until RecoveryPoint and knows what has left the network. RFC 8985 (RACK-TLP) keeps the time of every
//! sending instead (`rack_tlp`), reduces the window by RFC 9937 (`prr`) and takes back what had no reason (`undo`). CP
//! hears of losses by PACKs (`packs`), and keeps what RACK-TLP keeps.

mod counts;
mod duplicates;
mod fack;
mod fack_state;
mod linux;
mod packs;
mod prr;
mod rack;
mod rack_tlp;
mod reach;
mod scoreboard;
mod segments;
mod tlp;
mod undo;

use super::config::Recovery;
use crate::Ext;
pub(super) use packs::Blocks;
pub(super) use prr::Delivery;
pub(super) use rack::{Detected, Settling};
pub(super) use rack_tlp::{Awaited, Frto, Heard, Phase, RackTlp, Told};
pub(super) use reach::Reach;
pub(super) use scoreboard::{Scoreboard, Segment, reports_duplicate};
pub(super) use tlp::{OfProbe, Tlp};

/// What an ACK of new data means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckEvent {
    /// Nothing was being recovered.
    Open,
    /// Recovery goes on: the first byte not acknowledged is lost too (RFC 6582 §3.2 step 3).
    Partial {
        /// Whether it is the first such ACK of this recovery.
        first: bool,
    },
    /// Recovery goes on, and the scoreboard says what is to be sent (RFC 6675 §5 (B)).
    Ongoing,
    /// Recovery is over (RFC 5681 §3.2 step 6, RFC 6582 §3.2 step 3, RFC 6675 §5 (A)).
    Full,
}

/// What a duplicate ACK means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DuplicateEvent {
    /// Nothing.
    Ignored,
    /// The n-th, below the threshold.
    Early(u32),
    /// The threshold is reached: the first byte not acknowledged is lost.
    Lost,
    /// Recovery goes on, and one more segment has left the network.
    More,
}

/// Duplicate ACKs, selective acknowledgements and recovery of one sender.
#[derive(Clone, Debug, Default)]
pub struct LossDetection {
    /// One past the highest byte sent when the last recovery or timeout began; 0 before any. It is
    /// RecoveryPoint of RFC 6675 too.
    recover: u64,
    /// What was selectively acknowledged; nothing before the first such ACK, but with RACK-TLP.
    state: Option<Box<Scoreboard>>,
    duplicates: u32,
    in_recovery: bool,
    partial_seen: bool,
    /// Something of this is in use, or the sender goes back after a timeout.
    busy: bool,
    /// How often in a row the timer has sent the first byte not acknowledged, or the SYN, again; 255 is
    /// that or more.
    pub(super) expiries: u8,
}

impl LossDetection {
    /// Whether there is no duplicate ACK, no recovery, nothing on the scoreboard and nothing to be
    /// sent again: an ACK of new data then has nothing to do here.
    #[inline]
    pub(super) fn is_quiet(&self) -> bool {
        !self.busy
    }
    /// New data is acknowledged, up to `una`.
    pub(super) fn on_ack(&mut self, una: u64, recovery: Recovery) -> AckEvent {
        self.duplicates = 0;
        if let Some(state) = &mut self.state {
            state.advance(una);
        }
        let event = self.of_recovery(una, recovery);
        self.busy = self.in_recovery || una < self.recover || self.state.as_ref().is_some_and(|b| b.sacked() > 0);
        event
    }
    fn of_recovery(&mut self, una: u64, recovery: Recovery) -> AckEvent {
        if !self.in_recovery {
            return AckEvent::Open;
        }
        if una >= self.recover || recovery == Recovery::Reno {
            self.in_recovery = false;
            return AckEvent::Full;
        }
        if recovery == Recovery::Sack {
            return AckEvent::Ongoing;
        }
        let first = !self.partial_seen;
        self.partial_seen = true;
        AckEvent::Partial { first }
    }
    /// RFC 6675 §4, Update(): takes in the blocks of an ACK of everything before `ack`, while
    /// everything before `una` is acknowledged and up to `sent` was sent. Whether any byte of them is new, which makes the ACK a
    /// duplicate in the sense of RFC 6675 §2.
    pub(super) fn on_blocks(&mut self, ext: &Ext, ack: u64, una: u64, sent: u64) -> bool {
        let blocks = &ext.sack[..usize::from(ext.blocks).min(ext.sack.len())];
        let new = !blocks.is_empty() && self.state.get_or_insert_default().update(blocks, ack, una, sent);
        self.busy |= new;
        new
    }
    /// An ACK with new selective acknowledgements came (RFC 6675 §5, before step 1).
    pub(super) fn on_sacked(&mut self, una: u64, reach: Reach) -> DuplicateEvent {
        let (Some(state), Some(threshold)) = (&self.state, reach.threshold) else { return DuplicateEvent::Ignored };
        if self.in_recovery {
            return DuplicateEvent::More;
        }
        // RFC 6675 §5.1: after a timeout none before RecoveryPoint is reached.
        if una < self.recover {
            return DuplicateEvent::Ignored;
        }
        self.duplicates += 1;
        if self.duplicates < threshold && state.lost_below(reach) <= una {
            return DuplicateEvent::Early(self.duplicates);
        }
        DuplicateEvent::Lost
    }
    /// Recovery begins while everything up to `sent` was sent, with `first` retransmitted: one past
    /// its highest byte (RFC 6675 §5 (4.1), (4.3); RFC 6582 §3.2 step 2).
    pub(super) fn recover(&mut self, sent: u64, first: u64) {
        self.recover = sent;
        self.busy = true;
        self.in_recovery = true;
        self.partial_seen = false;
        self.duplicates = 0;
        if let Some(state) = &mut self.state {
            state.enter(first);
        }
    }
    /// The retransmission timer expired while everything between `una` and `sent` was outstanding
    /// (RFC 6582 §3.2 step 4, RFC 6675 §5.1). What was selectively acknowledged is kept, as RFC 6675
    /// §5.1 allows where reneging is tested for; the first byte is sent again whatever was reported
    /// of it (RFC 2018 §8).
    pub(super) fn on_timeout(&mut self, una: u64, sent: u64) {
        self.recover = sent;
        self.busy = true;
        self.in_recovery = false;
        self.partial_seen = false;
        self.duplicates = 0;
        if let Some(state) = &mut self.state {
            state.forget_if_reneged(una);
        }
    }
    /// Bytes beyond `una` that need not be sent again after a timeout; 0 at other times, unless what was
    /// reported counts as arrived `always`.
    pub(super) fn spared(&self, una: u64, always: bool) -> u32 {
        match &self.state {
            Some(state) if !self.in_recovery && (always || una < self.recover) => state.sacked(),
            _ => 0,
        }
    }
    /// The scoreboard, where there is one.
    pub(super) fn state(&self) -> Option<&Scoreboard> {
        self.state.as_deref()
    }
    pub(super) fn board_mut(&mut self) -> Option<&mut Scoreboard> {
        self.state.as_deref_mut()
    }
    /// One past the highest byte sent when the recovery or timeout began.
    pub(super) fn recovery_point(&self) -> u64 {
        self.recover
    }
    /// What is kept to find losses by time.
    pub(super) fn timed(&self) -> Option<&RackTlp> {
        self.state.as_ref()?.timed.as_deref()
    }
    /// The same, taken out until it is put back; new at first.
    pub(super) fn take_timed(&mut self) -> Box<RackTlp> {
        self.state.get_or_insert_default().timed.take().unwrap_or_default()
    }
    pub(super) fn put_timed(&mut self, timed: Box<RackTlp>) {
        self.state.get_or_insert_default().timed = Some(timed);
    }
    /// So many bytes are known to have been reported.
    pub(super) fn on_reported(&mut self, bytes: u64) {
        if let Some(state) = &mut self.state {
            state.set_sacked(bytes);
        }
    }
    /// A recovery lasts until what was sent up to here is acknowledged.
    pub(super) fn recover_until(&mut self, sent: u64) {
        self.recover = sent;
    }
    /// Recovery is over, or is no more.
    pub(super) fn leave_recovery(&mut self) {
        self.in_recovery = false;
    }
    /// Whether a loss is being recovered by fast retransmit.
    #[inline]
    pub fn in_recovery(&self) -> bool {
        self.in_recovery
    }
}
