//! What is wrong with a scenario, where, and what would be right.

use core::fmt;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Diagnostic {
    /// The file, as it was named; `--set` where a setting of the command line is at fault.
    pub file: String,
    /// The line, counted from 1; 0 where there is none.
    pub line: usize,
    /// The dotted path of the key; empty where the whole text is at fault.
    pub field: String,
    /// What was found and what is expected.
    pub message: String,
}

impl fmt::Display for Diagnostic {
    /// `file:line: field: found X; expected Y`, without the parts that there are none of.
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

/// Longest dotted path that a message names in full.
pub(crate) const LONGEST_PATH: usize = 300;
/// Longest text of what a message says was found: values, keys and names of a file may be of any length.
const LONGEST_FOUND: usize = 500;
/// Longest text of what it says is expected: lists of words, and names of the file among them.
const LONGEST_RULE: usize = 2000;
/// Longest note.
pub(crate) const LONGEST_NOTE: usize = 1000;

/// `found X; expected Y`.
pub fn message(found: impl fmt::Display, rule: impl fmt::Display) -> String {
    let (found, rule) = (plain(&found.to_string(), LONGEST_FOUND), plain(&rule.to_string(), LONGEST_RULE));
    format!("found {found}; expected {rule}")
}

/// A text as it is told, whatever a file has put into it: on one line, and shortened where it has more than so many
/// characters.
pub fn plain(text: &str, most: usize) -> String {
    let mut told = String::new();
    for c in clipped(text, most).chars() {
        match is_plain(c) {
            true => told.push(c),
            false => told.extend(c.escape_default()),
        }
    }
    told
}

/// Whether a terminal shows a character as itself: control characters and those that turn the direction of writing
/// are none.
pub(crate) fn is_plain(c: char) -> bool {
    !c.is_control() && !matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// What is wrong with a name that tables and files are to have, as what was found and what is expected.
pub(crate) fn wrong_name(name: &str) -> Option<(String, &'static str)> {
    let found = || format!("{:?}", clipped(name, 60));
    if name.is_empty() {
        return Some(("an empty name".into(), "a name"));
    }
    if !name.chars().all(is_plain) {
        return Some((found(), "a name without control characters"));
    }
    (name.trim() != name).then(|| (found(), "a name without spaces before or behind it"))
}

/// A text, shortened where it has more than so many characters.
pub(crate) fn clipped(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}

/// Of so many words of about the right length the nearest is looked for.
const MOST_COMPARED: usize = 1000;

/// The word among `words` that was probably meant by `typed`, if one is near enough.
pub(crate) fn nearest<'a>(typed: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = (typed.chars().count() / 3).max(1);
    let length = typed.chars().count();
    let words = words.into_iter().filter(|word| length <= 64 && word.chars().count().abs_diff(length) <= most);
    let near = words.take(MOST_COMPARED).map(|word| (distance(typed, word), word));
    near.filter(|(d, _)| *d <= most).min_by_key(|(d, _)| *d).map(|(_, word)| word)
}

/// `one of a, b, c`, with the one that was probably meant.
pub(crate) fn one_of<'a>(typed: &str, words: impl IntoIterator<Item = &'a str> + Clone) -> String {
    let all: Vec<&str> = words.clone().into_iter().collect();
    let shown = all.iter().take(24).map(|w| format!("`{w}`")).collect::<Vec<_>>().join(", ");
    let more = if all.len() > 24 { format!(" and {} more", all.len() - 24) } else { String::new() };
    let list = match all.len() {
        0 => "nothing".to_string(),
        1 => shown,
        _ => format!("one of {shown}{more}"),
    };
    match nearest(typed, words) {
        Some(word) if all.len() > 1 && !typed.is_empty() => format!("{list} (did you mean `{word}`?)"),
        _ => list,
    }
}

/// Edits between two words: insertions, deletions, replacements, and neighbours swapped.
fn distance(a: &str, b: &str) -> usize {
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
    fn a_slip_of_the_keys_is_recognised_and_another_word_is_not() {
        assert_eq!(nearest("thetta", ["theta", "lambda"]), Some("theta"));
        assert_eq!(nearest("lamdba", ["theta", "lambda"]), Some("lambda"));
        assert_eq!(nearest("frequency", ["theta", "lambda"]), None);
        assert_eq!(nearest("k", ["kind", "link"]), None);
        assert_eq!(one_of("", ["ms", "s"]), "one of `ms`, `s`", "nothing was typed");
    }

    #[test]
    fn of_endless_words_a_thousand_of_about_the_right_length_are_looked_at() {
        let behind = |n| std::iter::repeat_n("abcdef", n).chain(std::iter::repeat_n("a", 5000)).chain(["switch"]);
        assert_eq!(nearest("swicth", behind(999)), Some("switch"));
        assert_eq!(nearest("swicth", behind(1000)), None);
    }

    #[test]
    fn a_diagnostic_without_a_line_or_a_field_leaves_them_out() {
        let mut d = Diagnostic { file: "--set".into(), line: 0, field: "seed".into(), message: message("x", "y") };
        assert_eq!(d.to_string(), "--set: seed: found x; expected y");
        (d.file, d.line, d.field) = ("a.toml".into(), 7, String::new());
        assert_eq!(d.to_string(), "a.toml:7: found x; expected y");
    }
}
