//! Flow files of the HPCC ns-3 simulator and of its derivatives.

use super::Context;
use super::common::{CLASS, JITTER, make_fault};
use super::flow_rows::{
    FILE, FlowTrace, HostNames, LineFault, TimeUnit, TracedFlow, parse_first_lines, parse_plain_bytes, parse_start,
    split_words,
};
use crate::fault::Fault;
use mech::choice;
use mech::params::{Param, ParamKind, Spec, Values};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::io::BufRead;
use units::Time;

pub(super) const SPEC: Spec = Spec {
    slot: "traffic",
    kind: "hpcc",
    doc: "Flow file of the HPCC ns-3 simulator. The first line has the number of flows. One line `source destination \
          priority_group destination_port bytes start_seconds` per flow follows, in any order. Lines of five numbers lack the \
          destination port, or the priority group if the third number is above 7. Text after the last flow is \
          ignored. Hosts are given by the ids of an `hpcc` topology, and by their numbers in others. Destination \
          ports are ignored.",
    cite: "Li et al., HPCC, SIGCOMM 2019: simulation/mix of its repository",
    params: &[
        FILE,
        Param {
            name: "priority_group",
            doc: "Use of the priority group of a flow, 0 to 7. `class`: traffic class of its packets (switches with \
                  `strict_priority` serve higher classes first). `ignored`: no effect.",
            kind: PriorityGroup::KIND,
            default: Some("ignored"),
        },
        Param {
            name: "origin",
            doc: "Time in the file that corresponds to the start of the run. Files of the HPCC simulator begin at 2s.",
            kind: ParamKind::Time { min: 0 },
            default: Some("0s"),
        },
        JITTER,
        CLASS,
    ],
};

choice! {
    /// Meaning of the column for a flow's priority group.
    enum PriorityGroup {
        Ignored = "ignored",
        Class = "class",
    }
}

/// Reader of a flow file, with its settings and the destination ports found so far.
struct Reader<'a> {
    hosts: HostNames<'a>,
    origin: Time,
    classes: bool,
    ports: RefCell<BTreeSet<u16>>,
}

/// Builds the workload of a flow file of the HPCC simulator.
pub(super) fn build(name: &str, values: &Values, ctx: &Context) -> Result<FlowTrace, Vec<Fault>> {
    let classes = values.get::<PriorityGroup>("priority_group") == PriorityGroup::Class;
    if classes && values.has("dscp") {
        let rule = "no value if `priority_group` is `class`, because the file sets the class of each flow";
        return Err(vec![make_fault("dscp", values.count("dscp").to_string(), rule)]);
    }
    if classes && values.count("class") > 0 {
        let found = values.count("class").to_string();
        return Err(vec![make_fault(
            "class",
            found,
            "no value if `priority_group` is `class`, because the file sets the \
                                               class",
        )]);
    }
    let origin = Time(values.time("origin").0);
    let reader = Reader { hosts: HostNames::new(ctx), origin, classes, ports: RefCell::default() };
    let made = FlowTrace::read_flows(name, values, ctx, |file| reader.read_rows(file))?;
    let ports = reader.ports.into_inner();
    if ports.len() > 1 {
        let (n, path) = (ports.len(), values.word("file"));
        let note = format!("traffic `{name}`: Overspill ignores the {n} different destination ports in `{path}`");
        ctx.notes.borrow_mut().push(note);
    }
    Ok(made)
}

impl Reader<'_> {
    fn read_rows(&self, file: &mut dyn BufRead) -> Result<Vec<TracedFlow>, Vec<LineFault>> {
        let rule = || "the number of flows".to_string();
        // Line number of the first line that is not empty, and the number of flows that this line must contain.
        let (mut first, mut count) = (None, None);
        let most = Cell::new(usize::MAX);
        let rows = parse_first_lines(file, &most, |number, line| {
            let words = split_words(line);
            if words.is_empty() {
                return Ok(None);
            }
            if first.replace(first.unwrap_or(number)).is_some() {
                return if count.is_some() { self.parse_row(&words).map(Some) } else { Ok(None) };
            }
            count = match words[..] {
                [count] => count.parse::<usize>().ok().filter(|count| *count > 0),
                _ => None,
            };
            let start: String = words.join(" ").chars().take(60).collect();
            most.set(count.unwrap_or(usize::MAX));
            count.map_or_else(|| Err((format!("`{start}`"), rule())), |_| Ok(None))
        })?;
        match (first, count) {
            (Some(_), Some(count)) if rows.len() == count => Ok(rows),
            (Some(line), Some(count)) => Err(vec![(
                format!(
                    "line {line}: a count of {count} flows, but {} lines with \
                                   flows",
                    rows.len()
                ),
                rule(),
            )]),
            _ => Err(vec![("no lines".into(), rule())]),
        }
    }

    fn parse_row(&self, words: &[&str]) -> Result<TracedFlow, LineFault> {
        let (src, dst, group, port, bytes, at) = match *words {
            [src, dst, group, port, bytes, at] => (src, dst, group, port, bytes, at),
            // Forks of the HPCC simulator omit the destination port or the priority group. Priority groups are 0 to 7,
            // and ports are larger.
            [src, dst, third, bytes, at] if third.parse::<u16>().is_ok_and(|port| port > 7) => {
                (src, dst, "0", third, bytes, at)
            }
            [src, dst, third, bytes, at] => (src, dst, third, "0", bytes, at),
            _ => {
                let rule = "6 fields: source, destination, priority group, destination port, bytes, start in seconds; \
                            or 5 fields, without the port or the group";
                return Err((format!("{} fields", words.len()), rule.into()));
            }
        };
        let (src, dst) = self.hosts.find_pair(src, dst)?;
        let group_rule = || "a whole number from 0 to 7".to_string();
        let class = group.parse::<u8>().ok().filter(|group| *group < 8);
        let class = class.ok_or_else(|| (format!("priority group `{group}`"), group_rule()))?;
        let port_rule = || "a whole number from 0 to 65535".to_string();
        let port = port.parse::<u16>().map_err(|_| (format!("destination port `{port}`"), port_rule()))?;
        self.ports.borrow_mut().insert(port);
        let bytes = parse_plain_bytes(bytes)?;
        let Time(instant) = parse_start(at, TimeUnit { name: "seconds", decimal_exponent: 12 })?;
        let begin = instant.checked_sub(self.origin.0);
        let rule = || format!("seconds from `origin`, {}, on", self.origin);
        let begin = begin.ok_or_else(|| (format!("start `{at}`"), rule()))?;
        Ok(TracedFlow { start: Time(begin), src, dst, bytes, class: self.classes.then_some(class), query: u32::MAX })
    }
}
