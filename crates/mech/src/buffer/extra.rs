use super::{Buffer, Use};
use units::Bytes;

/// Room beyond the limit of a buffer: what waits is compared before the frame itself is added (CP §4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtraRoom {
    /// What waits at the port may be so much more than the limit.
    Port(Bytes),
    /// What waits in the frame's own class may be so much, whatever else waits.
    Class(Bytes),
    /// What waits beside this class may be as much as the limit.
    Beside(u8),
}

impl ExtraRoom {
    /// The class whose bytes are told apart, for a frame of a class.
    pub const fn apart(self, class: u8) -> Option<u8> {
        match self {
            ExtraRoom::Port(_) => None,
            ExtraRoom::Class(_) => Some(class),
            ExtraRoom::Beside(other) => Some(other),
        }
    }
    /// Whether a frame of `size` bytes may be stored since `now`, of which `apart` bytes are of that class.
    pub fn admits(self, buffer: &dyn Buffer, now: &Use, apart: u64, size: u16) -> bool {
        match self {
            ExtraRoom::Port(extra) => buffer.admits_beyond(now, size, (now.bytes, extra)),
            ExtraRoom::Class(extra) => apart <= extra.0 && buffer.has_memory(now, size),
            ExtraRoom::Beside(_) => buffer.admits_beyond(now, size, (now.bytes.saturating_sub(apart), Bytes(0))),
        }
    }
}
