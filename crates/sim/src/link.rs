//! Links: first in, first out, with a fixed delay. Only the first frame of a link is in the event
//! queue.

use dataplane::Pkt;
use std::collections::VecDeque;
use units::{Dur, Time};

/// One direction of a link.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    /// The node at the far end.
    pub(crate) peer: u32,
    /// The far end's port.
    pub(crate) peer_port: u16,
    delay: Dur,
    under_way: VecDeque<(Time, Pkt)>,
}

impl Link {
    pub(crate) fn new(peer: u32, peer_port: u16, delay: Dur) -> Link {
        Link { peer, peer_port, delay, under_way: VecDeque::new() }
    }
    /// A frame whose last bit leaves at `end`; tells when it arrives, where none is before it.
    #[inline]
    pub(crate) fn send(&mut self, pkt: Pkt, end: Time) -> Option<Time> {
        let at = end + self.delay;
        debug_assert!(self.under_way.back().is_none_or(|(before, _)| *before < at), "a link is first in, first out");
        let first = self.under_way.is_empty();
        self.under_way.push_back((at, pkt));
        first.then_some(at)
    }
    /// The first frame has arrived; tells when the next one does.
    #[inline]
    pub(crate) fn arrive(&mut self) -> Option<(Pkt, Option<Time>)> {
        let (_, pkt) = self.under_way.pop_front()?;
        Some((pkt, self.under_way.front().map(|(at, _)| *at)))
    }
    pub(crate) fn len(&self) -> usize {
        self.under_way.len()
    }
}
