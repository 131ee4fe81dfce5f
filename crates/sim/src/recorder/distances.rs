//! Distance by which bounces have brought a packet back (PABO §III: bouncedDistance). It grows by one with every
//! bounce and falls by one with every normal forward, also by a host, and is never below 0.
//!
//! Only packets that were bounced and have not ended are kept.

use crate::identity::{Aside, PacketId};
use dataplane::Pkt;

/// Distances of packets in flight, by packet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Distances {
    of: Aside<Distance>,
}

/// Distance of a packet, now and at most.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Distance {
    now: u8,
    most: u8,
    /// True if the packet's next transmission is the bounce itself.
    turned: bool,
}

impl Distances {
    /// Counts a bounce of a packet; its transmission comes next.
    pub(crate) fn bounced(&mut self, pkt: &Pkt) {
        let distance = self.of.entry(PacketId::of_packet(pkt)).or_default();
        distance.now = distance.now.saturating_add(1);
        distance.most = distance.most.max(distance.now);
        distance.turned = true;
    }

    /// Counts a transmission of a packet that was bounced before.
    pub(crate) fn transmitted(&mut self, pkt: &Pkt) {
        if let Some(distance) = self.of.get_mut(&PacketId::of_packet(pkt))
            && !std::mem::take(&mut distance.turned)
        {
            distance.now = distance.now.saturating_sub(1);
        }
    }

    /// Removes a packet that was bounced before and is delivered or lost. Returns the largest distance that it ever
    /// had (PABO §III: maxBouncedDistance).
    pub(crate) fn ended(&mut self, pkt: &Pkt) -> u8 {
        self.of.remove(&PacketId::of_packet(pkt)).map_or(0, |distance| distance.most)
    }

    /// Removes and returns the distance of a packet that goes on in another partition.
    pub(crate) fn detach(&mut self, pkt: &Pkt) -> Option<Distance> {
        self.of.remove(&PacketId::of_packet(pkt))
    }

    pub(crate) fn attach(&mut self, pkt: &Pkt, distance: Distance) {
        self.of.insert(PacketId::of_packet(pkt), distance);
    }

    /// Returns the number of packets whose distances are kept.
    pub(crate) fn kept(&self) -> usize {
        self.of.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mech::Flags;

    fn data(emission: u32) -> Pkt {
        Pkt { emission, ..Pkt::default() }
    }

    /// Returns the largest distance after steps: `b` is a bounce with its transmission, `f` a normal forward.
    fn most(steps: &str) -> u8 {
        let (mut distances, pkt) = (Distances::default(), data(0));
        for step in steps.chars() {
            if step == 'b' {
                distances.bounced(&pkt);
            }
            distances.transmitted(&pkt);
        }
        let most = distances.ended(&pkt);
        assert_eq!(distances.kept(), 0);
        most
    }

    #[test]
    fn a_bounce_is_one_away_and_the_way_forward_takes_it_back() {
        assert_eq!([most("b"), most("bf"), most("bbff"), most("bfbf")], [1, 1, 2, 1]);
        assert_eq!([most("bbfbbff"), most("bbfbfbbf"), most("bbffb")], [3, 3, 2]);
    }

    #[test]
    fn normal_forwards_never_bring_a_packet_nearer_than_nought() {
        assert_eq!(most("bffffb"), 1);
        assert_eq!(most("bffffbb"), 2);
    }

    #[test]
    fn directions_and_emissions_are_told_apart_and_what_is_lost_leaves_nothing() {
        let mut distances = Distances::default();
        let (first, second) = (data(0), data(1));
        let mut back = data(0);
        back.head.flags = Flags::REVERSE;
        for pkt in [&first, &first, &second, &first, &back, &back] {
            distances.bounced(pkt);
            distances.transmitted(pkt);
        }
        assert_eq!(distances.kept(), 3);
        assert_eq!([&first, &second, &back].map(|pkt| distances.ended(pkt)), [3, 1, 2]);
        assert_eq!((distances.kept(), distances.ended(&first)), (0, 0));
    }
}
