//! Captures: frames that crossed chosen links, kept until they are written as pcapng.

mod files;
mod links;

pub use files::CaptureFiles;
pub use links::{CapturedLink, parse_links};

use crate::tap::{CrossedFrame, Tap};
use crate::world::World;
use dataplane::Observer;
use dataplane::{PacketExtension, Pkt};
use mech::PacketKind;
use std::collections::VecDeque;
use units::Time;

/// Value of `Capture::capture_of_port` for a port without a capture.
const NO_CAPTURE: u32 = u32::MAX;

/// Frame that crossed a captured link.
#[derive(Clone, Debug)]
struct CapturedFrame {
    at: Time,
    pkt: Pkt,
    ext: Option<PacketExtension>,
    /// Direction in which the frame crossed: 0 from the link's first end, 1 from its second.
    interface: u32,
    push: bool,
}

/// Tap that captures frames.
#[derive(Clone, Debug)]
pub struct Capture {
    /// Number of each port's capture times two, plus the direction; indexed by port over the whole network.
    capture_of_port: Vec<u32>,
    /// Frames of each captured link, in the order of time.
    frames: Vec<VecDeque<CapturedFrame>>,
}

impl Capture {
    /// Returns a tap that captures these links, in a network with this number of ports.
    pub fn new(links: &[CapturedLink], ports: usize) -> Capture {
        let mut places = vec![NO_CAPTURE; ports];
        for (link, place) in links.iter().zip((0..).step_by(2)) {
            let [from, back] = link.ports;
            (places[from as usize], places[back as usize]) = (place, place + 1);
        }
        Capture { capture_of_port: places, frames: vec![VecDeque::new(); links.len()] }
    }
}

impl Tap for Capture {
    fn on_frame_crossed(&mut self, crossed: &CrossedFrame<'_>) {
        let place = self.capture_of_port[crossed.link as usize];
        if place == NO_CAPTURE {
            return;
        }
        let pkt = crossed.pkt;
        let end = pkt.seq.wrapping_add(u32::from(pkt.payload));
        let push = pkt.payload > 0 && end == crossed.flow_bytes as u32;
        let row = CapturedFrame { at: crossed.at, pkt: *pkt, ext: crossed.ext.copied(), interface: place & 1, push };
        self.frames[place as usize / 2].push_back(row);
    }
}

impl<O: Observer> World<O, Capture> {
    /// Removes and returns at most `at_most` frames of one captured link, first to last.
    fn take_crossed(&mut self, capture: usize, at_most: usize) -> impl Iterator<Item = CapturedFrame> + '_ {
        let rows = &mut self.tap.frames[capture];
        let count = rows.len().min(at_most);
        rows.drain(..count)
    }

    /// Returns the payload of a full segment in bytes, if the packet is a segment of a RoCE flow.
    fn roce_payload(&self, pkt: &Pkt) -> Option<u16> {
        let of_flow = || self.tcp.config_at(|| self.flows.info(pkt.head.flow).sender_ends());
        let tcp = (pkt.head.kind() == PacketKind::Segment).then(of_flow)?;
        tcp.is_rate_based().then(|| tcp.mss())
    }
}
