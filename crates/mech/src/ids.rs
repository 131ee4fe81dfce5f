//! Names of things: small integers, each with a type of its own.

/// A port of one switch or host, counted from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortId(pub u16);

/// A queue of one port: `2 * class + 1` is the bounce queue of a class, `2 * class` its normal
/// queue, so that among queues a higher number is served first (PABO §II-E).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueId(pub u8);

/// A host, counted from 0 over the whole network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostId(pub u32);

/// A flow, counted from 0 over the whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(pub u32);

/// A packet waiting in one node: a handle that is valid there while it waits, and no identity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PktId(pub u32);

/// A timer that a mechanism has armed, in its own numbering.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimerId(pub u16);

/// A set of the eight priority classes, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ClassSet(pub u8);

impl QueueId {
    /// The queue of packets of a class that were never bounced.
    pub const fn normal(class: u8) -> QueueId {
        QueueId(class * 2)
    }
    /// The queue of packets of a class that were bounced at least once.
    pub const fn bounce(class: u8) -> QueueId {
        QueueId(class * 2 + 1)
    }
    /// Whether this is a bounce queue.
    pub const fn is_bounce(self) -> bool {
        self.0 & 1 == 1
    }
    /// The class whose packets wait here.
    pub const fn class(self) -> u8 {
        self.0 >> 1
    }
}

impl ClassSet {
    /// No class.
    pub const NONE: ClassSet = ClassSet(0);
    /// Every class, as 802.3x PAUSE stops.
    pub const ALL: ClassSet = ClassSet(0xff);

    /// The set of one class.
    pub const fn of(class: u8) -> ClassSet {
        ClassSet(1 << (class & 7))
    }
    /// Whether `class` is in the set.
    pub const fn has(self, class: u8) -> bool {
        self.0 >> (class & 7) & 1 == 1
    }
    /// Both sets together.
    pub const fn union(self, other: ClassSet) -> ClassSet {
        ClassSet(self.0 | other.0)
    }
    /// This set without the other.
    pub const fn minus(self, other: ClassSet) -> ClassSet {
        ClassSet(self.0 & !other.0)
    }
}
