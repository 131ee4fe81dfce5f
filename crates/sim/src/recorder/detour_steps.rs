//! Every detour of the packets that are detoured often.
//!
//! Detours are kept for packets in flight that have been detoured, since a packet has no space for them. Rows are
//! made when a packet with enough detours ends. Detours are counted here without the bound of a packet's own counter,
//! which stays at 255.

use crate::identity::{PacketId, PacketMap};
use dataplane::EventLocation;
use dataplane::Pkt;
#[cfg(test)]
use units::Time;

/// Detours of packets in flight, by packet.
#[derive(Clone, Debug)]
pub(crate) struct DetourSteps {
    /// Smallest number of detours for which a packet's detours are written.
    min_detours: usize,
    detours: PacketMap<Vec<Detour>>,
}

/// Single detour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Detour {
    pub(crate) at: EventLocation,
    /// Port by which the packet left; `at` has the port that it should have taken.
    pub(crate) detour_port: u32,
}

/// Row of the table of detours: one detour of one packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DetourRow {
    pub(crate) id: PacketId,
    /// Instant, node and port at which the packet was delivered or lost.
    pub(crate) end: EventLocation,
    /// Number of earlier detours of the packet.
    pub(crate) step: u32,
    pub(crate) detour: Detour,
}

impl DetourSteps {
    pub(crate) fn new(least: u32) -> DetourSteps {
        DetourSteps { min_detours: least as usize, detours: PacketMap::default() }
    }

    pub(crate) fn add_detour(&mut self, detour: Detour, pkt: &Pkt) {
        self.detours.entry(PacketId::from_packet(pkt)).or_default().push(detour);
    }

    /// Writes the detours of a packet that is delivered or lost, if there are enough.
    pub(crate) fn write_ended_packet(&mut self, end: EventLocation, pkt: &Pkt, rows: &mut Vec<DetourRow>) {
        let id = PacketId::from_packet(pkt);
        let found = self.detours.remove(&id).filter(|detours| detours.len() >= self.min_detours).unwrap_or_default();
        rows.extend(found.into_iter().zip(0..).map(|(detour, step)| DetourRow { id, end, step, detour }));
    }

    /// Removes and returns the detours of a packet that goes on in another partition.
    pub(crate) fn detach_packet(&mut self, pkt: &Pkt) -> Option<Vec<Detour>> {
        self.detours.remove(&PacketId::from_packet(pkt))
    }

    pub(crate) fn attach_packet(&mut self, pkt: &Pkt, detours: Vec<Detour>) {
        self.detours.insert(PacketId::from_packet(pkt), detours);
    }

    /// Returns the number of packets whose detours are kept.
    pub(crate) fn packets_kept(&self) -> usize {
        self.detours.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detour(now: u64) -> Detour {
        Detour { at: EventLocation { now: Time(now), node: 7, port: 30 }, detour_port: 31 }
    }

    #[test]
    fn only_packets_with_enough_detours_leave_rows() {
        let (mut steps, mut rows) = (DetourSteps::new(2), Vec::new());
        let pkts = [0, 1].map(|emission| Pkt { emission, ..Pkt::default() });
        for (now, which) in [(10, 0), (20, 1), (30, 0)] {
            steps.add_detour(detour(now), &pkts[which]);
        }
        assert_eq!(steps.packets_kept(), 2);
        let end = detour(40).at;
        pkts.iter().for_each(|pkt| steps.write_ended_packet(end, pkt, &mut rows));
        let row = |step, now| DetourRow { id: PacketId::from_packet(&pkts[0]), end, step, detour: detour(now) };
        assert_eq!((rows, steps.packets_kept()), (vec![row(0, 10), row(1, 30)], 0));
    }

    #[test]
    fn detours_beyond_the_packet_counter_are_all_written() {
        let (mut steps, mut rows, pkt) = (DetourSteps::new(256), Vec::new(), Pkt::default());
        (0..300).for_each(|now| steps.add_detour(detour(now), &pkt));
        steps.write_ended_packet(detour(300).at, &pkt, &mut rows);
        assert_eq!((rows.len(), rows[299].step), (300, 299));
    }
}
