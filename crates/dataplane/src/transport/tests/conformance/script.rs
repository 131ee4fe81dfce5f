//! Parser of the conformance cases of `conformance/tcp/`; their README has the grammar.

use crate::transport::SPECS;
use crate::transport::TcpConfig;
use crate::transport::tests::pair;
use crate::transport::tests::pair::{value, values};
use crate::{Framing, Pkt};
use mech::params::Value;
use std::collections::BTreeMap;
use toml::{Table, Value as Toml};
use units::{Bytes, Dur, Time};

/// Result of a conformance case, with a description of its failure.
pub type Outcome<T = ()> = Result<T, String>;

/// Returns the string under a key of a TOML table; empty if there is none.
pub fn text<'a>(table: &'a Table, key: &str) -> &'a str {
    table.get(key).and_then(Toml::as_str).unwrap_or("")
}

/// Returns the strings of the array under a key of a TOML table; empty if there is none.
pub fn lines<'a>(table: &'a Table, key: &str) -> Vec<&'a str> {
    let all = table.get(key).and_then(Toml::as_array).into_iter().flatten();
    all.map(|line| line.as_str().expect(key)).collect()
}

pub fn dur(text: &str) -> Outcome<Dur> {
    units::parse_dur(text).map_err(|e| format!("`{text}`: {e}"))
}

pub fn number<T: std::str::FromStr>(text: &str) -> Outcome<T> {
    text.parse().map_err(|_| format!("`{text}` is no number"))
}

/// Returns the transport of a conformance case: `kind name=value ...`, with segments of 1000 bytes by default.
pub fn transport(line: &str) -> Outcome<TcpConfig> {
    let mut words = line.split_whitespace();
    let kind = words.next().ok_or("no transport")?;
    let spec = SPECS.iter().find(|s| s.kind == kind).ok_or(format!("no transport {kind}"))?;
    let mut given = vec![("mss", Value::Size(Bytes(1000)))];
    for word in words {
        let (name, text) = word.split_once('=').ok_or(format!("`{word}` is no name=value"))?;
        let param = spec.params.iter().find(|p| p.name == name).ok_or(format!("{kind} knows no {name}"))?;
        given.push((param.name, value(param, text)));
    }
    TcpConfig::new(kind, &values(kind, &given), Framing::ETHERNET).ok_or(format!("no transport {kind}"))
}

/// Packet in the notation of conformance cases: a name and its `/key` or `/key=value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub name: String,
    pub keys: BTreeMap<String, String>,
}

impl Item {
    pub fn new(name: String) -> Item {
        Item { name, keys: BTreeMap::new() }
    }
    pub fn with(mut self, key: &str, value: impl ToString) -> Item {
        self.keys.insert(key.into(), value.to_string());
        self
    }
    pub fn flag(self, key: &str, set: bool) -> Item {
        if set { self.with(key, "") } else { self }
    }
    fn shown(&self) -> String {
        let keys = self.keys.iter().map(|(k, v)| if v.is_empty() { format!("/{k}") } else { format!("/{k}={v}") });
        self.name.clone() + &keys.collect::<String>()
    }
}

/// Parses the packets of a word `NAME/key=value`, one for each number of a range `A-B` in the name.
fn items(word: &str) -> Outcome<Vec<Item>> {
    let mut parts = word.split('/');
    let names = numbers(parts.next().unwrap_or(""))?;
    let pair = |part: &str| {
        let (k, v) = part.split_once('=').unwrap_or((part, ""));
        (k.to_owned(), v.to_owned())
    };
    let keys: BTreeMap<_, _> = parts.map(pair).collect();
    Ok(names.into_iter().map(|name| Item { name, keys: keys.clone() }).collect())
}

/// Parses a list of packets that are separated by spaces.
pub fn list(line: &str) -> Outcome<Vec<Item>> {
    Ok(line.split_whitespace().map(items).collect::<Outcome<Vec<_>>>()?.into_iter().flatten().collect())
}

/// Returns the numbers of a range as words: `3-5` gives 3, 4, 5. Any other word is returned unchanged.
pub fn numbers(word: &str) -> Outcome<Vec<String>> {
    match word.split_once('-') {
        Some((from, to)) => {
            let (from, to) = (number::<u64>(from)?, number::<u64>(to)?);
            Ok((from..=to).map(|n| n.to_string()).collect())
        }
        None => Ok(vec![word.to_owned()]),
    }
}

/// Parses a byte range `start..end` from `3` or `3-5` (segments) or `4400..5000` (bytes).
pub fn extent(word: &str, mss: u64) -> Outcome<(u64, u64)> {
    if let Some((a, b)) = word.split_once("..") {
        return Ok((number(a)?, number(b)?));
    }
    let (from, to) = word.split_once('-').unwrap_or((word, word));
    Ok((number::<u64>(from)? * mss, (number::<u64>(to)? + 1) * mss))
}

/// Parses a byte offset from `3` (that many segments) or `4400B`.
pub fn offset(word: &str, mss: u64) -> Outcome<u64> {
    match word.strip_suffix('B') {
        Some(bytes) => number(bytes),
        None => Ok(number::<u64>(word)? * mss),
    }
}

/// Returns the shortest notation of the byte range `start..end`.
pub fn extent_name(start: u64, end: u64, mss: u64) -> String {
    match (start % mss == 0 && end % mss == 0 && end > start, end == start + mss) {
        (true, true) => format!("{}", start / mss),
        (true, false) if end > start + mss => format!("{}-{}", start / mss, end / mss - 1),
        _ => format!("{start}..{end}"),
    }
}

/// Parses SACK blocks such as `3-5,7`, which are in segments.
pub fn blocks(word: &str, mss: u64) -> Outcome<Vec<(u64, u64)>> {
    word.split(',').filter(|b| !b.is_empty()).map(|b| extent(b, mss)).collect()
}

/// Time of an event in a conformance case: now, after a duration, or at an instant.
#[derive(Clone, Copy, Debug)]
pub enum When {
    Now,
    After(Dur),
    At(Time),
}

/// Line of a conformance case: `[+TIME | @TIME] event [-> packets] [| name=value ...]`.
#[derive(Clone, Debug)]
pub struct Step {
    pub when: When,
    pub event: Vec<String>,
    pub sent: Vec<Item>,
    pub vars: Vec<(String, String)>,
}

impl Step {
    pub fn read(line: &str) -> Outcome<Step> {
        let (line, vars) = line.split_once('|').unwrap_or((line, ""));
        let (event, sent) = line.split_once("->").unwrap_or((line, ""));
        let mut event: Vec<String> = event.split_whitespace().map(str::to_owned).collect();
        let when = match event.first().map(|w| w.split_at(1)) {
            Some(("+", by)) => When::After(dur(by)?),
            Some(("@", at)) => When::At(Time(dur(at)?.0)),
            _ => When::Now,
        };
        if !matches!(when, When::Now) {
            event.remove(0);
        }
        let pair = |w: &str| w.split_once('=').map(|(k, v)| (k.to_owned(), v.to_owned())).ok_or(format!("`{w}`"));
        let vars = vars.split_whitespace().map(pair).collect::<Outcome<Vec<_>>>()?;
        Ok(Step { when, event, sent: list(sent)?, vars })
    }
    /// Returns the value of `key=value` among the event's words, or an empty text for a bare `key`.
    pub fn word(&self, key: &str) -> Option<&str> {
        self.event.iter().find_map(|w| match w.split_once('=') {
            Some((k, v)) => (k == key).then_some(v),
            None => (w == key).then_some(""),
        })
    }
    pub fn has(&self, key: &str) -> bool {
        self.word(key).is_some()
    }
    pub fn parsed<T: std::str::FromStr>(&self, key: &str) -> Outcome<Option<T>> {
        self.word(key).map(number).transpose()
    }
    /// Fails if an event has words that are none of the `known` keys.
    pub fn check(&self, known: &[&str]) -> Outcome {
        let key = |w: &String| w.split('=').next().unwrap_or("").to_owned();
        match self.event.iter().skip(1).map(key).find(|k| !known.contains(&k.as_str()) && !is_place(k)) {
            Some(word) => Err(format!("`{word}` is unknown here")),
            None => Ok(()),
        }
    }
}

fn is_place(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}

/// Compares the packets that were sent with the expected ones.
/// Keys of `exact` are compared always, other keys only if they are expected.
pub fn compare(what: &str, expected: &[Item], actual: &[Item], exact: &[&str]) -> Outcome {
    let seen = |i: usize, item: &Item| {
        let asked = |k: &str| exact.contains(&k) || expected.get(i).is_some_and(|e| e.keys.contains_key(k));
        let keys = item.keys.iter().filter(|(k, _)| asked(k)).map(|(k, v)| (k.clone(), v.clone())).collect();
        Item { name: item.name.clone(), keys }.shown()
    };
    let want: Vec<String> = expected.iter().map(Item::shown).collect();
    let got: Vec<String> = actual.iter().enumerate().map(|(i, a)| seen(i, a)).collect();
    match want == got {
        true => Ok(()),
        false => Err(format!("{what}\n    expected [{}]\n    came     [{}]", want.join(" "), got.join(" "))),
    }
}

/// Value of a variable that a conformance case compares.
#[derive(Clone, Copy, Debug)]
pub enum Seen {
    Count(u64),
    Span(Option<Dur>),
    Truth(bool),
    /// Fraction in units of 2⁻³⁰, such as DCTCP's α.
    Fraction(Option<u32>),
    /// Deadline of the timer, and the present time.
    Deadline(Option<Time>, Time),
}

impl Seen {
    /// Compares the value of a variable with the expected one; the error names both.
    pub fn check(self, name: &str, expected: &str) -> Outcome {
        let (same, came) = match self {
            Seen::Count(n) => (number::<u64>(expected)? == n, n.to_string()),
            Seen::Span(None) => (expected == "none", "none".into()),
            Seen::Span(Some(d)) => (expected != "none" && dur(expected)? == d, d.to_string()),
            Seen::Truth(b) => (expected == if b { "yes" } else { "no" }, if b { "yes" } else { "no" }.into()),
            Seen::Fraction(None) => (expected == "none", "none".into()),
            Seen::Fraction(Some(x)) => {
                let x = f64::from(x) / f64::from(1 << 30);
                ((number::<f64>(expected)? - x).abs() < 1e-6, format!("{x:.6}"))
            }
            Seen::Deadline(None, _) => (expected == "off", "off".into()),
            Seen::Deadline(Some(at), now) => match expected.split_at(1) {
                ("+", by) => {
                    let (least, most) = by.split_once("..").unwrap_or((by, by));
                    ((now + dur(least)?..=now + dur(most)?).contains(&at), format!("+{}", at - now))
                }
                ("@", by) => (Time(dur(by)?.0) == at, format!("@{at}")),
                _ => (false, format!("+{}", at - now)),
            },
        };
        match same {
            true => Ok(()),
            false => Err(format!("{name}\n    expected {expected}\n    came     {came}")),
        }
    }
}

/// Returns a packet of the test flow without the fields that a conformance case sets.
pub fn blank(reverse: bool, cfg: &TcpConfig) -> Pkt {
    let flow = pair::flow(0);
    let mut pkt = Pkt { ext: crate::NO_EXT, window: cfg.window_field(), ..Pkt::default() };
    let (src, dst, hash) = if reverse { (flow.dst, flow.src, flow.back_hash) } else { (flow.src, flow.dst, flow.hash) };
    pkt.head = mech::Head { flow: flow.flow, src, dst, hash, tos: flow.class << 5, ttl: 255, ..pkt.head };
    pkt
}
