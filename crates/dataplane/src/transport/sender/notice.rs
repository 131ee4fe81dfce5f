//! What the network tells a sender besides ACKs.

use super::{Sender, State};
use crate::transport::{Io, Notice};
use mech::host::Returned;

/// What came back of a flow's data, and the cut that this led to. Its host keeps it, since few flows
/// ever have any.
#[derive(Clone, Copy, Debug, Default)]
pub struct Heard {
    returned: Returned,
    /// The window before the cut and the bytes that were under way, until these are acknowledged.
    cut: Option<(u32, u32)>,
}

impl Sender {
    /// The network has told something; nothing here sends because of it.
    pub fn on_notice(&mut self, notice: &Notice, heard: &mut Heard, io: &Io) {
        self.notices += 1;
        match notice {
            Notice::Bounced(payload) => self.on_bounced(*payload, heard, io),
            Notice::Pack(_) | Notice::Cnm(_) => {}
        }
    }

    /// PABO §II-G, by the law of [`mech::host::WindowCut`]. While a loss is mended the window is cut
    /// already, and where nothing is outstanding what came back was sent again and has arrived.
    fn on_bounced(&mut self, payload: u16, heard: &mut Heard, io: &Io) {
        let Some(law) = io.cfg.bounce_signal else { return };
        let flight = (self.sent - self.una) as u32;
        if self.state != State::Established || self.loss.in_recovery() || flight == 0 {
            return;
        }
        if heard.cut.is_some() && self.congestion.may_cut(self.una) {
            (heard.cut, heard.returned) = (None, Returned::default());
        }
        if !law.count(&mut heard.returned, io.now, payload) {
            return;
        }
        if heard.cut.is_none() && self.congestion.may_cut(self.una) {
            heard.cut = Some((self.congestion.begin_cut(self.nxt), flight));
            self.cuts += 1;
        }
        if let Some((window, flight)) = heard.cut {
            self.congestion.cut_to(law.cut(window, flight, &heard.returned), io.cfg);
        }
    }
}
