//! Flows that a file lists, and code that the readers of all formats share.

use super::common::make_fault;
use super::draft::FlowDraft;
use super::{Context, ENDLESS_BYTES, QuerySize};
use crate::fault::Fault;
use crate::limits::MAX_FLOWS;
use mech::params::{Param, ParamKind, Values};
use mech::{ClassSet, HostId};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::{BufRead, Read};
use std::sync::Arc;
use units::{Dur, Time};

pub(super) const FILE: Param = Param {
    name: "file",
    doc: "Path of the file, relative to the folder of the scenario.",
    kind: ParamKind::Text,
    default: None,
};

/// Largest number of faults that are reported for one file.
pub(super) const MAX_REPORTED_FAULTS: usize = 10;

/// Fault of a line: the text found, and the rule.
pub(super) type LineFault = (String, String);

/// Flows of a workload that a file lists.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FlowTrace {
    rows: Arc<[TracedFlow]>,
    /// Number of flows of each query.
    queries: Arc<[u32]>,
}

/// Flow of the file; sorted by start, then source, then line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TracedFlow {
    pub start: Time,
    pub src: HostId,
    pub dst: HostId,
    pub bytes: u64,
    /// Traffic class of the flow, if the file has one.
    pub class: Option<u8>,
    /// Number of the flow's query, set by the reader; `u32::MAX` without a query.
    pub query: u32,
}

/// Numbers the queries in the order of their first flows, and returns the number of flows of each.
fn number_queries(rows: &mut [TracedFlow]) -> Vec<u32> {
    let (mut numbers, mut sizes) = (BTreeMap::new(), Vec::new());
    for row in rows.iter_mut().filter(|row| row.query != u32::MAX) {
        row.query = *numbers.entry(row.query).or_insert_with(|| {
            sizes.push(0);
            sizes.len() as u32 - 1
        });
        sizes[row.query as usize] += 1;
    }
    sizes
}

impl FlowTrace {
    /// Reads the flows that `parse` finds in the workload's `file`, line by line.
    pub fn read_flows(
        name: &str,
        values: &Values,
        ctx: &Context,
        parse: impl FnOnce(&mut dyn BufRead) -> Result<Vec<TracedFlow>, Vec<LineFault>>,
    ) -> Result<FlowTrace, Vec<Fault>> {
        let path = values.word("file");
        let mut file = (ctx.open)(path)
            .map_err(|why| vec![make_fault("file", format!("`{path}`: {why}"), "a file that can be read")])?;
        let mut rows = parse(&mut *file).map_err(|faults| {
            let all = faults.into_iter();
            all.map(|(found, rule)| make_fault("file", format!("`{path}`, {found}"), rule)).collect::<Vec<_>>()
        })?;
        rows.sort_by_key(|row| (row.start, row.src));
        let late = rows.iter().filter(|row| row.start.0 >= ctx.duration.0).count();
        if late > 0 {
            let note = format!(
                "traffic `{name}`: {late} of {} flows in `{path}` start at or after the duration of {} and are left \
                 out. Increase `duration` to include these flows",
                rows.len(),
                ctx.duration
            );
            ctx.notes.borrow_mut().push(note);
        }
        let queries = number_queries(&mut rows).into();
        Ok(FlowTrace { rows: rows.into(), queries })
    }

    /// Returns the number of flows in each query of the file.
    pub fn query_size(&self) -> QuerySize {
        if self.queries.is_empty() { QuerySize::None } else { QuerySize::Listed(self.queries.clone()) }
    }

    /// Returns the highest traffic class of any flow in the file, if the file has classes.
    pub fn class(&self) -> Option<u8> {
        self.rows.iter().filter_map(|row| row.class).max()
    }

    /// Returns the traffic classes of the flows in the file.
    pub fn classes(&self) -> ClassSet {
        let each = self.rows.iter().filter_map(|row| row.class);
        each.fold(ClassSet::NONE, |set, class| set.union(ClassSet::single(class)))
    }

    /// Returns true if all flows of the file are without end.
    pub fn is_endless(&self) -> bool {
        self.rows.iter().all(|row| row.bytes == ENDLESS_BYTES)
    }

    /// Returns the number of flows.
    pub fn count_flows(&self) -> usize {
        self.rows.len()
    }

    /// Returns the largest number of flows that start within a time, and their mean payload.
    pub fn flows_within(&self, within: Dur) -> (f64, f64) {
        let (mut first, mut bytes, mut most) = (0, 0u128, (0, 0));
        for (last, row) in self.rows.iter().enumerate() {
            bytes += u128::from(row.bytes);
            while self.rows[first].start.saturating_add(within) <= row.start {
                bytes -= u128::from(self.rows[first].bytes);
                first += 1;
            }
            most = most.max((last + 1 - first, bytes));
        }
        let (flows, bytes) = (most.0 as f64, most.1 as f64);
        (flows, bytes / flows.max(1.0))
    }

    pub fn flow_iterator(&self) -> TracedFlows {
        TracedFlows { rows: self.rows.clone(), at: 0 }
    }
}

/// Splits a line into words; a `#` begins a comment.
pub(super) fn split_words(line: &str) -> Vec<&str> {
    line.split('#').next().unwrap_or("").split_whitespace().collect()
}

/// Length of the longest line of a file in bytes. Without a bound, a file without line ends would be read into memory.
const MAX_LINE_BYTES: u64 = 1 << 20;

/// Parses a file line by line with `say`, which gets each line and its number from 1. Returns the values, or the faults
/// of the first wrong lines. Only one line of the file is in memory at a time.
pub(super) fn parse_lines<T>(
    file: &mut dyn BufRead,
    say: impl FnMut(usize, &str) -> Result<Option<T>, LineFault>,
) -> Result<Vec<T>, Vec<LineFault>> {
    parse_first_lines(file, &Cell::new(usize::MAX), say)
}

/// Parses the first lines of a file with `say`, until there are as many values as `say` writes to `most`. Later lines
/// are not read.
pub(super) fn parse_first_lines<T>(
    file: &mut dyn BufRead,
    most: &Cell<usize>,
    mut say: impl FnMut(usize, &str) -> Result<Option<T>, LineFault>,
) -> Result<Vec<T>, Vec<LineFault>> {
    let (mut good, mut faults) = (Vec::new(), Vec::new());
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        match (&mut *file).take(MAX_LINE_BYTES).read_until(b'\n', &mut line) {
            Ok(0) => break,
            Ok(read) if read as u64 == MAX_LINE_BYTES => {
                return Err(vec![(
                    format!("line {number}: more than {MAX_LINE_BYTES} bytes"),
                    "one line per flow".into(),
                )]);
            }
            Ok(_) => {}
            Err(why) => return Err(vec![(format!("line {number}: {why}"), "a file that can be read".into())]),
        }
        let Ok(text) = std::str::from_utf8(&line) else {
            return Err(vec![(format!("line {number}: bytes that are not text"), "UTF-8 text".into())]);
        };
        let text = if number == 1 { text.trim_start_matches('\u{feff}') } else { text };
        match say(number, text.trim_end_matches(['\n', '\r'])) {
            Ok(said) => good.extend(said),
            Err((found, rule)) => faults.push((format!("line {number}: {found}"), rule)),
        }
        if faults.len() == MAX_REPORTED_FAULTS || good.len() + faults.len() >= most.get() {
            break;
        }
        if good.len() as u64 > MAX_FLOWS {
            let found = format!("line {number}: flow {}", good.len());
            return Err(vec![(found, format!("at most {MAX_FLOWS} flows, which need about 10 GB with their results"))]);
        }
    }
    if faults.is_empty() { Ok(good) } else { Err(faults) }
}

/// Hosts by the names that files of flows use.
pub(super) struct HostNames<'a> {
    names: BTreeMap<&'a str, u32>,
    hosts: u32,
}

impl<'a> HostNames<'a> {
    pub fn new(ctx: &Context<'a>) -> HostNames<'a> {
        let nodes = ctx.topology.nodes.iter().enumerate();
        let names = nodes.map(|(i, node)| (node.name.as_str(), i as u32)).collect();
        HostNames { names, hosts: ctx.topology.hosts }
    }

    /// Returns the number of hosts.
    pub fn count_hosts(&self) -> u32 {
        self.hosts
    }

    /// Returns the host with a name, or with a number that no node has as its name. An apostrophe may precede a name
    /// that a spreadsheet would read as a formula, as in exported tables.
    pub fn find_host(&self, what: &str, text: &str) -> Result<HostId, LineFault> {
        let marked = || self.names.get(text.strip_prefix('\'')?);
        let node = self.names.get(text).or_else(marked).copied().or_else(|| text.parse::<u32>().ok());
        let found = node.filter(|node| *node < self.hosts).map(HostId);
        let rule = || format!("the name of a host, or the number of a host from 0 to {}", self.hosts - 1);
        found.ok_or_else(|| (format!("{what} `{text}`"), rule()))
    }

    /// Returns the source and the destination of a flow, two different hosts.
    pub fn find_pair(&self, source: &str, destination: &str) -> Result<(HostId, HostId), LineFault> {
        let (src, dst) = (self.find_host("source", source)?, self.find_host("destination", destination)?);
        match src == dst {
            true => Err((format!("`{source}` sends to itself"), "a destination other than the source".into())),
            false => Ok((src, dst)),
        }
    }
}

/// Parses the size of a flow as a plain number of bytes.
pub(super) fn parse_plain_bytes(text: &str) -> Result<u64, LineFault> {
    let rule = || "a whole number of bytes, at least 1".into();
    text.parse::<u64>().ok().filter(|n| *n > 0).ok_or_else(|| (format!("size `{text}`"), rule()))
}

/// Parses a decimal, with or without an exponent, times 10 to the power of `zeros`, to the nearest whole number.
pub(super) fn parse_scaled(text: &str, zeros: i32) -> Option<u64> {
    let (number, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let digits = format!("{whole}{part}");
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let shift = i64::from(exponent.parse::<i16>().ok()?) + i64::from(zeros);
    let leading = digits.bytes().take_while(|digit| *digit == b'0').count();
    let point = i64::try_from(whole.len()).ok()? + shift - i64::try_from(leading).ok()?;
    let digits = &digits.as_bytes()[leading..];
    if digits.is_empty() {
        return Some(0);
    }
    if !(0..=20).contains(&point) {
        return if point < 0 { Some(0) } else { None };
    }
    let point = point as usize;
    let digit = |at: usize| digits.get(at).map_or(0, |digit| u128::from(digit - b'0'));
    let floor = (0..point).fold(0, |n, at| n * 10 + digit(at));
    u64::try_from(floor + u128::from(digit(point) >= 5)).ok()
}

/// Unit of time that a file uses.
#[derive(Clone, Copy)]
pub(super) struct TimeUnit {
    pub name: &'static str,
    /// Exponent of the unit as a power of ten of picoseconds.
    pub decimal_exponent: i32,
}

/// Parses a start time that is a decimal in a unit.
pub(super) fn parse_start(text: &str, unit: TimeUnit) -> Result<Time, LineFault> {
    let rule = || format!("a number of {}, at least 0", unit.name);
    parse_scaled(text, unit.decimal_exponent).map(Time).ok_or_else(|| (format!("start `{text}`"), rule()))
}

/// Iterator over the flows that a file lists for a workload.
#[derive(Clone, Debug)]
pub(super) struct TracedFlows {
    rows: Arc<[TracedFlow]>,
    at: usize,
}

impl TracedFlows {
    pub fn next_start(&self) -> Time {
        self.rows.get(self.at).map_or(Time::NEVER, |row| row.start)
    }

    /// Returns the traffic class of the row taken last, if the file has classes.
    pub fn class(&self) -> Option<u8> {
        self.rows[self.at.checked_sub(1)?].class
    }

    pub fn take_next(&mut self, out: &mut Vec<FlowDraft>) {
        let TracedFlow { src, dst, bytes, query, .. } = self.rows[self.at];
        out.push(FlowDraft::on_own_connection(src, dst, bytes, query));
        self.at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_LINE_BYTES, parse_lines, parse_scaled};
    use std::io::{BufReader, Read, Repeat, repeat};

    /// Endless input without line ends, which counts the bytes that were read.
    struct Endless(Repeat, u64);

    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            self.1 += buffer.len() as u64;
            self.0.read(buffer)
        }
    }

    #[test]
    fn an_endless_file_is_read_up_to_the_largest_number_of_flows() {
        let mut file = BufReader::new(Endless(repeat(b'\n'), 0));
        let found = parse_lines(&mut file, |_, _| Ok(Some(()))).unwrap_err();
        let rule = "at most 20000000 flows, which need about 10 GB with their results";
        assert_eq!(found, [("line 20000001: flow 20000001".to_string(), rule.to_string())]);
        assert!(file.get_ref().1 < 20_100_000);
    }

    #[test]
    fn an_endless_line_is_refused() {
        let mut file = BufReader::new(Endless(repeat(b'a'), 0));
        let found = parse_lines(&mut file, |_, _| Ok(Some(()))).unwrap_err();
        assert_eq!(found, [(format!("line 1: more than {MAX_LINE_BYTES} bytes"), "one line per flow".to_string())]);
        assert!(file.get_ref().1 < 2 * MAX_LINE_BYTES);
    }

    #[test]
    fn a_decimal_is_scaled_exactly_and_rounded_once() {
        for (text, zeros, said) in [
            ("2.000000123", 12, Some(2_000_000_123_000)),
            ("2.0000000000000002", 12, Some(2_000_000_000_000)),
            ("0.1234567890125", 12, Some(123_456_789_013)),
            ("1e-05", 12, Some(10_000_000)),
            ("1.5E+3", 0, Some(1500)),
            ("0.4", 0, Some(0)),
            ("0.5", 0, Some(1)),
            ("0.04", 0, Some(0)),
            ("0", 12, Some(0)),
            ("00012", 0, Some(12)),
            (".5", 1, Some(5)),
            ("18446744073709551615", 0, Some(u64::MAX)),
            ("18446744073709551616", 0, None),
            ("1e99", 0, None),
            ("-1", 0, None),
            ("nan", 0, None),
            ("", 0, None),
            (".", 0, None),
            ("1.2.3", 0, None),
        ] {
            assert_eq!(parse_scaled(text, zeros), said, "{text:?}");
        }
    }
}
