//! Reno, NewReno, SACK: a mark halves the window, as a loss does (RFC 3168 §6.1.2).

/// The window after a mark, before the floor.
pub(super) fn after_mark(cwnd: u32) -> u32 {
    cwnd / 2
}
