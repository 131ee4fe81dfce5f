//! Timers of a host: their purpose, packed with an index into the number of an event.

/// Purpose of a host's timer, packed into the index of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HostTimer {
    StackUp,
    StackDown,
    /// Arrival of a segment's announcement at the NIC.
    Announced,
    /// Instant at which a rate limiter lets the next frame leave.
    Limiter,
    /// Timer of the reaction point.
    Reaction,
    /// Begin or end of a period in which the host pauses the far end of its link.
    PausePeriod,
    /// Instant at which the first frame has left the receive buffer.
    Drain,
    /// Instant at which a pause of the far end is requested again.
    PauseRefresh,
    Raw(u32),
    Sender(u32),
    Receiver(u32),
    /// Timer of the NIC, with its index there.
    Nic(u32),
}

const SLOT_BITS: u32 = 27;
/// Index of the timer with which the driver starts flows; no host uses it.
pub const FLOW_START: u32 = 0;
/// Index of the timer with which the driver starts messages after others have ended; no host uses it.
pub const MESSAGE_START: u32 = 3;

impl HostTimer {
    pub(super) const fn index(self) -> u32 {
        match self {
            HostTimer::StackUp => 1,
            HostTimer::StackDown => 2,
            HostTimer::Announced => 4,
            HostTimer::Limiter => 5,
            HostTimer::Reaction => 6,
            HostTimer::PausePeriod => 7,
            HostTimer::Drain => 8,
            HostTimer::PauseRefresh => 9,
            HostTimer::Raw(i) => 1 << SLOT_BITS | i,
            HostTimer::Sender(i) => 2 << SLOT_BITS | i,
            HostTimer::Receiver(i) => 3 << SLOT_BITS | i,
            HostTimer::Nic(i) => 4 << SLOT_BITS | i,
        }
    }
    pub(super) const fn from_index(index: u32) -> Option<HostTimer> {
        let slot = index & ((1 << SLOT_BITS) - 1);
        Some(match (index >> SLOT_BITS, slot) {
            (0, 1) => HostTimer::StackUp,
            (0, 2) => HostTimer::StackDown,
            (0, 4) => HostTimer::Announced,
            (0, 5) => HostTimer::Limiter,
            (0, 6) => HostTimer::Reaction,
            (0, 7) => HostTimer::PausePeriod,
            (0, 8) => HostTimer::Drain,
            (0, 9) => HostTimer::PauseRefresh,
            (1, i) => HostTimer::Raw(i),
            (2, i) => HostTimer::Sender(i),
            (3, i) => HostTimer::Receiver(i),
            (4, i) => HostTimer::Nic(i),
            _ => return None,
        })
    }
}
