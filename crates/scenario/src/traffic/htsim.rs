//! Connection matrices of htsim, and flow files of Opera, which is based on htsim.

use super::common::{CLASS, JITTER};
use super::flow_rows::{
    FILE, FlowTrace, HostNames, LineFault, TimeUnit, TracedFlow, parse_lines, parse_plain_bytes, parse_start,
    split_words,
};
use super::{Context, ENDLESS_BYTES};
use crate::fault::Fault;
use mech::choice;
use mech::params::{Param, Spec, Values};
use std::cell::Cell;
use std::io::BufRead;
use units::Time;

pub(super) const SPEC: Spec = Spec {
    slot: "traffic",
    kind: "htsim",
    doc: "Connection matrix (`.cm`) of htsim: `Nodes N`, `Connections C`, and one line `source->destination id I \
          start T size BYTES` per flow. Hosts are given by number. A flow of size 0 has no end. Other lines before \
          the first flow are ignored, as are `id` and `prio`. Flows that triggers start, and failures, are refused.",
    cite: "htsim (Raiciu, Handley et al.), ConnectionMatrix::load",
    params: &[
        FILE,
        Param {
            name: "unit",
            doc: "Unit of start times, which the file does not contain: picoseconds in current htsim, microseconds in \
                  older versions.",
            kind: StartUnit::KIND,
            default: None,
        },
        JITTER,
        CLASS,
    ],
};

pub(super) const OPERA: Spec = Spec {
    slot: "traffic",
    kind: "opera",
    doc: "Flow file of Opera's simulator: one line `source destination bytes start_ns` per flow, in any order. Hosts \
          are given by number.",
    cite: "Mellette et al., Opera, NSDI 2020",
    params: &[FILE, JITTER, CLASS],
};

choice! {
    /// Unit of the start times in a flow file.
    enum StartUnit {
        Picoseconds = "ps",
        Microseconds = "us",
    }
}

/// Reader of a connection matrix or flow file, with its settings and the number of flows with a priority.
struct Reader<'a> {
    hosts: HostNames<'a>,
    unit: TimeUnit,
    priorities: Cell<usize>,
}

/// Builds the workload of a connection matrix.
pub(super) fn build(name: &str, values: &Values, ctx: &Context) -> Result<FlowTrace, Vec<Fault>> {
    let unit = match values.get("unit") {
        StartUnit::Picoseconds => TimeUnit { name: "picoseconds", decimal_exponent: 0 },
        StartUnit::Microseconds => TimeUnit { name: "microseconds", decimal_exponent: 6 },
    };
    let reader = Reader { hosts: HostNames::new(ctx), unit, priorities: Cell::new(0) };
    let made = FlowTrace::read_flows(name, values, ctx, |file| reader.read_rows(file))?;
    if reader.priorities.get() > 0 {
        let (n, path) = (reader.priorities.get(), values.word("file"));
        ctx.notes.borrow_mut().push(format!(
            "traffic `{name}`: Overspill ignores the priorities of {n} flows in \
                                             `{path}`"
        ));
    }
    Ok(made)
}

/// Builds the workload of a flow file of Opera.
pub(super) fn build_opera(name: &str, values: &Values, ctx: &Context) -> Result<FlowTrace, Vec<Fault>> {
    let hosts = HostNames::new(ctx);
    let row = |words: &[&str]| -> Result<TracedFlow, LineFault> {
        let [src, dst, bytes, at] = words else {
            return Err((
                format!("{} fields", words.len()),
                "4 fields: source, destination, bytes, start in ns".into(),
            ));
        };
        let (src, dst) = hosts.find_pair(src, dst)?;
        Ok(TracedFlow {
            start: parse_start(at, TimeUnit { name: "nanoseconds", decimal_exponent: 3 })?,
            src,
            dst,
            bytes: parse_plain_bytes(bytes)?,
            class: None,
            query: u32::MAX,
        })
    };
    let flow = |_: usize, line: &str| match split_words(line) {
        words if words.is_empty() => Ok(None),
        words => row(&words).map(Some),
    };
    FlowTrace::read_flows(name, values, ctx, |file| match parse_lines(file, flow) {
        Ok(rows) if rows.is_empty() => Err(vec![("no flows".into(), "at least one line".into())]),
        other => other,
    })
}

/// Parsed line of a connection matrix.
enum FileLine {
    Nodes,
    Nothing,
    Connections(usize),
    Flow(TracedFlow),
}

impl Reader<'_> {
    fn read_rows(&self, file: &mut dyn BufRead) -> Result<Vec<TracedFlow>, Vec<LineFault>> {
        let (mut said, mut nodes, mut begun) = (None, false, false);
        let rows = parse_lines(file, |_, line| {
            let words = split_words(line);
            if words.is_empty() {
                return Ok(None);
            }
            match self.parse_line(&words, begun)? {
                FileLine::Nodes => nodes = true,
                FileLine::Nothing => {}
                FileLine::Connections(count) => said = Some(count),
                FileLine::Flow(row) => {
                    begun = true;
                    return Ok(Some(row));
                }
            }
            Ok(None)
        })?;
        let wrong = |found: String, rule: &str| Err(vec![(found, rule.to_string())]);
        match said {
            _ if !nodes => wrong("no line `Nodes`".into(), "`Nodes N` before the connections"),
            None => wrong("no line `Connections`".into(), "`Connections C` before the connections"),
            Some(0) => wrong("no connections".into(), "at least one"),
            Some(count) if count != rows.len() => wrong(
                format!("`Connections {count}`, but {} lines with connections", rows.len()),
                "the number of \
                                                                                                    lines with \
                                                                                                    connections",
            ),
            Some(_) => Ok(rows),
        }
    }

    fn parse_line(&self, words: &[&str], begun: bool) -> Result<FileLine, LineFault> {
        let number = |what: &str| {
            let found = words.get(1).and_then(|word| word.parse::<usize>().ok()).filter(|_| words.len() == 2);
            found.ok_or_else(|| (format!("`{}`", words.join(" ")), format!("`{what}` and a whole number")))
        };
        match words[0] {
            "Nodes" => {
                let (nodes, hosts) = (number("Nodes")?, self.hosts.count_hosts());
                let rule = || format!("at most the {hosts} hosts of the network");
                let fits = (nodes <= hosts as usize).then_some(FileLine::Nodes);
                fits.ok_or_else(|| (format!("{nodes} nodes"), rule()))
            }
            "Connections" => number("Connections").map(FileLine::Connections),
            word @ ("Triggers" | "Failures") if number(word)? > 0 => Err(unsupported_fault(word)),
            "Triggers" | "Failures" => Ok(FileLine::Nothing),
            word @ ("trigger" | "failure") => Err(unsupported_fault(word)),
            word => match word.split_once("->") {
                Some((src, dst)) => self.parse_flow(src, dst, &words[1..]).map(FileLine::Flow),
                None if !begun => Ok(FileLine::Nothing),
                None => Err((format!("`{word}`"), "`Nodes`, `Connections` or `source->destination`".into())),
            },
        }
    }

    fn parse_flow(&self, src: &str, dst: &str, words: &[&str]) -> Result<TracedFlow, LineFault> {
        let (src, dst) = self.hosts.find_pair(src, dst)?;
        let (mut at, mut bytes) = (None, None);
        for pair in words.chunks(2) {
            let value = pair.get(1).copied();
            let value = value.ok_or_else(|| {
                (
                    format!("`{}` without a value", pair[0]),
                    "a value after this \
                                                                                        word"
                        .to_string(),
                )
            });
            match pair[0] {
                "start" => at = Some(parse_start(value?, self.unit)?),
                // In htsim, a flow of size 0 never ends.
                "size" if pair[1..] == ["0"] => bytes = Some(ENDLESS_BYTES),
                "size" => bytes = Some(parse_plain_bytes(value?)?),
                "id" => drop(value?),
                "prio" => {
                    value?;
                    self.priorities.set(self.priorities.get() + 1);
                }
                word @ ("trigger" | "send_done_trigger" | "recv_done_trigger" | "addon") => {
                    return Err(unsupported_fault(word));
                }
                word => return Err((format!("`{word}`"), "`id`, `start`, `size` or `prio`".into())),
            }
        }
        let needed = |what: &str| (format!("a flow without `{what}`"), format!("`{what}` and a number"));
        let (start, bytes): (Time, u64) = (at.ok_or_else(|| needed("start"))?, bytes.ok_or_else(|| needed("size"))?);
        Ok(TracedFlow { start, src, dst, bytes, class: None, query: u32::MAX })
    }
}

fn unsupported_fault(word: &str) -> LineFault {
    (format!("`{word}`"), "flows with a start time, because triggers and failures are not supported".into())
}
