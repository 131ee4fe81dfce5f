//! What a cut takes away, to be given back where it had no reason: a recovery or a timeout whose losses
//! were none (RFC 3522, RFC 3708, RFC 5682).

use super::Congestion;

/// A window and its threshold as they were before a cut.
#[derive(Clone, Copy, Debug)]
pub struct Saved {
    cwnd: u32,
    ssthresh: u32,
    cut_until: u64,
}

impl Congestion {
    /// What a cut would take away now.
    pub fn saved(&self) -> Saved {
        Saved { cwnd: self.cwnd, ssthresh: self.ssthresh, cut_until: self.cut_until }
    }
    /// Gives back what a cut took away: as Linux, whose window and threshold are then no lower than
    /// before it, and keep what they have gained since (RFC 4015 §3.2 would send slower at first).
    pub fn undo(&mut self, saved: &Saved) {
        self.cwnd = self.cwnd.max(saved.cwnd);
        self.ssthresh = self.ssthresh.max(saved.ssthresh);
        self.cut_until = saved.cut_until;
    }
    /// Sets the window, as what paces a recovery does (RFC 6937, RFC 8985 §6.3); the threshold stays.
    pub fn set_window(&mut self, bytes: u32) {
        self.cwnd = bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::Lost;
    use crate::transport::tests::pair::config;

    #[test]
    fn an_undone_cut_leaves_window_and_threshold_no_lower_than_before_it() {
        let cfg = config("sack", &[]);
        let mut c = Congestion::new(&cfg);
        let before = c.saved();
        let (cwnd, ssthresh) = (c.window(), c.ssthresh());
        c.on_lost(&Lost { range: 0..1000, flight: 10_000, sent: 10_000, left: 0 }, &cfg);
        assert_eq!((c.window(), c.ssthresh(), c.may_cut(5000)), (5000, 5000, false));
        c.undo(&before);
        assert_eq!((c.window(), c.ssthresh(), c.may_cut(5000)), (cwnd, ssthresh, true));
        c.set_window(90_000);
        c.undo(&before);
        assert_eq!(c.window(), 90_000, "what was gained since is kept");
    }
}
