//! Loading of a scenario file into a validated [`Scenario`]: descriptions of topology, routes and traffic.
//!
//! Nothing in this crate runs a simulation.

mod catalogue;
mod choices;
mod curves;
pub mod diag;
pub mod events;
pub mod fault;
pub mod ideal;
pub mod limits;
pub mod load;
pub mod memory;
pub mod model;
pub mod paths;
mod pausing;
mod quantities;
pub mod routes;
mod schema;
pub mod settings;
mod symmetry;
pub mod topology;
pub mod traffic;
mod ways;

pub use catalogue::{aliases_json, all as declarations, catalogue_json};
pub use choices::{FctEnd, Goodput, NicJitter, Simultaneous, Ties};
pub use curves::{CurveRequest, curve_json};
pub use diag::Diagnostic;
pub use events::Event;
pub use fault::Fault;
pub use ideal::{Alone, ideal_fct};
pub use load::{Loaded, Needs, Source, load};
pub use model::{Choice, Cioq, Filled, HostConfig, Measure, Model, PortConfig, Scenario, Speedup, SwitchConfig};
pub use routes::Routes;
pub use schema::schema;
pub use ways::Way;
