//! The engine: event queue, world, links, observers and results.

mod build;
mod capture;
mod changes;
mod clocks;
mod costs;
mod deadlock;
mod diagnostics;
mod divided;
mod driver;
mod grid;
mod identity;
mod link;
mod numbered;
mod packet_trace;
mod progress;
mod queries;
pub mod queue;
mod recorder;
mod results;
mod tap;
mod world;

pub use build::{BuildError, Fittings, Options, build, build_fitted, build_tapped, run_divided};
pub use capture::{Capture, Dump, Link, links};
pub use dataplane::{Freed, Leaves, Observer, Spot, Stored, Wants};
pub use deadlock::Deadlock;
pub use divided::{Divided, Owners};
pub use driver::{BrokenRuleAt, LosslessViolationAt};
pub use identity::{Origin, PacketId};
pub use numbered::{Numbered, numbered};
pub use packet_trace::{INSTANTS, Missing, Often, RunEnd, Stage, Step, Tracer, Wanted, What};
pub use progress::{FlowRecord, Progress, SenderCounts, Stop};
pub use recorder::Recorder;
pub use results::{Carried, Column, Results, Table};
pub use tap::{Crossed, Tap};
pub use world::World;
