//! Diagnostics: what is wrong in a scenario, where it is, and what is allowed.

use core::fmt;

/// Fault of a scenario, with the file, line and key where it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Diagnostic {
    /// Name of the file as the user gave it, or `--set` for a setting of the command line.
    pub file: String,
    /// Line number of the fault in the file, counted from 1; 0 if there is none.
    pub line: usize,
    /// Dotted path of the key; empty if the whole text is at fault.
    pub field: String,
    /// Text that says what was found and what is expected.
    pub message: String,
}

impl fmt::Display for Diagnostic {
    /// Writes `file:line: field: found X; expected Y`, without the parts that are absent.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        if !self.field.is_empty() {
            write!(f, ": {}", self.field)?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for Diagnostic {}

/// Formats the position of an unnamed entry of a list in messages, counted from `1st`.
pub(crate) fn format_ordinal(place: usize) -> String {
    let n = place + 1;
    let end = match (n % 10, n % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{n}{end}")
}

/// Longest dotted path that a message names in full, in characters.
pub(crate) const MAX_PATH_CHARS: usize = 300;
/// Longest faulty text, in characters, that a message repeats; a file may have values, keys and names of any length.
const MAX_FOUND_CHARS: usize = 500;
/// Longest description, in characters, of the allowed values; it may list words, and names from the file.
const MAX_RULE_CHARS: usize = 2000;
/// Longest note for the user, in characters.
pub(crate) const MAX_NOTE_CHARS: usize = 1000;

/// Formats `found X; expected Y`.
pub fn format_fault(found: impl fmt::Display, rule: impl fmt::Display) -> String {
    let (found, rule) = (sanitize(&found.to_string(), MAX_FOUND_CHARS), sanitize(&rule.to_string(), MAX_RULE_CHARS));
    format!("found {found}; expected {rule}")
}

/// Prepares any text for a message: on one line, cut after `most` characters, with unprintable characters escaped.
pub fn sanitize(text: &str, most: usize) -> String {
    let mut told = String::new();
    for c in truncate(text, most).chars() {
        match is_printable(c) {
            true => told.push(c),
            false => told.extend(c.escape_default()),
        }
    }
    told
}

/// Returns true if a terminal shows a character as it is. Messages escape control characters and marks of writing
/// direction, because they could hide or reorder text.
pub(crate) fn is_printable(c: char) -> bool {
    !c.is_control() && !matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Checks a name for use in tables and files; returns the text found and the rule if the name is not usable.
pub(crate) fn check_name(name: &str) -> Option<(String, &'static str)> {
    let found = || format!("{:?}", truncate(name, 60));
    if name.is_empty() {
        return Some(("an empty name".into(), "a name"));
    }
    if !name.chars().all(is_printable) {
        return Some((found(), "a name without control characters"));
    }
    (name.trim() != name).then(|| (found(), "a name without spaces before or after it"))
}

/// Cuts a text after `most` characters.
pub(crate) fn truncate(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}

/// Largest number of words, all of about the length of the typed word, that [`nearest_word`] compares.
const MAX_COMPARED_WORDS: usize = 1000;

/// Returns the word among `words` that was probably meant by `typed`, if one is near enough.
pub(crate) fn nearest_word<'a>(typed: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A file may have any number of names of any length, and the distance costs the product of two lengths. So both are
    // bounded.
    let most = (typed.chars().count() / 3).max(1);
    let length = typed.chars().count();
    let words = words.into_iter().filter(|word| length <= 64 && word.chars().count().abs_diff(length) <= most);
    let near = words.take(MAX_COMPARED_WORDS).map(|word| (edit_distance(typed, word), word));
    near.filter(|(d, _)| *d <= most).min_by_key(|(d, _)| *d).map(|(_, word)| word)
}

/// Formats `one of a, b, c`, with the word that was probably meant.
pub(crate) fn format_one_of<'a>(typed: &str, words: impl IntoIterator<Item = &'a str> + Clone) -> String {
    let all: Vec<&str> = words.clone().into_iter().collect();
    let shown = all.iter().take(24).map(|w| format!("`{w}`")).collect::<Vec<_>>().join(", ");
    let more = if all.len() > 24 { format!(" and {} more", all.len() - 24) } else { String::new() };
    let list = match all.len() {
        0 => "nothing".to_string(),
        1 => shown,
        _ => format!("one of {shown}{more}"),
    };
    match nearest_word(typed, words) {
        Some(word) if all.len() > 1 && !typed.is_empty() => {
            format!("{list} (did you mean `{word}`?)")
        }
        _ => list,
    }
}

/// Formats `a has no effect`, or `a, b have no effect`.
pub(crate) fn format_no_effect(keys: &[impl AsRef<str>]) -> String {
    let names: Vec<&str> = keys.iter().map(AsRef::as_ref).collect();
    format!("{} {} no effect", names.join(", "), if names.len() == 1 { "has" } else { "have" })
}

/// Formats a count with its noun: `1 port`, `2 ports`.
pub(crate) fn format_count(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Returns the edit distance of two words: insertions, deletions, replacements, and swaps of neighbours.
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<_>>()];
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(rows[i - 2][j - 2] + 1);
            }
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_error_is_recognised_and_another_word_is_not() {
        assert_eq!(nearest_word("thetta", ["theta", "lambda"]), Some("theta"));
        assert_eq!(nearest_word("lamdba", ["theta", "lambda"]), Some("lambda"));
        assert_eq!(nearest_word("frequency", ["theta", "lambda"]), None);
        assert_eq!(nearest_word("k", ["kind", "link"]), None);
        assert_eq!(format_one_of("", ["ms", "s"]), "one of `ms`, `s`", "nothing was typed");
    }

    #[test]
    fn nearest_word_compares_at_most_1000_words_of_similar_length() {
        let behind = |n| std::iter::repeat_n("abcdef", n).chain(std::iter::repeat_n("a", 5000)).chain(["switch"]);
        assert_eq!(nearest_word("swicth", behind(999)), Some("switch"));
        assert_eq!(nearest_word("swicth", behind(1000)), None);
    }

    #[test]
    fn diagnostic_omits_an_absent_line_or_field() {
        let mut d = Diagnostic { file: "--set".into(), line: 0, field: "seed".into(), message: format_fault("x", "y") };
        assert_eq!(d.to_string(), "--set: seed: found x; expected y");
        (d.file, d.line, d.field) = ("a.toml".into(), 7, String::new());
        assert_eq!(d.to_string(), "a.toml:7: found x; expected y");
    }
}
