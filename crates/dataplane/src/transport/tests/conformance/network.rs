//! Conformance cases of a sender and a receiver over a scripted network.

use super::ends::item;
use super::script::{self, Item, Outcome, Seen, dur, lines, number, text};
use crate::transport::TcpConfig;
use crate::transport::tests::pair::{Direction, Fault, Pair};
use toml::Table;
use units::Time;

/// Runs a conformance case, and compares `data`, `acks`, `trace` and `outcome` if the case has them.
pub fn run(case: &Table, bytes: u64, cfg: TcpConfig) -> Outcome {
    let mut pair = Pair::new(bytes, cfg);
    if !text(case, "delay").is_empty() {
        pair.delay = dur(text(case, "delay"))?;
    }
    if !text(case, "gap").is_empty() {
        pair.gap = dur(text(case, "gap"))?;
    }
    for line in lines(case, "network") {
        pair = fault(pair, line)?;
    }
    pair.log = Some(vec![]);
    let pair = pair.run();
    for (key, way) in [("data", Direction::Data), ("acks", Direction::Ack)] {
        if case.contains_key(key) {
            let expected = script::list(text(case, key))?;
            script::compare(key, &expected, &items(&pair, way), exact(way))?;
        }
    }
    trace(case, &pair)?;
    let pairs = text(case, "outcome").split_whitespace();
    pairs.map(|w| w.split_once('=').ok_or(format!("`{w}`"))).try_for_each(|pair_of| {
        let (name, expected) = pair_of?;
        seen(&pair, name)?.check(name, expected)
    })
}

fn exact(way: Direction) -> &'static [&'static str] {
    match way {
        Direction::Data => &["rtx", "cwr", "ece"],
        Direction::Ack => &["ece", "sack"],
    }
}

/// Adds the network fault that a line of a conformance case describes.
/// `data 3 lose`, `ack 2 late 200us`, `data 4 twice` and `data 5 mark` name the n-th emission of a direction. `seg 3
/// lose` and `seg 3#1 lose` name the first and the second sending of segment 3.
fn fault(pair: Pair, line: &str) -> Outcome<Pair> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [way, place, what, ..] = words[..] else { return Err(format!("`{line}`")) };
    let fault = match (what, words.get(3)) {
        ("lose", None) => Fault::Lose,
        ("twice", None) => Fault::Twice,
        ("mark", None) => Fault::Mark,
        ("cut", None) => Fault::Cut,
        ("late", Some(by)) => Fault::Late(dur(by)?),
        _ => return Err(format!("`{line}`")),
    };
    Ok(match way {
        "data" => pair.fault(Direction::Data, number(place)?, fault),
        "ack" => pair.fault(Direction::Ack, number(place)?, fault),
        "seg" => {
            let (segment, sending) = place.split_once('#').unwrap_or((place, "0"));
            pair.fault_at(number(segment)?, number(sending)?, fault)
        }
        _ => return Err(format!("`{line}`")),
    })
}

fn items(pair: &Pair, way: Direction) -> Vec<Item> {
    pair.log.iter().flatten().filter(|e| e.way == way).map(|e| item(&e.pkt, &e.ext, &pair.cfg)).collect()
}

/// Compares all packets sent, in order, with lines `TIME data|ack PACKET ...`.
fn trace(case: &Table, pair: &Pair) -> Outcome {
    let expected = lines(case, "trace");
    if expected.is_empty() {
        return Ok(());
    }
    let mut rest = pair.log.iter().flatten();
    for line in expected {
        let words: Vec<&str> = line.splitn(3, ' ').collect();
        let [at, way, packets] = words[..] else { return Err(format!("`{line}`")) };
        let at = Time(dur(at)?.0);
        let way = if way == "data" { Direction::Data } else { Direction::Ack };
        let packets = script::list(packets)?;
        let came: Vec<_> = rest.by_ref().take(packets.len()).collect();
        let items: Vec<Item> = came.iter().map(|e| item(&e.pkt, &e.ext, &pair.cfg)).collect();
        script::compare(&format!("trace `{line}`"), &packets, &items, exact(way))?;
        if let Some(other) = came.iter().find(|e| e.way != way || e.pkt.sent != at) {
            return Err(format!("trace `{line}`\n    came {:?} at {}", other.way, other.pkt.sent));
        }
    }
    match rest.next() {
        Some(e) => Err(format!("trace: after its end {:?} at {}", item(&e.pkt, &e.ext, &pair.cfg).name, e.pkt.sent)),
        None => Ok(()),
    }
}

fn seen(pair: &Pair, name: &str) -> Outcome<Seen> {
    let (s, r) = (pair.sender.stats(), pair.receiver.stats());
    let span = |at: Option<Time>| Seen::Span(at.map(|t| t - Time::ZERO));
    Ok(match name {
        "delivered" => Seen::Truth(pair.receiver.is_complete()),
        "done" => Seen::Truth(pair.sender.is_done()),
        "completed" => span(pair.completed),
        "ended" => span(Some(pair.now)),
        "expired" => span(pair.expiries.first().copied()),
        "timeouts" => Seen::Count(s.timeouts.into()),
        "retransmissions" => Seen::Count(s.retransmissions.into()),
        "fast_retransmits" => Seen::Count(s.fast_retransmits.into()),
        "tlp_probes" => Seen::Count(s.tlp_probes.into()),
        "undos" => Seen::Count(s.undos.into()),
        "cuts" => Seen::Count(s.cuts.into()),
        "cwnd" => Seen::Count(s.cwnd.into()),
        "ssthresh" => Seen::Count(s.ssthresh.into()),
        "alpha" => Seen::Fraction(s.alpha),
        "duplicates" => Seen::Count(r.duplicates.into()),
        "received" => Seen::Count(pair.receiver.received_bytes()),
        _ => return Err(format!("no outcome `{name}`")),
    })
}
