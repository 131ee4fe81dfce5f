//! Conversion of simulated packets to frames and back, and captures of frames (pcapng).
//!
//! Headers are real, with correct lengths and checksums; payloads are zeros. Fields that a simulation does not have are
//! computed from numbers: see [`mac_address`], [`ipv4_address`] and [`flow_ports`]. Frames have no check sequence
//! (FCS).
//!
//! A [`Segment`] has the header fields of a TCP frame. It is written to bytes and read from bytes, and includes the two
//! bits, the option and the lengths of CP (cutting payload). The functions [`cut_payload`], [`Trim::apply`] and the
//! setters change bytes as a switch does.
//!
//! A receiver computes [`Segment::lost_range`] from a cut packet. [`TcpOptions::report_loss`] reports it to the sender,
//! which reads the report with [`Segment::reported_loss`]. The method [`NetworkFormat::restore`] converts a frame back
//! to a simulated segment; data that is in no header is in a separate [`SideData`].

#![forbid(unsafe_code)]

mod address;
mod checksum;
mod comment;
mod flags;
mod frame;
mod layout;
mod options;
mod pcapng;
mod restore;
mod sack_blocks;
mod segment;
mod switch;

pub use address::{flow_ports, ipv4_address, mac_address};
pub use checksum::update_checksum;
pub use comment::describe_history;
pub use flags::{CpPacket, TcpFlags};
pub use frame::{FCS_BYTES, PacketOnLink, write_frame};
pub use layout::Malformed;
pub use options::{KIND_PACK_PERMITTED, TcpOptions};
pub use pcap_file::PcapError;
pub use pcapng::{CaptureWriter, CapturedFrame, Interface};
pub use restore::{NetworkFormat, RestoredSegment, SideData};
pub use sack_blocks::{LostRange, SackBlock, parse_sack_block};
pub use segment::{Checksums, IpHeader, LengthField, MIN_FRAME_BYTES, Segment, read_checksums};
pub use switch::{CutError, Trim, bound_window, cut_payload, is_pure_ack, set_ce, set_dscp, set_ece, set_flags};

#[cfg(test)]
mod conformance;
#[cfg(test)]
mod random_frames;
