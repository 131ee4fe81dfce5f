//! Exact conversion of text to quantities: `"200ms"`, `"1/3 Gbps"`, `"1.5KiB"`, `"100pkt"`.

use crate::{Amount, Bytes, Dur, Rate};
use core::fmt;

/// Reason why a text is not a quantity of the expected kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParseError {
    /// The text does not begin with a number.
    NotANumber,
    /// The number has no unit.
    MissingUnit,
    /// The unit belongs to another kind of quantity, or is unknown.
    UnknownUnit,
    /// The denominator of the fraction is zero.
    DivisionByZero,
    /// The text begins with a minus sign.
    Negative,
    /// The value is no multiple of the smallest unit (1 ps, 1 B, 1 packet).
    TooFine,
    /// The value does not fit 64 bits.
    TooLarge,
    /// The rate is zero.
    ZeroRate,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ParseError::NotANumber => "does not start with a number",
            ParseError::MissingUnit => "has no unit",
            ParseError::UnknownUnit => "has a unit of another kind",
            ParseError::DivisionByZero => "divides by zero",
            ParseError::Negative => "is negative",
            ParseError::TooFine => "is finer than the smallest unit",
            ParseError::TooLarge => "is too large",
            ParseError::ZeroRate => "is a rate of zero",
        })
    }
}

const TIME_UNITS: &[(&str, u64)] =
    &[("ps", 1), ("ns", 1_000), ("us", 1_000_000), ("µs", 1_000_000), ("ms", 1_000_000_000), ("s", 1_000_000_000_000)];
const SIZE_UNITS: &[(&str, u64)] = &[
    ("B", 1),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];
const RATE_UNITS: &[(&str, u64)] =
    &[("bps", 1), ("Kbps", 1_000), ("Mbps", 1_000_000), ("Gbps", 1_000_000_000), ("Tbps", 1_000_000_000_000)];

/// Splits a text into a decimal number as the fraction `num / den`, and the unit behind it.
fn split_number_and_unit(text: &str) -> Result<(u128, u128, &str), ParseError> {
    let text = text.trim();
    if text.starts_with('-') {
        return Err(ParseError::Negative);
    }
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '/').unwrap_or(text.len());
    let (number, unit) = (&text[..end], text[end..].trim());
    let (top, bottom) = match number.split_once('/') {
        Some((top, bottom)) => (top, Some(bottom)),
        None => (number, None),
    };
    let (mut num, mut den) = parse_decimal(top)?;
    if let Some(bottom) = bottom {
        let (n, d) = parse_decimal(bottom)?;
        if n == 0 {
            return Err(ParseError::DivisionByZero);
        }
        (num, den) = (num.checked_mul(d).ok_or(ParseError::TooLarge)?, den.checked_mul(n).ok_or(ParseError::TooLarge)?);
    }
    if unit.is_empty() {
        return Err(ParseError::MissingUnit);
    }
    Ok((num, den, unit))
}

fn parse_decimal(text: &str) -> Result<(u128, u128), ParseError> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    if whole.is_empty() || part.contains('.') || (text.contains('.') && part.is_empty()) {
        return Err(ParseError::NotANumber);
    }
    if whole.len() + part.len() > 24 {
        return Err(ParseError::TooLarge);
    }
    let digits = format!("{whole}{part}");
    let num = digits.parse::<u128>().map_err(|_| ParseError::NotANumber)?;
    Ok((num, 10u128.pow(part.len() as u32)))
}

fn scale_to_unit(text: &str, units: &[(&str, u64)]) -> Result<u64, ParseError> {
    let (num, den, unit) = split_number_and_unit(text)?;
    let (_, factor) = units.iter().find(|(name, _)| *name == unit).ok_or(ParseError::UnknownUnit)?;
    let value = num.checked_mul(u128::from(*factor)).ok_or(ParseError::TooLarge)?;
    if value % den != 0 {
        return Err(ParseError::TooFine);
    }
    u64::try_from(value / den).map_err(|_| ParseError::TooLarge)
}

/// Parses a length of time with unit `ps`, `ns`, `us`, `ms` or `s`.
///
/// # Errors
/// Returns a [`ParseError`] if the text is not a non-negative number with one of these units.
pub fn parse_dur(text: &str) -> Result<Dur, ParseError> {
    scale_to_unit(text, TIME_UNITS).map(Dur)
}

/// Parses a size with unit `B`, `KB`, `MB` or `GB` (powers of 1000), or `KiB`, `MiB` or `GiB` (powers of 1024).
///
/// # Errors
/// Returns a [`ParseError`] if the text is not a non-negative number with one of these units.
pub fn parse_bytes(text: &str) -> Result<Bytes, ParseError> {
    scale_to_unit(text, SIZE_UNITS).map(Bytes)
}

/// Parses a rate with unit `bps`, `Kbps`, `Mbps`, `Gbps` or `Tbps`.
/// The number is a decimal or a fraction (`"1/3 Gbps"`).
///
/// # Errors
/// Returns a [`ParseError`] if the text is not a positive number with one of these units.
pub fn parse_rate(text: &str) -> Result<Rate, ParseError> {
    let (num, den, unit) = split_number_and_unit(text)?;
    let (_, factor) = RATE_UNITS.iter().find(|(name, _)| *name == unit).ok_or(ParseError::UnknownUnit)?;
    let num = num.checked_mul(u128::from(*factor)).ok_or(ParseError::TooLarge)?;
    if num == 0 {
        return Err(ParseError::ZeroRate);
    }
    let (mut a, mut b) = (num, den);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    let fit = |n: u128| u64::try_from(n).map_err(|_| ParseError::TooLarge);
    Rate::ratio(fit(num / a)?, fit(den / a)?).ok_or(ParseError::ZeroRate)
}

/// Parses an amount of memory with unit `pkt` or any unit of [`parse_bytes`].
///
/// # Errors
/// Returns a [`ParseError`] if the text is not a non-negative number with one of these units.
pub fn parse_amount(text: &str) -> Result<Amount, ParseError> {
    match scale_to_unit(text, &[("pkt", 1)]) {
        Err(ParseError::UnknownUnit) => parse_bytes(text).map(|b| Amount::Bytes(b.0)),
        other => other.map(Amount::Packets),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_and_fractions_are_exact() {
        assert_eq!(parse_dur("12.304us"), Ok(Dur(12_304_000)));
        assert_eq!(parse_dur(" 0.5 ns"), Ok(Dur(500)));
        assert_eq!(parse_rate("1/3 Gbps"), Ok(Rate::ratio(1_000_000_000, 3).unwrap()));
        assert_eq!(parse_rate("2.5Gbps"), Ok(Rate::mbps(2500)));
        assert_eq!(parse_bytes("20KB"), Ok(Bytes(20_000)));
        assert_eq!(parse_bytes("384KiB"), Ok(Bytes(393_216)));
        assert_eq!(parse_amount("100pkt"), Ok(Amount::Packets(100)));
        assert_eq!(parse_amount("1.5KB"), Ok(Amount::Bytes(1500)));
    }

    #[test]
    fn each_invalid_text_has_its_own_error() {
        for (text, why) in [
            ("", ParseError::NotANumber),
            ("fast", ParseError::NotANumber),
            ("NaNs", ParseError::NotANumber),
            ("1.2.3s", ParseError::NotANumber),
            ("1.s", ParseError::NotANumber),
            (".5s", ParseError::NotANumber),
            ("1/0s", ParseError::DivisionByZero),
            ("1e3s", ParseError::UnknownUnit),
            ("10", ParseError::MissingUnit),
            ("10 KB", ParseError::UnknownUnit),
            ("-1us", ParseError::Negative),
            ("0.5ps", ParseError::TooFine),
            ("99999999999s", ParseError::TooLarge),
            ("9999999999999999999999999s", ParseError::TooLarge),
        ] {
            assert_eq!(parse_dur(text), Err(why), "{text:?}");
        }
        assert_eq!(parse_rate("0Gbps"), Err(ParseError::ZeroRate));
        assert_eq!(parse_amount("1.5pkt"), Err(ParseError::TooFine));
    }

    #[test]
    fn printed_quantities_parse_to_the_same_value() {
        for ps in [1, 999, 1000, 12_304_000, 10_000_000_000, 3_000_000_000_000] {
            assert_eq!(parse_dur(&Dur(ps).to_string()), Ok(Dur(ps)));
        }
        for rate in [Rate::gbps(1), Rate::mbps(553), Rate::ratio(1_000_000_000, 3).unwrap(), Rate::bps(7)] {
            assert_eq!(parse_rate(&rate.to_string()), Ok(rate));
        }
        for amount in [Amount::Packets(100), Amount::Bytes(393_216), Amount::Bytes(1501)] {
            assert_eq!(parse_amount(&amount.to_string()), Ok(amount));
        }
    }
}
