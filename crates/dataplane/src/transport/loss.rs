//! What is lost, from cumulative ACKs alone (RFC 5681 §3.2, RFC 6582).
//!
//! RFC 6582 takes its cautious side: duplicate ACKs below or at `recover` never start a fast
//! retransmit (§4.1; neither of the heuristics of §4 is built). `recover` is empty at the start,
//! where RFC 6582 says the initial sequence number, so that the very first segment can be
//! retransmitted fast. Before the window is cut it must be known *what* is lost; selective
//! acknowledgements would answer here with other ranges.

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
    /// Recovery is over: all that was outstanding at its start is acknowledged.
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

/// Duplicate ACKs and recovery of one sender.
#[derive(Clone, Copy, Debug, Default)]
pub struct LossDetection {
    /// One past the highest byte sent when the last recovery or timeout began; 0 before any.
    recover: u64,
    duplicates: u32,
    in_recovery: bool,
    partial_seen: bool,
}

impl LossDetection {
    /// New data is acknowledged, up to `una`.
    #[inline]
    pub fn on_ack(&mut self, una: u64) -> AckEvent {
        self.duplicates = 0;
        if !self.in_recovery {
            return AckEvent::Open;
        }
        if una >= self.recover {
            self.in_recovery = false;
            return AckEvent::Full;
        }
        let first = !self.partial_seen;
        self.partial_seen = true;
        AckEvent::Partial { first }
    }
    /// A duplicate ACK (RFC 5681 §2) of `una` while everything up to `sent` was sent.
    pub fn on_duplicate(&mut self, una: u64, sent: u64, threshold: Option<u32>) -> DuplicateEvent {
        let Some(threshold) = threshold else { return DuplicateEvent::Ignored };
        if self.in_recovery {
            return DuplicateEvent::More;
        }
        if self.recover != 0 && una <= self.recover {
            return DuplicateEvent::Ignored;
        }
        self.duplicates += 1;
        if self.duplicates < threshold {
            return DuplicateEvent::Early(self.duplicates);
        }
        *self = LossDetection { recover: sent, in_recovery: true, ..LossDetection::default() };
        DuplicateEvent::Lost
    }
    /// The retransmission timer expired while everything up to `sent` was sent (RFC 6582 §3.2 step 4).
    pub fn on_timeout(&mut self, sent: u64) {
        *self = LossDetection { recover: sent, ..LossDetection::default() };
    }
    /// Whether a loss is being recovered by fast retransmit.
    #[inline]
    pub fn in_recovery(&self) -> bool {
        self.in_recovery
    }
}
