//! Values for a parameter that are clearly different from its current one.

use mech::params::{Param, ParamKind};
use serde_json::Value as Json;
use units::{Amount, Bytes, Dur, parse_amount, parse_bytes, parse_dur};

/// Returns values for a count, far from the current one, within bounds, and small enough that a run with them is short.
fn around(now: Option<u64>, min: u64, max: u64) -> Vec<u64> {
    let mut all = now.map_or(Vec::new(), |n| vec![n.saturating_mul(7), n / 7, n.saturating_mul(1000), n / 1000, n + 1]);
    all.extend([min, 1, 2, 3, 6, 20, 60]);
    all.retain(|n| (min..=max).contains(n) && Some(*n) != now && *n < 1 << 40);
    all
}

/// Returns values for a parameter that differ from `now`, its value in the scenario if it has one.
pub fn different(param: &Param, now: Option<&Json>) -> Vec<String> {
    let text = now.and_then(Json::as_str).or(param.default).unwrap_or("");
    let whole = now.and_then(Json::as_u64);
    let quoted = |all: Vec<String>| all.into_iter().map(|value| format!("{value:?}")).collect::<Vec<_>>();
    match param.kind {
        ParamKind::Flag => vec![(now != Some(&Json::Bool(true))).to_string()],
        ParamKind::Count { min, max } => numbers(around(whole, min, max.min(5000))),
        ParamKind::CountOrOff { min, max } => [numbers(around(whole, min, max)), quoted(vec!["off".into()])].concat(),
        ParamKind::Number { min, max, .. } => {
            let near = now.and_then(Json::as_f64).map_or(vec![], |n| vec![n * 3.0, n / 3.0]);
            let all = near.into_iter().chain([min, max, 0.1, 0.5, 0.9, 3.0]);
            all.filter(|n| (min..=max).contains(n) && *n < 1e6).map(|n| format!("{n:?}")).collect()
        }
        ParamKind::Time { min } => {
            let now = parse_dur(text).ok().map(|time| time.0);
            let some = [1_000, 1_000_000, 50_000_000, 700_000_000, 2_000_000_000, 20_000_000_000]
                .into_iter()
                .filter(|n| *n >= min);
            let all = around(now, min, u64::MAX).into_iter().filter(|n| *n > 500).chain(some);
            quoted(all.map(|ps| format!("{}ps", Dur(ps).0)).collect())
        }
        ParamKind::Rate => quoted(
            ["300Mbps", "77Mbps", "3Gbps", "1Gbps"]
                .iter()
                .filter(|rate| **rate != text)
                .map(ToString::to_string)
                .collect(),
        ),
        ParamKind::Amount { min } => {
            let all = match parse_amount(text) {
                Ok(Amount::Packets(n)) => around(Some(n), min, 1 << 30).iter().map(|n| format!("{n}pkt")).collect(),
                Ok(Amount::Bytes(n)) => around(Some(n), min, 1 << 40).iter().map(|n| format!("{n}B")).collect(),
                Err(_) => vec!["2pkt".into(), "9pkt".into()],
            };
            quoted([all, vec!["4000B".into(), "9pkt".into()]].concat())
        }
        ParamKind::Size { min } => quoted(sizes(text, min)),
        ParamKind::Sizes(_) => quoted([sizes(text, 1), vec!["imc10".into()]].concat()),
        ParamKind::Choice(words) => {
            quoted(words.iter().filter(|word| **word != text).map(ToString::to_string).collect())
        }
        ParamKind::Text => quoted(texts(text)),
        ParamKind::Texts => LISTS.map(str::to_string).into(),
        ParamKind::TextsOr(words) => {
            let words = quoted(words.iter().filter(|word| **word != text).map(ToString::to_string).collect());
            [words, LISTS.map(str::to_string).into()].concat()
        }
        ParamKind::Numbers => vec!["[5, 1]".into(), "[1, 1, 9]".into()],
        ParamKind::RatesOrOff => vec![r#"["300Mbps"]"#.into(), r#"["off", "77Mbps", "3Gbps"]"#.into()],
        ParamKind::Table(_) | ParamKind::Named(_) | ParamKind::List(_) => Vec::new(),
        ParamKind::Counts { .. } => {
            let long = ["[0, 0, 0, 0, 0, 0, 0, 0]", "[3, 0, 0, 3, 0, 0, 0, 0]"];
            ["[2, 2]", "[4, 3]", "[0]", "[1]", "[0, 0, 0, 1]"].into_iter().chain(long).map(str::to_string).collect()
        }
        ParamKind::DscpClasses => vec!["{ 10 = 0 }".into(), "{ 10 = 2 }".into()],
    }
}

const LISTS: [&str; 3] = ["[\"h1\", \"h2\", \"h3\"]", "[\"h2\"]", "[\"b\"]"];

fn numbers(all: Vec<u64>) -> Vec<String> {
    all.iter().map(ToString::to_string).collect()
}

fn sizes(text: &str, min: u64) -> Vec<String> {
    let now = parse_bytes(text).ok().map(|Bytes(n)| n);
    let all = around(now, min, 1 << 24).into_iter().chain([3000, 40_000]);
    all.map(|n| format!("{n}B")).collect()
}

/// Returns names of hosts, links, nodes and files, of which some are valid for any parameter that is a text.
fn texts(now: &str) -> Vec<String> {
    let nodes = ["h1", "h3", "1", "a", "b", "leaf0:spine1", "spine", "leaf1", "stub", "other"].map(str::to_string);
    let of_format = ["hpcc", "flows", "opera", "config"].map(|name| format!("other_{name}.txt"));
    let files = ["graphml", "csv", "cm", "topo"].map(|end| format!("other.{end}"));
    let of_memory = ["in", "in2", "out", "out_lossless", "lossy", "lossless", "queue"].map(str::to_string);
    let nodes = of_memory.into_iter().chain(nodes);
    nodes.into_iter().chain(of_format).chain(files).filter(|name| name != now).collect()
}
