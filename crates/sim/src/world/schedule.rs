//! Start and end of a run's measurement window, and the end of the run.

use crate::instant_grid::InstantGrid;
use crate::progress::StopReason;
use units::{Dur, Time};

/// Largest number of flows that a run may start, since the records of more would not fit into memory. The run ends
/// above it, and above [`MAX_OPEN_FLOWS`] unfinished flows. Both are checked whenever a run may end, since one event
/// may start as many flows as a host has to send.
pub(super) const MAX_FLOWS: u64 = 40_000_000;
pub(super) use scenario::limits::MAX_OPEN_FLOWS;

/// Times of the measurement window and of the end of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunSchedule {
    pub(crate) from: Time,
    pub(crate) to: Time,
    pub(crate) duration: Time,
    pub(crate) drain: Dur,
    pub(crate) max_events: Option<u64>,
    pub(crate) grid: InstantGrid,
}

/// State of a run at a milestone.
pub(super) struct RunStatus {
    /// Time of the last step that was processed.
    pub(super) now: Time,
    pub(super) events: u64,
    pub(super) check_at: u64,
    pub(super) unfinished: u64,
    /// Numbers of flows that have started and that have ended.
    pub(super) started: u64,
    pub(super) ended: u64,
    /// Reason for the failure of the run: a mechanism broke a rule, or a packet of a lossless class was lost.
    pub(super) failure: Option<StopReason>,
}

/// Decision between two steps: to go on, to check the nodes, or to end the run.
pub(super) enum Verdict {
    GoOn,
    Check(Time),
    End(StopReason, Time),
}

impl RunSchedule {
    /// Returns the instant at which a run with unfinished flows ends.
    pub(super) fn last_instant(&self) -> Time {
        self.duration.saturating_add(self.drain)
    }

    /// Returns the first instant after `at` at which the run has to check, keep counters or end.
    pub(super) fn milestone_after(&self, at: Time) -> Time {
        let marks = [self.from, self.to, self.last_instant()];
        marks.into_iter().filter(|mark| *mark > at).fold(self.grid.next_instant(at), Time::min)
    }

    /// Returns true if the number of events has reached the bound, so that the run ends after its current instant.
    pub(crate) fn is_at_bound(&self, events: u64) -> bool {
        self.max_events.is_some_and(|bound| events >= bound)
    }

    /// Decides if the run ends before its next step, at `at`. It ends at the first instant of the grid since the last
    /// step. At its bound on events, it ends right after the instant of the last step. A run that needs no more events
    /// is not cut.
    pub(super) fn verdict(&self, seen: &RunStatus, at: Time) -> Verdict {
        let (instant, last) = (self.grid.next_instant(seen.now), self.last_instant());
        let over = instant.max(self.duration).min(last);
        let cut = seen.now.saturating_add(Dur(1));
        let is_cut = cut <= at && self.is_at_bound(seen.events);
        // A failure ends the run at the next instant of the grid, not at its event, so that the end does not depend on
        // the number of partitions.
        if let Some(stop) = seen.failure.filter(|_| instant <= at) {
            Verdict::End(stop, instant)
        } else if over <= at && seen.unfinished == 0 {
            Verdict::End(StopReason::Done, over)
        } else if at >= last {
            Verdict::End(StopReason::DrainedOut, last)
        } else if is_cut {
            Verdict::End(seen.failure.unwrap_or(StopReason::MaxEvents), cut)
        } else if instant <= at && seen.has_too_many_flows() {
            Verdict::End(StopReason::Overloaded, instant)
        } else if instant <= at && seen.events >= seen.check_at {
            Verdict::Check(instant)
        } else {
            Verdict::GoOn
        }
    }
}

impl Verdict {
    /// Returns the time up to which the run goes on: its end, or that of the next step, `at`, if that is earlier.
    pub(super) fn last_instant_at(&self, at: Time) -> Time {
        match self {
            Verdict::End(_, instant) => at.min(*instant),
            Verdict::GoOn | Verdict::Check(_) => at,
        }
    }
}

impl RunStatus {
    fn has_too_many_flows(&self) -> bool {
        self.started > MAX_FLOWS || self.started - self.ended > MAX_OPEN_FLOWS
    }

    /// Returns the reason for the end of a run that has no more events.
    pub(super) fn stop_without_events(&self) -> StopReason {
        match (self.failure, self.unfinished) {
            (Some(stop), _) => stop,
            (None, 0) => StopReason::Done,
            (None, _) => StopReason::DrainedOut,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATUS_AT_BOUND: RunStatus = RunStatus {
        now: Time(5),
        events: 9,
        check_at: u64::MAX,
        unfinished: 1,
        started: MAX_OPEN_FLOWS + 70,
        ended: 70,
        failure: None,
    };

    fn stop_reason(seen: RunStatus) -> Option<StopReason> {
        let schedule = RunSchedule {
            from: Time::ZERO,
            to: Time(1 << 40),
            duration: Time(1 << 40),
            drain: Dur(1 << 40),
            max_events: None,
            grid: InstantGrid::for_run(Dur(1 << 40)),
        };
        match schedule.verdict(&seen, Time(1 << 39)) {
            Verdict::End(stop, _) => Some(stop),
            _ => None,
        }
    }

    #[test]
    fn run_with_too_many_flows_is_stopped() {
        assert_eq!(stop_reason(STATUS_AT_BOUND), None);
        assert_eq!(
            stop_reason(RunStatus { ended: 69, ..STATUS_AT_BOUND }),
            Some(StopReason::Overloaded),
            "too many at a time"
        );
        assert_eq!(stop_reason(RunStatus { started: MAX_FLOWS, ended: MAX_FLOWS, ..STATUS_AT_BOUND }), None);
        assert_eq!(
            stop_reason(RunStatus { started: MAX_FLOWS + 1, ended: MAX_FLOWS, ..STATUS_AT_BOUND }),
            Some(StopReason::Overloaded),
            "in all"
        );
    }
}
