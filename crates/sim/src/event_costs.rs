//! Cost of events: frames lost on links, and frames dropped because a link is known to be dead.

use mech::overflow::DropReason;
use scenario::events::{Event, LinkChange, SendingPort};

/// Link directions on which an event loses frames, and the reason for the losses.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LossyDirections {
    pub(crate) reason: DropReason,
    /// Link directions, each by the port that sends.
    directions: Vec<SendingPort>,
}

/// Number of frames lost on each link direction of an event.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LossCounts(Vec<u64>);

/// Period in which a port is known to be dead because of an event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PortClosure {
    /// Number of the event in the order of time.
    pub(crate) event: usize,
    pub(crate) port: SendingPort,
    /// Number of frames lost because the port was dead, counted up to the instant when the event closed it.
    pub(crate) drops_before: u64,
    /// Number of frames lost because the port was dead, counted up to the instant when it was known to be back; `None`
    /// until then.
    pub(crate) drops_after: Option<u64>,
}

/// Number of frames that an event has cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EventCost {
    /// Number of the event, counted in the order of time.
    pub(crate) event: usize,
    /// Number of frames lost on the links of the event.
    pub(crate) lost: u64,
    /// Number of frames dropped because of ports that the event closed.
    pub(crate) dropped: u64,
}

impl LossyDirections {
    /// Returns the directions in which an event loses frames; `None` if it loses none on its link.
    pub(crate) fn from_event(event: &Event) -> Option<LossyDirections> {
        let (change, senders) = event.link_change()?;
        let reason = match change {
            LinkChange::Down => DropReason::LinkDown,
            LinkChange::Loss(_) => DropReason::LinkLoss,
            LinkChange::Corruption(_) => DropReason::Corrupted,
            LinkChange::Up | LinkChange::Rate(_) | LinkChange::Delay(_) => return None,
        };
        Some(LossyDirections { reason, directions: senders.to_vec() })
    }

    /// Returns the losses so far on these link directions; `on_link` returns those of one direction for the event's
    /// reason.
    pub(crate) fn losses(&self, on_link: impl Fn(SendingPort) -> u64) -> LossCounts {
        LossCounts(self.directions.iter().map(|place| on_link(*place)).collect())
    }
}

impl LossCounts {
    /// Adds the losses in another partition.
    pub(crate) fn add(&mut self, other: &LossCounts) {
        self.0.iter_mut().zip(&other.0).for_each(|(sum, one)| *sum += one);
    }
}

impl PortClosure {
    /// Adds the counts of another partition, in which the same port was closed at the same time.
    pub(crate) fn add(&mut self, other: &PortClosure) {
        self.drops_before += other.drops_before;
        self.drops_after = self.drops_after.zip(other.drops_after).map(|(sum, one)| sum + one);
    }
}

/// Returns the frames lost on the links of each event. They count until the next event that loses frames there for the
/// same reason, or up to now if there is none. `before` has the losses before each past event, `now` the losses so far.
pub(crate) fn losses_per_event(
    places: &[Option<LossyDirections>],
    before: &[LossCounts],
    now: &[LossCounts],
) -> Vec<u64> {
    let counts = |event: usize, losses: &LossCounts| -> Vec<(SendingPort, u64)> {
        let directions = places[event].iter().flat_map(|own| own.directions.clone());
        directions.zip(losses.0.clone()).collect()
    };
    let until = |event: usize, at: SendingPort| {
        let reason = places[event].as_ref().map(|own| own.reason);
        let later = (event + 1..before.len()).find_map(|later| {
            places[later].as_ref().filter(|next| Some(next.reason) == reason)?;
            counts(later, &before[later]).into_iter().find(|(place, _)| *place == at)
        });
        later.or_else(|| counts(event, &now[event]).into_iter().find(|(place, _)| *place == at))
    };
    let lost = |event: usize| {
        let first = counts(event, &before[event]).into_iter();
        first.map(|(place, count)| until(event, place).map_or(0, |(_, end)| end) - count).sum()
    };
    (0..before.len()).map(lost).collect()
}

/// Returns the number of frames dropped because of ports that an event closed; `now` returns those of a port so far.
pub(crate) fn drops_of_event(event: usize, closings: &[PortClosure], now: impl Fn(SendingPort) -> u64) -> u64 {
    let own = closings.iter().filter(|closing| closing.event == event);
    own.map(|closing| closing.drops_after.unwrap_or_else(|| now(closing.port)) - closing.drops_before).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const THERE: SendingPort = (0, 0);
    const BACK: SendingPort = (5, 1);

    fn places(reason: DropReason, directions: &[SendingPort]) -> Option<LossyDirections> {
        Some(LossyDirections { reason, directions: directions.to_vec() })
    }
    fn losses(on_links: &[u64]) -> LossCounts {
        LossCounts(on_links.to_vec())
    }

    /// Test of the losses of events that follow each other on two link directions.
    /// THERE and BACK go down; both come up; THERE loses frames at random; BACK goes down again.
    #[test]
    fn losses_count_for_latest_event_with_same_reason() {
        let all = [
            places(DropReason::LinkDown, &[THERE, BACK]),
            None,
            places(DropReason::LinkLoss, &[THERE]),
            places(DropReason::LinkDown, &[BACK]),
        ];
        let before = [losses(&[0, 0]), losses(&[]), losses(&[2]), losses(&[30])];
        let now = [losses(&[11, 37]), losses(&[]), losses(&[502]), losses(&[37])];
        assert_eq!(losses_per_event(&all, &before, &now), [11 + 30, 0, 500, 7]);
        assert_eq!(losses_per_event(&all, &before[..1], &now[..1]), [11 + 37], "the others are to come");
    }

    #[test]
    fn drops_count_for_the_event_that_closed_the_port() {
        let closing =
            |event, port, before, after| PortClosure { event, port, drops_before: before, drops_after: after };
        let all = [closing(0, THERE, 0, Some(4)), closing(0, BACK, 1, Some(1)), closing(3, THERE, 4, None)];
        let now = |port: SendingPort| if port == THERE { 9 } else { 100 };
        assert_eq!([0, 1, 3].map(|event| drops_of_event(event, &all, now)), [4, 0, 5]);
        let mut one = all[0];
        one.add(&closing(0, THERE, 2, Some(3)));
        assert_eq!(one, closing(0, THERE, 2, Some(7)));
    }
}
