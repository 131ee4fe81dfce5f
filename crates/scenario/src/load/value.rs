//! Parsing of the values of a scenario according to the declarations of their parameters.

use super::renamed_keys;
use super::tree::{Data, Node};
use crate::diag::{MAX_PATH_CHARS, format_fault, format_one_of, nearest_word, sanitize};
use crate::limits::{MAX_RATE, MAX_TIME, MIN_RATE};
use crate::quantities::{self, spelling_hint};
use mech::DscpTable;
use mech::params::{Param, ParamKind, Spec, Value};
use units::{Bytes, Dur, ParseError, Rate, parse_dur, parse_rate};

const SIZE_UNITS: &str = "B, KB, MB, GB, KiB, MiB, GiB";

/// Describes the values that a parameter of this kind allows, for messages and the catalogue.
pub(crate) fn describe_kind(kind: &ParamKind) -> String {
    let least = |min: u64, shown: String| {
        if min > 0 { format!(", at least {shown}") } else { String::new() }
    };
    match kind {
        ParamKind::Flag => "true or false".into(),
        ParamKind::Count { min, max } => describe_count_range(*min, *max),
        ParamKind::CountOrOff { min, max } => {
            format!("{}, or \"off\"", describe_count_range(*min, *max))
        }
        ParamKind::Number { min, max, .. } if *max >= f64::MAX => format!("a number of at least {min}"),
        ParamKind::Number { min, max, below_max: false } => format!("a number from {min} to {max}"),
        ParamKind::Number { min, max, below_max: true } => format!("a number of at least {min} and below {max}"),
        ParamKind::Time { min } => {
            let least = least(*min, Dur(*min).to_string());
            format!("a length of time with its unit (ps, ns, us, ms, s), such as \"10ms\"{least}")
        }
        ParamKind::Rate => "a rate with its unit (bps, Kbps, Mbps, Gbps, Tbps), such as \"10Gbps\"".into(),
        ParamKind::Amount { min } => {
            let least = least(*min, min.to_string());
            format!("packets or bytes with their unit (pkt, {SIZE_UNITS}), such as \"100pkt\"{least}")
        }
        ParamKind::Size { min } => {
            let least = least(*min, Bytes(*min).to_string());
            format!("a size with its unit ({SIZE_UNITS}), such as \"20KB\"{least}")
        }
        ParamKind::Choice(words) => format_one_of("", words.iter().copied()),
        ParamKind::Text => "a text in quotes".into(),
        ParamKind::Texts => "a list of texts, such as [\"h0\", \"h1\"]".into(),
        ParamKind::TextsOr(words) => {
            let words: Vec<_> = words.iter().map(|word| format!("\"{word}\"")).collect();
            format!("{}, or a list of texts, such as [\"h0\", \"h1\"]", words.join(", "))
        }
        ParamKind::Numbers => "a list of numbers, each at least 0".into(),
        ParamKind::Counts { min, max } => {
            format!("a list of whole numbers from {min} to {max}, such as [{min}, {}]", min + 1)
        }
        ParamKind::RatesOrOff => {
            "a list of rates with their unit (bps, Kbps, Mbps, Gbps, Tbps) or \"off\", such as [\"off\", \"10Gbps\"]"
                .into()
        }
        ParamKind::DscpClasses => {
            "a table of traffic classes from 0 to 7 by DSCP from 0 to 63, such as { 26 = 3, 48 = 6 }".into()
        }
        ParamKind::Sizes(specs) => {
            let kinds: Vec<_> = specs.iter().map(|spec| format!("`{}`", spec.kind)).collect();
            let text = "a size with its unit, such as \"20KB\", the name of a distribution, or a file of sizes";
            format!("{text}, or a table with kind = {}", kinds.join(", "))
        }
        ParamKind::Table(specs) => {
            let kinds: Vec<_> = specs.iter().map(|spec| format!("`{}`", spec.kind)).collect();
            format!("a table with kind = {}", kinds.join(", "))
        }
        ParamKind::Named(spec) => {
            format!("a table of tables, each under a name of your choice and with the keys {}", list_keys(spec))
        }
        ParamKind::List(spec) => format!("a list of tables with the keys {}", list_keys(spec)),
    }
}

/// Describes the values that a parameter allows, with a word such as `unlimited` if it accepts one.
pub(crate) fn describe_allowed(param: &Param) -> String {
    match default_word(param) {
        Some(word) => format!("{}, or \"{word}\"", describe_kind(&param.kind)),
        None => describe_kind(&param.kind),
    }
}

fn list_keys(spec: &Spec) -> String {
    spec.params.iter().map(|param| format!("`{}`", param.name)).collect::<Vec<_>>().join(", ")
}

fn describe_count_range(min: u64, max: u64) -> String {
    match max {
        _ if max >= i64::MAX as u64 => format!("a whole number of at least {min}"),
        _ => format!("a whole number from {min} to {max}"),
    }
}

/// Returns a parameter's default if it is a word in place of a value (`unlimited`, `duration`). The parameter may be
/// left out or be that word, and then has no value. An empty default is no word: the parameter may only be left out.
pub(crate) fn default_word(param: &Param) -> Option<&'static str> {
    param.default.filter(|text| !text.is_empty() && parse_default(&param.kind, text).is_none())
}

/// Returns the default value of a parameter; `None` if the parameter is required, or has no value by default.
pub(crate) fn default_value(param: &Param) -> Option<Value> {
    parse_default(&param.kind, param.default.filter(|text| !text.is_empty())?)
}

fn parse_default(kind: &ParamKind, text: &str) -> Option<Value> {
    let list =
        || text.trim_start_matches('[').trim_end_matches(']').split(',').map(str::trim).filter(|t| !t.is_empty());
    match kind {
        ParamKind::Flag => text.parse().ok().map(Value::Flag),
        ParamKind::CountOrOff { .. } if text == "off" => Some(Value::Off),
        ParamKind::Count { .. } | ParamKind::CountOrOff { .. } => text.parse().ok().map(Value::Count),
        ParamKind::Number { .. } => text.parse().ok().filter(|n: &f64| n.is_finite()).map(Value::Number),
        ParamKind::Texts => Some(Value::Texts(list().map(str::to_string).collect())),
        ParamKind::Numbers => list().map(|t| t.parse().ok()).collect::<Option<_>>().map(Value::Numbers),
        ParamKind::Counts { .. } => list().map(|t| t.parse().ok()).collect::<Option<_>>().map(Value::Counts),
        _ => parse_quantity(kind, text).ok(),
    }
}

/// Reads the value of a parameter in a scenario; `Ok(None)` if it is a word such as `unlimited` that means no value.
///
/// # Errors
/// Returns the fault as `found X; expected Y`.
pub(super) fn read_value(param: &Param, node: &Node) -> Result<Option<Value>, String> {
    if node.text().is_some() && node.text() == default_word(param) {
        return Ok(None);
    }
    if let Some(why) = describe_out_of_range(param, node) {
        return Err(format_fault(format!("{}, which is {why}", node.format_value()), describe_allowed(param)));
    }
    let off = matches!(param.kind, ParamKind::CountOrOff { .. }).then_some("off");
    parse_node(&param.kind, node).map(Some).map_err(|why| {
        let rule = match (&param.kind, node.text()) {
            (ParamKind::Choice(words), Some(typed)) => renamed_keys::suggest_renamed_word(typed, words)
                .unwrap_or_else(|| format_one_of(typed, words.iter().copied())),
            (_, Some(typed)) => match nearest_word(typed, default_word(param).or(off)) {
                Some(word) => format!("{} (did you mean \"{word}\"?)", describe_allowed(param)),
                None => format!("{}{}", describe_allowed(param), spelling_hint(&param.kind, typed)),
            },
            _ => describe_allowed(param),
        };
        let found = format!("{}{why}", node.format_value());
        format_fault(found, rule)
    })
}

/// Names of time parameters that are limited by the longest run instead of the general limit of 10 days.
const RUN_TIME_PARAMETERS: [&str; 7] = ["duration", "from", "to", "drain", "start", "stop", "at"];

/// Describes why a quantity that is spelt correctly is too large or too small for a run.
fn describe_out_of_range(param: &Param, node: &Node) -> Option<String> {
    let text = node.text()?;
    match param.kind {
        ParamKind::Time { .. } if !RUN_TIME_PARAMETERS.contains(&param.name) => {
            parse_dur(text).is_ok_and(|time| time > MAX_TIME).then(|| "longer than 10 days".into())
        }
        ParamKind::Rate => match parse_rate(text) {
            Ok(rate) if rate < MIN_RATE => Some(format!("slower than {MIN_RATE}")),
            Ok(rate) if rate > MAX_RATE => Some("faster than 1000Tbps".into()),
            _ => None,
        },
        _ => None,
    }
}

/// Parses a value of the document as this kind; the error is a text for the end of the message, possibly empty.
fn parse_node(kind: &ParamKind, node: &Node) -> Result<Value, String> {
    let wrong = || Err(String::new());
    match (kind, &node.data) {
        (ParamKind::Flag, Data::Boolean(flag)) => Ok(Value::Flag(*flag)),
        (ParamKind::CountOrOff { .. }, Data::Text(text)) if text == "off" => Ok(Value::Off),
        (ParamKind::Count { min, max } | ParamKind::CountOrOff { min, max }, Data::Integer(n)) => {
            match u64::try_from(*n) {
                Ok(n) if (*min..=*max).contains(&n) => Ok(Value::Count(n)),
                _ => wrong(),
            }
        }
        (ParamKind::Number { min, max, below_max }, Data::Integer(_) | Data::Number(_)) => {
            let n = parse_number(node).unwrap_or(f64::NAN);
            let inside = n.is_finite() && n >= *min && n <= *max && !(*below_max && n >= *max);
            if inside { Ok(Value::Number(n)) } else { wrong() }
        }
        (ParamKind::Texts | ParamKind::TextsOr(_), Data::List(items)) => {
            let texts: Option<Vec<_>> = items.iter().map(|item| item.text().map(str::to_string)).collect();
            texts.map(Value::Texts).ok_or_else(|| ", in which an entry is not a text".into())
        }
        (ParamKind::Numbers, Data::List(items)) => {
            let inside = |n: &f64| n.is_finite() && *n >= 0.0;
            let numbers: Option<Vec<_>> = items.iter().map(|item| parse_number(item).filter(inside)).collect();
            numbers.map(Value::Numbers).ok_or_else(|| ", in which an entry is not a number of at least 0".into())
        }
        (ParamKind::Counts { min, max }, Data::List(items)) => {
            let count = |item: &Node| match item.data {
                Data::Integer(n) => u64::try_from(n).ok().filter(|n| (*min..=*max).contains(n)),
                _ => None,
            };
            let each = items.iter().map(|item| count(item).ok_or_else(|| format!(" with {}", item.format_value())));
            each.collect::<Result<_, _>>().map(Value::Counts)
        }
        (ParamKind::RatesOrOff, Data::List(items)) => {
            items.iter().map(parse_rate_or_off).collect::<Result<_, _>>().map(Value::Rates)
        }
        (ParamKind::DscpClasses, Data::Table(entries)) => {
            let each = entries.iter().map(|(dscp, class)| parse_dscp_class(dscp, class));
            each.collect::<Result<_, _>>().map(Value::DscpClasses)
        }
        (
            ParamKind::Time { .. }
            | ParamKind::Rate
            | ParamKind::Amount { .. }
            | ParamKind::Size { .. }
            | ParamKind::Sizes(_),
            Data::Integer(_) | Data::Number(_),
        ) => Err(", which has no unit".into()),
        (_, Data::Text(text)) => parse_quantity(kind, text),
        _ => wrong(),
    }
}

/// Parses an entry of a list of rates; the error is a text for the end of the message.
fn parse_rate_or_off(item: &Node) -> Result<Option<Rate>, String> {
    match item.text() {
        Some("off") => Ok(None),
        text => {
            let rate = text.and_then(|text| parse_rate(text).ok()).filter(|rate| (MIN_RATE..=MAX_RATE).contains(rate));
            rate.map(Some).ok_or_else(|| format!(" with {}", item.format_value()))
        }
    }
}

/// Parses an entry of a table of traffic classes by DSCP; the error is a text for the end of the message.
fn parse_dscp_class(key: &str, node: &Node) -> Result<(u8, u8), String> {
    let dscp = key.parse().ok().filter(|dscp: &u8| usize::from(*dscp) < DscpTable::DSCPS && dscp.to_string() == key);
    let class = match node.data {
        Data::Integer(n) => u8::try_from(n).ok().filter(|class| *class < 8),
        _ => None,
    };
    let found = || format!(" with {} = {}", sanitize(key, MAX_PATH_CHARS), node.format_value());
    dscp.zip(class).ok_or_else(found)
}

fn parse_number(node: &Node) -> Option<f64> {
    match node.data {
        Data::Integer(n) => Some(n as f64),
        Data::Number(n) => Some(n),
        _ => None,
    }
}

/// Parses a text as a value of this kind; the error is a text for the end of the message, possibly empty.
fn parse_quantity(kind: &ParamKind, text: &str) -> Result<Value, String> {
    let which = |why: ParseError| match why {
        ParseError::UnknownUnit => ", whose unit is unknown".to_string(),
        other => format!(", which {other}"),
    };
    let (value, small) = match kind {
        ParamKind::Choice(words) | ParamKind::TextsOr(words) => (Value::Word(text.into()), !words.contains(&text)),
        ParamKind::Text | ParamKind::Sizes(_) => (Value::Word(text.into()), false),
        _ => quantities::parse_with_minimum(kind, text).ok_or_else(String::new)?.map_err(which)?,
    };
    if small { Err(String::new()) } else { Ok(value) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Amount;

    fn param(kind: ParamKind, default: Option<&'static str>) -> Param {
        Param { name: "p", doc: "", kind, default }
    }

    #[test]
    fn a_default_that_is_no_value_of_its_kind_is_a_word() {
        let queue = param(ParamKind::Amount { min: 1 }, Some("unlimited"));
        assert_eq!((default_word(&queue), default_value(&queue)), (Some("unlimited"), None));
        let size = param(ParamKind::Amount { min: 1 }, Some("100pkt"));
        assert_eq!((default_word(&size), default_value(&size)), (None, Some(Value::Amount(Amount::Packets(100)))));
        assert_eq!(default_word(&param(ParamKind::Choice(&["a", "b"]), Some("b"))), None);
        assert_eq!(default_value(&param(ParamKind::CountOrOff { min: 1, max: 9 }, Some("off"))), Some(Value::Off));
        assert_eq!(default_value(&param(ParamKind::Count { min: 1, max: 9 }, None)), None);
        assert_eq!(
            (default_word(&param(ParamKind::Text, Some(""))), default_value(&param(ParamKind::Text, Some("")))),
            (None, None)
        );
    }

    #[test]
    fn every_default_of_the_catalogue_is_a_value_and_not_a_word() {
        for spec in mech::Registry::catalogue().specs() {
            for param in spec.params.iter().filter(|param| param.default.is_some()) {
                assert_eq!(default_word(param), None, "{}.{}.{}", spec.slot, spec.kind, param.name);
            }
        }
    }
}
