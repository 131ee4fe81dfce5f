//! Reaction of Reno, NewReno and SACK to a mark: it halves the window, as a loss does (RFC 3168 §6.1.2).

/// Returns half of the window, which remains after an ECN mark; the caller applies the lower limit.
pub(super) fn window_after_mark(cwnd: u32) -> u32 {
    cwnd / 2
}
