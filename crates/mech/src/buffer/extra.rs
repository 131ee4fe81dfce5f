use super::{Buffer, Use};
use units::Bytes;

/// Memory beyond the limit of a buffer. The backlog is compared before the frame itself is added (CP §4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtraRoom {
    /// Backlog of the port may exceed the limit by this number of bytes.
    Port(Bytes),
    /// Backlog of the frame's own class may be up to this number of bytes, whatever the other backlog is.
    Class(Bytes),
    /// Backlog of all classes except this one may be up to the limit.
    Beside(u8),
}

impl ExtraRoom {
    /// Returns the class whose backlog is counted separately, for a frame of `class`.
    pub const fn apart(self, class: u8) -> Option<u8> {
        match self {
            ExtraRoom::Port(_) => None,
            ExtraRoom::Class(_) => Some(class),
            ExtraRoom::Beside(other) => Some(other),
        }
    }
    /// Returns true if a frame of `size` bytes may be stored with `now` in use, of which the separate class has `apart`
    /// bytes.
    pub fn admits(self, buffer: &dyn Buffer, now: &Use, apart: u64, size: u16) -> bool {
        match self {
            ExtraRoom::Port(extra) => buffer.admits_beyond(now, size, (now.bytes, extra)),
            ExtraRoom::Class(extra) => apart <= extra.0 && buffer.has_memory(now, size),
            ExtraRoom::Beside(_) => buffer.admits_beyond(now, size, (now.bytes.saturating_sub(apart), Bytes(0))),
        }
    }
}
