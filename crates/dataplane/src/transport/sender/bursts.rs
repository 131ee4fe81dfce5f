//! New data in bursts, as Linux sends it for segmentation offload.
//!
//! A burst is the data that the stack passes down together.
//!
//! A burst is at most half of the window (`tcp_cwnd_test`), and at most as large as offload takes (`tcp_tso_autosize`).
//! Written data forms pieces as large as offload takes. The end of a piece leaves as soon as the window has space for
//! it. Other data waits for a third of the window (`tcp_tso_should_defer`).
//! The last segment of a burst carries PSH, which makes the receiver acknowledge it without delay.

use super::Sender;
use crate::PacketExtension;
use crate::transport::loss::{Phase, RackTlp};
use crate::transport::{Io, TcpConfig};
use units::{Dur, Time};

/// Divisor of the window: a burst leaves immediately if this share of it is free (`tcp_tso_win_divisor`).
const TSO_WIN_DIVISOR: u64 = 3;
/// Largest burst of segmentation offload, in bytes.
const MAX_BURST_BYTES: u64 = 65_536;
/// Lower limit of the largest burst, in segments.
const MIN_BURST_SEGMENTS: u64 = 2;
/// Longest time since the last segment for which new data waits for a larger burst.
const MAX_WAIT_AFTER_SEGMENT: Dur = Dur::ms(1);
/// Paced bursts per second: a burst has the bytes that leave in 1/1024 s at the pacing rate (`sk_pacing_shift`).
/// On short paths it has more.
const PACED_BURSTS_PER_SECOND: u128 = 1024;

impl Sender {
    /// Sends new data while the window has space for another burst.
    pub(super) fn send_bursts(&mut self, r: &mut RackTlp, io: &mut Io) {
        while self.nxt < self.written && self.send_burst(r, io) {}
    }

    /// Sends a burst of new data, if the window has space. Returns true if the whole burst left and another may follow.
    pub(super) fn send_burst(&mut self, r: &mut RackTlp, io: &mut Io) -> bool {
        let mss = u64::from(io.cfg.mss);
        if self.nxt >= r.burst.end {
            if io.cfg.pacing.on && r.pace.must_wait(io.now) {
                return false;
            }
            let next = match io.cfg.follows_linux_2_6_38() {
                true => self.next_burst_end_2_6_38(r, io),
                false => self.next_burst_end(r, io),
            };
            let Some(end) = next else { return false };
            r.burst = self.nxt..end;
        }
        let before = self.nxt;
        let room = u64::from(self.congestion.window()).saturating_sub(r.pipe());
        self.send_new_within(room.min(r.burst.end - before), io);
        self.record_sent_segments(before, r, io);
        self.update_pacing_after_burst(before, r, io);
        r.limited = r.pipe() + mss > u64::from(self.congestion.window());
        if self.nxt < r.burst.end || self.nxt == before {
            // If the NIC requests each segment, the rest of the burst leaves at its later requests.
            if !self.pacing.is_waiting() {
                r.burst.end = self.nxt;
            }
            return false;
        }
        // PSH makes the receiver acknowledge the end of a burst immediately. Linux 2.6.38 does not set it there.
        if io.cfg.rack.tso && self.nxt - r.burst.start > mss && !io.cfg.follows_linux_2_6_38() {
            set_push_flag(io);
        }
        true
    }

    /// Updates pacing after the data from `from` on was sent as one burst.
    #[inline]
    fn update_pacing_after_burst(&self, from: u64, r: &mut RackTlp, io: &Io) {
        let bytes = self.nxt - from;
        if io.cfg.pacing.on && bytes > 0 {
            r.pace.on_sent(bytes, bytes.div_ceil(u64::from(io.cfg.mss)) as u32, io.now);
        }
    }

    /// Adds the sent data from byte `from` on to the list of segments, all of full size but the last.
    fn record_sent_segments(&mut self, from: u64, r: &mut RackTlp, io: &Io) {
        // New data counts as sent after retransmissions of the same instant: in Linux, the clock has advanced by then.
        let after_others = io.cfg.follows_linux_6_18() && r.last_retransmission_at == Some(io.now);
        let at = if after_others { io.now.saturating_add(Dur(1)) } else { io.now };
        let mut start = from;
        while start < self.nxt {
            let end = self.nxt.min(start + u64::from(io.cfg.mss));
            r.on_sent(start..end, at);
            start = end;
        }
    }

    /// Sends a tail loss probe of new data: one segment, or with offload all that waited for a larger burst and fits.
    /// Returns true if there was new data that the receiver's window allows.
    pub(super) fn probe_with_new(&mut self, r: &mut RackTlp, io: &mut Io) -> bool {
        let mss = u64::from(io.cfg.mss);
        let window = u64::from(self.congestion.window());
        let most = match io.cfg.rack.tso {
            true => (window.saturating_sub(r.pipe()) / mss).min(window / mss / 2).max(1),
            false => 1,
        };
        let before = self.nxt;
        for _ in 0..most {
            let len = mss.min(self.written - self.nxt) as u32;
            if len == 0 || self.rwnd.saturating_sub(self.flight_size()) < len {
                break;
            }
            self.emit_new(len, io);
        }
        self.record_sent_segments(before, r, io);
        self.update_pacing_after_burst(before, r, io);
        if self.nxt - before > mss {
            set_push_flag(io);
        }
        self.note_window_use(self.nxt > before, r, io);
        self.nxt > before
    }

    /// Returns the end of the next burst of new data; `None` if data must wait.
    fn next_burst_end(&self, r: &mut RackTlp, io: &Io) -> Option<u64> {
        let mss = u64::from(io.cfg.mss);
        let (left, window) = (self.written - self.nxt, u64::from(self.congestion.window()));
        let by_window = window.saturating_sub(r.pipe());
        let by_receiver = u64::from(self.rwnd.saturating_sub(self.flight_size()));
        let room = by_window.min(by_receiver);
        if !io.cfg.rack.tso || room < mss {
            // Paced data leaves one segment at a time, so that a gap follows each segment.
            let most = if io.cfg.pacing.on { mss } else { by_window };
            return Some(self.nxt + by_window.min(most));
        }
        let most = self.largest_burst(r, io.cfg);
        let share = (window / mss / 2 * mss).max(mss).min(by_window / mss * mss).min(most);
        // If less than a burst is left of a piece, the burst continues into the next piece.
        let piece = (end_of_piece(self.nxt, io.cfg) - self.nxt).max(share).min(left);
        let is_end_of_piece = piece < left && piece <= room;
        if piece > mss && !is_end_of_piece && self.waits_for_more(room.min(most), most, r, io) {
            r.limited = by_window < by_receiver && (by_window <= piece || !io.cfg.follows_linux_6_18());
            return None;
        }
        Some(self.nxt + share.min(piece))
    }

    /// Returns true if new data waits for a larger burst.
    /// Less than a third of the window is free, the last segment left less than 1 ms ago, and the next ACK is near.
    fn waits_for_more(&self, room: u64, most: u64, r: &RackTlp, io: &Io) -> bool {
        let least = u64::from(self.congestion.window().min(self.rwnd)) / TSO_WIN_DIVISOR;
        let srtt = self.rto.srtt().unwrap_or_default();
        let half = Dur(srtt.0 / 2);
        let is_near = |at: Time| match io.cfg.follows_linux_6_18() {
            // The next ACK is that of the first segment, a round trip after it left.
            true => at.saturating_add(srtt).max(io.now).since(io.now) <= half.min(MAX_WAIT_AFTER_SEGMENT),
            false => io.now.since(at) >= half,
        };
        let is_near = r.segments.first().is_some_and(|s| is_near(s.at));
        r.phase < Phase::Recovery
            && room < least.min(most)
            && io.now.since(self.last_sent) <= MAX_WAIT_AFTER_SEGMENT
            && is_near
    }

    /// Returns the largest burst that may be passed to segmentation offload now, in bytes.
    fn largest_burst(&self, r: &RackTlp, cfg: &TcpConfig) -> u64 {
        let (window, mss) = (self.congestion.window(), u64::from(cfg.mss));
        // Linux 6.18 sets the pacing rate at an ACK, from the bytes unacknowledged then if they exceed the window.
        let bytes = u64::from(window).max(if cfg.follows_linux_6_18() { r.outstanding } else { 0 });
        let halvings = (r.rack.min_rtt().0 / Dur::us(1).0) >> cfg.rack.tso_rtt_log;
        let near = if halvings < 32 { MAX_BURST_BYTES >> halvings } else { 0 };
        let percent = u128::from(cfg.pacing.rate_percent(window, self.congestion.ssthresh()));
        let srtt = u128::from(self.rto.srtt().unwrap_or_default().0.max(1));
        let paced = u128::from(bytes) * percent * u128::from(Dur::s(1).0) / (100 * PACED_BURSTS_PER_SECOND * srtt);
        let bytes = near + paced.min(u128::from(MAX_BURST_BYTES)) as u64;
        (bytes.min(MAX_BURST_BYTES) / mss).max(MIN_BURST_SEGMENTS) * mss
    }
}

/// Returns the end of the offload-sized piece of written data that contains byte `at`.
/// The first piece is the initial window, which leaves while an application still writes.
fn end_of_piece(at: u64, cfg: &TcpConfig) -> u64 {
    let (mss, first) = (u64::from(cfg.mss), u64::from(cfg.initial_window));
    let piece = (MAX_BURST_BYTES.min(u64::from(cfg.peer_window / 2)) / mss).max(1) * mss;
    // In Linux 6.18, data written before the first window has left belongs to the same piece as that window.
    if at < first && !cfg.follows_linux_6_18() { first } else { first + (at.saturating_sub(first) / piece + 1) * piece }
}

/// Sets PSH on the segment that was sent last.
fn set_push_flag(io: &mut Io) {
    if let Some(mut pkt) = io.out.pop() {
        match io.exts.get_mut(pkt.ext) {
            Some(ext) => ext.push = true,
            None => pkt.ext = io.exts.allocate(PacketExtension { push: true, ..PacketExtension::default() }),
        }
        io.out.push(pkt);
    }
}
