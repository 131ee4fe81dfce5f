//! Distance by which bounces have brought a packet back (PABO §III: bouncedDistance). It grows by one with every
//! bounce and falls by one with every normal forward, also by a host, and is never below 0.
//!
//! Only packets that were bounced and have not ended are kept.

use crate::identity::{PacketId, PacketMap};
use dataplane::Pkt;

/// Distances of packets in flight, by packet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Distances {
    distances: PacketMap<Distance>,
}

/// Distance by which bounces have brought a packet back: the present and the largest one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Distance {
    current: u8,
    max: u8,
    /// True if the packet's next transmission is the one back after a bounce.
    turned: bool,
}

impl Distances {
    /// Counts a bounce of a packet; its transmission comes next.
    pub(crate) fn count_bounce(&mut self, pkt: &Pkt) {
        let distance = self.distances.entry(PacketId::from_packet(pkt)).or_default();
        distance.current = distance.current.saturating_add(1);
        distance.max = distance.max.max(distance.current);
        distance.turned = true;
    }

    /// Counts a transmission of a packet that was bounced before.
    pub(crate) fn count_transmission(&mut self, pkt: &Pkt) {
        if let Some(distance) = self.distances.get_mut(&PacketId::from_packet(pkt)) {
            if !std::mem::take(&mut distance.turned) {
                distance.current = distance.current.saturating_sub(1);
            }
        }
    }

    /// Removes a packet that was bounced before and is delivered or lost. Returns the largest distance that it ever
    /// had (PABO §III: maxBouncedDistance).
    pub(crate) fn remove_ended_packet(&mut self, pkt: &Pkt) -> u8 {
        self.distances.remove(&PacketId::from_packet(pkt)).map_or(0, |distance| distance.max)
    }

    /// Removes and returns the distance of a packet that goes on in another partition.
    pub(crate) fn detach_packet(&mut self, pkt: &Pkt) -> Option<Distance> {
        self.distances.remove(&PacketId::from_packet(pkt))
    }

    pub(crate) fn attach_packet(&mut self, pkt: &Pkt, distance: Distance) {
        self.distances.insert(PacketId::from_packet(pkt), distance);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mech::Flags;

    fn data(emission: u32) -> Pkt {
        Pkt { emission, ..Pkt::default() }
    }

    /// Returns the largest distance of a packet after steps: `b` is a bounce with its transmission, `f` a normal
    /// forward.
    fn max_distance(steps: &str) -> u8 {
        let (mut distances, pkt) = (Distances::default(), data(0));
        for step in steps.chars() {
            if step == 'b' {
                distances.count_bounce(&pkt);
            }
            distances.count_transmission(&pkt);
        }
        let most = distances.remove_ended_packet(&pkt);
        assert_eq!(distances.distances.len(), 0);
        most
    }

    #[test]
    fn bounce_adds_one_and_forward_subtracts_one() {
        assert_eq!([max_distance("b"), max_distance("bf"), max_distance("bbff"), max_distance("bfbf")], [1, 1, 2, 1]);
        assert_eq!([max_distance("bbfbbff"), max_distance("bbfbfbbf"), max_distance("bbffb")], [3, 3, 2]);
    }

    #[test]
    fn distance_never_falls_below_zero() {
        assert_eq!(max_distance("bffffb"), 1);
        assert_eq!(max_distance("bffffbb"), 2);
    }

    #[test]
    fn packets_are_distinguished_and_removed_when_lost() {
        let mut distances = Distances::default();
        let (first, second) = (data(0), data(1));
        let mut back = data(0);
        back.head.flags = Flags::REVERSE;
        for pkt in [&first, &first, &second, &first, &back, &back] {
            distances.count_bounce(pkt);
            distances.count_transmission(pkt);
        }
        assert_eq!(distances.distances.len(), 3);
        assert_eq!([&first, &second, &back].map(|pkt| distances.remove_ended_packet(pkt)), [3, 1, 2]);
        assert_eq!((distances.distances.len(), distances.remove_ended_packet(&first)), (0, 0));
    }
}
