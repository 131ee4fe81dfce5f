//! The pause slot: is the upstream port stopped?
//!
//! It follows the memory that its port's arrivals take and asks for [`crate::Act::Pause`] and
//! [`crate::Act::Resume`]. The catalogue has no answer but none yet.

use crate::{Interests, Watch};

/// A way to stop the device behind a port.
pub trait Pause: Watch + Send + Sync {
    /// What it wants from the dataplane.
    fn interests(&self) -> Interests {
        Interests { watch: true, pause: true, ..Interests::default() }
    }
    /// A copy, with its state.
    fn boxed(&self) -> Box<dyn Pause>;
}
