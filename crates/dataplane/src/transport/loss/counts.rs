//! Counters of a sender like Linux's beside those of RACK-TLP.

/// Counters beside RFC 8985's, in segments.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::transport) struct Counts {
    /// Segments that were delivered.
    pub(super) delivered: u32,
    /// Degree of reordering beyond DupThresh; 0 before any was seen.
    pub(super) degree: u32,
    /// Duplicates that were reported.
    pub(super) duplicates: u32,
    /// A reported duplicate is to widen RACK's window.
    pub(super) widens: bool,
    /// Segments that had been delivered when one widened it last.
    pub(super) widened: u32,
    /// Last-sent segment among those that the last ACK delivered, and the number of segments delivered when it was sent.
    pub(super) newest: Option<(units::Time, u64, u32)>,
}

impl Counts {
    /// Segments delivered so far, the SYN among them.
    pub fn sent_at(&self) -> u32 {
        self.delivered + 1
    }
}
