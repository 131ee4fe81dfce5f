//! What must hold between the values of several keys.

use super::fields::Faults;
use super::tree::Node;
use crate::diag::message;
use crate::model::Choice;
use crate::topology::Topology;
use mech::params::Values;
use units::{Amount, Bytes, Dur, Time};

/// What a bounce with endless memory says of itself.
const NEVER_BOUNCES: &str = "bounce with an unlimited buffer never bounces: its utilisation is always 0";
/// What a bounce with shared memory says of itself.
const SHARED_BOUNCES: &str = "bounce with a shared buffer: utilisation is measured against the dynamic threshold of \
                              the instant, and the bounce queues are memory beside the shared one";

fn plain(amount: Amount) -> (u64, &'static str) {
    match amount {
        Amount::Packets(n) => (n, "packets"),
        Amount::Bytes(n) => (n, "bytes"),
    }
}

/// RED's two thresholds. `parent` is the table that holds `marking`.
pub(super) fn marking(parent: &Node, marking: &Choice, faults: &mut Faults) {
    if marking.kind != "red" {
        return;
    }
    let (min, max) = (marking.values.amount("min"), marking.values.amount("max"));
    let ((low, unit), (high, other)) = (plain(min), plain(max));
    if unit != other {
        let found = format!("{max}, in {other} beside min = {min}");
        faults.add(&parent.find("marking.max"), message(found, format!("the unit of min, {unit}")));
    } else if low >= high {
        faults.add(&parent.find("marking.min"), message(min, format!("less than max = {max}")));
    }
}

/// Tables of two levels need addresses that say where a host is. `parent` is the table that holds the
/// slots.
pub(super) fn two_level(parent: &Node, routing: &Choice, net: &Topology, faults: &mut Faults) {
    if routing.kind == "two_level" && net.plan.is_none() {
        let rule = "`ecmp`, `spray` or `weighted`: `two_level` needs topology.kind = \"fat_tree\"";
        faults.add(&parent.find("routing.kind"), message("\"two_level\" in a network that is no `fat_tree`", rule));
    }
}

/// PABO's bounce queue is in the unit of the buffer. `parent` is the table that holds the slots;
/// where an override has put a buffer of another unit there (`overridden`), both stand, with a note.
pub(super) fn bounce(
    parent: &Node,
    (overflow, buffer, overridden): (&Choice, &Choice, bool),
    notes: &mut Vec<String>,
    faults: &mut Faults,
) {
    if overflow.kind != "bounce" {
        return;
    }
    let (memory, buffer_unit) = match buffer.kind.as_str() {
        "per_port" => (buffer.values.amount("size"), plain(buffer.values.amount("size")).1),
        "shared" => {
            notes.push(SHARED_BOUNCES.into());
            (Amount::Bytes(buffer.values.size("size")), "bytes")
        }
        _ => return notes.push(NEVER_BOUNCES.into()),
    };
    let size = overflow.values.amount("bounce_size");
    let unit = plain(size).1;
    if unit == buffer_unit {
        return;
    }
    if overridden {
        notes.push(format!("bounce queues of {size} beside a buffer of {memory}: two units in one switch"));
    } else {
        let found = format!("{size}, in {unit} beside a buffer in {buffer_unit}");
        let rule = format!("the unit of the buffer, {buffer_unit}");
        faults.add(&parent.find("overflow.bounce_size"), message(found, rule));
    }
}

/// Thresholds of pause are fixed or of what is free, one or the other; classes are some of the eight.
/// `parent` is the table that holds the slots.
pub(super) fn pause(parent: &Node, (pause, buffer): (&Choice, &Choice), faults: &mut Faults) {
    if pause.kind == "none" {
        return;
    }
    let values = &pause.values;
    let mut wrong = |key: &str, found: String, rule: &str| {
        faults.add(&parent.find(&format!("pause.{key}")), message(found, rule));
    };
    let [high, low, alpha, offset] = ["high", "low", "alpha", "offset"].map(|key| values.has(key));
    match (high, low, alpha) {
        (true, true, false) if values.size("low") >= values.size("high") => {
            let rule = format!("less than high = {}", Bytes(values.size("high")));
            wrong("low", Bytes(values.size("low")).to_string(), &rule);
        }
        (true, true, false) => {}
        (false, false, true) if buffer.kind != "shared" => {
            wrong("alpha", format!("alpha beside a `{}` buffer", buffer.kind), "a `shared` buffer beside alpha");
        }
        (false, false, true) => {}
        (false, false, false) => wrong("kind", "neither high nor alpha".into(), "high and low, or alpha"),
        (_, _, true) => wrong("alpha", "alpha beside high or low".into(), "high and low, or alpha"),
        (true, false, false) => wrong("high", "high without low".into(), "high and low"),
        (false, true, false) => wrong("low", "low without high".into(), "high and low"),
    }
    if offset && !alpha {
        wrong("offset", "offset without alpha".into(), "offset beside alpha; beside high it is low");
    }
    if values.has("refresh")
        && let Some(refresh) = values.count_or_off("refresh").filter(|n| *n > values.count("quanta"))
    {
        let rule = format!("at most quanta = {}", values.count("quanta"));
        wrong("refresh", refresh.to_string(), &rule);
    }
    if pause.kind == "pfc" && values.has("classes") {
        let classes = values.numbers("classes");
        let known = |n: &f64| n.fract() == 0.0 && *n <= 7.0;
        let mut once = classes.to_vec();
        once.sort_unstable_by(f64::total_cmp);
        once.dedup();
        if classes.is_empty() || !classes.iter().all(known) || once.len() < classes.len() {
            wrong("classes", format!("{classes:?}"), "one or more whole numbers from 0 to 7, each once");
        }
    }
}

/// The reserves of all ports come out of the shared memory. `parent` is the table that holds `buffer`.
pub(super) fn reserves(parent: &Node, buffer: &Choice, ports: usize, faults: &mut Faults) {
    if buffer.kind != "shared" {
        return;
    }
    let (size, reserved) = (buffer.values.size("size"), buffer.values.size("reserved"));
    if reserved.saturating_mul(ports as u64) > size {
        let found = format!("{} for each of {ports} ports", Bytes(reserved));
        let rule = format!("reserves that fit into size = {} together", Bytes(size));
        faults.add(&parent.find("buffer.reserved"), message(found, rule));
    }
}

/// Steps of time in duration and drain: one long wait is told step by step.
const MOST_BINS: u64 = 1_000_000;
/// The longest that a run may last: half of what 64 bits of picoseconds hold.
pub(super) const LONGEST: Dur = Dur(u64::MAX / 2);

/// The window lies in the run, the run in 64 bits, and a trace has a sensible number of steps.
/// `scenario` is the document; gives the end of the window and the width of a step.
pub(super) fn window(scenario: &Node, duration: Dur, measure: &Values, faults: &mut Faults) -> (Time, Dur) {
    let from = measure.time("from");
    let to = if measure.has("to") { measure.time("to") } else { duration };
    let drain = measure.time("drain");
    if to > duration {
        faults.add(&scenario.find("measure.to"), message(to, format!("at most duration = {duration}")));
    }
    if from >= to {
        let rule = format!("less than measure.to = {to}");
        faults.add(&scenario.find("measure.from"), message(from, rule));
    }
    let whole = duration.saturating_add(drain);
    if duration > LONGEST {
        faults.add(&scenario.find("duration"), message(duration, "at most 106 days"));
    } else if whole > LONGEST {
        let rule = "at most 106 days together with duration";
        faults.add(&scenario.find("measure.drain"), message(drain, rule));
    }
    let least = whole.0.div_ceil(MOST_BINS);
    let fine = (duration.0 / 200).max(Dur::us(1).0);
    let auto = Dur(if whole.0 / fine > 2 * MOST_BINS { least } else { fine });
    let bin = if measure.has("bin") { measure.time("bin") } else { auto };
    if measure.has("bin") && whole.0 / bin.0 > MOST_BINS {
        let rule = format!("at most a million steps in duration and drain, so at least {}", Dur(least));
        faults.add(&scenario.find("measure.bin"), message(bin, rule));
    }
    (Time(to.0), bin)
}

/// The queues of ports are followed apart beside the whole ports. `scenario` is the document.
pub(super) fn sub_queues(scenario: &Node, measure: &Values, faults: &mut Faults) {
    if measure.flag("sub_queues") && !measure.flag("queues") {
        faults.add(&scenario.find("measure.sub_queues"), message("true", "measure.queues = true beside it"));
    }
}

/// Sizes of headers that frames can have.
pub(super) fn framing(parent: &Node, framing: &Choice, faults: &mut Faults) {
    for key in ["header", "link", "min_frame", "gap"] {
        let size = framing.values.size(key);
        if size > 4096 {
            faults.add(&parent.find(&format!("framing.{key}")), message(Bytes(size), "at most 4096 bytes"));
        }
    }
}
