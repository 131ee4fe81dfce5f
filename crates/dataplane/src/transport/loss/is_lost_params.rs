//! Parameters of IsLost() (RFC 6675 §4): how far below SACKed data a segment counts as lost.

/// Parameters of IsLost() (RFC 6675 §4).
#[derive(Clone, Copy, Debug)]
pub(in crate::transport) struct IsLostParams {
    /// DupThresh; `None` if it is off, in which case no segment counts as lost.
    pub threshold: Option<u32>,
    /// SMSS: largest segment in bytes.
    pub mss: u32,
}
