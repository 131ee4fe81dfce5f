//! Search for the packet that was detoured or bounced most often, or the first that was trimmed, held or made as a
//! congestion message. Only the maximum is kept.

use crate::identity::PacketId;
use dataplane::Pkt;
use dataplane::{EventLocation, Observer};
use mech::overflow::DropReason;
use units::Time;

/// Property that decides which packet is traced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketProperty {
    /// Largest number of detours among all packets.
    Detoured,
    /// Largest number of bounces among all packets.
    Bounced,
    /// First packet to end after it was trimmed; no packet is trimmed more than once.
    Trimmed,
    /// First packet that an agent holds before lookup.
    Held,
    /// First packet that is a congestion message.
    Notice,
}

/// Observer that finds the packet with a given property.
#[derive(Clone, Debug)]
pub(super) struct PacketSearch {
    property: PacketProperty,
    /// Count of the property, identity and end of the best packet so far; among equals, the first to end. For a held
    /// packet or a congestion message, the instant at which it was held or made.
    found: Option<(u8, PacketId, Time)>,
}

impl PacketSearch {
    pub(super) fn new(of: PacketProperty) -> PacketSearch {
        PacketSearch { property: of, found: None }
    }

    /// Returns the identity of the packet that was found, and its end.
    pub(super) fn found_packet(&self) -> Option<(PacketId, Time)> {
        self.found.map(|(_, id, end)| (id, end))
    }

    fn compare_ended(&mut self, now: Time, pkt: &Pkt) {
        let count = match self.property {
            PacketProperty::Detoured => pkt.head.detours,
            PacketProperty::Bounced => pkt.head.bounces,
            PacketProperty::Trimmed => u8::from(pkt.head.is_cut()),
            PacketProperty::Held | PacketProperty::Notice => 0,
        };
        if count > self.found.map_or(0, |(most, ..)| most) {
            self.found = Some((count, PacketId::from_packet(pkt), now));
        }
    }

    /// Records a packet as found, if it is the first with the wanted property.
    fn record_first(&mut self, of: PacketProperty, at: EventLocation, pkt: &Pkt) {
        if self.property == of && self.found.is_none() {
            self.found = Some((1, PacketId::from_packet(pkt), at.now));
        }
    }
}

impl Observer for PacketSearch {
    fn on_hold(&mut self, at: EventLocation, pkt: &Pkt) {
        self.record_first(PacketProperty::Held, at, pkt);
    }
    fn on_notice_sent(&mut self, at: EventLocation, pkt: &Pkt) {
        self.record_first(PacketProperty::Notice, at, pkt);
    }
    fn on_drop(&mut self, at: EventLocation, pkt: &Pkt, _reason: DropReason) {
        self.compare_ended(at.now, pkt);
    }
    fn on_delivery(&mut self, at: EventLocation, pkt: &Pkt) {
        self.compare_ended(at.now, pkt);
    }
    fn on_returned_packet(&mut self, at: EventLocation, pkt: &Pkt) {
        self.compare_ended(at.now, pkt);
    }
}
