use super::{Buffer, MemoryUse};
use units::Bytes;

/// Memory beyond the limit of a buffer. The backlog is compared before the frame itself is added (CP §4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtraMemory {
    /// Backlog of the port may exceed the limit by this number of bytes.
    Port(Bytes),
    /// Backlog of the frame's own class may be up to this number of bytes, whatever the other backlog is.
    Class(Bytes),
    /// Backlog of all classes except this one may be up to the limit.
    Separate(u8),
}

impl ExtraMemory {
    /// Returns the class whose backlog is counted separately, for a frame of `class`.
    pub const fn separate_class(self, class: u8) -> Option<u8> {
        match self {
            ExtraMemory::Port(_) => None,
            ExtraMemory::Class(_) => Some(class),
            ExtraMemory::Separate(other) => Some(other),
        }
    }
    /// Returns true if a frame of `size` bytes may be stored with `now` in use, of which the separate class has
    /// `separate` bytes.
    pub fn admits(self, buffer: &dyn Buffer, now: &MemoryUse, separate: u64, size: u16) -> bool {
        match self {
            ExtraMemory::Port(extra) => buffer.admits_beyond(now, size, (now.bytes, extra)),
            ExtraMemory::Class(extra) => separate <= extra.0 && buffer.has_memory(now, size),
            ExtraMemory::Separate(_) => buffer.admits_beyond(now, size, (now.bytes.saturating_sub(separate), Bytes(0))),
        }
    }
}
