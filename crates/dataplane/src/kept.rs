//! Connections that are kept: messages are stretches of one stream of bytes.

use crate::flows::{FlowTable, NONE};
use crate::out::Out;
use crate::transport::{Sender, SenderStats};
use mech::FlowId;
use std::collections::VecDeque;

/// A kept connection: where its messages end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept {
    connection: FlowId,
    /// Messages that are not acknowledged, in the order in which they were written.
    open: VecDeque<Message>,
    /// How many of them the receiver has.
    delivered: usize,
    /// Bytes written.
    written: u64,
    /// What the sender had done when a message was acknowledged last.
    told: Option<SenderStats>,
}

/// A message of a kept connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The flow that it is.
    pub flow: FlowId,
    /// Bytes of the connection before its first.
    pub start: u64,
    /// Bytes of the connection up to its last.
    pub end: u64,
}

impl SenderStats {
    /// What was done since it had done `before`: counts of retransmissions, recoveries, timeouts
    /// and echoes; the rest is as it stands.
    fn since(&self, before: Option<&SenderStats>) -> SenderStats {
        let Some(before) = before else { return *self };
        SenderStats {
            retransmissions: self.retransmissions - before.retransmissions,
            fast_retransmits: self.fast_retransmits - before.fast_retransmits,
            timeouts: self.timeouts - before.timeouts,
            echoes: self.echoes - before.echoes,
            ..*self
        }
    }
}

impl FlowTable {
    /// A flow's connection is kept.
    pub(crate) fn keep(&mut self, connection: FlowId) {
        self.ends[connection.0 as usize].kept = self.kept.len() as u32;
        self.kept.push(Kept { connection, ..Kept::default() });
    }

    fn kept_of(&mut self, connection: FlowId) -> Option<&mut Kept> {
        self.kept.get_mut(self.ends[connection.0 as usize].kept as usize)
    }

    /// A message is written behind the others.
    pub(crate) fn write(&mut self, connection: FlowId, message: FlowId) {
        let bytes = self.info(message).bytes;
        let Some(kept) = self.kept_of(connection) else { return };
        let start = kept.written;
        kept.written += bytes;
        kept.open.push_back(Message { flow: message, start, end: kept.written });
    }

    /// The receiver of a kept connection has so many bytes in order.
    #[inline(never)]
    pub(crate) fn deliver(&mut self, connection: FlowId, received: u64, out: &mut impl Out) {
        let Some(kept) = self.kept_of(connection) else { return };
        while let Some(message) = kept.open.get(kept.delivered).filter(|m| m.end <= received) {
            kept.delivered += 1;
            out.flow_received(message.flow);
        }
    }

    /// The sender of a kept connection has been told something. What it did since the last message
    /// that was acknowledged is put to the next one.
    #[inline(never)]
    pub(crate) fn acknowledge(&mut self, connection: FlowId, sender: &Sender, out: &mut impl Out) {
        let Some(kept) = self.kept_of(connection) else { return };
        while let Some(message) = kept.open.front().filter(|m| m.end <= sender.acknowledged()) {
            let (flow, stats) = (message.flow, sender.stats());
            out.flow_acked(flow, &stats.since(kept.told.as_ref()));
            kept.told = Some(stats);
            kept.open.pop_front();
            kept.delivered -= 1;
        }
    }

    /// Whether a flow opened a connection that is kept.
    pub fn is_kept(&self, flow: FlowId) -> bool {
        self.ends[flow.0 as usize].kept != NONE
    }

    /// The messages of a kept connection that are not known to have arrived.
    pub fn open_messages(&self, connection: FlowId) -> impl Iterator<Item = &Message> {
        let kept = self.kept.get(self.ends[connection.0 as usize].kept as usize);
        kept.into_iter().flat_map(|kept| &kept.open)
    }

    /// The connections that are kept.
    pub fn kept_connections(&self) -> impl Iterator<Item = FlowId> {
        self.kept.iter().map(|kept| kept.connection)
    }

    /// What the sender of a kept connection did since the last message that was acknowledged.
    pub fn since_told(&self, connection: FlowId, stats: &SenderStats) -> SenderStats {
        let kept = self.kept.get(self.ends[connection.0 as usize].kept as usize);
        stats.since(kept.and_then(|kept| kept.told.as_ref()))
    }
}
