//! pFabric's rate control (pFabric §4.3).
//!
//! Slow start and additive increase up to a largest window. Only the timer cuts the window.

/// Returns the slow start threshold after a timeout: half of the window, at least two segments.
/// Every timeout cuts it, that of the same segment again too.
pub(super) fn threshold_after_timeout(cwnd: u32, mss: u32) -> u32 {
    (cwnd / 2).max(2 * mss)
}
