//! Simulated packets as frames, and frames as a capture (pcapng).
//!
//! Headers are real, with correct lengths and checksums; payloads are zeros. Fields that a simulation does not have are
//! computed from numbers: see [`mac`], [`ipv4`] and [`ports`]. Frames have no check sequence (FCS).
//!
//! A [`Segment`] has the header fields of a TCP frame. It is written to bytes and read from bytes, and includes the two
//! bits, the option and the lengths of CP (cutting payload). The functions [`cut`], [`Trim::apply`] and the setters
//! change bytes as a switch does.
//!
//! A receiver computes [`Segment::lost`] from a cut packet. [`Options::report`] reports it to the sender, which reads
//! the report with [`Segment::reported`]. The method [`Network::restore`] converts a frame back to a simulated segment;
//! data that is in no header is in a separate [`Side`].

#![forbid(unsafe_code)]

mod address;
mod checksum;
mod comment;
mod flags;
mod frame;
mod layout;
mod loss;
mod options;
mod pcapng;
mod restore;
mod segment;
mod switch;

pub use address::{ipv4, mac, ports};
pub use checksum::update;
pub use comment::comment;
pub use flags::{CpPacket, TcpFlags};
pub use frame::{Crossing, FCS, deparse};
pub use layout::Malformed;
pub use loss::{Lost, Told, parse};
pub use options::{Options, PACK_PERMITTED};
pub use pcap_file::PcapError;
pub use pcapng::{Interface, Seen, Writer};
pub use restore::{Network, Restored, Side};
pub use segment::{Checksums, Ip, LengthIn, SHORTEST, Segment, checksums};
pub use switch::{Trim, Uncut, bound_window, cut, is_pure_ack, set_ce, set_dscp, set_ece, set_flags};

#[cfg(test)]
mod conformance;
#[cfg(test)]
mod drawn;
