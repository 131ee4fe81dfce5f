//! Internet checksum of IPv4's header and of TCP, and its update after one word changes.

use etherparse::checksum::Sum16BitWords;

/// Offsets of the checksum in the IPv4 header (RFC 791 §3.1) and in the TCP header (RFC 9293 §3.1).
pub(crate) const IPV4_CHECKSUM_OFFSET: usize = 10;
pub(crate) const TCP_CHECKSUM_OFFSET: usize = 16;
/// Protocol number of TCP in the pseudo-header.
const TCP_PROTOCOL: u8 = 6;

/// Returns the checksum after a 16-bit word of the covered data has changed (RFC 1624 §3, equation 3).
///
/// The result is bit-identical to a sum over all data: neither is ever 0xffff, except over zeros only.
pub fn update_checksum(checksum: u16, from: u16, to: u16) -> u16 {
    let sum = u32::from(!checksum) + u32::from(!from) + u32::from(to);
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}

/// Returns true if a found checksum is right; 0xffff is valid in place of 0, since both are zero (RFC 1624 §3).
pub(crate) fn is_equivalent_checksum(found: u16, right: u16) -> bool {
    found == right || (found, right) == (0xffff, 0)
}

/// Returns the correct checksum of IPv4's header. PRECONDITION: the header is complete.
pub(crate) fn ipv4_checksum(header: &[u8]) -> u16 {
    let sum =
        Sum16BitWords::new().add_slice(&header[..IPV4_CHECKSUM_OFFSET]).add_slice(&header[IPV4_CHECKSUM_OFFSET + 2..]);
    sum.ones_complement().to_be()
}

/// Returns the correct checksum of a TCP segment with this IPv4 header. The pseudo-header has the length of the bytes
/// that are present (CP §5.2). PRECONDITION: both headers are complete.
pub(crate) fn tcp_checksum(ip: &[u8], segment: &[u8]) -> u16 {
    let length = (segment.len() as u16).to_be_bytes();
    let pseudo = Sum16BitWords::new().add_slice(&ip[12..20]).add_2bytes([0, TCP_PROTOCOL]).add_2bytes(length);
    let sum = pseudo.add_slice(&segment[..TCP_CHECKSUM_OFFSET]).add_slice(&segment[TCP_CHECKSUM_OFFSET + 2..]);
    sum.ones_complement().to_be()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mech::{Stream, StreamPurpose};

    #[test]
    fn the_example_of_rfc_1624_gives_zero() {
        // Example of RFC 1624 §4: the checksum was 0xdd2f, and a word changed from 0x5555 to 0x3285.
        assert_eq!(update_checksum(0xdd2f, 0x5555, 0x3285), 0x0000);
    }

    #[test]
    fn updated_checksum_equals_one_computed_anew() {
        let mut draw = Stream::new(1, 0, StreamPurpose::Hash);
        for round in 0..20_000 {
            let mut header = [0_u8; 20];
            header.iter_mut().for_each(|byte| *byte = draw.u32() as u8);
            header[0] |= 0x40;
            // Words of all zeros and all ones, for which a ones' complement sum has two zeros.
            if round % 3 == 0 {
                header[2..10].fill(if round % 2 == 0 { 0 } else { 0xff });
            }
            let before = ipv4_checksum(&header);
            let at = 2 * (1 + draw.u32() as usize % 4);
            let from = u16::from_be_bytes([header[at], header[at + 1]]);
            // With this word the sum carries twice, so the carry must be folded in twice.
            let twice = 0x1_ffff - u32::from(!before) - u32::from(!from);
            let to = [draw.u32() as u16, 0, 0xffff, !from, from, twice as u16][round % 6];
            header[at..at + 2].copy_from_slice(&to.to_be_bytes());
            assert_eq!(update_checksum(before, from, to), ipv4_checksum(&header), "{from:04x} to {to:04x}");
        }
    }

    #[test]
    fn only_0xffff_is_accepted_in_place_of_0() {
        assert!(
            is_equivalent_checksum(0xffff, 0) && is_equivalent_checksum(0, 0) && is_equivalent_checksum(0x1234, 0x1234)
        );
        assert!(
            !is_equivalent_checksum(0, 0xffff) && !is_equivalent_checksum(0xffff, 1) && !is_equivalent_checksum(1, 0)
        );
    }

    #[test]
    fn tcp_checksum_without_payload_covers_both_headers() {
        // Pseudo-header 0a00 0001 0a00 0002 0006 0014, TCP header 0001 0002 0000 0003 0000 0004 5000 0005: sum 642c.
        let ip = [0x45, 0, 0, 40, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        let segment = [0, 1, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0x50, 0, 0, 5, 0xab, 0xcd, 0, 0];
        assert_eq!(tcp_checksum(&ip, &segment), !0x642c);
    }
}
