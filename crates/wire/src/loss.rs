//! The range that a cut packet has lost, and how a PACK tells it.

/// A range of sequence numbers that was lost, modulo 2³².
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The first number.
    pub left: u32,
    /// The number behind the last.
    pub right: u32,
}

impl Lost {
    /// The range as a PACK's first block: as one of SACK, with its edges swapped (CP §4.3).
    pub const fn block(self) -> (u32, u32) {
        (self.right, self.left)
    }
}

/// What a block of the SACK option says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// The range has arrived (RFC 2018 §3).
    Received {
        /// The first number.
        left: u32,
        /// The number behind the last.
        right: u32,
    },
    /// The range was lost (CP §4.3).
    Lost(Lost),
}

/// Reads a block as its two edges stand in the option. A block whose first edge is behind the second tells
/// a loss. Numbers are compared modulo 2³² (RFC 9293 §3.4); `None` where the edges are the same or exactly
/// 2³¹ apart, so that neither is behind the other.
pub const fn parse((first, second): (u32, u32)) -> Option<Told> {
    match second.wrapping_sub(first) as i32 {
        0 | i32::MIN => None,
        1.. => Some(Told::Received { left: first, right: second }),
        _ => Some(Told::Lost(Lost { left: second, right: first })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swapped_edges_tell_a_loss_and_others_do_not() {
        let lost = Lost { left: 1000, right: 2448 };
        assert_eq!(lost.block(), (2448, 1000));
        assert_eq!(parse(lost.block()), Some(Told::Lost(lost)));
        assert_eq!(parse((1000, 2448)), Some(Told::Received { left: 1000, right: 2448 }));
        assert_eq!(parse((0, 1)), Some(Told::Received { left: 0, right: 1 }));
        assert_eq!(parse((7, 7)), None);
    }

    #[test]
    fn sequence_numbers_wrap_around_between_the_edges() {
        for left in [u32::MAX - 1447, u32::MAX - 1446, u32::MAX, 0x7fff_ffff, 0x7fff_fb00] {
            let lost = Lost { left, right: left.wrapping_add(1448) };
            assert_eq!(parse(lost.block()), Some(Told::Lost(lost)), "from {left}");
            let received = Told::Received { left, right: lost.right };
            assert_eq!(parse((left, lost.right)), Some(received), "from {left}");
        }
        assert_eq!(parse((5, 5 + (1 << 31))), None, "neither edge is behind the other");
        let widest = Lost { left: 0, right: (1 << 31) - 1 };
        assert_eq!(parse(widest.block()), Some(Told::Lost(widest)));
    }
}
