//! What the dataplane, the loader and the builder must know of a mechanism. They ask it; nobody
//! outside of this crate knows it by its name.

use units::{Amount, Bytes};

/// For which arrivals an answer to overflow is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asks {
    /// For none: what fits is stored, what does not is lost.
    Never,
    /// For those for which their queue has no place: all else it would store, draw nothing and count nothing.
    WhenFull,
    /// For all.
    Always,
}

/// Fixed thresholds of one port. The largest number is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Frames.
    pub packets: u32,
    /// Bytes.
    pub bytes: u64,
}

impl Room {
    /// No threshold.
    pub const ENDLESS: Room = Room { packets: u32::MAX, bytes: u64::MAX };

    /// A threshold in one unit.
    pub fn new(amount: Amount) -> Room {
        match amount {
            Amount::Packets(n) => Room { packets: u32::try_from(n).unwrap_or(u32::MAX), ..Room::ENDLESS },
            Amount::Bytes(n) => Room { bytes: n, ..Room::ENDLESS },
        }
    }
    /// The threshold; `None` where there is none.
    pub fn amount(self) -> Option<Amount> {
        match self {
            Room::ENDLESS => None,
            Room { packets: u32::MAX, bytes } => Some(Amount::Bytes(bytes)),
            Room { packets, .. } => Some(Amount::Packets(u64::from(packets))),
        }
    }
}

/// One of the two memories of a port. An output-queued switch has no memory at inputs: there it is what came in by the
/// port and is still in the switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// Where frames wait that came in by the port, or cross from there.
    Input,
    /// The buffer in front of the link of the port.
    Output,
}

/// A memory of a port in units, one of which an agent may draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Samples {
    /// Which memory.
    pub side: Side,
    /// Of frames of this class.
    pub class: u8,
    /// The size of a unit; a frame takes as many as it needs, and shares none.
    pub unit: Bytes,
}

/// What a mechanism needs of the switch or NIC that it is in; what nobody needs costs nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// It sends packets back, which wait at every port in a lane of their own, so long, beside the buffer.
    pub back: Option<Amount>,
    /// It draws units of a memory of each of its ports; one agent a port may.
    pub samples: Option<Samples>,
    /// It does something by a clock while the far end of its port is paused.
    pub clock_in_pause: bool,
    /// It makes messages to sources, which wait at every port of the network in a lane of their own.
    pub notices: bool,
    /// It sends packets aside, by ports that lead to other switches.
    pub aside: bool,
    /// It cuts packets, for which every port has so much memory beyond its buffer.
    pub cut: Option<Bytes>,
    /// The class that packets get which it cuts.
    pub cut_class: Option<u8>,
    /// It sends packets back to their sources.
    pub returns: bool,
    /// It holds packets before lookup, for which each of its ports has so much memory.
    pub held: Option<Bytes>,
    /// It tells sources of congestion by ECE on what it holds.
    pub echoes: bool,
    /// It bounds the windows that what it holds advertises, to so much at least, in the units of their field.
    pub bounds_windows: Option<Bytes>,
    /// The mechanism looks at single packets that wait.
    pub visits: bool,
    /// The mechanism removes packets that wait; it may look at them too.
    pub removes: bool,
    /// The next packet to leave is not always the oldest of its queue.
    pub reorders: bool,
    /// It tells packets apart by their rank.
    pub ranks: bool,
    /// The mechanism searches queues for the packet of the largest rank ([`crate::View::least_urgent`]).
    pub finds_least_urgent: bool,
    /// The mechanism searches queues for the flow of the smallest rank ([`crate::View::most_urgent`]).
    pub finds_most_urgent: bool,
}

/// What is said where packets are told apart by a rank that none has.
pub const NO_RANKS: &str = "srpt and evict with transport.priority = \"none\": all packets are equally urgent, which makes \
                            them first in, first out and tail drop within a class";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_is_in_its_own_unit_and_endless_is_none() {
        for amount in [Amount::Packets(0), Amount::Packets(100), Amount::Bytes(0), Amount::Bytes(3000)] {
            assert_eq!(Room::new(amount).amount(), Some(amount));
        }
        assert_eq!(Room::ENDLESS.amount(), None);
        assert_eq!(Room::new(Amount::Packets(u64::MAX)), Room::ENDLESS);
    }
}
