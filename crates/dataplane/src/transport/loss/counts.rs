//! Counters of a Linux sender beside those of RACK-TLP.

/// Counters beside RFC 8985's, in segments.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::transport) struct Counts {
    /// Number of segments delivered.
    pub(super) delivered: u32,
    /// Degree of reordering beyond DupThresh; 0 before any reordering.
    pub(super) degree: u32,
    /// Number of duplicate segments that DSACKs reported.
    pub(super) duplicates: u32,
    /// True if a DSACK is to widen RACK's window.
    pub(super) widens: bool,
    /// Number of segments delivered when a DSACK last widened the window.
    pub(super) widened: u32,
    /// Last-sent segment among those that the last ACK delivered, and the delivered count when it was sent.
    pub(super) newest: Option<(units::Time, u64, u32)>,
}

impl Counts {
    /// Segments delivered so far, the SYN among them.
    pub fn sent_at(&self) -> u32 {
        self.delivered + 1
    }
}
