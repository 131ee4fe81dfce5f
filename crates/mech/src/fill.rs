//! How much is used of what is limited.

/// How full a queue is, in the unit in which it is limited. The frame on the wire is not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    /// Packets or bytes that wait.
    pub used: u64,
    /// As many as may wait at this instant; `None` where nothing limits them.
    pub limit: Option<u64>,
}
