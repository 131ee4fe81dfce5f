//! How far from what was reported a segment counts as lost, for all that ask so.

/// What IsLost() measures with (RFC 6675 §4).
#[derive(Clone, Copy, Debug)]
pub(in crate::transport) struct Reach {
    /// DupThresh; `None` while it is off, and nothing is ever lost.
    pub threshold: Option<u32>,
    /// SMSS, bytes.
    pub mss: u32,
}
