//! Flows from a CSV file.

use super::Context;
use super::common::{CLASS, JITTER};
use super::flow_rows::{FILE, FlowTrace, HostNames, LineFault, TracedFlow, parse_lines};
use crate::fault::Fault;
use crate::quantities::spelling_hint;
use mech::choice;
use mech::params::{Param, ParamKind, Spec, Values};
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::BufRead;
use units::{Dur, Time, parse_bytes, parse_dur};

pub(super) const SPEC: Spec = Spec {
    slot: "traffic",
    kind: "trace",
    doc: "Flows from a CSV file with the header `start,source,destination,bytes`, in any order of rows and columns. \
          Hosts are given by name or number; bytes are a whole number or a size with a unit. In the optional column \
          `query`, flows of one query have the same text; flows without text belong to no query.",
    cite: "",
    params: &[
        FILE,
        Param {
            name: "unit",
            doc: "Unit of start times that are bare numbers; without it every start time needs its own unit.",
            kind: StartUnit::KIND,
            default: Some(""),
        },
        JITTER,
        CLASS,
    ],
};

choice! {
    /// Unit of start times that the file gives as bare numbers.
    enum StartUnit {
        Picoseconds = "ps",
        Nanoseconds = "ns",
        Microseconds = "us",
        Milliseconds = "ms",
        Seconds = "s",
    }
}

const HEADER_LINE: &str = "start,source,destination,bytes";
/// Name of the optional column for queries.
const QUERY_COLUMN: &str = "query";

/// Indices of the columns of [`HEADER_LINE`], and of the query column.
#[derive(Clone, Copy)]
struct ColumnPositions {
    required: [usize; 4],
    query: Option<usize>,
}

/// Numbers of a file's queries by label, counted in the order in which the labels first appear.
#[derive(Default)]
struct QueryLabels(BTreeMap<String, u32>);

impl QueryLabels {
    fn query_number(&mut self, label: &str) -> u32 {
        if label.is_empty() {
            return u32::MAX;
        }
        // The number fits, since a file may list far fewer than 2³² flows.
        let next = self.0.len() as u32;
        match self.0.get(label) {
            Some(known) => *known,
            None => *self.0.entry(label.to_owned()).or_insert(next),
        }
    }
}

/// Reader of a CSV file of flows, with its settings and a finding about start times.
struct Reader<'a> {
    hosts: HostNames<'a>,
    unit: Option<&'static str>,
    /// True if any start time was a number without a unit.
    bare: Cell<bool>,
}

/// Builds the workload of a CSV file.
pub(super) fn build(name: &str, values: &Values, ctx: &Context) -> Result<FlowTrace, Vec<Fault>> {
    let unit = values.get::<Option<StartUnit>>("unit").map(StartUnit::word);
    let reader = Reader { hosts: HostNames::new(ctx), unit, bare: Cell::new(false) };
    let made = FlowTrace::read_flows(name, values, ctx, |file| reader.read_rows(file))?;
    if unit.is_some() && !reader.bare.get() {
        let note = format!(
            "traffic `{name}`: `unit` has no effect, because every start time in `{}` has its own \
                     unit",
            values.word("file")
        );
        ctx.notes.borrow_mut().push(note);
    }
    Ok(made)
}

/// Splits a line of a CSV file into its fields.
fn split_fields(line: &str) -> Vec<Cow<'_, str>> {
    if !line.contains('"') {
        return line.split(',').map(|field| field.trim().into()).collect();
    }
    let mut table = csv::ReaderBuilder::new();
    let table = table.has_headers(false).flexible(true).trim(csv::Trim::All);
    let records = table.from_reader(line.as_bytes()).into_records().flatten();
    records.flat_map(|record| record.iter().map(|field| field.to_owned().into()).collect::<Vec<_>>()).collect()
}

/// Returns the indices of the columns from the header line, in any order, in upper or lower case.
fn parse_header(header: &[Cow<str>]) -> Option<ColumnPositions> {
    let of = |name: &str| header.iter().position(|field| field.eq_ignore_ascii_case(name));
    let mut needed = [0; 4];
    for (place, name) in needed.iter_mut().zip(HEADER_LINE.split(',')) {
        *place = of(name)?;
    }
    let query = of(QUERY_COLUMN);
    (header.len() == needed.len() + usize::from(query.is_some())).then_some(ColumnPositions { required: needed, query })
}

impl Reader<'_> {
    fn read_rows(&self, file: &mut dyn BufRead) -> Result<Vec<TracedFlow>, Vec<LineFault>> {
        let (mut columns_of, mut header, mut labels) = (None, false, QueryLabels::default());
        let rows = parse_lines(file, |_, line| {
            if line.trim().is_empty() || line.starts_with('#') {
                return Ok(None);
            }
            let fields = split_fields(line);
            match (&columns_of, std::mem::replace(&mut header, true)) {
                (Some(columns), _) => self.parse_row(&fields, columns, &mut labels).map(Some),
                // A wrong header is reported once, at its own line. Later rows are skipped, since their columns are
                // unknown.
                (None, true) => Ok(None),
                (None, false) => {
                    columns_of = parse_header(&fields);
                    let start: String = fields.join(",").chars().take(60).collect();
                    let wrong = || {
                        (format!("`{start}`"), format!("the header `{HEADER_LINE}`, or with a column `{QUERY_COLUMN}`"))
                    };
                    columns_of.map_or_else(|| Err(wrong()), |_| Ok(None))
                }
            }
        })?;
        if !header {
            return Err(vec![("no lines".into(), format!("the header `{HEADER_LINE}` and one line per flow"))]);
        }
        if rows.is_empty() {
            return Err(vec![("no flows".into(), "at least one line after the header".into())]);
        }
        Ok(rows)
    }

    fn parse_row(
        &self,
        fields: &[Cow<str>],
        columns: &ColumnPositions,
        labels: &mut QueryLabels,
    ) -> Result<TracedFlow, LineFault> {
        let count = columns.required.len() + usize::from(columns.query.is_some());
        if fields.len() != count {
            return Err((format!("{} fields", fields.len()), format!("{count} fields")));
        }
        let [start, src, dst, bytes] = columns.required.map(|i| &*fields[i]);
        let start = self.parse_start(start)?;
        let (src, dst) = self.hosts.find_pair(src, dst)?;
        let query = columns.query.map_or(u32::MAX, |i| labels.query_number(&fields[i]));
        Ok(TracedFlow { start, src, dst, bytes: parse_size(bytes)?, class: None, query })
    }

    fn parse_start(&self, text: &str) -> Result<Time, LineFault> {
        let bare = text.ends_with(|c: char| c.is_ascii_digit());
        self.bare.set(self.bare.get() || bare);
        let whole = match (bare, self.unit) {
            (true, Some(unit)) => format!("{text}{unit}"),
            _ => text.to_owned(),
        };
        let rule = || match self.unit {
            Some(unit) => format!("a time in {unit}, or one with a unit, such as `1.5ms`"),
            None => "a time with its unit, such as `1.5ms`, or the key `unit` in the scenario".into(),
        };
        let meant = || spelling_hint(&ParamKind::Time { min: 0 }, text);
        let Dur(ps) =
            parse_dur(&whole).map_err(|why| (format!("start `{text}` {why}"), format!("{}{}", rule(), meant())))?;
        Ok(Time(ps))
    }
}

fn parse_size(text: &str) -> Result<u64, LineFault> {
    let bytes = text.parse::<u64>().ok().or_else(|| parse_bytes(text).ok().map(|bytes| bytes.0));
    let rule = || {
        let meant = spelling_hint(&ParamKind::Size { min: 1 }, text);
        format!("a whole number of bytes, at least 1, or a size such as `20KB`{meant}")
    };
    bytes.filter(|n| *n > 0).ok_or_else(|| (format!("bytes `{text}`"), rule()))
}
