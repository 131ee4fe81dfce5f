//! Jitter between the queue of a host's NIC and the link: interrupts, DMA and the NIC's own scheduling.
//!
//! Without jitter, equal rates lock phases: one of two flows may find a full queue whenever it sends. Frames stay in
//! order, and a frame starts no earlier than the previous one has passed, so that the link's capacity is unchanged.
//! The NIC does not wait: jitter delays a frame on the link, not its departure from the queue.

use dataplane::Pkt;
use mech::{PacketKind, Stream, StreamPurpose};
use scenario::{NicJitter, Scenario};
use units::{ByteClock, Dur, Time};

/// NIC jitter of all hosts.
#[derive(Clone, Debug)]
pub(crate) struct HostLinkJitter {
    law: NicJitter,
    /// Length of preamble and gap of a frame in bytes.
    gap: u16,
    /// Last frame on the link of each host.
    links: Vec<LastFrame>,
}

/// Last frame on the link of a host, and the jitter of its NIC.
#[derive(Clone, Debug)]
struct LastFrame {
    draws: Stream,
    clock: ByteClock,
    /// Mean of the delays.
    mean: Dur,
    /// Instant at which the last bit of the last frame is on the link.
    end: Time,
}

impl HostLinkJitter {
    /// Returns the NIC jitter of a scenario; `None` if it has none. `clock` returns the clock of a host's port.
    pub(crate) fn from_scenario(
        scenario: &Scenario,
        seed: u64,
        clock: impl Fn(u32) -> ByteClock,
    ) -> Option<HostLinkJitter> {
        let host = &scenario.host;
        let gap = scenario.framing.gap;
        let largest = u64::from(scenario.largest_frame()) + u64::from(gap);
        let tail = |id| {
            let clock = clock(id);
            let mean = host.nic_jitter.unwrap_or_else(|| Dur(clock.time(largest).0 / 10));
            LastFrame { draws: Stream::new(seed, id, StreamPurpose::Nic), clock, mean, end: Time::ZERO }
        };
        (host.nic_jitter != Some(Dur::ZERO)).then(|| HostLinkJitter {
            law: host.nic_jitter_distribution,
            gap,
            links: (0..scenario.topology.hosts).map(tail).collect(),
        })
    }

    /// Returns true if a link is that of a host.
    pub(crate) fn applies_to(&self, link: u32) -> bool {
        (link as usize) < self.links.len()
    }

    /// Returns the instant at which the last bit of a frame leaves with jitter, if it would leave at `end` without it.
    pub(crate) fn end(&mut self, link: u32, pkt: &Pkt, end: Time) -> Time {
        let Some(tail) = self.links.get_mut(link as usize) else { return end };
        // The MAC creates PAUSE frames. They pass none of the causes of jitter, which come before the MAC.
        let waits = match (pkt.head.kind(), self.law) {
            (PacketKind::Pause, _) => 0,
            (_, NicJitter::Exponential) => tail.draws.exponential(tail.mean.0 as f64) as u64,
            (_, NicJitter::Uniform) => tail.draws.uniform_below(tail.mean.0.saturating_mul(2).saturating_add(1)),
        };
        let time = tail.clock.time(u64::from(pkt.head.size) + u64::from(self.gap));
        tail.end = end.saturating_add(Dur(waits)).max(tail.end.saturating_add(time));
        tail.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Rate;

    fn jitter(law: NicJitter, mean: Dur) -> HostLinkJitter {
        let tail = |host| LastFrame {
            draws: Stream::new(1, host, StreamPurpose::Nic),
            clock: Rate::gbps(1).clock(),
            mean,
            end: Time::ZERO,
        };
        HostLinkJitter { law, gap: 20, links: (0..2).map(tail).collect() }
    }

    fn frame(size: u16) -> Pkt {
        let mut pkt = Pkt::default();
        pkt.head.size = size;
        pkt
    }

    /// Test that NIC jitter never reorders frames, overlaps them or sends them early.
    /// Frames of 1000 bytes take 8160 ns on the link, with 20 bytes of preamble and gap.
    #[test]
    fn jitter_keeps_frames_in_order_and_never_early() {
        for law in [NicJitter::Exponential, NicJitter::Uniform] {
            let (mut scatter, mut last) = (jitter(law, Dur::us(30)), Time::ZERO);
            for n in 1..2000 {
                let end = Time::ZERO + Dur::ns(8160) * n;
                let found = scatter.end(0, &frame(1000), end);
                assert!(found >= end && found >= last + Dur::ns(8160), "{n}");
                last = found;
            }
        }
    }

    #[test]
    fn distant_frames_wait_the_mean_on_average() {
        for (law, deviation) in [(NicJitter::Exponential, 1.0), (NicJitter::Uniform, 3f64.sqrt().recip())] {
            let mut scatter = jitter(law, Dur::us(3));
            let mut waits = (1..=20_000u64).map(|n| {
                let end = Time::ZERO + Dur::ms(1) * n;
                scatter.end(1, &frame(64), end).since(end).0 as f64 / 3e6
            });
            let waits: Vec<f64> = waits.by_ref().collect();
            let mean = waits.iter().sum::<f64>() / 2e4;
            // The mean wait is compared in units of the configured mean; the bound is 5 standard errors.
            assert!((mean - 1.0).abs() < 5.0 * deviation / 2e4f64.sqrt(), "{mean}");
            assert!(law == NicJitter::Exponential || waits.iter().all(|wait| *wait <= 2.0));
        }
    }

    #[test]
    fn switch_links_and_pause_frames_have_no_jitter() {
        let mut scatter = jitter(NicJitter::Uniform, Dur::us(3));
        assert_eq!(scatter.end(2, &frame(64), Time(5)), Time(5));
        let mut pause = frame(64);
        pause.head.flags = mech::Flags::from_kind(PacketKind::Pause);
        let end = Time::ZERO + Dur::ms(1);
        assert_eq!(scatter.end(0, &pause, end), end);
    }
}
