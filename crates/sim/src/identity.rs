//! What a packet is known by, wherever it waits.

use dataplane::Pkt;
use mech::{Flags, hash_mix};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A packet's identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PacketId {
    /// Its flow.
    pub flow: u32,
    /// Whether the flow's receiver sent it.
    pub reverse: bool,
    /// Which packet of this end of the flow it is, from 0; what is sent again is another one.
    pub emission: u32,
}

impl PacketId {
    /// That of a packet.
    #[inline]
    pub fn of(pkt: &Pkt) -> PacketId {
        PacketId { flow: pkt.head.flow.0, reverse: pkt.head.flags.has(Flags::REVERSE), emission: pkt.emission }
    }
}

/// Something of few packets that have not ended, for which no packet has room. Its order is never looked at.
pub(crate) type Aside<T> = HashMap<PacketId, T, BuildHasherDefault<Mixed>>;

/// A hash of few numbers; some are looked for at every link.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = hash_mix(self.0, u64::from(*byte)));
    }
    fn write_u32(&mut self, number: u32) {
        self.0 = hash_mix(self.0, u64::from(number));
    }
}
