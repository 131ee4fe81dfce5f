//! Connection matrices of htsim, and flow files of Opera, which is based on htsim.

use super::common::{CLASS, JITTER};
use super::rows::{FILE, Hosts, Row, Trace, Unit, Wrong, gather, start, whole_bytes, words};
use super::{Context, ENDLESS};
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
    /// Unit of start times.
    enum StartUnit {
        Picoseconds = "ps",
        Microseconds = "us",
    }
}

/// State while lines are read.
struct Reader<'a> {
    hosts: Hosts<'a>,
    unit: Unit,
    priorities: Cell<usize>,
}

/// Builds the workload of a connection matrix.
pub(super) fn build(name: &str, values: &Values, ctx: &Context) -> Result<Trace, Vec<Fault>> {
    let unit = match values.get("unit") {
        StartUnit::Picoseconds => Unit { name: "picoseconds", zeros: 0 },
        StartUnit::Microseconds => Unit { name: "microseconds", zeros: 6 },
    };
    let reader = Reader { hosts: Hosts::new(ctx), unit, priorities: Cell::new(0) };
    let made = Trace::read(name, values, ctx, |file| reader.rows(file))?;
    if reader.priorities.get() > 0 {
        let (n, path) = (reader.priorities.get(), values.word("file"));
        ctx.notes.borrow_mut().push(format!("traffic `{name}`: the priorities of {n} flows of `{path}` are not used"));
    }
    Ok(made)
}

/// Builds the workload of a flow file of Opera.
pub(super) fn opera(name: &str, values: &Values, ctx: &Context) -> Result<Trace, Vec<Fault>> {
    let hosts = Hosts::new(ctx);
    let row = |words: &[&str]| -> Result<Row, Wrong> {
        let [src, dst, bytes, at] = words else {
            return Err((format!("{} fields", words.len()), "4: source, destination, bytes, start in ns".into()));
        };
        let (src, dst) = hosts.pair(src, dst)?;
        Ok(Row {
            start: start(at, Unit { name: "nanoseconds", zeros: 3 })?,
            src,
            dst,
            bytes: whole_bytes(bytes)?,
            class: None,
            query: u32::MAX,
        })
    };
    let flow = |_: usize, line: &str| match words(line) {
        words if words.is_empty() => Ok(None),
        words => row(&words).map(Some),
    };
    Trace::read(name, values, ctx, |file| match gather(file, flow) {
        Ok(rows) if rows.is_empty() => Err(vec![("no flows".into(), "at least one line".into())]),
        other => other,
    })
}

/// Kind of a line.
enum Line {
    Nodes,
    Nothing,
    Connections(usize),
    Flow(Row),
}

impl Reader<'_> {
    fn rows(&self, file: &mut dyn BufRead) -> Result<Vec<Row>, Vec<Wrong>> {
        let (mut said, mut nodes, mut begun) = (None, false, false);
        let rows = gather(file, |_, line| {
            let words = words(line);
            if words.is_empty() {
                return Ok(None);
            }
            match self.line(&words, begun)? {
                Line::Nodes => nodes = true,
                Line::Nothing => {}
                Line::Connections(count) => said = Some(count),
                Line::Flow(row) => {
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
            Some(count) if count != rows.len() => {
                wrong(format!("`Connections {count}`, and {} lines of them", rows.len()), "their number")
            }
            Some(_) => Ok(rows),
        }
    }

    fn line(&self, words: &[&str], begun: bool) -> Result<Line, Wrong> {
        let number = |what: &str| {
            let found = words.get(1).and_then(|word| word.parse::<usize>().ok()).filter(|_| words.len() == 2);
            found.ok_or_else(|| (format!("`{}`", words.join(" ")), format!("`{what}` and a whole number")))
        };
        match words[0] {
            "Nodes" => {
                let (nodes, hosts) = (number("Nodes")?, self.hosts.count());
                let rule = || format!("at most the {hosts} hosts of the network");
                let fits = (nodes <= hosts as usize).then_some(Line::Nodes);
                fits.ok_or_else(|| (format!("{nodes} nodes"), rule()))
            }
            "Connections" => number("Connections").map(Line::Connections),
            word @ ("Triggers" | "Failures") if number(word)? > 0 => Err(not_built(word)),
            "Triggers" | "Failures" => Ok(Line::Nothing),
            word @ ("trigger" | "failure") => Err(not_built(word)),
            word => match word.split_once("->") {
                Some((src, dst)) => self.flow(src, dst, &words[1..]).map(Line::Flow),
                None if !begun => Ok(Line::Nothing),
                None => Err((format!("`{word}`"), "`Nodes`, `Connections` or `source->destination`".into())),
            },
        }
    }

    fn flow(&self, src: &str, dst: &str, words: &[&str]) -> Result<Row, Wrong> {
        let (src, dst) = self.hosts.pair(src, dst)?;
        let (mut at, mut bytes) = (None, None);
        for pair in words.chunks(2) {
            let value = pair.get(1).copied();
            let value = value.ok_or_else(|| (format!("`{}` at the end", pair[0]), "a value after it".to_string()));
            match pair[0] {
                "start" => at = Some(start(value?, self.unit)?),
                // In htsim, a flow of size 0 never ends.
                "size" if pair[1..] == ["0"] => bytes = Some(ENDLESS),
                "size" => bytes = Some(whole_bytes(value?)?),
                "id" => drop(value?),
                "prio" => {
                    value?;
                    self.priorities.set(self.priorities.get() + 1);
                }
                word @ ("trigger" | "send_done_trigger" | "recv_done_trigger" | "addon") => {
                    return Err(not_built(word));
                }
                word => return Err((format!("`{word}`"), "`id`, `start`, `size` or `prio`".into())),
            }
        }
        let needed = |what: &str| (format!("a flow without `{what}`"), format!("`{what}` and a number"));
        let (start, bytes): (Time, u64) = (at.ok_or_else(|| needed("start"))?, bytes.ok_or_else(|| needed("size"))?);
        Ok(Row { start, src, dst, bytes, class: None, query: u32::MAX })
    }
}

fn not_built(word: &str) -> Wrong {
    (format!("`{word}`"), "flows with a start time: triggers and failures are not supported".into())
}
