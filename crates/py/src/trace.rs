//! Trace of one packet, for Python.

use crate::ScenarioError;
use crate::convert::tables_to_python;
use mech::Notice;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use scenario::diag::sanitize;
use serde_json::{Value, json};
use sim::{PacketChoice, PacketId, PacketOrigin, PacketProperty, SNAPSHOT_COUNT, TraceError, Tracer};
use std::sync::Arc;
use units::Time;

/// Packet that Python selects for a trace: the one with the most of some event, or one by flow, direction and emission.
#[derive(FromPyObject)]
pub(crate) enum TracedPacket {
    MostOften(String),
    ById((u32, bool, u32)),
}

impl TracedPacket {
    fn into_request(self) -> PyResult<PacketChoice> {
        match self {
            TracedPacket::MostOften(often) if often == "detoured" => {
                Ok(PacketChoice::MostOften(PacketProperty::Detoured))
            }
            TracedPacket::MostOften(often) if often == "bounced" => {
                Ok(PacketChoice::MostOften(PacketProperty::Bounced))
            }
            TracedPacket::MostOften(often) if often == "trimmed" => {
                Ok(PacketChoice::MostOften(PacketProperty::Trimmed))
            }
            TracedPacket::MostOften(often) if often == "held" => Ok(PacketChoice::MostOften(PacketProperty::Held)),
            TracedPacket::MostOften(often) if often == "tells" => Ok(PacketChoice::MostOften(PacketProperty::Notice)),
            TracedPacket::MostOften(other) => {
                Err(PyValueError::new_err(format!("unknown selection of packets `{}`", sanitize(&other, 100))))
            }
            TracedPacket::ById((flow, reverse, emission)) => {
                Ok(PacketChoice::Identity(PacketId::from_emission(flow, reverse, emission)))
            }
        }
    }
}

/// Trace of a packet, which takes three passes over the same run.
#[pyclass]
pub(crate) struct Trace {
    tracer: Tracer,
    scenario: Arc<scenario::Scenario>,
    done: bool,
}

fn missing_packet_error(why: TraceError) -> PyErr {
    match why {
        TraceError::Build(error) => PyRuntimeError::new_err(error.to_string()),
        other => ScenarioError::new_err((vec![other.to_string()],)),
    }
}

impl Trace {
    pub(crate) fn new(
        scenario: &Arc<scenario::Scenario>,
        seed: u64,
        packet: TracedPacket,
        at_ps: Option<[u64; SNAPSHOT_COUNT]>,
    ) -> PyResult<Trace> {
        let instants = at_ps.map(|all| all.map(Time));
        let tracer =
            Tracer::new(scenario.clone(), seed, packet.into_request()?, instants).map_err(missing_packet_error)?;
        Ok(Trace { tracer, scenario: scenario.clone(), done: false })
    }
}

#[pymethods]
impl Trace {
    /// Advances the trace by about `max_events` events, or to the end of the pass, without holding the interpreter.
    /// `pass` is 1 while the packet is searched, 2 while it is followed, and 3 while its surroundings are recorded.
    /// `over` is true at the end of a pass.
    fn advance<'py>(&mut self, py: Python<'py>, max_events: u64) -> PyResult<Bound<'py, PyDict>> {
        let tracer = &mut self.tracer;
        let stage = py.detach(|| tracer.advance(max_events)).map_err(missing_packet_error)?;
        self.done = stage.is_done;
        let answer = PyDict::new(py);
        answer.set_item("done", stage.is_done)?;
        answer.set_item("pass", stage.pass)?;
        answer.set_item("over", stage.is_pass_over)?;
        answer.set_item("time_ps", stage.progress.now.0)?;
        answer.set_item("end_ps", stage.until.0)?;
        answer.set_item("events", stage.progress.events)?;
        answer.set_item("hops", stage.progress.hops)?;
        answer.set_item("rows", 0)?;
        answer.set_item("flows_started", stage.progress.started)?;
        answer.set_item("flows_completed", stage.progress.completed)?;
        Ok(answer)
    }

    /// Returns the summary of a finished trace as JSON, and its tables as plain little-endian buffers.
    fn results<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        if !self.done {
            return Err(PyValueError::new_err("the packet trace is not complete yet"));
        }
        let answer = PyDict::new(py);
        answer.set_item("summary", trace_summary(&self.tracer, &self.scenario).to_string())?;
        answer.set_item("tables", tables_to_python(py, self.tracer.tables())?)?;
        Ok(answer)
    }
}

fn trace_summary(tracer: &Tracer, scenario: &scenario::Scenario) -> Value {
    let (id, pkt, window) = (tracer.id(), tracer.packet(), tracer.window());
    json!({
        "flow": id.flow,
        "reverse": id.is_reverse(),
        "n": id.emission,
        "notice": matches!(id.origin, PacketOrigin::Notice(_)),
        "message": notice_json(tracer.notice()),
        "src": pkt.head.src.0,
        "dst": pkt.head.dst.0,
        "ended": tracer.has_ended(),
        "run_end": tracer.run_end().map(|end| json!({
            "at_ps": end.at.0,
            "deadlock": end.deadlock.as_ref().map(|deadlock| crate::convert::deadlock_json(deadlock, scenario)),
            "failed": end.describe_failure(scenario),
        })),
        "window_ps": [window.0.0, window.1.0],
        "instants_ps": tracer.instants().map(|at| at.0),
        "detours_left_out": tracer.count_unlisted_detours(),
    })
}

/// Returns the fields of a CNM (congestion message of a switch) as JSON, lengths in bytes; null for any other notice.
fn notice_json(notice: Option<Notice>) -> Value {
    let Some(Notice::Cnm { feedback, q_off, q_delta, point }) = notice else { return Value::Null };
    json!({ "port": point.0, "feedback": feedback, "q_off": q_off, "q_delta": q_delta })
}
