//! Small recording dataplane for tests of mechanisms, which also runs the tables of `conformance/`.
//! It calls every slot in the order of a switch.

#[cfg(test)]
mod conformance;
#[cfg(test)]
mod decision_inputs;
#[cfg(test)]
mod recorder;
#[cfg(test)]
mod script;
#[cfg(test)]
mod state;
mod values;

#[cfg(test)]
pub(crate) use decision_inputs::{DecisionInputs, buffer_of_packets, chi_square, parse_head, switch_without_packets};
#[cfg(test)]
pub(crate) use script::{parse_host, parse_packet};
#[cfg(test)]
pub(crate) use state::SwitchState;
pub use values::{toml_values, values};
