//! Inputs of a mechanism's decision beside the packet, and the actions that a mechanism may request.

use crate::{ClassSet, FlowId, HostId, PktId, PortId, Stream, TimerId};
use units::Time;

/// Time and random numbers for one decision of a mechanism, and the list for the actions that it requests.
pub struct Env<'a> {
    /// Simulated time of the decision.
    pub now: Time,
    /// Random stream of this mechanism at this node; no other mechanism draws from it.
    pub rng: &'a mut Stream,
    /// Actions that the mechanism requests in addition to its return value.
    pub acts: &'a mut Acts,
}

/// Actions requested by mechanisms. The dataplane performs them in order after the decision. Actions never recurse: a
/// request that an action causes is appended to the queue.
#[derive(Clone, Debug, Default)]
pub struct Acts {
    /// True if the mechanism requests a congestion mark on the packet; only an ECN-capable packet gets the mark.
    pub mark: bool,
    /// Requested actions, in the order of execution.
    pub list: Vec<Act>,
}

/// Action requested by a mechanism.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// Releases held ACKs, oldest first.
    ReleaseHeld {
        /// Port of the device that sent the ACKs.
        port: PortId,
        /// Largest number of ACKs to release; `u32::MAX` for all.
        max: u32,
        /// True if ECE is set on each released ACK.
        set_ece: bool,
        /// Upper bound of the advertised window in each released ACK, in units of the header field.
        window: Option<u16>,
    },
    /// Sends a congestion message that this switch creates. The switch's own tables route it, and it bypasses the
    /// `ack_hold` slot.
    Emit {
        /// Content of the congestion message.
        notice: Notice,
        /// Flow that the congestion message is about.
        flow: FlowId,
        /// Destination of the message: the source host of the flow.
        to: HostId,
    },
    /// Pauses traffic classes at the device behind a port, for a number of quanta of 512 bit times.
    Pause(PortId, ClassSet, u16),
    /// Resumes traffic classes at the device behind a port.
    Resume(PortId, ClassSet),
    /// Frees the memory of a departed packet of which a copy is kept. Switches keep no copies and ignore this action.
    Forget(PktId),
    /// Reports a change of the mechanism's state to observers.
    Turn {
        /// Port of the mechanism whose state changes.
        port: PortId,
        /// Number of the new state, given by the mechanism; 0 is idle.
        state: u8,
        /// Queue length in bytes at which the new state ends.
        level: u64,
    },
    /// Arms a timer of the mechanism for an instant, in place of any earlier instant of that timer.
    Arm(Time, TimerId),
}

/// Content of a congestion message to the source of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Congestion notification message of a switch (802.1Qau §33.3).
    Cnm {
        /// Quantized feedback, 1 to 63; a larger value means more congestion.
        feedback: u8,
        /// Queue length above the set point, in bytes.
        q_off: i64,
        /// Growth of the queue since the last sample, in bytes.
        q_delta: i64,
        /// Port of the congestion point; the source of the message is its switch.
        point: PortId,
    },
    /// Congestion notification packet from the receiver of a flow (RoCEv2, InfiniBand annex A17).
    Cnp,
}

impl Acts {
    /// Appends an action to those requested.
    pub fn push(&mut self, act: Act) {
        self.list.push(act);
    }
    /// Clears the mark and all actions before the next decision.
    #[inline]
    pub fn clear(&mut self) {
        self.mark = false;
        self.list.clear();
    }
}
