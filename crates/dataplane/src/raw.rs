//! Raw sources: packets sent by the clock and forgotten, without a transport.

use crate::transport::FlowInfo;
use crate::{Framing, NO_EXT, Pkt};
use mech::{Flags, Head};
use units::{Dur, Time};

/// A raw source as it is to be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawSetup {
    /// Payload bytes of every packet.
    pub payload: u16,
    /// Packets in a burst; 0 is an endless burst.
    pub packets_per_burst: u64,
    /// Time between packets of a burst.
    pub interval: Dur,
    /// Time between the last packet of a burst and the first of the next.
    pub pause: Dur,
    /// When the first packet is sent.
    pub start: Time,
    /// No packet is sent at or after this instant.
    pub stop: Time,
}

/// A raw source at work.
#[derive(Clone, Debug)]
pub(crate) struct RawSource {
    setup: RawSetup,
    flow: FlowInfo,
    next: Time,
    in_burst: u64,
    sent: u32,
}

impl RawSource {
    pub(crate) fn new(setup: RawSetup, flow: FlowInfo) -> RawSource {
        RawSource { setup, flow, next: setup.start, in_burst: 0, sent: 0 }
    }

    /// When the next packet is due; `None` when all are sent.
    pub(crate) fn next(&self) -> Option<Time> {
        (self.next < self.setup.stop).then_some(self.next)
    }

    /// The packet that is due at `now`.
    pub(crate) fn emit(&mut self, now: Time, framing: &Framing) -> Pkt {
        let s = self.setup;
        self.in_burst += 1;
        let burst_over = s.packets_per_burst > 0 && self.in_burst == s.packets_per_burst;
        self.next = now.saturating_add(if burst_over { s.pause } else { s.interval });
        if burst_over {
            self.in_burst = 0;
        }
        let size = framing.frame(s.payload, 0);
        let mut head = Head {
            flow: self.flow.flow,
            src: self.flow.src,
            dst: self.flow.dst,
            hash: self.flow.hash,
            size,
            orig_size: size,
            flags: Flags::PAYLOAD,
            ttl: u8::MAX,
            ..Head::default()
        };
        head.set_class(self.flow.class);
        let emission = self.sent;
        self.sent = self.sent.wrapping_add(1);
        Pkt { sent: now, head, seq: 0, ack: 0, emission, ext: NO_EXT, payload: s.payload, window: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mech::{FlowId, HostId};

    #[test]
    fn a_burst_ends_with_the_pause_in_place_of_the_last_interval() {
        let setup = RawSetup {
            payload: 1500,
            packets_per_burst: 3,
            interval: Dur::us(10),
            pause: Dur::us(200),
            start: Time(0),
            stop: Time(Dur::us(500).0),
        };
        let (src, dst) = (HostId(0), HostId(1));
        let flow = FlowInfo { flow: FlowId(0), src, dst, hash: 0, back_hash: 0, bytes: 0, class: 0 };
        let mut source = RawSource::new(setup, flow);
        let mut at = Vec::new();
        while let Some(now) = source.next() {
            at.push(now.0 / 1_000_000);
            assert_eq!(source.emit(now, &Framing::ETHERNET).head.size, 1558);
        }
        assert_eq!(at, [0, 10, 20, 220, 230, 240, 440, 450, 460]);
    }
}
