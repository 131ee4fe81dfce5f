//! Used and available capacity of a queue.

/// Used capacity of a queue, in the unit of its limit. The frame in transmission does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    /// Queued packets or bytes.
    pub used: u64,
    /// Limit at this instant, in packets or bytes; `None` if the queue is unlimited.
    pub limit: Option<u64>,
}
