//! Flows from a file.

use super::Context;
use super::common::{CLASS, JITTER};
use super::rows::{FILE, Hosts, Row, TOLD, Trace, Wrong};
use crate::fault::Fault;
use mech::choice;
use mech::params::{Param, Spec, Values};
use std::cell::Cell;
use units::{Dur, Time, parse_bytes, parse_dur};

pub(super) const SPEC: Spec = Spec {
    slot: "traffic",
    kind: "trace",
    doc: "Flows from a CSV file with the header `start,source,destination,bytes`, in any order of rows. Hosts go by \
          name or number; bytes are a whole number or a size with a unit.",
    cite: "",
    params: &[
        FILE,
        Param {
            name: "unit",
            doc: "Unit of starts that are bare numbers; without it every start carries its own.",
            kind: StartUnit::KIND,
            default: Some(""),
        },
        JITTER,
        CLASS,
    ],
};

choice! {
    /// The unit of starts that are bare numbers.
    enum StartUnit {
        Picoseconds = "ps",
        Nanoseconds = "ns",
        Microseconds = "us",
        Milliseconds = "ms",
        Seconds = "s",
    }
}

const HEADER: &str = "start,source,destination,bytes";
/// What the fields of a line are read by.
struct Reader<'a> {
    hosts: Hosts<'a>,
    unit: Option<&'static str>,
    /// Whether any start was a bare number.
    bare: Cell<bool>,
}

/// The workload of a CSV file.
pub(super) fn build(name: &str, values: &Values, ctx: &Context) -> Result<Trace, Vec<Fault>> {
    let unit = values.get::<Option<StartUnit>>("unit").map(StartUnit::word);
    let reader = Reader { hosts: Hosts::of(ctx), unit, bare: Cell::new(false) };
    let made = Trace::read(name, values, ctx, |text| reader.rows(text))?;
    if unit.is_some() && !reader.bare.get() {
        let note =
            format!("traffic `{name}`: `unit` has no effect: every start of `{}` has its own", values.word("file"));
        ctx.notes.borrow_mut().push(note);
    }
    Ok(made)
}

/// The line, from 1, of the record that is found from byte `from` on, behind empty lines and comments.
fn line_of(text: &str, from: usize) -> usize {
    let (before, after) = text.split_at_checked(from).unwrap_or((text, ""));
    let skipped = after.lines().take_while(|line| line.trim().is_empty() || line.starts_with('#'));
    1 + before.matches('\n').count() + skipped.count()
}

/// Where each column of [`HEADER`] stands; in any order, in upper or lower case.
fn columns(header: &[String]) -> Option<[usize; 4]> {
    let mut at = [0; 4];
    for (place, name) in at.iter_mut().zip(HEADER.split(',')) {
        *place = header.iter().position(|field| field.eq_ignore_ascii_case(name))?;
    }
    (header.len() == at.len()).then_some(at)
}

impl Reader<'_> {
    fn rows(&self, text: &str) -> Result<Vec<Row>, Vec<Wrong>> {
        let mut table = csv::ReaderBuilder::new();
        let table = table.has_headers(false).flexible(true).comment(Some(b'#')).trim(csv::Trim::All);
        let mut lines = table.from_reader(text.as_bytes()).into_records().flatten().map(|record| {
            let from = record.position().map_or(0, |at| at.byte() as usize);
            (from, record.iter().map(str::to_owned).collect::<Vec<_>>())
        });
        let Some((from, header)) = lines.next() else {
            return Err(vec![("no lines".into(), format!("the header `{HEADER}` and a line a flow"))]);
        };
        let columns = columns(&header).ok_or_else(|| {
            let start: String = header.join(",").chars().take(60).collect();
            vec![(format!("line {}: `{start}`", line_of(text, from)), format!("the header `{HEADER}`"))]
        })?;
        let (mut rows, mut faults) = (Vec::new(), Vec::new());
        for (from, fields) in lines {
            match self.row(&fields, &columns) {
                Ok(row) => rows.push(row),
                Err((found, rule)) => faults.push((format!("line {}: {found}", line_of(text, from)), rule)),
            }
            if faults.len() == TOLD {
                break;
            }
        }
        if rows.is_empty() && faults.is_empty() {
            faults.push(("no flows".into(), "at least one line after the header".into()));
        }
        if faults.is_empty() { Ok(rows) } else { Err(faults) }
    }

    fn row(&self, fields: &[String], columns: &[usize; 4]) -> Result<Row, Wrong> {
        if fields.len() != columns.len() {
            return Err((format!("{} fields", fields.len()), "4 fields".into()));
        }
        let [start, src, dst, bytes] = columns.map(|i| fields[i].as_str());
        let start = self.start(start)?;
        let (src, dst) = self.hosts.pair(src, dst)?;
        Ok(Row { start, src, dst, bytes: size(bytes)?, class: None })
    }

    fn start(&self, text: &str) -> Result<Time, Wrong> {
        let bare = text.ends_with(|c: char| c.is_ascii_digit());
        self.bare.set(self.bare.get() || bare);
        let whole = match (bare, self.unit) {
            (true, Some(unit)) => format!("{text}{unit}"),
            _ => text.to_owned(),
        };
        let rule = || match self.unit {
            Some(unit) => format!("a time in {unit}, or one with a unit, such as `1.5ms`"),
            None => "a time with its unit, such as `1.5ms`, or `unit` in the scenario".into(),
        };
        let Dur(ps) = parse_dur(&whole).map_err(|why| (format!("start `{text}` {why}"), rule()))?;
        Ok(Time(ps))
    }
}

fn size(text: &str) -> Result<u64, Wrong> {
    let bytes = text.parse::<u64>().ok().or_else(|| parse_bytes(text).ok().map(|bytes| bytes.0));
    let rule = || "a whole number of bytes, at least 1, or a size such as `20KB`".into();
    bytes.filter(|n| *n > 0).ok_or_else(|| (format!("bytes `{text}`"), rule()))
}
