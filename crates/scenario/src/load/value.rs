//! Parsing of one value of a scenario by its parameter's declaration.

use super::renamed;
use super::tree::{Data, Node};
use crate::diag::{message, nearest, one_of};
use crate::limits::{FASTEST, LONGEST_STEP, SLOWEST};
use crate::quantities::{self, hint};
use mech::params::{Kind, Param, Value};
use units::{Bytes, Dur, ParseError, parse_dur, parse_rate};

const SIZE_UNITS: &str = "B, KB, MB, GB, KiB, MiB, GiB";

/// Describes the values that a kind allows, for messages and the catalogue.
pub(crate) fn rule(kind: &Kind) -> String {
    let least = |min: u64, shown: String| if min > 0 { format!(", at least {shown}") } else { String::new() };
    match kind {
        Kind::Flag => "true or false".into(),
        Kind::Count { min, max } => count(*min, *max),
        Kind::CountOrOff { min, max } => format!("{}, or \"off\"", count(*min, *max)),
        Kind::Number { min, max, .. } if *max >= f64::MAX => format!("a number of at least {min}"),
        Kind::Number { min, max, below_max: false } => format!("a number from {min} to {max}"),
        Kind::Number { min, max, below_max: true } => format!("a number of at least {min} and below {max}"),
        Kind::Time { min } => {
            let least = least(*min, Dur(*min).to_string());
            format!("a length of time with its unit (ps, ns, us, ms, s), such as \"10ms\"{least}")
        }
        Kind::Rate => "a rate with its unit (bps, Kbps, Mbps, Gbps, Tbps), such as \"10Gbps\"".into(),
        Kind::Amount { min } => {
            let least = least(*min, min.to_string());
            format!("packets or bytes with their unit (pkt, {SIZE_UNITS}), such as \"100pkt\"{least}")
        }
        Kind::Size { min } => {
            let least = least(*min, Bytes(*min).to_string());
            format!("a size with its unit ({SIZE_UNITS}), such as \"20KB\"{least}")
        }
        Kind::Choice(words) => one_of("", words.iter().copied()),
        Kind::Text => "a text in quotes".into(),
        Kind::Texts => "a list of texts, such as [\"h0\", \"h1\"]".into(),
        Kind::TextsOr(words) => {
            let words: Vec<_> = words.iter().map(|word| format!("\"{word}\"")).collect();
            format!("{}, or a list of texts, such as [\"h0\", \"h1\"]", words.join(", "))
        }
        Kind::Numbers => "a list of numbers, each at least 0".into(),
        Kind::Counts { min, max } => {
            format!("a list of whole numbers from {min} to {max}, such as [{min}, {}]", min + 1)
        }
        Kind::Sizes(specs) => {
            let kinds: Vec<_> = specs.iter().map(|spec| format!("`{}`", spec.kind)).collect();
            let text = "a size with its unit, such as \"20KB\", the name of a distribution, a file of sizes";
            format!("{text}, or a table whose kind is one of {}", kinds.join(", "))
        }
    }
}

/// Describes the values that a parameter allows, with the word that it accepts in addition to its kind.
pub(crate) fn allowed(param: &Param) -> String {
    match word(param) {
        Some(word) => format!("{}, or \"{word}\"", rule(&param.kind)),
        None => rule(&param.kind),
    }
}

fn count(min: u64, max: u64) -> String {
    match max {
        _ if max >= i64::MAX as u64 => format!("a whole number of at least {min}"),
        _ => format!("a whole number from {min} to {max}"),
    }
}

/// Returns a default that is a word and no value of its kind (`unlimited`, `duration`). The parameter may be left out
/// or be that word, and then has no value. An empty default is no word: the parameter may only be left out.
pub(crate) fn word(param: &Param) -> Option<&'static str> {
    param.default.filter(|text| !text.is_empty() && parse_default(&param.kind, text).is_none())
}

/// Returns the value of a parameter's default; `None` if it is required, or has no value by default.
pub(crate) fn default(param: &Param) -> Option<Value> {
    parse_default(&param.kind, param.default.filter(|text| !text.is_empty())?)
}

fn parse_default(kind: &Kind, text: &str) -> Option<Value> {
    let list =
        || text.trim_start_matches('[').trim_end_matches(']').split(',').map(str::trim).filter(|t| !t.is_empty());
    match kind {
        Kind::Flag => text.parse().ok().map(Value::Flag),
        Kind::CountOrOff { .. } if text == "off" => Some(Value::Off),
        Kind::Count { .. } | Kind::CountOrOff { .. } => text.parse().ok().map(Value::Count),
        Kind::Number { .. } => text.parse().ok().filter(|n: &f64| n.is_finite()).map(Value::Number),
        Kind::Texts => Some(Value::Words(list().map(str::to_string).collect())),
        Kind::Numbers => list().map(|t| t.parse().ok()).collect::<Option<_>>().map(Value::Numbers),
        Kind::Counts { .. } => list().map(|t| t.parse().ok()).collect::<Option<_>>().map(Value::Counts),
        _ => quantity(kind, text).ok(),
    }
}

/// Reads the value of a parameter in a scenario; `Ok(None)` if it is the parameter's word.
///
/// # Errors
/// Returns the fault as `found X; expected Y`.
pub(super) fn read(param: &Param, node: &Node) -> Result<Option<Value>, String> {
    if node.text().is_some() && node.text() == word(param) {
        return Ok(None);
    }
    if let Some(why) = out_of_range(param, node) {
        return Err(message(format!("{}, which is {why}", node.shown()), allowed(param)));
    }
    let off = matches!(param.kind, Kind::CountOrOff { .. }).then_some("off");
    plain(&param.kind, node).map(Some).map_err(|why| {
        let rule = match (&param.kind, node.text()) {
            (Kind::Choice(words), Some(typed)) => {
                renamed::word(typed, words).unwrap_or_else(|| one_of(typed, words.iter().copied()))
            }
            (_, Some(typed)) => match nearest(typed, word(param).or(off)) {
                Some(word) => format!("{} (did you mean \"{word}\"?)", allowed(param)),
                None => format!("{}{}", allowed(param), hint(&param.kind, typed)),
            },
            _ => allowed(param),
        };
        let found = format!("{}{why}", node.shown());
        message(found, rule)
    })
}

/// Lengths of time that are bounded by the run's own bound.
const OF_THE_RUN: [&str; 7] = ["duration", "from", "to", "drain", "start", "stop", "at"];

/// Describes why a well-formed quantity does not fit the arithmetic of a run.
fn out_of_range(param: &Param, node: &Node) -> Option<String> {
    let text = node.text()?;
    match param.kind {
        Kind::Time { .. } if !OF_THE_RUN.contains(&param.name) => {
            parse_dur(text).is_ok_and(|time| time > LONGEST_STEP).then(|| "longer than 10 days".into())
        }
        Kind::Rate => match parse_rate(text) {
            Ok(rate) if rate < SLOWEST => Some(format!("slower than {SLOWEST}")),
            Ok(rate) if rate > FASTEST => Some("faster than 1000Tbps".into()),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the value, or the text that a message appends to it.
fn plain(kind: &Kind, node: &Node) -> Result<Value, String> {
    let wrong = || Err(String::new());
    match (kind, &node.data) {
        (Kind::Flag, Data::Flag(flag)) => Ok(Value::Flag(*flag)),
        (Kind::CountOrOff { .. }, Data::Text(text)) if text == "off" => Ok(Value::Off),
        (Kind::Count { min, max } | Kind::CountOrOff { min, max }, Data::Whole(n)) => match u64::try_from(*n) {
            Ok(n) if (*min..=*max).contains(&n) => Ok(Value::Count(n)),
            _ => wrong(),
        },
        (Kind::Number { min, max, below_max }, Data::Whole(_) | Data::Number(_)) => {
            let n = number(node).unwrap_or(f64::NAN);
            let inside = n.is_finite() && n >= *min && n <= *max && !(*below_max && n >= *max);
            if inside { Ok(Value::Number(n)) } else { wrong() }
        }
        (Kind::Texts | Kind::TextsOr(_), Data::List(items)) => {
            let texts: Option<Vec<_>> = items.iter().map(|item| item.text().map(str::to_string)).collect();
            texts.map(Value::Words).ok_or_else(|| " with an entry that is not a text".into())
        }
        (Kind::Numbers, Data::List(items)) => {
            let inside = |n: &f64| n.is_finite() && *n >= 0.0;
            let numbers: Option<Vec<_>> = items.iter().map(|item| number(item).filter(inside)).collect();
            numbers.map(Value::Numbers).ok_or_else(|| " with an entry that is not a number of at least 0".into())
        }
        (Kind::Counts { min, max }, Data::List(items)) => {
            let count = |item: &Node| match item.data {
                Data::Whole(n) => u64::try_from(n).ok().filter(|n| (*min..=*max).contains(n)),
                _ => None,
            };
            let each = items.iter().map(|item| count(item).ok_or_else(|| format!(" with {}", item.shown())));
            each.collect::<Result<_, _>>().map(Value::Counts)
        }
        (
            Kind::Time { .. } | Kind::Rate | Kind::Amount { .. } | Kind::Size { .. } | Kind::Sizes(_),
            Data::Whole(_) | Data::Number(_),
        ) => Err(", which has no unit".into()),
        (_, Data::Text(text)) => quantity(kind, text),
        _ => wrong(),
    }
}

fn number(node: &Node) -> Option<f64> {
    match node.data {
        Data::Whole(n) => Some(n as f64),
        Data::Number(n) => Some(n),
        _ => None,
    }
}

/// Returns the value of a text, or the text that a message appends to it.
fn quantity(kind: &Kind, text: &str) -> Result<Value, String> {
    let which = |why: ParseError| match why {
        ParseError::UnknownUnit => ", whose unit is unknown".to_string(),
        other => format!(", which {other}"),
    };
    let (value, small) = match kind {
        Kind::Choice(words) | Kind::TextsOr(words) => (Value::Word(text.into()), !words.contains(&text)),
        Kind::Text | Kind::Sizes(_) => (Value::Word(text.into()), false),
        _ => quantities::parse(kind, text).ok_or_else(String::new)?.map_err(which)?,
    };
    if small { Err(String::new()) } else { Ok(value) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Amount;

    fn param(kind: Kind, default: Option<&'static str>) -> Param {
        Param { name: "p", doc: "", kind, default }
    }

    #[test]
    fn a_default_that_is_no_value_of_its_kind_is_a_word() {
        let queue = param(Kind::Amount { min: 1 }, Some("unlimited"));
        assert_eq!((word(&queue), default(&queue)), (Some("unlimited"), None));
        let size = param(Kind::Amount { min: 1 }, Some("100pkt"));
        assert_eq!((word(&size), default(&size)), (None, Some(Value::Amount(Amount::Packets(100)))));
        assert_eq!(word(&param(Kind::Choice(&["a", "b"]), Some("b"))), None);
        assert_eq!(default(&param(Kind::CountOrOff { min: 1, max: 9 }, Some("off"))), Some(Value::Off));
        assert_eq!(default(&param(Kind::Count { min: 1, max: 9 }, None)), None);
        assert_eq!((word(&param(Kind::Text, Some(""))), default(&param(Kind::Text, Some("")))), (None, None));
    }

    #[test]
    fn every_default_of_the_catalogue_is_a_value_and_not_a_word() {
        for spec in mech::Registry::catalogue().specs() {
            for param in spec.params.iter().filter(|param| param.default.is_some()) {
                assert_eq!(word(param), None, "{}.{}.{}", spec.slot, spec.kind, param.name);
            }
        }
    }
}
