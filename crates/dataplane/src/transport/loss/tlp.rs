//! Tail loss probes: what is lost at the end of a flight, where nothing follows that could show it, is asked
//! for by a probe (RFC 8985 §7).

use units::Dur;

/// TLP.end_seq and TLP.is_retrans, while a probe is under way.
#[derive(Clone, Copy, Debug)]
struct Probe {
    end: u64,
    repeats: bool,
}

/// The probes of one sender.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::transport) struct Tlp {
    probe: Option<Probe>,
    /// There is a sample of the round-trip time since the last probe, or the start.
    fresh: bool,
    /// Probes sent.
    pub sent: u32,
}

/// What an ACK says of a probe.
#[derive(Clone, Copy, Debug)]
pub(in crate::transport) struct OfProbe {
    /// Everything before is acknowledged.
    pub ack: u64,
    /// It reports that the probe's last byte had come before (RFC 2883).
    pub twice: bool,
    /// It tells nothing new: neither data nor reports nor a window.
    pub bare: bool,
}

impl Tlp {
    /// TLP_calc_PTO() without its bound by the retransmission timer (§7.2): `alone` is what is added with one
    /// segment outstanding, `slack` what is added with more.
    pub fn timeout(srtt: Option<Dur>, is_one: bool, alone: Dur, slack: Dur) -> Dur {
        match srtt {
            Some(srtt) => srtt.saturating_add(srtt).saturating_add(if is_one { alone } else { slack }),
            None => Dur::s(1),
        }
    }
    /// Whether a probe may be sent: none is under way, and there is a sample since the last (§7.3).
    pub fn may_probe(&self) -> bool {
        self.probe.is_none() && self.fresh
    }
    /// There is a sample of the round-trip time.
    pub fn on_sample(&mut self) {
        self.fresh = true;
    }
    /// A probe was sent, when everything before `end` had been sent.
    pub fn begin(&mut self, end: u64, repeats: bool) {
        self.probe = Some(Probe { end, repeats });
        self.fresh = false;
        self.sent += 1;
    }
    /// A recovery has begun: what was lost is known otherwise.
    pub fn end(&mut self) {
        self.probe = None;
    }
    /// Whether this ends a probe's bytes that repeat others, as the report of its arrival would.
    pub fn is_end(&self, byte: u64) -> bool {
        self.probe.is_some_and(|p| p.repeats && p.end == byte)
    }
    /// Returns true if a probe of any kind ends at `byte`.
    pub fn is_end_of_any(&self, byte: u64) -> bool {
        self.probe.is_some_and(|p| p.end == byte)
    }
    /// Returns true if a probe is in flight.
    pub fn is_out(&self) -> bool {
        self.probe.is_some()
    }
    pub fn repeats(&self) -> bool {
        self.probe.is_some_and(|p| p.repeats)
    }
    /// TLP_process_ack(): whether the ACK shows that the probe has mended a loss that nothing else shows
    /// (§7.4.2).
    pub fn on_ack(&mut self, of: OfProbe) -> bool {
        let Some(probe) = self.probe.filter(|p| of.ack >= p.end) else { return false };
        let over = !probe.repeats || of.twice || of.ack > probe.end || of.bare;
        if over {
            self.probe = None;
        }
        probe.repeats && !of.twice && of.ack > probe.end
    }
}
