//! Small recording dataplane for tests, which drives every slot in the order of a switch, and runs the tables of
//! `conformance/`.

#[cfg(test)]
mod conformance;
#[cfg(test)]
mod desk;
#[cfg(test)]
mod recorder;
#[cfg(test)]
mod script;
#[cfg(test)]
mod state;
mod values;

#[cfg(test)]
pub(crate) use desk::{Desk, chi_square, head, packets, switch};
#[cfg(test)]
pub(crate) use script::{host, packet};
#[cfg(test)]
pub(crate) use state::State;
pub use values::values;
