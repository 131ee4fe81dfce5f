//! The engine: event queue, world, links, probes, results.

mod build;
mod driver;
mod link;
mod probe;
pub mod queue;
mod recorder;
mod results;
mod world;

pub use build::{BuildError, Options, build};
pub use probe::{Probe, Spot};
pub use recorder::Recorder;
pub use results::{Carried, Column, Results, Table};
pub use world::{FlowRecord, Progress, SenderCounts, Stop, World};
