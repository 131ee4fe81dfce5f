//! Captures: frames that crossed chosen links, kept until they are written as pcapng.

mod dump;
mod links;

pub use dump::Dump;
pub use links::{Link, links};

use crate::tap::{Crossed, Tap};
use crate::world::World;
use dataplane::Observer;
use dataplane::{Ext, Pkt};
use mech::PacketKind;
use std::collections::VecDeque;
use units::Time;

/// Value of `Capture::places` for a port without a capture.
const NONE: u32 = u32::MAX;

/// Frame that crossed a captured link.
#[derive(Clone, Debug)]
struct Row {
    at: Time,
    pkt: Pkt,
    ext: Option<Ext>,
    /// Direction: 0 from the link's first end, 1 from its second.
    interface: u32,
    push: bool,
}

/// Tap that captures frames.
#[derive(Clone, Debug)]
pub struct Capture {
    /// Number of each port's capture times two, plus the direction; by port over the whole network.
    places: Vec<u32>,
    /// Frames of each capture, in the order of time.
    rows: Vec<VecDeque<Row>>,
}

impl Capture {
    /// Returns a tap on these links of a network with this number of ports.
    pub fn new(links: &[Link], ports: usize) -> Capture {
        let mut places = vec![NONE; ports];
        for (link, place) in links.iter().zip((0..).step_by(2)) {
            let [from, back] = link.ports;
            (places[from as usize], places[back as usize]) = (place, place + 1);
        }
        Capture { places, rows: vec![VecDeque::new(); links.len()] }
    }
}

impl Tap for Capture {
    fn crossed(&mut self, crossed: &Crossed<'_>) {
        let place = self.places[crossed.link as usize];
        if place == NONE {
            return;
        }
        let pkt = crossed.pkt;
        let end = pkt.seq.wrapping_add(u32::from(pkt.payload));
        let push = pkt.payload > 0 && end == crossed.flow_bytes as u32;
        let row = Row { at: crossed.at, pkt: *pkt, ext: crossed.ext.copied(), interface: place & 1, push };
        self.rows[place as usize / 2].push_back(row);
    }
}

impl<O: Observer> World<O, Capture> {
    /// Removes and returns at most `at_most` frames of one captured link, first to last.
    fn take_crossed(&mut self, capture: usize, at_most: usize) -> impl Iterator<Item = Row> + '_ {
        let rows = &mut self.tap.rows[capture];
        let count = rows.len().min(at_most);
        rows.drain(..count)
    }

    /// Returns the payload of a full segment, if the packet is a segment of a RoCE flow.
    fn roce_of(&self, pkt: &Pkt) -> Option<u16> {
        let of_flow = || self.tcp.at(|| self.flows.info(pkt.head.flow).ends());
        let tcp = (pkt.head.kind() == PacketKind::Segment).then(of_flow)?;
        tcp.is_rate_based().then(|| tcp.mss())
    }
}
