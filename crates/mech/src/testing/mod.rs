//! A small recording dataplane that drives every slot in the order of a switch, and the tables of
//! `conformance/` that it runs. The answers that the catalogue does not hold yet live here, in
//! [`mechanisms`], so that the slots are proven against all five papers; tests of other crates put them into real
//! switches.

#[cfg(test)]
mod conformance;
#[cfg(test)]
mod desk;
pub mod mechanisms;
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
