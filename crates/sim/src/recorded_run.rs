//! Runs that record the tables of their scenario, with captures or without.
//!
//! The worlds of both are instantiated here alone: a crate that drives runs by [`RecordedRun`] compiles no world of its
//! own. Each is a type of its own, so that a run without captures pays nothing for them.

use crate::{
    Capture, CaptureFiles, CapturedLink, Options, Progress, Recorder, Results, Table, World, build, build_with_tap,
};
use scenario::Scenario;
use std::error::Error;

/// Error of a run that cannot be built or captured.
pub type RunError = Box<dyn Error + Send + Sync>;

/// Run of one variant with one seed, which records the tables of its scenario.
///
/// ```
/// use scenario::{Source, load};
/// use sim::{CaptureRequest, Options, start_recorded_run};
/// # const TEXT: &str = r#"
/// #     name = "one"
/// #     duration = "1ms"
/// #     transport.kind = "newreno"
/// #     topology = { kind = "star", n = 2, link = { rate = "1Gbps", delay = "1us" } }
/// #     [[traffic]]
/// #     name = "flow"
/// #     kind = "incast"
/// #     senders = 1
/// #     receiver = "h0"
/// #     size = "1000B"
/// # "#;
///
/// // `TEXT` is a scenario with one flow of 1000 B over a switch.
/// let loaded = load(&Source::new("one.toml", TEXT, ".".as_ref()), &[]).unwrap();
/// let scenario = &loaded.variants[0];
/// let captures = CaptureRequest { links: Vec::new(), snaplen: None };
/// let mut run = start_recorded_run(scenario, 1, Options::default(), &captures).unwrap();
/// while run.advance_rows(1_000, usize::MAX).stop.is_none() {}
/// let results = run.results(scenario);
/// let ends = results.table("flows").unwrap().u64("end_ps").unwrap();
/// assert!(ends[0] < u64::MAX, "the flow has ended");
/// ```
pub trait RecordedRun: Send + Sync {
    /// Advances the run by about `max_events` events, or fewer if a table has `max_rows` rows to take.
    fn advance_rows(&mut self, max_events: u64, max_rows: usize) -> Progress;

    /// Returns the number of rows that can be taken from the tables that grow with simulated time.
    fn rows_waiting(&self) -> usize;

    /// Takes the rows of each table that grows with simulated time and has at least `at_least` of them.
    fn take_rows(&mut self, at_least: usize) -> Vec<Table>;

    /// Returns the results of the run, with the rows that were not taken.
    fn results(&mut self, scenario: &Scenario) -> Results;

    /// Describes the first node, or the payload, whose counters do not balance; `None` if every packet is accounted
    /// for.
    fn imbalance(&self) -> Option<String>;

    /// Returns the next bytes of the capture of a link, with at most `at_most` frames; empty without captures.
    ///
    /// # Errors
    /// Returns an error if a frame cannot be written as pcapng.
    fn take_captured_bytes(&mut self, link: usize, at_most: usize) -> Result<Vec<u8>, RunError>;
}

/// Links to capture, and the largest number of bytes of each frame.
pub struct CaptureRequest {
    /// Links whose frames are captured.
    pub links: Vec<CapturedLink>,
    /// Largest number of bytes that are kept of a frame; `None` for whole frames.
    pub snaplen: Option<u32>,
}

/// Builds a run that has not begun, and that will record the tables of its scenario.
///
/// # Errors
/// Returns the errors of [`build()`], and those of writing the header of a capture.
pub fn start_recorded_run(
    scenario: &Scenario,
    seed: u64,
    options: Options,
    captures: &CaptureRequest,
) -> Result<Box<dyn RecordedRun>, RunError> {
    let recorder = Recorder::from_scenario(scenario);
    if captures.links.is_empty() {
        return Ok(Box::new(RunWithoutCapture(build(scenario, seed, options, recorder)?)));
    }
    let about = format!("variant {}, seed {seed}; host n is 10.0.0.1 + n, in the order of the nodes", scenario.variant);
    let ports = scenario.topology.nodes.iter().map(|node| node.ports.len()).sum();
    let tap = Capture::new(&captures.links, ports);
    let world = build_with_tap(scenario, seed, options, recorder, tap)?;
    let (plan, dscps) = (scenario.address_plan(), scenario.dscps.table);
    let files = CaptureFiles::new(&about, &captures.links, captures.snaplen, plan, dscps)?;
    Ok(Box::new(RunWithCapture { world, files }))
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

impl RecordedRun for RunWithoutCapture {
    of_world!(0);

    fn take_captured_bytes(&mut self, _link: usize, _at_most: usize) -> Result<Vec<u8>, RunError> {
        Ok(Vec::new())
    }
}

impl RecordedRun for RunWithCapture {
    of_world!(world);

    fn take_captured_bytes(&mut self, link: usize, at_most: usize) -> Result<Vec<u8>, RunError> {
        Ok(self.files.next_bytes(&mut self.world, link, at_most)?)
    }
}
