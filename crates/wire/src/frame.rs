//! A packet as the bytes of its frame.

use crate::address::{self, addresses, ports};
use crate::options::options;
use dataplane::{Body, CNM_UNIT, Ext, PauseFrame, Pkt};
use etherparse::{EtherType, Ethernet2Header, IpDscp, IpEcn, IpNumber, Ipv4Header, TcpHeader, UdpHeader};
use mech::routing::AddressPlan;
use mech::{Flags, Notice, PacketKind};

/// Bytes of a frame's check sequence, which captures do not have.
pub const FCS: u16 = 4;
/// Shortest frame of Ethernet without its check sequence (IEEE 802.3 §3.2.8).
pub const SHORTEST: usize = 60;

/// MAC control frames (IEEE 802.3 §31.4.1.3), and the group address of those of one link (§31B.1).
const MAC_CONTROL: EtherType = EtherType(0x8808);
const ONE_LINK: [u8; 6] = [0x01, 0x80, 0xc2, 0x00, 0x00, 0x01];
/// What a MAC control frame is (§31B.2, 802.1Qbb §31D.2).
const PAUSE: u16 = 0x0001;
const PFC: u16 = 0x0101;
/// Congestion notification messages (802.1Qau §33.2).
const CNM: EtherType = EtherType(0x22e7);
const ETHERNET: u16 = 14;
const IPV4: u16 = 20;
const UDP: u16 = 8;

/// A packet that crosses a link.
#[derive(Clone, Copy, Debug)]
pub struct Crossing<'a> {
    /// The packet.
    pub pkt: &'a Pkt,
    /// Its TCP options.
    pub ext: Option<&'a Ext>,
    /// Whether it has the last byte of what the application handed over (RFC 9293 §3.9.1.2: PSH).
    pub push: bool,
    /// The addresses of the network where places have them; else hosts are numbered.
    pub plan: Option<AddressPlan>,
}

/// Appends a packet's frame: Ethernet II, IPv4, and TCP, or UDP for raw packets and CNPs; PAUSE and PFC frames are
/// MAC control frames, a CNM follows its EtherType.
///
/// It is as long as the simulation says, without check sequence, and at least what its headers and
/// payload take: longer where a scenario's framing leaves headers out. What a raw packet's UDP
/// header is shorter than TCP's is payload, so that the datagram fills its frame.
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
        Body::Segment(_) | Body::Raw(_) | Body::Notice(Notice::Cnp) => {
            let (source, destination) = (mac(head.src), mac(head.dst));
            let ethernet = Ethernet2Header { source, destination, ether_type: EtherType::IPV4 };
            out.extend_from_slice(&ethernet.to_bytes());
            match head.kind() == PacketKind::Segment {
                true => tcp(crossing, out),
                false => udp(crossing, out),
            }
        }
    }
    let length = usize::from(head.size.saturating_sub(FCS)).max(SHORTEST);
    out.resize(out.len().max(start + length), 0);
}

/// PAUSE: the quanta. PFC: which classes are meant, and the quanta of each of them, 0 where it may go on.
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

/// The fields of a CNM (802.1Qau §33.4) up to what it encapsulates, which is left out: version 0, feedback, the
/// congestion point by its switch and port, lengths of the queue in their units.
fn message(pkt: &Pkt, notice: Notice, out: &mut Vec<u8>) {
    let Notice::Cnm { feedback, q_off, q_delta, point } = notice else { return };
    let cpid = u64::from(pkt.head.src.0) << 16 | u64::from(point.0);
    let words = [q_off, q_delta].map(|bytes| (bytes / CNM_UNIT) as i16);
    out.extend_from_slice(&u16::from(feedback).to_be_bytes());
    out.extend_from_slice(&cpid.to_be_bytes());
    words.iter().for_each(|word| out.extend_from_slice(&word.to_be_bytes()));
}

/// RFC 791 §3.1. The class is a class selector (RFC 2474 §4.2.2); the identification counts the
/// flow's emissions in this direction.
fn internet(crossing: &Crossing, protocol: IpNumber, length: u16) -> Ipv4Header {
    let (pkt, head) = (crossing.pkt, &crossing.pkt.head);
    let ipv4 = |host| addresses(host, crossing.plan).0;
    let mut ip = Ipv4Header {
        dscp: IpDscp::try_new(head.tos >> 2).unwrap_or_default(),
        ecn: IpEcn::try_new(head.tos & 0b11).unwrap_or_default(),
        total_len: IPV4 + length,
        identification: pkt.emission as u16,
        dont_fragment: true,
        time_to_live: if head.ttl == 0 { 64 } else { head.ttl },
        protocol,
        source: ipv4(head.src),
        destination: ipv4(head.dst),
        ..Ipv4Header::default()
    };
    ip.header_checksum = ip.calc_header_checksum();
    ip
}

/// The ports that a packet comes from and goes to.
fn from_to(pkt: &Pkt) -> (u16, u16) {
    let (sender, receiver) = ports(pkt.head.flow);
    if pkt.head.flags.has(Flags::REVERSE) { (receiver, sender) } else { (sender, receiver) }
}

/// RFC 9293 §3.1.
fn tcp(crossing: &Crossing, out: &mut Vec<u8>) {
    let Crossing { pkt, ext, push, .. } = *crossing;
    let flags = pkt.head.flags;
    let (from, to) = from_to(pkt);
    // A receiver's SYN takes no number in the simulation: here it has that before its first byte's.
    let answer = flags.has(Flags::SYN.with(Flags::REVERSE));
    let sequence = if answer { pkt.seq.wrapping_sub(1) } else { pkt.seq };
    let mut header = TcpHeader::new(from, to, sequence, pkt.window);
    header.acknowledgment_number = pkt.ack;
    header.ack = flags.has(Flags::ACK);
    header.syn = flags.has(Flags::SYN);
    header.fin = flags.has(Flags::FIN);
    header.rst = flags.has(Flags::RST);
    header.ece = flags.has(Flags::ECE);
    header.cwr = flags.has(Flags::CWR);
    header.psh = push;
    header.options = ext.map(options).unwrap_or_default();
    let payload = pkt.payload.min(u16::MAX - IPV4 - header.header_len_u16());
    let ip = internet(crossing, IpNumber::TCP, header.header_len_u16() + payload);
    let data = zeros(out, usize::from(IPV4 + header.header_len_u16()), payload);
    header.checksum = header.calc_checksum_ipv4_raw(ip.source, ip.destination, &out[data..]).unwrap_or(0);
    put(out, data, &[&ip.to_bytes(), &header.to_bytes()]);
}

/// RFC 768.
fn udp(crossing: &Crossing, out: &mut Vec<u8>) {
    let pkt = crossing.pkt;
    let (from, to) = from_to(pkt);
    let fills = pkt.head.size.saturating_sub(ETHERNET + FCS + IPV4 + UDP);
    let payload = pkt.payload.max(fills).min(u16::MAX - IPV4 - UDP);
    let ip = internet(crossing, IpNumber::UDP, UDP + payload);
    let data = zeros(out, usize::from(IPV4 + UDP), payload);
    let mut header = UdpHeader { source_port: from, destination_port: to, length: UDP + payload, checksum: 0 };
    header.checksum = header.calc_checksum_ipv4_raw(ip.source, ip.destination, &out[data..]).unwrap_or(0);
    put(out, data, &[&ip.to_bytes(), &header.to_bytes()]);
}

/// Appends room for headers, and a payload of zeros; where that begins.
fn zeros(out: &mut Vec<u8>, headers: usize, payload: u16) -> usize {
    let data = out.len() + headers;
    out.resize(data + usize::from(payload), 0);
    data
}

/// Writes headers to the room before `end`, which they fill.
fn put(out: &mut [u8], end: usize, headers: &[&[u8]]) {
    let mut at = end - headers.iter().map(|header| header.len()).sum::<usize>();
    for header in headers {
        out[at..at + header.len()].copy_from_slice(header);
        at += header.len();
    }
}

#[cfg(test)]
mod tests;
