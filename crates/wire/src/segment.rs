//! TCP segments over IPv4 and Ethernet, as header fields and as bytes.

use crate::checksum;
use crate::flags::{CpPacket, TcpFlags};
use crate::layout::{self, ETHERNET_HEADER, Headers, Malformed, TCP_FLAGS_OFFSET, read_word, write_word};
use crate::options::TcpOptions;
use crate::sack_blocks::LostRange;
use etherparse::{EtherType, Ethernet2Header, IpDscp, IpEcn, IpNumber, Ipv4Header, Ipv4HeaderSlice, TcpHeader};

/// Shortest frame of Ethernet without its check sequence, in bytes (IEEE 802.3 §3.2.8).
pub const MIN_FRAME_BYTES: usize = 60;
/// Length of IPv4's header without options in bytes.
pub(crate) const IPV4_HEADER: u16 = 20;

/// Field in which a cut packet carries its original length (CP §4.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LengthField {
    /// IPv4's total length, which keeps its value and so exceeds the bytes that are present.
    #[default]
    Ip,
    /// First two bytes of the payload. IPv4's total length is then that of the bytes that are present: for switches and
    /// middleboxes that drop packets with inconsistent lengths.
    Payload,
}

impl LengthField {
    /// Returns the number of bytes that remain after the headers of a cut packet.
    pub const fn bytes(self) -> u16 {
        match self {
            LengthField::Ip => 0,
            LengthField::Payload => 2,
        }
    }
}

/// Fields of IPv4's header other than lengths (RFC 791 §3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IpHeader {
    /// IPv4 address of the source.
    pub source: [u8; 4],
    /// IPv4 address of the destination.
    pub destination: [u8; 4],
    /// DSCP and ECN as one byte (RFC 2474 §3, RFC 3168 §5).
    pub tos: u8,
    /// Identification of the IPv4 packet.
    pub identification: u16,
    /// True if the flag "don't fragment" is set.
    pub dont_fragment: bool,
    /// Time to live (TTL) of the IPv4 packet.
    pub ttl: u8,
}

impl IpHeader {
    /// Returns the IPv4 header of a packet with `length` bytes of payload, its checksum included.
    pub(crate) fn header(&self, protocol: IpNumber, length: u16) -> Ipv4Header {
        let mut ip = Ipv4Header {
            dscp: IpDscp::try_new(self.tos >> 2).unwrap_or_default(),
            ecn: IpEcn::try_new(self.tos & 0b11).unwrap_or_default(),
            total_len: IPV4_HEADER + length,
            identification: self.identification,
            dont_fragment: self.dont_fragment,
            time_to_live: self.ttl,
            protocol,
            source: self.source,
            destination: self.destination,
            ..Ipv4Header::default()
        };
        ip.header_checksum = ip.calc_header_checksum();
        ip
    }
    fn read(header: Ipv4HeaderSlice) -> IpHeader {
        IpHeader {
            source: header.source(),
            destination: header.destination(),
            tos: header.slice()[1],
            identification: header.identification(),
            dont_fragment: header.dont_fragment(),
            ttl: header.ttl(),
        }
    }
}

/// TCP segment. Its payload is written as zeros and ignored when read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// MAC address of the source.
    pub source_mac: [u8; 6],
    /// MAC address of the destination.
    pub destination_mac: [u8; 6],
    /// Fields of the segment's IPv4 header.
    pub ip: IpHeader,
    /// TCP port of the source.
    pub source_port: u16,
    /// TCP port of the destination.
    pub destination_port: u16,
    /// Sequence number of the segment's first byte.
    pub sequence: u32,
    /// Sequence number that the sender expects next.
    pub acknowledgement: u32,
    /// TCP flags, with those of CP (cutting payload).
    pub flags: TcpFlags,
    /// Window that the sender advertises, in units of the connection's scale.
    pub window: u16,
    /// Urgent pointer of the TCP header.
    pub urgent: u16,
    /// TCP options of the segment.
    pub options: TcpOptions,
    /// Length of the payload in bytes; in a cut packet, that of the original payload.
    pub payload: u16,
}

impl Segment {
    /// Returns the type of packet in CP (cutting payload, §5.1).
    pub fn cp_packet(&self) -> CpPacket {
        self.flags.cp_packet()
    }
    /// Returns the range of sequence numbers that a cut packet has lost; `None` for any other packet.
    ///
    /// right = left + SYN + FIN + original length - IPv4's header - TCP's header (CP §4.3, footnote 4).
    pub fn lost_range(&self) -> Option<LostRange> {
        let counts = |flag| u32::from(self.flags.has(flag));
        let numbers = counts(TcpFlags::SYN) + counts(TcpFlags::FIN) + u32::from(self.payload);
        let right = self.sequence.wrapping_add(numbers);
        (self.cp_packet() == CpPacket::Cut).then_some(LostRange { left: self.sequence, right })
    }
    /// Returns the range that a PACK reports as lost; `None` for any other packet, or if the first block reports none.
    pub fn reported_loss(&self) -> Option<LostRange> {
        if self.cp_packet() == CpPacket::Pack { self.options.lost_range() } else { None }
    }
    /// Returns the frame as bytes, padded to the shortest Ethernet frame, without check sequence.
    ///
    /// # Errors
    /// Fails as [`write`](Segment::write) does.
    pub fn to_frame(&self, length: LengthField) -> Result<Vec<u8>, Malformed> {
        let mut out = Vec::new();
        self.write(length, &mut out)?;
        out.resize(out.len().max(MIN_FRAME_BYTES), 0);
        Ok(out)
    }
    /// Appends the frame as bytes without padding.
    /// A cut packet has only its headers, and the two bytes of its length if these are in the payload. Checksums cover
    /// the bytes that are present (CP §5.2).
    ///
    /// # Errors
    /// Returns an error if the options or the packet are too long.
    pub fn write(&self, length: LengthField, out: &mut Vec<u8>) -> Result<(), Malformed> {
        let options = self.options.to_bytes();
        let too_long = Malformed::TooLong { options: options.len(), payload: self.payload };
        let mut tcp = TcpHeader::new(self.source_port, self.destination_port, self.sequence, self.window);
        tcp.acknowledgment_number = self.acknowledgement;
        tcp.urgent_pointer = self.urgent;
        if tcp.set_options_raw(&options).is_err() {
            return Err(too_long);
        }
        let headers = IPV4_HEADER + tcp.header_len_u16();
        let Some(total) = headers.checked_add(self.payload) else { return Err(too_long) };
        let cut = self.cp_packet() == CpPacket::Cut;
        let there = if cut { length.bytes() } else { self.payload };
        let said = if cut && length == LengthField::Ip { self.payload } else { there };

        let ether_type = EtherType::IPV4;
        let (source, destination) = (self.source_mac, self.destination_mac);
        out.extend_from_slice(&Ethernet2Header { source, destination, ether_type }.to_bytes());
        let ip = out.len();
        out.extend_from_slice(&self.ip.header(IpNumber::TCP, tcp.header_len_u16() + said).to_bytes());
        let start = out.len();
        out.extend_from_slice(&tcp.to_bytes());
        let end = out.len();
        out.resize(end + usize::from(there), 0);
        if cut && length == LengthField::Payload {
            write_word(out, end, total);
        }
        // The library `etherparse` does not write reserved bits, two of which are the flags of CP.
        let offset = read_word(out, start + TCP_FLAGS_OFFSET) & 0xf000;
        write_word(out, start + TCP_FLAGS_OFFSET, offset | self.flags.0 & TcpFlags::ALL.0);
        let sum = checksum::tcp_checksum(&out[ip..start], &out[start..]);
        write_word(out, start + checksum::TCP_CHECKSUM_OFFSET, sum);
        Ok(())
    }
    /// Reads a frame of Ethernet, IPv4 and TCP. It may have IPv4 options, unknown TCP options, and padding after the
    /// packet. Checksums are not verified: see [`read_checksums`].
    ///
    /// # Errors
    /// Returns an error if the frame is none of these, or if headers or options exceed the bytes that are present. Only
    /// a cut packet may lack its payload.
    pub fn read(frame: &[u8], length: LengthField) -> Result<Segment, Malformed> {
        let headers = Headers::read(frame)?;
        let payload = headers.bytes_after_headers(original_ip_length(frame, &headers, length)?)?;
        let tcp = layout::read_tcp(frame, headers.ip.header_end)?;
        let ip = layout::read_ipv4(&frame[ETHERNET_HEADER..])?;
        Ok(Segment {
            source_mac: read_mac(&frame[6..12]),
            destination_mac: read_mac(&frame[..6]),
            ip: IpHeader::read(ip),
            source_port: tcp.source_port(),
            destination_port: tcp.destination_port(),
            sequence: tcp.sequence_number(),
            acknowledgement: tcp.acknowledgment_number(),
            flags: headers.flags,
            window: tcp.window_size(),
            urgent: tcp.urgent_pointer(),
            options: TcpOptions::read(tcp.options())?,
            payload,
        })
    }
}

/// Returns the original length of a packet from IPv4's header on, before any cut of its payload.
fn original_ip_length(frame: &[u8], headers: &Headers, length: LengthField) -> Result<u16, Malformed> {
    match (headers.cp_packet(), length) {
        (CpPacket::Cut, LengthField::Ip) => Ok(headers.ip.total_length),
        (CpPacket::Cut, LengthField::Payload) => {
            let end = headers.ip.end_if_complete(frame)?;
            let needed = headers.header_end + usize::from(length.bytes());
            if end < needed {
                Err(Malformed::Short { needed, found: end })
            } else {
                Ok(read_word(frame, headers.header_end))
            }
        }
        _ => headers.ip.end_if_complete(frame).map(|_| headers.ip.total_length),
    }
}

fn read_mac(bytes: &[u8]) -> [u8; 6] {
    bytes.try_into().unwrap_or_default()
}

/// Validity of the IPv4 and TCP checksums of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checksums {
    /// True if IPv4's header checksum is valid.
    pub ipv4: bool,
    /// True if TCP's checksum is valid, over the bytes that a cut packet has.
    pub tcp: bool,
}

/// Verifies the checksums of a frame of Ethernet, IPv4 and TCP.
///
/// # Errors
/// Returns an error if the frame is none of these, or not as long as it claims.
pub fn read_checksums(frame: &[u8], length: LengthField) -> Result<Checksums, Malformed> {
    let headers = Headers::read(frame)?;
    let ip = &frame[ETHERNET_HEADER..headers.ip.header_end];
    let end = match (headers.cp_packet(), length) {
        (CpPacket::Cut, LengthField::Ip) => headers.header_end,
        _ => headers.ip.end_if_complete(frame)?,
    };
    let segment = &frame[headers.ip.header_end..end];
    Ok(Checksums {
        ipv4: checksum::is_equivalent_checksum(
            read_word(ip, checksum::IPV4_CHECKSUM_OFFSET),
            checksum::ipv4_checksum(ip),
        ),
        tcp: checksum::is_equivalent_checksum(
            read_word(segment, checksum::TCP_CHECKSUM_OFFSET),
            checksum::tcp_checksum(ip, segment),
        ),
    })
}

/// Returns the number of bytes that a frame has now, and the number that it had before a cut. They differ for a cut
/// packet whose length is in IPv4's header: padding after its headers was not part of it.
pub(crate) fn captured_extent(frame: &[u8], length: LengthField) -> (usize, u32) {
    match Headers::read(frame) {
        Ok(headers) if headers.cp_packet() == CpPacket::Cut && length == LengthField::Ip => {
            (headers.header_end, ETHERNET_HEADER as u32 + u32::from(headers.ip.total_length))
        }
        _ => (frame.len(), frame.len() as u32),
    }
}

#[cfg(test)]
mod tests;
