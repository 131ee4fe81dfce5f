//! Course of a link that changes: its outages, delays and loss probabilities over time. The whole history is known
//! when the run is built. The outcome of a frame is thus decided when it is sent, and applied at the far end.

use dataplane::Pkt;
use mech::overflow::DropReason;
use mech::{PacketKind, Stream, StreamPurpose};
use scenario::events::LinkHistory;
use std::collections::VecDeque;
use units::{Dur, Time};

/// Changing direction of a link.
#[derive(Clone, Debug)]
pub(crate) struct ChangingLink {
    history: LinkHistory,
    /// True if frames arrive in another partition of the run, not in this one.
    is_kept: bool,
    /// True for the course that all never-changing links to other partitions share.
    is_steady: bool,
    /// Random stream in which each frame has positions by its number.
    draws: Stream,
    /// Number of frames sent on the link, without PAUSE and PFC frames, which are never lost at random.
    frames: u64,
    /// Arrival time of the last frame.
    last_arrival: Time,
    /// Outcome of each frame in flight, first to last.
    outcomes: VecDeque<Option<DropReason>>,
    /// Number of packets lost on the link, by reason.
    loss_counts: [u64; DropReason::ALL.len()],
}

/// Returns the value that holds at an instant, from a list of values with their first instants; `None` before the
/// first.
fn value_at<T: Copy>(list: &[(Time, T)], now: Time) -> Option<T> {
    let n = list.partition_point(|(from, _)| *from <= now);
    n.checked_sub(1).map(|n| list[n].1)
}

impl ChangingLink {
    pub(crate) fn new(history: LinkHistory, draws: Stream) -> ChangingLink {
        let lost = [0; DropReason::ALL.len()];
        ChangingLink {
            history,
            is_kept: false,
            is_steady: false,
            draws,
            frames: 0,
            last_arrival: Time::ZERO,
            outcomes: VecDeque::new(),
            loss_counts: lost,
        }
    }

    /// Returns the course of all links that never change and whose frames arrive in another partition.
    pub(crate) fn steady() -> ChangingLink {
        let draws = Stream::new(0, 0, StreamPurpose::Link(0));
        ChangingLink { is_kept: true, is_steady: true, ..ChangingLink::new(LinkHistory::default(), draws) }
    }
    pub(crate) fn is_steady(&self) -> bool {
        self.is_steady
    }
    pub(crate) fn keep_frames(&mut self) {
        self.is_kept = true;
    }
    pub(crate) fn keeps_frames(&self) -> bool {
        self.is_kept
    }
    /// Removes and returns the outcome of the frame sent last, which arrives in another partition.
    pub(crate) fn take_last_outcome(&mut self) -> Option<DropReason> {
        self.outcomes.pop_back().flatten()
    }

    /// Sends a frame that leaves from `start` to `end`, on a link with the initial delay `delay`, and returns its
    /// arrival time.
    pub(crate) fn send(&mut self, pkt: &Pkt, start: Time, end: Time, delay: Dur) -> Time {
        let mut arrival = end.saturating_add(value_at(&self.history.delays, end).unwrap_or(delay));
        if !self.history.delays.is_empty() {
            // The delay may have fallen since the last frame left. This frame then arrives behind it, at its own
            // rate: a frame that overtook another would break the order in which links keep frames.
            arrival = arrival.max(self.last_arrival.saturating_add(end.since(start)));
        }
        self.last_arrival = arrival;
        if self.is_steady {
            return arrival;
        }
        let fate = self.draw_outcome(pkt, start, arrival);
        self.outcomes.push_back(fate);
        arrival
    }

    fn draw_outcome(&mut self, pkt: &Pkt, start: Time, arrival: Time) -> Option<DropReason> {
        let random = self.draw_random_loss(pkt, arrival);
        // An outage does not lose a frame whose last bit arrives exactly at the failure, or whose first bit leaves
        // exactly at the recovery.
        let meets = |(down, up): &(Time, Time)| start < *up && arrival > *down;
        if self.history.outages.iter().any(meets) { Some(DropReason::LinkDown) } else { random }
    }

    /// Decides at random if a frame is lost; draws for every frame, so that all variants use the same draws.
    fn draw_random_loss(&mut self, pkt: &Pkt, arrival: Time) -> Option<DropReason> {
        if pkt.head.kind() == PacketKind::Pause {
            return None;
        }
        let mut draws = self.draws.clone().at_position(self.frames);
        self.frames += 1;
        let (lost, corrupted) = (draws.uniform(), draws.uniform());
        let p = |list: &[(Time, f64)]| value_at(list, arrival).unwrap_or(0.0);
        if lost < p(&self.history.loss) {
            Some(DropReason::LinkLoss)
        } else {
            (corrupted < p(&self.history.corruption)).then_some(DropReason::Corrupted)
        }
    }

    /// Returns the reason if the first frame in flight, which has arrived, is lost at the far end.
    pub(crate) fn arrive(&mut self) -> Option<DropReason> {
        self.outcomes.pop_front()?
    }

    /// Counts a packet that was lost on the link.
    pub(crate) fn count_lost(&mut self, reason: DropReason) {
        self.loss_counts[reason as usize] += 1;
    }

    /// Returns the shortest delay at any time, given the initial delay `delay`.
    pub(crate) fn shortest_delay(&self, delay: Dur) -> Dur {
        self.history.delays.iter().map(|(_, delay)| *delay).fold(delay, Dur::min)
    }

    /// Removes and returns the outcomes of the frames in flight, which arrive in another partition.
    pub(crate) fn take_outcomes(&mut self) -> Vec<Option<DropReason>> {
        self.outcomes.drain(..).collect()
    }

    /// Adds the outcome of a frame that comes from another partition.
    pub(crate) fn put_outcome(&mut self, fate: Option<DropReason>) {
        self.outcomes.push_back(fate);
    }

    /// Adds the losses that the same link had in another partition.
    pub(crate) fn add_loss_counts(&mut self, other: &ChangingLink) {
        self.loss_counts.iter_mut().zip(other.loss_counts).for_each(|(sum, lost)| *sum += lost);
    }

    /// Returns the number of packets lost on the link, by reason.
    pub(crate) fn loss_counts(&self) -> &[u64; DropReason::ALL.len()] {
        &self.loss_counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mech::Flags;

    fn changing_link(history: LinkHistory) -> ChangingLink {
        ChangingLink::new(history, Stream::new(1, 0, StreamPurpose::Link(0)))
    }

    fn frame() -> Pkt {
        Pkt::default()
    }

    /// Tests which frames are lost on a link that is down twice, for frames that begin at different instants.
    /// Frames of 10 ps cross a link with a delay of 5 ps. It is down from 100 to 200, and for an instant at 300.
    #[test]
    fn only_frames_on_the_link_during_an_outage_are_lost() {
        let outages = vec![(Time(100), Time(200)), (Time(300), Time(301))];
        let mut link = changing_link(LinkHistory { outages, ..LinkHistory::default() });
        let down = Some(DropReason::LinkDown);
        for (start, fate) in [(85, None), (86, down), (99, down), (150, down), (199, down), (200, None), (290, down)] {
            let arrival = link.send(&frame(), Time(start), Time(start + 10), Dur(5));
            assert_eq!((arrival, link.arrive()), (Time(start + 15), fate), "from {start} on");
        }
    }

    #[test]
    fn outage_shorter_than_a_frame_loses_the_frame() {
        let mut link = changing_link(LinkHistory { outages: vec![(Time(3), Time(4))], ..LinkHistory::default() });
        link.send(&frame(), Time(0), Time(10), Dur(5));
        assert_eq!(link.arrive(), Some(DropReason::LinkDown));
    }

    #[test]
    fn new_delay_counts_from_last_bit_without_overtaking() {
        let delays = vec![(Time(20), Dur(100)), (Time(40), Dur(5))];
        let mut link = changing_link(LinkHistory { delays, ..LinkHistory::default() });
        let mut send = |start: u64| link.send(&frame(), Time(start), Time(start + 10), Dur(5)).0;
        assert_eq!([send(0), send(10), send(20)], [15, 120, 130]);
        assert_eq!([send(30), send(40)], [140, 150], "5 behind their ends they would overtake");
        assert_eq!(send(200), 215);
    }

    #[test]
    fn pause_frames_take_no_random_losses_and_no_draws() {
        let all = LinkHistory { loss: vec![(Time::ZERO, 0.5)], ..LinkHistory::default() };
        let fates = |with_pause: bool| {
            let mut link = changing_link(all.clone());
            let mut fates = Vec::new();
            for n in 0..200 {
                if with_pause && n % 3 == 0 {
                    let mut pause = frame();
                    pause.head.flags = Flags::from_kind(PacketKind::Pause);
                    link.send(&pause, Time(0), Time(0), Dur(5));
                    assert_eq!(link.arrive(), None);
                }
                link.send(&frame(), Time(0), Time(0), Dur(5));
                fates.push(link.arrive());
            }
            fates
        };
        assert_eq!(fates(true), fates(false));
        let lost = fates(false).iter().flatten().count();
        // 5 standard deviations of a binomial(200, 1/2) are 35.
        assert!(lost.abs_diff(100) < 35, "{lost}");
    }

    #[test]
    fn loss_probability_is_that_of_the_arrival_instant() {
        let mut link =
            changing_link(LinkHistory { loss: vec![(Time(100), 1.0), (Time(120), 0.0)], ..LinkHistory::default() });
        let mut fate = |end: u64| {
            link.send(&frame(), Time(0), Time(end), Dur(5));
            link.arrive()
        };
        let lost = Some(DropReason::LinkLoss);
        assert_eq!([fate(94), fate(95), fate(114), fate(115)], [None, lost, lost, None]);
    }

    #[test]
    fn higher_loss_probability_loses_a_superset() {
        let fates = |p| {
            let mut link = changing_link(LinkHistory { loss: vec![(Time::ZERO, p)], ..LinkHistory::default() });
            let mut one = |_| {
                link.send(&frame(), Time(0), Time(0), Dur(5));
                link.arrive().is_some()
            };
            (0..500).map(&mut one).collect::<Vec<_>>()
        };
        let (few, many) = (fates(0.1), fates(0.3));
        assert!(few.iter().zip(&many).all(|(few, many)| !few || *many));
        assert!(fates(1.0).iter().all(|lost| *lost) && !fates(0.0).contains(&true));
    }
}
