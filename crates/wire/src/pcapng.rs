//! Captures in pcapng, the format of Wireshark, with timestamps in nanoseconds.

use crate::comment::describe_history;
use crate::frame::{PacketOnLink, write_frame};
use crate::segment::{LengthField, captured_extent};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::{DataLink, Endianness, PcapError};
use std::borrow::Cow;
use std::time::Duration;

/// Decimal exponent of the unit of timestamps: 10⁻⁹ s.
const NANOSECOND_EXPONENT: u8 = 9;

/// Interface of a capture: one direction of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Name of the interface, such as `h0>edge0`.
    pub name: String,
    /// Rate of the link in bits per second, if it is a whole number.
    pub speed_bps: Option<u64>,
}

/// Frame to write into a capture.
#[derive(Clone, Copy, Debug)]
pub struct CapturedFrame<'a> {
    /// Number of the interface that the frame crosses, from 0.
    pub interface: u32,
    /// Time at which the frame crosses the interface, in picoseconds.
    pub at_ps: u64,
    /// Bytes of the frame, without check sequence.
    pub frame: &'a [u8],
    /// Field in which cut packets carry their original length.
    pub length: LengthField,
    /// Comment with facts about the frame that are in no header.
    pub comment: Option<&'a str>,
}

/// Writer of a capture, which keeps the written bytes until they are taken.
pub struct CaptureWriter {
    inner: PcapNgWriter<Vec<u8>>,
    snaplen: usize,
    frame: Vec<u8>,
}

impl CaptureWriter {
    /// Starts a capture of these interfaces that keeps at most `snaplen` bytes of a frame, or whole frames if `snaplen`
    /// is `None`. Bytes are little-endian on every machine.
    ///
    /// # Errors
    /// Never fails, since it writes to memory.
    pub fn new(about: &str, interfaces: Vec<Interface>, snaplen: Option<u32>) -> Result<CaptureWriter, PcapError> {
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
            options.push(InterfaceDescriptionOption::IfTsResol(NANOSECOND_EXPONENT));
            options.push(InterfaceDescriptionOption::IfFcsLen(0));
            let linktype = DataLink::ETHERNET;
            inner.write_pcapng_block(InterfaceDescriptionBlock { linktype, snaplen: snaplen.unwrap_or(0), options })?;
        }
        let snaplen = snaplen.map_or(usize::MAX, |most| most as usize);
        Ok(CaptureWriter { inner, snaplen, frame: Vec::new() })
    }

    /// Writes a packet that crosses an interface at a time in picoseconds, which is truncated to nanoseconds. A cut
    /// packet is written with its headers and its original length.
    ///
    /// # Errors
    /// Returns an error if there is no such interface.
    pub fn write_packet(&mut self, interface: u32, at_ps: u64, crossing: &PacketOnLink) -> Result<(), PcapError> {
        let mut frame = std::mem::take(&mut self.frame);
        frame.clear();
        write_frame(crossing, &mut frame);
        let comment = describe_history(crossing.pkt);
        let seen =
            CapturedFrame { interface, at_ps, frame: &frame, length: LengthField::Ip, comment: comment.as_deref() };
        let written = self.write_frame(&seen);
        self.frame = frame;
        written
    }

    /// Writes a frame into the capture.
    /// A cut packet whose length is in IPv4's header has its headers, and the original length of its frame without
    /// padding.
    ///
    /// # Errors
    /// Returns an error if there is no such interface.
    pub fn write_frame(&mut self, seen: &CapturedFrame) -> Result<(), PcapError> {
        let (there, original_len) = captured_extent(seen.frame, seen.length);
        let kept = there.min(self.snaplen);
        self.inner.write_pcapng_block(EnhancedPacketBlock {
            interface_id: seen.interface,
            timestamp: Duration::from_nanos(seen.at_ps / 1000),
            original_len,
            data: Cow::Borrowed(&seen.frame[..kept]),
            options: seen.comment.map(|text| EnhancedPacketOption::Comment(Cow::Borrowed(text))).into_iter().collect(),
        })?;
        Ok(())
    }

    /// Returns the bytes of the capture since the last call; the first ones begin with the file's header.
    pub fn take_bytes(&mut self) -> Vec<u8> {
        std::mem::take(self.inner.get_mut())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dataplane::{PacketExtension, Pkt, Timestamps};
    use mech::{DscpTable, Flags};
    use pcap_file::pcapng::{Block, PcapNgReader};

    fn data() -> Pkt {
        let mut pkt = Pkt { payload: 1460, ..Pkt::default() };
        pkt.head.flags = Flags::ACK.with(Flags::PAYLOAD);
        (pkt.head.size, pkt.head.orig_size) = (1518, 1518);
        pkt
    }

    fn capture(snaplen: Option<u32>) -> Vec<u8> {
        let faces = ["a>b", "b>a"].map(|name| Interface { name: name.into(), speed_bps: Some(1_000_000_000) });
        let mut writer = CaptureWriter::new("a test", faces.to_vec(), snaplen).unwrap();
        let (plain, mut bounced) = (data(), data());
        bounced.head.bounces = 1;
        let mut bytes = Vec::new();
        for (face, at, pkt) in [(0, 12_304_999, plain), (1, 5_000_000_000_000_001_000, bounced)] {
            writer
                .write_packet(
                    face,
                    at,
                    &PacketOnLink {
                        pkt: &pkt,
                        ext: None,
                        push: false,
                        plan: None,
                        roce: None,
                        dscps: &DscpTable::CLASS_SELECTORS,
                    },
                )
                .unwrap();
            bytes.extend(writer.take_bytes());
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
    fn capture_with_snaplen_has_original_lengths() {
        let bytes = capture(Some(54));
        let lengths: Vec<_> = read_capture(&bytes).iter().map(|(kept, original, _)| (*kept, *original)).collect();
        assert_eq!(lengths, [(54, 1514), (54, 1514)]);
        let mut reader = PcapNgReader::new(&bytes[..]).unwrap();
        while reader.next_block().is_some() {}
        assert_eq!(reader.interfaces()[0].snaplen, 54);
    }

    /// Returns captured length, original length and bytes of each frame in a capture.
    fn read_capture(bytes: &[u8]) -> Vec<(usize, u32, Vec<u8>)> {
        let mut reader = PcapNgReader::new(bytes).unwrap();
        let mut all = Vec::new();
        while let Some(block) = reader.next_block() {
            if let Block::EnhancedPacket(packet) = block.unwrap() {
                all.push((packet.data.len(), packet.original_len, packet.data.to_vec()));
            }
        }
        all
    }

    #[test]
    fn cut_packet_is_captured_with_its_original_length() {
        let face = Interface { name: "a>b".into(), speed_bps: None };
        let mut writer = CaptureWriter::new("", vec![face], None).unwrap();
        let mut pkt = data();
        pkt.head.flags = pkt.head.flags.with(Flags::CPA);
        let stamped = PacketExtension { timestamps: Some(Timestamps { val: 1, ecr: 2 }), ..PacketExtension::default() };
        for (ext, payload, size) in [(Some(&stamped), 1448, 70), (None, 1460, 64)] {
            pkt.payload = payload;
            writer
                .write_packet(
                    0,
                    0,
                    &PacketOnLink {
                        pkt: &pkt,
                        ext,
                        push: false,
                        plan: None,
                        roce: None,
                        dscps: &DscpTable::CLASS_SELECTORS,
                    },
                )
                .unwrap();
            let mut cut = pkt;
            (cut.payload, cut.head.size) = (0, size);
            cut.head.flags = cut.head.flags.with(Flags::PPL).without(Flags::PAYLOAD);
            writer
                .write_packet(
                    0,
                    0,
                    &PacketOnLink {
                        pkt: &cut,
                        ext,
                        push: false,
                        plan: None,
                        roce: None,
                        dscps: &DscpTable::CLASS_SELECTORS,
                    },
                )
                .unwrap();
        }
        let seen = read_capture(&writer.take_bytes());
        let lengths: Vec<_> = seen.iter().map(|(kept, original, _)| (*kept, *original)).collect();
        assert_eq!(lengths, [(1514, 1514), (66, 1514), (1514, 1514), (54, 1514)], "padding is left out");
        for pair in seen.chunks(2) {
            let (_, _, mut bytes) = pair[0].clone();
            let stays = crate::cut_payload(&mut bytes, LengthField::Ip).unwrap();
            assert_eq!(bytes[..stays.min(pair[1].0)], pair[1].2, "the bytes that a switch leaves");
            let read = etherparse::LaxSlicedPacket::from_ethernet(&pair[1].2).unwrap();
            let Some(etherparse::LaxNetSlice::Ipv4(ip)) = read.net else { panic!("not IPv4") };
            assert_eq!(ip.header().total_len(), 1500);
            assert!(matches!(read.transport, Some(etherparse::TransportSlice::Tcp(_))));
        }
    }

    #[test]
    fn packet_with_length_in_payload_is_captured_whole() {
        let face = Interface { name: "a>b".into(), speed_bps: None };
        let mut writer = CaptureWriter::new("", vec![face], Some(60)).unwrap();
        let mut segment = crate::Segment { payload: 1460, ..crate::Segment::default() };
        segment.flags = segment.flags.with_cp_packet(crate::CpPacket::Cut);
        let frame = segment.to_frame(LengthField::Payload).unwrap();
        let told =
            CapturedFrame { interface: 0, at_ps: 0, frame: &frame, length: LengthField::Payload, comment: Some("cut") };
        writer.write_frame(&told).unwrap();
        writer.write_frame(&CapturedFrame { frame: &[1, 2, 3], comment: None, ..told }).unwrap();
        let lengths: Vec<_> =
            read_capture(&writer.take_bytes()).iter().map(|(kept, original, _)| (*kept, *original)).collect();
        assert_eq!(lengths, [(60, 60), (3, 3)]);
    }

    #[test]
    fn packet_of_an_unknown_interface_is_refused() {
        let mut writer = CaptureWriter::new("", Vec::new(), None).unwrap();
        assert!(
            writer
                .write_packet(
                    0,
                    0,
                    &PacketOnLink {
                        pkt: &data(),
                        ext: None,
                        push: false,
                        plan: None,
                        roce: None,
                        dscps: &DscpTable::CLASS_SELECTORS
                    }
                )
                .is_err()
        );
    }
}
