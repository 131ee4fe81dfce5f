//! Configuration files of the HPCC ns-3 simulator: keys with their values in any order.
//!
//! The reader takes words across line ends, skips unknown words, and lets a later value replace an earlier one, as the
//! HPCC simulator does. Unlike it, the reader skips comments: `{ … }`, and `#` to the end of the line.

use super::super::brought::{self, TOLD, Wrong, on_line};
use super::Words;
use super::keys::{KEYS, Key, Takes};
use std::collections::BTreeMap;
use units::{Bytes, Rate};

/// Largest number of unknown keys that are kept.
const MOST_UNKNOWN: usize = 20;

/// Value of a key.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Setting {
    /// Number in the unit of its key.
    Number(f64),
    Rate(Rate),
    Text(String),
    /// Numbers by the rate of a link in bit/s.
    Map(BTreeMap<u64, f64>),
    /// Several numbers after one key.
    Numbers(Vec<f64>),
}

/// Contents of a configuration file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Configuration {
    /// Name of the file in the scenario.
    pub path: String,
    given: BTreeMap<&'static str, (usize, Setting)>,
    /// Keys that neither HPCC's first version nor Overspill has, and their number.
    pub unknown: (Vec<String>, usize),
    /// First known key after a `#`, with its line.
    pub commented: Option<(usize, &'static str)>,
}

/// Marking thresholds of ports of one rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Thresholds {
    /// Queue length from which packets are marked at random, and length above which all are.
    pub kmin: Bytes,
    pub kmax: Bytes,
    /// Probability of a mark at `kmax`.
    pub pmax: f64,
}

impl Configuration {
    /// Returns the value of a key, if the file has it.
    pub fn get(&self, key: &str) -> Option<&Setting> {
        self.given.get(key).map(|(_, given)| given)
    }
    /// Returns the number of a key, or `other` if the file lacks it.
    pub fn number_or(&self, key: &str, other: f64) -> f64 {
        self.number(key).unwrap_or(other)
    }
    /// Returns the number of a key, if the file has it.
    pub fn number(&self, key: &str) -> Option<f64> {
        match self.get(key) {
            Some(Setting::Number(n)) => Some(*n),
            _ => None,
        }
    }
    /// Returns the rate of a key, if the file has it.
    pub fn rate(&self, key: &str) -> Option<Rate> {
        match self.get(key) {
            Some(Setting::Rate(rate)) => Some(*rate),
            _ => None,
        }
    }
    /// Returns the text of a key, if the file has it.
    pub fn text(&self, key: &str) -> Option<&str> {
        match self.get(key) {
            Some(Setting::Text(text)) => Some(text),
            _ => None,
        }
    }
    /// Returns the entry of a map for a rate, with the line of the map.
    fn entry(&self, key: &str, rate: u64) -> Result<(usize, f64), Wrong> {
        let found = self.given.get(key).map(|(line, given)| match given {
            Setting::Map(map) => (*line, map.get(&rate).copied(), map.keys().copied().collect::<Vec<_>>()),
            _ => (*line, None, Vec::new()),
        });
        let rule = "an entry for the rate of every port of a switch, in bit/s";
        match found {
            Some((line, Some(n), _)) => Ok((line, n)),
            Some((line, None, rates)) => {
                let rates: Vec<String> = rates.iter().take(TOLD).map(|rate| Rate::bps(*rate).to_string()).collect();
                let found = format!("no entry of {key} for {}, only for {}", Rate::bps(rate), rates.join(", "));
                on_line(line, found, rule)
            }
            None => Err((format!("no {key}"), rule.into())),
        }
    }
    /// Returns the marking thresholds of ports of a rate.
    ///
    /// # Errors
    /// Returns a fault if a map lacks the rate, or if thresholds are in the wrong order.
    pub fn thresholds(&self, rate: u64) -> Result<Thresholds, Wrong> {
        let (kmin, kmax, pmax) =
            (self.entry("KMIN_MAP", rate)?, self.entry("KMAX_MAP", rate)?, self.entry("PMAX_MAP", rate)?);
        if kmin.1 > kmax.1 {
            let found = format!("{} of KMIN_MAP with {} of KMAX_MAP for {}", kmin.1, kmax.1, Rate::bps(rate));
            return on_line(kmin.0, found, "a threshold of KMIN_MAP that is at most that of KMAX_MAP");
        }
        // The HPCC simulator takes 1 KB as 1000 bytes here, but 1 MB of BUFFER_SIZE as 1024 × 1024.
        let bytes = |kilobytes: f64| Bytes(kilobytes as u64 * 1000);
        Ok(Thresholds { kmin: bytes(kmin.1), kmax: bytes(kmax.1), pmax: pmax.1 })
    }
}

/// Parses a configuration file.
///
/// # Errors
/// Returns the first faults of the file, each with its line.
pub(super) fn read(path: &str, text: &str) -> Result<Configuration, Vec<Wrong>> {
    let mut found = Configuration { path: path.into(), ..Configuration::default() };
    let mut words = words_of(text, &mut found);
    let (mut faults, mut map_line) = (Vec::new(), 0);
    while words.at < words.words.len() && faults.len() < TOLD {
        let (line, word) = words.words[words.at];
        let is_first = words.at == 0 || words.words[words.at - 1].0 != line;
        words.at += 1;
        if let Some(key) = KEYS.iter().find(|key| key.name == word) {
            match value(key, &mut words) {
                Ok(given) => found.put(key, line, given),
                Err(wrong) => {
                    faults.push(wrong);
                    words.skip_line();
                }
            }
            map_line = if matches!(key.takes, Takes::Map { .. }) { words.line_before() } else { 0 };
        } else if word.parse::<f64>().is_ok() && (is_first || line == map_line) {
            let place = if line == map_line { "after the entries of a map" } else { "at the start of a line" };
            let rule = "a key, such as `BUFFER_SIZE`; the first number after a map's key is the number of its entries";
            faults.extend(on_line::<()>(line, format!("`{}` {place}", shown(word)), rule).err());
            words.skip_line();
        } else if is_first {
            found.unknown.1 += 1;
            let kept = found.unknown.0.len() < MOST_UNKNOWN;
            found.unknown.0.extend(kept.then(|| shown(word)));
        }
    }
    if faults.is_empty() && found.given.is_empty() {
        let rule = "a configuration file of the HPCC simulator, with keys such as `BUFFER_SIZE 32`";
        faults.extend(on_line::<()>(1, "no known key", rule).err());
    }
    if faults.is_empty() { Ok(found) } else { Err(faults) }
}

impl Configuration {
    /// Stores a value; a second map of a key adds to the first, and any other value replaces the old one.
    fn put(&mut self, key: &Key, line: usize, given: Setting) {
        match (self.given.get_mut(key.name), given) {
            (Some((_, Setting::Map(old))), Setting::Map(more)) => old.extend(more),
            (_, given) => drop(self.given.insert(key.name, (line, given))),
        }
    }
}

/// Returns the words of a text without its comments.
fn words_of<'a>(text: &'a str, found: &mut Configuration) -> Words<'a> {
    let mut all = Words::new(text);
    let (mut in_braces, mut commented) = (false, 0);
    let mut kept = Vec::new();
    for (line, word) in all.words {
        if line == commented {
            let key = KEYS.iter().find(|key| key.name == word.trim_start_matches('#'));
            found.commented = found.commented.or(key.map(|key| (line, key.name)));
            continue;
        }
        if in_braces || word.starts_with('{') {
            in_braces = !word.ends_with('}');
        } else if word.starts_with('#') {
            commented = line;
            let key = KEYS.iter().find(|key| key.name == word.trim_start_matches('#'));
            found.commented = found.commented.or(key.map(|key| (line, key.name)));
        } else {
            kept.push((line, word));
        }
    }
    all.words = kept;
    all
}

/// Reads the value of a key.
fn value(key: &Key, words: &mut Words) -> Result<Setting, Wrong> {
    Ok(match key.takes {
        Takes::Number(range) => Setting::Number(number(key.name, words, range)?.1),
        Takes::Numbers(ranges) => {
            let each = ranges.iter().map(|range| Ok(number(key.name, words, *range)?.1));
            Setting::Numbers(each.collect::<Result<_, Wrong>>()?)
        }
        Takes::Rate => {
            let (line, word) = next(key.name, words, "a rate with its unit, such as `50Mb/s`")?;
            // ns-3 accepts both forms of the unit.
            let rate = brought::rate(&word.replace("b/s", "bps"));
            Setting::Rate(rate.or_else(|(_, rule)| on_line(line, format!("{} `{}`", key.name, shown(word)), rule))?)
        }
        Takes::Text => Setting::Text(next(key.name, words, "a word")?.1.into()),
        Takes::Map(range) => {
            let (_, count) = number(key.name, words, super::keys::COUNT)?;
            let mut map = BTreeMap::new();
            // The count is not trusted: reading ends with the words of the file.
            for _ in 0..count as u64 {
                let (_, rate) = number(key.name, words, super::keys::BITS)?;
                map.insert(rate as u64, number(key.name, words, range)?.1);
            }
            Setting::Map(map)
        }
    })
}

/// Reads the next word after a key, which must not be a key itself.
fn next<'a>(key: &str, words: &mut Words<'a>, rule: &str) -> Result<(usize, &'a str), Wrong> {
    let (line, word) = words.next(&format!("{rule} after {key}"))?;
    match KEYS.iter().any(|key| key.name == word) {
        false => Ok((line, word)),
        true => {
            // The word may begin a correct setting.
            words.at -= 1;
            on_line(line, format!("`{word}` in place of a value of {key}"), rule)
        }
    }
}

/// Reads the next number after a key, with its line.
fn number(key: &str, words: &mut Words, range: super::keys::Range) -> Result<(usize, f64), Wrong> {
    let rule = range.rule();
    let (line, word) = next(key, words, &rule)?;
    let found = word.parse::<f64>().ok().filter(|n| range.has(*n));
    found.map_or_else(|| on_line(line, format!("{key} `{}`", shown(word)), rule), |n| Ok((line, n)))
}

/// Formats a word of a file for messages.
fn shown(word: &str) -> String {
    crate::diag::clipped(word, 40)
}
