//! Changes that a switch makes to a frame in place: cutting its payload, trimming it to a size, setting bits.
//! They allocate no memory.

use crate::checksum;
use crate::flags::{CpPacket, TcpFlags};
use crate::layout::{
    Datagram, ETHERNET_HEADER, Headers, IP_LENGTH_OFFSET, Malformed, TCP_FLAGS_OFFSET, WINDOW_OFFSET, read_word,
    write_word,
};
use crate::segment::{LengthField, MIN_FRAME_BYTES};
use std::fmt;

/// Reason why a frame is neither cut nor trimmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutError {
    /// The bytes are no frame that can be cut.
    Malformed(Malformed),
    /// The payload may not be cut (CP): the packet is normal, a PACK, or cut before.
    NotCpEnabled(CpPacket),
    /// The frame would not become shorter: it has this many bytes of payload, or in total for trimming.
    NothingToCut(usize),
    /// The DSCP of the packet may not be trimmed.
    NotTrimmable(u8),
}

impl std::error::Error for CutError {}

impl fmt::Display for CutError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            CutError::Malformed(why) => why.fmt(f),
            CutError::NotCpEnabled(found) => {
                write!(f, "cannot cut a packet of CP type {found:?}; expected a CP-enabled packet")
            }
            CutError::NothingToCut(bytes) => {
                write!(f, "nothing to cut: {bytes} B; expected more than the bytes that are kept")
            }
            CutError::NotTrimmable(found) => write!(f, "DSCP {found}; expected the trimmable DSCP"),
        }
    }
}

impl From<Malformed> for CutError {
    fn from(why: Malformed) -> CutError {
        CutError::Malformed(why)
    }
}

/// Cuts the payload off a CP-enabled packet (CP §4.2) and returns the remaining length of the frame. Its headers
/// remain, the two bytes of its length if these are in the payload, and zeros up to the shortest frame.
///
/// PPL is set. TCP's checksum is computed again over the remaining bytes, with their length in the pseudo-header (CP
/// §5.2). So an error in the headers before the cut cannot be detected after it.
///
/// # Errors
/// Returns an error, and leaves the frame unchanged, if it is not CP-enabled, not complete, or has no payload beyond
/// the remaining bytes.
pub fn cut_payload(frame: &mut [u8], length: LengthField) -> Result<usize, CutError> {
    let headers = Headers::read(frame)?;
    if headers.cp_packet() != CpPacket::Enabled {
        return Err(CutError::NotCpEnabled(headers.cp_packet()));
    }
    headers.ip.end_if_complete(frame)?;
    if headers.payload_length() <= length.bytes() {
        return Err(CutError::NothingToCut(headers.payload_length().into()));
    }
    let end = headers.header_end + usize::from(length.bytes());
    if length == LengthField::Payload {
        write_word(frame, headers.header_end, headers.ip.total_length);
        write_ipv4_word(&mut frame[ETHERNET_HEADER..], IP_LENGTH_OFFSET, headers.header_length() + length.bytes());
    }
    let (before, tcp) = frame.split_at_mut(headers.ip.header_end);
    let segment = &mut tcp[..end - headers.ip.header_end];
    let flags = read_word(segment, TCP_FLAGS_OFFSET) | TcpFlags::PPL.0;
    write_word(segment, TCP_FLAGS_OFFSET, flags);
    let sum = checksum::tcp_checksum(&before[ETHERNET_HEADER..], segment);
    write_word(segment, checksum::TCP_CHECKSUM_OFFSET, sum);
    let stays = end.max(MIN_FRAME_BYTES.min(frame.len()));
    frame[end..stays].fill(0);
    Ok(stays)
}

/// Trimming of any IPv4 packet to its first bytes, as by modern switches (UEC, SAI).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trim {
    /// Length of a trimmed frame in bytes, without its check sequence.
    pub bytes: usize,
    /// DSCP of packets that may be trimmed; `None` allows any.
    pub trimmable: Option<u8>,
    /// DSCP that trimmed packets get.
    pub trimmed: u8,
}

impl Trim {
    /// Trims a frame, and returns its remaining length. The IPv4 header gets the new length and the DSCP `trimmed`.
    /// The checksum of the payload protocol is unchanged, and so becomes wrong.
    ///
    /// # Errors
    /// Returns an error, and leaves the frame unchanged, in these cases: it is not longer, not complete, has another
    /// DSCP, or would lose bytes of IPv4's header.
    pub fn apply(&self, frame: &mut [u8]) -> Result<usize, CutError> {
        let datagram = Datagram::read(frame)?;
        let end = datagram.end_if_complete(frame)?;
        let (needed, found) = (datagram.header_end, self.bytes);
        if found < needed {
            return Err(Malformed::Short { needed, found }.into());
        }
        if end <= self.bytes {
            return Err(CutError::NothingToCut(end));
        }
        let codepoint = frame[ETHERNET_HEADER + 1] >> 2;
        if self.trimmable.is_some_and(|only| only != codepoint) {
            return Err(CutError::NotTrimmable(codepoint));
        }
        write_ipv4_word(&mut frame[ETHERNET_HEADER..], IP_LENGTH_OFFSET, (self.bytes - ETHERNET_HEADER) as u16);
        set_dscp(frame, self.trimmed)?;
        Ok(self.bytes)
    }
}

/// Sets or clears flags of TCP, and updates its checksum (RFC 1624).
///
/// # Errors
/// Returns an error if the frame is no frame of TCP over IPv4.
pub fn set_flags(frame: &mut [u8], flags: TcpFlags, on: bool) -> Result<(), Malformed> {
    let tcp = Headers::read(frame)?.ip.header_end;
    let before = read_word(frame, tcp + TCP_FLAGS_OFFSET);
    let bits = flags.0 & TcpFlags::ALL.0;
    let after = if on { before | bits } else { before & !bits };
    let sum = checksum::update_checksum(read_word(frame, tcp + checksum::TCP_CHECKSUM_OFFSET), before, after);
    write_word(frame, tcp + TCP_FLAGS_OFFSET, after);
    write_word(frame, tcp + checksum::TCP_CHECKSUM_OFFSET, sum);
    Ok(())
}

/// Returns true if a segment only acknowledges, so that its ACK may be held (ABQ: IsAck).
/// It has no payload, none that was or may be cut off, and none of SYN, FIN, RST.
///
/// # Errors
/// Returns an error if the frame is no frame of TCP over IPv4.
pub fn is_pure_ack(frame: &[u8]) -> Result<bool, Malformed> {
    let headers = Headers::read(frame)?;
    let other = TcpFlags::SYN.with(TcpFlags::FIN).with(TcpFlags::RST).with(TcpFlags::CPA);
    let only = headers.flags.0 & other.0 == 0;
    Ok(headers.flags.has(TcpFlags::ACK) && only && headers.payload_length() == 0)
}

/// Sets the ECN echo (ECE) of a TCP segment (RFC 3168 §6.1.3).
///
/// # Errors
/// Fails as [`set_flags`] does.
pub fn set_ece(frame: &mut [u8]) -> Result<(), Malformed> {
    set_flags(frame, TcpFlags::ECE, true)
}

/// Bounds the window that a TCP segment advertises, in the units of its field, and updates the checksum.
/// Returns true if the window changed (RFC 9293 §3.1; RFC 1624).
///
/// # Errors
/// Returns an error if the frame is no frame of TCP over IPv4.
pub fn bound_window(frame: &mut [u8], most: u16) -> Result<bool, Malformed> {
    let tcp = Headers::read(frame)?.ip.header_end;
    let before = read_word(frame, tcp + WINDOW_OFFSET);
    if before > most {
        let sum = checksum::update_checksum(read_word(frame, tcp + checksum::TCP_CHECKSUM_OFFSET), before, most);
        write_word(frame, tcp + WINDOW_OFFSET, most);
        write_word(frame, tcp + checksum::TCP_CHECKSUM_OFFSET, sum);
    }
    Ok(before > most)
}

/// Sets CE (congestion experienced) in a packet whose transport is ECN-capable.
/// Returns true if it is marked now (RFC 3168 §5).
///
/// # Errors
/// Returns an error if the frame is no frame of IPv4.
pub fn set_ce(frame: &mut [u8]) -> Result<bool, Malformed> {
    Datagram::read(frame)?;
    let ip = &mut frame[ETHERNET_HEADER..];
    let capable = ip[1] & 0b11 != 0;
    if capable {
        let marked = read_word(ip, 0) | 0b11;
        write_ipv4_word(ip, 0, marked);
    }
    Ok(capable)
}

/// Sets the DSCP of a packet to the low six bits of `codepoint` (RFC 2474 §3).
///
/// # Errors
/// Returns an error if the frame is no frame of IPv4.
pub fn set_dscp(frame: &mut [u8], codepoint: u8) -> Result<(), Malformed> {
    Datagram::read(frame)?;
    let ip = &mut frame[ETHERNET_HEADER..];
    let with = read_word(ip, 0) & 0xff03 | u16::from(codepoint & 0x3f) << 2;
    write_ipv4_word(ip, 0, with);
    Ok(())
}

/// Changes a word of IPv4's header, and updates the checksum (RFC 1624).
fn write_ipv4_word(ip: &mut [u8], at: usize, to: u16) {
    let sum = checksum::update_checksum(read_word(ip, checksum::IPV4_CHECKSUM_OFFSET), read_word(ip, at), to);
    write_word(ip, at, to);
    write_word(ip, checksum::IPV4_CHECKSUM_OFFSET, sum);
}

#[cfg(test)]
mod tests;
