//! Messages of switches and NICs to a sender, other than ACKs.

use super::{ConnectionState, Sender};
use crate::transport::{Io, Notice};
use mech::host::ReturnedFrames;

/// Record of bounced data of a flow, and of the window cut that followed.
/// The host keeps it outside of the sender, since few flows ever have bounced data.
#[derive(Clone, Copy, Debug, Default)]
pub struct BounceState {
    returned: ReturnedFrames,
    /// Window cut in progress, until the data in flight at its start is acknowledged.
    cut: Option<BounceCut>,
}

/// Window cut that grows with further bounced data: window before it, bytes in flight then, and reduction so far.
/// The window may grow meanwhile.
#[derive(Clone, Copy, Debug)]
struct BounceCut {
    window: u32,
    flight: u32,
    done: u32,
}

impl Sender {
    /// Processes a message of a switch or a NIC. Such a message never makes the sender send.
    pub fn on_notice(&mut self, notice: &Notice, bounced: &mut BounceState, io: &Io) {
        self.notices += 1;
        match notice {
            Notice::Bounced(payload) => self.on_bounced(*payload, bounced, io),
            Notice::Cnm(_) => {}
        }
    }

    /// Cuts the window for a bounced frame (PABO §II-G), by the law of [`mech::host::WindowCut`].
    /// In a recovery the window is cut already. If nothing is outstanding, the bounced data was sent again and has
    /// arrived.
    fn on_bounced(&mut self, payload: u16, bounced: &mut BounceState, io: &Io) {
        let Some(law) = io.cfg.bounce_signal else { return };
        let flight = (self.sent - self.una) as u32;
        if self.state != ConnectionState::Established || self.loss.in_recovery() || flight == 0 {
            return;
        }
        if bounced.cut.is_some() && self.congestion.may_cut(self.una) {
            (bounced.cut, bounced.returned) = (None, ReturnedFrames::default());
        }
        if !law.count_returned(&mut bounced.returned, io.now, payload) {
            return;
        }
        if bounced.cut.is_none() && self.congestion.may_cut(self.una) {
            bounced.cut = Some(BounceCut { window: self.congestion.begin_cut(self.nxt, io.cfg), flight, done: 0 });
            self.cuts += 1;
        }
        if let Some(cut) = &mut bounced.cut {
            let due = cut.window - law.window_after_cut(cut.window, cut.flight, &bounced.returned);
            self.congestion.cut_bytes(due.saturating_sub(cut.done), io.cfg);
            cut.done = cut.done.max(due);
        }
    }
}
