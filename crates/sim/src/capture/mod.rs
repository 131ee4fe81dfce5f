//! Captures: what crossed chosen links, kept until it is written as pcapng.

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

/// Not captured.
const NONE: u32 = u32::MAX;

/// A frame that crossed a captured link.
#[derive(Clone, Debug)]
struct Row {
    at: Time,
    pkt: Pkt,
    ext: Option<Ext>,
    /// The direction: 0 from the link's first end, 1 from its second.
    interface: u32,
    push: bool,
}

/// The tap behind captures.
#[derive(Clone, Debug)]
pub struct Capture {
    /// By port over the whole network: twice the number of the capture, and the direction.
    places: Vec<u32>,
    /// By capture, in the order of time.
    rows: Vec<VecDeque<Row>>,
}

impl Capture {
    /// A tap on these links of a network with so many ports.
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
    /// Takes out at most so many of the frames that one captured link has waiting, first to last.
    fn take_crossed(&mut self, capture: usize, at_most: usize) -> impl Iterator<Item = Row> + '_ {
        let rows = &mut self.tap.rows[capture];
        let count = rows.len().min(at_most);
        rows.drain(..count)
    }

    /// Of a segment of a flow of RoCE the payload of a full one.
    fn roce_of(&self, pkt: &Pkt) -> Option<u16> {
        let of_flow = || self.tcp.at(|| self.flows.info(pkt.head.flow).ends());
        let tcp = (pkt.head.kind() == PacketKind::Segment).then(of_flow)?;
        tcp.is_rate_based().then(|| tcp.mss())
    }
}
