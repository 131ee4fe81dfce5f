//! Simulated packets as frames on a wire, and frames as a capture (pcapng).
//!
//! Headers are real ones, with lengths and checksums as they have to be; payloads are zeros. What a
//! simulation does not have is made from numbers: see [`mac`], [`ipv4`] and [`ports`]. Frames have no
//! check sequence (FCS).

mod address;
mod comment;
mod frame;
mod options;
mod pcapng;

pub use address::{ipv4, mac, ports};
pub use comment::comment;
pub use frame::{Crossing, FCS, SHORTEST, deparse};
pub use pcap_file::PcapError;
pub use pcapng::{Interface, Writer};
