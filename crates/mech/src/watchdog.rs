//! PFC watchdog: ends a pause that stops a queue for too long, whether a broken host or a cycle of paused switches
//! causes it.
//!
//! The watchdog looks at each queue at regular instants (polls). It has three phases, as in SONiC and Junos:
//!
//! - *Detection.* A queue that stays stalled for `detection_time` is in a pause storm. A queue with packets is stalled
//!   if it sent none since the last poll, and was paused. An empty queue is stalled if it was paused throughout.
//! - *Mitigation.* While the storm lasts, the port ignores pauses of the queue. With `drop`, packets for the queue are
//!   dropped, and packets of its classes that come in by the port. With `forward`, the queue sends. `alert` only
//!   records the storm.
//! - *Restoration.* The storm ends after `restoration_time` without a frame that pauses the queue. With `alert`, it
//!   ends at the first poll at which the queue is not stalled.

use crate::params::ParamKind;
use crate::{Report, choice, params};
use units::{Dur, Time};

/// Default of the parameters `detection_time` and `restoration_time`, as in Junos and SONiC.
const DEFAULT_TIME: Dur = Dur::ms(200);
/// Default of the parameter `poll_interval`, as in Junos, if the other times are at least twice as long.
const DEFAULT_POLL_INTERVAL: Dur = Dur::ms(100);
/// Smallest value of each of the three times. Much shorter intervals would need more events than the traffic.
const SHORTEST_TIME: Dur = Dur::us(1);

choice! {
    /// Action of the PFC watchdog in a pause storm.
    pub enum WatchdogAction {
        /// No watchdog.
        Off = "off",
        /// Records the storm. The queue stays paused.
        Alert = "alert",
        /// Drops packets for the queue, and packets of its classes that come in by the port.
        Drop = "drop",
        /// Ignores pauses, so that the queue sends.
        Forward = "forward",
    }
}

params! {
    /// Parameter values: the PFC watchdog.
    pub(crate) struct WatchdogParams {
        watchdog: WatchdogAction = {
            doc: "Action of the PFC watchdog in a pause storm, which stops a queue of this port for `detection_time`. \
                  `drop` drops packets for the queue, and packets of its classes that come in by this port. \
                  `forward` ignores the pauses. `alert` only records the storm.",
            kind: WatchdogAction::KIND,
            default: Some("off"),
        },
        detection_time: Option<Dur> = {
            doc: "Time for which a queue must be stalled until the watchdog acts. A poll counts as a whole interval, so \
                  that the watchdog may act up to one interval earlier. The default is 200 ms.",
            kind: ParamKind::Time { min: SHORTEST_TIME.0 },
            default: Some(""),
        },
        restoration_time: Option<Dur> = {
            doc: "Time without a pause of the queue until the watchdog ends its action, `drop` or `forward`. The default \
                  is 200 ms.",
            kind: ParamKind::Time { min: SHORTEST_TIME.0 },
            default: Some(""),
        },
        poll_interval: Option<Dur> = {
            doc: "Time between two polls of a queue by the watchdog. The default is 100 ms, or half of the smaller of the \
                  other two times if this is less.",
            kind: ParamKind::Time { min: SHORTEST_TIME.0 },
            default: Some(""),
        },
    }
}

/// Settings of the PFC watchdog of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watchdog {
    /// Action in a storm; never [`WatchdogAction::Off`].
    pub action: WatchdogAction,
    /// Time for which a queue must be stalled.
    pub detection_time: Dur,
    /// Time without a pause after which the action ends.
    pub restoration_time: Dur,
    /// Time between two polls. Polls are at whole multiples of it.
    pub poll_interval: Dur,
}

impl Watchdog {
    /// Returns true if the action resumes a stalled queue, so that no pause lasts forever.
    pub fn ends_pauses(&self) -> bool {
        matches!(self.action, WatchdogAction::Drop | WatchdogAction::Forward)
    }
    /// Returns the first poll at or after an instant.
    pub fn first_poll(&self, now: Time) -> Time {
        Time(now.0.div_ceil(self.poll_interval.0).max(1).saturating_mul(self.poll_interval.0))
    }
}

impl WatchdogParams {
    /// Returns the settings of the watchdog; `None` without one.
    pub(crate) fn to_watchdog(&self) -> Option<Watchdog> {
        let (detection_time, restoration_time) =
            (self.detection_time.unwrap_or(DEFAULT_TIME), self.restoration_time.unwrap_or(DEFAULT_TIME));
        // Two polls are the least that tell a stalled queue from one that a short pause has just met.
        let half = Dur(detection_time.min(restoration_time).0 / 2);
        let poll_interval = self.poll_interval.unwrap_or(DEFAULT_POLL_INTERVAL.min(half));
        let watchdog = Watchdog { action: self.watchdog, detection_time, restoration_time, poll_interval };
        (self.watchdog != WatchdogAction::Off).then_some(watchdog)
    }

    /// Reports times without an effect, and polls that are too rare for the other times.
    pub(crate) fn check(&self, report: &mut Report) {
        let times = [
            ("detection_time", self.detection_time),
            ("restoration_time", self.restoration_time),
            ("poll_interval", self.poll_interval),
        ];
        let Some(watchdog) = self.to_watchdog() else {
            if let Some((key, _)) = times.into_iter().find(|(_, time)| time.is_some()) {
                report.add_warning(format!("pfc: {key} has no effect without a `watchdog`"));
            }
            return;
        };
        let is_alert = self.watchdog == WatchdogAction::Alert;
        if is_alert && self.restoration_time.is_some() {
            report.add_warning(
                "pfc: restoration_time has no effect with the watchdog `alert`, which ends with the stall",
            );
        }
        let others = [("detection_time", watchdog.detection_time), ("restoration_time", watchdog.restoration_time)];
        let others = others.into_iter().take(if is_alert { 1 } else { 2 });
        if let Some((key, most)) = others.into_iter().find(|(_, most)| watchdog.poll_interval > *most) {
            report.add_error("poll_interval", watchdog.poll_interval, format!("at most {key} = {most}"));
        }
    }
}

/// Observations about a queue at a poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueSample {
    /// True if packets wait in the queue.
    pub occupied: bool,
    /// True if a frame of the queue began to leave since the last poll.
    pub sent: bool,
    /// True if the queue is paused now.
    pub paused: bool,
    /// True if a frame that pauses the queue came in since the last poll.
    pub pause_received: bool,
    /// True if the queue was paused at all instants since the last poll.
    pub paused_throughout: bool,
}

impl QueueSample {
    /// Returns true if a pause has kept the queue from sending since the last poll.
    pub fn is_stalled(&self) -> bool {
        match self.occupied {
            true => !self.sent && (self.paused || self.pause_received),
            false => self.paused_throughout,
        }
    }
}

/// Change of a queue that the watchdog decides at a poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StormChange {
    /// A pause storm has been detected: the action begins.
    Detected,
    /// The storm is over: the action ends.
    Restored,
}

/// State of the watchdog for one queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueWatch {
    storm: bool,
    /// Time for which the queue has been stalled, or free of pauses in a storm.
    elapsed: Dur,
}

impl QueueWatch {
    /// Returns true if the queue is in a storm.
    pub fn in_storm(&self) -> bool {
        self.storm
    }

    /// Returns true if the queue is as it was before any pause, so that no poll is needed until the next one.
    pub fn is_at_rest(&self) -> bool {
        *self == QueueWatch::default()
    }

    /// Handles a poll, and returns the change that it causes.
    pub fn poll(&mut self, watchdog: &Watchdog, sample: &QueueSample) -> Option<StormChange> {
        let (counts, needed) = match (self.storm, watchdog.action) {
            (false, _) => (sample.is_stalled(), watchdog.detection_time),
            (true, WatchdogAction::Alert) => (!sample.is_stalled(), Dur::ZERO),
            (true, _) => (!sample.pause_received, watchdog.restoration_time),
        };
        self.elapsed = if counts { self.elapsed.saturating_add(watchdog.poll_interval) } else { Dur::ZERO };
        if !counts || self.elapsed < needed {
            return None;
        }
        *self = QueueWatch { storm: !self.storm, elapsed: Dur::ZERO };
        Some(if self.storm { StormChange::Detected } else { StormChange::Restored })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STALLED: QueueSample =
        QueueSample { occupied: true, sent: false, paused: true, pause_received: true, paused_throughout: true };
    const FREE: QueueSample =
        QueueSample { occupied: true, sent: true, paused: false, pause_received: false, paused_throughout: false };
    const PAUSED_AND_SENDING: QueueSample = QueueSample { sent: true, ..STALLED };

    fn watchdog(action: WatchdogAction) -> Watchdog {
        let (detection_time, restoration_time) = (Dur::ms(200), Dur::ms(300));
        Watchdog { action, detection_time, restoration_time, poll_interval: Dur::ms(100) }
    }

    /// Returns the numbers of the polls with a change, from 1 on; a restoration is negative.
    fn changes(action: WatchdogAction, samples: &[QueueSample]) -> Vec<i32> {
        let mut queue = QueueWatch::default();
        let each = samples.iter().zip(1..).filter_map(|(sample, n)| match queue.poll(&watchdog(action), sample)? {
            StormChange::Detected => Some(n),
            StormChange::Restored => Some(-n),
        });
        each.collect()
    }

    #[test]
    fn stall_is_a_pause_without_a_departure() {
        assert!(STALLED.is_stalled() && !FREE.is_stalled() && !PAUSED_AND_SENDING.is_stalled());
        // A pause that has just ended counts while packets wait that could not leave.
        let ended = QueueSample { paused: false, paused_throughout: false, ..STALLED };
        assert!(ended.is_stalled());
        // An empty queue stalls nothing unless it was paused all the time.
        assert!(!QueueSample { occupied: false, ..ended }.is_stalled());
        assert!(QueueSample { occupied: false, ..STALLED }.is_stalled());
        // Packets that wait for another reason, such as a more urgent queue, are not stalled by a pause.
        assert!(!QueueSample { sent: false, ..FREE }.is_stalled());
    }

    #[test]
    fn storm_is_detected_after_the_detection_time_without_a_break() {
        assert_eq!(changes(WatchdogAction::Drop, &[STALLED, STALLED]), [2]);
        assert_eq!(changes(WatchdogAction::Drop, &[STALLED, FREE, STALLED]), []);
        assert_eq!(changes(WatchdogAction::Drop, &[STALLED, PAUSED_AND_SENDING, STALLED, STALLED]), [4]);
    }

    #[test]
    fn storm_ends_after_the_restoration_time_without_a_pause() {
        let storm = [STALLED, STALLED];
        let three = [FREE, FREE, FREE];
        for action in [WatchdogAction::Drop, WatchdogAction::Forward] {
            assert_eq!(changes(action, &[&storm[..], &three].concat()), [2, -5]);
            // A pause frame in between starts the time again, even if the queue sends.
            let again = QueueSample { pause_received: true, ..FREE };
            assert_eq!(changes(action, &[&storm[..], &[FREE, FREE, again], &three].concat()), [2, -8]);
        }
        // An alert ends with the stall.
        assert_eq!(changes(WatchdogAction::Alert, &[&storm[..], &[STALLED, FREE, FREE]].concat()), [2, -4]);
    }

    #[test]
    fn polls_are_at_multiples_of_the_interval() {
        let polls = [0, 1, 99, 100, 101].map(|ms| watchdog(WatchdogAction::Drop).first_poll(Time::ZERO + Dur::ms(ms)));
        assert_eq!(polls.map(|at| at.since(Time::ZERO)), [100, 100, 100, 100, 200].map(Dur::ms));
    }
}
