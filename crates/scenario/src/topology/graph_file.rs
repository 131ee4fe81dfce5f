//! Networks from files of other tools: graphs with line numbers, quantities, and faults.

use super::custom::{self, CustomGraph};
use super::{Topology, TopologyInputs};
use crate::fault::Fault;
use crate::limits::{MAX_RATE, MAX_TIME, MIN_RATE};
use crate::quantities::spelling_hint;
use mech::params::{Param, ParamKind};
use units::{Dur, Rate, parse_dur, parse_rate};

pub(super) const FILE: Param = Param {
    name: "file",
    doc: "Path of the file, relative to the folder of the scenario.",
    kind: ParamKind::Text,
    default: None,
};

/// Largest number of faults that are reported for one file.
pub(super) const MAX_REPORTED_FAULTS: usize = 10;
/// Largest number of nodes of a file.
pub(super) const MAX_NODES: u64 = 2_000_000;

/// Fault of a file: the text found, and the rule.
pub(super) type FileFault = (String, String);

/// Graph that was read from a file, with the line numbers of its nodes and links.
#[derive(Debug, Default)]
pub(super) struct GraphFile {
    pub graph: CustomGraph,
    pub node_lines: Vec<usize>,
    pub link_lines: Vec<usize>,
}

/// Reads the text of a topology's file.
pub(super) fn read_text(path: &str, given: &TopologyInputs) -> Result<String, Vec<Fault>> {
    (given.files)(path).map_err(|why| vec![file_fault(path, (why, "a file that can be read".into()))])
}

/// Returns the fault of a topology's file.
pub(super) fn file_fault(path: &str, (found, rule): FileFault) -> Fault {
    let gap = if found.starts_with("line ") { "," } else { ":" };
    Fault { field: "file".into(), found: format!("`{path}`{gap} {found}"), rule }
}

/// Returns a fault at a line of a file, as an error.
pub(super) fn line_error<T>(
    line: usize,
    found: impl std::fmt::Display,
    rule: impl Into<String>,
) -> Result<T, FileFault> {
    Err((format!("line {line}: {found}"), rule.into()))
}

impl GraphFile {
    /// Builds the network of a graph that was read from a file.
    pub fn build(&self, path: &str) -> Result<Topology, Vec<Fault>> {
        custom::build(&self.graph).map_err(|faults| {
            faults
                .into_iter()
                .take(MAX_REPORTED_FAULTS)
                .map(|each| file_fault(path, (self.describe_with_line(&each), each.rule)))
                .collect()
        })
    }

    /// Formats what a fault found, with the line of the node or link.
    fn describe_with_line(&self, fault: &Fault) -> String {
        let place = fault.field.split_once('[').and_then(|(list, rest)| {
            let at = rest.split_once(']')?.0.parse::<usize>().ok()?;
            let lines = if list == "nodes" { &self.node_lines } else { &self.link_lines };
            lines.get(at).copied().filter(|line| *line > 0)
        });
        place.map_or_else(|| fault.found.clone(), |line| format!("line {line}: {}", fault.found))
    }
}

/// Parses the rate of a link.
pub(super) fn parse_link_rate(text: &str) -> Result<Rate, FileFault> {
    // ns-3 writes `kbps` with a small k.
    let found = parse_rate(&text.replace("kbps", "Kbps"));
    let rule = "a rate with its unit (bps, Kbps, Mbps, Gbps, Tbps) from 1bps to 1000Tbps, such as `10Gbps`";
    match found {
        Ok(rate) if (MIN_RATE..=MAX_RATE).contains(&rate) => Ok(rate),
        Ok(_) => Err((format!("rate `{text}`"), rule.into())),
        Err(why) => {
            Err((format!("rate `{text}`, which {why}"), format!("{rule}{}", spelling_hint(&ParamKind::Rate, text))))
        }
    }
}

/// Parses the propagation delay of a link.
pub(super) fn parse_link_delay(text: &str) -> Result<Dur, FileFault> {
    let rule = "a length of time with its unit (ps, ns, us, ms, s) from 1ps to 10 days, such as `1us`";
    match parse_dur(text) {
        Ok(delay) if (Dur(1)..=MAX_TIME).contains(&delay) => Ok(delay),
        Ok(_) => Err((format!("delay `{text}`"), rule.into())),
        Err(why) => Err((
            format!("delay `{text}`, which {why}"),
            format!("{rule}{}", spelling_hint(&ParamKind::Time { min: 1 }, text)),
        )),
    }
}
