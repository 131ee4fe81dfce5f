//! Packets of RoCEv2: UDP to port 4791, a base transport header (BTH) and an invariant CRC (InfiniBand Architecture
//! Specification 1, annex A17; BTH §9.2, AETH §9.6, CNP A17.9.3).

use super::{PacketOnLink, ip_header};
use crate::address::flow_ports;
use dataplane::transport::is_nak;
use dataplane::{PacketBody, Segment};
use etherparse::{IpNumber, UdpHeader};
use mech::{Flags, FlowId};

/// UDP port of RoCEv2 (A17.3.1.2).
const ROCE_PORT: u16 = 4791;
const IPV4_BYTES: usize = 20;
const UDP_BYTES: usize = 8;
const BTH_BYTES: usize = 12;
const AETH_BYTES: usize = 4;
const ICRC_BYTES: usize = 4;
/// Reserved bytes after the BTH of a CNP, all 0.
const CNP_RESERVED_BYTES: usize = 16;

/// Opcodes of RoCEv2 packets: those of reliable connections (table 38), and that of a CNP.
const SEND_FIRST: u8 = 0x00;
const SEND_MIDDLE: u8 = 0x01;
const SEND_LAST: u8 = 0x02;
const SEND_ONLY: u8 = 0x04;
const ACKNOWLEDGE: u8 = 0x11;
const CNP: u8 = 0x81;

/// Syndromes of an AETH (tables 44 to 46): an ACK without a credit count, and a NAK for a gap.
const ACK_SYNDROME: u8 = 0x1f;
const NAK_SYNDROME: u8 = 0x60;

/// Fields of a BTH: the default partition, the request for an ACK, and the notice of congestion to the source.
const DEFAULT_PARTITION: u16 = 0xffff;
const ACK_REQUEST_FLAG: u32 = 1 << 31;
const BECN_FLAG: u8 = 1 << 6;
/// Mask of queue pairs and packet numbers, which have 24 bits; pairs 0 and 1 are for management.
const MASK_24_BITS: u32 = 0x00ff_ffff;

/// Returns the number of the queue pair at the sender or the receiver of a flow.
fn queue_pair(flow: FlowId, of_receiver: bool) -> u32 {
    (2 + flow.0.wrapping_mul(2) + u32::from(of_receiver)) & MASK_24_BITS
}

/// Fields of a RoCEv2 packet's base transport header (BTH), and of the headers after it.
struct RoceHeaders {
    opcode: u8,
    becn: u8,
    ack_request: bool,
    /// Number of this packet; in an ACK, of the last acknowledged packet; in a NAK, of the missing packet; 0 in a CNP.
    number: u32,
    aeth: Option<u8>,
    payload: usize,
}

/// Returns the RoCEv2 header fields for a segment of a flow with packets of `mss` bytes.
/// Each flow is one SEND message.
fn headers_of_segment(crossing: &PacketOnLink, segment: &Segment, mss: u32) -> RoceHeaders {
    let flags = crossing.pkt.head.flags;
    if !flags.has(Flags::REVERSE) {
        let opcode = match (segment.seq, crossing.push) {
            (0, true) => SEND_ONLY,
            (0, false) => SEND_FIRST,
            (_, true) => SEND_LAST,
            (_, false) => SEND_MIDDLE,
        };
        let payload = usize::from(segment.payload);
        return RoceHeaders { opcode, becn: 0, ack_request: true, number: segment.seq / mss, aeth: None, payload };
    }
    let is_nak = is_nak(crossing.pkt);
    let number = if is_nak { segment.ack / mss } else { segment.ack.div_ceil(mss).wrapping_sub(1) };
    let aeth = Some(if is_nak { NAK_SYNDROME } else { ACK_SYNDROME });
    RoceHeaders { opcode: ACKNOWLEDGE, becn: 0, ack_request: false, number, aeth, payload: 0 }
}

const CNP_HEADERS: RoceHeaders = RoceHeaders {
    opcode: CNP,
    becn: BECN_FLAG,
    ack_request: false,
    number: 0,
    aeth: None,
    payload: CNP_RESERVED_BYTES,
};

/// Appends a RoCEv2 packet, from the IPv4 header to the invariant CRC.
pub(crate) fn write_roce(crossing: &PacketOnLink, out: &mut Vec<u8>) {
    let said = match crossing.pkt.body() {
        PacketBody::Segment(segment) => {
            headers_of_segment(crossing, &segment, u32::from(crossing.roce.unwrap_or(1).max(1)))
        }
        _ => CNP_HEADERS,
    };
    let flow = crossing.pkt.head.flow;
    // CNPs, ACKs and NAKs go to the sender of the flow, all other packets to the receiver.
    let to_receiver = said.aeth.is_none() && said.becn == 0;
    let pad = said.payload.wrapping_neg() & 3;
    let extended = if said.aeth.is_some() { AETH_BYTES } else { 0 };
    let datagram = UDP_BYTES + BTH_BYTES + extended + said.payload + pad + ICRC_BYTES;
    let ip = ip_header(crossing).header(IpNumber::UDP, datagram as u16);
    let (sender, receiver) = flow_ports(flow);
    let source_port = if to_receiver { sender } else { receiver };
    let start = out.len();
    out.extend_from_slice(&ip.to_bytes());
    // UDP's checksum is 0 (A17.3.1.2): the invariant CRC replaces it.
    let udp = UdpHeader { source_port, destination_port: ROCE_PORT, length: datagram as u16, checksum: 0 };
    out.extend_from_slice(&udp.to_bytes());
    out.extend_from_slice(&[said.opcode, (pad as u8) << 4]);
    out.extend_from_slice(&DEFAULT_PARTITION.to_be_bytes());
    let pair = u32::from(said.becn) << 24 | queue_pair(flow, to_receiver);
    out.extend_from_slice(&pair.to_be_bytes());
    let request = if said.ack_request { ACK_REQUEST_FLAG } else { 0 };
    out.extend_from_slice(&(request | said.number & MASK_24_BITS).to_be_bytes());
    // Message sequence number 0: a flow is one message, which is not complete before its last packet.
    out.extend(said.aeth.into_iter().flat_map(|syndrome| [syndrome, 0, 0, 0]));
    out.resize(out.len() + said.payload + pad, 0);
    let crc = invariant_crc(&out[start..]);
    out.extend_from_slice(&crc.to_le_bytes());
}

/// Returns the invariant CRC (ICRC) of a RoCEv2 packet: the CRC of Ethernet over the fields that no switch changes.
///
/// The input begins with eight bytes of ones for a local routing header. The packet follows, with ones in the fields
/// that may change: IPv4's type of service, time to live and checksum, UDP's checksum, and the BTH's fifth byte.
fn invariant_crc(packet: &[u8]) -> u32 {
    const VARIANT_OFFSETS: [usize; 7] = [1, 8, 10, 11, IPV4_BYTES + 6, IPV4_BYTES + 7, IPV4_BYTES + UDP_BYTES + 4];
    let routing = std::iter::repeat_n(0xff, 8);
    let masked = packet.iter().enumerate().map(|(at, byte)| if VARIANT_OFFSETS.contains(&at) { 0xff } else { *byte });
    !routing.chain(masked).fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| crc >> 1 ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 })
    })
}

#[cfg(test)]
mod tests {
    use crate::frame::{PacketOnLink, write_frame};
    use dataplane::{NoticeSetup, Pkt};
    use mech::{DscpTable, Flags, FlowId, HostId, Notice};

    fn frame(pkt: &Pkt, push: bool) -> Vec<u8> {
        let mut out = Vec::new();
        write_frame(
            &PacketOnLink { pkt, ext: None, push, plan: None, roce: Some(1000), dscps: &DscpTable::CLASS_SELECTORS },
            &mut out,
        );
        out
    }

    fn packet(flags: Flags, [seq, ack]: [u32; 2], payload: u16, size: u16) -> Pkt {
        let mut pkt = Pkt { seq, ack, payload, window: 1, ..Pkt::default() };
        pkt.head.flags = flags;
        (pkt.head.src, pkt.head.dst, pkt.head.flow, pkt.head.ttl) = (HostId(1), HostId(2), FlowId(5), 9);
        (pkt.head.size, pkt.head.orig_size) = (size, size);
        pkt
    }

    /// Returns the base transport header (BTH) of a frame, from the opcode to the packet number.
    fn bth(frame: &[u8]) -> &[u8] {
        &frame[42..54]
    }

    #[test]
    fn flow_is_one_message_of_numbered_packets() {
        let data = |seq, payload, push| frame(&packet(Flags::ACK.with(Flags::PAYLOAD), [seq, 0], payload, 1066), push);
        let whole = data(0, 1000, false);
        assert_eq!((whole.len(), &whole[23..24], &whole[36..38]), (1062, &[17u8][..], &[0x12u8, 0xb7][..]));
        assert_eq!(whole[16..18], 1044u16.to_be_bytes(), "IPv4 20, UDP 8, BTH 12, 1000, CRC 4; 4 more are padding");
        assert_eq!(bth(&whole), [0x00, 0, 0xff, 0xff, 0, 0, 0, 13, 0x80, 0, 0, 0]);
        assert_eq!((bth(&data(3000, 1000, false))[0], bth(&data(3000, 1000, false))[11]), (0x01, 3));
        let last = data(0x0100_0000 / 1000 * 1000, 1, true);
        assert_eq!(bth(&last), [0x02, 0x30, 0xff, 0xff, 0, 0, 0, 13, 0x80, 0, 0x41, 0x89], "three bytes of padding");
        assert_eq!(bth(&data(0, 7, true))[0], 0x04);
        // With 1000 bytes per packet, a byte number near 2³² belongs to packet 0x418937, which fits into 24 bits.
        assert_eq!(bth(&data(4_294_967_000, 1000, false))[9..], [0x41, 0x89, 0x37]);
    }

    #[test]
    fn acks_naks_and_cnps_go_to_the_sender() {
        let back = Flags::ACK.with(Flags::REVERSE);
        let ack = frame(&packet(back, [0, 2500], 0, 64), false);
        assert_eq!((ack.len(), bth(&ack)), (62, &[0x11, 0, 0xff, 0xff, 0, 0, 0, 12, 0, 0, 0, 2][..]));
        assert_eq!(ack[54..58], [0x1f, 0, 0, 0]);
        let nak = frame(&Pkt { window: 0, ..packet(back, [0, 2000], 0, 64) }, false);
        assert_eq!((bth(&nak)[11], &nak[54..58]), (2, &[0x60u8, 0, 0, 0][..]), "what is missing");
        let cnp = NoticeSetup { notice: Notice::Cnp, flow: FlowId(5), to: HostId(1), node: 2, n: 0, size: 64 }.packet();
        let cnp = frame(&cnp, false);
        assert_eq!((cnp.len(), bth(&cnp)), (74, &[0x81, 0, 0xff, 0xff, 0x40, 0, 0, 12, 0, 0, 0, 0][..]));
    }

    #[test]
    fn invariant_crc_ignores_fields_that_switches_change() {
        let pkt = packet(Flags::ACK.with(Flags::PAYLOAD), [0, 0], 4, 66);
        let crc = |pkt: &Pkt| frame(pkt, false)[58..62].to_vec();
        let mut other = pkt;
        other.head.ttl -= 1;
        other.head.set_class(3);
        assert_eq!(crc(&other), crc(&pkt));
        assert_ne!(crc(&Pkt { seq: 1000, ..pkt }), crc(&pkt));
        assert_eq!(super::invariant_crc(b"123456789"), {
            // Computed with Python: zlib.crc32 of eight bytes 0xff and these bytes, with 0xff at offsets 1 and 8.
            0xb12d_5e69
        });
    }
}
