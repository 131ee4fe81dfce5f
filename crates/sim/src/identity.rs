//! What a packet is known by, wherever it waits.

use dataplane::Pkt;
use mech::{Flags, PacketKind, hash_mix};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};

/// Who made a packet, and so what it is: the packets of a flow's two ends are its segments, or where it has no
/// transport its raw packets; nodes on the way make frames and messages of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The flow's sender.
    Sender,
    /// The flow's receiver.
    Receiver,
    /// A node that sends a PAUSE or PFC frame.
    Pause(u32),
    /// A node that tells the flow's source something.
    Notice(u32),
}

/// A packet's identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketId {
    /// Its flow.
    pub flow: u32,
    /// Who made it, as what.
    pub origin: Origin,
    /// Which packet of its origin it is, from 0; what is sent again is another one.
    pub emission: u32,
}

impl Hash for PacketId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let (kind, node) = match self.origin {
            Origin::Sender => (0, 0),
            Origin::Receiver => (1, 0),
            Origin::Pause(node) => (2, node),
            Origin::Notice(node) => (3, node),
        };
        [self.flow, node << 2 | kind, self.emission].into_iter().for_each(|word| state.write_u32(word));
    }
}

impl PacketId {
    /// That of a packet.
    #[inline]
    pub fn of_packet(pkt: &Pkt) -> PacketId {
        let origin = match pkt.head.kind() {
            PacketKind::Pause => Origin::Pause(pkt.head.src.0),
            PacketKind::Notice => Origin::Notice(pkt.head.src.0),
            PacketKind::Segment | PacketKind::Raw if pkt.head.flags.has(Flags::REVERSE) => Origin::Receiver,
            PacketKind::Segment | PacketKind::Raw => Origin::Sender,
        };
        PacketId { flow: pkt.head.flow.0, origin, emission: pkt.emission }
    }
    /// That of the n-th packet of an end of a flow.
    pub fn of_flow(flow: u32, reverse: bool, emission: u32) -> PacketId {
        PacketId { flow, origin: if reverse { Origin::Receiver } else { Origin::Sender }, emission }
    }
    /// Whether the flow's receiver sent it.
    pub fn is_reverse(&self) -> bool {
        self.origin == Origin::Receiver
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

#[cfg(test)]
mod tests {
    use super::*;
    use mech::{FlowId, HostId};

    #[test]
    fn what_a_node_makes_is_no_packet_of_the_flow_that_it_is_about() {
        let packet = |kind: PacketKind, src: u32| {
            let mut pkt = Pkt { emission: 4, ..Pkt::default() };
            (pkt.head.flow, pkt.head.src, pkt.head.flags) = (FlowId(2), HostId(src), Flags::of_kind(kind));
            PacketId::of_packet(&pkt)
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
        assert_eq!(ids[0], PacketId::of_flow(2, false, 4));
        assert!(!ids[0].is_reverse() && PacketId::of_flow(2, true, 4).is_reverse());
        let mut aside: Aside<usize> = Aside::default();
        aside.extend(ids.into_iter().zip(0..));
        assert_eq!(aside.len(), all.len());
    }
}
