//! Packets that senders and receivers release, grouped in runs: a whole window is one entry.

use crate::Pkt;

/// Packets that one call of a sender or receiver sends, in the order in which they leave.
#[derive(Clone, Debug, Default)]
pub struct ReleasedPackets {
    runs: Vec<SegmentRun>,
}

/// Run of consecutive segments of one flow, which differ only in sequence number and emission number.
/// The sequence number grows by the payload, the emission number by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentRun {
    first: Pkt,
    count: u32,
}

impl SegmentRun {
    /// Creates a run of one packet.
    #[inline]
    pub fn new(first: Pkt) -> SegmentRun {
        SegmentRun { first, count: 1 }
    }
    /// Number of packets in the run.
    #[inline]
    pub fn count(&self) -> u32 {
        self.count
    }
    /// First packet of the run.
    #[inline]
    pub fn first(&self) -> &Pkt {
        &self.first
    }
    /// Returns the packet of a run of length one; `None` for longer runs.
    #[inline]
    pub fn only(&mut self) -> Option<&mut Pkt> {
        (self.count == 1).then_some(&mut self.first)
    }
    /// Returns packet `n` of the run, counted from 0.
    #[inline]
    pub fn nth(&self, n: u32) -> Pkt {
        Pkt {
            seq: self.first.seq.wrapping_add(n.wrapping_mul(u32::from(self.first.payload))),
            emission: self.first.emission.wrapping_add(n),
            ..self.first
        }
    }
    /// All packets of the run.
    pub fn packets(self) -> impl Iterator<Item = Pkt> {
        (0..self.count).map(move |n| self.nth(n))
    }
    /// Removes the first packet and returns it, if there are more than one.
    pub fn split_first(&mut self) -> Option<Pkt> {
        let rest = self.count.checked_sub(1).filter(|rest| *rest > 0)?;
        let first = self.first;
        *self = SegmentRun { first: self.nth(1), count: rest };
        Some(first)
    }
}

impl ReleasedPackets {
    /// Appends a packet. A packet that continues the last run becomes part of it.
    #[inline]
    pub fn push(&mut self, pkt: Pkt) {
        if let Some(run) = self.runs.last_mut() {
            if pkt.payload > 0 && run.count < u32::MAX && run.nth(run.count) == pkt {
                run.count += 1;
                return;
            }
        }
        self.runs.push(SegmentRun::new(pkt));
    }
    /// Removes and returns the last packet.
    pub fn pop(&mut self) -> Option<Pkt> {
        let run = self.runs.last_mut()?;
        run.count -= 1;
        let last = run.nth(run.count);
        if run.count == 0 {
            self.runs.pop();
        }
        Some(last)
    }
    /// Iterates over all runs of packets, first to last.
    #[inline]
    pub fn runs_mut(&mut self) -> impl Iterator<Item = &mut SegmentRun> {
        self.runs.iter_mut()
    }
    /// Removes and returns all packets, first to last.
    pub fn take(&mut self) -> Vec<Pkt> {
        self.runs.drain(..).flat_map(SegmentRun::packets).collect()
    }
    /// Number of packets released.
    pub fn len(&self) -> usize {
        self.runs.iter().map(|run| run.count as usize).sum()
    }
    /// Returns true if no packets were released.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }
    /// Removes all released packets.
    #[inline]
    pub fn clear(&mut self) {
        self.runs.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mech::Flags;

    fn segment(seq: u32, emission: u32) -> Pkt {
        Pkt { seq, emission, payload: 1000, ..Pkt::default() }
    }

    #[test]
    fn consecutive_segments_form_one_run_and_come_out_unchanged() {
        let near_the_end = u32::MAX - 2_500;
        let whole: Vec<Pkt> = (0..5).map(|n| segment(near_the_end.wrapping_add(n * 1000), n)).collect();
        let mut released = ReleasedPackets::default();
        whole.iter().for_each(|pkt| released.push(*pkt));
        assert_eq!((released.runs.len(), released.len()), (1, 5));
        let mut run = released.runs[0];
        assert_eq!(run.split_first(), Some(whole[0]));
        assert_eq!((run.count(), run.first()), (4, &whole[1]));
        assert_eq!((released.pop(), released.len()), (Some(whole[4]), 4));
        assert_eq!(released.take(), whole[..4]);
        assert!(released.is_empty() && released.pop().is_none() && SegmentRun::new(whole[0]).split_first().is_none());
    }

    #[test]
    fn packet_with_any_other_difference_begins_new_run() {
        let first = segment(0, 0);
        let next = segment(1000, 1);
        let mut short = next;
        short.payload = 500;
        let mut marked = next;
        marked.head.flags = Flags::CWR;
        let mut later = next;
        later.sent = units::Time(1);
        let mut ranked = next;
        ranked.head.rank = 3;
        let (again, other) = (segment(0, 1), segment(1000, 2));
        let with_options = Pkt { ext: 7, ..next };
        for pkt in [short, marked, later, ranked, again, other, with_options] {
            let mut released = ReleasedPackets::default();
            [first, pkt].into_iter().for_each(|pkt| released.push(pkt));
            assert_eq!((released.runs.len(), released.take()), (2, vec![first, pkt]));
        }
        let mut acks = ReleasedPackets::default();
        (0..3).for_each(|n| acks.push(Pkt { emission: n, ..Pkt::default() }));
        assert_eq!(acks.runs.len(), 3, "packets without payload are no segments of a run");
    }
}
