//! Identity of a packet, by which it is found anywhere in the network.

use dataplane::Pkt;
use mech::{Flags, PacketKind, hash_mix};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};

/// Maker of a packet. The two ends of a flow make its segments, or its raw packets if the flow has no transport.
/// Nodes on the path make control frames and messages of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketOrigin {
    /// Sender of the flow.
    Sender,
    /// Receiver of the flow.
    Receiver,
    /// Node that sends a PAUSE or PFC frame.
    Pause(u32),
    /// Node that sends a message to the flow's source.
    Notice(u32),
}

/// Identity of a packet: flow, origin and number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketId {
    /// Number of the flow.
    pub flow: u32,
    /// Maker of the packet.
    pub origin: PacketOrigin,
    /// Number of the packet among those of its maker in the flow, from 0. A retransmission is another packet.
    pub emission: u32,
}

impl Hash for PacketId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let (kind, node) = match self.origin {
            PacketOrigin::Sender => (0, 0),
            PacketOrigin::Receiver => (1, 0),
            PacketOrigin::Pause(node) => (2, node),
            PacketOrigin::Notice(node) => (3, node),
        };
        [self.flow, node << 2 | kind, self.emission].into_iter().for_each(|word| state.write_u32(word));
    }
}

impl PacketId {
    /// Returns the identity of a packet.
    #[inline]
    pub fn from_packet(pkt: &Pkt) -> PacketId {
        let origin = match pkt.head.kind() {
            PacketKind::Pause => PacketOrigin::Pause(pkt.head.src.0),
            PacketKind::Notice => PacketOrigin::Notice(pkt.head.src.0),
            PacketKind::Segment | PacketKind::Raw if pkt.head.flags.has(Flags::REVERSE) => PacketOrigin::Receiver,
            PacketKind::Segment | PacketKind::Raw => PacketOrigin::Sender,
        };
        PacketId { flow: pkt.head.flow.0, origin, emission: pkt.emission }
    }
    /// Returns the identity of the n-th packet that an end of a flow makes.
    pub fn from_emission(flow: u32, reverse: bool, emission: u32) -> PacketId {
        PacketId { flow, origin: if reverse { PacketOrigin::Receiver } else { PacketOrigin::Sender }, emission }
    }
    /// Returns true if the flow's receiver sent the packet.
    pub fn is_reverse(&self) -> bool {
        self.origin == PacketOrigin::Receiver
    }
}

/// Map from packets that have not ended to values that a packet's cache line has no space for. Its order is never
/// used: it depends on insertions, and so on the division of the run.
pub(crate) type PacketMap<T> = HashMap<PacketId, T, BuildHasherDefault<PacketIdHasher>>;

/// Hasher of a few numbers. It is fast, since some identities are looked up at every link.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PacketIdHasher(u64);

impl Hasher for PacketIdHasher {
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

#[cfg(test)]
mod tests {
    use super::*;
    use mech::{FlowId, HostId};

    #[test]
    fn notices_and_pauses_have_identities_apart_from_flow_packets() {
        let packet = |kind: PacketKind, src: u32| {
            let mut pkt = Pkt { emission: 4, ..Pkt::default() };
            (pkt.head.flow, pkt.head.src, pkt.head.flags) = (FlowId(2), HostId(src), Flags::from_kind(kind));
            PacketId::from_packet(&pkt)
        };
        let all = [
            (PacketKind::Segment, 1),
            (PacketKind::Notice, 1),
            (PacketKind::Notice, 9),
            (PacketKind::Pause, 1),
            (PacketKind::Pause, 9),
        ];
        let ids = all.map(|(kind, src)| packet(kind, src));
        for (i, id) in ids.iter().enumerate() {
            assert_eq!(ids.iter().position(|other| other == id), Some(i));
        }
        assert_eq!(ids[0], PacketId::from_emission(2, false, 4));
        assert!(!ids[0].is_reverse() && PacketId::from_emission(2, true, 4).is_reverse());
        let mut aside: PacketMap<usize> = PacketMap::default();
        aside.extend(ids.into_iter().zip(0..));
        assert_eq!(aside.len(), all.len());
    }
}
