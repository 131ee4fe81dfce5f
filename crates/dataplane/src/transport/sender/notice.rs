//! What the network tells a sender besides ACKs.

use super::{Sender, State};
use crate::transport::{Io, Notice};
use mech::host::Returned;

/// What came back of a flow's data, and the cut that this led to. Its host keeps it, since few flows
/// ever have any.
#[derive(Clone, Copy, Debug, Default)]
pub struct BounceState {
    returned: Returned,
    /// Until what was under way at the cut is acknowledged.
    cut: Option<Cut>,
}

/// A cut that grows with what comes back: the window before it, what was under way, and by how much the
/// window was cut so far; it may grow meanwhile.
#[derive(Clone, Copy, Debug)]
struct Cut {
    window: u32,
    flight: u32,
    done: u32,
}

impl Sender {
    /// The network has sent a notice; nothing here sends because of it.
    pub fn on_notice(&mut self, notice: &Notice, bounced: &mut BounceState, io: &Io) {
        self.notices += 1;
        match notice {
            Notice::Bounced(payload) => self.on_bounced(*payload, bounced, io),
            Notice::Cnm(_) => {}
        }
    }

    /// PABO §II-G, by the law of [`mech::host::WindowCut`]. While a loss is mended the window is cut
    /// already, and where nothing is outstanding what came back was sent again and has arrived.
    fn on_bounced(&mut self, payload: u16, bounced: &mut BounceState, io: &Io) {
        let Some(law) = io.cfg.bounce_signal else { return };
        let flight = (self.sent - self.una) as u32;
        if self.state != State::Established || self.loss.in_recovery() || flight == 0 {
            return;
        }
        if bounced.cut.is_some() && self.congestion.may_cut(self.una) {
            (bounced.cut, bounced.returned) = (None, Returned::default());
        }
        if !law.count(&mut bounced.returned, io.now, payload) {
            return;
        }
        if bounced.cut.is_none() && self.congestion.may_cut(self.una) {
            bounced.cut = Some(Cut { window: self.congestion.begin_cut(self.nxt, io.cfg), flight, done: 0 });
            self.cuts += 1;
        }
        if let Some(cut) = &mut bounced.cut {
            let due = cut.window - law.cut(cut.window, cut.flight, &bounced.returned);
            self.congestion.cut_by(due.saturating_sub(cut.done), io.cfg);
            cut.done = cut.done.max(due);
        }
    }
}
