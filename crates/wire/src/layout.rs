//! Where the headers of a frame lie, held against the bytes that are there, and what is wrong with a frame.

use crate::flags::{CpPacket, TcpFlags};
use etherparse::err::ipv4::HeaderError::{HeaderLengthSmallerThanHeader, UnexpectedVersion};
use etherparse::err::tcp::HeaderError::DataOffsetTooSmall;
use etherparse::err::{LenError, ipv4, tcp};
use etherparse::{EtherType, IpNumber, Ipv4HeaderSlice, TcpHeaderSlice};
use std::fmt;

/// Bytes of Ethernet's header.
pub(crate) const ETHERNET: usize = 14;
/// Where IPv4's total length lies in its header (RFC 791 §3.1).
pub(crate) const IP_LENGTH: usize = 2;
/// Where the length of TCP's header and the flags lie in it (RFC 9293 §3.1).
pub(crate) const TCP_FLAGS: usize = 12;
/// Where TCP's header has its window.
pub(crate) const WINDOW: usize = 14;

/// Why bytes are no frame that can be read, or fields none that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// Shorter than what its headers say.
    Short {
        /// Bytes that it would have to have.
        needed: usize,
        /// Bytes that it has.
        found: usize,
    },
    /// Of another EtherType than IPv4's.
    EtherType(u16),
    /// Of another version of IP than 4.
    Version(u8),
    /// A fragment of a datagram.
    Fragment,
    /// Of another protocol than TCP.
    Protocol(u8),
    /// A header says to be shorter than any.
    Header {
        /// `IPv4` or `TCP`.
        of: &'static str,
        /// Words of four bytes that it says to have.
        words: u8,
    },
    /// The length of IPv4 is less than that of the headers.
    Length {
        /// What IPv4 says, or the two bytes behind a cut packet's headers.
        total: u16,
        /// What the headers take.
        headers: u16,
    },
    /// A TCP option has a length that it cannot have.
    Option {
        /// Its kind.
        kind: u8,
        /// Where it begins among the options.
        at: usize,
    },
    /// Of an address that no host has.
    Address([u8; 4]),
    /// Of other ports than those of its flow.
    Ports {
        /// The ports that it comes from and goes to.
        found: (u16, u16),
        /// The flow.
        flow: u32,
    },
    /// A segment as no simulated one is: with an urgent pointer, say, or options that these do not have.
    Foreign,
    /// More than fits a packet: 40 bytes of options, 65,535 of everything from IPv4 on.
    TooLong {
        /// Bytes of options.
        options: usize,
        /// Bytes of payload.
        payload: u16,
    },
}

impl std::error::Error for Malformed {}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Malformed::Short { needed, found } => write!(f, "{found} B; expected {needed} B, as the headers say"),
            Malformed::EtherType(found) => write!(f, "EtherType 0x{found:04x}; expected IPv4 (0x0800)"),
            Malformed::Version(found) => write!(f, "IP version {found}; expected 4"),
            Malformed::Header { of, words } => write!(f, "{of} header of {words} words; expected 5 at least"),
            Malformed::Fragment => write!(f, "a fragment; expected a whole datagram"),
            Malformed::Protocol(found) => write!(f, "IPv4 protocol {found}; expected TCP (6)"),
            Malformed::Length { total, headers } => {
                write!(f, "length {total} B; expected {headers} B or more, as the headers take")
            }
            Malformed::Option { kind, at } => {
                write!(
                    f,
                    "TCP option {kind} at byte {at} has a length that it cannot have or that leads out of the header"
                )
            }
            Malformed::Address([a, b, c, d]) => write!(f, "address {a}.{b}.{c}.{d}; expected that of a host"),
            Malformed::Ports { found: (from, to), flow } => {
                write!(f, "ports {from} to {to}; expected those of flow {flow}")
            }
            Malformed::Foreign => write!(f, "fields or options that no simulated segment has; expected those of one"),
            Malformed::TooLong { options, payload } => {
                write!(f, "{options} B of options, {payload} B of payload; expected 40 B at most, and 65,535 B in all")
            }
        }
    }
}

/// An IPv4 packet in a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Datagram {
    /// Where IPv4's header ends in the frame.
    pub end: usize,
    /// Bytes of all that it says to have, its header's among them.
    pub total: u16,
    /// What it carries.
    pub protocol: IpNumber,
}

impl Datagram {
    /// Reads Ethernet's and IPv4's header. The rest of the packet need not be there.
    pub fn read(frame: &[u8]) -> Result<Datagram, Malformed> {
        let Some((ethernet, packet)) = frame.split_at_checked(ETHERNET) else {
            return Err(Malformed::Short { needed: ETHERNET, found: frame.len() });
        };
        let ether_type = word(ethernet, 12);
        if EtherType(ether_type) != EtherType::IPV4 {
            return Err(Malformed::EtherType(ether_type));
        }
        let ip = ipv4(packet)?;
        if ip.is_fragmenting_payload() {
            return Err(Malformed::Fragment);
        }
        let (total, headers) = (ip.total_len(), ip.slice().len() as u16);
        if total < headers {
            return Err(Malformed::Length { total, headers });
        }
        Ok(Datagram { end: ETHERNET + ip.slice().len(), total, protocol: ip.protocol() })
    }
    /// Where the packet ends in the frame, if it is whole; padding may follow.
    pub fn whole(&self, frame: &[u8]) -> Result<usize, Malformed> {
        let needed = ETHERNET + usize::from(self.total);
        if frame.len() < needed { Err(Malformed::Short { needed, found: frame.len() }) } else { Ok(needed) }
    }
}

/// A TCP segment in a frame, its headers whole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Headers {
    /// What carries it.
    pub ip: Datagram,
    /// Where TCP's header ends in the frame.
    pub end: usize,
    /// Its flags.
    pub flags: TcpFlags,
}

impl Headers {
    /// Reads the headers up to TCP's. The payload need not be there.
    pub fn read(frame: &[u8]) -> Result<Headers, Malformed> {
        let ip = Datagram::read(frame)?;
        if ip.protocol != IpNumber::TCP {
            return Err(Malformed::Protocol(ip.protocol.0));
        }
        let tcp = tcp(frame, ip.end)?;
        let flags = TcpFlags(word(tcp.slice(), TCP_FLAGS) & TcpFlags::ALL.0);
        let found = Headers { ip, end: ip.end + tcp.slice().len(), flags };
        found.behind(ip.total)?;
        Ok(found)
    }
    /// Bytes of IPv4's and TCP's header.
    pub fn length(&self) -> u16 {
        (self.end - ETHERNET) as u16
    }
    /// Bytes behind the headers of a packet that has so many from IPv4 on.
    pub fn behind(&self, total: u16) -> Result<u16, Malformed> {
        total.checked_sub(self.length()).ok_or(Malformed::Length { total, headers: self.length() })
    }
    /// Bytes behind the headers that IPv4 says there are.
    pub fn payload(&self) -> u16 {
        self.ip.total - self.length()
    }
    /// Which of CP's packets it is.
    pub fn packet(&self) -> CpPacket {
        self.flags.packet()
    }
}

/// IPv4's header at the beginning of a packet.
pub(crate) fn ipv4(packet: &[u8]) -> Result<Ipv4HeaderSlice<'_>, Malformed> {
    Ipv4HeaderSlice::from_slice(packet).map_err(|why| match why {
        ipv4::HeaderSliceError::Len(why) => short(ETHERNET, &why),
        ipv4::HeaderSliceError::Content(UnexpectedVersion { version_number }) => Malformed::Version(version_number),
        ipv4::HeaderSliceError::Content(HeaderLengthSmallerThanHeader { ihl }) => {
            Malformed::Header { of: "IPv4", words: ihl }
        }
    })
}

/// TCP's header at a place of a frame.
pub(crate) fn tcp(frame: &[u8], at: usize) -> Result<TcpHeaderSlice<'_>, Malformed> {
    TcpHeaderSlice::from_slice(&frame[at..]).map_err(|why| match why {
        tcp::HeaderSliceError::Len(why) => short(at, &why),
        tcp::HeaderSliceError::Content(DataOffsetTooSmall { data_offset }) => {
            Malformed::Header { of: "TCP", words: data_offset }
        }
    })
}

/// What is missing, counted from the beginning of the frame.
fn short(at: usize, why: &LenError) -> Malformed {
    Malformed::Short { needed: at + why.required_len, found: at + why.len }
}

/// The 16-bit word at a place. PRECONDITION: it is there.
pub(crate) fn word(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

/// Writes a 16-bit word. PRECONDITION: there is room.
pub(crate) fn set_word(bytes: &mut [u8], at: usize, word: u16) {
    bytes[at..at + 2].copy_from_slice(&word.to_be_bytes());
}
