//! Captures in the format of Wireshark: pcapng, with nanoseconds.

use crate::comment::comment;
use crate::frame::{Crossing, deparse};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::{DataLink, Endianness, PcapError};
use std::borrow::Cow;
use std::time::Duration;

/// Ticks of 10⁻⁹ s.
const NANOSECONDS: u8 = 9;

/// One direction of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Its name, such as `h0>edge0`.
    pub name: String,
    /// Its rate in bits per second, where that is a whole number.
    pub speed_bps: Option<u64>,
}

/// A capture under way: bytes that wait until somebody takes them.
pub struct Writer {
    inner: PcapNgWriter<Vec<u8>>,
    snaplen: usize,
    frame: Vec<u8>,
}

impl Writer {
    /// A capture of these interfaces that keeps at most `snaplen` bytes of a frame, or all of it. The
    /// bytes are the same on every machine: little-endian.
    ///
    /// # Errors
    /// Never, since it writes to memory.
    pub fn new(about: &str, interfaces: Vec<Interface>, snaplen: Option<u32>) -> Result<Writer, PcapError> {
        let program = format!("overspill {}", env!("CARGO_PKG_VERSION"));
        let options = vec![
            SectionHeaderOption::Comment(Cow::Owned(about.to_string())),
            SectionHeaderOption::UserApplication(Cow::Owned(program)),
        ];
        let section = SectionHeaderBlock { endianness: Endianness::Little, options, ..SectionHeaderBlock::default() };
        let mut inner = PcapNgWriter::with_section_header(Vec::new(), section)?;
        for Interface { name, speed_bps } in interfaces {
            let mut options = vec![InterfaceDescriptionOption::IfName(Cow::Owned(name))];
            options.extend(speed_bps.map(InterfaceDescriptionOption::IfSpeed));
            options.push(InterfaceDescriptionOption::IfTsResol(NANOSECONDS));
            options.push(InterfaceDescriptionOption::IfFcsLen(0));
            let linktype = DataLink::ETHERNET;
            inner.write_pcapng_block(InterfaceDescriptionBlock { linktype, snaplen: snaplen.unwrap_or(0), options })?;
        }
        let snaplen = snaplen.map_or(usize::MAX, |most| most as usize);
        Ok(Writer { inner, snaplen, frame: Vec::new() })
    }

    /// Writes a packet that crosses an interface at a time in picoseconds, which is cut to
    /// nanoseconds.
    ///
    /// # Errors
    /// Where there is no such interface.
    pub fn packet(&mut self, interface: u32, at_ps: u64, crossing: &Crossing) -> Result<(), PcapError> {
        self.frame.clear();
        deparse(crossing, &mut self.frame);
        let kept = self.frame.len().min(self.snaplen);
        let options = comment(crossing.pkt).map(|text| EnhancedPacketOption::Comment(Cow::Owned(text)));
        self.inner.write_pcapng_block(EnhancedPacketBlock {
            interface_id: interface,
            timestamp: Duration::from_nanos(at_ps / 1000),
            original_len: self.frame.len() as u32,
            data: Cow::Borrowed(&self.frame[..kept]),
            options: options.into_iter().collect(),
        })?;
        Ok(())
    }

    /// The bytes since the last call; those of the first begin with the file's header.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(self.inner.get_mut())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dataplane::Pkt;
    use mech::Flags;
    use pcap_file::pcapng::{Block, PcapNgReader};

    fn data() -> Pkt {
        let mut pkt = Pkt { payload: 1460, ..Pkt::default() };
        pkt.head.flags = Flags::ACK.with(Flags::PAYLOAD);
        (pkt.head.size, pkt.head.orig_size) = (1518, 1518);
        pkt
    }

    fn capture(snaplen: Option<u32>) -> Vec<u8> {
        let faces = ["a>b", "b>a"].map(|name| Interface { name: name.into(), speed_bps: Some(1_000_000_000) });
        let mut writer = Writer::new("a test", faces.to_vec(), snaplen).unwrap();
        let (plain, mut bounced) = (data(), data());
        bounced.head.bounces = 1;
        let mut bytes = Vec::new();
        for (face, at, pkt) in [(0, 12_304_999, plain), (1, 5_000_000_000_000_001_000, bounced)] {
            writer.packet(face, at, &Crossing { pkt: &pkt, ext: None, push: false, plan: None }).unwrap();
            bytes.extend(writer.take());
        }
        bytes
    }

    #[test]
    fn a_capture_is_read_back_as_it_was_written() {
        let bytes = capture(None);
        let mut reader = PcapNgReader::new(&bytes[..]).unwrap();
        assert!(reader.section().options.contains(&SectionHeaderOption::Comment("a test".into())));
        let mut packets = Vec::new();
        while let Some(block) = reader.next_block() {
            if let Block::EnhancedPacket(packet) = block.unwrap().into_owned() {
                packets.push(packet);
            }
        }
        let names = reader.interfaces().iter().map(|face| face.options[0].clone());
        let name = |name: &'static str| InterfaceDescriptionOption::IfName(name.into());
        assert_eq!(names.collect::<Vec<_>>(), [name("a>b"), name("b>a")]);
        assert!(reader.interfaces()[0].options.contains(&InterfaceDescriptionOption::IfSpeed(1_000_000_000)));
        assert!(reader.interfaces()[0].options.contains(&InterfaceDescriptionOption::IfTsResol(9)));
        assert!(reader.interfaces()[0].options.contains(&InterfaceDescriptionOption::IfFcsLen(0)));
        let told = packets.iter().map(|p| (p.interface_id, p.timestamp.as_nanos(), p.original_len, p.data.len()));
        assert_eq!(told.collect::<Vec<_>>(), [(0, 12_304, 1514, 1514), (1, 5_000_000_000_000_001, 1514, 1514)]);
        let said: Vec<_> = packets.iter().map(|p| p.options.clone()).collect();
        assert_eq!(said, [vec![], vec![EnhancedPacketOption::Comment("bounced 1 time".into())]]);
    }

    #[test]
    fn a_cut_capture_tells_how_long_frames_were() {
        let bytes = capture(Some(54));
        let mut reader = PcapNgReader::new(&bytes[..]).unwrap();
        let mut lengths = Vec::new();
        while let Some(block) = reader.next_block() {
            if let Block::EnhancedPacket(packet) = block.unwrap() {
                lengths.push((packet.data.len(), packet.original_len));
            }
        }
        assert_eq!(lengths, [(54, 1514), (54, 1514)]);
        assert_eq!(reader.interfaces()[0].snaplen, 54);
    }

    #[test]
    fn a_packet_of_an_interface_that_is_not_there_is_refused() {
        let mut writer = Writer::new("", Vec::new(), None).unwrap();
        assert!(writer.packet(0, 0, &Crossing { pkt: &data(), ext: None, push: false, plan: None }).is_err());
    }
}
