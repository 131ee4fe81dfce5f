//! Loading of a scenario file into a validated [`Scenario`]: descriptions of topology, routes and traffic.
//!
//! Nothing in this crate runs a simulation.

mod catalogue;
mod choices;
mod curves;
pub mod diag;
mod dscps;
pub mod events;
pub mod fault;
pub mod group_memory;
pub mod ideal;
pub mod limits;
pub mod load;
pub mod memory;
pub mod model;
mod path_links;
pub mod paths;
mod pausing;
mod quantities;
pub mod routes;
mod schema;
pub mod settings;
mod symmetry;
pub mod topology;
pub mod traffic;
mod watchdogs;

pub use catalogue::{aliases_json, catalogue_json, declarations};
pub use choices::{FctEnd, Goodput, NicJitter, SimultaneousArrivals, TieOrder};
pub use curves::{CurveRequest, curve_json};
pub use diag::Diagnostic;
pub use dscps::TrafficDscps;
pub use events::Event;
pub use fault::Fault;
pub use ideal::{IdealFlow, ideal_fct};
pub use load::{Loaded, MemoryNeeds, Source, load};
pub use model::{
    Choice, Cioq, FilledSlot, HostConfig, MeasureSettings, PortConfig, Scenario, Speedup, SwitchConfig, SwitchModel,
};
pub use path_links::PathLink;
pub use routes::Routes;
pub use schema::scenario_schema;
