//! Delay of a host's network stack: each packet takes a delay and a jitter, and none overtakes another.

use crate::Pkt;
use mech::Stream;
use std::collections::VecDeque;
use units::{Dur, Time};

/// Packets or announcements that pass a host's network stack in one direction, up or down.
#[derive(Clone, Debug)]
pub(crate) struct StackDelay<T = Pkt> {
    delay: Dur,
    jitter: Dur,
    waiting: VecDeque<(Time, T)>,
    last: Time,
}

impl<T> StackDelay<T> {
    pub(crate) fn new(delay: Dur, jitter: Dur) -> StackDelay<T> {
        StackDelay { delay, jitter, waiting: VecDeque::new(), last: Time::ZERO }
    }
    /// Returns true if packets pass the network stack without delay.
    #[inline]
    pub(crate) fn is_instant(&self) -> bool {
        self.delay.0 == 0 && self.jitter.0 == 0
    }
    /// Adds a packet to the network stack, and returns the instant for a timer if nothing waits ahead of it.
    pub(crate) fn push(&mut self, now: Time, one: T, rng: &mut Stream) -> Option<Time> {
        let jitter = if self.jitter.0 == 0 { 0 } else { rng.uniform_below(self.jitter.0 + 1) };
        // A packet with less jitter than the one before it passes together with that one: a stack does not reorder.
        self.last = self.last.max(now + self.delay + Dur(jitter));
        self.waiting.push_back((self.last, one));
        (self.waiting.len() == 1).then_some(self.last)
    }
    /// Returns the next packet that has passed the network stack by `now`.
    pub(crate) fn pop(&mut self, now: Time) -> Option<T> {
        let due = self.waiting.front().is_some_and(|(at, _)| *at <= now);
        due.then(|| self.waiting.pop_front()).flatten().map(|(_, one)| one)
    }
    /// Returns the instant at which the first packet will have passed the network stack.
    pub(crate) fn next_ready(&self) -> Option<Time> {
        self.waiting.front().map(|(at, _)| *at)
    }
    pub(crate) fn len(&self) -> u64 {
        self.waiting.len() as u64
    }
}

impl StackDelay {
    pub(crate) fn bytes(&self) -> u64 {
        self.waiting.iter().map(|(_, pkt)| u64::from(pkt.head.size)).sum()
    }
    pub(crate) fn payload_bytes(&self) -> u64 {
        self.waiting.iter().map(|(_, pkt)| pkt.payload_bytes()).sum()
    }
}
