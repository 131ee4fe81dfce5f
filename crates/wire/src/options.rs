//! TCP options, written in the usual order and padding of stacks, and read in any order.

use crate::layout::Malformed;
use crate::sack_blocks::{LostRange, SackBlock, parse_sack_block};
use dataplane::{MAX_BLOCKS, PacketExtension, Timestamps};

/// Kinds of TCP options (RFC 9293 §3.2; RFC 7323 §2.2, §3.2; RFC 2018 §2, §3).
const KIND_END: u8 = 0;
const KIND_PAD: u8 = 1;
const KIND_MSS: u8 = 2;
const KIND_WINDOW_SCALE: u8 = 3;
const KIND_SACK_PERMITTED: u8 = 4;
const KIND_SACK: u8 = 5;
const KIND_TIMESTAMPS: u8 = 8;
/// Kind of the TCP option that permits PACKs.
/// The paper (CP §4.3) gives it two bytes and no number, and its prototype uses SACK-permitted instead. This is the
/// first of the two kinds for experiments (RFC 4727 §7.1).
pub const KIND_PACK_PERMITTED: u8 = 253;
/// Largest length of TCP options in a header in bytes (RFC 9293 §3.1).
const MAX_OPTION_BYTES: u16 = 40;

/// TCP options of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpOptions {
    /// Largest segment that the sender accepts, on a SYN (RFC 9293 §3.7.1).
    pub mss: Option<u16>,
    /// Scale of the sender's windows, on a SYN (RFC 7323 §2.2).
    pub window_scale: Option<u8>,
    /// True if SACK is permitted, on a SYN (RFC 2018 §2).
    pub sack_permitted: bool,
    /// True if PACK is permitted, on a SYN (CP §4.3).
    pub pack_permitted: bool,
    /// Timestamps of the segment (RFC 7323 §3.2).
    pub timestamps: Option<Timestamps>,
    /// Blocks of the SACK option, the first `blocks` of them.
    /// Edges are as in the option: swapped in a PACK's first block.
    pub sack: [(u32, u32); MAX_BLOCKS],
    /// Number of used blocks of the SACK option.
    pub blocks: u8,
}

impl TcpOptions {
    /// Returns the TCP options of a packet. Options beyond 40 bytes, which no transport makes, are left out.
    pub fn from_ext(ext: &PacketExtension) -> TcpOptions {
        let all = TcpOptions {
            mss: ext.syn.map(|syn| syn.mss),
            window_scale: ext.syn.and_then(|syn| syn.window_scale),
            sack_permitted: ext.syn.is_some_and(|syn| syn.sack_permitted),
            pack_permitted: ext.syn.is_some_and(|syn| syn.pack_permitted),
            timestamps: ext.timestamps,
            sack: ext.sack,
            blocks: ext.blocks,
        };
        if all.padded_length() > MAX_OPTION_BYTES { TcpOptions::default() } else { all }
    }
    /// Returns the blocks of the SACK option.
    pub fn blocks(&self) -> &[(u32, u32)] {
        &self.sack[..usize::from(self.blocks).min(MAX_BLOCKS)]
    }
    /// Returns the lost range, if the first block of the SACK option reports one.
    pub fn lost_range(&self) -> Option<LostRange> {
        match parse_sack_block(*self.blocks().first()?) {
            Some(SackBlock::Lost(lost)) => Some(lost),
            _ => None,
        }
    }
    /// Inserts a lost range before the other blocks of the SACK option (CP §4.3).
    /// The last block is removed if there is no space, which with timestamps is the case after three (RFC 2018 §3).
    pub fn report_loss(&mut self, lost: LostRange) {
        let most = if self.timestamps.is_some() { MAX_BLOCKS - 1 } else { MAX_BLOCKS };
        self.sack[..most].rotate_right(1);
        self.sack[0] = lost.sack_block();
        self.blocks = self.blocks.saturating_add(1).min(most as u8);
    }
    /// Returns the number of two-byte fields (options or padding), which makes the next option end on a word boundary.
    /// With timestamps that option has ten bytes.
    fn count_two_byte_options(&self) -> u16 {
        let pairs = u16::from(self.sack_permitted) + u16::from(self.pack_permitted);
        pairs + u16::from(pairs % 2 != u16::from(self.timestamps.is_some()))
    }
    /// Returns the length of the padded TCP options in bytes.
    pub(crate) fn padded_length(&self) -> u16 {
        let of = |there: bool, bytes| if there { bytes } else { 0 };
        let blocks = self.blocks().len() as u16;
        let words = of(self.mss.is_some(), 4) + of(self.window_scale.is_some(), 4) + of(blocks > 0, 4 + 8 * blocks);
        words + 2 * self.count_two_byte_options() + of(self.timestamps.is_some(), 10)
    }
    /// Returns the TCP options as bytes, padded to words of four bytes.
    /// Options of two bytes replace the padding that usually precedes timestamps.
    pub(crate) fn to_bytes(self) -> Vec<u8> {
        let mut out = Vec::with_capacity(MAX_OPTION_BYTES.into());
        if let Some(mss) = self.mss {
            out.extend_from_slice(&[KIND_MSS, 4]);
            out.extend_from_slice(&mss.to_be_bytes());
        }
        if self.count_two_byte_options() > u16::from(self.sack_permitted) + u16::from(self.pack_permitted) {
            out.extend_from_slice(&[KIND_PAD, KIND_PAD]);
        }
        if self.sack_permitted {
            out.extend_from_slice(&[KIND_SACK_PERMITTED, 2]);
        }
        if self.pack_permitted {
            out.extend_from_slice(&[KIND_PACK_PERMITTED, 2]);
        }
        if let Some(Timestamps { val, ecr }) = self.timestamps {
            out.extend_from_slice(&[KIND_TIMESTAMPS, 10]);
            [val, ecr].iter().for_each(|word| out.extend_from_slice(&word.to_be_bytes()));
        }
        if let Some(scale) = self.window_scale {
            out.extend_from_slice(&[KIND_PAD, KIND_WINDOW_SCALE, 3, scale]);
        }
        let blocks = self.blocks();
        if !blocks.is_empty() {
            out.extend_from_slice(&[KIND_PAD, KIND_PAD, KIND_SACK, 2 + 8 * blocks.len() as u8]);
            let edges = blocks.iter().flat_map(|&(first, second)| [first, second]);
            edges.for_each(|edge| out.extend_from_slice(&edge.to_be_bytes()));
        }
        out
    }
    /// Reads TCP options up to the end or the first END.
    /// Options of other kinds are skipped; of two options of a kind, the last counts.
    pub(crate) fn read(bytes: &[u8]) -> Result<TcpOptions, Malformed> {
        let (mut found, mut at) = (TcpOptions::default(), 0);
        while let Some(&kind) = bytes.get(at) {
            match kind {
                KIND_END => break,
                KIND_PAD => at += 1,
                _ => {
                    let wrong = Malformed::Option { kind, at };
                    let length = usize::from(*bytes.get(at + 1).ok_or(wrong)?);
                    let data = bytes.get(at + 2..at + length).ok_or(wrong)?;
                    found.read_option(kind, data).ok_or(wrong)?;
                    at += length;
                }
            }
        }
        Ok(found)
    }
    /// Reads one TCP option from its data after kind and length; `None` if the data have the wrong length.
    fn read_option(&mut self, kind: u8, data: &[u8]) -> Option<()> {
        match kind {
            KIND_MSS => self.mss = Some(u16::from_be_bytes(data.try_into().ok()?)),
            KIND_WINDOW_SCALE => self.window_scale = Some(u8::from_be_bytes(data.try_into().ok()?)),
            KIND_SACK_PERMITTED if data.is_empty() => self.sack_permitted = true,
            KIND_PACK_PERMITTED if data.is_empty() => self.pack_permitted = true,
            KIND_TIMESTAMPS => {
                let (val, ecr) = read_edges(data)?;
                self.timestamps = Some(Timestamps { val, ecr });
            }
            KIND_SACK => {
                let blocks = data.chunks(8);
                if blocks.len() == 0 || blocks.len() > MAX_BLOCKS {
                    return None;
                }
                self.sack = Default::default();
                self.blocks = blocks.len() as u8;
                for (place, block) in self.sack.iter_mut().zip(blocks) {
                    *place = read_edges(block)?;
                }
            }
            KIND_SACK_PERMITTED => return None,
            // Unknown kinds are skipped. With data, `KIND_PACK_PERMITTED` belongs to another experiment (RFC 6994 §3).
            _ => {}
        }
        Some(())
    }
}

/// Reads two 32-bit numbers from exactly eight bytes; `None` for any other length.
fn read_edges(bytes: &[u8]) -> Option<(u32, u32)> {
    let both = u64::from_be_bytes(bytes.try_into().ok()?);
    Some(((both >> 32) as u32, both as u32))
}

#[cfg(test)]
mod tests;
