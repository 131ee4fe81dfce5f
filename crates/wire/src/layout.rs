//! Offsets of headers in a frame, checked against the bytes that are present, and errors of malformed frames.

use crate::flags::{CpPacket, TcpFlags};
use etherparse::err::ipv4::HeaderError::{HeaderLengthSmallerThanHeader, UnexpectedVersion};
use etherparse::err::tcp::HeaderError::DataOffsetTooSmall;
use etherparse::err::{LenError, ipv4, tcp};
use etherparse::{EtherType, IpNumber, Ipv4HeaderSlice, TcpHeaderSlice};
use std::fmt;

/// Length of Ethernet's header in bytes.
pub(crate) const ETHERNET_HEADER: usize = 14;
/// Offset of the total length in IPv4's header (RFC 791 §3.1).
pub(crate) const IP_LENGTH_OFFSET: usize = 2;
/// Offset of the header length and the flags in TCP's header (RFC 9293 §3.1).
pub(crate) const TCP_FLAGS_OFFSET: usize = 12;
/// Offset of the window in TCP's header.
pub(crate) const WINDOW_OFFSET: usize = 14;

/// Reason why bytes cannot be read as a frame, or fields cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// The frame is shorter than its headers claim.
    Short {
        /// Number of bytes that the headers claim.
        needed: usize,
        /// Number of bytes that are present.
        found: usize,
    },
    /// The EtherType is not IPv4's.
    EtherType(u16),
    /// The version of IP is not 4.
    Version(u8),
    /// The packet is a fragment of a datagram.
    Fragment,
    /// The protocol is not TCP.
    Protocol(u8),
    /// A header claims to be shorter than the minimum.
    Header {
        /// Name of the header: `IPv4` or `TCP`.
        of: &'static str,
        /// Header length that the header claims, in words of four bytes.
        words: u8,
    },
    /// The total length of IPv4 is less than the length of the headers.
    Length {
        /// Total length as written in the IPv4 header, or in the two bytes after a cut packet's headers.
        total: u16,
        /// Length of the headers in bytes.
        headers: u16,
    },
    /// A TCP option has an invalid length.
    Option {
        /// Kind of the invalid TCP option.
        kind: u8,
        /// Offset of the invalid option among the TCP options.
        at: usize,
    },
    /// The IPv4 address belongs to no host.
    Address([u8; 4]),
    /// The TCP ports are not those of the flow.
    Ports {
        /// Source and destination port of the segment.
        found: (u16, u16),
        /// Number of the flow that the ports should belong to.
        flow: u32,
    },
    /// No packet of the run has this DSCP.
    Dscp(u8),
    /// The segment has fields or options that no simulated segment has, such as an urgent pointer.
    Foreign,
    /// The segment is too long: at most 40 bytes of options and 65,535 bytes from IPv4 on fit into a packet.
    TooLong {
        /// Length of the options in bytes.
        options: usize,
        /// Length of the payload in bytes.
        payload: u16,
    },
}

impl std::error::Error for Malformed {}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Malformed::Short { needed, found } => {
                write!(f, "too short: {found} B; expected {needed} B according to the headers")
            }
            Malformed::EtherType(found) => write!(f, "EtherType 0x{found:04x}; expected IPv4 (0x0800)"),
            Malformed::Version(found) => write!(f, "IP version {found}; expected 4"),
            Malformed::Header { of, words } => write!(f, "{of} header of {words} words; expected at least 5"),
            Malformed::Fragment => write!(f, "a fragment; expected a whole datagram"),
            Malformed::Protocol(found) => write!(f, "IPv4 protocol {found}; expected TCP (6)"),
            Malformed::Length { total, headers } => {
                write!(f, "total length {total} B; expected at least {headers} B, the length of the headers")
            }
            Malformed::Option { kind, at } => {
                write!(
                    f,
                    "TCP option {kind} at byte {at} has an invalid length, or a length beyond the end of the header"
                )
            }
            Malformed::Address([a, b, c, d]) => write!(f, "address {a}.{b}.{c}.{d}; expected the address of a host"),
            Malformed::Ports { found: (from, to), flow } => {
                write!(f, "found source port {from} and destination port {to}; expected the ports of flow {flow}")
            }
            Malformed::Dscp(found) => write!(f, "DSCP {found}; expected a DSCP that packets of the run have"),
            Malformed::Foreign => {
                write!(
                    f,
                    "the segment has fields or options that Overspill does not simulate; expected a segment as \
                     Overspill writes it"
                )
            }
            Malformed::TooLong { options, payload } => {
                write!(
                    f,
                    "{options} B of options, {payload} B of payload; expected at most 40 B of options, and at most \
                     65,535 B in total"
                )
            }
        }
    }
}

/// Position and length of an IPv4 packet in a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Datagram {
    /// Offset of the end of IPv4's header in the frame.
    pub header_end: usize,
    /// Total length that IPv4 claims in bytes, its header included.
    pub total_length: u16,
    /// Protocol of the IPv4 payload.
    pub protocol: IpNumber,
}

impl Datagram {
    /// Reads Ethernet's and IPv4's header; the rest of the packet need not be present.
    pub fn read(frame: &[u8]) -> Result<Datagram, Malformed> {
        let Some((ethernet, packet)) = frame.split_at_checked(ETHERNET_HEADER) else {
            return Err(Malformed::Short { needed: ETHERNET_HEADER, found: frame.len() });
        };
        let ether_type = read_word(ethernet, 12);
        if EtherType(ether_type) != EtherType::IPV4 {
            return Err(Malformed::EtherType(ether_type));
        }
        let ip = read_ipv4(packet)?;
        if ip.is_fragmenting_payload() {
            return Err(Malformed::Fragment);
        }
        let (total, headers) = (ip.total_len(), ip.slice().len() as u16);
        if total < headers {
            return Err(Malformed::Length { total, headers });
        }
        Ok(Datagram { header_end: ETHERNET_HEADER + ip.slice().len(), total_length: total, protocol: ip.protocol() })
    }
    /// Returns the offset of the packet's end in the frame if it is complete; padding may follow.
    pub fn end_if_complete(&self, frame: &[u8]) -> Result<usize, Malformed> {
        let needed = ETHERNET_HEADER + usize::from(self.total_length);
        if frame.len() < needed { Err(Malformed::Short { needed, found: frame.len() }) } else { Ok(needed) }
    }
}

/// Positions of the headers of a TCP segment in a frame, and its flags.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Headers {
    /// Position and length of the segment's IPv4 packet.
    pub ip: Datagram,
    /// Offset of the end of TCP's header in the frame.
    pub header_end: usize,
    /// TCP flags of the segment.
    pub flags: TcpFlags,
}

impl Headers {
    /// Reads the headers up to TCP's; the payload need not be present.
    pub fn read(frame: &[u8]) -> Result<Headers, Malformed> {
        let ip = Datagram::read(frame)?;
        if ip.protocol != IpNumber::TCP {
            return Err(Malformed::Protocol(ip.protocol.0));
        }
        let tcp = read_tcp(frame, ip.header_end)?;
        let flags = TcpFlags(read_word(tcp.slice(), TCP_FLAGS_OFFSET) & TcpFlags::ALL.0);
        let found = Headers { ip, header_end: ip.header_end + tcp.slice().len(), flags };
        found.bytes_after_headers(ip.total_length)?;
        Ok(found)
    }
    /// Returns the length of IPv4's and TCP's headers in bytes.
    pub fn header_length(&self) -> u16 {
        (self.header_end - ETHERNET_HEADER) as u16
    }
    /// Returns the number of bytes after the headers, if the packet has `total` bytes from IPv4 on.
    pub fn bytes_after_headers(&self, total: u16) -> Result<u16, Malformed> {
        total.checked_sub(self.header_length()).ok_or(Malformed::Length { total, headers: self.header_length() })
    }
    /// Returns the number of bytes after the headers, by IPv4's total length.
    pub fn payload_length(&self) -> u16 {
        self.ip.total_length - self.header_length()
    }
    /// Returns the type of packet in CP (cutting payload).
    pub fn cp_packet(&self) -> CpPacket {
        self.flags.cp_packet()
    }
}

/// Reads IPv4's header at the beginning of a packet.
pub(crate) fn read_ipv4(packet: &[u8]) -> Result<Ipv4HeaderSlice<'_>, Malformed> {
    Ipv4HeaderSlice::from_slice(packet).map_err(|why| match why {
        ipv4::HeaderSliceError::Len(why) => too_short_error(ETHERNET_HEADER, &why),
        ipv4::HeaderSliceError::Content(UnexpectedVersion { version_number }) => Malformed::Version(version_number),
        ipv4::HeaderSliceError::Content(HeaderLengthSmallerThanHeader { ihl }) => {
            Malformed::Header { of: "IPv4", words: ihl }
        }
    })
}

/// Reads TCP's header at an offset of a frame.
pub(crate) fn read_tcp(frame: &[u8], at: usize) -> Result<TcpHeaderSlice<'_>, Malformed> {
    TcpHeaderSlice::from_slice(&frame[at..]).map_err(|why| match why {
        tcp::HeaderSliceError::Len(why) => too_short_error(at, &why),
        tcp::HeaderSliceError::Content(DataOffsetTooSmall { data_offset }) => {
            Malformed::Header { of: "TCP", words: data_offset }
        }
    })
}

/// Converts a parser's error about missing bytes; lengths are counted from the beginning of the frame.
fn too_short_error(at: usize, why: &LenError) -> Malformed {
    Malformed::Short { needed: at + why.required_len, found: at + why.len }
}

/// Returns the 16-bit word at an offset. PRECONDITION: the word is within `bytes`.
pub(crate) fn read_word(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

/// Writes a 16-bit word at an offset. PRECONDITION: the word is within `bytes`.
pub(crate) fn write_word(bytes: &mut [u8], at: usize, word: u16) {
    bytes[at..at + 2].copy_from_slice(&word.to_be_bytes());
}
