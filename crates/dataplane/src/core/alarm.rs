//! Timers of a node's ports, and deadlines that may move before they expire.

use mech::{PortId, TimerId};
use units::Time;

/// Identifier of an agent within a node: its port, and its number at that port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AgentKey {
    pub(crate) port: PortId,
    pub(crate) which: u8,
}

/// Purpose of a timer of a node's output side, which is encoded in the timer's index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CoreTimer {
    /// Expiry of a timer that an agent has set.
    Agent(AgentKey, TimerId),
    /// Expiry of the pause of a traffic class at a port.
    PauseEnd(PortId, u8),
    /// Instant at which a received pause frame takes effect at a port.
    PauseEffect(PortId),
    /// Instant at which the first waiting class of a port has tokens again.
    Tokens(PortId),
    /// Next poll of the PFC watchdog of a port.
    Watchdog(PortId),
    /// End of the trimming that began first.
    Cut,
}

impl CoreTimer {
    pub(super) const fn index(self) -> u32 {
        let (port, kind, which) = match self {
            CoreTimer::Agent(at, id) => (at.port, 0, (at.which as u32 & 3) << 3 | id.0 as u32 & 7),
            CoreTimer::PauseEnd(port, class) => (port, 1, class as u32),
            CoreTimer::PauseEffect(port) => (port, 2, 0),
            CoreTimer::Tokens(port) => (port, 2, 1),
            CoreTimer::Watchdog(port) => (port, 2, 2),
            CoreTimer::Cut => (PortId(0), 3, 0),
        };
        // Two bits for the agent suffice: a port has one agent for each of three slots.
        (port.0 as u32) << 7 | kind << 5 | which
    }
    pub(super) const fn from_index(index: u32) -> Option<CoreTimer> {
        let (port, which) = (PortId((index >> 7) as u16), index & 7);
        match index >> 5 & 3 {
            0 => Some(CoreTimer::Agent(AgentKey { port, which: (index >> 3 & 3) as u8 }, TimerId(which as u16))),
            1 => Some(CoreTimer::PauseEnd(port, which as u8)),
            2 if which == 0 => Some(CoreTimer::PauseEffect(port)),
            2 if which == 1 => Some(CoreTimer::Tokens(port)),
            2 => Some(CoreTimer::Watchdog(port)),
            _ if index == CoreTimer::Cut.index() => Some(CoreTimer::Cut),
            _ => None,
        }
    }
}

/// Deadline, and the one event that is pending for it.
/// The event stays when the deadline moves to a later instant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alarm {
    due: Time,
    event: Time,
}

impl Alarm {
    pub(crate) const OFF: Alarm = Alarm { due: Time::NEVER, event: Time::NEVER };

    /// Sets the deadline, and returns the instant of a new event if the pending one comes too late.
    pub(crate) fn set(&mut self, due: Time) -> Option<Time> {
        self.due = due;
        let sooner = due < self.event;
        sooner.then(|| {
            self.event = due;
            due
        })
    }
    /// Handles the event of a deadline. `Ok` means that the deadline has come.
    ///
    /// # Errors
    /// The instant at which an event must be set again; `None` if this event is stale or the deadline was taken back.
    pub(crate) fn on_event(&mut self, now: Time) -> Result<(), Option<Time>> {
        // Events cannot be cancelled, so an event that an earlier deadline has replaced is ignored.
        if self.event != now {
            return Err(None);
        }
        self.event = Time::NEVER;
        if self.due > now {
            let again = self.due;
            return Err(if again < Time::NEVER { self.set(again) } else { None });
        }
        self.due = Time::NEVER;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timer_index_round_trips() {
        assert_eq!(CoreTimer::from_index(CoreTimer::Cut.index()), Some(CoreTimer::Cut));
        for port in [0, 1, 47, u16::MAX] {
            let port = PortId(port);
            for timer in [
                CoreTimer::Agent(AgentKey { port, which: 2 }, TimerId(7)),
                CoreTimer::PauseEnd(port, 3),
                CoreTimer::PauseEffect(port),
                CoreTimer::Tokens(port),
                CoreTimer::Watchdog(port),
            ] {
                assert_eq!(CoreTimer::from_index(timer.index()), Some(timer));
                assert!(timer.index() < 1 << 27, "hosts have their own bits above");
            }
        }
    }

    #[test]
    fn only_an_earlier_deadline_schedules_a_further_event() {
        let mut alarm = Alarm::OFF;
        assert_eq!(alarm.set(Time(10)), Some(Time(10)));
        assert_eq!(alarm.set(Time(30)), None, "the event at 10 stays");
        assert_eq!(alarm.on_event(Time(10)), Err(Some(Time(30))));
        assert_eq!(alarm.set(Time(20)), Some(Time(20)));
        assert_eq!(alarm.on_event(Time(20)), Ok(()));
        assert_eq!(alarm.on_event(Time(30)), Err(None), "that event is of no use any more");
    }

    #[test]
    fn cancelled_deadline_never_fires() {
        let mut alarm = Alarm::OFF;
        alarm.set(Time(10));
        alarm.set(Time::NEVER);
        assert_eq!(alarm.on_event(Time(10)), Err(None));
        assert_eq!(alarm.set(Time(15)), Some(Time(15)));
    }
}
