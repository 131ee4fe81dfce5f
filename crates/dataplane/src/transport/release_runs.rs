//! What ends of flows release, in runs: a window that opens wide is one entry and not a packet each.

use crate::Pkt;

/// Packets of one call, in the order in which they are sent.
#[derive(Clone, Debug, Default)]
pub struct Released {
    runs: Vec<Run>,
}

/// Segments of one flow, one behind the other: all is equal but the sequence number, which grows by the payload, and
/// the number of the emission, which grows by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    first: Pkt,
    count: u32,
}

impl Run {
    /// Of one packet.
    #[inline]
    pub fn new(first: Pkt) -> Run {
        Run { first, count: 1 }
    }
    /// How many packets.
    #[inline]
    pub fn count(&self) -> u32 {
        self.count
    }
    /// The first of them.
    #[inline]
    pub fn first(&self) -> &Pkt {
        &self.first
    }
    /// The only one, where there are no more.
    #[inline]
    pub fn only(&mut self) -> Option<&mut Pkt> {
        (self.count == 1).then_some(&mut self.first)
    }
    /// The n-th of them, from 0.
    #[inline]
    pub fn nth(&self, n: u32) -> Pkt {
        Pkt {
            seq: self.first.seq.wrapping_add(n.wrapping_mul(u32::from(self.first.payload))),
            emission: self.first.emission.wrapping_add(n),
            ..self.first
        }
    }
    /// All of them.
    pub fn packets(self) -> impl Iterator<Item = Pkt> {
        (0..self.count).map(move |n| self.nth(n))
    }
    /// Takes the first one out, where there are more.
    pub fn split_first(&mut self) -> Option<Pkt> {
        let rest = self.count.checked_sub(1).filter(|rest| *rest > 0)?;
        let first = self.first;
        *self = Run { first: self.nth(1), count: rest };
        Some(first)
    }
}

impl Released {
    /// Appends a packet; one that only goes on where the last ended is part of its run.
    #[inline]
    pub fn push(&mut self, pkt: Pkt) {
        if let Some(run) = self.runs.last_mut()
            && pkt.payload > 0
            && run.count < u32::MAX
            && run.nth(run.count) == pkt
        {
            run.count += 1;
            return;
        }
        self.runs.push(Run::new(pkt));
    }
    /// Takes out the last packet.
    pub fn pop(&mut self) -> Option<Pkt> {
        let run = self.runs.last_mut()?;
        run.count -= 1;
        let last = run.nth(run.count);
        if run.count == 0 {
            self.runs.pop();
        }
        Some(last)
    }
    /// All runs, first to last.
    #[inline]
    pub fn runs_mut(&mut self) -> impl Iterator<Item = &mut Run> {
        self.runs.iter_mut()
    }
    /// Takes out all packets, first to last.
    pub fn take(&mut self) -> Vec<Pkt> {
        self.runs.drain(..).flat_map(Run::packets).collect()
    }
    /// Packets in it.
    pub fn len(&self) -> usize {
        self.runs.iter().map(|run| run.count as usize).sum()
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }
    /// Takes out and forgets all.
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
    fn segments_one_behind_the_other_are_one_run_and_come_out_as_they_went_in() {
        let near_the_end = u32::MAX - 2_500;
        let whole: Vec<Pkt> = (0..5).map(|n| segment(near_the_end.wrapping_add(n * 1000), n)).collect();
        let mut released = Released::default();
        whole.iter().for_each(|pkt| released.push(*pkt));
        assert_eq!((released.runs.len(), released.len()), (1, 5));
        let mut run = released.runs[0];
        assert_eq!(run.split_first(), Some(whole[0]));
        assert_eq!((run.count(), run.first()), (4, &whole[1]));
        assert_eq!((released.pop(), released.len()), (Some(whole[4]), 4));
        assert_eq!(released.take(), whole[..4]);
        assert!(released.is_empty() && released.pop().is_none() && Run::new(whole[0]).split_first().is_none());
    }

    #[test]
    fn whatever_else_differs_begins_a_run_of_its_own() {
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
            let mut released = Released::default();
            [first, pkt].into_iter().for_each(|pkt| released.push(pkt));
            assert_eq!((released.runs.len(), released.take()), (2, vec![first, pkt]));
        }
        let mut acks = Released::default();
        (0..3).for_each(|n| acks.push(Pkt { emission: n, ..Pkt::default() }));
        assert_eq!(acks.runs.len(), 3, "packets without payload are no segments of a run");
    }
}
