//! Captured frames as the bytes of pcapng files.

use super::{Capture, Link, Row};
use crate::world::World;
use dataplane::Observer;
use mech::routing::AddressPlan;
use wire::{Crossing, PcapError, Writer};

/// Files of a run's captures, one per link, as they are written.
pub struct Dump {
    writers: Vec<Writer>,
    plan: Option<AddressPlan>,
}

impl Dump {
    /// Returns a file for each link, with at most `snaplen` bytes of a frame. `about` is a comment of each. Hosts
    /// have the addresses of `plan`, if there is one.
    ///
    /// # Errors
    /// Never returns an error, since the files are written to memory.
    pub fn new(
        about: &str,
        links: &[Link],
        snaplen: Option<u32>,
        plan: Option<AddressPlan>,
    ) -> Result<Dump, PcapError> {
        let writer = |link: &Link| Writer::new(about, link.interfaces.to_vec(), snaplen);
        Ok(Dump { writers: links.iter().map(writer).collect::<Result<_, _>>()?, plan })
    }

    /// Returns the next bytes of one file, with at most `at_most` frames; none if no frame is left and the file's
    /// header has been taken.
    ///
    /// # Errors
    /// Never returns an error, since it writes to memory, for interfaces that exist.
    ///
    /// # Panics
    /// Panics if there is no such link.
    pub fn next<O: Observer>(
        &mut self,
        world: &mut World<O, Capture>,
        link: usize,
        at_most: usize,
    ) -> Result<Vec<u8>, PcapError> {
        let (writer, plan) = (&mut self.writers[link], self.plan);
        let rows: Vec<Row> = world.take_crossed(link, at_most).collect();
        for row in rows {
            let roce = world.roce_of(&row.pkt);
            let crossing = Crossing { pkt: &row.pkt, ext: row.ext.as_ref(), push: row.push, plan, roce };
            writer.packet(row.interface, row.at.0, &crossing)?;
        }
        Ok(writer.take())
    }
}
