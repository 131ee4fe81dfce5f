//! Conversion of simulated packets to frames.

use crate::address::{self, flow_ports, host_addresses};
use crate::flags::{CpPacket, TcpFlags};
use crate::options::TcpOptions;
use crate::segment::{IPV4_HEADER, IpHeader, LengthField, MIN_FRAME_BYTES, Segment};
use dataplane::{CNM_UNIT, PacketBody, PacketExtension, PauseFrame, Pkt};
use etherparse::{EtherType, Ethernet2Header, IpNumber, UdpHeader};
use mech::routing::AddressPlan;
use mech::{DscpTable, Flags, Notice};

mod roce;

/// Size of a frame's check sequence in bytes; captures do not contain it.
pub const FCS_BYTES: u16 = 4;

/// EtherType of MAC control frames (IEEE 802.3 §31.4.1.3), and the group address of frames for one link (§31B.1).
const MAC_CONTROL_ETHER_TYPE: EtherType = EtherType(0x8808);
const LINK_LOCAL_GROUP: [u8; 6] = [0x01, 0x80, 0xc2, 0x00, 0x00, 0x01];
/// Opcodes of MAC control frames, for PAUSE and PFC (§31B.2, 802.1Qbb §31D.2).
const PAUSE_OPCODE: u16 = 0x0001;
const PFC_OPCODE: u16 = 0x0101;
/// EtherType of congestion notification messages (802.1Qau §33.2).
const CNM_ETHER_TYPE: EtherType = EtherType(0x22e7);
const ETHERNET_HEADER: u16 = 14;
const TCP_HEADER: u16 = 20;
const UDP_HEADER: u16 = 8;

/// Packet that crosses a link, with all that its frame depends on.
#[derive(Clone, Copy, Debug)]
pub struct PacketOnLink<'a> {
    /// Packet that crosses the link, without its TCP options.
    pub pkt: &'a Pkt,
    /// TCP options of the packet.
    pub ext: Option<&'a PacketExtension>,
    /// True if the packet has the last byte that the application handed over (RFC 9293 §3.9.1.2: PSH).
    pub push: bool,
    /// Address plan of the network; without one, addresses come from the numbers of hosts.
    pub plan: Option<AddressPlan>,
    /// Payload of a full packet in bytes, if the flow uses RoCE.
    pub roce: Option<u16>,
    /// DSCPs of the run.
    pub dscps: &'a DscpTable,
}

/// Appends the frame of a packet: Ethernet II, IPv4, and TCP, UDP (raw packets) or RoCEv2 (with its CNPs).
/// PAUSE and PFC frames are MAC control frames, and a CNM follows its EtherType.
///
/// The frame has the simulated length without check sequence, and at least the length of its headers and payload. It is
/// longer than simulated if a scenario's framing leaves headers out. A raw packet's UDP header is shorter than TCP's.
/// The difference counts as payload, so that the datagram fills its frame.
pub fn write_frame(crossing: &PacketOnLink, out: &mut Vec<u8>) {
    let (start, head) = (out.len(), &crossing.pkt.head);
    let mac = |host| host_addresses(host, crossing.plan).1;
    match crossing.pkt.body() {
        PacketBody::Pause(frame) => write_mac_control(&frame, address::mac_address(head.src), out),
        PacketBody::Notice(notice @ Notice::Cnm { .. }) => {
            let (source, destination) = (address::mac_address(head.src), mac(head.dst));
            out.extend_from_slice(&Ethernet2Header { source, destination, ether_type: CNM_ETHER_TYPE }.to_bytes());
            write_cnm(crossing.pkt, notice, out);
        }
        PacketBody::Segment(_) if crossing.roce.is_none() => {
            let written = segment_of_packet(crossing).write(LengthField::Ip, out);
            debug_assert_eq!(written, Ok(()), "options and payload fit");
        }
        PacketBody::Raw(_) => {
            write_ethernet(crossing, out);
            write_udp(crossing, out);
        }
        PacketBody::Segment(_) | PacketBody::Notice(Notice::Cnp) => {
            write_ethernet(crossing, out);
            roce::write_roce(crossing, out);
        }
    }
    let length = usize::from(head.size.saturating_sub(FCS_BYTES)).max(MIN_FRAME_BYTES);
    out.resize(out.len().max(start + length), 0);
}

/// Appends the Ethernet header of an IPv4 packet.
fn write_ethernet(crossing: &PacketOnLink, out: &mut Vec<u8>) {
    let [source, destination] =
        [crossing.pkt.head.src, crossing.pkt.head.dst].map(|host| host_addresses(host, crossing.plan).1);
    let header = Ethernet2Header { source, destination, ether_type: EtherType::IPV4 };
    out.extend_from_slice(&header.to_bytes());
}

/// Appends a MAC control frame: PAUSE with its quanta, or PFC.
/// PFC has a vector of classes and the quanta of each, 0 for a class that may resume.
fn write_mac_control(frame: &PauseFrame, source: [u8; 6], out: &mut Vec<u8>) {
    let ethernet = Ethernet2Header { source, destination: LINK_LOCAL_GROUP, ether_type: MAC_CONTROL_ETHER_TYPE };
    out.extend_from_slice(&ethernet.to_bytes());
    let quanta = |class| if frame.xoff.has(class) { frame.quanta } else { 0 };
    if frame.whole {
        [PAUSE_OPCODE, quanta(0)].iter().for_each(|word| out.extend_from_slice(&word.to_be_bytes()));
        return;
    }
    let meant = u16::from(frame.xoff.union(frame.xon).0);
    [PFC_OPCODE, meant].iter().for_each(|word| out.extend_from_slice(&word.to_be_bytes()));
    (0..8).for_each(|class| out.extend_from_slice(&quanta(class).to_be_bytes()));
}

/// Appends the fields of a CNM (802.1Qau §33.4) without the encapsulated frame.
/// They are version 0, feedback, the congestion point as switch and port, and lengths of the queue in their units.
fn write_cnm(pkt: &Pkt, notice: Notice, out: &mut Vec<u8>) {
    let Notice::Cnm { feedback, q_off, q_delta, point } = notice else { return };
    let cpid = u64::from(pkt.head.src.0) << 16 | u64::from(point.0);
    let words = [q_off, q_delta].map(|bytes| (bytes / CNM_UNIT) as i16);
    out.extend_from_slice(&u16::from(feedback).to_be_bytes());
    out.extend_from_slice(&cpid.to_be_bytes());
    words.iter().for_each(|word| out.extend_from_slice(&word.to_be_bytes()));
}

/// Returns the IPv4 header of a packet, with its DSCP from the table of the run.
/// The identification counts the flow's emissions in this direction.
fn ip_header(crossing: &PacketOnLink) -> IpHeader {
    let (pkt, head) = (crossing.pkt, &crossing.pkt.head);
    let ipv4 = |host| host_addresses(host, crossing.plan).0;
    IpHeader {
        source: ipv4(head.src),
        destination: ipv4(head.dst),
        tos: crossing.dscps.ipv4_tos(head.tos),
        identification: pkt.emission as u16,
        dont_fragment: true,
        ttl: if head.ttl == 0 { 64 } else { head.ttl },
    }
}

/// Returns the source and destination port (TCP or UDP) of a packet.
fn packet_ports(pkt: &Pkt) -> (u16, u16) {
    let (sender, receiver) = flow_ports(pkt.head.flow);
    if pkt.head.flags.has(Flags::REVERSE) { (receiver, sender) } else { (sender, receiver) }
}

/// Converts a simulated packet to a TCP segment.
pub(crate) fn segment_of_packet(crossing: &PacketOnLink) -> Segment {
    let PacketOnLink { pkt, ext, push, .. } = *crossing;
    let mac = |host| host_addresses(host, crossing.plan).1;
    let (source_port, destination_port) = packet_ports(pkt);
    let push = push || ext.is_some_and(|ext| ext.push);
    let flags = tcp_flags(pkt.head.flags).with(if push { TcpFlags::PSH } else { TcpFlags(0) });
    let options = ext.map(TcpOptions::from_ext).unwrap_or_default();
    let headers = IPV4_HEADER + TCP_HEADER + options.padded_length();
    // The packet no longer has the length of a payload that was cut off, so the original size of the frame gives it.
    // Padding of the original frame thus counts as payload.
    let lost = pkt.head.orig_size.saturating_sub(ETHERNET_HEADER + FCS_BYTES + headers);
    let payload = if flags.cp_packet() == CpPacket::Cut { lost } else { pkt.payload };
    // A receiver's SYN takes no sequence number in the simulation, but takes one in TCP (RFC 9293 §3.4). In its frame,
    // it thus has the number before the receiver's first byte.
    let answer = pkt.head.flags.has(Flags::SYN.with(Flags::REVERSE));
    Segment {
        source_mac: mac(pkt.head.src),
        destination_mac: mac(pkt.head.dst),
        ip: ip_header(crossing),
        source_port,
        destination_port,
        sequence: if answer { pkt.seq.wrapping_sub(1) } else { pkt.seq },
        acknowledgement: pkt.ack,
        flags,
        window: pkt.window,
        urgent: 0,
        options,
        payload: payload.min(u16::MAX - headers),
    }
}

/// Simulated flags that have a bit in the TCP header, each with that bit.
pub(crate) const FLAG_MAP: [(Flags, TcpFlags); 8] = [
    (Flags::ACK, TcpFlags::ACK),
    (Flags::SYN, TcpFlags::SYN),
    (Flags::FIN, TcpFlags::FIN),
    (Flags::RST, TcpFlags::RST),
    (Flags::ECE, TcpFlags::ECE),
    (Flags::CWR, TcpFlags::CWR),
    (Flags::CPA, TcpFlags::CPA),
    (Flags::PPL, TcpFlags::PPL),
];

fn tcp_flags(of: Flags) -> TcpFlags {
    FLAG_MAP.iter().filter(|(flag, _)| of.has(*flag)).fold(TcpFlags(0), |all, (_, bit)| all.with(*bit))
}

/// Appends a UDP datagram of zeros (RFC 768).
fn write_udp(crossing: &PacketOnLink, out: &mut Vec<u8>) {
    let pkt = crossing.pkt;
    let (from, to) = packet_ports(pkt);
    let fills = pkt.head.size.saturating_sub(ETHERNET_HEADER + FCS_BYTES + IPV4_HEADER + UDP_HEADER);
    let payload = pkt.payload.max(fills).min(u16::MAX - IPV4_HEADER - UDP_HEADER);
    let ip = ip_header(crossing).header(IpNumber::UDP, UDP_HEADER + payload);
    let data = out.len() + usize::from(IPV4_HEADER + UDP_HEADER);
    out.resize(data + usize::from(payload), 0);
    let mut header = UdpHeader { source_port: from, destination_port: to, length: UDP_HEADER + payload, checksum: 0 };
    header.checksum = header.calc_checksum_ipv4_raw(ip.source, ip.destination, &out[data..]).unwrap_or(0);
    write_headers(out, data, &[&ip.to_bytes(), &header.to_bytes()]);
}

/// Writes headers one after the other, so that the last one ends at offset `end`.
fn write_headers(out: &mut [u8], end: usize, headers: &[&[u8]]) {
    let mut at = end - headers.iter().map(|header| header.len()).sum::<usize>();
    for header in headers {
        out[at..at + header.len()].copy_from_slice(header);
        at += header.len();
    }
}

#[cfg(test)]
mod tests;
