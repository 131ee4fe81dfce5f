//! Conversion of a frame, with data that is in no header, back to a simulated segment.

use crate::address::{find_host_by_address, flow_ports};
use crate::flags::{CpPacket, TcpFlags};
use crate::frame::{self, FLAG_MAP, PacketOnLink};
use crate::layout::Malformed;
use crate::options::TcpOptions;
use crate::segment::{LengthField, Segment};
use dataplane::{Framing, NO_EXT, PacketExtension, Pkt, SynOptions};
use mech::routing::AddressPlan;
use mech::{DscpTable, Flags, FlowId, Head, PortId};
use units::Time;

/// Data of a segment that is in no header: its identity, its history, and state of the simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SideData {
    /// Flow of the segment; the ports encode its number modulo 16 million.
    pub flow: FlowId,
    /// Number of the packet among its flow's emissions; the IPv4 identification has its low 16 bits.
    pub emission: u32,
    /// Time at which the segment was sent.
    pub sent: Time,
    /// 5-tuple hash of this direction of the flow.
    pub hash: u32,
    /// Scheduling rank of the segment; the lowest rank leaves first.
    pub rank: u32,
    /// Port at which the segment arrived.
    pub ingress: PortId,
    /// Number of links that the segment has crossed.
    pub hops: u16,
    /// Number of times that the segment was bounced.
    pub bounces: u8,
    /// Number of times that the segment was detoured.
    pub detours: u8,
    /// Flags without a bit in the TCP header: returned, retransmitted, flooded.
    pub flags: Flags,
    /// True if switches may cut the segment; its DSCP may not show that ([`DscpTable::new`]).
    pub trimmable: bool,
    /// True if the TTL of the segment is unlimited; its header then has a TTL of 64.
    pub unlimited: bool,
    /// True if the segment ends a burst of its sender; PSH also marks the end of a write.
    pub burst: bool,
}

impl SideData {
    /// Returns the data of a packet that are in no header.
    pub fn from_packet(pkt: &Pkt, ext: Option<&PacketExtension>) -> SideData {
        let head = &pkt.head;
        let told = FLAG_MAP.iter().fold(Flags::PAYLOAD.with(Flags::REVERSE), |all, (flag, _)| all.with(*flag));
        SideData {
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
            trimmable: head.is_trimmable(),
            unlimited: head.ttl == 0,
            burst: ext.is_some_and(|ext| ext.push),
        }
    }
}

/// Properties that all frames of a network share.
#[derive(Clone, Copy, Debug)]
pub struct NetworkFormat {
    /// Headers, minimum frame and gap around each payload.
    pub framing: Framing,
    /// Address plan of the network; without one, addresses come from the numbers of hosts.
    pub plan: Option<AddressPlan>,
    /// DSCPs of the run.
    pub dscps: DscpTable,
}

/// Segment as the simulation represents it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RestoredSegment {
    /// Simulated packet, without its extension.
    pub pkt: Pkt,
    /// Extension of the packet with its TCP options, if it has any.
    pub ext: Option<PacketExtension>,
    /// True if the header has PSH: the segment has the last byte that the application handed over, or ends a burst.
    pub push: bool,
}

impl NetworkFormat {
    /// Converts a frame written by [`write_frame`](crate::write_frame), and its side data, to a segment.
    ///
    /// Nothing is lost: fields that a simulated segment cannot represent are refused. A cut packet can be restored if
    /// frames have all headers ([`Framing::ETHERNET`]), since only its size gives its original length.
    ///
    /// # Errors
    /// Returns an error if the frame is no segment of this network and flow. A frame is also refused if it is longer
    /// than simulated frames can be (65,535 B with their link's header and check sequence).
    pub fn restore(&self, frame: &[u8], side: &SideData) -> Result<RestoredSegment, Malformed> {
        let segment = Segment::read(frame, LengthField::Ip)?;
        let found = (segment.source_port, segment.destination_port);
        let (there, back) = (flow_ports(side.flow), (found.1, found.0));
        if there != found && there != back {
            return Err(Malformed::Ports { found, flow: side.flow.0 });
        }
        let reverse = there == back;
        let ends = [segment.ip.source, segment.ip.destination];
        let [src, dst] =
            ends.map(|address| find_host_by_address(address, self.plan).ok_or(Malformed::Address(address)));
        let cut = segment.cp_packet() == CpPacket::Cut;
        let payload = if cut { 0 } else { segment.payload };
        let options = segment.options.padded_length();
        let around = [options, self.framing.header, self.framing.link];
        if around.iter().try_fold(segment.payload, |all, more| all.checked_add(*more)).is_none() {
            return Err(Malformed::TooLong { options: options.into(), payload: segment.payload });
        }
        let orig_size = self.framing.frame_size(segment.payload, options);
        let tos = self.dscps.head_tos(segment.ip.tos, side.trimmable).ok_or(Malformed::Dscp(segment.ip.tos >> 2))?;
        let ttl = if side.unlimited { 0 } else { segment.ip.ttl };
        let head = Head {
            flow: side.flow,
            src: src?,
            dst: dst?,
            hash: side.hash,
            rank: side.rank,
            size: self.framing.frame_size(payload, options),
            orig_size,
            ingress: side.ingress,
            hops: side.hops,
            flags: header_flags(&segment, reverse).with(side.flags),
            tos,
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
        let (ext, push) = (packet_extension(&segment.options, side.burst), segment.flags.has(TcpFlags::PSH));
        // Writing the result again is the check that no field was dropped.
        let again = frame::segment_of_packet(&PacketOnLink {
            pkt: &pkt,
            ext: ext.as_ref(),
            push,
            plan: self.plan,
            roce: None,
            dscps: &self.dscps,
        });
        if again == segment { Ok(RestoredSegment { pkt, ext, push }) } else { Err(Malformed::Foreign) }
    }
}

/// Returns the simulated flags that the TCP header encodes.
fn header_flags(segment: &Segment, reverse: bool) -> Flags {
    let there = segment.payload > 0 && segment.cp_packet() != CpPacket::Cut;
    let more = [(there, Flags::PAYLOAD), (reverse, Flags::REVERSE)];
    let set = FLAG_MAP.iter().map(|(flag, bit)| (segment.flags.has(*bit), *flag));
    set.chain(more).filter(|(set, _)| *set).fold(Flags(0), |all, (_, flag)| all.with(flag))
}

/// Returns the extension of a packet with these options, which may end a burst; `None` if it would be empty.
fn packet_extension(options: &TcpOptions, push: bool) -> Option<PacketExtension> {
    let syn = options.mss.map(|mss| SynOptions {
        mss,
        window_scale: options.window_scale,
        sack_permitted: options.sack_permitted,
        pack_permitted: options.pack_permitted,
    });
    let ext = PacketExtension { sack: options.sack, blocks: options.blocks, timestamps: options.timestamps, syn, push };
    (ext != PacketExtension::default()).then_some(ext)
}

#[cfg(test)]
mod tests;
