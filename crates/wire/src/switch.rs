//! What a switch does to a frame on its way: cut its payload off, trim it to a size, set bits. In place,
//! without memory of its own.

use crate::checksum;
use crate::flags::{CpPacket, TcpFlags};
use crate::layout::{Datagram, ETHERNET, Headers, IP_LENGTH, Malformed, TCP_FLAGS, WINDOW, set_word, word};
use crate::segment::{LengthIn, SHORTEST};
use std::fmt;

/// Why a frame stays as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uncut {
    /// It is no frame that can be cut.
    Malformed(Malformed),
    /// It is not CP-enabled: normal, a PACK, or cut before.
    Packet(CpPacket),
    /// It would not be shorter: it has so many bytes of payload, or (trimmed) in all.
    Small(usize),
    /// Its codepoint may not be trimmed.
    Codepoint(u8),
}

impl std::error::Error for Uncut {}

impl fmt::Display for Uncut {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Uncut::Malformed(why) => why.fmt(f),
            Uncut::Packet(found) => write!(f, "a packet of CP's kind {found:?}; expected one that is CP-enabled"),
            Uncut::Small(bytes) => write!(f, "{bytes} B; expected more than what stays"),
            Uncut::Codepoint(found) => write!(f, "DSCP {found}; expected the one that may be trimmed"),
        }
    }
}

impl From<Malformed> for Uncut {
    fn from(why: Malformed) -> Uncut {
        Uncut::Malformed(why)
    }
}

/// Cuts the payload off a CP-enabled packet (CP §4.2) and returns how many bytes of the frame stay: its
/// headers, the two bytes of its length where these are in the payload, and zeros up to the shortest frame.
///
/// PPL is set. TCP's checksum is summed anew over what stays, with the length of that in the pseudo-header
/// (CP §5.2): what was wrong in the headers before is not found after.
///
/// # Errors
/// Where the frame stays as it is: it is not CP-enabled, not whole, or has no payload beyond what stays.
pub fn cut(frame: &mut [u8], length: LengthIn) -> Result<usize, Uncut> {
    let headers = Headers::read(frame)?;
    if headers.packet() != CpPacket::Enabled {
        return Err(Uncut::Packet(headers.packet()));
    }
    headers.ip.whole(frame)?;
    if headers.payload() <= length.bytes() {
        return Err(Uncut::Small(headers.payload().into()));
    }
    let end = headers.end + usize::from(length.bytes());
    if length == LengthIn::Payload {
        set_word(frame, headers.end, headers.ip.total);
        set_ipv4(&mut frame[ETHERNET..], IP_LENGTH, headers.length() + length.bytes());
    }
    let (before, tcp) = frame.split_at_mut(headers.ip.end);
    let segment = &mut tcp[..end - headers.ip.end];
    let flags = word(segment, TCP_FLAGS) | TcpFlags::PPL.0;
    set_word(segment, TCP_FLAGS, flags);
    let sum = checksum::tcp(&before[ETHERNET..], segment);
    set_word(segment, checksum::IN_TCP, sum);
    let stays = end.max(SHORTEST.min(frame.len()));
    frame[end..stays].fill(0);
    Ok(stays)
}

/// Trimming as switches of today do it (UEC, SAI): any IPv4 packet keeps its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trim {
    /// Bytes of a frame that stay, its check sequence not counted.
    pub bytes: usize,
    /// The codepoint that may be trimmed; any where there is none.
    pub trimmable: Option<u8>,
    /// The codepoint of what was trimmed.
    pub trimmed: u8,
}

impl Trim {
    /// Trims a frame and returns how many bytes of it stay. IPv4 says the length of these, and the codepoint
    /// of a trimmed packet. The checksum of what it carries stays, and is wrong from then on.
    ///
    /// # Errors
    /// Where the frame stays as it is: it is not longer, not whole, of another codepoint, or would lose bytes of
    /// IPv4's header.
    pub fn apply(&self, frame: &mut [u8]) -> Result<usize, Uncut> {
        let datagram = Datagram::read(frame)?;
        let end = datagram.whole(frame)?;
        let (needed, found) = (datagram.end, self.bytes);
        if found < needed {
            return Err(Malformed::Short { needed, found }.into());
        }
        if end <= self.bytes {
            return Err(Uncut::Small(end));
        }
        let codepoint = frame[ETHERNET + 1] >> 2;
        if self.trimmable.is_some_and(|only| only != codepoint) {
            return Err(Uncut::Codepoint(codepoint));
        }
        set_ipv4(&mut frame[ETHERNET..], IP_LENGTH, (self.bytes - ETHERNET) as u16);
        set_dscp(frame, self.trimmed)?;
        Ok(self.bytes)
    }
}

/// Sets or clears flags of TCP and corrects its checksum by what changed (RFC 1624).
///
/// # Errors
/// Where it is no frame of TCP over IPv4.
pub fn set_flags(frame: &mut [u8], flags: TcpFlags, on: bool) -> Result<(), Malformed> {
    let tcp = Headers::read(frame)?.ip.end;
    let before = word(frame, tcp + TCP_FLAGS);
    let bits = flags.0 & TcpFlags::ALL.0;
    let after = if on { before | bits } else { before & !bits };
    let sum = checksum::update(word(frame, tcp + checksum::IN_TCP), before, after);
    set_word(frame, tcp + TCP_FLAGS, after);
    set_word(frame, tcp + checksum::IN_TCP, sum);
    Ok(())
}

/// Whether a segment acknowledges and does nothing else, so that its ACK may be held (ABQ: IsAck): no payload, none that was
/// or may be cut off, and none of SYN, FIN, RST.
///
/// # Errors
/// Where it is no frame of TCP over IPv4.
pub fn is_pure_ack(frame: &[u8]) -> Result<bool, Malformed> {
    let headers = Headers::read(frame)?;
    let other = TcpFlags::SYN.with(TcpFlags::FIN).with(TcpFlags::RST).with(TcpFlags::CPA);
    let only = headers.flags.0 & other.0 == 0;
    Ok(headers.flags.has(TcpFlags::ACK) && only && headers.payload() == 0)
}

/// Sets ECN's echo (RFC 3168 §6.1.3).
///
/// # Errors
/// As [`set_flags`].
pub fn set_ece(frame: &mut [u8]) -> Result<(), Malformed> {
    set_flags(frame, TcpFlags::ECE, true)
}

/// Bounds the window that a segment advertises, in the units of its field (RFC 9293 §3.1), and corrects the checksum by that
/// (RFC 1624); whether it is another window now.
///
/// # Errors
/// Where it is no frame of TCP over IPv4.
pub fn bound_window(frame: &mut [u8], most: u16) -> Result<bool, Malformed> {
    let tcp = Headers::read(frame)?.ip.end;
    let before = word(frame, tcp + WINDOW);
    if before > most {
        let sum = checksum::update(word(frame, tcp + checksum::IN_TCP), before, most);
        set_word(frame, tcp + WINDOW, most);
        set_word(frame, tcp + checksum::IN_TCP, sum);
    }
    Ok(before > most)
}

/// Marks a packet that it has experienced congestion, if its transport knows ECN; whether it is marked now
/// (RFC 3168 §5).
///
/// # Errors
/// Where it is no frame of IPv4.
pub fn set_ce(frame: &mut [u8]) -> Result<bool, Malformed> {
    Datagram::read(frame)?;
    let ip = &mut frame[ETHERNET..];
    let capable = ip[1] & 0b11 != 0;
    if capable {
        let marked = word(ip, 0) | 0b11;
        set_ipv4(ip, 0, marked);
    }
    Ok(capable)
}

/// Gives a packet another codepoint, of which the low six bits count (RFC 2474 §3).
///
/// # Errors
/// Where it is no frame of IPv4.
pub fn set_dscp(frame: &mut [u8], codepoint: u8) -> Result<(), Malformed> {
    Datagram::read(frame)?;
    let ip = &mut frame[ETHERNET..];
    let with = word(ip, 0) & 0xff03 | u16::from(codepoint & 0x3f) << 2;
    set_ipv4(ip, 0, with);
    Ok(())
}

/// Changes a word of IPv4's header and corrects the checksum by that (RFC 1624).
fn set_ipv4(ip: &mut [u8], at: usize, to: u16) {
    let sum = checksum::update(word(ip, checksum::IN_IPV4), word(ip, at), to);
    set_word(ip, at, to);
    set_word(ip, checksum::IN_IPV4, sum);
}

#[cfg(test)]
mod tests;
