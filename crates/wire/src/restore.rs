//! A simulated segment from its frame, and from what no header tells.

use crate::address::{host, ports};
use crate::flags::{CpPacket, TcpFlags};
use crate::frame::{self, Crossing, FLAGS};
use crate::layout::Malformed;
use crate::options::Options;
use crate::segment::{LengthIn, Segment};
use dataplane::{Ext, Framing, NO_EXT, Pkt, SynOptions};
use mech::routing::AddressPlan;
use mech::{Flags, FlowId, Head, PortId};
use units::Time;

/// What no header tells of a segment: its identity, what befell it, what only the simulation knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Side {
    /// The flow, of which ports tell the number modulo 16 million.
    pub flow: FlowId,
    /// Which emission it is, of which the identification has 16 bits.
    pub emission: u32,
    /// When it was sent.
    pub sent: Time,
    /// Hash of its direction of the flow.
    pub hash: u32,
    /// Scheduling rank.
    pub rank: u32,
    /// The port that it came in by.
    pub ingress: PortId,
    /// Links crossed.
    pub hops: u16,
    /// Times it was bounced.
    pub bounces: u8,
    /// Times it was detoured.
    pub detours: u8,
    /// Returned, retransmitted, flooded.
    pub flags: Flags,
    /// It may enter any number of switches, for which its header says 64.
    pub unlimited: bool,
    /// It ends a burst of its sender: PSH tells this and the end of a write alike.
    pub burst: bool,
}

impl Side {
    /// What no header tells of a packet.
    pub fn from_packet(pkt: &Pkt, ext: Option<&Ext>) -> Side {
        let head = &pkt.head;
        let told = FLAGS.iter().fold(Flags::PAYLOAD.with(Flags::REVERSE), |all, (flag, _)| all.with(*flag));
        Side {
            flow: head.flow,
            emission: pkt.emission & !0xffff,
            sent: pkt.sent,
            hash: head.hash,
            rank: head.rank,
            ingress: head.ingress,
            hops: head.hops,
            bounces: head.bounces,
            detours: head.detours,
            flags: head.flags.without(told),
            unlimited: head.ttl == 0,
            burst: ext.is_some_and(|ext| ext.push),
        }
    }
}

/// What all packets of a network have in common.
#[derive(Clone, Copy, Debug)]
pub struct Network {
    /// What surrounds a payload.
    pub framing: Framing,
    /// The addresses, where places have them; else hosts are numbered.
    pub plan: Option<AddressPlan>,
}

/// A segment as the simulation has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Restored {
    /// The packet, its extension not stored yet.
    pub pkt: Pkt,
    /// Its extension, if it has options.
    pub ext: Option<Ext>,
    /// Whether its header says PSH: it has the last byte of what the application handed over, or ends a burst.
    pub push: bool,
}

impl Network {
    /// Makes a segment of a frame as [`deparse`](crate::deparse) writes it and the record beside it. Nothing is
    /// lost: what a simulated segment cannot say is refused. A packet that was cut comes back where frames have all
    /// headers ([`Framing::ETHERNET`]), since its size alone says what it had.
    ///
    /// # Errors
    /// Where the frame is no segment of this network and flow, or longer than frames can be here (65,535 B with
    /// their link's header and check sequence).
    pub fn restore(&self, frame: &[u8], side: &Side) -> Result<Restored, Malformed> {
        let segment = Segment::read(frame, LengthIn::Ip)?;
        let found = (segment.source_port, segment.destination_port);
        let (there, back) = (ports(side.flow), (found.1, found.0));
        if there != found && there != back {
            return Err(Malformed::Ports { found, flow: side.flow.0 });
        }
        let reverse = there == back;
        let ends = [segment.ip.source, segment.ip.destination];
        let [src, dst] = ends.map(|address| host(address, self.plan).ok_or(Malformed::Address(address)));
        let cut = segment.packet() == CpPacket::Cut;
        let payload = if cut { 0 } else { segment.payload };
        let options = segment.options.length();
        let around = [options, self.framing.header, self.framing.link];
        if around.iter().try_fold(segment.payload, |all, more| all.checked_add(*more)).is_none() {
            return Err(Malformed::TooLong { options: options.into(), payload: segment.payload });
        }
        let orig_size = self.framing.frame(segment.payload, options);
        let ttl = if side.unlimited { 0 } else { segment.ip.ttl };
        let head = Head {
            flow: side.flow,
            src: src?,
            dst: dst?,
            hash: side.hash,
            rank: side.rank,
            size: self.framing.frame(payload, options),
            orig_size,
            ingress: side.ingress,
            hops: side.hops,
            flags: flags(&segment, reverse).with(side.flags),
            tos: segment.ip.tos,
            ttl,
            bounces: side.bounces,
            detours: side.detours,
        };
        let answer = reverse && segment.flags.has(TcpFlags::SYN);
        let pkt = Pkt {
            sent: side.sent,
            head,
            seq: segment.sequence.wrapping_add(u32::from(answer)),
            ack: segment.acknowledgement,
            emission: side.emission | u32::from(segment.ip.identification),
            ext: NO_EXT,
            payload,
            window: segment.window,
        };
        let (ext, push) = (extension(&segment.options, side.burst), segment.flags.has(TcpFlags::PSH));
        let again = frame::segment(&Crossing { pkt: &pkt, ext: ext.as_ref(), push, plan: self.plan, roce: None });
        if again == segment { Ok(Restored { pkt, ext, push }) } else { Err(Malformed::Foreign) }
    }
}

/// The flags that the header tells.
fn flags(segment: &Segment, reverse: bool) -> Flags {
    let there = segment.payload > 0 && segment.packet() != CpPacket::Cut;
    let more = [(there, Flags::PAYLOAD), (reverse, Flags::REVERSE)];
    let set = FLAGS.iter().map(|(flag, bit)| (segment.flags.has(*bit), *flag));
    set.chain(more).filter(|(set, _)| *set).fold(Flags(0), |all, (_, flag)| all.with(flag))
}

/// The extension of a packet with these options, which may end a burst; none where there is nothing to say.
fn extension(options: &Options, push: bool) -> Option<Ext> {
    let syn = options.mss.map(|mss| SynOptions {
        mss,
        window_scale: options.window_scale,
        sack_permitted: options.sack_permitted,
        pack_permitted: options.pack_permitted,
    });
    let ext = Ext { sack: options.sack, blocks: options.blocks, timestamps: options.timestamps, syn, push };
    (ext != Ext::default()).then_some(ext)
}

#[cfg(test)]
mod tests;
