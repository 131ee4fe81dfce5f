//! Configuration files of the HPCC ns-3 simulator: keys with their values in any order.
//!
//! The reader takes words across line ends, skips unknown words, and lets a later value replace an earlier one, as the
//! HPCC simulator does. Unlike it, the reader skips comments: `{ … }`, and `#` to the end of the line.

use super::super::graph_file::{self, FileFault, MAX_REPORTED_FAULTS, line_error};
use super::WordReader;
use super::keys::{KEYS, Key, ValueForm};
use std::collections::BTreeMap;
use units::{Bytes, Rate};

/// Largest number of unknown keys that are kept.
const MAX_REPORTED_UNKNOWN: usize = 20;

/// Value of a key in a configuration file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Setting {
    /// Number in the unit of its key.
    Number(f64),
    Rate(Rate),
    Text(String),
    /// Map from the rate of a link in bit/s to a number.
    Map(BTreeMap<u64, f64>),
    /// List of numbers after one key.
    Numbers(Vec<f64>),
}

/// Contents of a configuration file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Configuration {
    /// Name of the file in the scenario.
    pub path: String,
    settings: BTreeMap<&'static str, (usize, Setting)>,
    /// First keys that neither HPCC's first version nor Overspill has, and the number of all such keys.
    pub unknown: (Vec<String>, usize),
    /// First known key that follows a `#` in the file, with its line.
    pub commented_key: Option<(usize, &'static str)>,
}

/// Marking thresholds of ports of one rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Thresholds {
    /// Queue length above which packets are marked at random, and queue length above which all are marked.
    pub kmin: Bytes,
    pub kmax: Bytes,
    /// Probability of a mark at `kmax`.
    pub pmax: f64,
}

impl Configuration {
    /// Returns the value that a key has in the file, if the file has the key.
    pub fn get(&self, key: &str) -> Option<&Setting> {
        self.settings.get(key).map(|(_, given)| given)
    }
    /// Returns the number that a key has in the file, or `other` if the file lacks the key.
    pub fn number_or(&self, key: &str, other: f64) -> f64 {
        self.number(key).unwrap_or(other)
    }
    /// Returns the number that a key has in the file, if the file has the key.
    pub fn number(&self, key: &str) -> Option<f64> {
        match self.get(key) {
            Some(Setting::Number(n)) => Some(*n),
            _ => None,
        }
    }
    /// Returns the rate that a key has in the file, if the file has the key.
    pub fn rate(&self, key: &str) -> Option<Rate> {
        match self.get(key) {
            Some(Setting::Rate(rate)) => Some(*rate),
            _ => None,
        }
    }
    /// Returns the text that a key has in the file, if the file has the key.
    pub fn text(&self, key: &str) -> Option<&str> {
        match self.get(key) {
            Some(Setting::Text(text)) => Some(text),
            _ => None,
        }
    }
    /// Returns the entry for a link rate in a map such as `KMIN_MAP`, with the line of the map.
    fn map_entry(&self, key: &str, rate: u64) -> Result<(usize, f64), FileFault> {
        let found = self.settings.get(key).map(|(line, given)| match given {
            Setting::Map(map) => (*line, map.get(&rate).copied(), map.keys().copied().collect::<Vec<_>>()),
            _ => (*line, None, Vec::new()),
        });
        let rule = "an entry for the rate of every port of a switch, in bit/s";
        match found {
            Some((line, Some(n), _)) => Ok((line, n)),
            Some((line, None, rates)) => {
                let rates: Vec<String> =
                    rates.iter().take(MAX_REPORTED_FAULTS).map(|rate| Rate::bps(*rate).to_string()).collect();
                let found = format!("no entry of {key} for {}, only for {}", Rate::bps(rate), rates.join(", "));
                line_error(line, found, rule)
            }
            None => Err((format!("no {key}"), rule.into())),
        }
    }
    /// Returns the ECN marking thresholds of ports with this rate.
    ///
    /// # Errors
    /// Returns a fault if a map lacks the rate, or if thresholds are in the wrong order.
    pub fn thresholds(&self, rate: u64) -> Result<Thresholds, FileFault> {
        let (kmin, kmax, pmax) =
            (self.map_entry("KMIN_MAP", rate)?, self.map_entry("KMAX_MAP", rate)?, self.map_entry("PMAX_MAP", rate)?);
        if kmin.1 > kmax.1 {
            let found = format!("{} in KMIN_MAP and {} in KMAX_MAP for {}", kmin.1, kmax.1, Rate::bps(rate));
            return line_error(kmin.0, found, "a threshold in KMIN_MAP that is at most the threshold in KMAX_MAP");
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
pub(super) fn parse_configuration(path: &str, text: &str) -> Result<Configuration, Vec<FileFault>> {
    let mut found = Configuration { path: path.into(), ..Configuration::default() };
    let mut words = split_words(text, &mut found);
    let (mut faults, mut map_line) = (Vec::new(), 0);
    while words.position < words.words.len() && faults.len() < MAX_REPORTED_FAULTS {
        let (line, word) = words.words[words.position];
        let is_first = words.position == 0 || words.words[words.position - 1].0 != line;
        words.position += 1;
        if let Some(key) = KEYS.iter().find(|key| key.name == word) {
            match read_value(key, &mut words) {
                Ok(given) => found.put_setting(key, line, given),
                Err(wrong) => {
                    faults.push(wrong);
                    words.skip_line();
                }
            }
            map_line = if matches!(key.form, ValueForm::Map { .. }) { words.last_line() } else { 0 };
        } else if word.parse::<f64>().is_ok() && (is_first || line == map_line) {
            let place = if line == map_line { "after the entries of a map" } else { "at the start of a line" };
            let rule = "a key, such as `BUFFER_SIZE`; the first number after a map's key is the number of its entries";
            faults.extend(line_error::<()>(line, format!("`{}` {place}", format_word(word)), rule).err());
            words.skip_line();
        } else if is_first {
            found.unknown.1 += 1;
            let kept = found.unknown.0.len() < MAX_REPORTED_UNKNOWN;
            found.unknown.0.extend(kept.then(|| format_word(word)));
        }
    }
    if faults.is_empty() && found.settings.is_empty() {
        let rule = "a configuration file of the HPCC simulator, with keys such as `BUFFER_SIZE 32`";
        faults.extend(line_error::<()>(1, "no known key", rule).err());
    }
    if faults.is_empty() { Ok(found) } else { Err(faults) }
}

impl Configuration {
    /// Stores a value; a second map of a key adds to the first, and any other value replaces the old one.
    fn put_setting(&mut self, key: &Key, line: usize, given: Setting) {
        match (self.settings.get_mut(key.name), given) {
            (Some((_, Setting::Map(old))), Setting::Map(more)) => old.extend(more),
            (_, given) => drop(self.settings.insert(key.name, (line, given))),
        }
    }
}

/// Splits a configuration file into words, without its comments.
fn split_words<'a>(text: &'a str, found: &mut Configuration) -> WordReader<'a> {
    let mut all = WordReader::new(text);
    let (mut in_braces, mut commented) = (false, 0);
    let mut kept = Vec::new();
    for (line, word) in all.words {
        if line == commented {
            let key = KEYS.iter().find(|key| key.name == word.trim_start_matches('#'));
            found.commented_key = found.commented_key.or(key.map(|key| (line, key.name)));
            continue;
        }
        if in_braces || word.starts_with('{') {
            in_braces = !word.ends_with('}');
        } else if word.starts_with('#') {
            commented = line;
            let key = KEYS.iter().find(|key| key.name == word.trim_start_matches('#'));
            found.commented_key = found.commented_key.or(key.map(|key| (line, key.name)));
        } else {
            kept.push((line, word));
        }
    }
    all.words = kept;
    all
}

/// Reads the value of a key from the words that follow it.
fn read_value(key: &Key, words: &mut WordReader) -> Result<Setting, FileFault> {
    Ok(match key.form {
        ValueForm::Number(range) => Setting::Number(read_number(key.name, words, range)?.1),
        ValueForm::Numbers(ranges) => {
            let each = ranges.iter().map(|range| Ok(read_number(key.name, words, *range)?.1));
            Setting::Numbers(each.collect::<Result<_, FileFault>>()?)
        }
        ValueForm::Rate => {
            let (line, word) = next_value_word(key.name, words, "a rate with its unit, such as `50Mb/s`")?;
            // ns-3 accepts both `b/s` and `bps`.
            let rate = graph_file::parse_link_rate(&word.replace("b/s", "bps"));
            Setting::Rate(
                rate.or_else(|(_, rule)| line_error(line, format!("{} `{}`", key.name, format_word(word)), rule))?,
            )
        }
        ValueForm::Text => Setting::Text(next_value_word(key.name, words, "a word")?.1.into()),
        ValueForm::Map(range) => {
            let (_, count) = read_number(key.name, words, super::keys::ENTRY_COUNT)?;
            let mut map = BTreeMap::new();
            // The count may be far too large. It reserves no memory, and reading fails at the end of the file.
            for _ in 0..count as u64 {
                let (_, rate) = read_number(key.name, words, super::keys::LINK_BITS_PER_SECOND)?;
                map.insert(rate as u64, read_number(key.name, words, range)?.1);
            }
            Setting::Map(map)
        }
    })
}

/// Reads the word that follows a key; another key in its place is a fault.
fn next_value_word<'a>(key: &str, words: &mut WordReader<'a>, rule: &str) -> Result<(usize, &'a str), FileFault> {
    let (line, word) = words.next_word(&format!("{rule} after {key}"))?;
    match KEYS.iter().any(|key| key.name == word) {
        false => Ok((line, word)),
        true => {
            // The word is read again, since it may begin a correct setting.
            words.position -= 1;
            line_error(line, format!("`{word}` in place of a value of {key}"), rule)
        }
    }
}

/// Reads the next number after a key, with its line.
fn read_number(key: &str, words: &mut WordReader, range: super::keys::Range) -> Result<(usize, f64), FileFault> {
    let rule = range.describe();
    let (line, word) = next_value_word(key, words, &rule)?;
    let found = word.parse::<f64>().ok().filter(|n| range.contains(*n));
    found.map_or_else(|| line_error(line, format!("{key} `{}`", format_word(word)), rule), |n| Ok((line, n)))
}

/// Formats a word of a file for messages.
fn format_word(word: &str) -> String {
    crate::diag::truncate(word, 40)
}
