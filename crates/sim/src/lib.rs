//! The engine: what happens next, and the world it happens in.

pub mod queue;
