use super::{Buffer, MemoryUse};
use units::Bytes;

/// Memory that a frame may use beyond the limit of a buffer. The backlog is compared without the frame (CP §4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtraMemory {
    /// Number of bytes by which the backlog of the port may exceed the limit.
    Port(Bytes),
    /// Largest backlog of the frame's own class in bytes, whatever the backlog of other classes is.
    Class(Bytes),
    /// Class whose backlog does not count; the backlog of all other classes may be up to the limit.
    Separate(u8),
}

impl ExtraMemory {
    /// Returns the class whose backlog is counted separately for a frame of `class`, if any.
    pub const fn separate_class(self, class: u8) -> Option<u8> {
        match self {
            ExtraMemory::Port(_) => None,
            ExtraMemory::Class(_) => Some(class),
            ExtraMemory::Separate(other) => Some(other),
        }
    }
    /// Returns true if a frame of `size` bytes may be stored. `now` includes `separate` bytes of the separate class.
    pub fn admits(self, buffer: &dyn Buffer, now: &MemoryUse, separate: u64, size: u16) -> bool {
        match self {
            ExtraMemory::Port(extra) => buffer.admits_with_extra_memory(now, size, (now.bytes, extra)),
            ExtraMemory::Class(extra) => separate <= extra.0 && buffer.has_memory(now, size),
            ExtraMemory::Separate(_) => {
                buffer.admits_with_extra_memory(now, size, (now.bytes.saturating_sub(separate), Bytes(0)))
            }
        }
    }
}
