//! Raw sources: packets sent by a clock, without a transport and without recovery.

use crate::transport::FlowInfo;
use crate::{Framing, NO_EXT, Pkt};
use mech::{Ecn, Flags, FlowId, Head, PacketKind, Stream};
use units::{Dur, Time};

/// Parameters of a raw source, which sends packets without a transport.
#[derive(Clone, Debug)]
pub struct RawSetup {
    /// Payload bytes of every packet.
    pub payload: u16,
    /// Packets in a burst; 0 is an endless burst.
    pub packets_per_burst: u64,
    /// Time between packets of a burst; the mean if gaps are drawn at random.
    pub interval: Dur,
    /// Random draws of exponential gaps, including the one before the first packet; `None` if all gaps are equal.
    pub gaps: Option<Stream>,
    /// Time between the last packet of a burst and the first of the next.
    pub pause: Dur,
    /// Instant of the first packet.
    pub start: Time,
    /// End of the source: no packet is sent at or after this instant.
    pub stop: Time,
    /// Backlog at the NIC, in bytes of this source's packets, at which the source makes no packet.
    /// `None` if the NIC has no queue of this source, or no limit applies.
    pub backlog: Option<u64>,
    /// True if packets are ECN-capable, ECT(0).
    pub ecn: bool,
}

impl RawSetup {
    /// Returns the time to the next packet of a burst, in whole picoseconds and at least one.
    fn next_gap(&mut self) -> Dur {
        let Some(draws) = &mut self.gaps else { return self.interval };
        Dur(((draws.exponential(self.interval.0 as f64) + 0.5) as u64).max(1))
    }
}

/// State of a raw source during a run.
#[derive(Clone, Debug)]
pub(crate) struct RawSource {
    setup: RawSetup,
    flow: FlowInfo,
    next: Time,
    in_burst: u64,
    sent: u32,
}

impl RawSource {
    pub(crate) fn new(mut setup: RawSetup, flow: FlowInfo) -> RawSource {
        let wait = setup.gaps.is_some().then(|| setup.next_gap());
        let next = setup.start.saturating_add(wait.unwrap_or(Dur::ZERO));
        RawSource { setup, flow, next, in_burst: 0, sent: 0 }
    }

    /// Returns the instant of the next packet; `None` if all are sent.
    pub(crate) fn next_time(&self) -> Option<Time> {
        (self.next < self.setup.stop).then_some(self.next)
    }

    /// Returns the flow whose queue at the NIC limits this source; `None` without a limit.
    pub(crate) fn limiting_flow(&self) -> Option<FlowId> {
        self.setup.backlog.map(|_| self.flow.flow)
    }

    /// Returns true if `waiting` queued frames of this source reach its backlog limit.
    pub(crate) fn is_blocked(&self, waiting: usize, framing: &Framing) -> bool {
        let frame = u64::from(framing.frame_size(self.setup.payload, 0));
        self.setup.backlog.is_some_and(|most| waiting as u64 * frame >= most)
    }

    /// Skips the packet that is due at `now`, and schedules the next one.
    pub(crate) fn skip_packet(&mut self, now: Time) {
        let s = &mut self.setup;
        self.in_burst += 1;
        let burst_over = s.packets_per_burst > 0 && self.in_burst == s.packets_per_burst;
        self.next = now.saturating_add(if burst_over { s.pause } else { s.next_gap() });
        if burst_over {
            self.in_burst = 0;
        }
    }

    /// Creates the packet that is due at `now`, with time to live `ttl`, and schedules the next one.
    pub(crate) fn emit(&mut self, now: Time, framing: &Framing, ttl: u8) -> Pkt {
        self.skip_packet(now);
        let s = &self.setup;
        let size = framing.frame_size(s.payload, 0);
        let mut head = Head {
            flow: self.flow.flow,
            src: self.flow.src,
            dst: self.flow.dst,
            hash: self.flow.hash,
            size,
            orig_size: size,
            flags: Flags::from_kind(PacketKind::Raw).with(Flags::PAYLOAD),
            tos: self.flow.tos(),
            ttl,
            ..Head::default()
        };
        if s.ecn {
            head.set_ecn(Ecn::Ect0);
        }
        let emission = self.sent;
        self.sent = self.sent.wrapping_add(1);
        Pkt { sent: now, head, seq: 0, ack: 0, emission, ext: NO_EXT, payload: s.payload, window: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mech::{HostId, StreamPurpose};

    #[test]
    fn pause_replaces_the_last_interval_of_a_burst() {
        let setup = RawSetup {
            payload: 1500,
            packets_per_burst: 3,
            interval: Dur::us(10),
            gaps: None,
            pause: Dur::us(200),
            start: Time(0),
            stop: Time(Dur::us(500).0),
            backlog: None,
            ecn: false,
        };
        let (src, dst) = (HostId(0), HostId(1));
        let flow =
            FlowInfo { flow: FlowId(0), src, dst, hash: 0, back_hash: 0, bytes: 0, class: 0, code_point: 0, row: 0 };
        let mut source = RawSource::new(setup, flow);
        let mut at = Vec::new();
        while let Some(now) = source.next_time() {
            at.push(now.0 / 1_000_000);
            let head = source.emit(now, &Framing::ETHERNET, 64).head;
            assert_eq!((head.size, head.ttl), (1558, 64));
        }
        assert_eq!(at, [0, 10, 20, 220, 230, 240, 440, 450, 460]);
    }

    #[test]
    fn exponential_gaps_have_the_mean_and_the_deviation_of_the_interval() {
        let setup = RawSetup {
            payload: 1500,
            packets_per_burst: 0,
            interval: Dur::us(10),
            gaps: Some(Stream::new(1, 0, StreamPurpose::Gaps(0))),
            pause: Dur::ZERO,
            start: Time(Dur::us(5).0),
            stop: Time(Dur::ms(500).0),
            backlog: None,
            ecn: false,
        };
        let (src, dst) = (HostId(0), HostId(1));
        let flow =
            FlowInfo { flow: FlowId(0), src, dst, hash: 0, back_hash: 0, bytes: 0, class: 0, code_point: 0, row: 0 };
        let mut source = RawSource::new(setup, flow);
        let (mut last, mut gaps) = (5.0, Vec::new());
        while let Some(now) = source.next_time() {
            let at = now.0 as f64 / 1e6;
            gaps.push(at - last);
            last = at;
            source.emit(now, &Framing::ETHERNET, 64);
        }
        // 50,000 gaps are expected. The bounds are five standard deviations of their number, of the mean and of the
        // deviation.
        let n = gaps.len() as f64;
        assert!((n - 50_000.0).abs() < 5.0 * 50_000f64.sqrt(), "{n}");
        let mean = gaps.iter().sum::<f64>() / n;
        let deviation = (gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / n).sqrt();
        assert!(
            (mean - 10.0).abs() < 50.0 / n.sqrt() && (deviation - 10.0).abs() < 71.0 / n.sqrt(),
            "{mean} {deviation}"
        );
        assert!(gaps[0] > 0.0, "the first waits for its turn as well");
    }
}
