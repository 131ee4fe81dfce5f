//! Whether a recovery had no reason: nothing was lost, and what was sent again arrived twice (RFC 3708), or
//! the ACK is of a first sending (RFC 3522).

use crate::transport::clock;
use crate::transport::congestion::Saved;

/// What is to be undone, and what has been found out.
#[derive(Clone, Debug)]
struct Episode {
    saved: Saved,
    /// The first byte outstanding when it began.
    from: u64,
    /// Segments sent again that no report has shown to be duplicates; `None` before the first.
    unexplained: Option<u32>,
    /// An echo of congestion has come: there was a reason.
    due: bool,
}

/// The last cut of one sender that may turn out to have had no reason.
#[derive(Clone, Debug, Default)]
pub(in crate::transport) struct Undo {
    episode: Option<Episode>,
    /// RetransmitTS of RFC 3522: when this recovery sent something again first, by the clock of timestamps.
    first: Option<u32>,
    /// Cuts undone.
    pub done: u32,
}

impl Undo {
    /// A recovery begins with its cut, while so many retransmissions are under way.
    pub fn begin(&mut self, saved: Saved, from: u64, under_way: u32, marked: bool) {
        let unexplained = (under_way > 0).then_some(under_way);
        self.episode = Some(Episode { saved, from, unexplained, due: marked });
    }
    /// Notes the start of a cut that may be undone (Linux 2.6.38): first byte outstanding, retransmissions in flight. The
    /// threshold before the cut is kept elsewhere.
    pub fn mark(&mut self, saved: Saved, from: u64, under_way: u32) {
        self.episode = Some(Episode { saved, from, unexplained: Some(under_way), due: false });
    }
    /// Returns true if DSACKs cover every retransmission, or none was made (Linux 2.6.38).
    pub fn is_explained(&self) -> bool {
        self.episode.as_ref().is_some_and(|e| e.unexplained.unwrap_or(0) == 0)
    }
    /// A segment was sent again in it.
    pub fn on_sent_again(&mut self, ticks: u32) {
        self.first.get_or_insert(ticks);
        if let Some(e) = &mut self.episode {
            e.unexplained = Some(e.unexplained.unwrap_or(0) + 1);
        }
    }
    /// An echo of congestion: the window has to be cut anyway.
    pub fn on_mark(&mut self) {
        if let Some(e) = &mut self.episode {
            e.due = true;
        }
    }
    /// The receiver reports so many segments that end at `end` as duplicates.
    pub fn on_duplicate(&mut self, segments: u32, end: u64) {
        if let Some(Episode { unexplained: Some(n), from, .. }) = &mut self.episode
            && end > *from
        {
            *n = n.saturating_sub(segments);
        }
    }
    /// No recovery is under way: the next one counts from its own first retransmission.
    pub fn rest(&mut self) {
        self.first = None;
    }
    /// Returns true if the episode has sent a segment again.
    pub fn was_sent_again(&self) -> bool {
        self.first.is_some()
    }
    /// Closes the episode: its cut can no longer be undone.
    pub fn close(&mut self) {
        self.episode = None;
    }
    /// Whether there is a cut that may be undone.
    pub fn is_open(&self) -> bool {
        self.episode.is_some()
    }
    /// Whether every retransmission has turned out to be a duplicate (RFC 3708).
    pub fn all_twice(&self) -> bool {
        self.episode.as_ref().is_some_and(|e| e.unexplained == Some(0))
    }
    /// Whether what is acknowledged is a first sending: by an echoed timestamp older than the first
    /// retransmission (RFC 3522 §3.2 (5)), or since nothing was sent again.
    pub fn was_delayed(&self, echo: Option<u32>) -> bool {
        match (self.first, echo) {
            (None, _) => true,
            (Some(first), Some(echo)) => clock::older(echo, first),
            (Some(_), None) => false,
        }
    }
    /// Ends the episode: what to give back, where no echo forbids it.
    pub fn take(&mut self) -> Option<Saved> {
        let episode = self.episode.take()?;
        self.done += 1;
        (!episode.due).then_some(episode.saved)
    }
}
