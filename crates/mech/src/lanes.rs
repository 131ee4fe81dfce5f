//! The lanes of a class: queues beside its normal one, which mechanisms declare.

use crate::Fill;
use units::Amount;

/// Which of a class's queues a packet waits in. Of two lanes of a class, the later is the more urgent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lane {
    /// What needs no other. How much may wait is the buffer's to say.
    #[default]
    Normal = 0,
    /// Packets that were bounced at least once (PABO §II-E).
    Bounce = 1,
    /// Messages about congestion: never paused, and in no account that they report.
    Notice = 2,
}

impl Lane {
    /// All lanes, in the order of their numbers.
    pub const ALL: [Lane; 3] = [Lane::Normal, Lane::Bounce, Lane::Notice];
    /// Lanes that are paused with their class, and whose frames count as held for the port that they came in by.
    pub const PAUSED: [Lane; 2] = [Lane::Normal, Lane::Bounce];
}

/// How much may wait in a lane of its own, at every port and in every class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LaneLimit {
    /// The lane is not there: its packets wait in the normal queue of their class.
    #[default]
    Absent,
    /// Endless.
    Unlimited,
    /// So much.
    Of(Amount),
}

impl LaneLimit {
    /// Whether a frame of `size` bytes is accepted where so many packets and bytes wait.
    pub fn accepts(self, (packets, bytes): (u32, u64), size: u16) -> bool {
        match self {
            LaneLimit::Absent | LaneLimit::Unlimited => true,
            LaneLimit::Of(Amount::Packets(n)) => u64::from(packets) < n,
            LaneLimit::Of(Amount::Bytes(n)) => bytes + u64::from(size) <= n,
        }
    }
    /// How full it is with so many packets and bytes.
    pub fn fill(self, (packets, bytes): (u32, u64)) -> Fill {
        match self {
            LaneLimit::Absent | LaneLimit::Unlimited => Fill { used: u64::from(packets), limit: None },
            LaneLimit::Of(Amount::Packets(n)) => Fill { used: u64::from(packets), limit: Some(n) },
            LaneLimit::Of(Amount::Bytes(n)) => Fill { used: bytes, limit: Some(n) },
        }
    }
    /// The limit, where there is one.
    pub fn amount(self) -> Option<Amount> {
        match self {
            LaneLimit::Of(amount) => Some(amount),
            LaneLimit::Absent | LaneLimit::Unlimited => None,
        }
    }
}

/// The lanes of a node beside the normal ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lanes([LaneLimit; Lane::ALL.len()]);

impl Lanes {
    /// These, and a lane with a limit.
    #[must_use]
    pub fn with(mut self, lane: Lane, limit: LaneLimit) -> Lanes {
        self.0[lane as usize] = limit;
        self
    }
    /// The limit of a lane.
    pub fn limit(&self, lane: Lane) -> LaneLimit {
        self.0[lane as usize]
    }
    /// Whether a lane is there.
    pub fn has(&self, lane: Lane) -> bool {
        lane == Lane::Normal || self.limit(lane) != LaneLimit::Absent
    }
    /// The last lane that is there.
    pub fn last(&self) -> Lane {
        Lane::ALL.into_iter().rfind(|lane| self.has(*lane)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_has_a_limit_of_its_own_in_packets_or_in_bytes() {
        let (packets, bytes) = (LaneLimit::Of(Amount::Packets(3)), LaneLimit::Of(Amount::Bytes(3000)));
        assert!(packets.accepts((2, 9000), 1500) && !packets.accepts((3, 0), 1));
        assert!(bytes.accepts((99, 1500), 1500) && !bytes.accepts((0, 1500), 1501));
        assert_eq!(packets.fill((2, 700)), Fill { used: 2, limit: Some(3) });
        assert_eq!(bytes.fill((2, 700)), Fill { used: 700, limit: Some(3000) });
        assert!(LaneLimit::Unlimited.accepts((u32::MAX, 0), 1));
    }

    #[test]
    fn only_lanes_that_were_declared_are_there() {
        assert_eq!(Lanes::default().last(), Lane::Normal);
        let lanes = Lanes::default().with(Lane::Bounce, LaneLimit::Unlimited);
        assert_eq!((lanes.last(), lanes.has(Lane::Normal), lanes.has(Lane::Notice)), (Lane::Bounce, true, false));
        assert_eq!(lanes.limit(Lane::Bounce).amount(), None);
    }
}
