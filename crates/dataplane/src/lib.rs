//! Packets, queues, ports, switches, hosts and transports, without a clock or a socket.
pub mod transport;
mod packet;
pub use packet::{Framing, Pkt, NO_EXT};
