//! Tail loss probes (RFC 8985 §7).
//!
//! No later data shows a loss at the end of a flight, so a probe elicits an ACK that does.

use units::Dur;

/// Probe in flight: TLP.end_seq and TLP.is_retrans.
#[derive(Clone, Copy, Debug)]
struct Probe {
    end: u64,
    repeats: bool,
}

/// State of the probes of one sender.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::transport) struct Tlp {
    probe: Option<Probe>,
    /// True if there was a sample of the round-trip time since the last probe, or the start.
    fresh: bool,
    /// Number of probes sent.
    pub sent: u32,
}

/// Properties of an ACK that concern a probe.
#[derive(Clone, Copy, Debug)]
pub(in crate::transport) struct ProbeAck {
    /// Number of the ACK: it acknowledges everything before.
    pub ack: u64,
    /// True if it reports that the probe's last byte had arrived before (RFC 2883).
    pub twice: bool,
    /// True if it has no news: neither data nor SACKs nor a window.
    pub bare: bool,
}

impl Tlp {
    /// Returns TLP_calc_PTO(), without its bound by the retransmission timer (§7.2).
    /// `alone` is added with one segment outstanding, `slack` with more.
    pub fn timeout(srtt: Option<Dur>, is_one: bool, alone: Dur, slack: Dur) -> Dur {
        match srtt {
            Some(srtt) => srtt.saturating_add(srtt).saturating_add(if is_one { alone } else { slack }),
            None => Dur::s(1),
        }
    }
    /// Returns true if a probe may be sent: none is in flight, and there was a sample since the last one (§7.3).
    pub fn may_probe(&self) -> bool {
        self.probe.is_none() && self.fresh
    }
    /// Notes a sample of the round-trip time.
    pub fn on_sample(&mut self) {
        self.fresh = true;
    }
    /// Notes that a probe was sent, after which everything before `end` has been sent.
    pub fn on_probe_sent(&mut self, end: u64, repeats: bool) {
        self.probe = Some(Probe { end, repeats });
        self.fresh = false;
        self.sent += 1;
    }
    /// Forgets the probe when a recovery begins, which shows losses by itself.
    pub fn forget_probe(&mut self) {
        self.probe = None;
    }
    /// Returns true if a probe that repeats data ends at `byte`, as the DSACK of its arrival would.
    pub fn is_repeated_probe_end(&self, byte: u64) -> bool {
        self.probe.is_some_and(|p| p.repeats && p.end == byte)
    }
    /// Returns true if a probe of any kind ends at `byte`.
    pub fn is_probe_end(&self, byte: u64) -> bool {
        self.probe.is_some_and(|p| p.end == byte)
    }
    /// Returns true if a probe is in flight.
    pub fn is_in_flight(&self) -> bool {
        self.probe.is_some()
    }
    pub fn repeats(&self) -> bool {
        self.probe.is_some_and(|p| p.repeats)
    }
    /// Processes an ACK: TLP_process_ack() (§7.4.2).
    /// Returns true if the probe has repaired a loss that nothing else shows.
    pub fn on_ack(&mut self, of: ProbeAck) -> bool {
        let Some(probe) = self.probe.filter(|p| of.ack >= p.end) else { return false };
        // A probe is settled by a DSACK of it, an ACK beyond it, or an ACK without news.
        let over = !probe.repeats || of.twice || of.ack > probe.end || of.bare;
        if over {
            self.probe = None;
        }
        probe.repeats && !of.twice && of.ack > probe.end
    }
}
