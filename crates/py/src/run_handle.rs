//! Runs in progress, with captures or without. The world of each is a type of its own, so that a run without captures
//! pays nothing for them.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use scenario::Scenario;
use sim::{
    Capture, CaptureFiles, CapturedLink, Options, Progress, Recorder, Results, Table, World, build, build_with_tap,
};

/// Operations of Python on a world.
pub(crate) trait RunHandle: Send + Sync {
    fn advance_rows(&mut self, max_events: u64, max_rows: usize) -> Progress;
    fn rows_waiting(&self) -> usize;
    fn take_rows(&mut self, at_least: usize) -> Vec<Table>;
    fn results(&mut self, scenario: &Scenario) -> Results;
    fn imbalance(&self) -> Option<String>;
    fn take_captured_bytes(&mut self, link: usize, at_most: usize) -> PyResult<Vec<u8>>;
}

/// Links to capture, and the largest number of bytes of each frame.
pub(crate) struct Recordings {
    pub(crate) links: Vec<CapturedLink>,
    pub(crate) snaplen: Option<u32>,
}

fn runtime_error(error: impl ToString) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

/// Returns a run that has not begun.
pub(crate) fn start_run(
    scenario: &Scenario,
    seed: u64,
    options: Options,
    asked: &Recordings,
) -> PyResult<Box<dyn RunHandle>> {
    let recorder = Recorder::from_scenario(scenario);
    if asked.links.is_empty() {
        let world = build(scenario, seed, options, recorder).map_err(runtime_error)?;
        return Ok(Box::new(RunWithoutCapture(world)));
    }
    let about = format!("variant {}, seed {seed}; host n is 10.0.0.1 + n, in the order of the nodes", scenario.variant);
    let ports = scenario.topology.nodes.iter().map(|node| node.ports.len()).sum();
    let capture = Capture::new(&asked.links, ports);
    let world = build_with_tap(scenario, seed, options, recorder, capture).map_err(runtime_error)?;
    let dump =
        CaptureFiles::new(&about, &asked.links, asked.snaplen, scenario.address_plan()).map_err(runtime_error)?;
    Ok(Box::new(RunWithCapture { world, files: dump }))
}

struct RunWithoutCapture(World<Recorder>);

struct RunWithCapture {
    world: World<Recorder, Capture>,
    files: CaptureFiles,
}

macro_rules! of_world {
    ($($world:tt)+) => {
        fn advance_rows(&mut self, max_events: u64, max_rows: usize) -> Progress {
            self.$($world)+.advance_rows(max_events, max_rows)
        }
        fn rows_waiting(&self) -> usize {
            self.$($world)+.rows_waiting()
        }
        fn take_rows(&mut self, at_least: usize) -> Vec<Table> {
            self.$($world)+.take_rows(at_least)
        }
        fn results(&mut self, scenario: &Scenario) -> Results {
            self.$($world)+.results(scenario)
        }
        fn imbalance(&self) -> Option<String> {
            self.$($world)+.describe_imbalance()
        }
    };
}

impl RunHandle for RunWithoutCapture {
    of_world!(0);

    fn take_captured_bytes(&mut self, _link: usize, _at_most: usize) -> PyResult<Vec<u8>> {
        Ok(Vec::new())
    }
}

impl RunHandle for RunWithCapture {
    of_world!(world);

    fn take_captured_bytes(&mut self, link: usize, at_most: usize) -> PyResult<Vec<u8>> {
        self.files.next_bytes(&mut self.world, link, at_most).map_err(runtime_error)
    }
}
