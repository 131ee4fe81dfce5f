//! Detours around a packet trace, and queue lengths at chosen instants.

use dataplane::{DequeuedFrame, EnqueuedFrame, EventLocation, ObservedEvents, Observer, Pkt};
use units::Time;

/// Largest number of detours that are kept; further ones are counted.
const MAX_DETOURS: usize = 1 << 20;

/// Observer that records detours and queue lengths.
#[derive(Clone, Debug)]
pub(super) struct WindowRecorder {
    from: Time,
    to: Time,
    /// Instants at which queue lengths are still to be recorded, the next one last.
    instants: Vec<Time>,
    /// Instant and node of each detour.
    pub(super) detours: Vec<(Time, u32)>,
    /// Number of detours in the window that are not kept.
    pub(super) unlisted_detours: u64,
    /// Number of queued frames, by port over the whole network.
    lengths: Vec<u32>,
    /// Queue lengths after all events of each instant.
    pub(super) recorded_lengths: Vec<(Time, Vec<u32>)>,
}

impl WindowRecorder {
    /// Returns an observer for a window from `window.0` to `window.1`, both included; `instants` are in order.
    pub(super) fn new(window: (Time, Time), instants: &[Time], ports: usize) -> WindowRecorder {
        WindowRecorder {
            from: window.0,
            to: window.1,
            instants: instants.iter().rev().copied().collect(),
            detours: Vec::new(),
            unlisted_detours: 0,
            lengths: vec![0; ports],
            recorded_lengths: Vec::new(),
        }
    }

    /// Records the queue lengths of all instants before `now`, at which a queue is about to change.
    fn record_lengths_before(&mut self, now: Time) {
        while let Some(instant) = self.instants.last().copied().filter(|instant| *instant < now) {
            self.instants.pop();
            self.recorded_lengths.push((instant, self.lengths.clone()));
        }
    }

    /// Records the remaining instants, since no more events follow.
    pub(super) fn record_remaining_lengths(&mut self) {
        self.record_lengths_before(Time::NEVER);
    }
}

impl Observer for WindowRecorder {
    const OBSERVED: ObservedEvents = ObservedEvents::DEPARTURES;

    fn on_enqueue(&mut self, at: EventLocation, frame: EnqueuedFrame, _pkt: &Pkt) {
        self.record_lengths_before(at.now);
        self.lengths[at.port as usize] = frame.before + 1;
    }
    fn on_dequeue(&mut self, at: EventLocation, frame: DequeuedFrame) {
        self.record_lengths_before(at.now);
        self.lengths[at.port as usize] = frame.after;
    }
    fn on_detour(&mut self, at: EventLocation, _taken: u32, _pkt: &Pkt) {
        if at.now < self.from || at.now > self.to {
            return;
        }
        match self.detours.len() < MAX_DETOURS {
            true => self.detours.push((at.now, at.node)),
            false => self.unlisted_detours += 1,
        }
    }
}
