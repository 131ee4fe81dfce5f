//! What a mechanism may use and ask for while it decides.

use crate::{ClassSet, FlowId, HostId, PktId, PortId, Stream, TimerId};
use units::Time;

/// The surroundings of one decision.
pub struct Env<'a> {
    /// The instant of the decision.
    pub now: Time,
    /// Draws of this mechanism at this node, and nobody else's.
    pub rng: &'a mut Stream,
    /// What the mechanism wants done besides its answer.
    pub acts: &'a mut Acts,
}

/// Requests of mechanisms, done by the dataplane in order after the decision. Acts never recurse:
/// what they cause is queued behind them.
#[derive(Clone, Debug, Default)]
pub struct Acts {
    /// Congestion mark for the packet that is being decided, if it is ECN-capable.
    pub mark: bool,
    /// The requests, first to last.
    pub list: Vec<Act>,
}

/// One request of a mechanism.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// Release held ACKs, oldest first.
    ReleaseHeld {
        /// The port whose device sent them.
        port: PortId,
        /// At most so many; `u32::MAX` for all.
        max: u32,
        /// Set ECE on each.
        set_ece: bool,
        /// Advertise no larger window than this in each, in the units of its field.
        window: Option<u16>,
    },
    /// Send a message made here, by this switch's own tables and past `ack_hold`.
    Emit {
        /// What it says.
        notice: Notice,
        /// The flow that it is about.
        flow: FlowId,
        /// The host that is told: the source of the flow.
        to: HostId,
    },
    /// Ask the device behind a port to stop sending these classes for so many quanta, of 512 bit times each.
    Pause(PortId, ClassSet, u16),
    /// Let the device behind a port send these classes again.
    Resume(PortId, ClassSet),
    /// Free the copy that the memory keeps of a packet which has left.
    Forget(PktId),
    /// Whoever observes is told that it is in another state: a number of its own, and the level at which that is
    /// over, bytes.
    Turn {
        /// The port of the mechanism.
        port: PortId,
        /// The state; 0 is that of rest.
        state: u8,
        /// The level.
        level: u64,
    },
    /// Wake this mechanism at an instant; the latest call for a timer counts.
    Arm(Time, TimerId),
}

/// What the source of a flow is told about congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Congestion notification message of a switch (802.1Qau §33.3).
    Cnm {
        /// Quantized feedback, 1 to 63, larger is worse.
        feedback: u8,
        /// Queue length above the set point, bytes.
        q_off: i64,
        /// Growth of the queue since the last sample, bytes.
        q_delta: i64,
        /// The port of the congestion point that speaks; its switch is where the message comes from.
        point: PortId,
    },
    /// Congestion notification packet of a flow's receiver (RoCEv2, InfiniBand annex A17).
    Cnp,
}

impl Acts {
    /// Appends a request.
    pub fn push(&mut self, act: Act) {
        self.list.push(act);
    }
    /// Forgets everything, for the next decision.
    #[inline]
    pub fn clear(&mut self) {
        self.mark = false;
        self.list.clear();
    }
}
