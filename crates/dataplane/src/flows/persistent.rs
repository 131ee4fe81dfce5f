//! Connections that are persistent: messages are stretches of one stream of bytes.

use super::{FlowTable, NONE};
use crate::out::{Out, Outcome};
use crate::transport::{Sender, SenderStats};
use mech::FlowId;
use std::collections::VecDeque;

/// A persistent connection: where its messages end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Persistent {
    connection: FlowId,
    /// Messages that are not acknowledged, in the order in which they were written.
    open: VecDeque<Message>,
    /// How many of them the receiver has.
    delivered: usize,
    /// Bytes written.
    written: u64,
    /// What the sender had done when a message was acknowledged last.
    reported: Option<SenderStats>,
}

/// A message of a persistent connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The flow that it is.
    pub flow: FlowId,
    /// Bytes of the connection before its first.
    pub start: u64,
    /// Bytes of the connection up to its last.
    pub end: u64,
}

impl Persistent {
    /// Flows get other numbers.
    pub(super) fn renumber(&mut self, rank: impl Fn(FlowId) -> FlowId) {
        self.connection = rank(self.connection);
        self.open.iter_mut().for_each(|message| message.flow = rank(message.flow));
    }
}

impl SenderStats {
    /// What was done since it had done `before`: counts of retransmissions, recoveries, timeouts,
    /// echoes, PACKs, probes and what was undone; the rest is as it stands.
    fn since(&self, before: Option<&SenderStats>) -> SenderStats {
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
    /// A flow's connection is persistent.
    pub(crate) fn make_persistent(&mut self, connection: FlowId) {
        self.ends[connection.0 as usize].persistent = self.persistent.len() as u32;
        self.persistent.push(Persistent { connection, ..Persistent::default() });
    }

    fn persistent_of(&mut self, connection: FlowId) -> Option<&mut Persistent> {
        self.persistent.get_mut(self.ends[connection.0 as usize].persistent as usize)
    }

    /// A message is written behind the others.
    pub(crate) fn write(&mut self, connection: FlowId, message: FlowId) {
        let bytes = self.info(message).bytes;
        let Some(persistent) = self.persistent_of(connection) else { return };
        let start = persistent.written;
        persistent.written += bytes;
        persistent.open.push_back(Message { flow: message, start, end: persistent.written });
    }

    /// The receiver of a persistent connection has so many bytes in order.
    #[inline(never)]
    pub(crate) fn deliver(&mut self, connection: FlowId, received: u64, out: &mut impl Out) {
        let Some(persistent) = self.persistent_of(connection) else { return };
        while let Some(message) = persistent.open.get(persistent.delivered).filter(|m| m.end <= received) {
            persistent.delivered += 1;
            out.finished(Outcome::Received(message.flow));
        }
    }

    /// The sender of a persistent connection has been told something. What it did since the last message
    /// that was acknowledged is put to the next one.
    #[inline(never)]
    pub(crate) fn acknowledge(&mut self, connection: FlowId, sender: &Sender, out: &mut impl Out) {
        let Some(persistent) = self.persistent_of(connection) else { return };
        while let Some(message) = persistent.open.front().filter(|m| m.end <= sender.acknowledged()) {
            let (flow, stats) = (message.flow, sender.stats());
            out.finished(Outcome::Acknowledged(flow, &stats.since(persistent.reported.as_ref())));
            persistent.reported = Some(stats);
            persistent.open.pop_front();
            // A receiver in another partition of the run counts there.
            persistent.delivered = persistent.delivered.saturating_sub(1);
        }
    }

    /// Whether a flow opened a persistent connection.
    pub fn is_persistent(&self, flow: FlowId) -> bool {
        self.ends[flow.0 as usize].persistent != NONE
    }

    /// The messages of a persistent connection that are not known to have arrived.
    pub fn open_messages(&self, connection: FlowId) -> impl Iterator<Item = &Message> {
        let persistent = self.persistent.get(self.ends[connection.0 as usize].persistent as usize);
        persistent.into_iter().flat_map(|persistent| &persistent.open)
    }

    /// The persistent connections.
    pub fn persistent_connections(&self) -> impl Iterator<Item = FlowId> {
        self.persistent.iter().map(|persistent| persistent.connection)
    }

    /// What the sender of a persistent connection did since the last message that was acknowledged.
    pub fn since_reported(&self, connection: FlowId, stats: &SenderStats) -> SenderStats {
        let persistent = self.persistent.get(self.ends[connection.0 as usize].persistent as usize);
        stats.since(persistent.and_then(|persistent| persistent.reported.as_ref()))
    }
}
