//! Where the packet that is likely to be next is to go.

use crate::queue::{Key, Phase};
use mech::PortId;
use units::Time;

/// An arrival at a switch, and the port that its packet is to leave by, where that is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Predicted {
    arrival: Key,
    /// One number, read soon after it is written: a processor that reads the two halves of an `Option` at once waits
    /// until all writes before them have reached the cache.
    port: u32,
}

const NONE: u32 = u32::MAX;

impl Predicted {
    /// Of no arrival.
    pub(crate) fn nothing() -> Predicted {
        Predicted { arrival: Key::new(Time::ZERO, 0, Phase::Timer, 0), port: NONE }
    }

    #[inline(always)]
    pub(crate) fn new(arrival: Key, port: Option<PortId>) -> Predicted {
        Predicted { arrival, port: port.map_or(NONE, |port| u32::from(port.0)) }
    }

    /// The port, if this is the arrival.
    #[inline(always)]
    pub(crate) fn port(&self, arrival: Key) -> Option<PortId> {
        (self.arrival == arrival && self.port != NONE).then_some(PortId(self.port as u16))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_known_for_its_arrival_alone_and_where_there_is_one() {
        let key = |time| Key::new(Time(time), 3, Phase::Arrival, 1);
        let known = Predicted::new(key(5), Some(PortId(u16::MAX)));
        assert_eq!((known.port(key(5)), known.port(key(6))), (Some(PortId(u16::MAX)), None));
        assert_eq!(Predicted::new(key(5), None).port(key(5)), None);
        assert_eq!(Predicted::nothing().port(Key::new(Time::ZERO, 0, Phase::Timer, 0)), None);
    }
}
