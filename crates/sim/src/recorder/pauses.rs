//! Pauses of ports, and the frames that caused them.

use super::Scope;
use dataplane::EventLocation;
use mech::ClassSet;
use units::{Dur, Time};

/// Row for an interval in which a traffic class could not leave by a port, because it was paused.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PauseRow {
    pub(crate) from: Time,
    pub(crate) to: Time,
    /// Number of the port, counted over the whole network.
    pub(crate) port: u32,
    pub(crate) node: u32,
    pub(crate) class: u8,
}

/// Record of the pauses of one traffic class at a port.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClassPauses {
    /// Start of the present pause; `None` if the class is not paused now.
    since: Option<Time>,
    /// Number of pauses that started inside the window.
    pub(crate) times: u64,
    /// Time inside the measurement window for which the class was paused.
    pub(crate) paused: Dur,
    /// Number of frames, inside the measurement window, by which this port paused its far end. `refreshes` counts
    /// those for a class that was already paused.
    pub(crate) sent: u64,
    pub(crate) refreshes: u64,
}

/// Pause records of all ports that may be paused.
#[derive(Clone, Debug)]
pub(crate) struct PausedPorts {
    pub(crate) classes: usize,
    /// Classes in use; other classes are not recorded, although pause frames may name them.
    pub(crate) in_use: ClassSet,
    /// Records by port over the whole network, and class.
    pub(crate) records: Vec<ClassPauses>,
}

impl PausedPorts {
    pub(crate) fn new(ports: usize, in_use: ClassSet) -> PausedPorts {
        let classes = 8 - in_use.0.leading_zeros() as usize;
        PausedPorts { classes, in_use, records: vec![ClassPauses::default(); ports * classes] }
    }

    fn class_record(&mut self, port: u32, class: u8) -> &mut ClassPauses {
        &mut self.records[port as usize * self.classes + usize::from(class)]
    }

    pub(crate) fn record_sent(&mut self, scope: &Scope, at: EventLocation, xoff: ClassSet, again: ClassSet) {
        let set = ClassSet(self.in_use.0 & xoff.0);
        for class in (0..8).filter(|class| scope.covers(at.now) && set.has(*class)) {
            let one = self.class_record(at.port, class);
            one.sent += 1;
            one.refreshes += u64::from(again.has(class));
        }
    }

    pub(crate) fn record_paused(&mut self, scope: &Scope, at: EventLocation, class: u8) {
        if !self.in_use.has(class) {
            return;
        }
        let one = self.class_record(at.port, class);
        one.since = Some(at.now);
        one.times += u64::from(scope.covers(at.now));
    }

    pub(crate) fn record_resumed(&mut self, scope: &Scope, at: EventLocation, class: u8, rows: &mut Vec<PauseRow>) {
        if !self.in_use.has(class) {
            return;
        }
        let one = self.class_record(at.port, class);
        if let Some(from) = one.since.take() {
            let (begin, end) = (from.max(scope.from), at.now.min(scope.to));
            one.paused += end.max(begin).since(begin);
            rows.push(PauseRow { from, to: at.now, port: at.port, node: at.node, class });
        }
    }

    pub(crate) fn close(&mut self, scope: &Scope, now: Time, rows: &mut Vec<PauseRow>) {
        for i in 0..self.records.len() {
            let at = EventLocation { now, node: 0, port: (i / self.classes) as u32 };
            self.record_resumed(scope, at, (i % self.classes) as u8, rows);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_count_inside_the_window_and_are_all_written() {
        let scope = Scope { from: Time(100), to: Time(200), ..Scope::EMPTY };
        let (mut ports, mut rows) = (PausedPorts::new(2, ClassSet(0b11)), Vec::new());
        let at = |now| EventLocation { now: Time(now), node: 3, port: 1 };
        for (from, to) in [(10, 50), (60, 130), (140, 150), (190, 260), (300, 310)] {
            ports.record_paused(&scope, at(from), 1);
            ports.record_resumed(&scope, at(to), 1, &mut rows);
        }
        ports.record_paused(&scope, at(400), 1);
        ports.close(&scope, Time(420), &mut rows);
        ports.close(&scope, Time(420), &mut rows);
        let one = ports.records[3];
        assert_eq!((one.times, one.paused), (2, Dur(30 + 10 + 10)));
        assert_eq!(rows.len(), 6);
        assert_eq!(rows[5], PauseRow { from: Time(400), to: Time(420), port: 1, node: 0, class: 1 });
    }

    #[test]
    fn pause_frames_and_refreshes_count_by_class() {
        let scope = Scope { to: Time(200), ..Scope::EMPTY };
        let mut ports = PausedPorts::new(1, ClassSet(0b11));
        let at = |now| EventLocation { now: Time(now), node: 3, port: 0 };
        ports.record_sent(&scope, at(1), ClassSet::ALL, ClassSet::NONE);
        ports.record_sent(&scope, at(2), ClassSet::single(1), ClassSet::single(1));
        ports.record_sent(&scope, at(3), ClassSet::NONE, ClassSet::NONE);
        ports.record_sent(&scope, at(200), ClassSet::ALL, ClassSet::ALL);
        assert_eq!(ports.records.iter().map(|one| (one.sent, one.refreshes)).collect::<Vec<_>>(), [(1, 0), (2, 1)]);
    }

    #[test]
    fn classes_without_traffic_have_no_record() {
        let scope = Scope { to: Time(200), ..Scope::EMPTY };
        let (mut ports, mut rows) = (PausedPorts::new(1, ClassSet(0b101)), Vec::new());
        let at = |now| EventLocation { now: Time(now), node: 3, port: 0 };
        ports.record_sent(&scope, at(1), ClassSet::ALL, ClassSet::NONE);
        for class in 0..3 {
            ports.record_paused(&scope, at(2), class);
            ports.record_resumed(&scope, at(5), class, &mut rows);
        }
        let records: Vec<(u64, u64)> = ports.records.iter().map(|one| (one.sent, one.times)).collect();
        assert_eq!(records, [(1, 1), (0, 0), (1, 1)]);
        assert_eq!(rows.iter().map(|row| row.class).collect::<Vec<_>>(), [0, 2]);
    }
}
