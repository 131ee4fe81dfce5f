//! Timers of a host, packed into the index of an event.

/// Purpose of a host's timer, packed into the index of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timer {
    StackUp,
    StackDown,
    /// Arrival of an announced segment at the NIC.
    Announced,
    /// Instant at which a rate limiter lets the next frame pass.
    Limiter,
    /// Timer of the reaction point.
    Reaction,
    Raw(u32),
    Sender(u32),
    Receiver(u32),
    /// Timer of the NIC.
    Nic(u32),
}

const SLOT_BITS: u32 = 27;
/// Index of the timer with which the driver starts flows; no host uses it.
pub const FLOW_START: u32 = 0;
/// Index of the timer with which the driver starts messages after others have ended; no host uses it.
pub const MESSAGE_START: u32 = 3;

impl Timer {
    pub(super) const fn index(self) -> u32 {
        match self {
            Timer::StackUp => 1,
            Timer::StackDown => 2,
            Timer::Announced => 4,
            Timer::Limiter => 5,
            Timer::Reaction => 6,
            Timer::Raw(i) => 1 << SLOT_BITS | i,
            Timer::Sender(i) => 2 << SLOT_BITS | i,
            Timer::Receiver(i) => 3 << SLOT_BITS | i,
            Timer::Nic(i) => 4 << SLOT_BITS | i,
        }
    }
    pub(super) const fn from_index(index: u32) -> Option<Timer> {
        let slot = index & ((1 << SLOT_BITS) - 1);
        Some(match (index >> SLOT_BITS, slot) {
            (0, 1) => Timer::StackUp,
            (0, 2) => Timer::StackDown,
            (0, 4) => Timer::Announced,
            (0, 5) => Timer::Limiter,
            (0, 6) => Timer::Reaction,
            (1, i) => Timer::Raw(i),
            (2, i) => Timer::Sender(i),
            (3, i) => Timer::Receiver(i),
            (4, i) => Timer::Nic(i),
            _ => return None,
        })
    }
}
