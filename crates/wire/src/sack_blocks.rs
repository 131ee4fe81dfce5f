//! Range of sequence numbers that a cut packet has lost, and its report in a PACK.

/// Range of lost sequence numbers, modulo 2³².
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostRange {
    /// First lost sequence number.
    pub left: u32,
    /// Sequence number after the last lost one.
    pub right: u32,
}

impl LostRange {
    /// Returns the lost range as a PACK's first block: a SACK block with swapped edges (CP §4.3).
    pub const fn sack_block(self) -> (u32, u32) {
        (self.right, self.left)
    }
}

/// Meaning of a block of the SACK option: a received or a lost range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SackBlock {
    /// Range of sequence numbers that has arrived (RFC 2018 §3).
    Received {
        /// First received sequence number.
        left: u32,
        /// Sequence number after the last received one.
        right: u32,
    },
    /// Range of sequence numbers that was lost (CP §4.3).
    Lost(LostRange),
}

/// Reads a SACK block from its two edges in the option. A block whose first edge is after the second reports a loss.
///
/// Numbers are compared modulo 2³² (RFC 9293 §3.4). Returns `None` if the edges are equal or exactly 2³¹ apart, so that
/// neither is after the other.
pub const fn parse_sack_block((first, second): (u32, u32)) -> Option<SackBlock> {
    match second.wrapping_sub(first) as i32 {
        0 | i32::MIN => None,
        1.. => Some(SackBlock::Received { left: first, right: second }),
        _ => Some(SackBlock::Lost(LostRange { left: second, right: first })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sack_block_with_swapped_edges_reports_a_loss() {
        let lost = LostRange { left: 1000, right: 2448 };
        assert_eq!(lost.sack_block(), (2448, 1000));
        assert_eq!(parse_sack_block(lost.sack_block()), Some(SackBlock::Lost(lost)));
        assert_eq!(parse_sack_block((1000, 2448)), Some(SackBlock::Received { left: 1000, right: 2448 }));
        assert_eq!(parse_sack_block((0, 1)), Some(SackBlock::Received { left: 0, right: 1 }));
        assert_eq!(parse_sack_block((7, 7)), None);
    }

    #[test]
    fn sequence_numbers_wrap_around_between_the_edges() {
        for left in [u32::MAX - 1447, u32::MAX - 1446, u32::MAX, 0x7fff_ffff, 0x7fff_fb00] {
            let lost = LostRange { left, right: left.wrapping_add(1448) };
            assert_eq!(parse_sack_block(lost.sack_block()), Some(SackBlock::Lost(lost)), "from {left}");
            let received = SackBlock::Received { left, right: lost.right };
            assert_eq!(parse_sack_block((left, lost.right)), Some(received), "from {left}");
        }
        assert_eq!(parse_sack_block((5, 5 + (1 << 31))), None, "neither edge is behind the other");
        let widest = LostRange { left: 0, right: (1 << 31) - 1 };
        assert_eq!(parse_sack_block(widest.sack_block()), Some(SackBlock::Lost(widest)));
    }
}
