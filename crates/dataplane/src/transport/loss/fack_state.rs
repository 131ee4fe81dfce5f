//! Loss recovery state that only Linux 2.6.38's sender has.

/// Loss recovery state of Linux 2.6.38's sender in addition to that of RACK-TLP.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::transport) struct Fack {
    /// True after reordering, which ends the use of forward acknowledgements (`tcp_disable_fack`).
    pub is_off: bool,
    /// Step of F-RTO (`frto_counter`): 0 is off, 1 waits for the first ACK, 2 and 3 for the second.
    /// Sending new data advances it from 2 to 3.
    pub frto: u8,
    /// End of the data sent before the timeout that F-RTO examines (`frto_highmark`); 0 without F-RTO.
    pub highmark: u64,
    /// Slow start threshold before the last cut (`prior_ssthresh`), in bytes; `None` if ECN-Echo forbids an undo.
    pub prior: Option<u32>,
    /// First byte of the current offload-sized piece of new data, and end of the written data at its last examination.
    pub piece_start: u64,
    pub written: u64,
    /// Tick of the last deferral of new data for a larger burst (`tso_deferred`).
    pub deferred: Option<u64>,
    /// Smoothed round-trip time and deviation of an earlier connection, used at the first sample; zeros for none.
    pub recalled: (u64, u64),
}
