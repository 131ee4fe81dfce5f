//! Captured frames as the bytes of pcapng files.

use super::{Capture, CapturedFrame, CapturedLink};
use crate::world::World;
use dataplane::Observer;
use mech::DscpTable;
use mech::routing::AddressPlan;
use wire::{CaptureWriter, PacketOnLink, PcapError};

/// Files of a run's captures, one per link, as they are written.
pub struct CaptureFiles {
    writers: Vec<CaptureWriter>,
    plan: Option<AddressPlan>,
    dscps: DscpTable,
}

impl CaptureFiles {
    /// Creates a pcapng file for each link, with at most `snaplen` bytes of a frame. `about` is a comment of each file.
    /// Hosts have the addresses of `plan`, if there is one, and packets have their DSCPs from `dscps`.
    ///
    /// # Errors
    /// Never returns an error, since the files are written to memory.
    pub fn new(
        about: &str,
        links: &[CapturedLink],
        snaplen: Option<u32>,
        plan: Option<AddressPlan>,
        dscps: DscpTable,
    ) -> Result<CaptureFiles, PcapError> {
        let writer = |link: &CapturedLink| CaptureWriter::new(about, link.interfaces.to_vec(), snaplen);
        Ok(CaptureFiles { writers: links.iter().map(writer).collect::<Result<_, _>>()?, plan, dscps })
    }

    /// Returns the next bytes of one pcapng file, with at most `at_most` frames; none if no frame is left and the
    /// file's header has been taken.
    ///
    /// # Errors
    /// Never returns an error, since it writes to memory, for interfaces that exist.
    ///
    /// # Panics
    /// Panics if there is no such link.
    pub fn next_bytes<O: Observer>(
        &mut self,
        world: &mut World<O, Capture>,
        link: usize,
        at_most: usize,
    ) -> Result<Vec<u8>, PcapError> {
        let (writer, plan, dscps) = (&mut self.writers[link], self.plan, &self.dscps);
        let rows: Vec<CapturedFrame> = world.take_crossed(link, at_most).collect();
        for row in rows {
            let roce = world.roce_payload(&row.pkt);
            let crossing = PacketOnLink { pkt: &row.pkt, ext: row.ext.as_ref(), push: row.push, plan, roce, dscps };
            writer.write_packet(row.interface, row.at.0, &crossing)?;
        }
        Ok(writer.take_bytes())
    }
}
