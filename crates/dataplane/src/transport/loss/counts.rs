//! Counters of delivered and duplicate segments, which Linux senders need in addition to RACK-TLP.

/// Counters of a Linux sender in segments, in addition to the state of RFC 8985.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::transport) struct Counts {
    /// Number of segments delivered, as Linux counts them (`tp->delivered`).
    pub(super) delivered: u32,
    /// Observed degree of reordering in segments, which counts if above DupThresh; 0 before any reordering.
    pub(super) degree: u32,
    /// Number of duplicate segments that DSACKs reported.
    pub(super) duplicates: u32,
    /// True if a DSACK will widen RACK's reordering window at its next update.
    pub(super) widens: bool,
    /// Number of segments delivered when a DSACK last widened RACK's reordering window.
    pub(super) widened: u32,
    /// Last-sent segment among those that the last ACK delivered: send time, end, and delivered count at that time.
    pub(super) newest: Option<(units::Time, u64, u32)>,
}

impl Counts {
    /// Returns the number of segments delivered so far, the SYN included, as a stamp for segments sent now.
    pub fn delivered_stamp(&self) -> u32 {
        self.delivered + 1
    }
}
