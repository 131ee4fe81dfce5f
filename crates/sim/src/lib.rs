//! The engine: event queue, world, links, probes, results.

mod build;
mod driver;
mod later;
mod link;
mod probe;
mod progress;
pub mod queue;
mod recorder;
mod results;
mod world;

pub use build::{BuildError, Options, build};
pub use probe::{Probe, Spot};
pub use progress::{FlowRecord, Progress, SenderCounts, Stop};
pub use recorder::Recorder;
pub use results::{Carried, Column, Results, Table};
pub use world::World;
