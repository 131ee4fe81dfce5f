//! From a scenario file to a validated [`Scenario`]: descriptions of topology, routes and traffic.
//! Nothing here runs anything.

pub mod fault;
pub mod ideal;
pub mod model;
pub mod routes;
pub mod topology;
pub mod traffic;

pub use fault::Fault;
pub use ideal::ideal_fct;
pub use model::{Choice, FctEnd, HostConfig, Measure, PortConfig, Scenario, Simultaneous, SwitchConfig, Ties};
pub use routes::Routes;
