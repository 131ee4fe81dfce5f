//! The notify slot: who is told, by a message upstream?
//!
//! A congestion point follows its queue and asks for [`crate::Act::Emit`]. The catalogue has no
//! answer but none yet.

use crate::{Interests, Watch};

/// A congestion point.
pub trait Notify: Watch + Send + Sync {
    /// What it wants from the dataplane.
    fn interests(&self) -> Interests {
        Interests { watch: true, ..Interests::default() }
    }
    /// A copy, with its state.
    fn boxed(&self) -> Box<dyn Notify>;
}
