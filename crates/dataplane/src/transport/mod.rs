//! Transports: senders and receivers as machines that are told of packets and of time.
//!
//! A flow is one-way: a [`Sender`] at its source, a [`Receiver`] at its destination, on a connection
//! that is established before or opened by a handshake; it ends when every byte is acknowledged, or
//! is kept for more messages. Both machines are sans-I/O: `now` is an argument, packets are appended to `out`, and
//! after every call the host asks for `deadline()` and calls `timer` then.
//!
//! A sender has three parts, each behind its own hooks: [`Congestion`] (how much may be under
//! way), [`LossDetection`] (what is lost) and [`Pacing`] (when the next segment may leave). Not
//! modelled: FIN, RST and urgent data; giving up (RFC 9293 §3.8.3); zero-window probes, since a
//! window here is narrow only while the bytes that open it are outstanding (`sender`); PAWS at the sender (RFC 7323
//! §5: no segment lives that long) and the weights of its appendix G. Probes for lost tails and the undoing of
//! recoveries come with RACK-TLP (`loss/rack_tlp.rs`) alone; elsewhere DSACKs are counted.

mod choices;
mod clock;
mod config;
mod congestion;
mod fraction;
mod kernel;
mod linux_pacing;
mod loss;
mod memory;
mod pacing;
mod parameter_notes;
mod receiver;
mod release_runs;
mod reorder;
mod rto;
mod rtt_ticks;
mod segment;
mod selection;
mod sender;
mod specs;
mod syn_options;
#[cfg(test)]
pub(crate) mod tests;
mod ticks;
mod timing;

pub use choices::Priority;
pub use config::TcpConfig;
pub use congestion::{Acked, Congestion, Lost, Saved, Sending};
pub use loss::{AckEvent, DuplicateEvent, LossDetection};
pub use memory::Metrics;
pub use pacing::Pacing;
pub use parameter_notes::notes;
pub use receiver::{Finished, Receiver, ReceiverStats, ack_of_finished};
pub use release_runs::{Released, Run};
pub use rto::Rto;
pub use segment::is_nak;
pub use selection::{Ends, Row, Stacks};
pub use sender::notice::BounceState;
pub use sender::{Sender, SenderStats};
pub use specs::SPECS;

use crate::Exts;
use mech::{FlowId, HostId};
use units::{Dur, Time};

/// A flow, as both of its ends know it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowInfo {
    /// Its number.
    pub flow: FlowId,
    /// The host of its sender.
    pub src: HostId,
    /// The host of its receiver.
    pub dst: HostId,
    /// 5-tuple hash of its data.
    pub hash: u32,
    /// 5-tuple hash of its ACKs.
    pub back_hash: u32,
    /// Payload bytes to deliver.
    pub bytes: u64,
    /// Priority class of its data and its ACKs, 0 to 7.
    pub class: u8,
    /// By which of the rows of [`Stacks`] its hosts have their transports for it.
    pub row: u8,
}

/// Payload bytes of a persistent connection: the application writes on and on.
pub(crate) const ENDLESS: u64 = u64::MAX >> 1;

impl FlowInfo {
    /// Its sender, and its receiver at the other end.
    pub fn ends(&self) -> Ends {
        Ends { row: self.row, own: self.src, peer: self.dst }
    }
    /// The same as the receiver sees them: its own first.
    pub(crate) fn ends_back(&self) -> Ends {
        Ends { row: self.row, own: self.dst, peer: self.src }
    }
    /// Whether this is a persistent connection.
    #[inline]
    pub(crate) fn is_persistent(&self) -> bool {
        self.bytes == ENDLESS
    }
}

/// One call of a sender or a receiver: when it is, what all flows have in common, and where what it
/// sends goes. The caller frees the extension of the packet that it hands in.
pub struct Io<'a> {
    /// The instant.
    pub now: Time,
    /// The transport of the run.
    pub cfg: &'a TcpConfig,
    /// The extensions of all packets, both ends' alike.
    pub exts: &'a mut Exts,
    /// Packets are appended here in the order in which they are sent.
    pub out: &'a mut Released,
    /// How often a timer of the host was set for another tick than before.
    pub timers_set: &'a mut u64,
}

impl Io<'_> {
    /// When a timer of this host is handled that is set now for so long, and until now was set for `pending`.
    /// What is set for the same tick again keeps its place among the timers of that tick.
    fn expiry(&mut self, host: HostId, wait: Dur, pending: Time) -> Time {
        let at = self.cfg.ticks(host).expiry(self.now, wait);
        if at.is_place_of(pending) {
            return pending;
        }
        *self.timers_set += 1;
        at.handled(*self.timers_set)
    }
}

/// What a switch or a NIC tells a sender besides ACKs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A congestion notification message with this quantized feedback (802.1Qau: CNM).
    Cnm(u8),
    /// A frame with so many bytes of its data came back, bounced (PABO §II-G).
    Bounced(u16),
}

/// The 64-bit offset whose low half is `low`, nearest to `near`; `None` below the first byte.
#[inline]
pub(crate) fn unwrap(low: u32, near: u64) -> Option<u64> {
    near.checked_add_signed(i64::from(low.wrapping_sub(near as u32) as i32))
}
