//! TCP options of a packet, which are stored outside its 64 bytes.
//! A packet without options has no extension and costs nothing.

use std::collections::BTreeMap;

/// TCP options of one packet, stored outside its 64 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketExtension {
    /// SACK blocks, of which the first `blocks` are used (RFC 2018 §3): first byte and one past the last, modulo 2³².
    /// In a PACK, blocks with swapped edges were lost (CP §4.3).
    pub sack: [(u32, u32); MAX_BLOCKS],
    /// Number of SACK blocks in use.
    pub blocks: u8,
    /// Timestamps option (RFC 7323 §3.2).
    pub timestamps: Option<Timestamps>,
    /// Options of the SYN, if the packet is one.
    pub syn: Option<SynOptions>,
    /// True if the packet ends a burst of its sender (PSH, RFC 9293 §3.1).
    pub push: bool,
}

/// Largest number of SACK blocks that fit 40 bytes of options (RFC 2018 §3).
pub const MAX_BLOCKS: usize = 4;

/// Values of the timestamps option, TSval and TSecr (RFC 7323 §3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timestamps {
    /// Clock of the sender (TSval).
    pub val: u32,
    /// Clock of the peer, echoed (TSecr).
    pub ecr: u32,
}

/// TCP options that a SYN offers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SynOptions {
    /// Largest segment that the sender of the SYN takes, in bytes (RFC 9293 §3.7.1).
    pub mss: u16,
    /// Window scale of the SYN's sender; `None` without the option (RFC 7323 §2.2).
    pub window_scale: Option<u8>,
    /// True if SACK is permitted (RFC 2018 §2).
    pub sack_permitted: bool,
    /// True if PACK is permitted (CP §4.3).
    pub pack_permitted: bool,
}

impl PacketExtension {
    /// Returns the bytes of TCP options in the header, padded to words.
    ///
    /// - Timestamps: 12.
    /// - n SACK blocks: 4 + 8n (with two bytes of padding, as stacks align them).
    /// - MSS: 4. Window scale: 4.
    /// - SACK permitted, PACK permitted or both: 4. Beside timestamps one of them takes the place of their padding: 0
    ///   for one, 4 for both.
    pub fn option_bytes(&self) -> u16 {
        let stamps = if self.timestamps.is_some() { 12 } else { 0 };
        let blocks = if self.blocks > 0 { 4 + 8 * u16::from(self.blocks) } else { 0 };
        let syn = self.syn.map_or(0, |syn| {
            let scale = if syn.window_scale.is_some() { 4 } else { 0 };
            let pairs = u16::from(syn.sack_permitted) + u16::from(syn.pack_permitted);
            let beside = if self.timestamps.is_some() { pairs.saturating_sub(1) } else { pairs.min(1) };
            4 + scale + 4 * beside
        });
        stamps + blocks + syn
    }
}

/// Extensions (TCP options) of all packets in the network.
#[derive(Clone, Debug, Default)]
pub struct ExtensionSlab {
    slots: Vec<PacketExtension>,
    free: Vec<u32>,
    /// Number of frames beside the first that carry an extension, for extensions that several frames share.
    shared: BTreeMap<u32, u32>,
}

impl ExtensionSlab {
    /// Stores an extension, and returns its index for [`Pkt::ext`](crate::Pkt::ext).
    pub fn allocate(&mut self, ext: PacketExtension) -> u32 {
        match self.free.pop() {
            Some(index) => {
                self.slots[index as usize] = ext;
                index
            }
            None => {
                self.slots.push(ext);
                (self.slots.len() - 1) as u32
            }
        }
    }
    /// Returns the extension at an index; `None` for [`NO_EXT`](crate::NO_EXT).
    #[inline]
    pub fn get(&self, index: u32) -> Option<&PacketExtension> {
        self.slots.get(index as usize)
    }
    /// Returns the extension at an index, to change it; `None` for [`NO_EXT`](crate::NO_EXT).
    #[inline]
    pub fn get_mut(&mut self, index: u32) -> Option<&mut PacketExtension> {
        self.slots.get_mut(index as usize)
    }
    /// Frees the extension of a packet that has ended. Does nothing for [`NO_EXT`](crate::NO_EXT).
    #[inline]
    pub fn free(&mut self, index: u32) {
        if (index as usize) < self.slots.len() {
            self.free.push(index);
        }
    }
    /// Adds frames to those that share an extension. Does nothing for [`NO_EXT`](crate::NO_EXT).
    pub fn add_frames(&mut self, index: u32, further: u32) {
        if (index as usize) < self.slots.len() {
            *self.shared.entry(index).or_default() += further;
        }
    }
    /// Counts a frame that ended and may share its extension. The last such frame frees it.
    pub fn free_shared(&mut self, index: u32) {
        match self.shared.get_mut(&index) {
            None => self.free(index),
            Some(1) => drop(self.shared.remove(&index)),
            Some(others) => *others -= 1,
        }
    }
    /// Returns the number of extensions in use.
    pub fn live_count(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn option_bytes_are_padded_as_in_real_stacks() {
        let stamps = Some(Timestamps::default());
        assert_eq!(PacketExtension::default().option_bytes(), 0);
        assert_eq!(PacketExtension { timestamps: stamps, ..PacketExtension::default() }.option_bytes(), 12);
        assert_eq!(PacketExtension { blocks: 4, ..PacketExtension::default() }.option_bytes(), 36);
        assert_eq!(PacketExtension { blocks: 3, timestamps: stamps, ..PacketExtension::default() }.option_bytes(), 40);
        let syn = Some(SynOptions { mss: 1460, window_scale: Some(7), sack_permitted: true, pack_permitted: false });
        assert_eq!(PacketExtension { syn, ..PacketExtension::default() }.option_bytes(), 12);
        assert_eq!(PacketExtension { syn, timestamps: stamps, ..PacketExtension::default() }.option_bytes(), 20);
    }

    #[test]
    fn shared_extension_is_freed_with_its_last_frame() {
        let mut exts = ExtensionSlab::default();
        let a = exts.allocate(PacketExtension::default());
        exts.add_frames(a, 2);
        exts.add_frames(crate::NO_EXT, 5);
        for live in [1, 1, 0] {
            exts.free_shared(a);
            assert_eq!(exts.live_count(), live);
        }
        let b = exts.allocate(PacketExtension::default());
        exts.free_shared(b);
        exts.free_shared(crate::NO_EXT);
        assert_eq!(exts.live_count(), 0, "one that is carried once");
    }

    #[test]
    fn index_of_a_freed_extension_is_reused() {
        let mut exts = ExtensionSlab::default();
        let a = exts.allocate(PacketExtension { blocks: 1, ..PacketExtension::default() });
        let b = exts.allocate(PacketExtension { blocks: 2, ..PacketExtension::default() });
        exts.free(a);
        exts.free(crate::NO_EXT);
        assert_eq!(exts.allocate(PacketExtension { blocks: 3, ..PacketExtension::default() }), a);
        assert_eq!([a, b].map(|i| exts.get(i).map(|e| e.blocks)), [Some(3), Some(2)]);
        assert_eq!((exts.get(crate::NO_EXT), exts.live_count()), (None, 2));
    }
}
