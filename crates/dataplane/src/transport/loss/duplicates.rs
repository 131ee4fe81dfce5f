//! Loss detection by counting duplicate ACKs (RFC 5681 §3.2, RFC 6582 §3.2).

use super::super::config::Recovery;
use super::{DuplicateEvent, LossDetection};

impl LossDetection {
    /// Processes a duplicate ACK of everything before `una` (RFC 5681 §2).
    pub(in crate::transport) fn on_duplicate(
        &mut self,
        una: u64,
        threshold: Option<u32>,
        recovery: Recovery,
    ) -> DuplicateEvent {
        let Some(threshold) = threshold else { return DuplicateEvent::Ignored };
        if self.in_recovery {
            return DuplicateEvent::More;
        }
        // RFC 6582 §3.2 step 2: no new recovery before an ACK beyond `recover`. RFC 5681 has no such guard.
        if recovery == Recovery::NewReno && self.recover != 0 && una <= self.recover {
            return DuplicateEvent::Ignored;
        }
        self.duplicates += 1;
        self.busy = true;
        match self.duplicates < threshold {
            true => DuplicateEvent::Early(self.duplicates),
            false => DuplicateEvent::Lost,
        }
    }
}
