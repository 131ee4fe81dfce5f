//! Tail loss probes (RFC 8985 §7).
//!
//! No later data shows a loss at the end of a flight, so a probe elicits an ACK that does.

use units::Dur;

/// Tail loss probe in flight: TLP.end_seq and TLP.is_retrans of RFC 8985.
#[derive(Clone, Copy, Debug)]
struct Probe {
    end: u64,
    repeats: bool,
}

/// State of the tail loss probes of one sender.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::transport) struct Tlp {
    probe: Option<Probe>,
    /// True if there was a sample of the round-trip time since the last probe, or the start.
    fresh: bool,
    /// Number of tail loss probes sent.
    pub sent: u32,
}

/// Properties of an ACK that matter to a tail loss probe in flight.
#[derive(Clone, Copy, Debug)]
pub(in crate::transport) struct ProbeAck {
    /// Acknowledgement number: all bytes before it have arrived.
    pub ack: u64,
    /// True if the ACK reports that the probe's last byte had arrived before (RFC 2883).
    pub twice: bool,
    /// True if the ACK has no news: neither data nor SACKs nor a new window.
    pub bare: bool,
}

impl Tlp {
    /// Returns the probe timeout, TLP_calc_PTO(), without its limit by the retransmission timer (RFC 8985 §7.2).
    /// `alone` is added with one segment outstanding, `slack` with more.
    pub fn timeout(srtt: Option<Dur>, is_one: bool, alone: Dur, slack: Dur) -> Dur {
        match srtt {
            Some(srtt) => srtt.saturating_add(srtt).saturating_add(if is_one { alone } else { slack }),
            None => Dur::s(1),
        }
    }
    /// Returns true if a probe may be sent: none is in flight, and a sample came since the last one (RFC 8985 §7.3).
    pub fn may_probe(&self) -> bool {
        self.probe.is_none() && self.fresh
    }
    /// Records that a round-trip sample was taken, which allows another tail loss probe.
    pub fn on_sample(&mut self) {
        self.fresh = true;
    }
    /// Records that a tail loss probe was sent, after which everything before `end` has been sent.
    pub fn on_probe_sent(&mut self, end: u64, repeats: bool) {
        self.probe = Some(Probe { end, repeats });
        self.fresh = false;
        self.sent += 1;
    }
    /// Forgets the tail loss probe in flight when a recovery begins, which shows losses by itself.
    pub fn forget_probe(&mut self) {
        self.probe = None;
    }
    /// Returns true if a tail loss probe that repeats data ends at `byte`, as the DSACK of its arrival would.
    pub fn is_repeated_probe_end(&self, byte: u64) -> bool {
        self.probe.is_some_and(|p| p.repeats && p.end == byte)
    }
    /// Returns true if a tail loss probe, of new or of old data, ends at `byte`.
    pub fn is_probe_end(&self, byte: u64) -> bool {
        self.probe.is_some_and(|p| p.end == byte)
    }
    /// Returns true if a tail loss probe is in flight.
    pub fn is_in_flight(&self) -> bool {
        self.probe.is_some()
    }
    pub fn repeats(&self) -> bool {
        self.probe.is_some_and(|p| p.repeats)
    }
    /// Processes an ACK for the tail loss probe in flight: TLP_process_ack() (RFC 8985 §7.4.2).
    /// Returns true if the probe has repaired a loss that nothing else shows.
    pub fn on_ack(&mut self, of: ProbeAck) -> bool {
        let Some(probe) = self.probe.filter(|p| of.ack >= p.end) else { return false };
        // RFC 8985 §7.4.2: an ACK of a probe of new data settles it. A probe that repeats data needs its DSACK, an ACK
        // beyond it, or an ACK without news.
        let over = !probe.repeats || of.twice || of.ack > probe.end || of.bare;
        if over {
            self.probe = None;
        }
        probe.repeats && !of.twice && of.ack > probe.end
    }
}
