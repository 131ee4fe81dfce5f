//! Record of congestion messages: the congestion point or receiver, the flow whose source is notified, and the
//! feedback.

use super::Scope;
use dataplane::{EventLocation, PacketBody, Pkt};
use mech::Notice;

/// Row of the table of congestion messages: one message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NoticeRow {
    pub(crate) at: EventLocation,
    pub(crate) flow: u32,
    /// Quantized feedback of a congestion notification message (CNM), 1 to 63; 0 for a CNP.
    pub(crate) feedback: u8,
    /// Fields Q_off and Q_delta of a CNM, in bytes.
    pub(crate) q_off: i64,
    pub(crate) q_delta: i64,
}

impl NoticeRow {
    /// Returns the row of a packet that is a congestion message; `None` for any other packet.
    pub(crate) fn from_packet(at: EventLocation, pkt: &Pkt) -> Option<NoticeRow> {
        let (feedback, q_off, q_delta) = match pkt.body() {
            PacketBody::Notice(Notice::Cnm { feedback, q_off, q_delta, .. }) => (feedback, q_off, q_delta),
            PacketBody::Notice(Notice::Cnp) => (0, 0, 0),
            _ => return None,
        };
        Some(NoticeRow { at, flow: pkt.head.flow.0, feedback, q_off, q_delta })
    }
}

/// Counts of the congestion messages that a port sent inside the measurement window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PortNotices {
    pub(crate) cnms: u64,
    pub(crate) cnps: u64,
    /// Sum of the feedback of all CNMs.
    pub(crate) feedback: u64,
    pub(crate) strongest: u8,
}

/// Counts of the congestion messages that each port sent.
#[derive(Clone, Debug)]
pub(crate) struct Notices {
    /// True if a row is written for every congestion message.
    records_each: bool,
    /// Counts of the congestion messages of each port, by the port's number over the whole network.
    pub(crate) ports: Vec<PortNotices>,
}

impl Notices {
    pub(crate) fn new(ports: usize, each: bool) -> Notices {
        Notices { records_each: each, ports: vec![PortNotices::default(); ports] }
    }

    pub(crate) fn record_notice(&mut self, scope: &Scope, row: NoticeRow, rows: &mut Vec<NoticeRow>) {
        if scope.covers(row.at.now) {
            let point = &mut self.ports[row.at.port as usize];
            let count = if row.feedback == 0 { &mut point.cnps } else { &mut point.cnms };
            *count += 1;
            point.feedback += u64::from(row.feedback);
            point.strongest = point.strongest.max(row.feedback);
        }
        rows.extend(self.records_each.then_some(row));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dataplane::NoticeSetup;
    use mech::{FlowId, HostId, PortId};
    use units::Time;

    const SCOPE: Scope = Scope { from: Time(100), to: Time(200), ..Scope::EMPTY };

    fn row(now: u64, notice: Notice) -> Option<NoticeRow> {
        let pkt = NoticeSetup { notice, flow: FlowId(9), to: HostId(1), node: 3, n: 0, size: 64 }.packet();
        NoticeRow::from_packet(EventLocation { now: Time(now), node: 3, port: 1 }, &pkt)
    }

    fn cnm(now: u64, feedback: u8) -> NoticeRow {
        row(now, Notice::Cnm { feedback, q_off: 640, q_delta: -64, point: PortId(0) }).expect("it is a CNM")
    }

    #[test]
    fn messages_count_in_the_window_and_are_listed_on_request() {
        for each in [true, false] {
            let (mut notices, mut rows) = (Notices::new(2, each), Vec::new());
            for (now, feedback) in [(99, 60), (100, 7), (199, 5), (200, 61)] {
                notices.record_notice(&SCOPE, cnm(now, feedback), &mut rows);
            }
            notices.record_notice(&SCOPE, row(150, Notice::Cnp).expect("it is a CNP"), &mut rows);
            assert_eq!(
                notices.ports,
                [PortNotices::default(), PortNotices { cnms: 2, cnps: 1, feedback: 12, strongest: 7 }]
            );
            let all: Vec<(u64, u8)> = rows.iter().map(|row| (row.at.now.0, row.feedback)).collect();
            assert_eq!(all, if each { vec![(99, 60), (100, 7), (199, 5), (200, 61), (150, 0)] } else { vec![] });
        }
        let told = cnm(150, 7);
        assert_eq!((told.flow, told.feedback, told.q_off, told.q_delta), (9, 7, 640, -64));
    }

    #[test]
    fn packet_that_is_no_notice_has_no_row() {
        assert_eq!(NoticeRow::from_packet(EventLocation { now: Time(150), node: 3, port: 1 }, &Pkt::default()), None);
    }
}
