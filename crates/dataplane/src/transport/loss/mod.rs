//! Loss detection: from duplicate ACKs alone (`duplicates`), or from selective acknowledgements (`scoreboard`).
//!
//! RFC 5681 (Reno) ends fast recovery with the first ACK of new data. Any threshold of duplicates starts it.
//! RFC 6582 (NewReno) goes on until `recover`, in its cautious variant: duplicate ACKs below or at `recover` never
//! start a fast retransmit (§4.1). The heuristics of §4 are not built. `recover` is empty at the start, where RFC 6582
//! has the initial sequence number, so that fast retransmit can repair the very first segment.
//! RFC 6675 (SACK) goes on until RecoveryPoint, and tracks which data has left the network.
//! RFC 8985 (RACK-TLP) keeps the time of every sending instead (`rack_tlp`). It reduces the window by RFC 9937 (`prr`),
//! and takes back spurious cuts (`undo`).
//! CP learns of losses from PACKs (`packs`), and uses the state of RACK-TLP.

mod counts;
mod duplicates;
mod fack;
mod fack_state;
mod is_lost_params;
mod linux;
mod packs;
mod prr;
mod rack;
mod rack_tlp;
mod scoreboard;
mod segments;
mod tlp;
mod undo;

use super::config::Recovery;
use crate::PacketExtension;
pub(super) use is_lost_params::IsLostParams;
pub(super) use packs::PackBlocks;
pub(super) use prr::Delivery;
pub(super) use rack::{DetectedLosses, ReorderingWindowParams};
pub(super) use rack_tlp::{AckInput, AckOutcome, Frto, Phase, RackTlp, TimerPurpose};
pub(super) use scoreboard::{NextSegment, Scoreboard, reports_duplicate};
pub(super) use tlp::{ProbeAck, Tlp};

/// Effect of an ACK of new data on a recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckEvent {
    /// No recovery was in progress.
    Open,
    /// Recovery continues, and the first unacknowledged byte is lost too (RFC 6582 §3.2 step 3).
    Partial {
        /// True for the first partial ACK of this recovery.
        first: bool,
    },
    /// Recovery continues, and the scoreboard chooses what to send (RFC 6675 §5 (B)).
    Ongoing,
    /// Recovery has ended (RFC 5681 §3.2 step 6, RFC 6582 §3.2 step 3, RFC 6675 §5 (A)).
    Full,
}

/// Effect of a duplicate ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DuplicateEvent {
    /// No effect of the duplicate ACK.
    Ignored,
    /// Number of the duplicate ACK, which is below the threshold.
    Early(u32),
    /// The duplicate ACK threshold is reached: the first unacknowledged byte is lost.
    Lost,
    /// Recovery continues, and one more segment has left the network.
    More,
}

/// Loss detection of one sender: duplicate ACKs, selective acknowledgements and recovery.
#[derive(Clone, Debug, Default)]
pub struct LossDetection {
    /// End of the data sent when the last recovery or timeout began, one past its highest byte; 0 before any.
    /// It is also RecoveryPoint of RFC 6675.
    recover: u64,
    /// Scoreboard of SACKed data; `None` before the first SACK, unless RACK-TLP is in use.
    state: Option<Box<Scoreboard>>,
    duplicates: u32,
    in_recovery: bool,
    partial_seen: bool,
    /// True if there is a duplicate ACK, a recovery, SACKed data, or data to resend after a timeout.
    busy: bool,
    /// Number of consecutive timeouts for the first unacknowledged byte or the SYN; 255 means 255 or more.
    pub(super) expiries: u8,
}

impl LossDetection {
    /// Returns true if there is no duplicate ACK, recovery, SACKed data or data to resend.
    /// An ACK of new data then has no effect here, and the sender takes a shorter path.
    #[inline]
    pub(super) fn has_no_loss_state(&self) -> bool {
        !self.busy
    }
    /// Processes an ACK of new data up to `una`.
    pub(super) fn on_ack(&mut self, una: u64, recovery: Recovery) -> AckEvent {
        self.duplicates = 0;
        if let Some(state) = &mut self.state {
            state.advance(una);
        }
        let event = self.on_ack_in_recovery(una, recovery);
        self.busy = self.in_recovery || una < self.recover || self.state.as_ref().is_some_and(|b| b.sacked() > 0);
        event
    }
    fn on_ack_in_recovery(&mut self, una: u64, recovery: Recovery) -> AckEvent {
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
    /// Adds the SACK blocks of an ACK of everything before `ack` to the scoreboard (RFC 6675 §4, Update()).
    /// All data before `una` is acknowledged, and data up to `sent` was sent. Returns true if any byte is newly SACKed,
    /// which makes the ACK a duplicate in the sense of RFC 6675 §2.
    pub(super) fn on_blocks(&mut self, ext: &PacketExtension, ack: u64, una: u64, sent: u64) -> bool {
        let blocks = &ext.sack[..usize::from(ext.blocks).min(ext.sack.len())];
        let new = !blocks.is_empty() && self.state.get_or_insert_default().update(blocks, ack, una, sent);
        self.busy |= new;
        new
    }
    /// Processes an ACK with newly SACKed data (RFC 6675 §5, before step 1).
    pub(super) fn on_sacked(&mut self, una: u64, reach: IsLostParams) -> DuplicateEvent {
        let (Some(state), Some(threshold)) = (&self.state, reach.threshold) else { return DuplicateEvent::Ignored };
        if self.in_recovery {
            return DuplicateEvent::More;
        }
        // RFC 6675 §5.1: after a timeout no recovery begins before RecoveryPoint is reached.
        if una < self.recover {
            return DuplicateEvent::Ignored;
        }
        self.duplicates += 1;
        if self.duplicates < threshold && state.lost_below(reach) <= una {
            return DuplicateEvent::Early(self.duplicates);
        }
        DuplicateEvent::Lost
    }
    /// Begins a fast recovery with recovery point `sent`, the end of the data sent so far.
    /// `first` is the end of the first retransmission (RFC 6675 §5 (4.1), (4.3); RFC 6582 §3.2 step 2).
    pub(super) fn begin_recovery(&mut self, sent: u64, first: u64) {
        self.recover = sent;
        self.busy = true;
        self.in_recovery = true;
        self.partial_seen = false;
        self.duplicates = 0;
        if let Some(state) = &mut self.state {
            state.begin_recovery(first);
        }
    }
    /// Resets loss detection at a timeout, with data from `una` to `sent` outstanding.
    /// See RFC 6582 §3.2 step 4 and RFC 6675 §5.1. SACKed data stays on the scoreboard, which RFC 6675 §5.1 allows if
    /// reneging is detected. The first byte is sent again even if it was SACKed (RFC 2018 §8).
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
    /// SACKed bytes beyond `una` that need not be sent again after a timeout; 0 at other times.
    /// With `always`, SACKed bytes count at any time outside a recovery.
    pub(super) fn bytes_not_to_resend(&self, una: u64, always: bool) -> u32 {
        match &self.state {
            Some(state) if !self.in_recovery && (always || una < self.recover) => state.sacked(),
            _ => 0,
        }
    }
    /// Scoreboard of SACKed data, if there is one.
    pub(super) fn scoreboard(&self) -> Option<&Scoreboard> {
        self.state.as_deref()
    }
    pub(super) fn scoreboard_mut(&mut self) -> Option<&mut Scoreboard> {
        self.state.as_deref_mut()
    }
    /// End of the data sent when the last recovery or timeout began, one past its highest byte.
    pub(super) fn recovery_point(&self) -> u64 {
        self.recover
    }
    /// State of a sender that detects losses by time.
    pub(super) fn rack_tlp(&self) -> Option<&RackTlp> {
        self.state.as_ref()?.timed.as_deref()
    }
    /// Takes out the state of a sender that detects losses by time, until it is put back; creates it at the first call.
    pub(super) fn take_rack_tlp(&mut self) -> Box<RackTlp> {
        self.state.get_or_insert_default().timed.take().unwrap_or_default()
    }
    pub(super) fn put_rack_tlp(&mut self, timed: Box<RackTlp>) {
        self.state.get_or_insert_default().timed = Some(timed);
    }
    /// Sets the number of SACKed bytes.
    pub(super) fn set_sacked_bytes(&mut self, bytes: u64) {
        if let Some(state) = &mut self.state {
            state.set_sacked(bytes);
        }
    }
    /// Sets the recovery point to `sent`, the end of the data sent so far.
    pub(super) fn set_recovery_point(&mut self, sent: u64) {
        self.recover = sent;
    }
    /// Ends the fast recovery in progress, complete or not.
    pub(super) fn leave_recovery(&mut self) {
        self.in_recovery = false;
    }
    /// Returns true during fast recovery.
    #[inline]
    pub fn in_recovery(&self) -> bool {
        self.in_recovery
    }
}
