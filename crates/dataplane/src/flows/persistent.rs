//! Persistent connections: messages are ranges of one stream of bytes.

use super::{FlowTable, NO_SLOT};
use crate::out::{Out, Outcome};
use crate::transport::{Sender, SenderStats};
use mech::FlowId;
use std::collections::VecDeque;

/// Persistent connection, and the ends of its messages.
#[derive(Clone, Debug, Default)]
pub(crate) struct Persistent {
    connection: FlowId,
    /// Messages that are not acknowledged, in the order in which they were written.
    open: VecDeque<Message>,
    /// Number of open messages that the receiver has.
    delivered: usize,
    /// Bytes written.
    written: u64,
    /// Statistics of the sender when a message was last acknowledged.
    reported: Option<SenderStats>,
}

/// Message of a persistent connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Flow that stands for the message.
    pub flow: FlowId,
    /// Bytes of the connection before the first byte of the message.
    pub start: u64,
    /// Bytes of the connection up to the last byte of the message.
    pub end: u64,
}

impl Persistent {
    /// Renumbers the flows of the connection by `rank`.
    pub(super) fn renumber(&mut self, rank: impl Fn(FlowId) -> FlowId) {
        self.connection = rank(self.connection);
        self.open.iter_mut().for_each(|message| message.flow = rank(message.flow));
    }
}

impl SenderStats {
    /// Statistics since `before`: counts of retransmissions, recoveries, timeouts, echoes, PACKs, probes and undos are
    /// differences; all other fields keep their present values.
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
    /// Marks the connection of a flow as persistent.
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

    /// Reports messages of a persistent connection whose bytes the receiver has, `received` of them in order.
    #[inline(never)]
    pub(crate) fn report_received(&mut self, connection: FlowId, received: u64, out: &mut impl Out) {
        let Some(persistent) = self.persistent_mut(connection) else { return };
        while let Some(message) = persistent.open.get(persistent.delivered).filter(|m| m.end <= received) {
            persistent.delivered += 1;
            out.report_outcome(Outcome::FlowReceived(message.flow));
        }
    }

    /// Reports messages of a persistent connection that are acknowledged. Statistics since the last acknowledged
    /// message go to the next one.
    #[inline(never)]
    pub(crate) fn report_acknowledged(&mut self, connection: FlowId, sender: &Sender, out: &mut impl Out) {
        let Some(persistent) = self.persistent_mut(connection) else { return };
        while let Some(message) = persistent.open.front().filter(|m| m.end <= sender.acknowledged_bytes()) {
            let (flow, stats) = (message.flow, sender.stats());
            out.report_outcome(Outcome::FlowAcknowledged(flow, &stats.stats_since(persistent.reported.as_ref())));
            persistent.reported = Some(stats);
            persistent.open.pop_front();
            // A receiver in another partition counts deliveries there.
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

    /// Returns the persistent connections.
    pub fn persistent_connections(&self) -> impl Iterator<Item = FlowId> {
        self.persistent.iter().map(|persistent| persistent.connection)
    }

    /// Statistics of the sender of a persistent connection since the last message that was acknowledged.
    pub fn stats_since_report(&self, connection: FlowId, stats: &SenderStats) -> SenderStats {
        let persistent = self.persistent.get(self.ends[connection.0 as usize].persistent as usize);
        stats.stats_since(persistent.and_then(|persistent| persistent.reported.as_ref()))
    }
}
