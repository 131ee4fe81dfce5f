//! Quantities of a scenario: their values, and the spellings that messages suggest.

use crate::limits::{MAX_RATE, MAX_TIME, MIN_RATE};
use mech::params::{ParamKind, Value};
use units::{Amount, Dur, ParseError, Quantity, Suggestion, parse_amount, parse_bytes, parse_dur, parse_rate};

/// Parses a quantity, and returns it with true if it is below its minimum; `None` if the kind is no quantity.
pub(crate) fn parse_with_minimum(kind: &ParamKind, text: &str) -> Option<Result<(Value, bool), ParseError>> {
    let read = match kind {
        ParamKind::Time { min } => parse_dur(text).map(|d| (Value::Time(d), d.0 < *min)),
        ParamKind::Rate => parse_rate(text).map(|rate| (Value::Rate(rate), false)),
        ParamKind::Amount { min } => parse_amount(text).map(|amount| {
            let (Amount::Packets(n) | Amount::Bytes(n)) = amount;
            (Value::Amount(amount), n < *min)
        }),
        ParamKind::Size { min } => parse_bytes(text).map(|b| (Value::Size(b), b.0 < *min)),
        _ => return None,
    };
    Some(read)
}

/// Returns a hint such as ` (did you mean "100Gbps"?)` for a quantity that is spelt wrong; empty if there is none.
pub(crate) fn spelling_hint(kind: &ParamKind, typed: &str) -> String {
    let quantity = match kind {
        ParamKind::Time { .. } => Quantity::Time,
        ParamKind::Rate => Quantity::Rate,
        ParamKind::Amount { .. } => Quantity::Amount,
        ParamKind::Size { .. } => Quantity::Size,
        _ => return String::new(),
    };
    if quantity.accepts(typed) {
        return String::new();
    }
    let found = quantity.suggest(typed);
    let shown: Vec<String> = found.iter().filter(|one| is_in_range(kind, &one.text)).map(format_suggestion).collect();
    if shown.is_empty() { String::new() } else { format!(" (did you mean {}?)", shown.join(" or ")) }
}

fn is_in_range(kind: &ParamKind, text: &str) -> bool {
    match parse_with_minimum(kind, text) {
        Some(Ok((Value::Rate(rate), _))) => (MIN_RATE..=MAX_RATE).contains(&rate),
        Some(Ok((Value::Time(Dur(ps)), small))) => !small && ps <= MAX_TIME.0,
        Some(Ok((_, small))) => !small,
        _ => false,
    }
}

fn format_suggestion(suggestion: &Suggestion) -> String {
    let Suggestion { text, reading } = suggestion;
    if reading.is_empty() { format!("{text:?}") } else { format!("{text:?} for {reading}") }
}

/// Formats a count for messages: three digits and a word from a million on (`13.7 million`), and all digits below.
pub(crate) fn format_rounded_count(count: f64) -> String {
    match [(1e12, "trillion"), (1e9, "billion"), (1e6, "million")].iter().find(|(unit, _)| count >= *unit) {
        Some((unit, word)) => format!("{} {word}", format_three_digits(count / unit)),
        None => format!("{count:.0}"),
    }
}

/// Formats a length of time with three digits, in the largest unit that is not longer: `1.05 us`.
pub(crate) fn format_rounded_time(time: Dur) -> String {
    let ps = time.0 as f64;
    let scales = [(1e12, "s"), (1e9, "ms"), (1e6, "us"), (1e3, "ns")];
    let (unit, name) = scales.into_iter().find(|(unit, _)| ps >= *unit).unwrap_or((1.0, "ps"));
    format!("{} {name}", format_three_digits(ps / unit))
}

/// Formats a number of at least 1 with three significant digits, or all digits before the point if there are more.
fn format_three_digits(number: f64) -> String {
    let decimals = 2_usize.saturating_sub(number.max(1.0).log10() as usize);
    let text = format!("{number:.decimals$}");
    if decimals > 0 { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_rounded_to_three_digits() {
        let cases = [(999_999.0, "999999"), (1e6, "1 million"), (13.66e6, "13.7 million"), (616.4e6, "616 million")];
        for (count, text) in cases.into_iter().chain([(1e10, "10 billion"), (2.5e15, "2500 trillion")]) {
            assert_eq!(format_rounded_count(count), text);
        }
    }

    #[test]
    fn times_are_rounded_to_three_digits() {
        for (ps, text) in [(0, "0 ps"), (1 << 20, "1.05 us"), (1 << 17, "131 ns"), (100_000, "100 ns"), (999, "999 ps")]
        {
            assert_eq!(format_rounded_time(Dur(ps)), text);
        }
    }
}
