//! What had another name before: the error of an older file says what is to stand there now.

/// Keys by their former and their present names; a former name counts only where the present one may stand.
const KEYS: [(&str, &str); 2] = [("high", "xoff"), ("low", "xon")];
/// The same for words that a parameter may be; a former word counts only where the present one may stand.
const WORDS: [(&str, &str); 1] = [("kept", "persistent")];

/// What to write in place of a key that is not among those that are known.
pub(super) fn key(typed: &str, known: &[&str]) -> Option<String> {
    said(&KEYS, typed, known)
}

/// What to write in place of a word that is not among those that are allowed.
pub(super) fn word(typed: &str, allowed: &[&str]) -> Option<String> {
    said(&WORDS, typed, allowed)
}

fn said(names: &[(&str, &str)], typed: &str, known: &[&str]) -> Option<String> {
    let (old, new) = names.iter().find(|(old, new)| *old == typed && known.contains(new))?;
    Some(format!("`{new}` (`{old}` is now `{new}`)"))
}
