//! Release of segments to the NIC: immediately if the windows allow them, or when the NIC requests one.

/// Release of segments that the windows allow: immediately, or one at a time when the NIC requests it.
/// The NIC enforces the rate of a flow by when it pulls. Packets that react to a loss do not wait for it: fast
/// retransmits, SYNs, limited transmit and probes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pacing {
    /// Immediate release: a window's worth leaves back to back, as RFC 5681 describes it.
    #[default]
    Unpaced,
    /// Release only when the NIC requests a segment.
    Pulled,
    /// Release of one segment that the NIC is requesting now.
    Granted,
    /// A segment is ready, and the NIC has not requested it yet.
    Waiting,
}

impl Pacing {
    /// Returns true if a segment that the windows allow may leave now.
    #[inline]
    pub fn may_send(&mut self) -> bool {
        // `Waiting` records that a segment is ready, so that the NIC includes this flow in its turns.
        if *self == Pacing::Pulled {
            *self = Pacing::Waiting;
        }
        matches!(self, Pacing::Unpaced | Pacing::Granted)
    }
    /// Ends the NIC's request for one segment, since a segment has left.
    #[inline]
    pub fn on_sent(&mut self) {
        if *self == Pacing::Granted {
            *self = Pacing::Pulled;
        }
    }
    /// Returns true if a segment waits for a request of the NIC.
    #[inline]
    pub fn is_waiting(self) -> bool {
        self == Pacing::Waiting
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nic_paced_sender_releases_one_segment_per_request() {
        let mut pacing = Pacing::Pulled;
        assert!(!pacing.is_waiting() && !pacing.may_send() && pacing.is_waiting());
        pacing = Pacing::Granted;
        assert!(!pacing.is_waiting() && pacing.may_send());
        pacing.on_sent();
        assert!(!pacing.is_waiting() && !pacing.may_send() && pacing.is_waiting(), "the second has to wait");
        pacing.on_sent();
        assert!(pacing.is_waiting(), "what was made at once is not the one that waits");
    }

    #[test]
    fn unpaced_sender_may_always_send() {
        let mut pacing = Pacing::default();
        pacing.on_sent();
        assert!(pacing.may_send() && !pacing.is_waiting());
    }
}
