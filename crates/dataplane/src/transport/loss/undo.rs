//! Detection of spurious recoveries, in which no data was lost.
//!
//! Either every retransmission arrived twice (RFC 3708), or the ACK is of a first sending (RFC 3522).

use crate::transport::clock;
use crate::transport::congestion::SavedWindow;

/// Window cut that may be undone, and the evidence so far that it was spurious.
#[derive(Clone, Debug)]
struct UndoableCut {
    saved: SavedWindow,
    /// First byte outstanding when the recovery began.
    from: u64,
    /// Number of retransmissions that no DSACK has reported; `None` before the first retransmission.
    unexplained: Option<u32>,
    /// True if ECN-Echo has come, so that the cut was due anyway.
    due: bool,
}

/// Last window cut of one sender, which may turn out to be spurious.
#[derive(Clone, Debug, Default)]
pub(in crate::transport) struct Undo {
    episode: Option<UndoableCut>,
    /// RetransmitTS of RFC 3522: time of the first retransmission of this recovery, by the clock of timestamps.
    first: Option<u32>,
    /// Number of window cuts undone.
    pub done: u32,
}

impl Undo {
    /// Records the window cut of a recovery that begins while `under_way` retransmissions are in flight.
    pub fn begin(&mut self, saved: SavedWindow, from: u64, under_way: u32, marked: bool) {
        let unexplained = (under_way > 0).then_some(under_way);
        self.episode = Some(UndoableCut { saved, from, unexplained, due: marked });
    }
    /// Records a cut that may be undone (Linux 2.6.38). `Fack::prior` keeps the slow start threshold before the cut.
    /// `from` is the first byte outstanding, and `under_way` the number of retransmissions in flight.
    pub fn begin_cut(&mut self, saved: SavedWindow, from: u64, under_way: u32) {
        self.episode = Some(UndoableCut { saved, from, unexplained: Some(under_way), due: false });
    }
    /// Returns true if DSACKs cover every retransmission, or there was none (Linux 2.6.38).
    pub fn dsacks_cover_retransmissions(&self) -> bool {
        self.episode.as_ref().is_some_and(|e| e.unexplained.unwrap_or(0) == 0)
    }
    /// Counts a segment that was sent again in the recovery.
    pub fn on_sent_again(&mut self, ticks: u32) {
        self.first.get_or_insert(ticks);
        if let Some(e) = &mut self.episode {
            e.unexplained = Some(e.unexplained.unwrap_or(0) + 1);
        }
    }
    /// Records ECN-Echo, for which the window must be cut anyway.
    pub fn on_mark(&mut self) {
        if let Some(e) = &mut self.episode {
            e.due = true;
        }
    }
    /// Counts the DSACK of this number of segments that ends at `end`, as evidence of a spurious cut.
    pub fn on_dsack(&mut self, segments: u32, end: u64) {
        if let Some(UndoableCut { unexplained: Some(n), from, .. }) = &mut self.episode {
            if end > *from {
                // The network may duplicate packets as well, so DSACKs may outnumber retransmissions.
                *n = n.saturating_sub(segments);
            }
        }
    }
    /// Forgets the first retransmission while no recovery is in progress, so that the next recovery records its own.
    pub fn forget_first_retransmission(&mut self) {
        self.first = None;
    }
    /// Returns true if a segment was sent again in this recovery.
    pub fn was_sent_again(&self) -> bool {
        self.first.is_some()
    }
    /// Makes the last window cut final: it can no longer be undone.
    pub fn close(&mut self) {
        self.episode = None;
    }
    /// Returns true if there is a window cut that may be undone.
    pub fn is_open(&self) -> bool {
        self.episode.is_some()
    }
    /// Returns true if every retransmission has turned out to be a duplicate (RFC 3708).
    pub fn all_duplicated(&self) -> bool {
        self.episode.as_ref().is_some_and(|e| e.unexplained == Some(0))
    }
    /// Returns true if the ACK was caused by a first transmission, not by a retransmission.
    /// Its echoed timestamp is older than the first retransmission (RFC 3522 §3.2 (5)), or nothing was sent again.
    pub fn was_delayed(&self, echo: Option<u32>) -> bool {
        match (self.first, echo) {
            (None, _) => true,
            (Some(first), Some(echo)) => clock::is_older(echo, first),
            (Some(_), None) => false,
        }
    }
    /// Ends the cut that may be undone, and returns the window to restore unless ECN-Echo forbids it.
    pub fn take_saved_window(&mut self) -> Option<SavedWindow> {
        let episode = self.episode.take()?;
        self.done += 1;
        (!episode.due).then_some(episode.saved)
    }
}
