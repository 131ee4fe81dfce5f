//! From a scenario file to a validated [`Scenario`]: descriptions of topology, routes and traffic.
//! Nothing here runs anything.

pub mod model;
pub mod topology;
pub mod traffic;

pub use model::{Choice, FctEnd, HostConfig, Measure, PortConfig, Scenario, Simultaneous, SwitchConfig, Ties};
