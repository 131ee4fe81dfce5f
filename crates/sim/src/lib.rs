//! The engine: event queue, world, links, observers and results.

mod build;
mod capture;
mod change_schedule;
mod clocks;
mod deadlock;
mod diagnostics;
mod divided_observer;
mod driver;
mod event_costs;
mod identity;
mod instant_grid;
mod link;
mod memory_probe;
mod number_names;
mod packet_trace;
mod progress;
mod queries;
pub mod queue;
mod recorded_run;
mod recorder;
mod results;
mod tap;
mod world;

pub use build::{BuildError, Options, RunHooks, build, build_with_hooks, build_with_tap, run_divided};
pub use capture::{Capture, CaptureFiles, CapturedLink, parse_links};
pub use dataplane::{Departure, DequeuedFrame, EnqueuedFrame, EventLocation, ObservedEvents, Observer};
pub use deadlock::Deadlock;
pub use divided_observer::{DividedObserver, PartitionOwners};
pub use driver::{BrokenRuleAt, LosslessViolationAt};
pub use identity::{PacketId, PacketOrigin};
pub use memory_probe::{MemoryProbe, ProbeCounts, ProbeError, ProbeStream, probe_memory};
pub use number_names::{NumberNames, number_names};
pub use packet_trace::{
    PacketChoice, PacketProperty, PacketStep, RunEnd, SNAPSHOT_COUNT, StepKind, TraceError, TraceProgress, Tracer,
};
pub use progress::{FlowRecord, Progress, SenderCounts, StopReason};
pub use recorded_run::{CaptureRequest, RecordedRun, RunError, start_recorded_run};
pub use recorder::Recorder;
pub use results::{CarriedBits, Column, LosslessLosses, PauseStorms, Results, SharedByClasses, Table};
pub use tap::{CrossedFrame, Tap};
pub use world::World;
