//! Host halves of mechanisms: what a host must do so that the switch's half works. A mechanism's
//! host half stands under the same stem as its switch half.

mod bounce;

pub use bounce::{ALL, BounceSignal, Reinject, Returned, WindowCut};
