//! Transports: senders and receivers as state machines that take packets and time as input.
//!
//! A flow has one direction: a [`Sender`] at its source, a [`Receiver`] at its destination. Its connection is
//! established before the flow, or opened by a handshake. The flow ends when every byte is acknowledged; a persistent
//! connection stays for more messages.
//! Both machines are sans-I/O: `now` is an argument, and packets are appended to `out`. After every call the host reads
//! `deadline()`, and calls `on_timer` at that time.
//!
//! A sender has three parts, each behind its own hooks: [`Congestion`] (how many bytes may be in flight),
//! [`LossDetection`] (which bytes are lost) and [`Pacing`] (when the next segment may leave).
//!
//! Not modelled:
//! - FIN, RST and urgent data.
//! - Giving up a connection (RFC 9293 §3.8.3).
//! - Zero-window probes: a window here is narrow only while the bytes that open it are outstanding (`sender`).
//! - PAWS at the sender (RFC 7323 §5), since no segment lives long enough for it, and the weights of RFC 7323 appendix
//!   G.
//!
//! Tail loss probes and the undoing of recoveries exist only with RACK-TLP (`loss/rack_tlp.rs`) and Linux kernels.
//! Other senders only count DSACKs.

mod clock;
mod config;
mod congestion;
mod fraction;
mod host_transports;
mod kernel;
mod linux_pacing;
mod loss;
mod metrics_cache;
mod option_values;
mod pacing;
mod parameter_warnings;
mod receiver;
mod release_runs;
mod reorder_buffer;
mod rto;
mod rtt_ticks;
mod rtt_timing;
mod segment;
mod sender;
mod specs;
mod syn_options;
#[cfg(test)]
pub(crate) mod tests;
mod tick_clock;

pub use config::TcpConfig;
pub use congestion::{AckInfo, Congestion, LossInfo, SavedWindow, SendInfo};
pub use host_transports::{EndPair, TransportRow, TransportTable};
pub use loss::{AckEvent, DuplicateEvent, LossDetection};
pub use metrics_cache::Metrics;
pub use option_values::Priority;
pub use pacing::Pacing;
pub use parameter_warnings::parameter_warnings;
pub use receiver::{FinishedReceiver, Receiver, ReceiverStats, ack_of_finished};
pub use release_runs::{ReleasedPackets, SegmentRun};
pub use rto::Rto;
pub use segment::is_nak;
pub use sender::notice::BounceState;
pub use sender::{Sender, SenderStats};
pub use specs::SPECS;

use crate::ExtensionSlab;
use mech::{FlowId, Head, HostId};
use units::{Dur, Time};

/// Identity and size of a flow, the same at both ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowInfo {
    /// Number of the flow.
    pub flow: FlowId,
    /// Host of the sender.
    pub src: HostId,
    /// Host of the receiver.
    pub dst: HostId,
    /// 5-tuple hash of the flow's data packets.
    pub hash: u32,
    /// 5-tuple hash of the flow's ACKs.
    pub back_hash: u32,
    /// Payload bytes to deliver.
    pub bytes: u64,
    /// Priority class of the flow's data and ACKs, 0 to 7.
    pub class: u8,
    /// DSCP number of the flow's data and ACKs, 0 to 3.
    pub code_point: u8,
    /// Index of the assignment of transports to hosts, in [`TransportTable`], that this flow follows.
    pub row: u8,
}

/// Payload bytes of a persistent connection, whose application never stops writing.
pub(crate) const ENDLESS_BYTES: u64 = u64::MAX >> 1;

impl FlowInfo {
    /// Returns the `tos` of the flow's data and ACKs, with class and DSCP number alone.
    #[inline]
    pub(crate) fn tos(&self) -> u8 {
        Head::tos_of(self.class, self.code_point)
    }
    /// Returns both ends as the sender sees them: its own host first.
    pub fn sender_ends(&self) -> EndPair {
        EndPair { row: self.row, own: self.src, peer: self.dst }
    }
    /// Returns both ends as the receiver sees them: its own host first.
    pub(crate) fn receiver_ends(&self) -> EndPair {
        EndPair { row: self.row, own: self.dst, peer: self.src }
    }
    /// Returns true if the flow is a persistent connection.
    #[inline]
    pub(crate) fn is_persistent(&self) -> bool {
        self.bytes == ENDLESS_BYTES
    }
}

/// Inputs and outputs of one call of a sender or a receiver: time, configuration, and packets to send.
/// The caller frees the extension of the packet that it hands in.
pub struct Io<'a> {
    /// Time of the call.
    pub now: Time,
    /// Transport configuration of this end of the flow.
    pub cfg: &'a TcpConfig,
    /// Table of packet extensions (TCP options) for the packets of both ends.
    pub exts: &'a mut ExtensionSlab,
    /// Packets that the call sends, appended in the order in which they leave.
    pub out: &'a mut ReleasedPackets,
    /// Number of timers that the host has set so far; setting a timer for the same tick again does not count.
    pub timers_set: &'a mut u64,
}

impl Io<'_> {
    /// Returns the time at which a timer of `host` is handled if set now for `wait`; `pending` is its present expiry.
    /// A timer that is set for the same tick again keeps its place among the timers of that tick, as with Linux's
    /// `mod_timer`.
    fn timer_expiry(&mut self, host: HostId, wait: Dur, pending: Time) -> Time {
        let at = self.cfg.host_ticks(host).expiry(self.now, wait);
        if at.is_same_bucket(pending) {
            return pending;
        }
        *self.timers_set += 1;
        at.handling_time(*self.timers_set)
    }
}

/// Message of a switch or a NIC to a sender, other than an ACK.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Congestion notification message with this quantized feedback (802.1Qau CNM).
    Cnm(u8),
    /// Return of a bounced frame with this number of payload bytes (PABO §II-G).
    Bounced(u16),
}

/// Returns the 64-bit offset whose low half is `low`, nearest to `near`; `None` if it would be negative.
#[inline]
pub(crate) fn unwrap_offset(low: u32, near: u64) -> Option<u64> {
    near.checked_add_signed(i64::from(low.wrapping_sub(near as u32) as i32))
}
