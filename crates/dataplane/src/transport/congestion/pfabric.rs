//! pFabric's rate control: slow start and additive increase up to a largest window, and nothing but the
//! timer ever cuts it (pFabric §4.3).

/// The slow start threshold after a timeout: half of the window, at least two segments. It is cut at each
/// timeout, that of one segment too.
pub(super) fn after_timeout(cwnd: u32, mss: u32) -> u32 {
    (cwnd / 2).max(2 * mss)
}
