//! The time a packet, or word of one, spends in a host's stack: a delay and a jitter that never reorder.

use crate::Pkt;
use mech::Stream;
use std::collections::VecDeque;
use units::{Dur, Time};

/// One direction of a host's stack.
#[derive(Clone, Debug)]
pub(crate) struct Stack<T = Pkt> {
    delay: Dur,
    jitter: Dur,
    waiting: VecDeque<(Time, T)>,
    last: Time,
}

impl<T> Stack<T> {
    pub(crate) fn new(delay: Dur, jitter: Dur) -> Stack<T> {
        Stack { delay, jitter, waiting: VecDeque::new(), last: Time::ZERO }
    }
    /// Whether packets pass at once.
    #[inline]
    pub(crate) fn is_instant(&self) -> bool {
        self.delay.0 == 0 && self.jitter.0 == 0
    }
    /// Takes one in; tells when to ask for it, where nothing waits before it.
    pub(crate) fn push(&mut self, now: Time, one: T, rng: &mut Stream) -> Option<Time> {
        let jitter = if self.jitter.0 == 0 { 0 } else { rng.below(self.jitter.0 + 1) };
        self.last = self.last.max(now + self.delay + Dur(jitter));
        self.waiting.push_back((self.last, one));
        (self.waiting.len() == 1).then_some(self.last)
    }
    /// The next packet that is through by `now`.
    pub(crate) fn pop(&mut self, now: Time) -> Option<T> {
        let due = self.waiting.front().is_some_and(|(at, _)| *at <= now);
        due.then(|| self.waiting.pop_front()).flatten().map(|(_, one)| one)
    }
    /// When the first packet is through.
    pub(crate) fn next(&self) -> Option<Time> {
        self.waiting.front().map(|(at, _)| *at)
    }
    pub(crate) fn len(&self) -> u64 {
        self.waiting.len() as u64
    }
}

impl Stack {
    pub(crate) fn bytes(&self) -> u64 {
        self.waiting.iter().map(|(_, pkt)| u64::from(pkt.head.size)).sum()
    }
    pub(crate) fn payload(&self) -> u64 {
        self.waiting.iter().map(|(_, pkt)| pkt.carried()).sum()
    }
}
