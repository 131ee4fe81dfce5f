//! Identifiers of ports, queues, hosts, flows, packets and timers: small integers, each with a type of its own.

use crate::Lane;

/// Port of one switch or host, counted from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortId(pub u16);

/// Queue of one port: `4 * class + lane`. A higher number is more urgent: the higher class, and within a class the
/// later lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueId(pub u8);

/// Host, counted from 0 over the whole network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostId(pub u32);

/// Flow, counted from 0 over the whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(pub u32);

/// Handle of a queued packet, valid in one node while the packet is queued there. It is no identity of the packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PktId(pub u32);

/// Timer of a mechanism, with a number chosen by the mechanism.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimerId(pub u16);

/// Set of priority classes, with one bit for each of the eight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ClassSet(pub u8);

impl QueueId {
    /// Number of queue identifiers per class, one more than there are lanes.
    pub const LANES: u8 = 4;
    /// Number of queue identifiers of all eight classes.
    pub const COUNT: u8 = 8 * QueueId::LANES;

    /// Returns the queue of a class and lane.
    #[inline]
    pub const fn new(class: u8, lane: Lane) -> QueueId {
        QueueId(class * QueueId::LANES + lane as u8)
    }
    /// Returns the normal queue of a class.
    pub const fn normal(class: u8) -> QueueId {
        QueueId::new(class, Lane::Normal)
    }
    /// Returns the lane of the queue.
    #[inline]
    pub const fn lane(self) -> Lane {
        match self.0 % QueueId::LANES {
            0 => Lane::Normal,
            1 => Lane::Bounce,
            _ => Lane::Notice,
        }
    }
    /// Returns the class of the packets in the queue.
    #[inline]
    pub const fn class(self) -> u8 {
        self.0 / QueueId::LANES
    }
    /// Returns the bit of this queue in a bit set of queues.
    #[inline]
    pub const fn bit(self) -> u32 {
        1 << self.0
    }
    /// Iterates over the queues of a set with one bit per queue, from the least urgent on.
    pub fn iter_set(set: u32) -> impl DoubleEndedIterator<Item = QueueId> {
        (0..QueueId::COUNT).map(QueueId).filter(move |queue| set & queue.bit() != 0)
    }
}

impl ClassSet {
    /// Empty set of classes.
    pub const NONE: ClassSet = ClassSet(0);
    /// Set of all classes, which an 802.3x PAUSE frame pauses.
    pub const ALL: ClassSet = ClassSet(0xff);

    /// Returns the set that contains one class alone.
    pub const fn single(class: u8) -> ClassSet {
        ClassSet(1 << (class & 7))
    }
    /// Returns true if the set contains `class`.
    pub const fn has(self, class: u8) -> bool {
        self.0 >> (class & 7) & 1 == 1
    }
    /// Returns the lowest class of the set; `None` if it is empty.
    pub fn lowest(self) -> Option<u8> {
        (0..8).find(|class| self.has(*class))
    }
    /// Returns the union of two sets of classes.
    pub const fn union(self, other: ClassSet) -> ClassSet {
        ClassSet(self.0 | other.0)
    }
    /// Returns this set without the classes of `other`.
    pub const fn minus(self, other: ClassSet) -> ClassSet {
        ClassSet(self.0 & !other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queue_numbers_match_the_scheduler_page() {
        let page = include_str!("../../../docs/mechanisms/scheduler.md");
        let formula = page.lines().find_map(|line| line.trim().strip_prefix("q = ")).expect("the page has the formula");
        let lanes: u8 = formula.strip_suffix(" · class + lane").expect(formula).parse().expect(formula);
        assert_eq!(lanes, QueueId::LANES);
        let row = |lane: Lane| page.lines().find(|line| line.starts_with(&format!("| {} | ", lane as u8)));
        for class in 0..8 {
            for lane in Lane::ALL {
                let q = QueueId::new(class, lane);
                assert_eq!(q.0, lanes * class + lane as u8);
                assert_eq!((q.class(), q.lane()), (class, lane));
                assert!(row(lane).is_some(), "{lane:?} is a row of the page");
            }
        }
        assert!(row(Lane::Bounce).is_some_and(|row| row.contains("bounced")));
        assert!(row(Lane::Notice).is_some_and(|row| row.contains("congestion messages")));
        assert_eq!(page.lines().filter(|line| line.starts_with("| 3 | ")).count(), 0, "no lane has the number 3");
    }
}
