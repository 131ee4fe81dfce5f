//! Lanes of a traffic class: additional queues beside the normal one, declared by mechanisms.

use crate::Fill;
use units::Amount;

/// Queue within a traffic class. Of two lanes of a class, the later is more urgent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lane {
    /// Lane of packets that need no other lane. The buffer limits this lane.
    #[default]
    Normal = 0,
    /// Lane of packets that were bounced at least once (PABO §II-E).
    Bounce = 1,
    /// Lane of congestion messages, which are never paused and count in no account.
    Notice = 2,
}

impl Lane {
    /// All lanes, in the order of their numbers.
    pub const ALL: [Lane; 3] = [Lane::Normal, Lane::Bounce, Lane::Notice];
    /// Lanes that are paused with their class. Their frames count in the accounts of their input port.
    pub const PAUSED: [Lane; 2] = [Lane::Normal, Lane::Bounce];
}

/// Capacity of a lane, at every port and in every class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LaneLimit {
    /// Absent lane: its packets are queued in the normal queue of their class.
    #[default]
    Absent,
    /// Unlimited lane.
    Unlimited,
    /// Lane with a limit in packets or bytes.
    Limited(Amount),
}

impl LaneLimit {
    /// Returns true if a lane with this backlog (packets, bytes) accepts a frame of `size` bytes.
    pub fn accepts(self, (packets, bytes): (u32, u64), size: u16) -> bool {
        match self {
            LaneLimit::Absent | LaneLimit::Unlimited => true,
            LaneLimit::Limited(Amount::Packets(n)) => u64::from(packets) < n,
            LaneLimit::Limited(Amount::Bytes(n)) => bytes + u64::from(size) <= n,
        }
    }
    /// Returns the used capacity of a lane with this backlog (packets, bytes).
    pub fn fill(self, (packets, bytes): (u32, u64)) -> Fill {
        match self {
            LaneLimit::Absent | LaneLimit::Unlimited => Fill { used: u64::from(packets), limit: None },
            LaneLimit::Limited(Amount::Packets(n)) => Fill { used: u64::from(packets), limit: Some(n) },
            LaneLimit::Limited(Amount::Bytes(n)) => Fill { used: bytes, limit: Some(n) },
        }
    }
    /// Returns the limit of the lane, if it has one.
    pub fn amount(self) -> Option<Amount> {
        match self {
            LaneLimit::Limited(amount) => Some(amount),
            LaneLimit::Absent | LaneLimit::Unlimited => None,
        }
    }
}

/// Limits of all lanes of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lanes([LaneLimit; Lane::ALL.len()]);

impl Lanes {
    /// Returns these lanes with a new limit for one of them.
    #[must_use]
    pub fn with(mut self, lane: Lane, limit: LaneLimit) -> Lanes {
        self.0[lane as usize] = limit;
        self
    }
    /// Returns the limit of a lane.
    pub fn limit(&self, lane: Lane) -> LaneLimit {
        self.0[lane as usize]
    }
    /// Returns true if the node has this lane.
    pub fn has(&self, lane: Lane) -> bool {
        lane == Lane::Normal || self.limit(lane) != LaneLimit::Absent
    }
    /// Returns the most urgent lane that the node has.
    pub fn last(&self) -> Lane {
        Lane::ALL.into_iter().rfind(|lane| self.has(*lane)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lane_limit_is_in_packets_or_bytes() {
        let (packets, bytes) = (LaneLimit::Limited(Amount::Packets(3)), LaneLimit::Limited(Amount::Bytes(3000)));
        assert!(packets.accepts((2, 9000), 1500) && !packets.accepts((3, 0), 1));
        assert!(bytes.accepts((99, 1500), 1500) && !bytes.accepts((0, 1500), 1501));
        assert_eq!(packets.fill((2, 700)), Fill { used: 2, limit: Some(3) });
        assert_eq!(bytes.fill((2, 700)), Fill { used: 700, limit: Some(3000) });
        assert!(LaneLimit::Unlimited.accepts((u32::MAX, 0), 1));
    }

    #[test]
    fn node_has_only_declared_lanes() {
        assert_eq!(Lanes::default().last(), Lane::Normal);
        let lanes = Lanes::default().with(Lane::Bounce, LaneLimit::Unlimited);
        assert_eq!((lanes.last(), lanes.has(Lane::Normal), lanes.has(Lane::Notice)), (Lane::Bounce, true, false));
        assert_eq!(lanes.limit(Lane::Bounce).amount(), None);
    }
}
