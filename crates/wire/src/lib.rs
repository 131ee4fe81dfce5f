//! Simulated packets as frames on a wire, and frames as a capture (pcapng).
//!
//! Headers are real ones, with lengths and checksums as they have to be; payloads are zeros. What a
//! simulation does not have is made from numbers: see [`mac`], [`ipv4`] and [`ports`]. Frames have no
//! check sequence (FCS).
//!
//! A [`Segment`] is what the headers of a TCP frame say. It is written as bytes and read from bytes, with the two
//! bits, the option and the lengths of CP (cutting payload). [`cut`], [`Trim`] and the setters do to bytes what
//! a switch does; [`Segment::lost`] is what a receiver of a cut packet works out, [`Options::report`] how it
//! tells the sender, [`Segment::reported`] how that reads it. [`Network::restore`] makes a simulated segment of a
//! frame again; what no header tells is in a [`Side`] beside it.

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
