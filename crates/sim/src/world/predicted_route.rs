//! Prediction of the output port of the packet that probably arrives next.

use crate::queue::{Key, StepPhase};
use mech::PortId;
use units::Time;

/// Arrival at a switch, and the port by which its packet leaves, if it is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PredictedRoute {
    arrival: Key,
    /// Number of the predicted port. It is no `Option`, since it is read soon after it is written: a processor that
    /// reads both halves of an `Option` at once waits until all earlier writes have reached the cache.
    port: u32,
}

const NO_PORT: u32 = u32::MAX;

impl PredictedRoute {
    /// Returns a prediction that matches no arrival.
    pub(crate) fn none() -> PredictedRoute {
        PredictedRoute { arrival: Key::new(Time::ZERO, 0, StepPhase::Timer, 0), port: NO_PORT }
    }

    #[inline(always)]
    pub(crate) fn new(arrival: Key, port: Option<PortId>) -> PredictedRoute {
        PredictedRoute { arrival, port: port.map_or(NO_PORT, |port| u32::from(port.0)) }
    }

    /// Returns the predicted port, if the prediction is for this arrival.
    #[inline(always)]
    pub(crate) fn port(&self, arrival: Key) -> Option<PortId> {
        (self.arrival == arrival && self.port != NO_PORT).then_some(PortId(self.port as u16))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prediction_applies_to_its_own_arrival_only() {
        let key = |time| Key::new(Time(time), 3, StepPhase::Arrival, 1);
        let known = PredictedRoute::new(key(5), Some(PortId(u16::MAX)));
        assert_eq!((known.port(key(5)), known.port(key(6))), (Some(PortId(u16::MAX)), None));
        assert_eq!(PredictedRoute::new(key(5), None).port(key(5)), None);
        assert_eq!(PredictedRoute::none().port(Key::new(Time::ZERO, 0, StepPhase::Timer, 0)), None);
    }
}
