//! Every detour of the packets that are detoured often.
//!
//! Kept for packets that are under way and have been detoured, since no packet has room for it; rows are made
//! when such a packet ends with enough of them. Detours are counted here without the bound of a packet's own
//! counter, which stays at 255.

use crate::identity::{Aside, PacketId};
use dataplane::Pkt;
use dataplane::Spot;
#[cfg(test)]
use units::Time;

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct DetourSteps {
    /// How many make a packet worth it.
    least: usize,
    of: Aside<Vec<Detour>>,
}

/// One detour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Detour {
    pub(crate) at: Spot,
    /// The port that it left by; `at` has the one that it was to.
    pub(crate) taken: u32,
}

/// One detour of one packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DetourRow {
    pub(crate) id: PacketId,
    /// Where and when the packet ended.
    pub(crate) end: Spot,
    /// How many were before it.
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

    /// A packet that was detoured at some time is delivered or lost.
    pub(crate) fn ended(&mut self, end: Spot, pkt: &Pkt, rows: &mut Vec<DetourRow>) {
        let id = PacketId::of_packet(pkt);
        let found = self.of.remove(&id).filter(|detours| detours.len() >= self.least).unwrap_or_default();
        rows.extend(found.into_iter().zip(0..).map(|(detour, step)| DetourRow { id, end, step, detour }));
    }

    /// What is kept of a packet that goes on elsewhere.
    pub(crate) fn detach(&mut self, pkt: &Pkt) -> Option<Vec<Detour>> {
        self.of.remove(&PacketId::of_packet(pkt))
    }

    pub(crate) fn attach(&mut self, pkt: &Pkt, detours: Vec<Detour>) {
        self.of.insert(PacketId::of_packet(pkt), detours);
    }

    /// Packets of which something is kept.
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
