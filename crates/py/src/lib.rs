//! Python module of the simulation core: takes a scenario, returns columns of numbers.

mod convert;
mod memory;
mod numbers;
mod trace;

use convert::{memory_json, network_json, networks_json, summary_json, tables_to_python};
use mech::Registry;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use scenario::diag::sanitize;
use scenario::load::{Loaded, Source, load as load_scenario};
use sim::{
    CaptureRequest, CapturedLink, Options, RecordedRun, RunError, SNAPSHOT_COUNT, parse_links, start_recorded_run,
};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use trace::{Trace, TracedPacket};
use units::Time;

/// Memory allocator that puts a large network on fewer, larger pages than the system's allocator does.
///
/// The version of mimalloc is 2 (feature `v2`). Version 3 takes the thread that loads the library for the main thread,
/// and clears the heap of that thread when it ends. The next thread with the same id gets the cleared heap: a
/// segmentation fault.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

pyo3::create_exception!(
    _core,
    ScenarioError,
    PyValueError,
    "Error of a scenario that cannot be run; args[0] lists its faults."
);

/// Mechanisms that scenarios of this module may name.
static REGISTRY: OnceLock<Registry> = OnceLock::new();

fn registry() -> &'static Registry {
    REGISTRY.get_or_init(Registry::catalogue)
}

fn runtime_error(error: RunError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

fn load_source(path: &str, text: &str, sets: &[String]) -> PyResult<Loaded> {
    let folder = Path::new(path).parent().unwrap_or(Path::new(""));
    let source = Source::new(path, text, folder).with_registry(registry().clone());
    load_scenario(&source, sets).map_err(|faults| {
        let lines: Vec<String> = faults.iter().map(ToString::to_string).collect();
        ScenarioError::new_err((lines,))
    })
}

/// Returns all mechanisms, other kinds and tables that a scenario may name, with their parameters, as JSON.
#[pyfunction]
fn catalogue() -> String {
    scenario::catalogue_json(registry()).to_string()
}

/// Raises an error for a TOML text whose tables and lists are nested too deep for a recursive parser.
#[pyfunction]
fn check_nesting(path: &str, text: &str) -> PyResult<()> {
    scenario::load::check_nesting(path, text).map_err(|fault| ScenarioError::new_err((vec![fault.to_string()],)))
}

/// Returns names from papers, standards and other tools, with the kind or key that each stands for, as JSON.
#[pyfunction]
fn aliases() -> String {
    scenario::aliases_json().to_string()
}

/// Returns the JSON Schema of a scenario.
#[pyfunction]
fn schema() -> String {
    scenario::scenario_schema(registry()).to_string()
}

/// Returns the decision curve of a mechanism with settings `NAME=VALUE`, as JSON; `None` if it has none.
/// The curve has values in `steps` steps and at further `places`.
#[pyfunction]
#[pyo3(signature = (kind, sets, steps, places=Vec::new()))]
fn curve(kind: &str, sets: Vec<String>, steps: u32, places: Vec<f64>) -> PyResult<Option<String>> {
    let asked = scenario::CurveRequest { kind, settings: &sets, steps, extra_x: &places };
    let found = scenario::curve_json(registry(), &asked).map_err(|faults| {
        let lines: Vec<String> = faults.iter().map(ToString::to_string).collect();
        ScenarioError::new_err((lines,))
    })?;
    Ok(found.map(|json| json.to_string()))
}

/// Returns the meanings of small numbers in tables as JSON: for each table, a list of names from number 0 on.
#[pyfunction]
fn number_names() -> String {
    let all = sim::number_names().map(|(name, names)| (name.to_string(), serde_json::json!(names)));
    serde_json::Value::Object(all.into_iter().collect()).to_string()
}

/// Returns the version of the core.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Scenario that is read and checked once for all its runs.
#[pyclass(frozen)]
struct Scenario {
    document: String,
    variants: Vec<Arc<scenario::Scenario>>,
}

#[pymethods]
impl Scenario {
    #[new]
    fn new(py: Python<'_>, path: &str, text: &str, sets: Vec<String>) -> PyResult<Scenario> {
        py.detach(|| {
            let loaded = load_source(path, text, &sets)?;
            Ok(Scenario {
                document: resolved_json(&loaded),
                variants: loaded.variants.into_iter().map(Arc::new).collect(),
            })
        })
    }

    /// Returns a scenario as JSON, with its variants and all defaults filled in.
    fn document(&self) -> &str {
        &self.document
    }

    /// Returns the network of a variant as JSON, however large.
    fn network(&self, py: Python<'_>, variant: &str) -> PyResult<String> {
        let scenario = self.variant(variant)?;
        Ok(py.detach(|| network_json(&scenario.topology)))
    }

    /// Returns a run of one variant with one seed, which has not begun.
    /// `pcap` names links and hosts whose frames are captured, with at most `pcap_snaplen` bytes of each.
    #[pyo3(signature = (variant, seed, max_events=None, pcap=Vec::new(), pcap_snaplen=None))]
    fn run(
        &self,
        py: Python<'_>,
        variant: &str,
        seed: u64,
        max_events: Option<u64>,
        pcap: Vec<String>,
        pcap_snaplen: Option<u32>,
    ) -> PyResult<Run> {
        let scenario = self.variant(variant)?.clone();
        let captures = CaptureRequest { links: find_links(&scenario, &pcap)?, snaplen: pcap_snaplen };
        let options = Options { max_events, ..Options::default() };
        let world = py.detach(|| start_recorded_run(&scenario, seed, options, &captures)).map_err(runtime_error)?;
        Ok(Run { world, scenario, seed, links: captures.links })
    }

    /// Returns a packet trace of one variant with one seed, which has not begun.
    ///
    /// `packet` selects the packet most often "detoured" or "bounced", the first that is "trimmed" or "held", or the
    /// first notice ("tells"). It may also be (flow, true if its receiver sent it, emission). `at_ps` are three
    /// instants at which queues are recorded.
    #[pyo3(signature = (variant, seed, packet, at_ps=None))]
    fn trace(
        &self,
        variant: &str,
        seed: u64,
        packet: TracedPacket,
        at_ps: Option<[u64; SNAPSHOT_COUNT]>,
    ) -> PyResult<Trace> {
        Trace::new(self.variant(variant)?, seed, packet, at_ps)
    }

    /// Returns the numbers of frames that a switch admits until a mark, a pause and a loss, as JSON.
    ///
    /// Each stream has an input port, an output port and a class. Outputs send nothing. The streams send frames of
    /// `size` bytes in turn, and the first one is measured.
    fn probe_memory(
        &self,
        py: Python<'_>,
        variant: &str,
        switch: &str,
        streams: Vec<(u16, u16, u8)>,
        size: u16,
    ) -> PyResult<String> {
        let scenario = self.variant(variant)?;
        let streams = streams.into_iter().map(|(ingress, egress, class)| (ingress, egress, class & 7)).collect();
        let probe = sim::MemoryProbe { switch: find_switch(scenario, switch)?, streams, size };
        let counts = py.detach(|| sim::probe_memory(scenario, &probe));
        let counts = counts.map_err(|error| ScenarioError::new_err((vec![error.to_string()],)))?;
        Ok(memory::counts_json(&counts).to_string())
    }

    /// Returns rates, delays and frame sizes of the links of a switch as JSON, in the order of its ports.
    fn switch_links(&self, variant: &str, switch: &str) -> PyResult<String> {
        let scenario = self.variant(variant)?;
        Ok(memory::links_json(scenario, find_switch(scenario, switch)?).to_string())
    }

    /// Returns the names of the links that `pcap` selects in a variant, each once.
    fn links(&self, variant: &str, pcap: Vec<String>) -> PyResult<Vec<String>> {
        let found = find_links(self.variant(variant)?, &pcap)?;
        Ok(found.into_iter().map(|link| link.name).collect())
    }
}

impl Scenario {
    fn variant(&self, name: &str) -> PyResult<&Arc<scenario::Scenario>> {
        let found = self.variants.iter().find(|v| v.variant == name);
        found.ok_or_else(|| PyValueError::new_err(format!("no variant `{}`", sanitize(name, 100))))
    }
}

fn find_switch(scenario: &scenario::Scenario, name: &str) -> PyResult<usize> {
    let found = memory::find_switch(scenario, name);
    found.ok_or_else(|| PyValueError::new_err(format!("no switch `{}`", sanitize(name, 100))))
}

fn find_links(scenario: &scenario::Scenario, pcap: &[String]) -> PyResult<Vec<CapturedLink>> {
    parse_links(&scenario.topology, pcap).map_err(|lines| ScenarioError::new_err((lines,)))
}

fn resolved_json(loaded: &Loaded) -> String {
    let memory: serde_json::Map<_, _> = loaded.variants.iter().map(|v| (v.variant.clone(), memory_json(v))).collect();
    let needs = |v: &scenario::Scenario| {
        let needs = scenario::MemoryNeeds::estimate(v);
        let all = needs.total_bytes();
        serde_json::json!({ "all": all, "ports": needs.ports, "flows": needs.flows, "packets": needs.packets })
    };
    let bytes: serde_json::Map<_, _> = loaded.variants.iter().map(|v| (v.variant.clone(), needs(v))).collect();
    let (networks, network_of) = networks_json(&loaded.variants);
    let names: Vec<&str> = loaded.variants.iter().map(|v| v.variant.as_str()).collect();
    let rest = serde_json::json!({
        "name": loaded.name,
        "seed": loaded.seed,
        "duration_ps": loaded.duration.0,
        "variants": names,
        "labels": loaded.labels,
        "notes": loaded.notes,
        "resolved": loaded.resolved,
        "memory": memory,
        "run_bytes": bytes,
        "network_of": network_of,
    });
    let rest = rest.to_string();
    format!("{{\"networks\":{networks},{}", rest.strip_prefix('{').unwrap_or(&rest))
}

/// Run of one variant of a scenario with one seed.
#[pyclass]
struct Run {
    scenario: Arc<scenario::Scenario>,
    seed: u64,
    world: Box<dyn RecordedRun>,
    links: Vec<CapturedLink>,
}

#[pymethods]
impl Run {
    /// Advances the run by about `max_events` events, or fewer if a table has `max_rows` rows to take.
    /// The interpreter is not held. The number of these rows is `rows`.
    ///
    /// `end_ps` is the planned end of the run: the duration, and after that the end of the drain. The run ends earlier
    /// in the drain once all measured flows have finished.
    #[pyo3(signature = (max_events, max_rows=usize::MAX))]
    fn advance<'py>(&mut self, py: Python<'py>, max_events: u64, max_rows: usize) -> PyResult<Bound<'py, PyDict>> {
        let world = &mut self.world;
        let progress = py.detach(|| world.advance_rows(max_events, max_rows));
        let answer = PyDict::new(py);
        answer.set_item("done", progress.stop.is_some())?;
        answer.set_item("time_ps", progress.now.0)?;
        answer.set_item("end_ps", self.horizon(progress.now).0)?;
        answer.set_item("events", progress.events)?;
        answer.set_item("hops", progress.hops)?;
        answer.set_item("rows", self.world.rows_waiting())?;
        answer.set_item("flows_started", progress.started)?;
        answer.set_item("flows_completed", progress.completed)?;
        Ok(answer)
    }

    /// Takes the rows so far of each table that grows with simulated time and has at least `at_least` rows.
    /// Columns are plain little-endian buffers; `results` has the remaining rows.
    fn take<'py>(&mut self, py: Python<'py>, at_least: usize) -> PyResult<Bound<'py, PyDict>> {
        let world = &mut self.world;
        let taken = py.detach(|| world.take_rows(at_least));
        tables_to_python(py, taken)
    }

    /// Returns the next bytes of each capture, with at most `at_most` frames; empty if there are none.
    fn captured<'py>(&mut self, py: Python<'py>, at_most: usize) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let (world, count) = (&mut self.world, self.links.len());
        let next_bytes = |link| {
            let bytes = py.detach(|| world.take_captured_bytes(link, at_most)).map_err(runtime_error)?;
            Ok(PyBytes::new(py, &bytes))
        };
        (0..count).map(next_bytes).collect()
    }

    /// Returns the summary of the run as JSON, and its tables as plain little-endian buffers.
    fn results<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let Run { world, scenario, seed, .. } = self;
        let (results, summary) = py.detach(|| {
            let results = world.results(scenario);
            let summary = summary_json(scenario, *seed, &results).to_string();
            (results, summary)
        });
        if let Some(broken) = results.broken {
            return Err(PyRuntimeError::new_err(broken.describe(scenario)));
        }
        if !results.conserved {
            let place = self.world.imbalance().unwrap_or_default();
            return Err(PyRuntimeError::new_err(format!("packets are unaccounted for: {place}")));
        }
        if let Some(lost) = results.lost {
            return Err(PyRuntimeError::new_err(lost.describe(scenario)));
        }
        let answer = PyDict::new(py);
        answer.set_item("summary", summary)?;
        answer.set_item("tables", tables_to_python(py, results.tables)?)?;
        Ok(answer)
    }
}

impl Run {
    fn horizon(&self, now: Time) -> Time {
        let duration = Time(self.scenario.duration.0);
        if now <= duration { duration } else { duration.saturating_add(self.scenario.measure.drain) }
    }
}

/// Fills a Python module with the core of Overspill, whose scenarios may name the mechanisms of `registry`.
/// It is for another crate that builds its own module, under any name.
///
/// # Errors
/// Returns an error if Python refuses, or if this was called before.
pub fn core(module: &Bound<'_, PyModule>, registry: Registry) -> PyResult<()> {
    REGISTRY.set(registry).map_err(|_| PyRuntimeError::new_err("a module can have only one core"))?;
    add_to_module(module)
}

fn add_to_module(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("ScenarioError", module.py().get_type::<ScenarioError>())?;
    module.add_class::<Scenario>()?;
    module.add_class::<Run>()?;
    module.add_class::<Trace>()?;
    module.add_function(wrap_pyfunction!(aliases, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue, module)?)?;
    module.add_function(wrap_pyfunction!(check_nesting, module)?)?;
    module.add_function(wrap_pyfunction!(curve, module)?)?;
    module.add_function(wrap_pyfunction!(number_names, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(version, module)?)?;
    Ok(())
}

/// Python module with the core of Overspill.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    add_to_module(module)
}
