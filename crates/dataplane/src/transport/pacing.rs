//! When the next segment may leave, besides the windows.

/// A way to space segments. Unless it is unpaced, a segment that the windows allow leaves when the NIC asks for it,
/// which also has the rate of the flow. What answers to a loss is made at once: a fast retransmission, a SYN,
/// limited transmit and probes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pacing {
    /// As soon as the windows allow: a window's worth leaves back to back, as RFC 5681 describes it.
    #[default]
    Unpaced,
    /// When the NIC asks for it.
    Pulled,
    /// The NIC asks for one now.
    Granted,
    /// One was ready and the NIC has not asked for it.
    Waiting,
}

impl Pacing {
    /// Whether a segment that the windows allow may leave now.
    #[inline]
    pub fn ready(&mut self) -> bool {
        if *self == Pacing::Pulled {
            *self = Pacing::Waiting;
        }
        matches!(self, Pacing::Unpaced | Pacing::Granted)
    }
    /// A segment has left.
    #[inline]
    pub fn on_sent(&mut self) {
        if *self == Pacing::Granted {
            *self = Pacing::Pulled;
        }
    }
    /// Whether a segment waits for the NIC.
    #[inline]
    pub fn waits(self) -> bool {
        self == Pacing::Waiting
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nic_gets_one_segment_each_time_it_asks_and_knows_whether_another_waits() {
        let mut pacing = Pacing::Pulled;
        assert!(!pacing.waits() && !pacing.ready() && pacing.waits());
        pacing = Pacing::Granted;
        assert!(!pacing.waits() && pacing.ready());
        pacing.on_sent();
        assert!(!pacing.waits() && !pacing.ready() && pacing.waits(), "the second has to wait");
        pacing.on_sent();
        assert!(pacing.waits(), "what was made at once is not the one that waits");
    }

    #[test]
    fn without_a_nic_that_asks_all_may_leave() {
        let mut pacing = Pacing::default();
        pacing.on_sent();
        assert!(pacing.ready() && !pacing.waits());
    }
}
