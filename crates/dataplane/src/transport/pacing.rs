//! When the next segment may leave, besides the windows.

use units::Time;

/// A way to space segments. None of the transports here spaces them: a window's worth leaves
/// back to back, as RFC 5681 describes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pacing {
    /// As soon as the windows allow.
    #[default]
    Unpaced,
}

impl Pacing {
    /// Whether a segment may leave now.
    #[inline]
    pub fn ready(&self, _now: Time) -> bool {
        match self {
            Pacing::Unpaced => true,
        }
    }
    /// A segment of so many bytes has left.
    #[inline]
    pub fn on_sent(&mut self, _now: Time, _bytes: u32) {
        match self {
            Pacing::Unpaced => {}
        }
    }
    /// When the next segment may leave, if that is what the sender waits for.
    #[inline]
    pub fn deadline(&self) -> Time {
        match self {
            Pacing::Unpaced => Time::NEVER,
        }
    }
}
