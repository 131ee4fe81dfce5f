//! Every detour of the packets that are detoured often.
//!
//! Detours are kept for packets in flight that have been detoured, since a packet has no space for them. Rows are
//! made when a packet with enough detours ends. Detours are counted here without the bound of a packet's own counter,
//! which stays at 255.

use crate::identity::{Aside, PacketId};
use dataplane::Pkt;
use dataplane::Spot;
#[cfg(test)]
use units::Time;

/// Detours of packets in flight, by packet.
#[derive(Clone, Debug)]
pub(crate) struct DetourSteps {
    /// Smallest number of detours for which a packet's detours are written.
    least: usize,
    of: Aside<Vec<Detour>>,
}

/// Single detour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Detour {
    pub(crate) at: Spot,
    /// Port by which the packet left; `at` has the port by which it was to leave.
    pub(crate) taken: u32,
}

/// Row for one detour of a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DetourRow {
    pub(crate) id: PacketId,
    /// Instant and place of the packet's end.
    pub(crate) end: Spot,
    /// Number of earlier detours of the packet.
    pub(crate) step: u32,
    pub(crate) detour: Detour,
}

impl DetourSteps {
    pub(crate) fn new(least: u32) -> DetourSteps {
        DetourSteps { least: least as usize, of: Aside::default() }
    }

    pub(crate) fn detoured(&mut self, detour: Detour, pkt: &Pkt) {
        self.of.entry(PacketId::of_packet(pkt)).or_default().push(detour);
    }

    /// Writes the detours of a packet that is delivered or lost, if there are enough.
    pub(crate) fn ended(&mut self, end: Spot, pkt: &Pkt, rows: &mut Vec<DetourRow>) {
        let id = PacketId::of_packet(pkt);
        let found = self.of.remove(&id).filter(|detours| detours.len() >= self.least).unwrap_or_default();
        rows.extend(found.into_iter().zip(0..).map(|(detour, step)| DetourRow { id, end, step, detour }));
    }

    /// Removes and returns the detours of a packet that goes on in another partition.
    pub(crate) fn detach(&mut self, pkt: &Pkt) -> Option<Vec<Detour>> {
        self.of.remove(&PacketId::of_packet(pkt))
    }

    pub(crate) fn attach(&mut self, pkt: &Pkt, detours: Vec<Detour>) {
        self.of.insert(PacketId::of_packet(pkt), detours);
    }

    /// Returns the number of packets whose detours are kept.
    pub(crate) fn kept(&self) -> usize {
        self.of.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detour(now: u64) -> Detour {
        Detour { at: Spot { now: Time(now), node: 7, port: 30 }, taken: 31 }
    }

    #[test]
    fn only_packets_with_enough_detours_leave_rows_and_none_is_kept_after_its_end() {
        let (mut steps, mut rows) = (DetourSteps::new(2), Vec::new());
        let pkts = [0, 1].map(|emission| Pkt { emission, ..Pkt::default() });
        for (now, which) in [(10, 0), (20, 1), (30, 0)] {
            steps.detoured(detour(now), &pkts[which]);
        }
        assert_eq!(steps.kept(), 2);
        let end = detour(40).at;
        pkts.iter().for_each(|pkt| steps.ended(end, pkt, &mut rows));
        let row = |step, now| DetourRow { id: PacketId::of_packet(&pkts[0]), end, step, detour: detour(now) };
        assert_eq!((rows, steps.kept()), (vec![row(0, 10), row(1, 30)], 0));
    }

    #[test]
    fn more_detours_than_a_packet_counts_are_all_written_down() {
        let (mut steps, mut rows, pkt) = (DetourSteps::new(256), Vec::new(), Pkt::default());
        (0..300).for_each(|now| steps.detoured(detour(now), &pkt));
        steps.ended(detour(300).at, &pkt, &mut rows);
        assert_eq!((rows.len(), rows[299].step), (300, 299));
    }
}
