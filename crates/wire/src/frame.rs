//! Frames of simulated packets, as bytes.

use crate::address::{self, addresses, ports};
use crate::flags::{CpPacket, TcpFlags};
use crate::options::Options;
use crate::segment::{IPV4, Ip, LengthIn, SHORTEST, Segment};
use dataplane::{Body, CNM_UNIT, Ext, PauseFrame, Pkt};
use etherparse::{EtherType, Ethernet2Header, IpNumber, UdpHeader};
use mech::routing::AddressPlan;
use mech::{Flags, Notice};

mod roce;

/// Size of a frame's check sequence in bytes; captures do not contain it.
pub const FCS: u16 = 4;

/// EtherType of MAC control frames (IEEE 802.3 §31.4.1.3), and the group address of frames for one link (§31B.1).
const MAC_CONTROL: EtherType = EtherType(0x8808);
const ONE_LINK: [u8; 6] = [0x01, 0x80, 0xc2, 0x00, 0x00, 0x01];
/// Opcode of a MAC control frame (§31B.2, 802.1Qbb §31D.2).
const PAUSE: u16 = 0x0001;
const PFC: u16 = 0x0101;
/// EtherType of congestion notification messages (802.1Qau §33.2).
const CNM: EtherType = EtherType(0x22e7);
const ETHERNET: u16 = 14;
const TCP: u16 = 20;
const UDP: u16 = 8;

/// Packet that crosses a link.
#[derive(Clone, Copy, Debug)]
pub struct Crossing<'a> {
    /// Packet without its options.
    pub pkt: &'a Pkt,
    /// TCP options of the packet.
    pub ext: Option<&'a Ext>,
    /// True if the packet has the last byte that the application handed over (RFC 9293 §3.9.1.2: PSH).
    pub push: bool,
    /// Address plan of the network; without one, addresses come from the numbers of hosts.
    pub plan: Option<AddressPlan>,
    /// Payload of a full packet in bytes, if the flow is RoCE.
    pub roce: Option<u16>,
}

/// Appends a packet's frame: Ethernet II, IPv4, and TCP, UDP for raw packets, or RoCEv2, to which CNPs belong. PAUSE
/// and PFC frames are MAC control frames, and a CNM follows its EtherType.
///
/// The frame has the simulated length without check sequence, and at least the length of its headers and payload. It is
/// longer than simulated if a scenario's framing leaves headers out. A raw packet's UDP header is shorter than TCP's.
/// The difference counts as payload, so that the datagram fills its frame.
pub fn deparse(crossing: &Crossing, out: &mut Vec<u8>) {
    let (start, head) = (out.len(), &crossing.pkt.head);
    let mac = |host| addresses(host, crossing.plan).1;
    match crossing.pkt.body() {
        Body::Pause(frame) => control(&frame, address::mac(head.src), out),
        Body::Notice(notice @ Notice::Cnm { .. }) => {
            let (source, destination) = (address::mac(head.src), mac(head.dst));
            out.extend_from_slice(&Ethernet2Header { source, destination, ether_type: CNM }.to_bytes());
            message(crossing.pkt, notice, out);
        }
        Body::Segment(_) if crossing.roce.is_none() => {
            let written = segment(crossing).write(LengthIn::Ip, out);
            debug_assert_eq!(written, Ok(()), "options and payload fit");
        }
        Body::Raw(_) => {
            ethernet(crossing, out);
            udp(crossing, out);
        }
        Body::Segment(_) | Body::Notice(Notice::Cnp) => {
            ethernet(crossing, out);
            roce::write(crossing, out);
        }
    }
    let length = usize::from(head.size.saturating_sub(FCS)).max(SHORTEST);
    out.resize(out.len().max(start + length), 0);
}

/// Appends Ethernet's header before IPv4.
fn ethernet(crossing: &Crossing, out: &mut Vec<u8>) {
    let [source, destination] =
        [crossing.pkt.head.src, crossing.pkt.head.dst].map(|host| addresses(host, crossing.plan).1);
    let header = Ethernet2Header { source, destination, ether_type: EtherType::IPV4 };
    out.extend_from_slice(&header.to_bytes());
}

/// Appends a MAC control frame. PAUSE has quanta. PFC has a vector of classes and the quanta of each, 0 for a class
/// that may resume.
fn control(frame: &PauseFrame, source: [u8; 6], out: &mut Vec<u8>) {
    let ethernet = Ethernet2Header { source, destination: ONE_LINK, ether_type: MAC_CONTROL };
    out.extend_from_slice(&ethernet.to_bytes());
    let quanta = |class| if frame.xoff.has(class) { frame.quanta } else { 0 };
    if frame.whole {
        [PAUSE, quanta(0)].iter().for_each(|word| out.extend_from_slice(&word.to_be_bytes()));
        return;
    }
    let meant = u16::from(frame.xoff.union(frame.xon).0);
    [PFC, meant].iter().for_each(|word| out.extend_from_slice(&word.to_be_bytes()));
    (0..8).for_each(|class| out.extend_from_slice(&quanta(class).to_be_bytes()));
}

/// Appends the fields of a CNM (802.1Qau §33.4) without the encapsulated frame. They are version 0, feedback, the
/// congestion point as switch and port, and lengths of the queue in their units.
fn message(pkt: &Pkt, notice: Notice, out: &mut Vec<u8>) {
    let Notice::Cnm { feedback, q_off, q_delta, point } = notice else { return };
    let cpid = u64::from(pkt.head.src.0) << 16 | u64::from(point.0);
    let words = [q_off, q_delta].map(|bytes| (bytes / CNM_UNIT) as i16);
    out.extend_from_slice(&u16::from(feedback).to_be_bytes());
    out.extend_from_slice(&cpid.to_be_bytes());
    words.iter().for_each(|word| out.extend_from_slice(&word.to_be_bytes()));
}

/// Returns the IPv4 header of a packet. The codepoint is a class selector (RFC 2474 §4.2.2); the identification counts
/// the flow's emissions in this direction.
fn internet(crossing: &Crossing) -> Ip {
    let (pkt, head) = (crossing.pkt, &crossing.pkt.head);
    let ipv4 = |host| addresses(host, crossing.plan).0;
    Ip {
        source: ipv4(head.src),
        destination: ipv4(head.dst),
        tos: head.tos,
        identification: pkt.emission as u16,
        dont_fragment: true,
        ttl: if head.ttl == 0 { 64 } else { head.ttl },
    }
}

/// Returns the source and destination port of a packet.
fn from_to(pkt: &Pkt) -> (u16, u16) {
    let (sender, receiver) = ports(pkt.head.flow);
    if pkt.head.flags.has(Flags::REVERSE) { (receiver, sender) } else { (sender, receiver) }
}

/// Returns the TCP segment of a packet.
pub(crate) fn segment(crossing: &Crossing) -> Segment {
    let Crossing { pkt, ext, push, .. } = *crossing;
    let mac = |host| addresses(host, crossing.plan).1;
    let (source_port, destination_port) = from_to(pkt);
    let push = push || ext.is_some_and(|ext| ext.push);
    let flags = flags(pkt.head.flags).with(if push { TcpFlags::PSH } else { TcpFlags(0) });
    let options = ext.map(Options::from_ext).unwrap_or_default();
    let headers = IPV4 + TCP + options.length();
    // The payload that was cut off is the original frame without headers, padding included.
    let lost = pkt.head.orig_size.saturating_sub(ETHERNET + FCS + headers);
    let payload = if flags.packet() == CpPacket::Cut { lost } else { pkt.payload };
    // A receiver's SYN takes no sequence number in the simulation. Here it gets the number before its first byte.
    let answer = pkt.head.flags.has(Flags::SYN.with(Flags::REVERSE));
    Segment {
        source_mac: mac(pkt.head.src),
        destination_mac: mac(pkt.head.dst),
        ip: internet(crossing),
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

/// Flags of a packet that have a bit in the TCP header.
pub(crate) const FLAGS: [(Flags, TcpFlags); 8] = [
    (Flags::ACK, TcpFlags::ACK),
    (Flags::SYN, TcpFlags::SYN),
    (Flags::FIN, TcpFlags::FIN),
    (Flags::RST, TcpFlags::RST),
    (Flags::ECE, TcpFlags::ECE),
    (Flags::CWR, TcpFlags::CWR),
    (Flags::CPA, TcpFlags::CPA),
    (Flags::PPL, TcpFlags::PPL),
];

fn flags(of: Flags) -> TcpFlags {
    FLAGS.iter().filter(|(flag, _)| of.has(*flag)).fold(TcpFlags(0), |all, (_, bit)| all.with(*bit))
}

/// Appends a UDP datagram of zeros (RFC 768).
fn udp(crossing: &Crossing, out: &mut Vec<u8>) {
    let pkt = crossing.pkt;
    let (from, to) = from_to(pkt);
    let fills = pkt.head.size.saturating_sub(ETHERNET + FCS + IPV4 + UDP);
    let payload = pkt.payload.max(fills).min(u16::MAX - IPV4 - UDP);
    let ip = internet(crossing).header(IpNumber::UDP, UDP + payload);
    let data = out.len() + usize::from(IPV4 + UDP);
    out.resize(data + usize::from(payload), 0);
    let mut header = UdpHeader { source_port: from, destination_port: to, length: UDP + payload, checksum: 0 };
    header.checksum = header.calc_checksum_ipv4_raw(ip.source, ip.destination, &out[data..]).unwrap_or(0);
    put(out, data, &[&ip.to_bytes(), &header.to_bytes()]);
}

/// Writes headers into the space before `end`, which they fill.
fn put(out: &mut [u8], end: usize, headers: &[&[u8]]) {
    let mut at = end - headers.iter().map(|header| header.len()).sum::<usize>();
    for header in headers {
        out[at..at + header.len()].copy_from_slice(header);
        at += header.len();
    }
}

#[cfg(test)]
mod tests;
