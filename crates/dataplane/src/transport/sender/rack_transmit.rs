//! What a sender that finds losses by time sends: what is lost, and new data, by what is under way.

use super::Sender;
use crate::transport::loss::{Awaited, Frto, Phase, RackTlp};
use crate::transport::{Io, clock};
use units::{Dur, Time};

/// Room for this share of the window is used at once (Linux: `tcp_tso_win_divisor`), as is room for so many bytes.
const TSO_WINDOW_SHARE: u64 = 3;
const TSO_BYTES: u64 = 65_536;
/// Nothing is deferred after a longer silence.
const TSO_RECENT: Dur = Dur::ms(1);

impl Sender {
    /// Sends what is lost and then new data, as long as the window exceeds what is under way; the other way
    /// round where new data is to show whether a timeout had a reason (RFC 5682 §3.1 step 2.b).
    pub(super) fn send_lost_and_new(&mut self, r: &mut RackTlp, io: &mut Io) {
        if r.phase == (Phase::Loss { frto: Frto::New }) {
            let before = self.sent;
            self.send_new(r, io);
            if self.sent > before || self.pacing.waits() {
                return;
            }
            r.phase = Phase::Loss { frto: Frto::Off };
        }
        let window = u64::from(self.congestion.window());
        while let Some(i) = r.segments.next_waiting() {
            let len = r.segments.get(i).map_or(0, |s| s.len());
            if r.pipe() + len > window || !self.pacing.ready() {
                return;
            }
            self.send_again(i, r, io);
        }
        self.send_new(r, io);
    }

    /// Sends a segment again, as it was. That of the first one starts the timeout anew, as Linux has it
    /// (RFC 6298 §5 leaves it open).
    pub(super) fn send_again(&mut self, i: usize, r: &mut RackTlp, io: &mut Io) {
        let bytes = self.repeat(i, r, io);
        r.on_sent_again(bytes, clock::ticks(io.now, io.cfg));
        if i == 0 && r.awaited != Awaited::Reordering {
            r.awaited = Awaited::Retransmission;
            self.rearm_timeout(r, io);
        }
    }

    /// The same, whatever the reason; how many bytes it has.
    pub(super) fn repeat(&mut self, i: usize, r: &mut RackTlp, io: &mut Io) -> u64 {
        let Some(s) = r.segments.get(i).copied() else { return 0 };
        self.emit_ranked(s.start, s.len() as u32, self.rank(io.cfg), io);
        r.segments.sent_again(i, io.now);
        s.len()
    }

    /// Whether new data wait until more of them may leave at once, as Linux lets them for the sake of segmentation
    /// offload: what may leave is less than a third of the window, the last segment left a moment ago, and the
    /// next ACK is near.
    fn defers(&self, r: &RackTlp, io: &Io) -> bool {
        let rwnd = self.rwnd.saturating_sub(self.flight());
        let window = self.congestion.window();
        let room = u64::from(window).saturating_sub(r.pipe()).min(u64::from(rwnd));
        let least = u64::from(window.min(self.rwnd)) / TSO_WINDOW_SHARE;
        let old =
            r.segments.first().is_some_and(|s| io.now.since(s.at) >= Dur(self.rto.srtt().unwrap_or_default().0 / 2));
        r.phase == Phase::Open
            && self.written - self.nxt > u64::from(io.cfg.mss)
            && room < least.min(TSO_BYTES)
            && io.now.since(self.last_sent) <= TSO_RECENT
            && old
    }

    /// Sends new data that the window has room for.
    fn send_new(&mut self, r: &mut RackTlp, io: &mut Io) {
        if self.nxt >= self.written {
            return;
        }
        self.wake(io);
        if io.cfg.rack.tso && self.defers(r, io) {
            return;
        }
        let (before, timer_ran) = (self.sent, self.rto.expires() < Time::NEVER);
        self.fill(u64::from(self.congestion.window()).saturating_sub(r.pipe()), io);
        let mut start = before;
        while start < self.sent {
            // Only the last of them may be short.
            let end = self.sent.min(start + u64::from(io.cfg.mss));
            r.on_sent(start..end, io.now);
            start = end;
        }
        if self.sent > before {
            if r.awaited == Awaited::Probe || !timer_ran {
                self.rearm_timeout(r, io);
            }
            if r.awaited != Awaited::Reordering {
                self.await_probe(false, r, io);
            }
        }
    }
}
