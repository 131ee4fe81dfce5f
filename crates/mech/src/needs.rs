//! Requirements that mechanisms declare to the dataplane, the loader and the builder.
//! These parts read the declarations and compare no names of mechanisms.

use units::{Amount, Bytes};

/// Arrivals for which the switch calls an overflow mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdmitCalls {
    /// No arrivals: a frame that fits is stored, any other is dropped.
    Never,
    /// Arrivals whose queue has no free buffer space.
    /// For all others the mechanism would store the frame, draw nothing and count nothing.
    WhenFull,
    /// All arrivals, also those that fit.
    Always,
}

/// Fixed thresholds of a port's backlog or input memory, in frames and in bytes. The largest number means no threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortThresholds {
    /// Threshold in frames.
    pub packets: u32,
    /// Threshold in bytes.
    pub bytes: u64,
}

impl PortThresholds {
    /// Absent thresholds, neither in frames nor in bytes.
    pub const UNLIMITED: PortThresholds = PortThresholds { packets: u32::MAX, bytes: u64::MAX };

    /// Creates a threshold in frames or in bytes, without one in the other unit.
    pub fn new(amount: Amount) -> PortThresholds {
        match amount {
            Amount::Packets(n) => {
                PortThresholds { packets: u32::try_from(n).unwrap_or(u32::MAX), ..PortThresholds::UNLIMITED }
            }
            Amount::Bytes(n) => PortThresholds { bytes: n, ..PortThresholds::UNLIMITED },
        }
    }
    /// Returns the threshold in its unit; `None` if there is none.
    pub fn amount(self) -> Option<Amount> {
        match self {
            PortThresholds::UNLIMITED => None,
            PortThresholds { packets: u32::MAX, bytes } => Some(Amount::Bytes(bytes)),
            PortThresholds { packets, .. } => Some(Amount::Packets(u64::from(packets))),
        }
    }
}

/// Side of a port's memory: input or output.
/// An output-queued switch has no input memory. There, the input side is all packets that came in by the port and are
/// still in the switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MemorySide {
    /// Memory of frames that came in by the port, including frames that cross from it to an output.
    Input,
    /// Output buffer of the port.
    Output,
}

/// Sampling of a port's memory by an agent, which draws units of that memory at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemorySampling {
    /// Side of the port whose memory is sampled: input or output.
    pub side: MemorySide,
    /// Traffic class of the frames that are sampled.
    pub class: u8,
    /// Size of a memory unit. A frame occupies as many units as it needs, and shares none with other frames.
    pub unit: Bytes,
}

/// Features that a mechanism requires of its switch or NIC. A feature that no mechanism needs costs nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Capacity of the bounce lane at every port, beside the buffer; set if the mechanism sends packets back.
    pub bounce_lane: Option<Amount>,
    /// Memory that the agent samples at each of its ports; at most one agent per port may sample.
    pub samples: Option<MemorySampling>,
    /// True if the agent uses a timer while the far end of its port is paused.
    pub timer_in_pause: bool,
    /// True if the agent sends congestion messages, for which every port of the network has a lane.
    pub sends_notices: bool,
    /// True if the mechanism detours packets by ports toward other switches.
    pub detours: bool,
    /// Memory at every port, beyond its buffer, for packets whose payload was cut; set if the mechanism cuts packets.
    pub cut_memory: Option<Bytes>,
    /// Traffic class that the mechanism gives to packets that it cuts; `None` keeps the class.
    pub cut_class: Option<u8>,
    /// True if the mechanism returns packets to their sources.
    pub returns_to_source: bool,
    /// Memory of each port for packets held before lookup; set if the agent holds packets.
    pub hold_memory: Option<Bytes>,
    /// True if the agent sets ECE on the packets that it releases.
    pub sets_ece: bool,
    /// Smallest window that the agent writes into released packets, in units of the header field; set if it bounds
    /// windows.
    pub min_window: Option<Bytes>,
    /// True if the mechanism reads single packets of a queue.
    pub reads_packets: bool,
    /// True if the mechanism removes packets from a queue; it may read them too.
    pub removes_packets: bool,
    /// True if the next packet to leave is not always the oldest of its queue.
    pub reorders: bool,
    /// True if the mechanism orders packets by rank.
    pub orders_by_rank: bool,
    /// True if the mechanism searches queues for the packet of the largest rank ([`crate::View::least_urgent`]).
    pub finds_least_urgent: bool,
    /// True if the mechanism searches queues for the flow of the smallest rank ([`crate::View::most_urgent`]).
    pub finds_most_urgent: bool,
}

/// Warning for mechanisms that order packets by rank in a scenario without ranks.
pub const NO_RANKS_WARNING: &str = "srpt and evict have no effect within a class with transport.priority = \"none\", \
                                    because all packets are equally urgent: srpt sends first in, first out, and evict \
                                    drops the arriving packet. Set transport.priority = \"remaining\"";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threshold_keeps_its_unit_and_unlimited_is_none() {
        for amount in [Amount::Packets(0), Amount::Packets(100), Amount::Bytes(0), Amount::Bytes(3000)] {
            assert_eq!(PortThresholds::new(amount).amount(), Some(amount));
        }
        assert_eq!(PortThresholds::UNLIMITED.amount(), None);
        assert_eq!(PortThresholds::new(Amount::Packets(u64::MAX)), PortThresholds::UNLIMITED);
    }
}
