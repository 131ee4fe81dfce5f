//! Persistent connections: messages are ranges of one stream of bytes.

use super::{FlowTable, NO_SLOT};
use crate::out::{Out, Outcome};
use crate::transport::{Sender, SenderStats};
use mech::FlowId;
use std::collections::VecDeque;

/// Persistent connection, and its messages that are not acknowledged.
#[derive(Clone, Debug, Default)]
pub(crate) struct Persistent {
    connection: FlowId,
    /// Messages that are not acknowledged, in the order in which they were written.
    open: VecDeque<Message>,
    /// Number of unacknowledged messages that have reached the receiver.
    delivered: usize,
    /// Number of bytes that the application has written to the connection.
    written: u64,
    /// Statistics of the sender when the last message was acknowledged.
    reported: Option<SenderStats>,
}

/// Message on a persistent connection: a range of its byte stream, reported as a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Number under which the message is reported as a flow.
    pub flow: FlowId,
    /// Offset of the first byte of the message in the stream of the connection.
    pub start: u64,
    /// Offset behind the last byte of the message in the stream of the connection.
    pub end: u64,
}

impl Persistent {
    /// Replaces the flow numbers of the connection and of its messages by those that `rank` returns.
    pub(super) fn renumber(&mut self, rank: impl Fn(FlowId) -> FlowId) {
        self.connection = rank(self.connection);
        self.open.iter_mut().for_each(|message| message.flow = rank(message.flow));
    }
}

impl SenderStats {
    /// Returns the sender's statistics since `before`: differences of counts, and present values of all other fields.
    /// Counts are those of retransmissions, recoveries, timeouts, echoes, PACKs, probes and undos.
    fn stats_since(&self, before: Option<&SenderStats>) -> SenderStats {
        let Some(before) = before else { return *self };
        SenderStats {
            retransmissions: self.retransmissions - before.retransmissions,
            fast_retransmits: self.fast_retransmits - before.fast_retransmits,
            timeouts: self.timeouts - before.timeouts,
            echoes: self.echoes - before.echoes,
            packs: self.packs - before.packs,
            tlp_probes: self.tlp_probes - before.tlp_probes,
            undos: self.undos - before.undos,
            ..*self
        }
    }
}

impl FlowTable {
    /// Marks a flow as a persistent connection.
    pub(crate) fn make_persistent(&mut self, connection: FlowId) {
        self.ends[connection.0 as usize].persistent = self.persistent.len() as u32;
        self.persistent.push(Persistent { connection, ..Persistent::default() });
    }

    fn persistent_mut(&mut self, connection: FlowId) -> Option<&mut Persistent> {
        self.persistent.get_mut(self.ends[connection.0 as usize].persistent as usize)
    }

    /// Appends a message to a persistent connection.
    pub(crate) fn append_message(&mut self, connection: FlowId, message: FlowId) {
        let bytes = self.info(message).bytes;
        let Some(persistent) = self.persistent_mut(connection) else { return };
        let start = persistent.written;
        persistent.written += bytes;
        persistent.open.push_back(Message { flow: message, start, end: persistent.written });
    }

    /// Reports messages of a persistent connection as received if the first `received` bytes contain them.
    #[inline(never)]
    pub(crate) fn report_received(&mut self, connection: FlowId, received: u64, out: &mut impl Out) {
        let Some(persistent) = self.persistent_mut(connection) else { return };
        while let Some(message) = persistent.open.get(persistent.delivered).filter(|m| m.end <= received) {
            persistent.delivered += 1;
            out.report_outcome(Outcome::FlowReceived(message.flow));
        }
    }

    /// Reports messages of a persistent connection that are acknowledged.
    /// Statistics since the last acknowledged message go to the next one.
    #[inline(never)]
    pub(crate) fn report_acknowledged(&mut self, connection: FlowId, sender: &Sender, out: &mut impl Out) {
        let Some(persistent) = self.persistent_mut(connection) else { return };
        while let Some(message) = persistent.open.front().filter(|m| m.end <= sender.acknowledged_bytes()) {
            let (flow, stats) = (message.flow, sender.stats());
            out.report_outcome(Outcome::FlowAcknowledged(flow, &stats.stats_since(persistent.reported.as_ref())));
            persistent.reported = Some(stats);
            persistent.open.pop_front();
            // `delivered` is 0 here if the receiver is in another partition, which counts deliveries there.
            persistent.delivered = persistent.delivered.saturating_sub(1);
        }
    }

    /// Returns true if a flow opened a persistent connection.
    pub fn is_persistent(&self, flow: FlowId) -> bool {
        self.ends[flow.0 as usize].persistent != NO_SLOT
    }

    /// Returns the messages of a persistent connection that are not acknowledged.
    pub fn open_messages(&self, connection: FlowId) -> impl Iterator<Item = &Message> {
        let persistent = self.persistent.get(self.ends[connection.0 as usize].persistent as usize);
        persistent.into_iter().flat_map(|persistent| &persistent.open)
    }

    /// Returns the flow numbers of all persistent connections.
    pub fn persistent_connections(&self) -> impl Iterator<Item = FlowId> {
        self.persistent.iter().map(|persistent| persistent.connection)
    }

    /// Returns the statistics of a persistent connection's sender since the last message that was acknowledged.
    pub fn stats_since_report(&self, connection: FlowId, stats: &SenderStats) -> SenderStats {
        let persistent = self.persistent.get(self.ends[connection.0 as usize].persistent as usize);
        stats.stats_since(persistent.and_then(|persistent| persistent.reported.as_ref()))
    }
}
