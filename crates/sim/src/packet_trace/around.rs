//! Detours around a packet trace, and queue lengths at some instants.

use dataplane::{Freed, Observer, Pkt, Spot, Stored, Wants};
use units::Time;

/// Largest number of detours that are kept; further ones are counted.
const MOST: usize = 1 << 20;

/// Observer that records detours and queue lengths.
#[derive(Clone, Debug)]
pub(super) struct Around {
    from: Time,
    to: Time,
    /// Remaining instants, the next one last.
    instants: Vec<Time>,
    /// Instant and node of each detour.
    pub(super) detours: Vec<(Time, u32)>,
    /// Number of detours in the window that are not kept.
    pub(super) left_out: u64,
    /// Number of queued frames, by port over the whole network.
    lengths: Vec<u32>,
    /// Queue lengths after all events of each instant.
    pub(super) seen: Vec<(Time, Vec<u32>)>,
}

impl Around {
    /// Returns an observer for a window from `window.0` to `window.1`, both included; `instants` are in order.
    pub(super) fn new(window: (Time, Time), instants: &[Time], ports: usize) -> Around {
        Around {
            from: window.0,
            to: window.1,
            instants: instants.iter().rev().copied().collect(),
            detours: Vec::new(),
            left_out: 0,
            lengths: vec![0; ports],
            seen: Vec::new(),
        }
    }

    /// Records the queue lengths of all instants before `now`, at which a queue is about to change.
    fn pass(&mut self, now: Time) {
        while let Some(instant) = self.instants.last().copied().filter(|instant| *instant < now) {
            self.instants.pop();
            self.seen.push((instant, self.lengths.clone()));
        }
    }

    /// Records the remaining instants, since no more events follow.
    pub(super) fn close(&mut self) {
        self.pass(Time::NEVER);
    }
}

impl Observer for Around {
    const WANTS: Wants = Wants::DEPARTURES;

    fn stored(&mut self, at: Spot, frame: Stored, _pkt: &Pkt) {
        self.pass(at.now);
        self.lengths[at.port as usize] = frame.before + 1;
    }
    fn freed(&mut self, at: Spot, frame: Freed) {
        self.pass(at.now);
        self.lengths[at.port as usize] = frame.after;
    }
    fn detoured(&mut self, at: Spot, _taken: u32, _pkt: &Pkt) {
        if at.now < self.from || at.now > self.to {
            return;
        }
        match self.detours.len() < MOST {
            true => self.detours.push((at.now, at.node)),
            false => self.left_out += 1,
        }
    }
}
