//! Quantities of a scenario: their values, and the spellings that messages suggest.

use crate::limits::{FASTEST, LONGEST_STEP, SLOWEST};
use mech::params::{Kind, Value};
use units::{Amount, Dur, ParseError, Quantity, Suggestion, parse_amount, parse_bytes, parse_dur, parse_rate};

/// Value of a quantity, and whether it is below its minimum; `None` if the kind is no quantity.
pub(crate) fn parse(kind: &Kind, text: &str) -> Option<Result<(Value, bool), ParseError>> {
    let read = match kind {
        Kind::Time { min } => parse_dur(text).map(|d| (Value::Time(d), d.0 < *min)),
        Kind::Rate => parse_rate(text).map(|rate| (Value::Rate(rate), false)),
        Kind::Amount { min } => parse_amount(text).map(|amount| {
            let (Amount::Packets(n) | Amount::Bytes(n)) = amount;
            (Value::Amount(amount), n < *min)
        }),
        Kind::Size { min } => parse_bytes(text).map(|b| (Value::Size(b), b.0 < *min)),
        _ => return None,
    };
    Some(read)
}

/// ` (did you mean "100Gbps"?)` with the accepted spellings of a text; empty if there is none.
pub(crate) fn hint(kind: &Kind, typed: &str) -> String {
    let quantity = match kind {
        Kind::Time { .. } => Quantity::Time,
        Kind::Rate => Quantity::Rate,
        Kind::Amount { .. } => Quantity::Amount,
        Kind::Size { .. } => Quantity::Size,
        _ => return String::new(),
    };
    if quantity.accepts(typed) {
        return String::new();
    }
    let found = quantity.suggest(typed);
    let shown: Vec<String> = found.iter().filter(|one| is_in_range(kind, &one.text)).map(shown).collect();
    if shown.is_empty() { String::new() } else { format!(" (did you mean {}?)", shown.join(" or ")) }
}

fn is_in_range(kind: &Kind, text: &str) -> bool {
    match parse(kind, text) {
        Some(Ok((Value::Rate(rate), _))) => (SLOWEST..=FASTEST).contains(&rate),
        Some(Ok((Value::Time(Dur(ps)), small))) => !small && ps <= LONGEST_STEP.0,
        Some(Ok((_, small))) => !small,
        _ => false,
    }
}

fn shown(suggestion: &Suggestion) -> String {
    let Suggestion { text, reading } = suggestion;
    if reading.is_empty() { format!("{text:?}") } else { format!("{text:?} for {reading}") }
}
