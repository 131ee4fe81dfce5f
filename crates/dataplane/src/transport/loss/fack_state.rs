//! State of a sender with forward acknowledgements (Linux 2.6.38) that segments do not hold.

/// State of Linux 2.6.38's sender beside that of RACK-TLP.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::transport) struct Fack {
    /// Reordering was seen, which ends the use of forward acknowledgements (`tcp_disable_fack`).
    pub is_off: bool,
    /// Step of F-RTO (`frto_counter`): 0 is off, 1 waits for the first ACK, 2 for the second, 3 likewise with new data sent.
    pub frto: u8,
    /// One past the highest byte sent before the timeout that F-RTO is about (`frto_highmark`); 0 for none.
    pub highmark: u64,
    /// Threshold before the last cut (`prior_ssthresh`), bytes; `None` where an echo of congestion forbids its return.
    pub prior: Option<u32>,
    /// First byte of the piece of new data that is being sent, and one past the last byte written when that was looked at.
    pub piece_start: u64,
    pub written: u64,
    /// Tick in which new data was held back for a larger burst (`tso_deferred`).
    pub deferred: Option<u64>,
    /// Smoothed round-trip time and deviation of an earlier connection, for the first sample; zeros for none.
    pub recalled: (u64, u64),
}
