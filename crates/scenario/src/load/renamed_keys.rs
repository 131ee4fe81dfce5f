//! Former names of keys and words, so that an error in an older file names the present one.

/// Former and present names of keys. A former name counts only if the table has the present one.
const RENAMED_KEYS: [(&str, &str); 2] = [("high", "xoff"), ("low", "xon")];
/// Former and present words of parameters. A former word counts only if the parameter accepts the present one.
const RENAMED_WORDS: [(&str, &str); 1] = [("kept", "persistent")];

/// Returns advice about a key that is not known but was in an earlier version.
pub(super) fn suggest_renamed_key(typed: &str, known: &[&str]) -> Option<String> {
    describe_new_name(&RENAMED_KEYS, typed, known)
}

/// Returns advice about a word that is not allowed but was in an earlier version.
pub(super) fn suggest_renamed_word(typed: &str, allowed: &[&str]) -> Option<String> {
    describe_new_name(&RENAMED_WORDS, typed, allowed)
}

fn describe_new_name(names: &[(&str, &str)], typed: &str, known: &[&str]) -> Option<String> {
    let (old, new) = names.iter().find(|(old, new)| *old == typed && known.contains(new))?;
    Some(format!("`{new}` (`{old}` is now `{new}`)"))
}
