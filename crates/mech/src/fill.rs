//! Used capacity and limit of a queue.

/// Used capacity and limit of a queue, in packets or bytes. The frame in transmission does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    /// Number of queued packets or bytes.
    pub used: u64,
    /// Limit of the queue at this instant, in packets or bytes; `None` if the queue is unlimited.
    pub limit: Option<u64>,
}
