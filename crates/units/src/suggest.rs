//! Suggestions of accepted spellings for quantities that are written in other ways: `100gbps`, `60kb`, `1e3pkt`.

use crate::{parse_amount, parse_bytes, parse_dur, parse_rate};

/// Longest text, in bytes, for which other spellings are tried.
const MAX_TEXT_BYTES: usize = 64;

/// Kind of a quantity: time, rate, size or amount of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Length of time.
    Time,
    /// Data rate.
    Rate,
    /// Size in bytes.
    Size,
    /// Number of packets, or size in bytes.
    Amount,
}

/// Suggested spelling of a quantity, and its meaning if several are possible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// Text that the parser of the quantity accepts.
    pub text: String,
    /// Meaning of the unit in this suggestion, such as `kilobits`; empty if only one is possible.
    pub reading: String,
}

impl Quantity {
    /// Returns true if the parser of this quantity accepts a text.
    #[must_use]
    pub fn accepts(self, text: &str) -> bool {
        match self {
            Quantity::Time => parse_dur(text).is_ok(),
            Quantity::Rate => parse_rate(text).is_ok(),
            Quantity::Size => parse_bytes(text).is_ok(),
            Quantity::Amount => parse_amount(text).is_ok(),
        }
    }

    /// Returns accepted spellings of a text that is not accepted; several if its unit can mean bits or bytes.
    #[must_use]
    pub fn suggest(self, text: &str) -> Vec<Suggestion> {
        let text = text.trim();
        if text.len() > MAX_TEXT_BYTES {
            return Vec::new();
        }
        let Some((number, unit)) = split_number(text) else { return Vec::new() };
        let mut found: Vec<Suggestion> = Vec::new();
        for UnitReading { factor, unit, name } in self.list_readings(unit) {
            let Some(number) = multiply_decimal(&number, factor) else { continue };
            let text = format!("{number}{unit}");
            if self.accepts(&text) && found.iter().all(|known| known.text != text) {
                found.push(Suggestion { text, reading: name });
            }
        }
        if found.len() == 1 {
            found[0].reading.clear();
        }
        found
    }

    /// Returns the units that a word can stand for, the most likely first.
    fn list_readings(self, unit: &str) -> Vec<UnitReading> {
        match self {
            Quantity::Time => time_reading(unit).into_iter().collect(),
            Quantity::Rate => rate_readings(unit),
            Quantity::Size => size_readings(unit),
            Quantity::Amount => {
                let packets = ["p", "pkt", "pkts", "packet", "packets", "frame", "frames"];
                let word = unit.to_ascii_lowercase();
                let packet = packets.contains(&word.as_str()).then(|| UnitReading::new((1, 1), "pkt", String::new()));
                packet.into_iter().chain(size_readings(unit)).collect()
            }
        }
    }
}

/// Unit that a user's word can stand for, with the factor by which the number changes.
struct UnitReading {
    factor: (u64, u64),
    unit: String,
    name: String,
}

impl UnitReading {
    fn new(factor: (u64, u64), unit: impl Into<String>, name: String) -> UnitReading {
        UnitReading { factor, unit: unit.into(), name }
    }
}

fn time_reading(unit: &str) -> Option<UnitReading> {
    let word = unit.to_lowercase();
    let one = |unit: &str| Some(UnitReading::new((1, 1), unit, String::new()));
    match word.as_str() {
        "ps" | "p" | "psec" | "picosecond" | "picoseconds" => one("ps"),
        "ns" | "n" | "nsec" | "nanosecond" | "nanoseconds" => one("ns"),
        // Unicode has two characters that look like µ: the micro sign U+00B5 and the Greek letter mu U+03BC.
        "us" | "u" | "usec" | "\u{b5}" | "\u{b5}s" | "\u{3bc}" | "\u{3bc}s" | "microsecond" | "microseconds" => {
            one("us")
        }
        "ms" | "m" | "msec" | "millisecond" | "milliseconds" => one("ms"),
        "s" | "sec" | "secs" | "second" | "seconds" => one("s"),
        "min" | "mins" | "minute" | "minutes" => Some(UnitReading::new((60, 1), "s", String::new())),
        "h" | "hour" | "hours" => Some(UnitReading::new((3600, 1), "s", String::new())),
        _ => None,
    }
}

/// Splits a unit into its prefix as this crate writes it, the name of that prefix, and the rest of the word.
fn split_prefix(unit: &str) -> (&'static str, &'static str, &str) {
    let known = [
        ("ki", "Ki", "kibi"),
        ("mi", "Mi", "mebi"),
        ("gi", "Gi", "gibi"),
        ("k", "K", "kilo"),
        ("m", "M", "mega"),
        ("g", "G", "giga"),
        ("t", "T", "tera"),
    ];
    let starts = |typed: &str| unit.get(..typed.len()).is_some_and(|start| start.eq_ignore_ascii_case(typed));
    match known.iter().find(|(typed, ..)| starts(typed)) {
        Some((typed, said, name)) => (said, name, &unit[typed.len()..]),
        None => ("", "", unit),
    }
}

/// Bits or bytes, as counted by a unit, from the part of the word behind the prefix.
#[derive(Clone, Copy, PartialEq)]
enum CountedUnit {
    Bits,
    Bytes,
    /// Bits or bytes: a small `b` means bits to some users and bytes to others.
    Either,
}

/// Returns the quantity that a unit counts: bits, bytes, or one of the two; `None` if it counts neither.
/// A capital B is a byte unless the whole word is in capitals, as a rate may be.
fn parse_counted_unit(rest: &str, mixed: bool) -> Option<CountedUnit> {
    match rest.to_ascii_lowercase().as_str() {
        "bit" | "bits" => Some(CountedUnit::Bits),
        "byte" | "bytes" => Some(CountedUnit::Bytes),
        "b" if rest == "B" && mixed => Some(CountedUnit::Bytes),
        "b" => Some(CountedUnit::Either),
        _ => None,
    }
}

fn rate_readings(unit: &str) -> Vec<UnitReading> {
    let (prefix, name, rest) = split_prefix(unit);
    if prefix.ends_with('i') {
        return Vec::new();
    }
    // With a small `ps`, `GBps` and `GB/s` are read as bytes; `GBPS` is `Gbps` in capitals.
    let (amount, mixed) = ["/s", "/sec", "ps"]
        .iter()
        .find_map(|end| rest.strip_suffix(end))
        .map(|amount| (amount, true))
        .or_else(|| rest.strip_suffix("PS").or_else(|| rest.strip_suffix("/S")).map(|amount| (amount, false)))
        .unwrap_or((rest, false));
    let bits = UnitReading::new((1, 1), format!("{prefix}bps"), format!("{name}bits per second"));
    let bytes = UnitReading::new((8, 1), format!("{prefix}bps"), format!("{name}bytes per second"));
    match parse_counted_unit(amount, mixed || unit.ends_with('B')) {
        Some(CountedUnit::Bits) => vec![bits],
        Some(CountedUnit::Bytes) => vec![bits, bytes],
        Some(CountedUnit::Either) => vec![bits],
        None if amount.is_empty() && !prefix.is_empty() => vec![bits],
        None => Vec::new(),
    }
}

fn size_readings(unit: &str) -> Vec<UnitReading> {
    let (prefix, name, rest) = split_prefix(unit);
    // The parser has no unit TB, so 1 TB is suggested as 1000GB.
    let (times, prefix) = if prefix == "T" { (1000, "G") } else { (1, prefix) };
    let bytes = UnitReading::new((times, 1), format!("{prefix}B"), format!("{name}bytes"));
    let bits = UnitReading::new((times, 8), format!("{prefix}B"), format!("{name}bits"));
    match parse_counted_unit(rest, true) {
        Some(CountedUnit::Bytes) => vec![bytes],
        Some(CountedUnit::Bits) => vec![bits],
        Some(CountedUnit::Either) => vec![bytes, bits],
        None if rest.is_empty() && !prefix.is_empty() => vec![bytes],
        None => Vec::new(),
    }
}

/// Splits a text into a decimal number without an exponent and the word behind it.
fn split_number(text: &str) -> Option<(String, &str)> {
    let text = text.strip_prefix('+').unwrap_or(text);
    let end = text.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | '/' | '_')).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let mut number = digits.replace('_', "");
    if number.starts_with('.') {
        number.insert(0, '0');
    }
    let number = number.trim_end_matches('.').to_string();
    if !number.starts_with(|c: char| c.is_ascii_digit()) || number.len() > 24 {
        return None;
    }
    let Some(power) = rest.strip_prefix(['e', 'E']) else { return Some((number, rest.trim())) };
    let signed = power.strip_prefix(['+', '-']).unwrap_or(power);
    let end = signed.find(|c: char| !c.is_ascii_digit()).unwrap_or(signed.len());
    let exponent: i32 = power[..power.len() - signed.len() + end].parse().ok()?;
    Some((shift_decimal_point(&number, exponent)?, signed[end..].trim()))
}

/// Moves the decimal point of a number by `by` digits, to the right if positive.
fn shift_decimal_point(number: &str, by: i32) -> Option<String> {
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    if number.contains('/') || by.abs() > 18 {
        return None;
    }
    let zeros = "0".repeat(by.unsigned_abs() as usize);
    let digits = if by < 0 { format!("{zeros}{whole}{part}") } else { format!("{whole}{part}{zeros}") };
    let point = if by < 0 { whole.len() } else { whole.len() + by as usize };
    let (whole, part) = digits.split_at(point);
    trim_zeros(whole, part)
}

/// Joins the digits before and after a decimal point, without needless zeros.
fn trim_zeros(whole: &str, part: &str) -> Option<String> {
    let (whole, part) = (whole.trim_start_matches('0'), part.trim_end_matches('0'));
    let whole = if whole.is_empty() { "0" } else { whole };
    Some(if part.is_empty() { whole.to_string() } else { format!("{whole}.{part}") })
}

/// Multiplies a decimal by a ratio whose denominator divides a power of ten.
fn multiply_decimal(number: &str, (top, bottom): (u64, u64)) -> Option<String> {
    if (top, bottom) == (1, 1) {
        return Some(number.to_string());
    }
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let digits: u128 = format!("{whole}{part}").parse().ok()?;
    // The only denominator above 1 is 8, for bits as bytes, and an eighth has three decimals.
    let scaled = digits.checked_mul(u128::from(top))?.checked_mul(1000)? / u128::from(bottom);
    let text = format!("{scaled:0>width$}", width = part.len() + 4);
    let (whole, part) = text.split_at(text.len() - part.len() - 3);
    trim_zeros(whole, part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suggested_texts(quantity: Quantity, text: &str) -> Vec<String> {
        quantity.suggest(text).into_iter().map(|one| one.text).collect()
    }

    #[test]
    fn other_spellings_of_quantities_are_suggested() {
        for (quantity, typed, expected) in [
            (Quantity::Rate, "100gbps", "100Gbps"),
            (Quantity::Rate, "100G", "100Gbps"),
            (Quantity::Rate, "100GBPS", "100Gbps"),
            (Quantity::Rate, "100 Gb/s", "100Gbps"),
            (Quantity::Rate, "100Gbit/s", "100Gbps"),
            (Quantity::Rate, "10mbit", "10Mbps"),
            (Quantity::Rate, "400kbps", "400Kbps"),
            (Quantity::Rate, "1e3Mbps", "1000Mbps"),
            (Quantity::Rate, "1/3 gbps", "1/3Gbps"),
            (Quantity::Time, "10US", "10us"),
            (Quantity::Time, "10usec", "10us"),
            (Quantity::Time, "10\u{3bc}s", "10us"),
            (Quantity::Time, "1.5E-3s", "0.0015s"),
            (Quantity::Time, "2min", "120s"),
            (Quantity::Time, ".5ms", "0.5ms"),
            (Quantity::Size, "60kB", "60KB"),
            (Quantity::Size, "60K", "60KB"),
            (Quantity::Size, "1_500bytes", "1500B"),
            (Quantity::Size, "2TB", "2000GB"),
            (Quantity::Size, "60kbit", "7.5KB"),
            (Quantity::Amount, "1e3pkt", "1000pkt"),
            (Quantity::Amount, "100 packets", "100pkt"),
        ] {
            assert_eq!(suggested_texts(quantity, typed), [expected], "{typed}");
            assert!(!quantity.accepts(typed), "{typed}");
        }
    }

    #[test]
    fn bits_or_bytes_are_two_suggestions_with_names() {
        let named = |quantity: Quantity, typed: &str| {
            quantity.suggest(typed).iter().map(|one| format!("{} {}", one.text, one.reading)).collect::<Vec<_>>()
        };
        assert_eq!(named(Quantity::Size, "60kb"), ["60KB kilobytes", "7.5KB kilobits"]);
        assert_eq!(named(Quantity::Amount, "1gb"), ["1GB gigabytes", "0.125GB gigabits"]);
        assert_eq!(named(Quantity::Rate, "10GB/s"), ["10Gbps gigabits per second", "80Gbps gigabytes per second"]);
    }

    #[test]
    fn units_of_another_kind_have_no_suggestion() {
        for (quantity, typed) in [
            (Quantity::Time, "10KB"),
            (Quantity::Rate, "10KiB"),
            (Quantity::Rate, "10ms"),
            (Quantity::Size, "100pkt"),
            (Quantity::Size, "10Gbps"),
            (Quantity::Size, "1e99KB"),
            (Quantity::Amount, "fast"),
            (Quantity::Amount, ""),
            (Quantity::Rate, &format!("{}1gbps", "0".repeat(100))),
        ] {
            assert_eq!(suggested_texts(quantity, typed), [""; 0], "{typed}");
        }
    }
}
