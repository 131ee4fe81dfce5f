//! What the output side of a node has counted, and what it holds.

use super::Core;
use crate::PayloadCounts;
use crate::port::Port;
use mech::PortId;
use units::Time;

impl Core {
    /// A packet has come back to this NIC, since a switch sent it back.
    pub(crate) fn count_returned(&mut self) {
        self.counts(PortId(0)).returned += 1;
    }

    /// Packets that it holds.
    pub fn held(&self) -> usize {
        self.store.arena.held() - self.copies().count()
    }

    /// Where the copies lie that inputs keep of frames which have gone on.
    fn copies(&self) -> impl Iterator<Item = u32> + '_ {
        let stages = self.store.inputs.iter().flat_map(|inputs| &inputs.stages);
        stages.flat_map(|stages| stages.copies().map(|(_, slot)| slot))
    }

    /// Payload that was lost or cut at its ports, or is in packets that it holds.
    pub(crate) fn payload(&self) -> PayloadCounts {
        let of = |port: &Port| {
            let counts = port.counts();
            let (dropped, cut) = (counts.dropped_payload, counts.trimmed_payload);
            PayloadCounts { dropped, cut, ..PayloadCounts::default() }
        };
        let copies: u64 = self.copies().map(|slot| self.store.arena.get(slot).carried()).sum();
        let held = PayloadCounts { waiting: self.store.arena.payload() - copies, ..PayloadCounts::default() };
        self.store.ports.iter().map(of).sum::<PayloadCounts>() + held
    }

    /// The ports.
    pub fn ports(&self) -> &[Port] {
        &self.store.ports
    }

    /// Begins the largest numbers of waiting frames and bytes of all ports anew. PRECONDITION: what has left by now is
    /// accounted for.
    pub fn restart_largest(&mut self) {
        self.store.ports.iter_mut().for_each(Port::restart_largest);
    }

    /// Accounts for what has left by `now`, so that counts can be read. PRECONDITION: no step of that instant is
    /// under way.
    pub fn settle(&mut self, now: Time) {
        self.store.ports.iter_mut().filter(|port| port.computed).for_each(|port| port.settle_after(now));
    }

    /// Frames that wait in a port's memory although their departure is computed and they are on their
    /// link already.
    pub fn waiting_ahead(&self) -> u64 {
        self.store.ports.iter().filter(|port| port.computed).map(|port| u64::from(port.waiting())).sum()
    }
}
