//! Replies to late packets of a flow whose receiver was freed after it had received everything.

use super::options::tsval_of;
use super::{EcnMode, Receiver, is_marked, segment};
use crate::transport::clock::{is_older, tsval};
use crate::transport::{FlowInfo, Io, unwrap_offset};
use crate::{PacketExtension, Pkt, Timestamps};
use mech::Flags;

/// State that remains of a receiver that has received everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FinishedReceiver {
    /// ACKs sent; also the number of the next emitted packet.
    pub acks: u32,
    /// TS.Recent (RFC 7323 §4.3). On Linux, a repeated last segment of the flow changes it; no other old one does.
    pub recent: u32,
}

impl Receiver {
    /// Returns the state that [`ack_of_finished`] needs after this receiver is freed.
    pub fn finished_state(&self) -> FinishedReceiver {
        FinishedReceiver { acks: self.emission, recent: self.recent }
    }
}

/// Replies to a packet of a flow whose receiver was freed when all data had arrived, as that receiver would.
/// Data and SYNs get an ACK of everything. It has the timestamp that the receiver would echo, and a DSACK of data that
/// came again (RFC 2883 §4). For DCTCP it echoes the mark of this packet (others ignore marks outside of the window,
/// RFC 3168 §6.1.5).
pub fn ack_of_finished(flow: &FlowInfo, pkt: &Pkt, left: &mut FinishedReceiver, io: &mut Io) {
    let cfg = io.cfg;
    let data = pkt.head.flags.has(Flags::PAYLOAD) && pkt.payload > 0;
    let start = unwrap_offset(pkt.seq, flow.bytes).filter(|_| data);
    if start.is_none() && !pkt.head.flags.has(Flags::SYN) {
        return;
    }
    let ece = cfg.ecn == EcnMode::Exact && is_marked(pkt);
    let mut ack = segment::ack_segment(flow, flow.bytes, ece, cfg);
    let is_last = start.is_some_and(|start| start + u64::from(pkt.payload) >= flow.bytes);
    if is_last && cfg.is_linux() {
        let newer = |stamp: &u32| !is_older(*stamp, left.recent);
        left.recent = tsval_of(pkt, io).filter(newer).unwrap_or(left.recent);
    }
    let timestamps = cfg.timestamps.then(|| Timestamps { val: tsval(io.now, cfg), ecr: left.recent });
    let mut ext = PacketExtension { timestamps, ..PacketExtension::default() };
    if let Some(start) = start.filter(|_| cfg.recovery.has_sack()) {
        let end = (start + u64::from(pkt.payload)).min(flow.bytes);
        ext.sack[0] = (start as u32, end as u32);
        ext.blocks = u8::from(start < end);
    }
    segment::add_options(&mut ack, ext, io);
    segment::stamp_packet(&mut ack, io.now, &mut left.acks);
    io.out.push(ack);
}
